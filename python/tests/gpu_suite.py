# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Correctness on a GPU: pytest's tests of results, the same oracle, another target.

    PYTHONPATH=python python3 python/tests/gpu_suite.py [options] [NAME...]

NAME selects tests, with wildcards: tiles/heads_3, rules/*r8*, base. Needs a GPU, its
driver, ptxas, numpy, ml_dtypes, hypothesis and pytest (for its marks), no framework.
What the target refuses by name is skipped. Ends with `N passed, N failed, N skipped`.

Operands lie between guards on the device (see device_target.py), and every batch runs
twice. Tests run in worker processes, so that one that hangs or faults is one failure.
--sanitize is for compute-sanitizer, which gpu_sanitize.py runs: a few small tests, in
this process, unguarded.
--random N runs N batches that a seed makes up (see random_batches.py), ten thousand
in a minute of an H200; a batch that fails runs again by its name.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import itertools
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import device_target
import random_batches
import targets
import test_forms
import test_modules
import test_prefill
import test_properties
import test_rules
import test_tiles
import workers
from families import Case, replace
from workers import Outcome

# What the sanitizer sees: each kind of kernel, copy and loop, in few and small tiles.
# It takes seconds for each kernel, whatever that computes, so tests share them.
SANITIZED = (
    # Roles and rings, with boxes of pages and of rows; every mask.
    "forms/*_paged_bfloat16",
    "forms/causal_ragged*_bfloat16",
    "forms/chunked_ragged_bfloat16",
    "forms/null_ragged_end_bfloat16",
    # Gathered rows, first keys anywhere, no lse; one stream too, for parts of panels.
    "forms/panels_*",
    "forms/narrow_*",
    "forms/widths_64_96_256",
    "forms/widths_192_64_256",
    "forms/causal_paged_float16",
    "forms/output_bfloat16_float*",
    # More sequences than the order has lines.
    "tiles/sequences_2100",
    # Views, bases, gaps; nothing where something could be.
    "rules/mla_r5*",
    "rules/mla_r8_views*-8]",
    "rules/mla_r8_writes*",
    "rules/mla_r8_bases_of_elements*-8]",
    "rules/mla_r8_head_major",
    "rules/mla_r2_nothing*",
    "rules/mla_r10_no_tokens[70-lengths2*",
    "rules/mla_r10_no_rows*",
    "rules/mla_r10_some*",
    # Keys that have to be cleared, a mask in one guarded range, several kernels.
    "modules/soft_cap",
    "modules/prefix_lm[prefix_lm]",
    "modules/two_masks_in_a_loop",
)


def parametrized(function: Callable, label: str) -> Iterator[tuple[str, Callable]]:
    """The tests that pytest makes of a function, by their names there."""
    marks = [m for m in getattr(function, "pytestmark", ()) if m.name == "parametrize"]
    # pytest varies the mark that is nearest to the function first.
    for chosen in itertools.product(*(enumerate(mark.args[1]) for mark in marks)):
        arguments, ids = {}, []
        for mark, (index, value) in zip(marks, chosen):
            names = [name.strip() for name in mark.args[0].split(",")]
            values = value if len(names) > 1 else (value,)
            arguments.update(zip(names, values))
            ids += [_id_of(v, f"{n}{index}") for n, v in zip(names, values)]
        name = f"{label}[{'-'.join(ids)}]" if ids else label
        yield name, functools.partial(function, **arguments)


def _id_of(value: object, otherwise: str) -> str:
    plain = isinstance(value, (Case, str, int, float))
    return str(value) if plain or value is None else otherwise


MODULES = {
    "rules": test_rules,
    "modules": test_modules,
    "properties": test_properties,
}


def collect() -> dict[str, Callable[[], None]]:
    """All tests by name."""
    tests = {
        f"family/{n}": functools.partial(test_prefill.test_family, case)
        for n, case in test_prefill.CASES.items()
    }
    tests.update(
        (f"tiles/{case}", functools.partial(test_tiles.test_tiles, case))
        for case in test_tiles.CASES
    )
    tests.update(
        (f"forms/{case}", functools.partial(test_forms.test_forms, case))
        for case in test_forms.CASES
    )
    for label, module in MODULES.items():
        for name, function in vars(module).items():
            if name.startswith("test_"):
                tests.update(parametrized(function, f"{label}/{name[5:]}"))
    return tests


def select(patterns: Sequence[str]) -> dict[str, Callable[[], None]]:
    """The tests that any of the patterns fits. Random batches only have names."""
    random = [p for p in patterns if p.startswith(random_batches.PREFIX)]
    tests = {name: random_batches.find(name) for name in random}
    others = [pattern for pattern in patterns if pattern not in tests]
    for name, test in collect().items() if others else ():
        if any(matches(name, pattern) for pattern in others):
            tests[name] = test
    return tests


def group_of(name: str, test: Callable[[], None]) -> str:
    """Tests of a group need the same kernel, more or less."""
    if name.startswith(random_batches.PREFIX):
        return f"{random_batches.PREFIX}{random_batches.form_of(name)}"
    case = next(
        (arg for arg in getattr(test, "args", ()) if isinstance(arg, Case)), None
    )
    if case is None:
        return name.partition("[")[0]
    dynamic = {"name": "", "lengths": (), "prefixes": (), "window": -1, "layers": 1}
    dynamic |= {"layer": 0, "buffer_rows": None, "gap": 0, "interleaved": False}
    dynamic |= {"spare": 0, "scale": None, "spread": 1.0, "scores": "normal", "seed": 0}
    dynamic["cache_offsets"] = None if case.cache_offsets is None else ()
    return repr(replace(case, **dynamic))


def grouped(tests: dict[str, Callable]) -> list[list[str]]:
    # A few tests, so that the last ones find all workers busy; or what takes longer
    # than the compilation of a kernel.
    largest = max(8, len(tests) // 40)
    groups: dict[str, list[str]] = {}
    for name, test in tests.items():
        groups.setdefault(group_of(name, test), []).append(name)
    return [
        names[begin : begin + largest]
        for names in groups.values()
        for begin in range(0, len(names), largest)
    ]


class Report:
    """Prints what is not a pass as it comes, and sums up."""

    def __init__(self, total: int):
        self._start = time.perf_counter()
        self._total = total
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if outcome.result != "passed":
            reason = outcome.reason.partition("\n")[0]
            print(f"{outcome.result}: {outcome.name}: {reason}", flush=True)
        if outcome.result == "failed":
            print(f"  again: gpu_suite.py {shlex.quote(outcome.name)}", flush=True)

    def finish(self, slowest: int) -> bool:
        assert len(self.outcomes) == self._total
        by_time = sorted(self.outcomes, key=lambda outcome: -outcome.seconds)
        for outcome in by_time[:slowest]:
            print(f"{outcome.seconds:6.1f} s  {outcome.name}")
        print(f"{time.perf_counter() - self._start:.0f} s")
        counts = {
            result: sum(outcome.result == result for outcome in self.outcomes)
            for result in ("passed", "failed", "skipped")
        }
        print(", ".join(f"{count} {result}" for result, count in counts.items()))
        return counts["passed"] > 0 and counts["failed"] == 0


def main() -> int:
    cpus = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="sm_90a", help="a CPU's is for trying out")
    parser.add_argument(
        "--jobs", type=int, default=min(8, cpus), help="workers; 0: this process"
    )
    parser.add_argument("--timeout", type=float, default=60, help="of a test, seconds")
    parser.add_argument("--sanitize", action="store_true", help="see above")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="see above")
    parser.add_argument("--seed", type=int, default=0, help="of --random")
    parser.add_argument("--slowest", type=int, default=5, help="of which to tell times")
    parser.add_argument("--list", action="store_true", help="only print the names")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="only these tests")
    options = parser.parse_args()

    # Whatever means to compile does; workers inherit it.
    os.environ["MLA_CACHE_DIR"] = "off"
    patterns = options.names or (SANITIZED if options.sanitize else ["*"])
    if options.random:
        tests = random_batches.tests(options.seed, options.random)
    else:
        tests = select(patterns)
    if options.list:
        print("\n".join(tests))
        return 0

    in_process = options.sanitize or options.jobs == 0
    if options.worker or in_process:
        # Guards would hide from the sanitizer what is outside of an operand.
        guard = 0 if options.sanitize else device_target.GUARD
        target = device_target.DeviceTarget(options.target, guard)
        targets.current = target
    if options.worker:

        def run(name: str) -> Outcome:
            test = tests.get(name) or random_batches.find(name)
            return workers.run_test(name, test, targets.Refused)

        workers.serve(run, lambda: target.lost)
        return 0

    report = Report(len(tests))
    if in_process:
        for name, test in tests.items():
            report.add(workers.run_test(name, test, targets.Refused))
    else:
        threads = str(max(1, cpus // options.jobs))
        environment = {"OPENBLAS_NUM_THREADS": threads, "MLA_NUM_THREADS": threads}
        pool = workers.Pool(
            [sys.executable, __file__, "--worker", "--target", options.target],
            os.environ | environment,
            options.timeout,
            report.add,
        )
        pool.run(grouped(tests), options.jobs)
    return 0 if report.finish(options.slowest) else 1


def matches(name: str, pattern: str) -> bool:
    """Whether all of a name, or what follows its folder, fits the pattern.

    A bracket is a bracket, as names have them.
    """
    pattern = pattern.replace("[", "[[]")
    return any(
        fnmatch.fnmatchcase(part, pattern) for part in (name, name.partition("/")[2])
    )


if __name__ == "__main__":
    sys.exit(main())
