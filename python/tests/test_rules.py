# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One test, or a few, for each rule of the contract, by its label.

Rules that every family exercises too (MLA-R1, R2, R5) have here what a family
cannot show: that a result does not change by one bit, or is exact. They run on the
current target: `gpu_suite.py` runs them on a GPU.
"""

from unittest import mock

import families
import mla
import numpy as np
import pytest
from families import Case, build, check, same_bits
from far import FAR, after_rows, far_rows
from mla import _capi

BASE = Case("rules", (33, 0, 70, 129), (5, 64, 0, 40))
# Whole panels of a GPU's shared memory, and parts of one: two kinds of kernel there.
PANELS = {"whole": (128, 64, 128), "part": (64, 32, 80)}


def assert_same(a, b) -> None:
    assert same_bits(a[0], b[0]), "outputs differ"
    assert same_bits(a[1], b[1]), "lse differ"


# --- R1: f32 inside, one rounding at the end.


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_mla_r1_sums_are_f32(dtype):
    """4097 equal keys: a sum in 16 bits stops growing at 256 or 2048."""
    keys = 4097
    batch = build(Case("sums", (1,), (keys - 1,), dtype=dtype))
    batch.q[:] = 0
    batch.v[:] = 1
    output, lse = batch.run()
    assert (output.astype(np.float32) == 1).all()
    np.testing.assert_allclose(lse, np.log(keys), rtol=1e-6)


def test_mla_r1_output_is_rounded_once():
    """f32 operands, so P has no reason to be rounded: what is left of the error
    is half a unit in the last place of the 16-bit output."""
    batch = build(
        families.replace(
            BASE,
            dtype="float32",
            cache_dtype="bfloat16",
            out_dtype="bfloat16",
        )
    )
    output, _ = batch.run()
    expected, _, scale = batch.expected
    error = np.abs(output.astype(np.float64) - expected)
    assert (error <= 2.0**-8 * np.abs(expected) + 2e-5 * scale[..., None]).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("score", [1.0, 30.0, 1000.0])
def test_mla_r1_equal_scores_weigh_the_same(score, dtype):
    """Keys of the first and of the last tile, far from 0: rescaling a sum whose
    maximum has not changed must not change it, or the errors of the tiles add
    up. Values of +1 and then -1, as many of each: the output is 0."""
    keys = 4096
    batch = build(Case("equal", (1,), (keys - 1,), dtype=dtype))
    batch.options["scale"] = score / 192
    blocks = batch.options["cache"].kv_blocks
    for array in (batch.q, batch.k, blocks):
        array[~np.isnan(array)] = 1
    batch.v[:] = np.where(np.arange(keys) < keys // 2, 1, -1)[:, None, None]
    output, lse = batch.run()
    np.testing.assert_allclose(output.astype(np.float32), 0, atol=1e-5)
    np.testing.assert_allclose(lse, score + np.log(keys), rtol=1e-6)


@pytest.mark.parametrize(
    "dtype, out_dtype",
    [
        ("bfloat16", "bfloat16"),
        ("bfloat16", "float32"),
        ("bfloat16", "float16"),
        ("float16", "float16"),
        ("float16", "bfloat16"),
    ],
)
def test_mla_r1_one_or_two_keys_are_rounded_once(dtype, out_dtype):
    """With one visible key P is 1, with two of equal scores 1/2 of the sum: no
    rounding of P to 16 bits hides that the output is rounded, and to the nearest."""
    case = Case("exact", (2,) * 40, dtype=dtype, out_dtype=out_dtype)
    batch = build(case)
    batch.q[:] = 0
    output, lse = batch.run()
    expected, expected_lse, scale = batch.expected
    error = np.abs(output.astype(np.float64) - expected)
    rounding = families.ROUNDING[out_dtype]
    smallest = 2.0**-25 if out_dtype == "float16" else 0  # half a subnormal
    bound = rounding * np.abs(expected) + 5e-7 * scale[..., None] + smallest
    assert (error <= bound).all()
    np.testing.assert_allclose(lse, expected_lse, rtol=0, atol=5e-7)


def test_mla_r1_lse_from_unrounded_p():
    """Two keys: with P rounded to bf16 some lse would be off by 1e-3."""
    batch = build(families.replace(BASE, lengths=(2,) * 60, prefixes=()))
    _, lse = batch.run()
    np.testing.assert_allclose(lse, batch.expected[1], rtol=0, atol=2e-5)


# --- R2: queries without a visible key.


@pytest.mark.parametrize(
    "case",
    [
        # No buffer rows at all, or none inside the context.
        families.replace(BASE, name="no_rows", buffer_rows=(0, 0, 0, 169)),
        families.replace(BASE, name="ahead", cache_offsets=(38, 64, 100, 0)),
        # Keys behind the window, in another chunk, or after the query.
        families.replace(
            BASE,
            name="window",
            mask="sliding_window_causal",
            window=3,
            page_size=families.WINDOWED["sliding_window_causal"],
            prefixes=(500, 500, 500, 40),
            cache_offsets=(0, 0, 0, 0),
            buffer_rows=(64, 64, 64, 169),
        ),
        families.replace(
            BASE,
            name="chunked",
            mask="chunked",
            window=50,
            page_size=families.WINDOWED["chunked"],
            prefixes=(500, 500, 500, 40),
            cache_offsets=(0, 0, 0, 0),
            buffer_rows=(64, 64, 64, 169),
        ),
        families.replace(
            BASE, name="more_queries", rope="ragged_end", buffer_rows=(3, 5, 0, 128)
        ),
    ],
    ids=str,
)
def test_mla_r2_no_visible_key(case):
    batch = build(case)
    output, lse = batch.run()
    empty = np.isneginf(batch.expected[1])
    assert empty.any() and not empty.all()
    assert (output[empty].astype(np.float32) == 0).all()
    assert np.isneginf(lse[empty]).all()
    check(batch, output, lse)


def test_mla_r2_nothing_is_visible():
    batch = build(families.replace(BASE, buffer_rows=(0, 0, 0, 0)))
    output, lse = batch.run()
    assert (output.astype(np.float32) == 0).all()
    assert np.isneginf(lse).all()


# --- R3: masked is -inf.


@pytest.mark.parametrize(
    "dtype, mask, window",
    [
        ("bfloat16", "causal", -1),
        ("float16", "causal", -1),
        ("float32", "causal", -1),
        ("bfloat16", "chunked_causal", 7),
    ],
)
def test_mla_r3_only_score_is_minus_500000(dtype, mask, window):
    """The visible keys of the first queries score -5e5, the masked ones +5e5."""
    case = families.replace(
        BASE,
        lengths=(20, 40),
        prefixes=(),
        dtype=dtype,
        mask=mask,
        window=window,
        page_size=families.WINDOWED.get(mask, 64),
    )
    batch = build(case)
    options = batch.options
    options["scale"] = 1.0
    batch.q[:] = 51
    bro = options["buffer_row_offsets"]
    blocks, table = options["cache"].kv_blocks, options["cache"].lookup_table
    for b, length in enumerate(case.lengths):
        sign = np.where(np.arange(length) < 3, -51, 51)
        batch.k[bro[b] : bro[b + 1]] = sign[:, None, None]
        blocks[table[b, 0], 0, 0, :length, 0, case.latent :] = sign[:, None]
    assert batch.expected[1][0, 0] == -192 * 51 * 51
    check(batch, *batch.run())


# --- R4: ragged rope with no cache_lengths.


@pytest.mark.parametrize("offsets", [None, (7, 0, 100, 3)])
def test_mla_r4_queries_end_at_the_last_key(offsets):
    """As if cache_lengths were the offset plus the buffer rows less n."""
    case = families.replace(
        BASE,
        rope="ragged_end",
        cache_offsets=offsets,
        buffer_rows=(40, 64, 70, 300),
    )
    batch = build(case)
    result = batch.run()
    check(batch, *result)
    lengths = np.array(case.buffer_rows) - case.lengths + (offsets or 0)
    output, lse = batch.run_anew(cache_lengths=lengths.astype(np.int32))
    check(batch, output, lse)


def test_mla_r4_negative_positions_see_nothing():
    case = families.replace(
        BASE, rope="ragged_end", buffer_rows=(30, 0, 1, 129), prefixes=()
    )
    batch = build(case)
    output, lse = batch.run()
    # 33 queries, 30 keys: the first three are before every key.
    assert np.isneginf(lse[:3]).all() and np.isfinite(lse[3:33]).all()
    check(batch, output, lse)


# --- R5: what cannot change a result.


def _poison(array: np.ndarray, value: float) -> None:
    array[np.isnan(array.astype(np.float32))] = value


@pytest.mark.parametrize("panels", PANELS)
@pytest.mark.parametrize("rope", ["paged", "ragged"])
def test_mla_r5_rows_and_pages_of_nobody(rope, panels):
    """`build` leaves NaN in every such place, and page numbers out of range past
    the end. Other values there give the same bits."""
    case = families.replace(BASE, rope=rope, gap=64, spare=9, layers=2, layer=1)
    case = families.replace(case, dims=PANELS[panels])
    batch = build(case)
    expected = batch.run_anew()
    check(batch, *expected)
    for value in (0.0, np.inf, -np.inf, 3e38):
        again = build(case)
        for array in (again.q, again.k, again.v):
            _poison(array, value)
        if rope == "paged":
            cache = again.options["cache"]
            _poison(cache.kv_blocks, value)
            table = cache.lookup_table
            for b, pages in enumerate(-(-(np.add(case.lengths, case.prefixes)) // 64)):
                table[b, pages:] = 12345678
        else:
            _poison(again.options["k_rope"], value)
        output, lse = again.run_anew()
        rows = batch.tokens
        assert_same(
            (output[:rows], lse[:rows]), (expected[0][:rows], expected[1][:rows])
        )


# --- R6: sequences are independent.


@pytest.mark.parametrize("panels", PANELS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("operand", ["q", "k", "v", "rope"])
def test_mla_r6_nan_stays_in_its_sequence(operand, value, panels):
    """Sequences shorter than a tile, so that tiles span several of them."""
    case = families.replace(BASE, lengths=(20, 9, 31, 70), prefixes=(3, 0, 40, 0))
    case = families.replace(case, dims=PANELS[panels])
    batch = build(case)
    expected = batch.run_anew()
    iro = batch.options["input_row_offsets"]
    bro = batch.options["buffer_row_offsets"]
    cache = batch.options["cache"]
    for b in (1, 2):
        if operand == "q":
            batch.q[iro[b] : iro[b + 1]] = value
        elif operand == "rope":
            pages = cache.lookup_table[b, : 1 if b == 1 else 2]
            cache.kv_blocks[pages] = value
        else:
            getattr(batch, operand)[bro[b] : bro[b + 1]] = value
    output, lse = batch.run_anew()
    for b in (0, 3):
        rows = slice(iro[b], iro[b + 1])
        assert_same((output[rows], lse[rows]), (expected[0][rows], expected[1][rows]))
    touched = slice(iro[1], iro[3])
    assert not np.isfinite(output[touched].astype(np.float32)).all()


# --- R7: more than 2^31 elements.


@pytest.mark.parametrize("operand", ["q", "output", "k", "v", "k heads", "k_rope"])
def test_mla_r7_strides_past_2_31(operand):
    case = families.replace(BASE, lengths=(5, 3), prefixes=(0, 2), rope="ragged")
    batch = build(case)
    expected = batch.run_anew()
    if operand == "q":
        batch.q = far_rows(batch.q, 0)
    elif operand == "k":
        batch.k = far_rows(batch.k, 0)
    elif operand == "v":
        batch.v = far_rows(batch.v, 0)
    elif operand == "k heads":
        batch.k = far_rows(batch.k, 1)
    elif operand == "k_rope":
        batch.options["k_rope"] = far_rows(batch.options["k_rope"], 0)
    destination = batch.output
    if operand == "output":
        destination = far_rows(batch.output, 0)
    assert_same(batch.run_anew(output=destination), expected)


def test_mla_r7_buffer_rows_past_2_31():
    """The sequences' rows of k, v and k_rope begin past 2^31 elements of each."""
    batch = build(families.replace(BASE, rope="ragged"))
    expected = batch.run_anew()
    shift = FAR // 64 + 1  # the narrowest has 64 columns
    batch.k, batch.v = after_rows(batch.k, shift), after_rows(batch.v, shift)
    batch.options["k_rope"] = after_rows(batch.options["k_rope"], shift)
    batch.options["buffer_row_offsets"] = batch.options["buffer_row_offsets"] + shift
    assert batch.options["buffer_row_offsets"].dtype == np.int32
    assert_same(batch.run_anew(), expected)


