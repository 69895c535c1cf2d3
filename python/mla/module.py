# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MLIR text of a module with one call of `mla.prefill`.

A signature holds what is static in the types: element types, head count, the
widths Dn, Dr, Dv and Dc, the page size, the mask and which of the optional
operands are there. Tokens, rows, sequences, pages and layers stay dynamic, so
one kernel serves every batch of a model.
"""

from __future__ import annotations

from dataclasses import dataclass

# The names of the masks, and whether each has the run-time parameter `window`.
MASK_HAS_WINDOW = {
    "null": False,
    "causal": False,
    "sliding_window_causal": True,
    "sliding_window_noncausal": True,
    "chunked": True,
    "chunked_causal": True,
}


@dataclass(frozen=True)
class CacheSignature:
    """The paged cache that the rope part of the keys is read from."""

    dtype: str
    width: int  # Dc
    page_size: int
    lookup_table: str = "i32"


@dataclass(frozen=True)
class RopeSignature:
    """The ragged tensor that the rope part of the keys is read from."""

    dtype: str


@dataclass(frozen=True)
class PrefillSignature:
    """Everything about a prefill that its kernel is compiled for.

    Element types are spelled as in MLIR. `None` for an index tensor says that
    the operand is absent.
    """

    heads: int
    nope: int  # Dn
    rope: int  # Dr
    value: int  # Dv
    dtype: str  # of q, k and v
    output_dtype: str
    rope_source: CacheSignature | RopeSignature
    mask: str = "causal"
    input_row_offsets: str = "i32"
    buffer_row_offsets: str = "i32"
    cache_offsets: str | None = None
    cache_lengths: str | None = None
    lse: bool = False


def argument_types(signature: PrefillSignature) -> dict[str, str]:
    """The MLIR types of the function's arguments by name, in order."""
    s = signature
    dtype, heads = s.dtype, s.heads
    types = {}
    if MASK_HAS_WINDOW[s.mask]:
        types["window"] = "i32"
    types["q"] = f"tensor<?x{heads}x{s.nope + s.rope}x{dtype}>"
    types["input_row_offsets"] = f"tensor<?x{s.input_row_offsets}>"
    types["k"] = f"tensor<?x{heads}x{s.nope}x{dtype}>"
    types["v"] = f"tensor<?x{heads}x{s.value}x{dtype}>"
    types["buffer_row_offsets"] = f"tensor<?x{s.buffer_row_offsets}>"
    if s.cache_offsets:
        types["cache_offsets"] = f"tensor<?x{s.cache_offsets}>"
    source = s.rope_source
    if isinstance(source, CacheSignature):
        page = f"{source.page_size}x1x{source.width}x{source.dtype}"
        types["kv_blocks"] = f"tensor<?x1x?x{page}>"
        types["lookup_table"] = f"tensor<?x?x{source.lookup_table}>"
        types["cache_lengths"] = f"tensor<?x{s.cache_lengths}>"
        types["layer_idx"] = "i32"
    else:
        types["k_rope"] = f"tensor<?x{s.rope}x{source.dtype}>"
        if s.cache_lengths:
            types["cache_lengths"] = f"tensor<?x{s.cache_lengths}>"
    types["scale"] = "f32"
    types["output"] = f"tensor<?x{heads}x{s.value}x{s.output_dtype}>"
    if s.lse:
        types["lse"] = f"tensor<?x{heads}xf32>"
    return types


def prefill_module(signature: PrefillSignature) -> str:
    """The MLIR text of a function `prefill` that is one `mla.prefill`."""
    types = argument_types(signature)
    if isinstance(signature.rope_source, CacheSignature):
        names = ("kv_blocks", "lookup_table", "cache_lengths", "layer_idx")
        rope_source = _group("pages", types, *names)
    else:
        rope_source = _group("rope", types, "k_rope", "cache_lengths")
    groups = [
        _group("parameters", types, "window"),
        _group("queries", types, "q", "input_row_offsets"),
        _group("keys", types, "k", "v", "buffer_row_offsets", "cache_offsets"),
        rope_source,
        _group("scale", types, "scale"),
        _group("outs", types, "output", "lse"),
    ]
    results = [name for name in ("output", "lse") if name in types]
    result_names = ", ".join(f"%{name}_result" for name in results)
    result_types = ", ".join(types[name] for name in results)
    arguments = ",\n    ".join(f"%{name}: {type}" for name, type in types.items())
    operands = "\n      ".join(group for group in groups if group)
    operand_types = ",\n         ".join(types.values())
    return f"""\
func.func @prefill(
    {arguments}
) -> ({result_types}) {{
  {result_names} = mla.prefill #mla.{signature.mask}
      {operands}
      : ({operand_types})
      -> ({result_types})
  return {result_names} : {result_types}
}}
"""


def _group(keyword: str, types: dict[str, str], *names: str) -> str:
    """`keyword(%a, %b)` of those names that the function has, or nothing."""
    present = [f"%{name}" for name in names if name in types]
    return f"{keyword}({', '.join(present)})" if present else ""
