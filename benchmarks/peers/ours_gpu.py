# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mla.prefill on a GPU: rope from pages, lse written, the kernel bound once."""

from __future__ import annotations

import functools

import torch
from device import DeviceBatch, Launch
from mla import _capi
from mla.module import (
    MASK_HAS_WINDOW,
    PrefillSignature,
    argument_types,
    prefill_module,
)

from .bound import BoundKernel

TARGET = "sm_90a"
_DTYPES = {torch.bfloat16: "bf16", torch.float32: "f32", torch.int32: "i32"}


def versions() -> dict[str, str]:
    return {"mla": _capi.version(), "llvm": _capi.llvm_version()}


def prepare(batch: DeviceBatch) -> Launch:
    w = batch.workload
    output = batch.q.new_empty(batch.q.shape[0], w.heads, w.value)
    lse = output.new_empty(output.shape[:2], dtype=torch.float32)
    tensors = {
        "q": batch.q,
        "input_row_offsets": batch.input_row_offsets,
        "k": batch.k,
        "v": batch.v,
        "buffer_row_offsets": batch.buffer_row_offsets,
        "kv_blocks": batch.kv_blocks,
        "lookup_table": batch.lookup_table,
        "cache_lengths": batch.cache_lengths,
        "output": output,
        "lse": lse,
    }
    arguments = {name: _tensor(tensor) for name, tensor in tensors.items()}
    arguments["layer_idx"] = _capi.Scalar(0, "i32")
    arguments["scale"] = _capi.Scalar(batch.scale, "f32")
    if MASK_HAS_WINDOW[w.mask]:
        arguments["window"] = _capi.Scalar(w.window, "i32")
    signature = w.signature(batch.page_size)
    stream = torch.cuda.current_stream(output.device)
    call = BoundKernel(
        _kernel(signature),
        [arguments[name] for name in argument_types(signature)],
        tensors,
        stream.cuda_stream,
        output.device.index,
    )
    return Launch(call, lambda: (output, lse), (output, lse))


@functools.cache
def _kernel(signature: PrefillSignature) -> _capi.Kernel:
    return _capi.Kernel(prefill_module(signature), TARGET)


def _tensor(tensor: torch.Tensor) -> _capi.Tensor:
    return _capi.Tensor(
        tensor.data_ptr(),
        _DTYPES[tensor.dtype],
        tuple(tensor.shape),
        tuple(tensor.stride()),
    )
