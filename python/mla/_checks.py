# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks on the arguments of `prefill`, and the operands they yield.

Each raises a TypeError or ValueError whose message starts with the operand's
name and says what was expected and what was given.
"""

from __future__ import annotations

import operator
from typing import Any

from mla._array import COPY_BYTES, ITEM_BYTES, Array, Device, as_dtype, dtype_name
from mla._runtime import target_of
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


def rope_source(cache: Any, k_rope: Any, cache_lengths: Any) -> dict[str, Any]:
    """The operands of the form that was chosen: pages or a ragged tensor."""
    if (cache is None) == (k_rope is None):
        given = "neither" if cache is None else "both"
        raise ValueError(f"cache, k_rope: expected one of the two, got {given}")
    if cache is None:
        if cache_lengths is None:
            return {"k_rope": k_rope}
        return {"k_rope": k_rope, "cache_lengths": cache_lengths}
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


def check_layer(layers: int | None, layer_idx: Any) -> int:
    """`layers` of the cache, or None without one."""
    layer_idx = integer(layer_idx, "layer_idx")
    if layers is None:
        if layer_idx != 0:
            raise ValueError("layer_idx: expected 0 without a cache")
    elif not 0 <= layer_idx < layers:
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


def fits_scale(scale: float) -> bool:
    return _F32_TINY <= scale <= _F32_MAX


def check_scale(scale: Any) -> float:
    try:
        scale = float(scale)
    except (TypeError, ValueError):
        raise TypeError(
            f"scale: expected a number, got {type(scale).__name__}"
        ) from None
    if not fits_scale(scale):
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
    return device


def check_target(target: Any, q: Array) -> str:
    """What to compile for: what was asked for, if it runs where the arrays are."""
    if target is not None and not isinstance(target, str):
        raise TypeError(f"target: expected a name, got {type(target).__name__}")
    if q.device.kind == "cpu":
        if target is not None and target.startswith("sm_"):
            raise ValueError(
                f"target: expected a CPU for arrays on {q.device}, got {target!r}"
            )
        return target or "cpu"
    expected = target_of(q)
    if target not in (None, expected):
        raise ValueError(
            f"target: expected {expected} for arrays on {q.device}, got {target!r}"
        )
    return expected


_COPIED = ("q", "k", "v", "kv_blocks", "k_rope")


def check_row_alignment(arrays: dict[str, Array], target: str) -> list[str]:
    """Raises unless rows start at multiples of what the target copies at once, as
    far as strides decide that. The names of the operands whose base has to."""
    if not target.startswith("sm_"):
        return []
    copied = [name for name in _COPIED if name in arrays]
    for name in copied:
        array = arrays[name]
        item = ITEM_BYTES[array.dtype]
        moving = zip(array.shape[:-1], array.strides[:-1])
        if any(stride * item % COPY_BYTES for extent, stride in moving if extent > 1):
            raise ValueError(
                f"{name}: expected strides that are multiples of {COPY_BYTES} bytes "
                f"for {target}, got {list(array.strides)} elements of {item} bytes"
            )
    return copied


def check_base_alignment(name: str, pointer: int) -> None:
    if pointer % COPY_BYTES:
        raise ValueError(
            f"{name}: expected an array that starts at a multiple of {COPY_BYTES} "
            f"bytes, got address {pointer:#x}"
        )


def output_dtype(dtype: Any) -> str | None:
    """The element type that was asked for, or None."""
    if dtype is None:
        return None
    dtype = as_dtype(dtype, "output_dtype")
    if dtype not in FLOAT_DTYPES:
        raise TypeError(
            "output_dtype: expected bfloat16 or float16 or float32, got "
            f"{dtype_name(dtype)}"
        )
    return dtype


def check_destinations(
    arrays: dict[str, Array], shape: tuple[int, int, int], dtype: str | None
) -> None:
    """The destinations that were given, of a result of this shape and type."""
    if "output" in arrays:
        output = arrays["output"]
        if dtype is None:
            output.require_dtype(FLOAT_DTYPES)
        else:
            output.require_dtype((dtype,), " (output_dtype says so)")
        output.require_shape(*shape)
        output.require_destination()
    if "lse" in arrays:
        lse = arrays["lse"]
        lse.require_dtype(("f32",))
        lse.require_shape(*shape[:2])
        lse.require_destination()
