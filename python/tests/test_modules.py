# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that are more than one `mla.prefill`, on the current target.

Level 1 that was printed and edited, or came from a compiler with a mask of its own;
and the op among other code.
"""

import importlib.util
import pathlib

import families
import level1
import numpy as np
import pytest
import targets
from families import Case, build, check
from mla import _capi, reference
from mla.module import prefill_module

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENGTHS, PREFIXES = (300, 1, 129, 0, 64, 517), (0, 200, 65, 9, 128, 3)


def example(path: str):
    """A module of examples/, by its path there."""
    spec = importlib.util.spec_from_file_location("example", ROOT / "examples" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lse_of(batch: families.Batch) -> np.ndarray:
    return np.full(batch.output.shape[:2], np.nan, np.float32)


# --- Level 1.


def level_1(call: targets.Operands) -> str:
    text = prefill_module(call.signature)
    return _capi.lower_text(text, "tile", targets.current.name)


@pytest.mark.parametrize("mask", ["causal", "sliding_window_causal"])
def test_printed_level_1(mask):
    """What is printed compiles to the kernel that the op compiles to."""
    page_size = families.WINDOWED.get(mask, 64)
    case = Case("level_1", LENGTHS, PREFIXES, mask=mask, window=70, page_size=page_size)
    batch = build(case)
    expected = batch.run_anew()
    lse = lse_of(batch)
    call = targets.operands(
        batch.q, batch.k, batch.v, output=batch.output, lse=lse, **batch.options
    )
    kernel = targets.current.compile(level_1(call))
    targets.current.run(kernel, list(call.values.values()))
    check(batch, batch.output, lse)
    assert families.same_bits(batch.output, expected[0])
    assert families.same_bits(lse, expected[1])


def test_soft_cap():
    """The edit of examples/05-edit-level-1, with scores that reach the cap."""
    batch = build(Case("soft_cap", LENGTHS, PREFIXES, spread=15.0))
    lse = lse_of(batch)
    call = targets.operands(
        batch.q, batch.k, batch.v, output=batch.output, lse=lse, **batch.options
    )
    edit = example("05-edit-level-1/add_soft_cap.py").add_soft_cap
    kernel = targets.current.compile(edit(level_1(call)))
    targets.current.run(kernel, list(call.values.values()))

    error = 30 * targets.current.tanh_error
    plain = batch.expected
    batch.options["score"] = lambda u: 30 * np.tanh(u / 30)
    del batch.expected
    check(batch, batch.output, lse, score_error=error)
    assert (np.abs(plain[1] - batch.expected[1]) > 0.1 + error).any(), "no cap reached"


@pytest.mark.parametrize("mask", level1.PREFIX_LM_MASKS)
def test_prefix_lm(mask):
    """A mask that the library does not know, with a parameter for each sequence."""
    batch = build(Case("prefix_lm", LENGTHS, PREFIXES))
    # Below, inside and past the new tokens; none; more than there are.
    prefix = np.array([130, 100, 70, 4, 0, 1000], np.int32)
    lse = lse_of(batch)
    call = targets.operands(
        batch.q, batch.k, batch.v, output=batch.output, lse=lse, **batch.options
    )
    kernel = targets.current.compile(level1.prefix_lm(mask, targets.current.name))
    targets.current.run(kernel, [prefix, *call.values.values()])

    # The oracle's predicate is of positions alone, so one sequence at a time.
    both = np.concatenate([batch.v, np.abs(batch.v)], axis=2)
    expected = np.full((*lse.shape, both.shape[2]), np.nan)
    expected_lse = np.full(lse.shape, np.nan)
    options = dict(batch.options)
    for b, length in enumerate(prefix):
        options["mask"] = lambda qpos, kpos, p=length: (kpos <= qpos) | (kpos < p)
        options["cache"] = sequence_of(batch.options["cache"], b)
        for name in ("input_row_offsets", "buffer_row_offsets"):
            options[name] = batch.options[name][b : b + 2]
        rows = slice(*options["input_row_offsets"])
        result = reference.prefill(batch.q, batch.k, both, **options)
        expected[rows], expected_lse[rows] = result[0][rows], result[1][rows]
    width = batch.v.shape[2]
    scale = expected[..., width:].max(axis=2)
    plain_lse = batch.expected[1]
    batch.expected = expected[..., :width], expected_lse, scale
    check(batch, batch.output, lse)
    assert (np.abs(plain_lse - expected_lse) > 0.1).any(), "as if causal"


def sequence_of(cache, b: int):
    """The cache with sequence b alone."""
    return type(cache)(
        cache.kv_blocks, cache.lookup_table[b : b + 1], cache.cache_lengths[b : b + 1]
    )


# --- The op among other code.


def test_two_masks_in_a_loop():
    """modules/two_masks.mlir: for each layer two prefills with different masks."""
    layers, window = 3, 70
    case = Case("two_masks", LENGTHS, PREFIXES, layers=layers, layer=0, gap=64)
    batches = [build(families.replace(case, seed=seed)) for seed in range(layers)]
    # One cache: the rows that the first batch fills are filled in every layer.
    options = batches[0].options
    blocks, rng = options["cache"].kv_blocks, np.random.default_rng(1)
    used = ~np.isnan(blocks[:, :, 0].astype(np.float32))
    for layer in range(1, layers):
        values = rng.standard_normal(int(used.sum()), np.float32)
        blocks[:, :, layer][used] = values.astype(blocks.dtype)

    stacked = [
        np.stack([getattr(batch, name) for batch in batches])
        for name in ("q", "k", "v")
    ]
    causal = np.stack([batch.output for batch in batches])
    windowed = np.full(causal.shape, np.nan, np.float32)
    windowed_lse = np.full(causal.shape[:3], np.nan, np.float32)
    q, k, v = stacked
    cache = options["cache"]
    kernel = targets.current.compile((level1.MODULES / "two_masks.mlir").read_text())
    arguments = [
        _capi.Scalar(window, "i32"),
        *(q, options["input_row_offsets"], k, v, options["buffer_row_offsets"]),
        *(blocks, cache.lookup_table, cache.cache_lengths),
        _capi.Scalar(192**-0.5, "f32"),
        *(causal, windowed, windowed_lse),
    ]
    targets.current.run(kernel, arguments)

    for layer, batch in enumerate(batches):
        batch.options = {**options, "layer_idx": layer}
        check(batch, causal[layer], None)
        batch.case = families.replace(case, out_dtype="float32")
        batch.options.update(mask="sliding_window_causal", local_window_size=window)
        del batch.expected
        check(batch, windowed[layer], windowed_lse[layer])
