# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches around the tiles of a GPU's kernel, 128 queries by 128 keys.

DeepSeek's widths, 16-bit operands, and what such a kernel treats specially: ends of
tiles, pages in any relation to tiles, many more or many fewer work items than
multiprocessors, rows and tiles without a visible key, maxima that change from tile
to tile. They run on the current target, so on CPUs too.

What is static in the types is compiled once for each combination: cases share it
where their subject lets them, with the families of `families.py` too.
"""

from __future__ import annotations

from dataclasses import replace

import families
import numpy as np
import pytest
from families import WINDOWED, Case

LENGTHS = (1, 63, 64, 65, 127, 128, 129, 255, 300, 517)
PREFIXES = (0, 1, 63, 64, 65, 127, 128, 129, 700, 1216)
# First keys in the buffer, below the context of every sequence but the shortest.
OFFSETS = (0, 3, 8, 40, 64)
WINDOWS = (1, 64, 100, 128, 1000)
PAGE_SIZES = (1, 7, 8, 16, 64, 128, 256)


def rotated(items: tuple[int, ...], by: int) -> tuple[int, ...]:
    by %= len(items)
    return items[by:] + items[:by]


def cycled(items: tuple[int, ...], count: int) -> tuple[int, ...]:
    return tuple(int(item) for item in np.resize(items, count))


def ends() -> list[Case]:
    """Every length meets every prefix."""
    one_head = Case("ends", LENGTHS, heads=1)
    result = [
        replace(one_head, name=f"ends_{by}", prefixes=rotated(PREFIXES, by))
        for by in range(len(PREFIXES))
    ]
    # One tile after the other, and each length as the only work there is.
    result += [
        replace(one_head, name=f"only_{length}", lengths=(length,), prefixes=(prefix,))
        for length, prefix in zip(LENGTHS, rotated(PREFIXES, 3))
    ]
    # More keys than any buffer of tiles holds.
    long = replace(one_head, name="keys_8000", lengths=(300, 5), prefixes=(7900, 8000))
    return [*result, long]


def heads() -> list[Case]:
    """Work items: from fewer than multiprocessors to many times more."""
    three = Case("heads_3", LENGTHS, rotated(PREFIXES, 5), heads=3, latent=512)
    few = {"lengths": (129, 1, 64), "prefixes": (129, 700, 0), "latent": 512}
    return [
        three,
        replace(three, name="heads_3_other", prefixes=rotated(PREFIXES, 8)),
        replace(three, name="heads_3_interleaved", interleaved=True, gap=128, spare=77),
        Case("heads_16", LENGTHS, rotated(PREFIXES, 2), heads=16, page_size=256),
        Case("heads_16_none_before", LENGTHS, heads=16, page_size=256),
        Case("heads_128", heads=128, page_size=128, **few),
        Case("heads_128_one_token", (1,), (300,), heads=128, page_size=128, latent=512),
    ]


def pages() -> list[Case]:
    """Page sizes with first keys anywhere: a tile begins and ends inside pages."""
    base = Case("pages", LENGTHS, rotated(PREFIXES, 7), gap=8, spare=3)
    base = replace(base, cache_offsets=cycled(OFFSETS, len(LENGTHS)))
    result = [
        replace(base, name=f"pages_of_{size}", page_size=size) for size in PAGE_SIZES
    ]
    # A ragged rope has no pages, but first keys; with lengths and without.
    result += [
        replace(base, name="ragged_first_keys", rope="ragged"),
        replace(base, name="ragged_end_first_keys", rope="ragged_end", gap=0),
        replace(base, name="unsigned_first_keys", index_dtype="uint32", lse=False),
        replace(base, name="layers", layers=3, layer=1),
    ]
    return result


def rows_without_keys() -> list[Case]:
    """Rows, tiles and sequences that see nothing, under masks that hide keys."""
    half = tuple(length // 2 for length in LENGTHS)
    late = Case(
        "keys_late", LENGTHS, cache_offsets=(1, 63, 64, 65, 64, 127, 5, 8, 0, 3)
    )
    count = len(LENGTHS)
    return [
        # The keys that would be there are not all in the buffer.
        replace(late, name="half_of_the_keys", buffer_rows=half, cache_offsets=None),
        replace(late, name="no_keys", buffer_rows=(0,) * count, cache_offsets=None),
        # The first queries of a sequence are before its first key.
        late,
        replace(late, name="keys_late_in_part", buffer_rows=(128,) * count),
        replace(late, name="keys_late_null", mask="null", page_size=1),
        # Without lengths the last query is at the last key.
        replace(
            late,
            name="more_queries_than_keys",
            rope="ragged_end",
            cache_offsets=None,
            buffer_rows=half,
        ),
        replace(
            late,
            name="one_key_each",
            rope="ragged_end",
            cache_offsets=None,
            buffer_rows=(1,) * count,
        ),
    ]


def windows() -> list[Case]:
    return [
        Case(
            f"{mask}_{window}",
            LENGTHS,
            rotated(PREFIXES, shift),
            mask=mask,
            window=window,
            page_size=page_size,
        )
        for mask, page_size in WINDOWED.items()
        for shift, window in enumerate(WINDOWS)
    ]


def scores() -> list[Case]:
    """Maxima that move from tile to tile, and scores of -5e5 alone."""
    lengths = (300, 1, 129, 64, 517)
    base = Case("scores", lengths, (0, 700, 128, 65, 300))
    extreme = replace(base, scores="minus_500000", scale=1.0)
    noncausal = {"mask": "sliding_window_noncausal", "window": 200}
    return [
        replace(base, name="scores_grow", scores="growing"),
        replace(base, name="scores_shrink", scores="shrinking"),
        replace(
            base, name="scores_grow_null", scores="growing", mask="null", page_size=1
        ),
        replace(base, name="scores_grow_window", scores="growing", **noncausal),
        replace(base, name="scores_grow_f16", scores="growing", dtype="float16"),
        replace(extreme, name="scores_minus_500000"),
        replace(extreme, name="scores_minus_500000_ragged", rope="ragged"),
        replace(extreme, name="scores_minus_500000_f16", dtype="float16"),
    ]


def types() -> list[Case]:
    base = Case("types", (255, 1, 129), (64, 700, 0), interleaved=True, spare=3)
    both = [
        ("bfloat16", "float16"),
        ("bfloat16", "float32"),
        ("float16", "float16"),
        ("float16", "bfloat16"),
        ("float16", "float32"),
    ]
    result = [
        replace(base, name=f"{dtype}_to_{out}", dtype=dtype, out_dtype=out)
        for dtype, out in both
    ]
    f16 = replace(base, dtype="float16", lse=False)
    result += [
        replace(base, name="no_lse", lse=False),
        replace(f16, name="float16_ragged", rope="ragged", gap=128),
        replace(f16, name="float16_chunked", mask="chunked", window=100),
    ]
    return result


def many_sequences() -> list[Case]:
    """Batches whose work a scheduler on the device has to find."""
    rng = np.random.default_rng(3)
    few = tuple(int(n) for n in rng.integers(0, 4, 700))
    behind = tuple(int(n) for n in rng.integers(0, 150, 700))
    # Mostly nothing or one query, in long stretches of each.
    lengths = rng.integers(0, 2, 5000)
    lengths[1000:2200] = 0
    lengths[3000:3300] = 1
    lengths[[0, 777, 2500, 4999]] = 130, 257, 300, 65
    ones = tuple(int(n) for n in lengths)
    short = tuple(int(n) for n in rng.integers(0, 12, 5000))
    # Lines of the order that stand for several sequences each, few of them with work.
    sparse = [0] * 2100
    sparse[::150] = [1, 20, 129, 1, 3, 2, 1, 5, 64, 1, 1, 2, 130, 1]
    sparse[1] = sparse[-1] = 70
    empty_ends = (0,) * 400 + (1, 129, 0, 128) + (0,) * 400
    return [
        Case("sequences_700", few, behind, heads=3, latent=512),
        Case("sequences_700_new", few, heads=1),
        Case("sequences_5000", ones, short, heads=1),
        Case("sequences_5000_ragged", ones, short, rope="ragged"),
        Case("sequences_2100", tuple(sparse), cycled((0, 3, 65), 2100)),
        Case("sequences_empty_around", empty_ends, heads=1),
        Case("decode", (1,) * 150, cycled(PREFIXES, 150), heads=3, latent=512),
        Case(
            "one_long_one_token_each", (517, *[1] * 127), (64,), heads=16, page_size=256
        ),
    ]


CASES = [
    *ends(),
    *heads(),
    *pages(),
    *rows_without_keys(),
    *windows(),
    *scores(),
    *types(),
    *many_sequences(),
]
assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tiles(case):
    families.verify(case)
