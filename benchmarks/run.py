# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times mla.prefill and its peers on the same batches.

    benchmarks/venv/bin/python benchmarks/run.py
    benchmarks/venv/bin/python benchmarks/run.py --workloads cpu --filter 2k
        --dtypes bf16 --peers mla,torch --threads 2 --isa native,avx2 --repeat 9

For each instruction set one process runs all peers, which take turns, in an order
that rotates, with a pause in between for the threads of the last one to go to
sleep. A figure is the median of --repeat turns after one that is not counted. Turns
beside which other processes were busy are repeated, as long as --patience lasts.
--isa avx2 limits all peers to AVX2 and FMA: ours by its target cpu-avx2, PyTorch by
the environment variables that it, oneDNN and MKL read.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import machine  # noqa: E402
import peers  # noqa: E402
import workload  # noqa: E402

ENVIRONMENT = {
    "native": {},
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}
PAUSE = 0.1  # seconds


def main() -> int:
    options = parse_options()
    if options.child:
        result = run_child(options)
        pathlib.Path(options.child).write_text(json.dumps(result))
        return 0

    load = [os.getloadavg()[0]]
    runs = [spawn(options, isa) for isa in options.isa]
    load.append(os.getloadavg()[0])
    result = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "revision": machine.revision(),
        "command": machine.command("benchmarks/run.py", sys.argv[1:]),
        "machine": machine.facts(),
        "load_average": [round(each, 2) for each in load],
        "threads": options.threads,
        "repeat": options.repeat,
        "runs": runs,
    }
    print(format_table(runs))
    if options.output != "-":
        path = pathlib.Path(options.output or default_output())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump(result))
        print(f"written to {path}")
    return 0


def parse_options() -> argparse.Namespace:
    def words(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workloads", default="cpu", help="a file of workloads/")
    parser.add_argument("--filter", default="", help="only names that contain this")
    parser.add_argument("--dtypes", type=words, help="only these of the file's types")
    parser.add_argument("--peers", type=words, default=list(peers.PEERS))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--isa", type=words, default=["native", "avx2"])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument(
        "--patience",
        type=float,
        default=60,
        help="seconds in all, for each instruction set, to spend on waiting for other "
        "processes and on repeating turns that they disturbed",
    )
    parser.add_argument(
        "--output", help="JSON file; - for none; default results/DATE-MACHINE.json"
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def spawn(options: argparse.Namespace, isa: str) -> dict[str, Any]:
    """Runs all peers in a process that is limited to `isa`."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, __file__, "--child", file.name, "--isa", isa]
        command += ["--workloads", options.workloads, "--filter", options.filter]
        command += ["--peers", ",".join(options.peers)]
        command += ["--threads", str(options.threads), "--repeat", str(options.repeat)]
        command += ["--patience", str(options.patience)]
        if options.dtypes:
            command += ["--dtypes", ",".join(options.dtypes)]
        subprocess.run(command, check=True, env=os.environ | ENVIRONMENT[isa])
        return json.loads(pathlib.Path(file.name).read_text())


def run_child(options: argparse.Namespace) -> dict[str, Any]:
    (isa,) = options.isa
    loaded = {name: peers.load(name) for name in options.peers}
    versions: dict[str, str] = {}
    for peer in loaded.values():
        versions |= peer.versions()
    workloads, dtypes = workload.load(options.workloads)
    clock = Clock(options.patience)
    results = []
    for w in workloads:
        if options.filter not in w.name:
            continue
        for dtype in options.dtypes or dtypes:
            batch = workload.make_batch(w, dtype)
            results.append(measure(batch, loaded, isa, options, clock))
            print(format_result(isa, results[-1]), file=sys.stderr, flush=True)
    return {
        "isa": isa,
        "versions": versions,
        "disturbed_turns": clock.disturbed,
        "results": results,
    }


class Clock:
    """Times calls, on an idle machine where patience permits."""

    def __init__(self, patience: float):
        self.patience = patience
        self.disturbed = 0  # turns that count although they were disturbed

    def time(self, call) -> float:
        """Milliseconds of a call."""
        while True:
            start = time.perf_counter()
            others = machine.Others()
            time.sleep(PAUSE)
            busy = others.disturbed()
            while busy and self.patience > time.perf_counter() - start:
                others = machine.Others()
                time.sleep(PAUSE)
                busy = others.disturbed()
            others = machine.Others()
            begin = time.perf_counter()
            call()
            result = 1e3 * (time.perf_counter() - begin)
            busy = others.disturbed()
            if not busy:
                self.patience -= begin - start - PAUSE
                return result
            self.patience -= time.perf_counter() - start - PAUSE
            if self.patience <= 0:
                self.disturbed += 1
                return result


def measure(
    batch, loaded, isa: str, options: argparse.Namespace, clock: Clock
) -> dict[str, Any]:
    calls, errors = {}, {}
    for name, peer in loaded.items():
        calls[name], output = peer.prepare(batch, isa, options.threads)
        calls[name]()  # compiles, faults pages in, starts threads
        errors[name] = batch.error(output())
    times: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for turn in range(options.repeat):
        for name in order[turn % len(order) :] + order[: turn % len(order)]:
            times[name].append(clock.time(calls[name]))
    w = batch.workload
    result = {"workload": w.name, "dtype": batch.dtype, "rope": w.rope_source}
    result["flops"] = w.flops
    result["peers"] = {
        name: {
            "median_ms": round(statistics.median(each), 3),
            "best_ms": round(min(each), 3),
            "gflops": round(w.flops / statistics.median(each) / 1e6, 1),
            "max_error": float(f"{errors[name]:.2e}"),
            "times_ms": [round(each, 3) for each in each],
        }
        for name, each in times.items()
    }
    return result


def default_output() -> pathlib.Path:
    date = datetime.date.today().isoformat()
    return HERE / "results" / f"{date}-{machine.name()}.json"


def format_result(isa: str, result: dict[str, Any]) -> str:
    parts = [
        f"{name} {peer['median_ms']:8.1f} ms {peer['gflops']:6.1f} GFLOP/s "
        f"(error {peer['max_error']:.1e})"
        for name, peer in result["peers"].items()
    ]
    return f"{isa:6} {result['workload']:24} {result['dtype']:4} " + "  ".join(parts)


def format_table(runs: list[dict[str, Any]]) -> str:
    """GFLOP/s over visible pairs, as Markdown."""
    names = list(runs[0]["results"][0]["peers"]) if runs[0]["results"] else []
    head = ["workload", "type"]
    head += [f"{name}, {run['isa']}" for run in runs for name in names]
    lines = [head, ["---"] * len(head)]
    for row in zip(*(run["results"] for run in runs)):
        cells = [row[0]["workload"], row[0]["dtype"]]
        cells += [f"{r['peers'][name]['gflops']:.0f}" for r in row for name in names]
        lines.append(cells)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def dump(result: dict[str, Any]) -> str:
    """JSON with one line per measurement."""
    runs = result["runs"]
    fields = (result | {"runs": "RUNS"}).items()
    text = ",\n".join(f" {json.dumps(key)}: {json.dumps(each)}" for key, each in fields)
    text = f"{{\n{text}\n}}"
    blocks = []
    for run in runs:
        head = json.dumps(run | {"results": "RESULTS"})
        lines = ",\n".join("   " + json.dumps(each) for each in run["results"])
        blocks.append("  " + head.replace('"RESULTS"', f"[\n{lines}\n  ]"))
    return text.replace('"RUNS"', "[\n" + ",\n".join(blocks) + "\n ]") + "\n"


if __name__ == "__main__":
    sys.exit(main())
