# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call costs its host beside the driver's own launch, from C and from Python.

    python3 benchmarks/launch_cost.py --json result.json

Needs an H200, torch with CUDA, and a C compiler. One query, one key, one head: the
device is done before the next call. Every call goes through a driver whose launches
are timed (launch_cost.c), so what is left is ours, call by call and on the same
kernel. Figures are the best of --rounds rounds: a host's noise only adds.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import machine  # noqa: E402
import torch  # noqa: E402

CALLS = 200  # of a round: fewer than a stream's queue holds


class Cost(NamedTuple):
    """Microseconds of one call."""

    total: float
    launch: float  # of that in the driver's launch

    @property
    def ours(self) -> float:
        return self.total - self.launch


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    driver = install_driver()
    # Only now: the runtime opens its driver once.
    calls = prepare_calls(driver)
    costs = {}
    for name, call in calls.items():
        cost = costs[name] = measure(driver, call, options.rounds)
        print(
            f"{name:32} {cost.total:6.2f} us, of it the driver's launch "
            f"{cost.launch:5.2f} us, ours {cost.ours:5.2f} us"
        )
    if options.json:
        run = {
            "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "revision": machine.revision(),
            "machine": machine.facts() | {"gpu": machine.gpu()},
            "costs_us": {
                name: cost._asdict() | {"ours": cost.ours}
                for name, cost in costs.items()
            },
        }
        options.json.write_text(json.dumps(run, indent=1) + "\n")
    return 0


def install_driver() -> ctypes.CDLL:
    """Builds the timing driver and names it to the runtime."""
    torch.cuda.init()  # loads libcuda
    libcuda = next(
        line.split()[-1]
        for line in pathlib.Path("/proc/self/maps").read_text().splitlines()
        if "/libcuda.so" in line
    )
    path = pathlib.Path(tempfile.mkdtemp()) / "libtimed_cuda.so"
    link = ["-Wl,--no-as-needed", libcuda]
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-o", path, HERE / "launch_cost.c", *link],
        check=True,
    )
    os.environ["MLA_CUDA_DRIVER_LIBRARY"] = str(path)
    driver = ctypes.CDLL(str(path))
    driver.takeLaunches.restype = ctypes.c_double
    driver.timeRuns.restype = ctypes.c_double
    return driver


def prepare_calls(driver: ctypes.CDLL) -> dict[str, Callable[[], float | None]]:
    """Functions that make CALLS calls. One that times itself returns nanoseconds."""
    import device
    import mla
    import workload
    from peers import ours_gpu

    w = workload.Workload(
        name="one",
        sequences=((1, 1),),
        heads=1,
        mask="causal",
        window=0,
        rope_source="paged",
        nope=128,
        rope=64,
        value=128,
        cache_row=576,
        flops=0,
        min_bytes=0,
    )
    batch = device.make_batch(w, workload.PAGE_SIZE)
    bound = ours_gpu.prepare(batch)
    bound.call()  # compiled, and its kernel prepared
    kernel, tensors, count, run_options, error = bound.call._arguments

    def from_c() -> float:
        return driver.timeRuns(
            bound.call._run,
            ctypes.c_void_p(kernel),
            tensors,
            ctypes.c_size_t(count),
            run_options,
            error,
            ctypes.c_long(CALLS),
        )

    arguments: dict[str, Any] = {
        "q": batch.q,
        "k": batch.k,
        "v": batch.v,
        "buffer_row_offsets": batch.buffer_row_offsets,
        "input_row_offsets": batch.input_row_offsets,
        "cache": mla.PagedCache(
            batch.kv_blocks, batch.lookup_table, batch.cache_lengths
        ),
        "layer_idx": 0,
    }
    output = mla.prefill(**arguments)
    lse = torch.empty(output.shape[:2], device=output.device)

    def from_python(**more: Any) -> Callable[[], None]:
        both = arguments | more

        def calls() -> None:
            for _ in range(CALLS):
                mla.prefill(**both)

        return calls

    return {
        "mlaKernelRun": from_c,
        "mla.prefill, output given": from_python(output=output),
        "mla.prefill, output and lse given": from_python(output=output, lse=lse),
        "mla.prefill, output allocated": from_python(),
    }


def measure(driver: ctypes.CDLL, call: Callable, rounds: int) -> Cost:
    best = None
    count = ctypes.c_long()
    for _ in range(rounds):
        torch.cuda.synchronize()
        driver.takeLaunches(ctypes.byref(count))
        start = time.perf_counter_ns()
        own = call()
        total = time.perf_counter_ns() - start if own is None else own
        launch = driver.takeLaunches(ctypes.byref(count))
        assert total >= 0 and count.value == CALLS, (total, count.value)
        cost = Cost(total / CALLS / 1e3, launch / CALLS / 1e3)
        if best is None or cost.ours < best.ours:
            best = cost
    return best


if __name__ == "__main__":
    sys.exit(main())
