# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`prefill`: checks its arguments, finds or compiles the kernel, runs it."""

from __future__ import annotations

import threading
from typing import Any

from mla import _capi
from mla._array import Array, allocate, as_array
from mla._checks import (
    INDEX_OPERANDS,
    INT32_MAX,
    check_inputs,
    check_layer,
    check_mask,
    check_scale,
    common_device,
    destination,
    integer,
    rope_source,
)
from mla._validate import validate_prefill
from mla.module import (
    MASK_HAS_WINDOW,
    CacheSignature,
    PrefillSignature,
    RopeSignature,
    argument_types,
    prefill_module,
)
from mla.paged_cache import PagedCache

MASKS = tuple(MASK_HAS_WINDOW)


def prefill(
    q: Any,
    k: Any,
    v: Any,
    *,
    buffer_row_offsets: Any,
    input_row_offsets: Any,
    cache: PagedCache | None = None,
    k_rope: Any = None,
    cache_offsets: Any = None,
    cache_lengths: Any = None,
    layer_idx: int = 0,
    scale: float | None = None,
    mask: str = "causal",
    local_window_size: int = -1,
    output: Any = None,
    output_dtype: Any = None,
    return_lse: bool = False,
    validate: bool = False,
    target: str | None = None,
    stream: Any = None,
) -> Any:
    """Multi-head latent attention of a ragged batch of new tokens.

    Arrays may be strided views, of which only the last dimension must be
    contiguous; nothing is copied. Element types are bfloat16, float16 or
    float32, index types int32 or uint32.

    Args:
      q: [T, H, Dn + Dr], the queries; the last Dr columns are the rope part.
      k: [N, H, Dn], the up-projected keys without their rope part.
      v: [N, H, Dv], the up-projected values.
      buffer_row_offsets: [B + 1]. Rows [b] to [b + 1] of k and v belong to
        sequence b.
      input_row_offsets: [B + 1]. Rows [b] to [b + 1] of q and output belong to
        sequence b.
      cache: the paged cache that holds the rope part of the keys.
      k_rope: [N, Dr], the rope part of the keys, in place of `cache`.
      cache_offsets: [B], the position of each sequence's first buffer row; 0
        if absent.
      cache_lengths: [B], the tokens cached before this step, with `k_rope`
        only. If absent, the last query is at the last key.
      layer_idx: the layer of `cache`.
      scale: multiplies the scores; (Dn + Dr) ** -0.5 if absent.
      mask: one of `mla.MASKS`.
      local_window_size: the window of the masks that have one.
      output: [T, H, Dv], written in place; allocated if absent. Rows past the
        last offset are left as they were.
      output_dtype: the element type of an allocated output; q's if absent.
      return_lse: whether to return the log-sum-exp of the scores too.
      validate: check the values of the index tensors first.
      target: what to compile for; "cpu" (this machine) if absent.
      stream: the stream to launch on; None for arrays of the host.

    Returns:
      The output, or (output, lse) with lse [T, H] in float32.

    Raises:
      TypeError, ValueError: an argument is not what it should be; the message
        names it. Nothing was run.
      mla.Error: the compiler or the runtime refused.
    """
    # What is absent stays absent: `arrays` has the operands that there are.
    arrays = {"q": as_array(q, "q"), "k": as_array(k, "k"), "v": as_array(v, "v")}
    arrays["buffer_row_offsets"] = as_array(buffer_row_offsets, "buffer_row_offsets")
    arrays["input_row_offsets"] = as_array(input_row_offsets, "input_row_offsets")
    if cache_offsets is not None:
        arrays["cache_offsets"] = as_array(cache_offsets, "cache_offsets")
    arrays.update(rope_source(cache, k_rope, cache_lengths, layer_idx))
    check_inputs(arrays)

    layer_idx = check_layer(arrays, layer_idx)
    window = check_mask(mask, local_window_size)
    scale = check_scale(scale, arrays["q"].shape[2])
    device = common_device(arrays)
    if stream is not None:
        raise ValueError(f"stream: expected None for arrays on {device}")
    if target is not None and target.startswith("sm_"):
        raise ValueError(
            f"target: expected a CPU for arrays on {device}, got {target!r}"
        )
    if validate:
        _validate(arrays)

    arrays["output"] = destination(arrays, output, output_dtype, device)
    if return_lse:
        arrays["lse"] = allocate(arrays["output"].shape[:2], "f32", device, "lse")

    signature = _signature(arrays, mask)
    kernel = _kernel(signature, "cpu" if target is None else target)
    scalars = {
        "window": _capi.Scalar(window, "i32"),
        "layer_idx": _capi.Scalar(layer_idx, "i32"),
        "scale": _capi.Scalar(scale, "f32"),
    }
    kernel.run(
        [
            _tensor(arrays[name]) if name in arrays else scalars[name]
            for name in argument_types(signature)
        ],
        _num_threads,
    )
    result = arrays["output"].owner
    return (result, arrays["lse"].owner) if return_lse else result


