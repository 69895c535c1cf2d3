# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlashInfer's ragged prefill on its FlashAttention-3 kernels, one call a batch.

It gets K already concatenated to 192 columns, and its host plan is made beforehand:
neither is timed.
"""

from __future__ import annotations

import functools
import math

import flashinfer
import torch
from device import DeviceBatch, Launch

_MASKS = ("null", "causal", "sliding_window_causal")


def versions() -> dict[str, str]:
    return {"flashinfer": flashinfer.__version__}


def prepare(batch: DeviceBatch) -> Launch | None:
    w = batch.workload
    if w.mask not in _MASKS:
        return None
    output = batch.q.new_empty(batch.q.shape[0], w.heads, w.value)
    lse = output.new_empty(output.shape[:2], dtype=torch.float32)
    wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(
        _workspace(output.device), "NHD", backend="fa3"
    )
    wrapper.plan(
        batch.input_row_offsets,
        batch.buffer_row_offsets,
        w.heads,
        w.heads,
        w.nope + w.rope,
        head_dim_vo=w.value,
        causal=w.mask != "null",
        # A window of W tokens holds W - 1 besides the query's own.
        window_left=w.window - 1 if w.mask == "sliding_window_causal" else -1,
        sm_scale=batch.scale,
        q_data_type=batch.q.dtype,
        kv_data_type=batch.k.dtype,
    )
    k = batch.concatenated_k

    def call() -> None:
        wrapper.run(batch.q, k, batch.v, return_lse=True, out=output, lse=lse)

    # Its lse counts in powers of two.
    return Launch(call, lambda: (output, lse * math.log(2)), (output, lse))


@functools.cache
def _workspace(device: torch.device) -> torch.Tensor:
    return torch.empty(384 << 20, dtype=torch.uint8, device=device)
