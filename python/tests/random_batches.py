# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random small batches, as many as one likes: `gpu_suite.py --random N --seed S`.

Batch number n of a seed is the same everywhere, and its name, `random/SEED/n`, is all
that it takes to make it again. What is static in the types is one of `FORMS`, so that
few kernels are compiled; all else is free.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import families
import numpy as np
from families import Case

PREFIX = "random/"

# Each way through the kernels. "offsets": the buffer's first keys are anywhere.
FORMS: tuple[dict[str, Any], ...] = (
    {},
    {"page_size": 7, "offsets": True},
    {"rope": "ragged", "mask": "null", "out_dtype": "float32"},
    {"rope": "ragged_end", "offsets": True, "heads": 3},
    {"mask": "sliding_window_causal", "page_size": 16, "index_dtype": "uint32"},
    {
        "mask": "sliding_window_noncausal",
        "rope": "ragged",
        "offsets": True,
        "dtype": "float16",
    },
    {"mask": "chunked", "page_size": 128, "offsets": True, "lse": False},
    {"mask": "chunked_causal", "rope": "ragged_end", "dtype": "float16"},
    {"dims": (64, 32, 80), "page_size": 16, "offsets": True},
    {"dims": (64, 96, 48), "rope": "ragged", "dtype": "float16", "mask": "chunked"},
    {"dims": (192, 64, 256), "mask": "null", "page_size": 1},
    {"dims": (64, 128, 192), "rope": "ragged", "mask": "sliding_window_causal"},
)
EDGES = (0, 1, 63, 64, 65, 127, 128, 129, 191, 192, 256, 257)
# What makes scores larger or smaller: one such thing at a time.
SCORES: tuple[dict[str, Any], ...] = (
    *[{}] * 6,
    {"spread": 8.0},
    {"scale": 1e-3},
    {"scale": 0.5},
    {"scores": "growing"},
    {"scores": "shrinking"},
)


def name_of(seed: int, number: int) -> str:
    return f"{PREFIX}{seed}/{number}"


def form_of(name: str) -> int:
    """Which of FORMS a batch has, by its name."""
    return int(name.rpartition("/")[2]) % len(FORMS)


def random_case(name: str) -> Case:
    """The batch of a name."""
    seed, number = (int(part) for part in name[len(PREFIX) :].split("/"))
    rng = np.random.default_rng([seed, number])
    form = dict(FORMS[form_of(name)])
    sequences = int(rng.integers(0, 7))

    def counts() -> tuple[int, ...]:
        of_kinds = (
            rng.integers(0, 21, sequences),
            rng.choice(EDGES, sequences),
            rng.integers(0, 300, sequences),
            rng.integers(0, 2, sequences),
        )
        kinds = rng.choice(len(of_kinds), sequences, p=(0.4, 0.3, 0.2, 0.1))
        return tuple(int(of_kinds[kind][b]) for b, kind in enumerate(kinds))

    case = Case(
        name,
        lengths=counts(),
        prefixes=counts(),
        cache_offsets=counts() if form.pop("offsets", False) else None,
        buffer_rows=counts() if rng.random() < 0.3 else None,
        window=int(rng.choice((rng.integers(1, 20), rng.integers(1, 300)))),
        layers=3,
        layer=int(rng.integers(3)),
        gap=int(rng.choice((0, 1, 8, 128))),
        spare=int(rng.integers(0, 4)),
        interleaved=bool(rng.random() < 0.3),
        seed=seed,
        **SCORES[rng.integers(len(SCORES))],
        **form,
    )
    if case.rope == "ragged_end":  # whose queries are placed by the rows there are
        case = dataclasses.replace(case, gap=0)
    return case


def describe(case: Case) -> str:
    """What of a case is not the default."""
    fields = {field.name: field.default for field in dataclasses.fields(case)}
    given = {name: getattr(case, name) for name in fields}
    return ", ".join(f"{n}={v!r}" for n, v in given.items() if v != fields[n])


def verify(name: str) -> None:
    case = random_case(name)
    try:
        families.verify(case)
    except AssertionError as error:
        raise AssertionError(f"{error} ({describe(case)})") from error


def tests(seed: int, count: int) -> dict[str, Callable[[], None]]:
    """The first batches of a seed, by name."""
    return {name: find(name) for name in (name_of(seed, n) for n in range(count))}


def find(name: str) -> Callable[[], None]:
    """The test of a name."""
    return functools.partial(verify, name)
