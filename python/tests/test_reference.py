# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracle against a formulation that shares nothing with it.

The other form is dense: one [T, N] matrix of scores for the whole batch, with
every condition (same sequence, inside the context, mask) a matrix of booleans.
"""

import families
import numpy as np
import pytest
from mla import reference

SMALL = {"heads": 2, "dims": (6, 4, 5), "latent": 3, "page_size": 3}


def dense(batch: families.Batch) -> tuple[np.ndarray, np.ndarray]:
    case, options = batch.case, batch.options
    iro = options["input_row_offsets"].astype(int)
    bro = options["buffer_row_offsets"].astype(int)
    tokens, rows = int(iro[-1]), len(batch.k)
    sequences = len(iro) - 1
    first = options.get("cache_offsets", np.zeros(sequences)).astype(int)

    query = np.arange(tokens)
    key = np.arange(rows)
    # The sequence of a row, -1 where it has none.
    q_of = np.searchsorted(iro, query, side="right") - 1
    k_of = np.searchsorted(bro, key, side="right") - 1
    k_of[key >= bro[-1]] = -1
    n, buffered = np.diff(iro), np.diff(bro)
    if case.rope == "paged":
        cached = options["cache"].cache_lengths.astype(int)
    elif case.rope == "ragged":
        cached = options["cache_lengths"].astype(int)
    else:
        cached = first + buffered - n

    k_row, k_seq = key - bro[k_of], np.maximum(k_of, 0)
    kpos = first[k_seq] + k_row
    qpos = cached[q_of] + query - iro[q_of]
    in_context = (k_of >= 0) & (kpos < cached[k_seq] + n[k_seq])
    w = case.window
    distance = qpos[:, None] - kpos[None, :]
    chunk = np.floor_divide(qpos, w)[:, None] == np.floor_divide(kpos, w)[None, :]
    causal = distance >= 0
    mask = {
        "null": np.ones_like(causal),
        "causal": causal,
        "sliding_window_causal": causal & (distance < w),
        "sliding_window_noncausal": distance < w,
        "chunked": chunk,
        "chunked_causal": chunk & causal,
    }[case.mask]
    seen = mask & (q_of[:, None] == k_of[None, :]) & in_context[None, :]

    # What no query sees is cleared, so that NaN there cannot spread.
    used = seen.any(axis=0) | in_context
    rope = np.zeros((rows, case.dims[1]))
    for j in np.flatnonzero(used):
        if case.rope == "paged":
            cache, b = options["cache"], k_of[j]
            page = cache.lookup_table[b, kpos[j] // case.page_size]
            slot = kpos[j] % case.page_size
            rope[j] = cache.kv_blocks[page, 0, case.layer, slot, 0, case.latent :]
        else:
            rope[j] = options["k_rope"][j]
    q = batch.q[:tokens].astype(np.float64)
    k = np.where(used[:, None, None], batch.k.astype(np.float64), 0.0)
    v = np.where(used[:, None, None], batch.v.astype(np.float64), 0.0)
    full_k = np.concatenate(
        [k, np.broadcast_to(rope[:, None], (rows, case.heads, case.dims[1]))], axis=2
    )
    scale = case.scale if case.scale is not None else q.shape[2] ** -0.5
    weights = np.exp(scale * np.einsum("thd,nhd->htn", q, full_k)) * seen
    total = weights.sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        output = np.einsum("htn,nhd->thd", weights, v) / total.T[..., None]
        return np.where(total.T[..., None] > 0, output, 0.0), np.log(total.T)


def small_cases() -> list[families.Case]:
    """The list of `families`, with narrow heads, small pages and short batches."""
    result = []
    for case in families.cases():
        if case.spread > 1 or sum(case.lengths) * sum(case.prefixes) > 2e6:
            continue
        result.append(families.replace(case, **SMALL))
    return result


@pytest.mark.parametrize("case", small_cases(), ids=str)
def test_oracle_against_dense(case):
    batch = families.build(case)
    output, lse, _ = batch.expected
    expected, expected_lse = dense(batch)
    tokens = batch.tokens
    np.testing.assert_allclose(output[:tokens], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(lse[:tokens], expected_lse, rtol=1e-9, atol=1e-12)


def test_two_keys_by_hand():
    q = np.array([[[1.0, 2.0]], [[3.0, -1.0]]], np.float32)  # Dn = 1, Dr = 1
    k = np.array([[[2.0]], [[-1.0]]], np.float32)
    k_rope = np.array([[0.5], [1.0]], np.float32)
    v = np.array([[[1.0, 10.0]], [[2.0, 20.0]]], np.float32)
    output, lse = reference.prefill(
        q,
        k,
        v,
        buffer_row_offsets=np.array([0, 2]),
        input_row_offsets=np.array([0, 2]),
        k_rope=k_rope,
        scale=0.5,
    )
    # Query 0 sees key 0: 0.5 * (1 * 2 + 2 * 0.5). Query 1 sees both.
    u0, u1 = 0.5 * (3 * 2 - 1 * 0.5), 0.5 * (3 * -1 - 1 * 1)
    p = np.exp(u1) / (np.exp(u0) + np.exp(u1))
    np.testing.assert_allclose(output[0, 0], [1, 10])
    np.testing.assert_allclose(output[1, 0], [1 + p, 10 + 10 * p])
    np.testing.assert_allclose(lse[:, 0], [1.5, np.log(np.exp(u0) + np.exp(u1))])


@pytest.mark.parametrize(
    "mask, seen",
    [
        ("null", ["1111", "1111", "1111"]),
        ("causal", ["1110", "1111", "1111"]),
        ("sliding_window_causal", ["0110", "0011", "0001"]),
        ("sliding_window_noncausal", ["0111", "0011", "0001"]),
        ("chunked", ["0011", "0011", "0000"]),
        ("chunked_causal", ["0010", "0011", "0000"]),
    ],
)
def test_masks_by_hand(mask, seen):
    """Queries at 2, 3, 4; keys at 0 to 3; windows and chunks of 2."""
    qpos, kpos = np.arange(2, 5)[:, None], np.arange(4)[None, :]
    got = reference.visible(mask, qpos, kpos, 2)
    assert ["".join(str(int(x)) for x in row) for row in got] == seen


def test_chunks_of_negative_positions():
    """floor, not truncation: positions -1 and 0 lie in different chunks."""
    assert not reference.visible("chunked", np.array([-1]), np.array([0]), 4)[0]


def test_mask_as_predicate():
    batch = families.build(
        families.Case("predicate", (7, 5), (3, 0), rope="ragged", **SMALL)
    )
    options = {**batch.options, "mask": lambda qpos, kpos: kpos <= qpos}
    output, lse = reference.prefill(batch.q, batch.k, batch.v, **options)
    np.testing.assert_array_equal(output, batch.expected[0])
    np.testing.assert_array_equal(lse, batch.expected[1])


def test_merge_states():
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((3, 8)), rng.standard_normal((8, 5))
    whole = reference._attend(u, v)
    merged = reference.merge_states(
        *reference._attend(u[:, :3], v[:3]), *reference._attend(u[:, 3:], v[3:])
    )
    for got, expected in zip(merged, whole):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_merge_states_without_keys():
    """A side at -inf is ignored whatever it holds; two give 0 and -inf."""
    none, some = np.array([-np.inf]), np.array([2.0])
    poison, value = np.array([[np.nan, np.inf]]), np.array([[3.0, 4.0]])
    for sides in ((poison, none, value, some), (value, some, poison, none)):
        output, lse = reference.merge_states(*sides)
        np.testing.assert_array_equal(output, value)
        np.testing.assert_array_equal(lse, some)
    output, lse = reference.merge_states(poison, none, poison, none)
    np.testing.assert_array_equal(output, [[0, 0]])
    np.testing.assert_array_equal(lse, none)
