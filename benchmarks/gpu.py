# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times mla.prefill and its peers on an H200, on the same batches.

    python3 benchmarks/gpu.py --json result.json
    python3 benchmarks/gpu.py --filter h16 --peers flashinfer --repeat 9
    python3 benchmarks/gpu.py --check-only

Needs torch with CUDA; FlashInfer where it is a peer. Each workload: random batches,
every peer compared with float64 (one that is wrong is not timed), then bursts of
equally many launches, the peers taking turns in an order that rotates. A figure is
the median of --repeat bursts. Exits with 1 if ours was wrong anywhere.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import math
import pathlib
import re
import statistics
import sys
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import compile_time  # noqa: E402
import device  # noqa: E402
import exact  # noqa: E402
import machine  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import timing  # noqa: E402
import torch  # noqa: E402
import workload  # noqa: E402

OURS = report.OURS
# So much memory between two uses of an operand that it has left the second-level
# cache: smaller batches are several, which launches take in turn.
CACHES = 8
MAX_COPIES = 4


def main() -> int:
    options = parse_options()
    workloads, _ = workload.load("gpu")
    workloads = [w for w in workloads if re.search(options.filter, w.name)]
    loaded, versions = load_peers(options.peers)
    run: dict[str, Any] = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "revision": options.revision or machine.revision(),
        "command": machine.command("benchmarks/gpu.py", sys.argv[1:]),
        "machine": machine.facts() | {"gpu": machine.gpu()},
        "versions": versions,
        "page_size": options.page_size,
        "repeat": options.repeat,
        "burst_ms": options.burst_ms,
        "matmul_tflops": [],
        "compile_time": [],
        "results": [],
    }

    def save() -> None:
        if options.json:
            options.json.write_text(report.dump(run))

    if options.compile_time:
        for name in one_of_each_kernel(workloads, options.page_size):
            result = compile_time.measure(
                name, "sm_90a", options.page_size, options.compile_time
            )
            run["compile_time"].append(result)
            print(compile_time.format_result(result), flush=True)
        save()
    try:
        measure_matmul(run, options)
        for w in workloads:
            begin = time.perf_counter()
            run["results"].append(measure(w, loaded, options))
            seconds = time.perf_counter() - begin
            print(f"{format_result(run['results'][-1])}  [{seconds:.1f} s]", flush=True)
            save()
        measure_matmul(run, options)
    finally:  # an error of the device ends the run, but not what was measured before
        save()
        if not options.check_only:
            print(
                report.format_run(run, [n for n in loaded if n != OURS], options.mean)
            )
    failed = [r["workload"] for r in run["results"] if "failure" in r["peers"][OURS]]
    print(f"ours: {len(workloads) - len(failed)} right, {len(failed)} failed", *failed)
    return 1 if failed else 0


def one_of_each_kernel(workloads: list[workload.Workload], page_size: int) -> list[str]:
    names: dict[Any, str] = {}
    for w in workloads:
        names.setdefault(w.signature(page_size), w.name)
    return list(names.values())


def measure_matmul(run: dict[str, Any], options: argparse.Namespace) -> None:
    if not options.check_only:
        run["matmul_tflops"].append(round(timing.matmul_tflops(), 1))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    others = [name for name in peers.GPU_PEERS if name != OURS]
    parser.add_argument("--filter", default="", help="a regular expression of names")
    parser.add_argument(
        "--peers",
        type=lambda text: list(filter(None, text.split(","))),
        default=others,
        help=f"besides ours; default {','.join(others)}",
    )
    parser.add_argument(
        "--no-peers", dest="peers", action="store_const", const=[], help="ours alone"
    )
    parser.add_argument("--repeat", type=int, default=21, help="bursts a figure")
    parser.add_argument(
        "--burst-ms",
        type=float,
        default=2.0,
        help="launches a burst: as many as take this long at the floor; at least one",
    )
    parser.add_argument("--idle-ms", type=float, default=0.0, help="before a burst")
    parser.add_argument("--page-size", type=int, default=workload.PAGE_SIZE)
    parser.add_argument(
        "--mean",
        metavar="REGEX",
        action="append",
        default=[],
        help="geometric means over these workloads too; may be repeated",
    )
    parser.add_argument("--check-only", action="store_true", help="times nothing")
    parser.add_argument(
        "--compile-time",
        metavar="N",
        type=int,
        nargs="?",
        const=1,
        help="first measure that, in N processes a kernel",
    )
    parser.add_argument("--json", type=pathlib.Path, help="write the result there")
    parser.add_argument("--revision", help="of the sources, where there is no git")
    return parser.parse_args()


