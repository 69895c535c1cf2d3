# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks on the arguments of `prefill`, and the operands they yield.

Each raises a TypeError or ValueError whose message starts with the operand's
name and says what was expected and what was given.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from mla._array import CPU, Array, Device, allocate, as_array, as_dtype, dtype_name
from mla.module import MASK_HAS_WINDOW
from mla.paged_cache import FLOAT_DTYPES, INDEX_DTYPES, INDEX_HINT, PagedCache

INT32_MAX = 2**31 - 1

INDEX_OPERANDS = (
    "buffer_row_offsets",
    "input_row_offsets",
    "cache_offsets",
    "cache_lengths",
    "lookup_table",
)


def rope_source(
    cache: Any, k_rope: Any, cache_lengths: Any, layer_idx: Any
) -> dict[str, Array]:
    """The operands of the form that was chosen: pages or a ragged tensor."""
    if (cache is None) == (k_rope is None):
        given = "neither" if cache is None else "both"
        raise ValueError(f"cache, k_rope: expected one of the two, got {given}")
    if cache is None:
        if integer(layer_idx, "layer_idx") != 0:
            raise ValueError("layer_idx: expected 0 without a cache")
        arrays = {"k_rope": as_array(k_rope, "k_rope")}
        if cache_lengths is not None:
            arrays["cache_lengths"] = as_array(cache_lengths, "cache_lengths")
        return arrays
    if not isinstance(cache, PagedCache):
        raise TypeError(f"cache: expected a mla.PagedCache, got {type(cache).__name__}")
    if cache_lengths is not None:
        raise ValueError("cache_lengths: expected None with a cache, which has its own")
    return cache.arrays()


def check_inputs(arrays: dict[str, Array]) -> None:
    """Element types and shapes of everything but the destinations."""
    q, k, v = arrays["q"], arrays["k"], arrays["v"]
    q.require_dtype(FLOAT_DTYPES)
    for operand in (k, v):
        operand.require_dtype((q.dtype,), " (q's element type)")
    for name in INDEX_OPERANDS:
        if name in arrays:
            arrays[name].require_dtype(INDEX_DTYPES, INDEX_HINT)

    q.require_shape("T", "H", "Dn + Dr")
    heads, q_width = q.shape[1:]
    k.require_shape("N", heads, "Dn")
    rows, _, nope = k.shape
    v.require_shape(rows, heads, "Dv")
    value = v.shape[2]
    if heads == 0:
        raise ValueError("q: expected at least 1 head, got 0")
    if nope == 0:
        raise ValueError("k: expected at least 1 column, got 0")
    if value == 0:
        raise ValueError("v: expected at least 1 column, got 0")
    if q_width <= nope:
        raise ValueError(
            f"q: expected more columns than the {nope} of k, for the rope part, "
            f"got {q_width}"
        )
    rope = q_width - nope

    iro = arrays["input_row_offsets"]
    iro.require_shape("B + 1")
    if iro.shape[0] == 0:
        raise ValueError("input_row_offsets: expected at least 1 entry, got 0")
    sequences = iro.shape[0] - 1
    arrays["buffer_row_offsets"].require_shape(sequences + 1)
    if "cache_offsets" in arrays:
        offsets = arrays["cache_offsets"]
        if offsets.shape != (sequences + 1,):  # a last entry too many is ignored
            offsets.require_shape(sequences)
    if "cache_lengths" in arrays:
        arrays["cache_lengths"].require_shape(sequences)
    if "k_rope" in arrays:
        arrays["k_rope"].require_dtype(FLOAT_DTYPES)
        arrays["k_rope"].require_shape(rows, rope)
    else:
        arrays["lookup_table"].require_shape(sequences, "columns")
        width = arrays["kv_blocks"].shape[5]
        if width < rope:
            raise ValueError(
                f"kv_blocks: expected rows of at least {rope} columns (the width "
                f"of q less that of k), got {width}"
            )


def check_layer(arrays: dict[str, Array], layer_idx: Any) -> int:
    layer_idx = integer(layer_idx, "layer_idx")
    if "kv_blocks" in arrays:
        layers = arrays["kv_blocks"].shape[2]
        if not 0 <= layer_idx < layers:
            raise ValueError(
                f"layer_idx: expected a layer in [0, {layers}), got {layer_idx}"
            )
    return layer_idx


def check_mask(mask: Any, local_window_size: Any) -> int:
    """The window, or -1 for a mask that has none."""
    if not isinstance(mask, str) or mask not in MASK_HAS_WINDOW:
        raise ValueError(
            f"mask: expected one of {', '.join(MASK_HAS_WINDOW)}, got {mask!r}"
        )
    if not MASK_HAS_WINDOW[mask]:
        return -1
    window = integer(local_window_size, "local_window_size")
    if not 0 < window <= INT32_MAX:
        raise ValueError(
            f"local_window_size: expected a window in [1, {INT32_MAX}] for mask "
            f"{mask}, got {window}"
        )
    return window


# The kernel takes the scale as an f32: it must be finite and > 0 there.
_F32_MAX = (2 - 2**-23) * 2.0**127
_F32_TINY = 2.0**-149


def check_scale(scale: Any, q_width: int) -> float:
    if scale is None:
        return q_width**-0.5
    try:
        scale = float(scale)
    except (TypeError, ValueError):
        raise TypeError(
            f"scale: expected a number, got {type(scale).__name__}"
        ) from None
    if not (math.isfinite(scale) and _F32_TINY <= scale <= _F32_MAX):
        raise ValueError(f"scale: expected a finite number > 0, got {scale}")
    return scale


def integer(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name}: expected an integer, got {type(value).__name__}"
        ) from None


def common_device(arrays: dict[str, Array]) -> Device:
    device = arrays["q"].device
    for array in arrays.values():
        if array.device != device:
            raise ValueError(
                f"{array.name}: expected an array on {device} (as q), got one on "
                f"{array.device}"
            )
    assert device == CPU, "only numpy arrays get this far"
    return device


def destination(
    arrays: dict[str, Array], output: Any, dtype: Any, device: Device
) -> Array:
    """The destination: what was given, or a new array."""
    q, v = arrays["q"], arrays["v"]
    shape = (q.shape[0], q.shape[1], v.shape[2])
    if dtype is not None:
        dtype = as_dtype(dtype, "output_dtype")
        if dtype not in FLOAT_DTYPES:
            raise TypeError(
                "output_dtype: expected bfloat16 or float16 or float32, got "
                f"{dtype_name(dtype)}"
            )
    if output is None:
        return allocate(shape, dtype or q.dtype, device, "output")
    array = as_array(output, "output")
    if dtype is None:
        array.require_dtype(FLOAT_DTYPES)
    else:
        array.require_dtype((dtype,), " (output_dtype says so)")
    array.require_shape(*shape)
    if not array.writable:
        raise ValueError("output: expected a writable array, got a read-only one")
    array.require_distinct_elements()
    if array.device != device:
        raise ValueError(
            f"output: expected an array on {device} (as q), got one on {array.device}"
        )
    return array
