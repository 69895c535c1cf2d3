# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contract as a slow, obvious float64 program: the oracle of the tests.

Written straight from the definition, one sequence and one head at a time, with
none of the ideas that make the kernels fast. It reads exactly the rows that the
contract lets a result depend on, so whatever lies elsewhere cannot matter.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

# visible(qpos, kpos) of each mask, on arrays that broadcast; w is the window.
MASKS: dict[str, Callable[[Any, Any, int], Any]] = {
    "null": lambda qpos, kpos, w: np.full(np.broadcast(qpos, kpos).shape, True),
    "causal": lambda qpos, kpos, w: kpos <= qpos,
    "sliding_window_causal": lambda qpos, kpos, w: (kpos <= qpos) & (qpos - kpos < w),
    "sliding_window_noncausal": lambda qpos, kpos, w: qpos - kpos < w,
    "chunked": lambda qpos, kpos, w: kpos // w == qpos // w,
    "chunked_causal": lambda qpos, kpos, w: (kpos <= qpos) & (kpos // w == qpos // w),
}


def visible(mask: Any, qpos: Any, kpos: Any, local_window_size: int = -1) -> Any:
    """Which keys each query sees. `mask` is a name or a predicate (qpos, kpos)."""
    if callable(mask):
        return mask(qpos, kpos)
    return MASKS[mask](qpos, kpos, local_window_size)


def prefill(
    q: Any,
    k: Any,
    v: Any,
    *,
    buffer_row_offsets: Any,
    input_row_offsets: Any,
    cache: Any = None,
    k_rope: Any = None,
    cache_offsets: Any = None,
    cache_lengths: Any = None,
    layer_idx: int = 0,
    scale: float | None = None,
    mask: Any = "causal",
    local_window_size: int = -1,
    score: Callable[[Any], Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """`mla.prefill` in float64: (output, lse). See there for the arguments.

    `mask` may also be a predicate of (qpos, kpos), arrays that broadcast. `score`
    is a function of the scaled scores, before the mask. Rows of no sequence, past
    the last offset, come out as NaN.
    """
    if (cache is None) == (k_rope is None):
        raise ValueError("expected one of cache and k_rope")
    queries, heads, q_width = q.shape
    nope, value_width = k.shape[2], v.shape[2]
    if scale is None:
        scale = q_width**-0.5
    if cache is not None:
        cache_lengths = cache.cache_lengths

    output = np.full((queries, heads, value_width), np.nan)
    lse = np.full((queries, heads), np.nan)
    for b in range(len(input_row_offsets) - 1):
        q_begin, q_end = int(input_row_offsets[b]), int(input_row_offsets[b + 1])
        k_begin, k_end = int(buffer_row_offsets[b]), int(buffer_row_offsets[b + 1])
        n = q_end - q_begin
        first = 0 if cache_offsets is None else int(cache_offsets[b])
        if cache_lengths is None:  # the last query is at the last key
            cached = first + (k_end - k_begin) - n
        else:
            cached = int(cache_lengths[b])
        rows = min(k_end - k_begin, max(cached + n - first, 0))
        qpos = cached + np.arange(n)
        kpos = first + np.arange(rows)

        if cache is not None:
            rope = _paged_rope(cache, b, kpos, layer_idx, q_width - nope)
        else:
            rope = k_rope[k_begin : k_begin + rows]
        rope = _f64(rope)
        seen = visible(mask, qpos[:, None], kpos[None, :], local_window_size)
        for h in range(heads):
            q_h = _f64(q[q_begin:q_end, h])
            k_h = _f64(k[k_begin : k_begin + rows, h])
            v_h = _f64(v[k_begin : k_begin + rows, h])
            s = q_h[:, :nope] @ k_h.T + q_h[:, nope:] @ rope.T
            u = scale * s if score is None else score(scale * s)
            u = np.where(seen, u, -np.inf)
            output[q_begin:q_end, h], lse[q_begin:q_end, h] = _attend(u, v_h)
    return output, lse


def merge_states(
    output1: Any, lse1: Any, output2: Any, lse2: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Combines the (output, lse) of two disjoint sets of keys, in float64."""
    output1, lse1, output2, lse2 = map(_f64, (output1, lse1, output2, lse2))
    lse = np.logaddexp(lse1, lse2)
    # Where both are -inf there is no key at all: any finite reference will do.
    reference = np.where(np.isneginf(lse), 0.0, lse)
    output = np.zeros_like(output1)
    for part, part_lse in ((output1, lse1), (output2, lse2)):
        # A side without keys is ignored, whatever its output holds.
        part = np.where(np.isneginf(part_lse)[..., None], 0.0, part)
        output += np.exp(part_lse - reference)[..., None] * part
    return output, lse


def _attend(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """softmax(u) @ v and log(sum(exp(u))) by row; 0 and -inf where no key is."""
    if u.shape[1] == 0:
        return np.zeros((u.shape[0], v.shape[1])), np.full(u.shape[0], -np.inf)
    top = u.max(axis=1)
    reference = np.where(np.isneginf(top), 0.0, top)
    p = np.exp(u - reference[:, None])
    total = p.sum(axis=1)
    empty = total == 0
    weights = p / np.where(empty, 1.0, total)[:, None]
    output = np.where(empty[:, None], 0.0, weights @ v)
    with np.errstate(divide="ignore"):
        return output, np.log(total) + reference


def _paged_rope(
    cache: Any, sequence: int, kpos: np.ndarray, layer: int, width: int
) -> Any:
    """The rope columns of the cache rows at the positions `kpos`."""
    blocks, table = cache.kv_blocks, cache.lookup_table
    page_size, row_width = blocks.shape[3], blocks.shape[5]
    rows = np.zeros((len(kpos), width), blocks.dtype)
    for i, position in enumerate(kpos):
        page = int(table[sequence, position // page_size])
        row = blocks[page, 0, layer, position % page_size, 0]
        rows[i] = row[row_width - width :]
    return rows


def _f64(array: Any) -> np.ndarray:
    return np.asarray(array).astype(np.float64)
