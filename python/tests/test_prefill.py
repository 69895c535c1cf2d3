# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numerics: every family against the oracle, and chunked prefill."""

import threading

import families
import mla
import numpy as np
import pytest
from families import Case, build, check, same_bits
from mla import reference

CASES = {case.name: case for case in families.cases()}


@pytest.mark.parametrize("case", CASES.values(), ids=str)
def test_family(case):
    families.verify(case)


@pytest.mark.parametrize("target", ["cpu-avx2", "cpu-avx512"])
@pytest.mark.parametrize("case", [CASES["base"], CASES["float32"]], ids=str)
def test_cpu_targets(case, target):
    """Kernels for less than this machine has give the right results too."""
    batch = build(case)
    try:
        output, lse = batch.run(target=target)
    except mla.Error as error:
        assert "which this CPU does not have" in str(error)
        pytest.skip(str(error))
    check(batch, output, lse)


PLAIN = Case("plain", (33, 0, 70), (5, 64, 0))


def test_allocated_output():
    """Without a destination the output is new, of q's type or the one asked."""
    batch = build(PLAIN)
    given, _ = batch.run()
    output, lse = batch.run(output=None)
    assert same_bits(output, given)
    assert lse.dtype == np.float32 and lse.shape == output.shape[:2]
    output, lse = batch.run(output=None, output_dtype=np.float32)
    assert output.dtype == np.float32
    check(batch, output, lse)
    output, _ = batch.run(output=None, output_dtype="bfloat16")
    assert same_bits(output, given)


def test_given_lse():
    """It is written whether or not it is returned; rows past the end stay."""
    batch = build(families.replace(PLAIN, spare=3))
    _, expected = batch.run()
    lse = np.full((*expected.shape[:1], 2 * expected.shape[1]), 7, np.float32)
    given = lse[:, : expected.shape[1]]
    arguments = {**batch.options, "output": batch.output, "lse": given}
    output = mla.prefill(batch.q, batch.k, batch.v, **arguments)
    assert output is batch.output
    assert same_bits(given[: batch.tokens], expected[: batch.tokens])
    assert (given[batch.tokens :] == 7).all() and (lse[:, given.shape[1] :] == 7).all()
    _, returned = mla.prefill(batch.q, batch.k, batch.v, **arguments, return_lse=True)
    assert returned is given


def test_default_scale():
    batch = build(PLAIN)
    output, lse = batch.run()
    other, other_lse = batch.run(output=None, scale=192**-0.5)
    assert same_bits(output, other) and same_bits(lse, other_lse)


def test_validate_changes_nothing():
    batch = build(PLAIN)
    output, lse = batch.run()
    other, other_lse = batch.run(output=None, validate=True)
    assert same_bits(output, other) and same_bits(lse, other_lse)


def test_cache_changes_between_calls():
    """A PagedCache is a view: the next call sees what was written into it."""
    batch = build(PLAIN)
    batch.run()
    blocks = batch.options["cache"].kv_blocks
    blocks[:] = (2 * blocks.astype(np.float32)).astype(blocks.dtype)
    batch.output[:] = np.nan
    check(batch, *batch.run())


def test_calls_from_several_threads():
    batches = [build(families.replace(PLAIN, seed=seed)) for seed in range(6)]
    expected = [batch.run(output=None) for batch in batches]
    results = [None] * len(batches)

    def work(i: int) -> None:
        for _ in range(5):
            results[i] = batches[i].run(output=None)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for got, want in zip(results, expected):
        assert same_bits(got[0], want[0]) and same_bits(got[1], want[1])


@pytest.mark.parametrize("mask, window", [("causal", -1), ("chunked", 100)])
@pytest.mark.parametrize("chunks", [(64, 64, 64), (1, 200, 37), (129, 16, 300)])
def test_chunked_equals_unchunked(mask, window, chunks):
    """Each chunk on its own part of the buffer, merged; sequences start late and
    end early, and the last chunk takes what is left."""
    whole = Case(
        "whole",
        lengths=(70, 5, 0, 33, 129),
        prefixes=(130, 0, 40, 1, 260),
        mask=mask,
        window=window,
        page_size=families.WINDOWED.get(mask, 64),
    )
    batch = build(whole)
    context = np.array(whole.lengths) + np.array(whole.prefixes)
    bro = batch.options["buffer_row_offsets"].astype(int)
    index = np.int32

    merged = None
    begin = np.zeros(len(context), int)
    for size in (*chunks, 10_000):
        end = np.minimum(begin + size, context)
        keep = np.concatenate(
            [np.arange(o + b, o + e) for o, b, e in zip(bro, begin, end)]
        )
        part = mla.prefill(
            batch.q,
            batch.k[keep],
            batch.v[keep],
            **{
                **batch.options,
                "buffer_row_offsets": np.cumsum([0, *(end - begin)]).astype(index),
                "cache_offsets": begin.astype(index),
            },
            return_lse=True,
        )
        merged = part if merged is None else reference.merge_states(*merged, *part)
        begin = end
    assert (begin == context).all()
    check(batch, *merged)
