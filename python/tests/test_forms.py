# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is static in the types: masks, ways to give the rope, element types, widths.

Each combination is a kernel of its own, so the batches are small: a tile that is full,
parts of tiles, one query, none. `docs/Support.md` is about these tests.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import families
import pytest
from families import DTYPES, WINDOWED, Case

ROPES = ("paged", "ragged", "ragged_end")
MASKS = ("null", "causal", *WINDOWED)
BATCH = Case("forms", (70, 0, 1, 130), (65, 5, 0, 20))
WINDOW = 50


def masks() -> list[Case]:
    """Each mask with each rope form, and each of the two with each element type."""
    return [
        replace(
            BATCH,
            name=f"{mask}_{rope}_{dtype}",
            mask=mask,
            window=WINDOW if mask in WINDOWED else -1,
            rope=rope,
            dtype=dtype,
        )
        for dtype, mask, rope in itertools.product(DTYPES, MASKS, ROPES)
        if dtype == "bfloat16" or mask == "causal" or rope == "paged"
    ]


def types() -> list[Case]:
    """Each element type of q with each of the output, and of the rope's source."""
    outputs = [
        replace(BATCH, name=f"output_{dtype}_{out}", dtype=dtype, out_dtype=out)
        for dtype, out in itertools.product(DTYPES, DTYPES)
    ]
    sources = [
        replace(
            BATCH,
            name=f"source_{dtype}_{source}",
            dtype=dtype,
            cache_dtype=source,
            rope=rope,
        )
        for (dtype, source), rope in zip(
            itertools.permutations(DTYPES, 2), itertools.cycle(("paged", "ragged"))
        )
    ]
    return outputs + sources


# Dn, Dr, Dv. A panel of shared memory has 64 columns: full ones and parts of one.
WIDTHS = (
    (64, 32, 80),
    (64, 64, 64),
    (64, 96, 256),
    (64, 128, 96),
    (80, 32, 80),
    (80, 64, 128),
    (96, 32, 64),
    (96, 96, 96),
    (128, 32, 128),
    (128, 64, 192),
    (128, 96, 80),
    (128, 128, 128),
    (192, 32, 64),
    (192, 64, 256),
    (192, 128, 96),
    (256, 32, 256),
    (256, 64, 256),
    (256, 96, 192),
    (256, 128, 80),
    (256, 128, 256),
)


def widths() -> list[Case]:
    """Each with one rope form and one element type of 16 bits, in turns."""
    result = []
    for number, dims in enumerate(WIDTHS):
        case = replace(
            BATCH,
            name="widths_{}_{}_{}".format(*dims),
            dims=dims,
            dtype=("bfloat16", "float16")[number % 2],
            rope=ROPES[number % 3],
            interleaved=number // 3 % 2 == 0,
            page_size=(64, 16)[number // 6 % 2],
        )
        result.append(case)
    return result


def copies() -> list[Case]:
    """Each way in which the rope's rows come, for widths of whole panels of shared
    memory and for parts of one, of which a GPU makes two kinds of kernel."""
    anywhere = {"cache_offsets": (3, 0, 0, 41)}
    ways = {
        "pages_of_7": {"page_size": 7},
        "pages_of_16_anywhere": {"page_size": 16, **anywhere},
        "rows_anywhere": {"rope": "ragged", "gap": 8, "spare": 3, **anywhere},
        "chunked": {"mask": "chunked", "window": WINDOW, "lse": False},
    }
    return [
        replace(BATCH, name=f"{widths}_{way}", dims=dims, **fields)
        for widths, dims in (("panels", (64, 64, 64)), ("narrow", (64, 32, 80)))
        for way, fields in ways.items()
    ]


CASES = [*masks(), *types(), *widths(), *copies()]
assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_forms(case):
    families.verify(case)
