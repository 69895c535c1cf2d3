# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checking mode: the index tensors' values, looked at on the host.

Each check raises a ValueError that names the first bad entry, for example
"input_row_offsets[3]: expected >= 17, got 12". Lengths and offsets are few, so
this is arithmetic on small int64 arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def validate_prefill(
    *,
    queries: int,
    buffer_rows: int,
    input_row_offsets: Any,
    buffer_row_offsets: Any,
    cache_offsets: Any = None,
    cache_lengths: Any = None,
    lookup_table: Any = None,
    pages: int = 0,
    page_size: int = 1,
) -> None:
    """Checks the values of every index tensor of a prefill."""
    iro = _offsets("input_row_offsets", input_row_offsets, queries, starts_at_zero=True)
    bro = _offsets("buffer_row_offsets", buffer_row_offsets, buffer_rows)
    sequences = len(iro) - 1
    first = np.zeros(sequences, np.int64)
    if cache_offsets is not None:
        first = _counts("cache_offsets", cache_offsets, sequences)
    if cache_lengths is None:
        return
    cached = _counts("cache_lengths", cache_lengths, sequences)
    n, buffered = np.diff(iro), np.diff(bro)
    _require_all(
        "cache_lengths",
        cached + n < 2**31,
        cached,
        lambda b: f"at most {2**31 - 1 - n[b]}, for {n[b]} new tokens",
    )
    if lookup_table is None:
        return
    rows = np.minimum(buffered, np.maximum(cached + n - first, 0))
    _pages(np.asarray(lookup_table).astype(np.int64), first, rows, pages, page_size)


def _offsets(
    name: str, offsets: Any, extent: int, starts_at_zero: bool = False
) -> np.ndarray:
    offsets = np.asarray(offsets).astype(np.int64)
    if starts_at_zero and offsets[0] != 0:
        raise ValueError(f"{name}[0]: expected 0, got {offsets[0]}")
    low = np.concatenate([[0], offsets[:-1]])
    _require_all(
        name,
        (low <= offsets) & (offsets <= extent),
        offsets,
        lambda i: f">= {low[i]}" if offsets[i] < low[i] else f"<= {extent}",
    )
    return offsets


def _counts(name: str, counts: Any, sequences: int) -> np.ndarray:
    counts = np.asarray(counts).astype(np.int64)[:sequences]
    _require_all(name, counts >= 0, counts, lambda i: ">= 0")
    return counts


def _pages(
    table: np.ndarray, first: np.ndarray, rows: np.ndarray, pages: int, page_size: int
) -> None:
    """The entries that the positions [first, first + rows) are looked up in."""
    columns = table.shape[1]
    for b in np.flatnonzero(rows):
        begin = first[b] // page_size
        end = (first[b] + rows[b] - 1) // page_size + 1
        if end > columns:
            raise ValueError(
                f"lookup_table: expected at least {end} columns, for "
                f"{first[b] + rows[b]} tokens of sequence {b} in pages of "
                f"{page_size}, got {columns}"
            )
        used = table[b, begin:end]
        bad = np.flatnonzero((used < 0) | (used >= pages))
        if len(bad):
            raise ValueError(
                f"lookup_table[{b}, {begin + bad[0]}]: expected a page in "
                f"[0, {pages}), got {used[bad[0]]}"
            )


def _require_all(name: str, good: np.ndarray, values: np.ndarray, expected) -> None:
    bad = np.flatnonzero(~good)
    if len(bad):
        i = bad[0]
        raise ValueError(f"{name}[{i}]: expected {expected(i)}, got {values[i]}")
