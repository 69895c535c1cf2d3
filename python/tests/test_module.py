# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of generated modules."""

import re

import pytest
from mla import _capi
from mla.module import (
    MASK_HAS_WINDOW,
    CacheSignature,
    PrefillSignature,
    RopeSignature,
    argument_types,
    prefill_module,
)

PAGED = PrefillSignature(
    heads=128,
    nope=128,
    rope=64,
    value=128,
    dtype="bf16",
    output_dtype="bf16",
    rope_source=CacheSignature("bf16", width=576, page_size=64),
    cache_lengths="i32",
)


def test_paged_text():
    assert (
        prefill_module(PAGED)
        == """\
func.func @prefill(
    %q: tensor<?x128x192xbf16>,
    %input_row_offsets: tensor<?xi32>,
    %k: tensor<?x128x128xbf16>,
    %v: tensor<?x128x128xbf16>,
    %buffer_row_offsets: tensor<?xi32>,
    %kv_blocks: tensor<?x1x?x64x1x576xbf16>,
    %lookup_table: tensor<?x?xi32>,
    %cache_lengths: tensor<?xi32>,
    %layer_idx: i32,
    %scale: f32,
    %output: tensor<?x128x128xbf16>
) -> (tensor<?x128x128xbf16>) {
  %output_result = mla.prefill #mla.causal
      queries(%q, %input_row_offsets)
      keys(%k, %v, %buffer_row_offsets)
      pages(%kv_blocks, %lookup_table, %cache_lengths, %layer_idx)
      scale(%scale)
      outs(%output)
      : (tensor<?x128x192xbf16>,
         tensor<?xi32>,
         tensor<?x128x128xbf16>,
         tensor<?x128x128xbf16>,
         tensor<?xi32>,
         tensor<?x1x?x64x1x576xbf16>,
         tensor<?x?xi32>,
         tensor<?xi32>,
         i32,
         f32,
         tensor<?x128x128xbf16>)
      -> (tensor<?x128x128xbf16>)
  return %output_result : tensor<?x128x128xbf16>
}
"""
    )


def test_ragged_text_with_everything_else():
    signature = PrefillSignature(
        heads=5,
        nope=48,
        rope=16,
        value=40,
        dtype="f16",
        output_dtype="f32",
        rope_source=RopeSignature("bf16"),
        mask="chunked",
        input_row_offsets="ui32",
        cache_offsets="i32",
        lse=True,
    )
    assert (
        prefill_module(signature)
        == """\
func.func @prefill(
    %window: i32,
    %q: tensor<?x5x64xf16>,
    %input_row_offsets: tensor<?xui32>,
    %k: tensor<?x5x48xf16>,
    %v: tensor<?x5x40xf16>,
    %buffer_row_offsets: tensor<?xi32>,
    %cache_offsets: tensor<?xi32>,
    %k_rope: tensor<?x16xbf16>,
    %scale: f32,
    %output: tensor<?x5x40xf32>,
    %lse: tensor<?x5xf32>
) -> (tensor<?x5x40xf32>, tensor<?x5xf32>) {
  %output_result, %lse_result = mla.prefill #mla.chunked
      parameters(%window)
      queries(%q, %input_row_offsets)
      keys(%k, %v, %buffer_row_offsets, %cache_offsets)
      rope(%k_rope)
      scale(%scale)
      outs(%output, %lse)
      : (i32,
         tensor<?x5x64xf16>,
         tensor<?xui32>,
         tensor<?x5x48xf16>,
         tensor<?x5x40xf16>,
         tensor<?xi32>,
         tensor<?xi32>,
         tensor<?x16xbf16>,
         f32,
         tensor<?x5x40xf32>,
         tensor<?x5xf32>)
      -> (tensor<?x5x40xf32>, tensor<?x5xf32>)
  return %output_result, %lse_result : tensor<?x5x40xf32>, tensor<?x5xf32>
}
"""
    )


def variants() -> list[PrefillSignature]:
    """Every mask and every combination of the optional operands."""
    common = {
        "heads": 3,
        "nope": 32,
        "rope": 16,
        "value": 24,
        "dtype": "bf16",
        "output_dtype": "f32",
    }
    cache = CacheSignature("f16", width=80, page_size=7, lookup_table="ui32")
    rope = RopeSignature("f32")
    return [
        PrefillSignature(
            **common,
            mask=mask,
            rope_source=source,
            cache_offsets=offsets,
            cache_lengths=lengths,
            lse=lse,
        )
        for mask in MASK_HAS_WINDOW
        for source, lengths in ((cache, "i32"), (rope, "ui32"), (rope, None))
        for offsets in (None, "ui32")
        for lse in (False, True)
    ]


def describe(signature: PrefillSignature) -> str:
    parts = [signature.mask, type(signature.rope_source).__name__[:-9].lower()]
    for name in ("cache_offsets", "cache_lengths", "lse"):
        if getattr(signature, name):
            parts.append(name)
    return "-".join(parts)


@pytest.mark.parametrize("signature", variants(), ids=describe)
def test_operands_are_those_of_the_types(signature):
    """The groups name the arguments in the order of the type list."""
    text = prefill_module(signature)
    operation = text[text.index("mla.prefill") : text.index("      : (")]
    assert re.findall(r"%(\w+)", operation) == list(argument_types(signature))


@pytest.mark.parametrize("signature", variants()[::5], ids=describe)
def test_module_lowers(signature):
    """Every form of the text is one that the compiler takes."""
    assert "scf.for" in _capi.lower_text(prefill_module(signature), "tile")


def test_kernel_arguments():
    """The kernel takes what the text says, by name, in order."""
    kernel = _capi.Kernel(prefill_module(PAGED))
    types = argument_types(PAGED)
    assert [argument.name for argument in kernel.arguments] == list(types)
    by_name = {argument.name: argument for argument in kernel.arguments}
    assert by_name["q"].dtype == "bf16"
    assert by_name["q"].shape == (-1, 128, 192)
    assert by_name["kv_blocks"].shape == (-1, 1, -1, 64, 1, 576)
    assert by_name["scale"] == _capi.Argument("scale", "f32", None, False)
    assert by_name["layer_idx"].shape is None
    written = [name for name, argument in by_name.items() if argument.written]
    assert written == ["output"]
