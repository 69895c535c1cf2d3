# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties that hold for any batch, on small ones that hypothesis makes up.

The widths are few, so that few kernels are compiled; lengths, prefixes, chunks,
windows and contents are free.
"""

import families
import mla
import numpy as np
from families import Case, build, check, same_bits
from hypothesis import given
from hypothesis import strategies as st

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

counts = st.one_of(st.integers(0, 20), st.sampled_from((31, 32, 33, 64, 100)))


@st.composite
def batches(draw, form=ANY_FORM, **fixed):
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
    fields.update(
        heads=2, dims=(16, 8, 24), latent=8, page_size=8, dtype="float32", **fixed
    )
    return Case("property", **fields)


@given(batches())
def test_agrees_with_the_oracle(case):
    batch = build(case)
    check(batch, *batch.run(validate=True))


@given(batches(RAGGED), st.randoms(use_true_random=False))
def test_order_of_the_sequences(case, random):
    """Sequences in another order give the same rows in that order."""
    batch = build(case)
    output, lse = batch.run(output=None)
    order = list(range(len(case.lengths)))
    random.shuffle(order)

    iro = batch.options["input_row_offsets"].astype(int)
    bro = batch.options["buffer_row_offsets"].astype(int)
    q_rows = _rows(iro, order)
    k_rows = _rows(bro, order)
    options = {
        **batch.options,
        "input_row_offsets": np.cumsum([0, *np.diff(iro)[order]]).astype(np.int32),
        "buffer_row_offsets": np.cumsum([0, *np.diff(bro)[order]]).astype(np.int32),
        "cache_offsets": batch.options["cache_offsets"][order],
        "cache_lengths": batch.options["cache_lengths"][order],
        "k_rope": batch.options["k_rope"][k_rows],
    }
    other, other_lse = mla.prefill(
        batch.q[q_rows], batch.k[k_rows], batch.v[k_rows], **options, return_lse=True
    )
    np.testing.assert_allclose(other, output[q_rows], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(other_lse, lse[q_rows], rtol=1e-5, atol=1e-5)


def _rows(offsets: np.ndarray, order: list) -> np.ndarray:
    """The rows of the sequences, in `order`."""
    pieces = [np.arange(offsets[b], offsets[b + 1]) for b in order]
    return np.concatenate([np.zeros(0, int), *pieces])


@given(
    batches(PAGED, layers=2, layer=1),
    st.randoms(use_true_random=False),
)
def test_places_of_the_pages(case, random):
    """Pages may lie anywhere: the same bits."""
    batch = build(case)
    expected = batch.run(output=None)
    cache = batch.options["cache"]
    places = list(range(len(cache.kv_blocks)))
    random.shuffle(places)
    blocks = np.empty_like(cache.kv_blocks)
    blocks[places] = cache.kv_blocks
    table = cache.lookup_table.copy()
    inside = (table >= 0) & (table < len(places))
    table[inside] = np.array(places)[table[inside]]
    moved = mla.PagedCache(blocks, table, cache.cache_lengths)
    got = batch.run(output=None, cache=moved)
    rows = slice(batch.tokens)
    assert same_bits(got[0][rows], expected[0][rows])
    assert same_bits(got[1][rows], expected[1][rows])


@given(batches())
def test_linear_in_v(case):
    """Twice v is twice the output, exactly, and the lse does not depend on v."""
    batch = build(case)
    output, lse = batch.run(output=None)
    batch.v = 2 * batch.v
    doubled, same_lse = batch.run(output=None)
    rows = slice(batch.tokens)
    assert same_bits(2 * output[rows], doubled[rows])
    assert same_bits(lse[rows], same_lse[rows])


@given(batches())
def test_average_of_equal_values(case):
    """The weights of a row sum to 1, or to 0 where it sees no key."""
    batch = build(case)
    batch.v = np.where(np.isnan(batch.v), batch.v, np.float32(3))
    output, lse = batch.run()
    rows = slice(batch.tokens)
    empty = np.isneginf(lse[rows])
    np.testing.assert_allclose(output[rows][~empty], 3, rtol=1e-5)
    assert (output[rows][empty] == 0).all()


@given(batches(PAGED), st.floats(0.1, 4))
def test_scale_is_a_factor_of_q(case, factor):
    """Scale s on q is scale 1 on s * q."""
    batch = build(case)
    batch.options["scale"] = factor
    output, lse = batch.run(output=None)
    batch.q = batch.q * np.float32(factor)
    other, other_lse = batch.run(output=None, scale=1.0)
    rows = slice(batch.tokens)
    scale = families.output_tolerance(case) * 20
    np.testing.assert_allclose(other[rows], output[rows], rtol=0, atol=scale)
    np.testing.assert_allclose(other_lse[rows], lse[rows], rtol=1e-5, atol=1e-4)
