# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sanitizer's tests of `gpu_suite.py` under each tool of compute-sanitizer.

    PYTHONPATH=python python3 python/tests/gpu_sanitize.py [--tool TOOL]... [NAME...]

Prints a line for each tool, for example

    memcheck: 0 errors; 49 passed, 0 failed, 0 skipped (120 s)

after what the tool said if that is more. Exits with 1 unless all errors are 0 and all
tests pass. compute-sanitizer comes with CUDA; it is looked for on the path and in
$CUDA_HOME/bin (/usr/local/cuda).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SUITE = pathlib.Path(__file__).resolve().with_name("gpu_suite.py")
# Of a report, so that one bug in a loop is no flood.
LINES = 60


class Result(NamedTuple):
    """What became of a tool's run."""

    tool: str
    errors: int | None  # None: the tool came to no end
    tests: str  # the suite's last line
    good: bool
    said: str  # the tool's report
    seconds: float

    def __str__(self) -> str:
        found = "no summary" if self.errors is None else f"{self.errors} errors"
        return f"{self.tool}: {found}; {self.tests} ({self.seconds:.0f} s)"


def find() -> str:
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    path = os.pathsep.join([os.environ.get("PATH", ""), f"{home}/bin"])
    program = shutil.which("compute-sanitizer", path=path)
    if program is None:
        raise SystemExit(f"compute-sanitizer: not on the path, nor in {home}/bin")
    return program


def errors_in(report: str) -> int | None:
    """By the summary line: racecheck counts hazards, which all are errors here."""
    found = re.search(r"SUMMARY: (\d+) (?:error|hazard)", report)
    return int(found[1]) if found else None


def run(program: str, tool: str, suite: list[str]) -> Result:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        process = subprocess.run(
            [program, "--tool", tool, "--log-file", log, *suite],
            capture_output=True,
            text=True,
        )
        report = log.read_text(errors="replace") if log.exists() else ""
    lines = (process.stdout + process.stderr).strip().splitlines()
    tests = next((li for li in reversed(lines) if " passed, " in li), "no test ran")
    errors = errors_in(report)
    good = errors == 0 and process.returncode == 0
    said = "" if good else "\n".join([*report.splitlines()[:LINES], *lines[-LINES:]])
    return Result(tool, errors, tests, good, said, time.perf_counter() - start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tool", action="append", choices=TOOLS, help="only this one; repeatable"
    )
    parser.add_argument("--target", default="sm_90a", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="only these tests")
    options = parser.parse_args()
    suite = [sys.executable, str(SUITE), "--sanitize", "--target", options.target]
    program, results = find(), []
    for tool in options.tool or TOOLS:
        results.append(run(program, tool, [*suite, *options.names]))
        if results[-1].said:
            print(results[-1].said)
        print(results[-1], flush=True)
    return 0 if all(result.good for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