def test_mla_r7_pages_past_2_31():
    batch = build(BASE)
    expected = batch.run_anew()
    cache = batch.options["cache"]
    blocks = cache.kv_blocks
    shift = FAR // blocks[0].size + 1
    far = after_rows(blocks, shift)
    used = -(-(np.add(BASE.lengths, BASE.prefixes)) // BASE.page_size)
    table = cache.lookup_table.copy()
    for b, pages in enumerate(used):
        table[b, :pages] += shift
    batch.options["cache"] = mla.PagedCache(far, table, cache.cache_lengths)
    assert_same(batch.run_anew(), expected)


def test_mla_r7_layers_past_2_31():
    case = families.replace(BASE, layers=2, layer=1)
    batch = build(case)
    expected = batch.run_anew()
    cache = batch.options["cache"]
    batch.options["cache"] = mla.PagedCache(
        far_rows(cache.kv_blocks, 2), cache.lookup_table, cache.cache_lengths
    )
    assert_same(batch.run_anew(), expected)


# --- R8: strided views.


def spread_out(array: np.ndarray, extra: tuple[int, ...]) -> np.ndarray:
    """A copy with `extra` elements of NaN after each dimension's own."""
    poison = np.nan if array.dtype.kind in "fV" else 2**30
    outer = np.full(np.add(array.shape, extra), poison, array.dtype)
    view = outer[tuple(slice(extent) for extent in array.shape)]
    view[...] = array
    return view


# Columns that lie between rows: rows of 16-bit elements that stay aligned to 16
# bytes, and ones that do not.
@pytest.mark.parametrize("columns", [8, 5])
@pytest.mark.parametrize("rope", ["paged", "ragged"])
def test_mla_r8_views_give_the_bits_of_copies(rope, columns):
    batch = build(families.replace(BASE, rope=rope, layers=2))
    expected = batch.run_anew()
    check(batch, *expected)
    batch.q = spread_out(batch.q, (0, 1, columns))
    batch.k, batch.v = families._interleave(batch.k, batch.v)
    assert not batch.k.flags.c_contiguous and not batch.v.flags.c_contiguous
    if rope == "paged":
        cache = batch.options["cache"]
        batch.options["cache"] = mla.PagedCache(
            spread_out(cache.kv_blocks, (0, 2, 1, 3, 1, columns)),
            spread_out(cache.lookup_table, (0, 5)),
            cache.cache_lengths,
        )
    else:
        batch.options["k_rope"] = spread_out(batch.options["k_rope"], (0, columns))
    output = spread_out(batch.output, (0, 2, columns))
    got = batch.run_anew(output=output)
    assert got[0] is output
    assert_same(got, expected)


def test_mla_r8_writes_only_its_elements():
    """What lies between the rows of a strided output is left alone."""
    batch = build(BASE)
    outer = np.full((batch.tokens, 3, 160), 7, batch.output.dtype)
    view = outer[:, :2, 16:144]
    batch.run(output=view)
    check(batch, view, None)
    view[...] = 7
    assert (outer == 7).all()


def after(array: np.ndarray, elements: int) -> np.ndarray:
    """A copy that begins so many elements after an aligned address."""
    flat = np.full(elements + array.size, 7, array.dtype)
    assert flat.ctypes.data % 16 == 0
    view = flat[elements:].reshape(array.shape)
    view[...] = array
    return view


def test_mla_r8_index_tensors_begin_anywhere():
    """Slices of a server's tensors: aligned to their elements alone."""
    batch = build(families.replace(BASE, cache_offsets=(0, 8, 0, 3)))
    expected = batch.run_anew()
    options, cache = batch.options, batch.options["cache"]
    for name in ("input_row_offsets", "buffer_row_offsets", "cache_offsets"):
        options[name] = after(options[name], 1)
    options["cache"] = mla.PagedCache(
        cache.kv_blocks, after(cache.lookup_table, 3), after(cache.cache_lengths, 1)
    )
    assert_same(batch.run_anew(), expected)


# 8 elements are 16 bytes, what a target may ask for; with 1 it may refuse.
@pytest.mark.parametrize("elements", [8, 1])
@pytest.mark.parametrize("operand", ["q", "k", "v", "k_rope", "kv_blocks", "output"])
def test_mla_r8_bases_of_elements(operand, elements):
    """Any one operand begins between others' elements."""
    rope = "ragged" if operand == "k_rope" else "paged"
    batch = build(families.replace(BASE, rope=rope))
    expected = batch.run_anew()
    options = batch.options
    destination = batch.output
    if operand == "output":
        destination = after(destination, elements)
    elif operand == "k_rope":
        options["k_rope"] = after(options["k_rope"], elements)
    elif operand == "kv_blocks":
        cache = options["cache"]
        blocks = after(cache.kv_blocks, elements)
        options["cache"] = mla.PagedCache(
            blocks, cache.lookup_table, cache.cache_lengths
        )
    else:
        setattr(batch, operand, after(getattr(batch, operand), elements))
    assert_same(batch.run_anew(output=destination), expected)


def test_mla_r8_head_major():
    """Heads outermost in memory, as some engines keep them."""
    batch = build(BASE)
    expected = batch.run_anew()

    def head_major(array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(array.transpose(1, 0, 2)).transpose(1, 0, 2)

    batch.q, batch.k, batch.v = map(head_major, (batch.q, batch.k, batch.v))
    assert_same(batch.run_anew(output=head_major(batch.output)), expected)


def test_mla_r8_rows_in_one_place():
    """Stride 0: every query is the same row of memory."""
    batch = build(BASE)
    batch.q[:] = batch.q[:1]
    expected = batch.run_anew()
    batch.q = np.broadcast_to(batch.q[:1], batch.q.shape)
    assert_same(batch.run_anew(), expected)


def test_mla_r8_strides_of_size_one_are_ignored():
    batch = build(families.replace(BASE, heads=1, layers=1))
    expected = batch.run_anew()

    def odd(array: np.ndarray) -> np.ndarray:
        strides = [
            stride if extent > 1 else 3 * array.itemsize + 1
            for extent, stride in zip(array.shape, array.strides)
        ]
        return np.lib.stride_tricks.as_strided(array, array.shape, strides)

    batch.q, batch.k, batch.v = map(odd, (batch.q, batch.k, batch.v))
    cache = batch.options["cache"]
    batch.options["cache"] = mla.PagedCache(
        odd(cache.kv_blocks), cache.lookup_table, cache.cache_lengths
    )
    assert_same(batch.run_anew(output=odd(batch.output)), expected)


# --- R9: the same bits every time.


@pytest.mark.parametrize("mask, window", [("causal", -1), ("chunked", 50)])
def test_mla_r9_repeats_and_thread_counts(mask, window):
    case = families.replace(
        BASE,
        lengths=(200, 1, 33, 300, 0, 17),
        prefixes=(64, 300),
        mask=mask,
        window=window,
        page_size=families.WINDOWED.get(mask, 64),
    )
    batch = build(case)
    expected = batch.run_anew()
    check(batch, *expected)
    for threads in (0, 1, 2, 3, 8):
        mla.set_num_threads(threads)
        for _ in range(3):
            assert_same(batch.run_anew(), expected)


# --- R10: empty things.


@pytest.mark.parametrize("rope", ["paged", "ragged", "ragged_end"])
@pytest.mark.parametrize("lengths", [(), (0,), (0, 0, 0)])
@pytest.mark.parametrize("prefix", [0, 70])
def test_mla_r10_no_tokens(rope, lengths, prefix):
    """B = 0, T = 0 and, without a prefix, N = 0."""
    case = Case("empty", lengths, (prefix,) * len(lengths), rope=rope)
    batch = build(case)
    assert batch.tokens == 0
    output, lse = batch.run()
    assert output.shape == (0, 2, 128) and lse.shape == (0, 2)


@pytest.mark.parametrize("rope", ["paged", "ragged", "ragged_end"])
def test_mla_r10_no_rows(rope):
    """N = 0 with queries: they see nothing."""
    case = Case("no_keys", (3, 0, 20), rope=rope, buffer_rows=(0, 0, 0))
    batch = build(case)
    assert len(batch.k) == 0
    output, lse = batch.run()
    assert (output.astype(np.float32) == 0).all() and np.isneginf(lse).all()


def test_mla_r10_some_sequences_are_empty():
    batch = build(Case("some", (0, 5, 0, 0, 64, 0), (0, 0, 9, 100, 0, 0)))
    check(batch, *batch.run())


def test_mla_r10_null_pointers():
    """Empty arrays reach the library as null pointers."""
    # So many sequences as no other batch here has: its call is not prepared yet.
    batch = build(Case("empty", (0,) * 11, rope="ragged"))
    passed = {}
    library = _capi.library()
    run = library.mlaKernelRun

    def spy(kernel, tensors, *rest):
        for index, tensor in enumerate(tensors):
            passed[library.mlaKernelArgument(kernel, index).name] = tensor.data
        return run(kernel, tensors, *rest)

    with mock.patch.object(library, "mlaKernelRun", spy):
        batch.run()
    null = [name.decode() for name, pointer in passed.items() if not pointer]
    assert null == ["q", "k", "v", "k_rope", "output", "lse"]
