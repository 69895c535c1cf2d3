# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuDNN's attention through PyTorch's scaled_dot_product_attention.

For batches of equal sequences without prefixes, and no window. K is already
concatenated to 192 columns. It allocates its output and writes no lse.
"""

from __future__ import annotations

import torch
from device import DeviceBatch, Launch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


def versions() -> dict[str, str]:
    return {
        "torch": torch.__version__,
        "cudnn": str(torch.backends.cudnn.version()),
        "cuda": str(torch.version.cuda),
    }


def prepare(batch: DeviceBatch) -> Launch | None:
    w = batch.workload
    (new, keys), *others = w.sequences
    equal = all(other == (new, keys) for other in others)
    if not equal or new != keys or w.mask not in ("null", "causal"):
        return None

    def heads_first(tensor: torch.Tensor) -> torch.Tensor:
        """[T, H, D] as a [B, H, T / B, D] view."""
        return tensor.unflatten(0, (len(w.sequences), new)).transpose(1, 2)

    operands = [heads_first(t) for t in (batch.q, batch.concatenated_k, batch.v)]
    outputs: list[torch.Tensor] = []

    def call() -> None:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            output = scaled_dot_product_attention(
                *operands, is_causal=w.mask == "causal", scale=batch.scale
            )
        outputs[:] = [output]

    return Launch(call, lambda: (outputs[0].transpose(1, 2).flatten(0, 1), None))
