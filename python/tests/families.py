# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test batches: one description (`Case`) makes operands and what to expect.

A case says how a batch looks, not what is in it; `build` fills it in from a
seed. Every place that the contract says cannot change a result is filled with
poison: NaN in gap rows, free pages, other layers, latent columns and cache rows
that no key needs, page numbers out of range past each sequence's end. So each
case tests MLA-R5 besides its own subject, and the output is full of NaN before
the call. The cases are for any target; what a target refuses it filters out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ml_dtypes
import mla
import numpy as np
import targets
from mla import reference

DTYPES = {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float16": np.dtype(np.float16),
    "float32": np.dtype(np.float32),
}

# Half the distance from 1 to the next number: the relative error of a rounding.
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24}

GARBAGE_PAGES = (-1, 2**31 - 1, -(2**31), 1_000_000_007)


@dataclass(frozen=True)
class Case:
    """How a batch looks. Sequence b has lengths[b] new tokens after prefixes[b]."""

    name: str
    lengths: tuple[int, ...]
    prefixes: tuple[int, ...] = ()  # cached before; missing ones are 0
    mask: str = "causal"
    window: int = -1
    heads: int = 2
    dims: tuple[int, int, int] = (128, 64, 128)  # Dn, Dr, Dv
    latent: int = 32  # Dc - Dr: the columns that a prefill does not read
    dtype: str = "bfloat16"
    cache_dtype: str = ""  # of kv_blocks or k_rope; dtype if empty
    out_dtype: str = ""  # dtype if empty
    index_dtype: str = "int32"
    # "paged", "ragged", or "ragged_end": ragged with no cache_lengths
    rope: str = "paged"
    page_size: int = 64
    layers: int = 1
    layer: int = 0
    # Each sequence's first buffer row is at this position. None: no operand.
    cache_offsets: tuple[int, ...] | None = None
    # Buffer rows of each sequence. None: all that the context has.
    buffer_rows: tuple[int, ...] | None = None
    gap: int = 0  # buffer rows of a sequence are padded to a multiple of this
    interleaved: bool = False  # k and v share a buffer; q and output are padded
    spare: int = 0  # rows of q and output past the last offset
    lse: bool = True
    scale: float | None = None
    spread: float = 1.0  # standard deviation of q
    scores: str = "normal"  # one of SCORES
    seed: int = 0

    def __str__(self) -> str:
        return self.name