def load_peers(names: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Ours, and those of `names` that are installed."""
    loaded: dict[str, Any] = {}
    versions = {"torch": torch.__version__, "cuda": str(torch.version.cuda)}
    for name in [OURS, *names]:
        try:
            peer = peers.load_gpu(name)
            versions |= peer.versions()
        except ImportError as error:
            if name == OURS:
                raise
            print(f"{name}: left out: {error}", file=sys.stderr)
            continue
        loaded[name] = peer
    return loaded, versions


def measure(
    w: workload.Workload, loaded: dict[str, Any], options: argparse.Namespace
) -> dict[str, Any]:
    floor = report.floor_us(w.flops, w.min_bytes)
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    copies = min(MAX_COPIES, math.ceil(CACHES * cache / w.min_bytes))
    launches = max(1, math.ceil(1e3 * options.burst_ms / floor))
    if options.check_only:
        copies = 1
    copies = min(copies, launches)
    result = {
        "workload": w.name,
        "flops": w.flops,
        "min_bytes": w.min_bytes,
        "floor_us": round(floor, 2),
        "launches": launches,
        "batches": copies,
        "peers": {},
    }
    batches = [device.make_batch(w, options.page_size, seed) for seed in range(copies)]
    right = prepare(batches, loaded, result["peers"])
    if options.check_only or OURS not in right:
        return result
    timers = {
        name: timing.Timer([launch.call for launch in each], launches)
        for name, each in right.items()
    }
    for name, each in take_turns(timers, options).items():
        us = statistics.median(burst.us for burst in each)
        result["peers"][name] |= {
            "median_us": round(us, 2),
            "best_us": round(min(burst.us for burst in each), 2),
            "tflops": round(w.flops / us / 1e6, 1),
            "efficiency": round(floor / us, 3),
            "host_us": round(statistics.median(burst.host_us for burst in each), 1),
            "clock_ghz": round(statistics.median(b.clock_ghz for b in each), 3),
            "host_bound": any(burst.host_bound for burst in each),
            "times_us": [round(burst.us, 2) for burst in each],
        }
    return result


class WrongResult(Exception):
    pass


class Disagreement(WrongResult):
    """Of two results that both passed on a sample."""


def prepare(
    batches: list[device.DeviceBatch],
    loaded: dict[str, Any],
    entries: dict[str, dict[str, Any]],
) -> dict[str, list[device.Launch]]:
    """For each peer that is right on the first batch its launches of all. What is
    known of each that takes such batches goes into `entries`, failures too."""
    right: dict[str, list[device.Launch]] = {}
    for name, peer in loaded.items():
        try:
            launches = [peer.prepare(batch) for batch in batches]
            if launches[0] is None:
                continue
            entries[name] = {}
            error = check(batches[0], launches[0], name == OURS)
            entries[name]["error"] = error.rounded()
            if name != OURS:
                check_all_rows(name, right[OURS][0], launches[0])
            right[name] = launches
        except Exception as exception:
            failed = [name]
            if isinstance(exception, Disagreement):
                failed.append(OURS)  # which of the two is wrong is open
            # Of the device's errors some end every later call: they are raised here.
            torch.cuda.synchronize()
            text = f"{type(exception).__name__}: {exception}"
            for each in failed:
                entries.setdefault(each, {})["failure"] = text
                right.pop(each, None)
            where = batches[0].workload.name
            print(f"{where}: {name}: {text}", file=sys.stderr, flush=True)
        if OURS not in right:
            break
    return right


def check(
    batch: device.DeviceBatch, launch: device.Launch, repeats: bool
) -> exact.Error:
    """The error against float64; raises if it is large, or if three more runs do not
    give the same bits where `repeats` is set."""
    output, lse = launch.run()
    error = device.error(batch, output, lse)
    if not error.small():
        raise WrongResult(f"differs from float64: {error}")
    if not all(
        tensor.isfinite().all() for tensor in (output, lse) if tensor is not None
    ):
        raise WrongResult("output or lse is not finite everywhere")
    if repeats:
        kept = output.clone(), lse.clone()
        for _ in range(3):
            if not all(map(device.same_bits, launch.run(), kept)):
                raise WrongResult("runs differ")
    return error


def check_all_rows(name: str, ours: device.Launch, other: device.Launch) -> None:
    """Compares the last results of two peers; float64 has seen a sample of each."""
    difference = device.difference(*ours.result(), *other.result())
    if not difference.small(results=2):
        raise Disagreement(f"{OURS} and {name} differ: {difference}")


def take_turns(
    timers: dict[str, timing.Timer], options: argparse.Namespace
) -> dict[str, list[timing.Burst]]:
    bursts: dict[str, list[timing.Burst]] = {name: [] for name in timers}
    order = list(timers)
    for timer in timers.values():
        timer.burst()  # warms up, and finds out what head start the host needs
    gc.collect()
    gc.disable()
    try:
        for turn in range(options.repeat):
            start = turn % len(order)
            for name in order[start:] + order[:start]:
                time.sleep(options.idle_ms / 1e3)
                bursts[name].append(timers[name].burst())
    finally:
        gc.enable()
    return bursts


def format_result(result: dict[str, Any]) -> str:
    parts = [f"{result['workload']}:"]
    for name, entry in result["peers"].items():
        if "median_us" in entry:
            parts.append(
                f"{name} {entry['median_us']:.1f} us (error {entry['error']['total']})"
            )
        elif "failure" in entry:
            parts.append(f"{name} FAILED")
        else:
            parts.append(f"{name} right (error {entry['error']['total']})")
    return "  ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
