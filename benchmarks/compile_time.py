# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a workload's kernel takes to compile, and to find again. Needs no GPU.

    python3 benchmarks/compile_time.py dense_1x16k_h128_causal

Each measurement is a process of its own, so that the compilation is cold: nothing in
the process has run before, and the compiler's disk cache is off. Other processes get
the kernel from a disk cache of their own. Figures are medians over --repeat processes.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import workload  # noqa: E402
from mla import _capi, ops  # noqa: E402
from mla.module import PrefillSignature, prefill_module  # noqa: E402

# Stands in for ptxas and notes how long the real one ran, in nanoseconds.
WRAPPER = """\
#!/bin/sh
begin=$(date +%s%N)
"{ptxas}" "$@"
status=$?
echo $(($(date +%s%N) - begin)) >>"{log}"
exit $status
"""


def measure(name: str, target: str, page_size: int, repeat: int) -> dict[str, Any]:
    command = [sys.executable, __file__, name, "--target", target]
    command += ["--page-size", str(page_size), "--child"]
    runs = [run_child([*command, "cold"], "off") for _ in range(repeat)]
    with tempfile.TemporaryDirectory() as cache:
        run_child([*command, "disk"], cache)  # fills it
        for run in runs:
            run |= run_child([*command, "disk"], cache)
    result: dict[str, Any] = {"workload": name, "target": target}
    result["page_size"] = page_size
    for key in runs[0]:
        values = [run[key] for run in runs if run[key] is not None]
        result[key] = round(statistics.median(values), 3) if values else None
    return result


def run_child(command: list[str], cache: str) -> dict[str, Any]:
    """What a process with this disk cache measures."""
    process = subprocess.run(
        command,
        env=os.environ | {"MLA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {process.stderr.strip()}")
    return json.loads(process.stdout)


def format_result(result: dict[str, Any]) -> str:
    ptxas = result["ptxas_ms"]
    return (
        f"{result['workload']}, {result['target']}: cold {result['cold_ms']:.0f} ms"
        + (f", {ptxas:.0f} of them ptxas" if ptxas is not None else "")
        + f"; once more {result['again_ms']:.0f} ms; from disk "
        f"{result['disk_ms']:.0f} ms; found again in {result['kept_us']:.1f} us; "
        f"library loaded in {result['library_ms']:.0f} ms"
    )


def measure_cold(target: str, signature: PrefillSignature) -> dict[str, Any]:
    """In this process; its first call is the cold one."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        ptxas = find_ptxas()
        if ptxas:
            wrapper = pathlib.Path(folder) / "ptxas"
            wrapper.write_text(WRAPPER.format(ptxas=ptxas, log=log))
            wrapper.chmod(0o755)
            os.environ["MLA_PTXAS"] = str(wrapper)
        begin = time.perf_counter()
        _capi.library()
        loaded = time.perf_counter()
        ops._kernel(signature, target)
        compiled = time.perf_counter()
        runs = [int(line) for line in log.read_text().split()] if log.exists() else []
        again = time.perf_counter()
        _capi.Kernel(prefill_module(signature), target)
        end = time.perf_counter()
    kept = []
    for _ in range(1000):
        start = time.perf_counter()
        ops._kernel(signature, target)
        kept.append(time.perf_counter() - start)
    return {
        "library_ms": 1e3 * (loaded - begin),
        "cold_ms": 1e3 * (compiled - loaded),
        "ptxas_ms": sum(runs) / 1e6 if runs else None,
        "again_ms": 1e3 * (end - again),
        "kept_us": 1e6 * statistics.median(kept),
    }


def measure_disk(target: str, signature: PrefillSignature) -> dict[str, Any]:
    """In this process, whose first call finds the kernel in the disk cache."""
    _capi.library()
    begin = time.perf_counter()
    ops._kernel(signature, target)
    return {"disk_ms": 1e3 * (time.perf_counter() - begin)}


def find_ptxas() -> str | None:
    """The one that the compiler takes, where it is named or on the path."""
    return os.environ.get("MLA_PTXAS") or shutil.which("ptxas")


MEASURES = {"cold": measure_cold, "disk": measure_disk}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="a workload of workloads/gpu.json")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--page-size", type=int, default=workload.PAGE_SIZE)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--child", choices=MEASURES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.child:
        result = measure(
            options.name, options.target, options.page_size, options.repeat
        )
        print(format_result(result))
        return 0
    found = {w.name: w for w in workload.load("gpu")[0]}.get(options.name)
    if found is None:
        parser.error(f"name: expected a workload of gpu.json, got {options.name!r}")
    measured = MEASURES[options.child](
        options.target, found.signature(options.page_size)
    )
    print(json.dumps(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