@dataclass
class Batch:
    """The operands of a case."""

    case: Case
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    options: dict[str, Any]  # the keyword arguments that the oracle has too
    output: np.ndarray  # the destination, poisoned

    @property
    def tokens(self) -> int:
        """Tokens of the batch: rows of output that have to be written."""
        return int(self.options["input_row_offsets"][-1])

    def run(self, **changes: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """`mla.prefill` of the batch on the current target: (output, lse or None)."""
        arguments = {"output": self.output, "return_lse": self.case.lse}
        arguments.update(self.options)
        arguments.update(changes)
        result = targets.current.prefill(self.q, self.k, self.v, **arguments)
        return result if arguments["return_lse"] else (result, None)

    def run_anew(self, **changes: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """A run into a new output, full of NaN first."""
        output = np.full(self.output.shape, np.nan, self.output.dtype)
        return self.run(**{"output": output, **changes})

    @cached_property
    def expected(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Output, lse, and for each row the scale its errors are measured by.

        That is the largest of sum_j p_j |v_j| over the row's columns: roundings
        of P and of V's products are relative to it, while the output itself may
        cancel to anything smaller.
        """
        width = self.v.shape[2]
        both = np.concatenate([self.v, np.abs(self.v)], axis=2)
        output, lse = reference.prefill(self.q, self.k, both, **self.options)
        scale = output[..., width:].max(axis=2, initial=0.0)
        return output[..., :width], lse, scale


def output_tolerance(case: Case) -> float:
    """The largest error of an output element, relative to the row's scale.

    Two roundings are granted, that of the output to its type and that of P to
    v's type (MLA-R1 permits it), and a quarter more, since P's small values
    round worse in f16. The f32 part, 2e-5, is the scores': 192 products whose
    sum has an error of some 1e-6 and up to ten times that in the worst row,
    which exp passes on as a relative error of P.
    """
    out_dtype = case.out_dtype or case.dtype
    rounding = ROUNDING[out_dtype] + ROUNDING[case.dtype]
    return 2e-5 + 1.25 * rounding


# lse is f32 whatever the operands are: products of 16-bit numbers are exact in
# f32, and the row sum uses the unrounded P. An absolute error of lse is the
# relative error of the sum; past that, an f32 of lse's own size is rounded.
LSE_ABSOLUTE = 2e-5
LSE_RELATIVE = 1e-6


def verify(case: Case) -> None:
    """Runs a case twice: the oracle's result (within rounding), and MLA-R9."""
    batch = build(case)
    output, lse = batch.run()
    assert output is batch.output
    check(batch, output, lse)
    again, lse_again = batch.run_anew()
    assert same_bits(output, again), f"{case}: output differs in a second run"
    if case.lse:
        # Rows of lse past the last offset are whatever was allocated.
        lse, lse_again = lse[: batch.tokens], lse_again[: batch.tokens]
        assert same_bits(lse, lse_again), f"{case}: lse differs in a second run"


def check(
    batch: Batch,
    output: np.ndarray,
    lse: np.ndarray | None,
    score_error: float = 0.0,
) -> None:
    """Compares a result with the oracle's, and looks for rows left alone.

    `score_error` is what scores may be off by besides: P by as much, relatively,
    and the sum of P too.
    """
    tokens = batch.tokens
    expected, expected_lse, scale = batch.expected
    got = np.asarray(output[:tokens]).astype(np.float64)
    error = np.abs(got - expected[:tokens])
    tolerance = output_tolerance(batch.case) + 2 * score_error
    bound = tolerance * scale[:tokens, :, None]
    _report(f"{batch.case}: output", error, bound, got, expected[:tokens])
    spare = np.asarray(output[tokens:]).astype(np.float64)
    assert np.isnan(spare).all(), "rows of output past the last offset were written"

    if lse is None:
        return
    got, expected = lse[:tokens].astype(np.float64), expected_lse[:tokens]
    empty = np.isneginf(expected)
    assert np.isneginf(got[empty]).all(), "lse of a query without keys is not -inf"
    got, expected = np.where(empty, 0.0, got), np.where(empty, 0.0, expected)
    bound = LSE_ABSOLUTE + LSE_RELATIVE * np.abs(expected) + score_error
    _report(f"{batch.case}: lse", np.abs(got - expected), bound, got, expected)


def _report(
    what: str,
    error: np.ndarray,
    bound: np.ndarray,
    got: np.ndarray,
    expected: np.ndarray,
) -> None:
    # Written so that NaN fails.
    bad = ~(error <= bound)
    if not bad.any():
        return
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    rows = sorted({int(i) for i in np.argwhere(bad)[:, 0]})
    raise AssertionError(
        f"{what}: {int(bad.sum())} of {bad.size} elements are wrong, first at "
        f"{first}: expected {expected[first]:.8g}, got {got[first]:.8g}, allowed "
        f"error {np.broadcast_to(bound, bad.shape)[first]:.3g}, largest error "
        f"{np.max(error):.3g}; rows {rows[:8]}{' ...' if len(rows) > 8 else ''}"
    )


def same_bits(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """Whether two arrays are equal bit by bit, NaN included."""
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def build(case: Case) -> Batch:
    """The operands of `case`."""
    rng = np.random.default_rng([case.seed, *map(ord, case.name)])
    dtype = DTYPES[case.dtype]
    nope, rope, value = case.dims
    sequences = len(case.lengths)
    n = np.array(case.lengths, np.int64)
    prefixes = np.zeros(sequences, np.int64)
    prefixes[: len(case.prefixes)] = case.prefixes
    first = np.array(case.cache_offsets or np.zeros(sequences), np.int64)
    context = prefixes + n
    if case.buffer_rows is None:
        buffered = np.maximum(context - first, 0)
    else:
        buffered = np.array(case.buffer_rows, np.int64)
    # "ragged_end" places the queries by the rows that there are.
    if case.rope == "ragged_end":
        rows = buffered
    else:
        if case.gap:
            buffered = -(-buffered // case.gap) * case.gap
        rows = np.minimum(buffered, np.maximum(context - first, 0))

    iro = np.concatenate([[0], np.cumsum(n)])
    bro = np.concatenate([[0], np.cumsum(buffered)]) + case.gap
    tokens, total = int(iro[-1]) + case.spare, int(bro[-1]) + case.gap

    # A key's row is finite; every other row is NaN.
    used = np.zeros(total, bool)
    for b in range(sequences):
        used[bro[b] : bro[b] + rows[b]] = True
    k = _poisoned(rng, (total, case.heads, nope), dtype, used)
    v = _poisoned(rng, (total, case.heads, value), dtype, used)
    real = np.arange(tokens) < iro[-1]
    q = _poisoned(rng, (tokens, case.heads, nope + rope), dtype, real, case.spread)
    output = np.full(
        (tokens, case.heads, value), np.nan, DTYPES[case.out_dtype or case.dtype]
    )
    if case.interleaved:
        k, v = _interleave(k, v)
        q, output = _pad_columns(q, 16), _pad_columns(output, 48)

    index = np.dtype(case.index_dtype)
    options: dict[str, Any] = {
        "input_row_offsets": iro.astype(index),
        "buffer_row_offsets": bro.astype(index),
        "mask": case.mask,
        "local_window_size": case.window,
        "scale": case.scale,
    }
    if case.cache_offsets is not None:
        options["cache_offsets"] = first.astype(index)
    cache_dtype = DTYPES[case.cache_dtype or case.dtype]
    if case.rope == "paged":
        options["cache"] = _paged(case, rng, cache_dtype, prefixes, first, rows, index)
        options["layer_idx"] = case.layer
    else:
        options["k_rope"] = _poisoned(rng, (total, rope), cache_dtype, used)
        if case.rope == "ragged":
            options["cache_lengths"] = prefixes.astype(index)
    batch = Batch(case, q, k, v, options, output)
    SCORES[case.scores](batch, [slice(b, b + n) for b, n in zip(bro, rows)])
    return batch


def _scale_keys(batch: Batch, rows: list[slice], first: float, last: float) -> None:
    """Multiplies the keys of each sequence by 10^first to 10^last, one by one.

    Their rope parts stay: the nope part is what makes the scores' size.
    """
    for sequence in rows:
        keys = batch.k[sequence]
        factors = 10 ** np.linspace(first, last, len(keys))[:, None, None]
        keys[...] = (keys * factors.astype(np.float32)).astype(keys.dtype)


def _minus_500000(batch: Batch, rows: list[slice]) -> None:
    """Scores around -5e5, where the scale is 1 (MLA-R3).

    All are integers, so that f32 holds them exactly: -51 * 76.5 * 128, and 51
    times the sum of a key's rope part, by which they differ.
    """
    batch.q[: batch.tokens] = 51
    for sequence in rows:
        batch.k[sequence] = -76.5
    if batch.case.rope == "paged":
        rope = batch.options["cache"].kv_blocks[..., batch.case.latent :]
    else:
        rope = batch.options["k_rope"]
    rope[...] = np.rint(rope.astype(np.float32)).astype(rope.dtype)


SCORES = {
    "normal": lambda batch, rows: None,
    "growing": lambda batch, rows: _scale_keys(batch, rows, -2, 1.5),
    "shrinking": lambda batch, rows: _scale_keys(batch, rows, 1.5, -2),
    "minus_500000": _minus_500000,
}


def _poisoned(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype: np.dtype,
    used: np.ndarray,
    spread: float = 1.0,
) -> np.ndarray:
    """Random normal in the rows that are used, NaN in the others."""
    array = np.full(shape, np.nan, dtype)
    values = rng.standard_normal((int(used.sum()), *shape[1:]), np.float32)
    array[used] = (spread * values).astype(dtype)
    return array


def _interleave(k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Views of k and v in one buffer, as an up-projection leaves them."""
    buffer = np.concatenate([k, v], axis=2)
    return buffer[..., : k.shape[2]], buffer[..., k.shape[2] :]


def _pad_columns(array: np.ndarray, columns: int) -> np.ndarray:
    """A view of `array` whose rows lie further apart, with NaN between them."""
    rows, heads, width = array.shape
    padded = np.full((rows, heads + 1, width + columns), np.nan, array.dtype)
    padded[:, :heads, :width] = array
    return padded[:, :heads, :width]


def _paged(
    case: Case,
    rng: np.random.Generator,
    dtype: np.dtype,
    prefixes: np.ndarray,
    first: np.ndarray,
    rows: np.ndarray,
    index: np.dtype,
) -> mla.PagedCache:
    """A cache with shuffled pages that holds the keys' rope, and poison else."""
    size, width = case.page_size, case.latent + case.dims[1]
    context = prefixes + np.array(case.lengths, np.int64)
    pages_of = -(-np.maximum(context, first + rows) // size)
    pages, columns = int(pages_of.sum()) + 3, int(pages_of.max(initial=0)) + 2
    blocks = np.full((pages, 1, case.layers, size, 1, width), np.nan, dtype)
    garbage = np.resize(np.array(GARBAGE_PAGES, np.int64), (len(rows), columns))
    table = garbage.astype(np.uint32).view(index).copy()
    free = list(rng.permutation(pages))
    for b in range(len(rows)):
        for column in range(pages_of[b]):
            table[b, column] = free.pop()
        for position in range(first[b], first[b] + rows[b]):
            row = blocks[table[b, position // size], 0, case.layer, position % size, 0]
            row[case.latent :] = rng.standard_normal(case.dims[1]).astype(dtype)
    return mla.PagedCache(blocks, table, prefixes.astype(index))


# Around the sizes that tiles, strips and vectors have on any target.
EDGES = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)
MORE_EDGES = (2, 3, 4, 5, 7, 8, 9, 47, 48, 49, 95, 96, 97, 191, 192, 193, 383, 385)
# The masks that have a window, each with the page size that its cases use.
WINDOWED = {
    "sliding_window_causal": 7,
    "sliding_window_noncausal": 64,
    "chunked": 16,
    "chunked_causal": 100,
}


def cases() -> list[Case]:
    """The list, the same every time.

    What is static in the types costs one compilation for each combination, and
    lengths, prefixes and windows cost none. So facets that have nothing to do
    with each other share a case: a page size with a head count, an index type
    with the absence of the lse.
    """
    one_head = Case("one_head", (1,), heads=1)
    result = [
        replace(one_head, name="one_token"),
        replace(one_head, name="edges", lengths=EDGES),
        replace(one_head, name="more_edges", lengths=MORE_EDGES, gap=64),
        replace(
            one_head,
            name="one_token_each",
            lengths=(1,) * 40,
            prefixes=tuple(range(40)),
        ),
        replace(
            one_head,
            name="odd_rows",
            lengths=(33, 7, 129),
            prefixes=(5, 250, 64),
            gap=128,
            spare=5,
        ),
        replace(
            one_head,
            name="big_scores",
            lengths=(100, 30),
            prefixes=(0, 77),
            spread=8.0,
        ),
        replace(one_head, name="scale_given", lengths=(65, 66), scale=0.25),
        replace(one_head, name="scale_tiny", lengths=(65, 66), scale=1e-30),
        replace(one_head, name="long", lengths=(1100,), prefixes=(300,)),
        replace(one_head, name="long_decode", lengths=(2, 1), prefixes=(2500, 1700)),
    ]
    # Every length meets every kind of prefix.
    rng = np.random.default_rng(1)
    for seed in range(4):
        lengths = tuple(int(n) for n in rng.permutation(EDGES[:14] + MORE_EDGES[:14]))
        prefixes = tuple(int(p) for p in rng.permutation(EDGES + MORE_EDGES))
        result.append(
            replace(
                one_head,
                name=f"prefixes_{seed}",
                lengths=lengths,
                prefixes=prefixes[: len(lengths)],
            )
        )
    result += [
        Case("heads_5", (40, 0, 23), (3, 9, 100), heads=5, page_size=3),
        Case("heads_16", (33, 70), (129, 0), heads=16, page_size=256),
        Case("heads_128", (17, 40), (100, 3), heads=128, page_size=128, latent=512),
    ]

    base = Case("base", (0, 70, 1, 129, 33, 260), (4, 200, 65, 0, 31, 20))
    result += [
        base,
        replace(base, name="layers", layers=3, layer=2),
        replace(base, name="interleaved", interleaved=True, gap=32),
        replace(base, name="null", mask="null", page_size=1),
        replace(base, name="unsigned_no_lse", index_dtype="uint32", lse=False),
        replace(base, name="ragged_rope", rope="ragged"),
        replace(base, name="ragged_rope_gap", rope="ragged", gap=128, spare=3),
        replace(base, name="ragged_end", rope="ragged_end"),
        replace(
            base,
            name="ragged_end_more_queries",  # some have negative positions
            rope="ragged_end",
            prefixes=(),
            buffer_rows=(5, 64, 0, 140, 1, 17),
        ),
    ]
    for mask, page_size in WINDOWED.items():
        for window in (1, 2, 15, 16, 17, 64, 100, 128, 129, 1000):
            result.append(
                replace(
                    base,
                    name=f"{mask}_{window}",
                    mask=mask,
                    window=window,
                    page_size=page_size,
                )
            )
    for dtype, cache_dtype, out_dtype in (
        ("float16", "", ""),
        ("float32", "", ""),
        ("bfloat16", "float32", "float16"),
        ("float32", "bfloat16", "bfloat16"),
    ):
        name = "_".join(filter(None, (dtype, cache_dtype and "mixed", out_dtype)))
        types = {"dtype": dtype, "cache_dtype": cache_dtype, "out_dtype": out_dtype}
        result.append(replace(base, name=name, **types))
    # Widths that no vector or panel fits; `test_forms.py` has the others.
    for dims in ((48, 16, 40), (20, 4, 12), (1, 1, 1)):
        name = "dims_{}_{}_{}".format(*dims)
        result.append(
            replace(base, name=name, dims=dims, dtype="float32", interleaved=True)
        )
    # Chunks: the buffer holds a part of the context, anywhere in it. Sequences
    # have ended before the chunk, begin in it, or do not fit the buffer.
    chunk = Case(
        "chunk",
        lengths=(40, 130, 1, 64, 17, 5),
        prefixes=(300, 10, 257, 0, 0, 128),
        cache_offsets=(128, 0, 255, 16, 200, 133),
        buffer_rows=(128, 100, 9, 64, 64, 0),
    )
    result += [
        chunk,
        replace(
            chunk,
            name="chunk_window",
            mask="sliding_window_causal",
            window=70,
            page_size=WINDOWED["sliding_window_causal"],
        ),
        replace(
            chunk,
            name="chunk_chunked",
            mask="chunked",
            window=50,
            page_size=WINDOWED["chunked"],
        ),
        replace(chunk, name="chunk_ragged_rope", rope="ragged"),
        replace(chunk, name="chunk_ragged_end", rope="ragged_end"),
    ]
    assert len({case.name for case in result}) == len(result)
    return result
