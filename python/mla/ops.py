# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`prefill`: checks its arguments, finds or compiles the kernel, runs it."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from mla import _capi
from mla._array import Array, Layout
from mla._checks import (
    INDEX_OPERANDS,
    INT32_MAX,
    check_base_alignment,
    check_layer,
    check_mask,
    check_scale,
    integer,
    rope_source,
)
from mla._checks import (
    output_dtype as check_output_dtype,
)
from mla._exchange import exchange_of
from mla._frameworks import READERS, reader_of, remember
from mla._plan import Plan
from mla._repeat import remember_call, repeat
from mla._runtime import on_host
from mla._stream import stream_handle
from mla._validate import validate_prefill
from mla.module import MASK_HAS_WINDOW, PrefillSignature, prefill_module
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
    lse: Any = None,
    return_lse: bool = False,
    validate: bool = False,
    target: str | None = None,
    stream: Any = None,
) -> Any:
    """Multi-head latent attention of a ragged batch of new tokens.

    Arrays are numpy's, PyTorch's, CuPy's, or of anything with `__dlpack__` or
    `__cuda_array_interface__`; all on the host, or all on one CUDA device, where the
    call only enqueues its work.
    They may be strided views, of which only the last dimension must be
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
      output: [T, H, Dv], written in place. Rows past the last offset are left as
        they were. If absent it is allocated by q's framework, where it is numpy,
        PyTorch or CuPy, and those rows hold anything.
      output_dtype: the element type of an allocated output; q's if absent.
      lse: [T, H] in float32, the log-sum-exp of the scores, written in place. If
        absent it is allocated as output is, if `return_lse` asks for it.
      return_lse: whether to return the log-sum-exp too.
      validate: check the values of the index tensors first. For arrays on a
        device they are copied to the host, so this waits for the stream, which
        must not be capturing.
      target: what to compile for; if absent "cpu" (this machine), or what the
        arrays' device runs ("sm_90a").
      stream: for arrays on a device the CUDA stream to enqueue on: a handle, or
        an object of PyTorch, of CuPy, or with `__cuda_stream__`. If absent, the
        current stream of q's framework (the legacy default stream where that is
        neither of the two). Other frameworks make it wait for what has yet to
        write their arrays. None for arrays of the host.

    Returns:
      The output, or (output, lse) with lse [T, H] in float32.

    Raises:
      TypeError, ValueError: an argument is not what it should be; the message
        names it. Nothing was run.
      mla.Error: the compiler or the runtime refused.
    """
    # What follows is done for every layer of a model. Where arrays can be read by a
    # table, a call like an earlier one needs nothing of it but the launch.
    key = None
    exchange = exchange_of(type(q))
    if exchange is not None and validate is False:
        result, key = repeat(
            exchange,
            # In the order of OPERANDS.
            (
                q,
                input_row_offsets,
                k,
                v,
                buffer_row_offsets,
                cache_offsets,
                k_rope,
                cache_lengths,
                output,
                lse,
            ),
            cache,
            mask,
            local_window_size,
            output_dtype,
            return_lse,
            target,
            layer_idx,
            scale,
            stream,
            _num_threads,
        )
        if result is not None:
            return result

    # What can be found from the layouts of the arrays is in the plan, and nothing is
    # done here that needs no doing.
    window = check_mask(mask, local_window_size)
    dtype = None if output_dtype is None else check_output_dtype(output_dtype)
    # What is absent stays absent; the order is that of the kernel's arguments.
    operands = {
        "q": q,
        "input_row_offsets": input_row_offsets,
        "k": k,
        "v": v,
        "buffer_row_offsets": buffer_row_offsets,
    }
    if cache_offsets is not None:
        operands["cache_offsets"] = cache_offsets
    operands.update(rope_source(cache, k_rope, cache_lengths))
    if output is not None:
        operands["output"] = output
    if lse is not None:
        operands["lse"] = lse
    pointer, layout, handle, other_stream = _read_first(q, stream)
    pointers, layouts = [pointer], [layout]
    for name, obj in itertools.islice(operands.items(), 1, None):
        read = READERS.get(type(obj)) or reader_of(obj, name)
        pointer, layout = read(obj, name, handle)
        pointers.append(pointer)
        layouts.append(layout)

    with_lse = lse is not None or bool(return_lse)
    if target is not None and not isinstance(target, str):
        raise TypeError(f"target: expected a name, got {type(target).__name__}")
    given = (mask, dtype, with_lse, target, *operands, *layouts)
    plan = _plans.get(given)
    if plan is None:
        arrays = _arrays(operands, pointers, layouts)
        plan = remember(_plans, given, Plan(arrays, mask, dtype, with_lse, target))
    layer_idx = check_layer(plan.layers, layer_idx)
    scale = plan.scale if scale is None else check_scale(scale)
    for name, place in plan.aligned:
        check_base_alignment(name, pointers[place])
    if validate:
        _validate(_arrays(operands, pointers, layouts), handle)

    if key is not None:
        remember_call(key, plan, _kernel(plan.signature, plan.target))
    try:
        call = plan.calls.pop()
    except IndexError:
        call = plan.make_call(_kernel(plan.signature, plan.target))
    try:
        if plan.new_output is not None:
            pointer, output = plan.empty(plan.new_output, q, other_stream)
            pointers.insert(plan.output_place, pointer)
        if plan.new_lse is not None:
            pointer, lse = plan.empty(plan.new_lse, q, other_stream)
            pointers.append(pointer)
        scalars = {"window": window, "layer_idx": layer_idx, "scale": scale}
        call.run(
            pointers, [scalars[name] for name in plan.scalars], _num_threads, handle
        )
    finally:
        plan.calls.append(call)
    return (output, lse) if return_lse else output


_plans: dict[tuple, Plan] = {}


def _arrays(
    operands: dict[str, Any], pointers: list[int], layouts: list[Layout]
) -> dict[str, Array]:
    return {
        name: Array(name, pointer, layout, obj)
        for (name, obj), pointer, layout in zip(operands.items(), pointers, layouts)
    }


def _read_first(q: Any, stream: Any) -> tuple[int, Layout, int, Any]:
    """What `q` is, and where to launch, which all others are read for; and `stream`
    again if that is not where the framework's own work goes, which an allocation has
    to know."""
    given = None if stream is None else stream_handle(stream)
    read = READERS.get(type(q)) or reader_of(q, "q")
    pointer, layout = read(q, "q", given or 0)
    device = layout.device
    if device.kind == "cpu":
        if stream is not None:
            raise ValueError(f"stream: expected None for arrays on {device}")
        return pointer, layout, 0, None
    current = layout.framework.current_stream(device)
    if given is None or given == current:
        return pointer, layout, current, None
    return pointer, layout, given, stream


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


def _validate(arrays: dict[str, Array], stream: int) -> None:
    cache: dict[str, Any] = {}
    if "kv_blocks" in arrays:
        blocks = arrays["kv_blocks"].shape
        cache = {"pages": blocks[0], "page_size": blocks[3]}
    validate_prefill(
        queries=arrays["q"].shape[0],
        buffer_rows=arrays["k"].shape[0],
        **{
            name: on_host(arrays[name], stream)
            for name in INDEX_OPERANDS
            if name in arrays
        },
        **cache,
    )