_num_threads = 0


def set_num_threads(count: int) -> None:
    """Threads of a call on the CPU. 0: MLA_NUM_THREADS, or else all cores."""
    global _num_threads
    count = integer(count, "count")
    if not 0 <= count <= INT32_MAX:
        raise ValueError(f"count: expected >= 0, got {count}")
    _num_threads = count


def get_num_threads() -> int:
    """What `set_num_threads` was last called with; 0 if never."""
    return _num_threads


class _CachedKernel:
    """A kernel, or the place of one that the first caller compiles."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kernel: _capi.Kernel | None = None


_kernels: dict[tuple[PrefillSignature, str], _CachedKernel] = {}


def _kernel(signature: PrefillSignature, target: str) -> _capi.Kernel:
    # Different kernels may be compiled at once, but each of them only once:
    # callers that miss together wait for the first. setdefault is atomic.
    cached = _kernels.setdefault((signature, target), _CachedKernel())
    if cached.kernel is None:
        with cached.lock:
            if cached.kernel is None:
                cached.kernel = _capi.Kernel(prefill_module(signature), target)
    return cached.kernel


def _tensor(array: Array) -> _capi.Tensor:
    return _capi.Tensor(array.pointer, array.dtype, array.shape, array.strides)


def _signature(arrays: dict[str, Array], mask: str) -> PrefillSignature:
    q, k, v = arrays["q"], arrays["k"], arrays["v"]
    if "kv_blocks" in arrays:
        blocks = arrays["kv_blocks"]
        source = CacheSignature(
            dtype=blocks.dtype,
            width=blocks.shape[5],
            page_size=blocks.shape[3],
            lookup_table=arrays["lookup_table"].dtype,
        )
    else:
        source = RopeSignature(dtype=arrays["k_rope"].dtype)
    return PrefillSignature(
        heads=q.shape[1],
        nope=k.shape[2],
        rope=q.shape[2] - k.shape[2],
        value=v.shape[2],
        dtype=q.dtype,
        output_dtype=arrays["output"].dtype,
        rope_source=source,
        mask=mask,
        input_row_offsets=arrays["input_row_offsets"].dtype,
        buffer_row_offsets=arrays["buffer_row_offsets"].dtype,
        cache_offsets=_dtype_of(arrays.get("cache_offsets")),
        cache_lengths=_dtype_of(arrays.get("cache_lengths")),
        lse="lse" in arrays,
    )


def _dtype_of(array: Array | None) -> str | None:
    return None if array is None else array.dtype


def _validate(arrays: dict[str, Array]) -> None:
    cache: dict[str, Any] = {}
    if "kv_blocks" in arrays:
        blocks = arrays["kv_blocks"].shape
        cache = {"pages": blocks[0], "page_size": blocks[3]}
    validate_prefill(
        queries=arrays["q"].shape[0],
        buffer_rows=arrays["k"].shape[0],
        **{name: arrays[name].owner for name in INDEX_OPERANDS if name in arrays},
        **cache,
    )
