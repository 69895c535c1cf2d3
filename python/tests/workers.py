# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests in worker processes, so that one that crashes or hangs is one failure.

A kernel that is wrong can hang, abort the compiler or leave its device in a state
in which every further call fails. So a worker is told one test at a time, answers
with one line of JSON, and is replaced when it does not.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Outcome(NamedTuple):
    """What became of a test."""

    name: str
    result: str  # "passed", "failed" or "skipped"
    reason: str = ""
    seconds: float = 0.0


def run_test(name: str, test: Callable[[], None], skipped: type[Exception]) -> Outcome:
    """Runs a test in this process. `skipped` is raised by those that do not apply."""
    start = time.perf_counter()
    result, reason = "passed", ""
    try:
        test()
    except skipped as error:
        result, reason = "skipped", str(error)
    except Exception as error:
        # An assert of ours says all; whatever else, where it came from helps.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if str(error) else f" at {os.path.basename(place[0])}:{place[1]}"
        result, reason = "failed", f"{type(error).__name__}{where}: {error}"
        # Hypothesis notes the example; what is printed of a reason is a line.
        for note in getattr(error, "__notes__", ()):
            reason += f"; {' '.join(note.split())}"
    return Outcome(name, result, reason, time.perf_counter() - start)


def serve(run: Callable[[str], Outcome], is_lost: Callable[[], bool]) -> None:
    """The worker's side: names from stdin, outcomes to stdout.

    Whatever else is written to stdout goes to stderr.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        outcome = run(line.strip())
        json.dump([*outcome, is_lost()], answers)
        answers.write("\n")
        answers.flush()
        if is_lost():
            # What a destructor of the device's would say is no help any more.
            os._exit(1)


class Pool:
    """Workers that share a list of groups of tests; a group is one worker's.

    After `max_losses` workers were lost the tests that are left are not run: they
    fail.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        timeout: float,
        report: Callable[[Outcome], None],
        max_losses: int = 8,
    ):
        self._command, self._environment = list(command), environment
        self._timeout, self._max_losses = timeout, max_losses
        self._report_unlocked = report
        self._lock = threading.Lock()
        self._losses = 0

    def run(self, groups: Sequence[Sequence[str]], jobs: int) -> None:
        queue = collections.deque(groups)
        threads = [
            threading.Thread(target=self._drain, args=(queue,))
            for _ in range(min(jobs, len(groups)))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _report(self, outcome: Outcome) -> None:
        with self._lock:
            self._report_unlocked(outcome)

    def _drain(self, queue: collections.deque) -> None:
        worker = None
        while True:
            try:
                group = queue.popleft()
            except IndexError:
                break
            for name in group:
                if self._losses >= self._max_losses:
                    reason = f"not run: {self._losses} workers were lost before"
                    self._report(Outcome(name, "failed", reason))
                    continue
                worker = worker or _Worker(self._command, self._environment)
                outcome, lost = worker.ask(name, self._timeout)
                self._report(outcome)
                if lost:
                    with self._lock:
                        self._losses += 1
                    worker.stop()
                    worker = None
        if worker:
            worker.stop()


class _Worker:
    def __init__(self, command: Sequence[str], environment: dict[str, str]):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed by stop()
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def ask(self, name: str, timeout: float) -> tuple[Outcome, bool]:
        """What became of the test, and whether the worker is of no more use."""
        start = time.perf_counter()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{name}\n".encode())
            self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], timeout)
        seconds = time.perf_counter() - start
        if not ready:
            reason = f"no answer after {timeout:g} s; its process was ended"
            return Outcome(name, "failed", reason, seconds), True
        line = self._process.stdout.readline()
        if not line:
            return Outcome(name, "failed", self._how_it_ended(), seconds), True
        *fields, lost = json.loads(line)
        return Outcome(*fields), lost

    def _how_it_ended(self) -> str:
        status = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"status {status}" if status >= 0 else signal.Signals(-status).name
        # A crash of the compiler says first what it is, then where.
        said = next((line for line in lines if "ERROR" in line), "")
        said = said or (lines[-1] if lines else "nothing was said")
        return f"its process ended with {how}: {said}"

    def stop(self) -> None:
        # A worker in a call of a driver that hangs does not hear anything else.
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._errors.close()
