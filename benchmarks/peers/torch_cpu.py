# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's scaled_dot_product_attention on the CPU, once per sequence.

It gets its operands as it likes them best: K already concatenated to 192 columns,
V zero-padded to 192, without which it leaves its flash path, each sequence a
contiguous [1, heads, rows, columns]. None of that is timed. A causal sequence
without a prefix runs with is_causal; all else with an explicit boolean mask.
"""

from __future__ import annotations

import numpy as np
import torch
from mla import reference


def versions() -> dict[str, str]:
    return {
        "torch": torch.__version__,
        "torch_cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }


def prepare(batch, isa: str, threads: int):
    torch.set_num_threads(threads)
    w = batch.workload
    width = w.nope + w.rope
    calls, results = [], []
    for b, (new, keys) in enumerate(w.sequences):
        q_rows = slice(*(int(x) for x in batch.input_row_offsets[b : b + 2]))
        k_rows = slice(*(int(x) for x in batch.buffer_row_offsets[b : b + 2]))
        rope = np.broadcast_to(batch.k_rope[k_rows, None], (keys, w.heads, w.rope))
        k = np.concatenate([batch.k[k_rows], rope], axis=2)
        v = np.zeros((keys, w.heads, width), k.dtype)
        v[..., : w.value] = batch.v[k_rows]
        operands = [_tensor(array) for array in (batch.q[q_rows], k, v)]
        options = {"scale": batch.scale}
        if w.mask == "causal" and new == keys:
            options["is_causal"] = True
        elif w.mask != "null":
            qpos = np.arange(keys - new, keys)[:, None]
            options["attn_mask"] = torch.from_numpy(
                reference.visible(w.mask, qpos, np.arange(keys), w.window)
            )
        calls.append((operands, options))
        results.append(None)

    def call() -> None:
        for i, (operands, options) in enumerate(calls):
            results[i] = torch.nn.functional.scaled_dot_product_attention(
                *operands, **options
            )

    def output() -> np.ndarray:
        parts = [r[0].transpose(0, 1)[..., : w.value] for r in results]
        return torch.cat(parts).float().numpy()

    return call, output


def _tensor(array: np.ndarray) -> torch.Tensor:
    """[rows, heads, columns] as a contiguous [1, heads, rows, columns]."""
    array = np.ascontiguousarray(array.transpose(1, 0, 2))[None]
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
