# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPU suite itself, on the CPU: what it runs, what it notices, what it survives."""

import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
from unittest import mock

import device_target
import far
import gpu_sanitize
import gpu_suite
import mla
import numpy as np
import pytest
import random_batches
import targets
import workers
from mla import _capi

HERE = pathlib.Path(__file__).resolve().parent
PATHS = os.pathsep.join([str(pathlib.Path(mla.__file__).parents[1]), str(HERE)])
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS}


# --- What it runs.


def test_names_are_those_of_pytest():
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    process = subprocess.run(
        [*command, *(module.__file__ for module in gpu_suite.MODULES.values())],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    names = {line.partition("::test_")[2] for line in process.stdout.splitlines()}
    ours = {
        name.partition("/")[2]
        for name in gpu_suite.collect()
        if name.partition("/")[0] in gpu_suite.MODULES
    }
    assert ours == names - {""}


def test_names_of_the_sanitizer_exist():
    names = list(gpu_suite.collect())
    for pattern in gpu_suite.SANITIZED:
        assert any(gpu_suite.matches(name, pattern) for name in names), pattern


SANITIZER = """#!/bin/bash
[ "$1 $2 $3" = "--tool $TOOL --log-file" ] || exit 99
log=$4
shift 4
"$@"
status=$?
printf '========= COMPUTE-SANITIZER\\n%b' "$REPORT" >"$log"
exit $status
"""


@pytest.mark.parametrize(
    "tool, report, status, line",
    [
        ("memcheck", "= ERROR SUMMARY: 0 errors\\n", 0, "memcheck: 0 errors; "),
        ("memcheck", "= oh\\n= ERROR SUMMARY: 3 errors\\n", 1, "memcheck: 3 errors; "),
        (
            "racecheck",
            "= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)\\n",
            1,
            "racecheck: 2 errors; ",
        ),
        ("initcheck", "= Device not supported\\n", 1, "initcheck: no summary; "),
    ],
)
def test_sanitizer(tmp_path, tool, report, status, line):
    """What it says and how the tests went, in a line; what it said, if it matters."""
    fake = tmp_path / "compute-sanitizer"
    fake.write_text(SANITIZER)
    fake.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    command = [sys.executable, HERE / "gpu_sanitize.py", "--target", "cpu"]
    names = ["tiles/only_63", "rules/mla_r10_some*"]
    process = subprocess.run(
        [*command, "--tool", tool, *names],
        env={**ENVIRONMENT, "PATH": path, "TOOL": tool, "REPORT": report},
        capture_output=True,
        text=True,
    )
    last = process.stdout.splitlines()[-1]
    assert last.startswith(f"{line}2 passed, 0 failed, 0 skipped (")
    assert process.returncode == status
    assert ("COMPUTE-SANITIZER" in process.stdout) == (status != 0)


def test_sanitizer_counts_failures(tmp_path, monkeypatch):
    """Of the tests, though the tool found nothing."""
    suite = [sys.executable, "-c", "print('0 passed, 1 failed, 0 skipped'); exit(1)"]
    fake = tmp_path / "compute-sanitizer"
    fake.write_text(SANITIZER)
    fake.chmod(0o755)
    monkeypatch.setenv("TOOL", "memcheck")
    monkeypatch.setenv("REPORT", "= ERROR SUMMARY: 0 errors\\n")
    result = gpu_sanitize.run(str(fake), "memcheck", suite)
    assert (result.errors, result.good) == (0, False)
    assert str(result).startswith("memcheck: 0 errors; 0 passed, 1 failed, 0 skipped")


@pytest.mark.parametrize("options", [["--jobs", "2"], ["--jobs", "0"], ["--sanitize"]])
def test_on_memory_of_the_host(options):
    names = ["base", "rules/*r8_writes*", "rules/*r10_no_rows*", "tiles/only_6?"]
    command = [sys.executable, HERE / "gpu_suite.py", "--target", "cpu"]
    process = subprocess.run(
        [*command, *options, *names], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.endswith("\n8 passed, 0 failed, 0 skipped\n")


def test_random_batches():
    """A name is a batch, the same each time; a seed has many, of every form."""
    tests = gpu_suite.select([random_batches.name_of(7, n) for n in range(60)])
    assert list(tests) == list(random_batches.tests(7, 60))
    cases = [random_batches.random_case(name) for name in tests]
    assert cases == [random_batches.random_case(name) for name in tests]
    assert random_batches.random_case("random/8/0").lengths != cases[0].lengths
    assert len({case.lengths for case in cases}) > 40
    groups = gpu_suite.grouped(tests)
    assert sorted(itertools.chain(*groups)) == sorted(tests)
    for group in groups:
        static = {(c.mask, c.rope, c.dims, c.dtype) for c in cases if c.name in group}
        assert len(static) == 1


def test_random_batches_on_memory_of_the_host():
    command = [sys.executable, HERE / "gpu_suite.py", "--target", "cpu", "--jobs", "2"]
    for options in (["--random", "3", "--seed", "5"], ["random/5/14"]):
        process = subprocess.run(
            [*command, *options], env=ENVIRONMENT, capture_output=True, text=True
        )
        count = 3 if "--random" in options else 1
        assert process.stdout.endswith(f"\n{count} passed, 0 failed, 0 skipped\n")


def test_random_batch_that_fails(monkeypatch, capsys):
    """What is said is enough to run it again, and to write it down as a case."""

    class Wrong(targets.Target):
        def prefill(self, q, k, v, **options):
            output, lse = super().prefill(q, k, v, **options)
            output[0] += 1
            return output, lse

    monkeypatch.setattr(targets, "current", Wrong())
    outcome = workers.run_test(
        "random/0/1", random_batches.find("random/0/1"), targets.Refused
    )
    gpu_suite.Report(1).add(outcome)
    said = capsys.readouterr().out
    assert "failed: random/0/1: AssertionError: random/0/1: output: " in said
    assert "page_size=7" in said
    assert said.endswith("\n  again: gpu_suite.py random/0/1\n")


# --- What it notices.


class Scribble:
    """Stands for a kernel with one argument: sets a byte at an offset from it."""

    arguments = (_capi.Argument("x", "f32", (-1, -1), True),)

    def __init__(self, offset: int):
        self._offset = offset
        self.pointers = []

    def run(self, tensors):
        self.pointers.append(tensors[0].pointer)
        ctypes.memset(tensors[0].pointer + self._offset, 0x40, 1)


# An array of 3 rows of 4 elements, each row followed by 2 that are not its own.
@pytest.mark.parametrize(
    "offset, noticed",
    [
        (-1, "x: 1 bytes before it were written, the nearest at a distance of 0 bytes"),
        (-device_target.GUARD, "x: 1 bytes before it"),
        (4 * 4, "x: 1 bytes between its rows were written"),
        (4 * 16, "x: 1 bytes after it were written, the nearest at a distance of 0"),
        (4 * 16 + device_target.GUARD - 1, "x: 1 bytes after it"),
    ],
)
def test_writes_elsewhere(offset, noticed):
    array = np.ones((3, 6), np.float32)[:, :4]
    with pytest.raises(AssertionError, match=noticed):
        device_target.DeviceTarget("cpu").run(Scribble(offset), [array])
    assert (array == 1).all()


def test_places():
    """Every other run at 16 bytes past 256; an element's own place within 16."""
    target, kernel = device_target.DeviceTarget("cpu"), Scribble(0)
    flat = np.ones(25, np.float32)
    for array in (flat[:24], flat[1:]):
        for _ in range(2):
            target.run(kernel, [array.reshape(4, 6)])
    assert [pointer % 256 for pointer in kernel.pointers] == [0, 16, 4, 20]
    assert (flat != 1).sum() == 2


def test_reads_elsewhere_are_nan():
    array = np.ones((2, 4), np.float32)
    memory = device_target.HostMemory()
    copy = device_target.Copy(memory, array, guard=64, shift=16)
    around = ctypes.string_at(copy.pointer - 80, 80 + array.nbytes + 64)
    values = np.frombuffer(around, np.float32)
    assert np.isnan(values[:20]).all() and np.isnan(values[28:]).all()
    assert (values[20:28] == 1).all()
    copy.free()


def test_far_arrays_are_copied_in_pieces():
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    for array in (far.far_rows(rows, 0), far.after_rows(rows, far.FAR)):
        pieces = far.pieces(array)
        assert sum(size for _, size in pieces) == rows.nbytes
        copy = device_target.Copy(device_target.HostMemory(), array, guard=64, shift=0)
        expected = array[-3:].copy()
        array[-3:] = 0
        copy.fetch("x")
        assert (array[-3:] == expected).all() and expected.any()
        copy.free()
    del array, copy
    assert not far._parts


class Fails:
    """Stands for a kernel that the library does not run."""

    arguments = (_capi.Argument("k_rope", "f32", (-1, -1), False),)

    def run(self, tensors):
        raise _capi.Error("k_rope: expected rows of 16 bytes, got 20")


def gpu_like_target():
    target = device_target.DeviceTarget("cpu")
    target._gpu = True
    return target


def test_refusals_name_what_is_misaligned():
    target, misaligned = gpu_like_target(), np.ones((4, 5), np.float32)
    with pytest.raises(targets.Refused, match="k_rope: expected"):
        target.run(Fails(), [misaligned])
    with pytest.raises(_capi.Error):  # it is aligned
        target.run(Fails(), [np.ones((4, 8), np.float32)])
    with pytest.raises(_capi.Error), mock.patch.object(Fails, "arguments", FOR_Q):
        target.run(Fails(), [misaligned])  # the message is about another one
    assert not target.lost


FOR_Q = (_capi.Argument("q", "f32", (-1, -1), False),)


@pytest.mark.parametrize(
    "name",
    ["forms/causal_paged_float32", "properties/linear_in_v[float32]"],
)
def test_what_a_target_refuses_is_skipped(monkeypatch, name):
    """Before there is anything to run it on: hypothesis finds no other reason."""
    monkeypatch.setattr(targets, "current", device_target.DeviceTarget("sm_90a"))
    test = gpu_suite.collect()[name]
    outcome = workers.run_test(name, test, targets.Refused)
    assert outcome[:3] == (
        name,
        "skipped",
        "q: expected bfloat16 or float16 for sm_90a, got float32",
    )


OUT = "device 0 has no bytes left: CUDA_ERROR_OUT_OF_MEMORY"


@pytest.mark.parametrize(
    "size, text, error",
    [
        (far.FAR, OUT, targets.Refused),
        (far.FAR, "CUDA_ERROR_ILLEGAL_ADDRESS", _capi.Error),
        (far.FAR - 1, OUT, _capi.Error),
    ],
)
def test_memory_that_is_lacking(monkeypatch, size, text, error):
    """Skips a test of gigabytes, and no other."""
    memory = device_target.DeviceMemory()
    monkeypatch.setattr(memory, "_call", mock.Mock(side_effect=_capi.Error(text)))
    with pytest.raises(error, match=text):
        memory.allocate(size)


def test_errors_that_last():
    target = gpu_like_target()
    target.memory.synchronize = mock.Mock(side_effect=_capi.Error("an illegal address"))
    with pytest.raises(_capi.Error, match="k_rope: expected"):
        target.run(Fails(), [np.ones((4, 5), np.float32)])
    assert target.lost


def test_notes_of_a_failure():
    def fails():
        error = AssertionError("1 is 2")
        error.__notes__ = ["Falsifying example:\n  fails()"]
        raise error

    outcome = workers.run_test("x", fails, LookupError)
    assert outcome.reason == "AssertionError: 1 is 2; Falsifying example: fails()"


# --- What it survives.

WORKER = """
import os, signal, sys, time
import workers

def run(name):
    if name == "abort":
        print("LLVM ERROR: cannot", file=sys.stderr, flush=True)
        os.abort()
    if name == "hang":
        time.sleep(60)
    def test():
        if name == "skip":
            raise LookupError("not here")
        assert name != "wrong", "1 is 2"
    print("noise")
    return workers.run_test(name, test, LookupError)

lost = []
workers.serve(lambda name: lost.append(name) or run(name), lambda: lost[-1] == "lost")
"""


def run_pool(groups, jobs=1, **options):
    outcomes = []
    pool = workers.Pool(
        [sys.executable, "-c", WORKER], ENVIRONMENT, 5, outcomes.append, **options
    )
    pool.run(groups, jobs)
    return {o.name: (o.result, o.reason) for o in outcomes}


def test_workers_that_do_not_answer():
    names = ["a", "abort", "b", "hang", "c", "wrong", "skip", "lost", "d"]
    assert run_pool([names]) == {
        "a": ("passed", ""),
        "abort": ("failed", "its process ended with SIGABRT: LLVM ERROR: cannot"),
        "b": ("passed", ""),
        "hang": ("failed", "no answer after 5 s; its process was ended"),
        "c": ("passed", ""),
        "wrong": ("failed", "AssertionError: 1 is 2"),
        "skip": ("skipped", "not here"),
        "lost": ("passed", ""),
        "d": ("passed", ""),
    }


def test_workers_share_the_groups():
    groups = [[f"{i}{j}" for j in range(3)] for i in range(5)]
    outcomes = run_pool(groups, jobs=3)
    assert outcomes == {name: ("passed", "") for group in groups for name in group}


def test_too_many_losses():
    outcomes = run_pool([["abort", "lost", "a"]], max_losses=2)
    assert outcomes["a"] == ("failed", "not run: 2 workers were lost before")
