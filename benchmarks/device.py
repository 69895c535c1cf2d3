# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arrays of a workload on a GPU, as torch tensors, and checks of results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Callable

import exact
import numpy as np
import torch
from workload import Workload, offsets, page_layout


@dataclass
class DeviceBatch:
    """Random normal numbers in bf16, shuffled pages. What no kernel may read, the
    latent columns and the rest of each last page, is NaN."""

    workload: Workload
    page_size: int
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    k_rope: torch.Tensor  # what the pages hold, in order; peers may use it as it is
    input_row_offsets: torch.Tensor
    buffer_row_offsets: torch.Tensor
    kv_blocks: torch.Tensor
    lookup_table: torch.Tensor
    cache_lengths: torch.Tensor

    @property
    def scale(self) -> float:
        return self.q.shape[2] ** -0.5

    @cached_property
    def concatenated_k(self) -> torch.Tensor:
        """[N, H, Dn + Dr], for peers that want the rope part in every head."""
        rope = self.k_rope[:, None].expand(-1, self.workload.heads, -1)
        return torch.cat([self.k, rope], dim=2)


def make_batch(
    w: Workload, page_size: int, seed: int = 0, device: str = "cuda"
) -> DeviceBatch:
    rng = np.random.default_rng(seed)
    generator = torch.Generator(device).manual_seed(seed)
    new = np.array([n for n, _ in w.sequences])
    keys = np.array([c for _, c in w.sequences])
    iro, bro = offsets(new), offsets(keys)
    tokens, rows = int(iro[-1]), int(bro[-1])

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(
            shape, generator=generator, dtype=torch.bfloat16, device=device
        )

    def indices(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(device)

    k_rope = normal(rows, w.rope)
    table, page_rows = page_layout(keys, page_size, rng)
    pages = int((-(-keys // page_size)).sum())
    blocks = torch.full(
        (pages, 1, 1, page_size, 1, w.cache_row),
        math.nan,
        dtype=torch.bfloat16,
        device=device,
    )
    blocks.view(-1, w.cache_row)[indices(page_rows), -w.rope :] = k_rope
    return DeviceBatch(
        workload=w,
        page_size=page_size,
        q=normal(tokens, w.heads, w.nope + w.rope),
        k=normal(rows, w.heads, w.nope),
        v=normal(rows, w.heads, w.value),
        k_rope=k_rope,
        input_row_offsets=indices(iro),
        buffer_row_offsets=indices(bro),
        kv_blocks=blocks,
        lookup_table=indices(table),
        cache_lengths=indices((keys - new).astype(np.int32)),
    )


@dataclass
class Launch:
    """One peer's way to compute one batch."""

    call: Callable[[], object]  # enqueues on torch's current stream
    # The output [T, H, Dv] and the natural-log lse [T, H] of the last call, if any.
    result: Callable[[], tuple[torch.Tensor, torch.Tensor | None]]
    written: tuple[torch.Tensor, ...] = ()  # what the call writes in place

    def run(self) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Its result, with nothing in it that an earlier call left."""
        for tensor in self.written:
            tensor.fill_(math.nan)
        self.call()
        return self.result()


def error(
    batch: DeviceBatch, output: torch.Tensor, lse: torch.Tensor | None
) -> exact.Error:
    device = output.device
    arrays = exact.Arrays(
        torch,
        lambda tensor: tensor.double(),
        lambda array: torch.from_numpy(array).to(device),
        lambda tensor: tensor.cpu().numpy(),
    )
    return exact.error(batch, arrays, output, lse)


def difference(
    output: torch.Tensor,
    lse: torch.Tensor | None,
    other: torch.Tensor,
    other_lse: torch.Tensor | None,
    rows: int = 4096,
) -> exact.Error:
    """Of all rows, between two results that each have bf16's error."""
    norms, lengths, gaps = [], [], [torch.zeros(1)]
    for begin in range(0, output.shape[0], rows):
        part = slice(begin, begin + rows)
        expected = other[part].float()
        norms.append((output[part].float() - expected).norm(dim=-1).reshape(-1))
        lengths.append(expected.norm(dim=-1).reshape(-1))
    if lse is not None and other_lse is not None:
        gaps = [(lse - other_lse).abs().max()[None]]
    return exact.summarize(
        *(torch.cat(parts).double().cpu().numpy() for parts in (norms, lengths, gaps))
    )


def same_bits(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    if a is None or b is None:
        return a is b
    integer = {2: torch.int16, 4: torch.int32}[a.element_size()]
    return torch.equal(a.view(integer), b.view(integer))
