# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties that hold for any batch, on small ones that hypothesis makes up.

The widths are few, so that few kernels are compiled; lengths, prefixes, chunks,
windows and contents are free. They run on the current target.
"""

from __future__ import annotations

import families
import hypothesis
import mla
import numpy as np
import pytest
from families import Case, build, check, same_bits
from hypothesis import strategies as st
from mla._checks import INDEX_OPERANDS
from mla._validate import validate_prefill

# Examples are the same every time, and nothing is written beside the sources.
hypothesis.settings.register_profile(
    "mla", derandomize=True, deadline=None, database=None, max_examples=40
)
hypothesis.settings.load_profile("mla")

# Widths of a few lanes with small errors, and of whole panels of shared memory and
# parts of one, of which a GPU makes two kinds of kernel.
WIDTHS = {
    "float32": {"dims": (16, 8, 24), "dtype": "float32"},
    "panels": {"dims": (64, 64, 64), "dtype": "bfloat16"},
    "narrow": {"dims": (64, 32, 48), "dtype": "bfloat16"},
}
any_widths = pytest.mark.parametrize("widths", WIDTHS)

# The forms that are compiled: masks with each way to give the rope.
PAGED = st.just(("causal", "paged"))
RAGGED = st.just(("causal", "ragged"))
ANY_FORM = st.sampled_from(
    (
        ("causal", "paged"),
        ("causal", "ragged"),
        ("causal", "ragged_end"),
        ("sliding_window_noncausal", "paged"),
        ("chunked", "paged"),
    )
)

counts = st.one_of(st.integers(0, 20), st.sampled_from((31, 32, 33, 64, 100, 129)))


@st.composite
def batches(draw, widths: str, form=ANY_FORM, **fixed):
    sequences = draw(st.integers(0, 6))

    def per_sequence(strategy):
        items = st.lists(strategy, min_size=sequences, max_size=sequences)
        return tuple(draw(items))

    mask, rope = draw(form)
    fields = {
        "lengths": per_sequence(counts),
        "prefixes": per_sequence(counts),
        "mask": mask,
        "window": draw(st.integers(1, 70)),
        "rope": rope,
        "gap": draw(st.sampled_from((0, 4))),
        "spare": draw(st.integers(0, 3)),
        "cache_offsets": per_sequence(counts),
        "seed": draw(st.integers(0, 1000)),
    }
    if draw(st.booleans()):
        fields["buffer_rows"] = per_sequence(counts)
    if fields["rope"] == "ragged_end":
        fields["gap"] = 0
    fields.update(heads=2, latent=8, page_size=8, **WIDTHS[widths], **fixed)
    return Case("property", **fields)


def written(batch: families.Batch) -> slice:
    return slice(batch.tokens)


@any_widths
@hypothesis.given(st.data())
def test_agrees_with_the_oracle(widths, data):
    batch = build(data.draw(batches(widths)))
    check(batch, *batch.run())


@hypothesis.given(batches("float32"))
def test_validation_has_no_objections(case):
    batch = build(case)
    index = {n: x for n, x in batch.options.items() if n in INDEX_OPERANDS}
    if case.rope == "paged":
        cache = batch.options["cache"]
        index |= {
            "cache_lengths": cache.cache_lengths,
            "lookup_table": cache.lookup_table,
            "pages": len(cache.kv_blocks),
            "page_size": cache.page_size,
        }
    validate_prefill(queries=len(batch.q), buffer_rows=len(batch.k), **index)


@any_widths
@hypothesis.given(st.data(), st.randoms(use_true_random=False))
def test_order_of_the_sequences(widths, data, random):
    """Sequences in another order give the same rows in that order."""
    case = data.draw(batches(widths, RAGGED))
    batch = build(case)
    output, lse = batch.run_anew()
    order = list(range(len(case.lengths)))
    random.shuffle(order)

    options = batch.options
    iro = options["input_row_offsets"].astype(int)
    bro = options["buffer_row_offsets"].astype(int)
    q_rows, k_rows = _rows(iro, order), _rows(bro, order)
    other = families.Batch(
        case,
        batch.q[q_rows],
        batch.k[k_rows],
        batch.v[k_rows],
        {
            **options,
            "input_row_offsets": np.cumsum([0, *np.diff(iro)[order]]).astype(np.int32),
            "buffer_row_offsets": np.cumsum([0, *np.diff(bro)[order]]).astype(np.int32),
            "cache_offsets": options["cache_offsets"][order],
            "cache_lengths": options["cache_lengths"][order],
            "k_rope": options["k_rope"][k_rows],
        },
        np.full((len(q_rows), *batch.output.shape[1:]), np.nan, batch.output.dtype),
    )
    got, got_lse = other.run()
    # Each of the two may be off by what the oracle allows.
    error = np.abs(got.astype(np.float64) - output[q_rows].astype(np.float64))
    bound = 2 * families.output_tolerance(case) * batch.expected[2][q_rows]
    assert (error <= bound[..., None]).all()
    np.testing.assert_allclose(got_lse, lse[q_rows], rtol=1e-5, atol=1e-5)


def _rows(offsets: np.ndarray, order: list) -> np.ndarray:
    """The rows of the sequences, in `order`."""
    pieces = [np.arange(offsets[b], offsets[b + 1]) for b in order]
    return np.concatenate([np.zeros(0, int), *pieces])


@any_widths
@hypothesis.given(st.data(), st.randoms(use_true_random=False))
def test_places_of_the_pages(widths, data, random):
    """Pages may lie anywhere: the same bits."""
    batch = build(data.draw(batches(widths, PAGED, layers=2, layer=1)))
    expected = batch.run_anew()
    cache = batch.options["cache"]
    places = list(range(len(cache.kv_blocks)))
    random.shuffle(places)
    blocks = np.empty_like(cache.kv_blocks)
    blocks[places] = cache.kv_blocks
    table = cache.lookup_table.copy()
    inside = (table >= 0) & (table < len(places))
    table[inside] = np.array(places)[table[inside]]
    moved = mla.PagedCache(blocks, table, cache.cache_lengths)
    got = batch.run_anew(cache=moved)
    rows = written(batch)
    assert same_bits(got[0][rows], expected[0][rows])
    assert same_bits(got[1][rows], expected[1][rows])


@any_widths
@hypothesis.given(st.data())
def test_linear_in_v(widths, data):
    """Twice v is twice the output, exactly, and the lse does not depend on v."""
    batch = build(data.draw(batches(widths)))
    rows, dtype = written(batch), batch.v.dtype
    output, lse = batch.run_anew()
    batch.v = (2 * batch.v).astype(dtype)
    doubled, same_lse = batch.run_anew()
    assert same_bits((2 * output[rows]).astype(dtype), doubled[rows])
    assert same_bits(lse[rows], same_lse[rows])


@any_widths
@hypothesis.given(st.data())
def test_average_of_equal_values(widths, data):
    """The weights of a row sum to 1, or to 0 where it sees no key."""
    case = data.draw(batches(widths))
    batch = build(case)
    batch.v[~np.isnan(batch.v)] = 3
    output, lse = batch.run()
    rows = written(batch)
    output, empty = output[rows].astype(np.float32), np.isneginf(lse[rows])
    tolerance = families.output_tolerance(case)
    np.testing.assert_allclose(output[~empty], 3, rtol=tolerance)
    assert (output[empty] == 0).all()


@any_widths
@hypothesis.given(st.data(), st.sampled_from((0.125, 0.25, 0.5, 2, 4)))
def test_scale_is_a_factor_of_q(widths, data, factor):
    """Scale s on q is scale 1 on s * q, where that product is exact."""
    case = data.draw(batches(widths, PAGED))
    batch = build(case)
    batch.options["scale"] = factor
    output, lse = batch.run_anew()
    batch.q = (batch.q * np.float32(factor)).astype(batch.q.dtype)
    batch.options["scale"] = 1.0
    check(batch, output, lse)
    check(batch, *batch.run_anew())
