# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of PyTorch's tensors, the same in float64, and what tests of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import mla
import torch

# Half the distance from 1 to the next number: the relative error of a rounding.
ROUNDING = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}
PAGE = 64


class Skip(Exception):
    """A test that this machine cannot run."""


class Batch:
    """Operands of a prefill, and the same in float64."""

    def __init__(
        self,
        lengths: list[int],
        cached: list[int],
        *,
        device: str,
        dtype: torch.dtype = torch.bfloat16,
        heads: int = 4,
        paged: bool = True,
        mask: str = "causal",
        window: int = -1,
        room: int = 0,  # rows past the last offset, for batches to grow into
        spare_pages: int = 3,
        seed: int = 0,
    ):
        self.device, self.dtype = device, dtype
        self.mask, self.window = mask, window
        self.paged = paged
        self.random = torch.Generator(device).manual_seed(seed)
        tokens, rows = sum(lengths) + room, sum(lengths) + sum(cached) + room
        self.q = self.normal(tokens, heads, 192)
        self.k = self.normal(rows, heads, 128)
        self.v = self.normal(rows, heads, 128)
        self.input_row_offsets = self.index(len(lengths) + 1)
        self.buffer_row_offsets = self.index(len(lengths) + 1)
        self.cache_lengths = self.index(len(lengths))
        if paged:
            longest = max(n + c for n, c in zip(lengths, cached))
            columns = -(-(longest + room) // PAGE) + 1
            pages = columns * len(lengths) + spare_pages
            self.kv_blocks = self.normal(pages, 1, 2, PAGE, 1, 576)
            order = torch.randperm(pages, generator=self.random, device=device)
            self.lookup_table = (
                order[: len(lengths) * columns].int().view(-1, columns).contiguous()
            )
            self.cache = mla.PagedCache(
                self.kv_blocks, self.lookup_table, self.cache_lengths
            )
        else:
            self.k_rope = self.normal(rows, 64)
        self.resize(lengths, cached)

    def normal(self, *shape: int) -> torch.Tensor:
        values = torch.randn(
            shape, generator=self.random, device=self.device, dtype=torch.float32
        )
        return values.to(self.dtype)

    def index(self, count: int) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.int32, device=self.device)

    def resize(self, lengths: list[int], cached: list[int]) -> None:
        """Other sequences in the same tensors."""
        self.lengths, self.cached = lengths, cached
        ends = torch.tensor(lengths).cumsum(0)
        rows = (torch.tensor(lengths) + torch.tensor(cached)).cumsum(0)
        self.input_row_offsets[1:] = ends.int().to(self.device)
        self.buffer_row_offsets[1:] = rows.int().to(self.device)
        self.cache_lengths[:] = torch.tensor(cached, dtype=torch.int32)

    @property
    def tokens(self) -> int:
        return sum(self.lengths)

    def arguments(self, **changes: Any) -> dict[str, Any]:
        arguments = {
            "q": self.q,
            "k": self.k,
            "v": self.v,
            "input_row_offsets": self.input_row_offsets,
            "buffer_row_offsets": self.buffer_row_offsets,
            "mask": self.mask,
            "local_window_size": self.window,
        }
        if self.paged:
            arguments |= {"cache": self.cache, "layer_idx": 1}
        else:
            arguments |= {"k_rope": self.k_rope, "cache_lengths": self.cache_lengths}
        return arguments | changes

    def run(self, **changes: Any) -> Any:
        return mla.prefill(**self.arguments(**changes))

    def rope(self, sequence: int, begin: int, rows: int) -> torch.Tensor:
        if not self.paged:
            return self.k_rope[begin : begin + rows]
        positions = torch.arange(rows, device=self.device)
        pages = self.lookup_table[sequence][positions // PAGE].long()
        return self.kv_blocks[pages, 0, 1, positions % PAGE, 0, 512:]

    def expected(self, b: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Sequence b's output, lse, and what errors of each row are measured by, in
        float64."""
        n, cached = self.lengths[b], self.cached[b]
        token, row = sum(self.lengths[:b]), sum(self.lengths[:b]) + sum(self.cached[:b])
        rows = n + cached
        q = self.q[token : token + n].double()
        k = self.k[row : row + rows].double()
        v = self.v[row : row + rows].double()
        rope = self.rope(b, row, rows).double()
        s = torch.einsum("nhd,rhd->hnr", q[..., :128], k)
        s += torch.einsum("nhd,rd->hnr", q[..., 128:], rope)
        s *= 192**-0.5
        query = cached + torch.arange(n, device=self.device)[:, None]
        key = torch.arange(rows, device=self.device)[None, :]
        seen = torch.ones(n, rows, dtype=torch.bool, device=self.device)
        if self.mask != "null":
            seen &= key <= query
        if self.mask == "sliding_window_causal":
            seen &= query - key < self.window
        s.masked_fill_(~seen, -torch.inf)
        p = torch.softmax(s, dim=2)
        output = torch.einsum("hnr,rhd->nhd", p, v)
        scale = torch.einsum("hnr,rhd->nhd", p, v.abs()).amax(2)
        return output, torch.logsumexp(s, dim=2).T, scale

    def check(
        self,
        output: torch.Tensor,
        lse: torch.Tensor | None = None,
        sequences: Sequence[int] | None = None,
    ) -> None:
        """Compares with float64, all sequences or some."""
        rounding = ROUNDING[output.dtype] + ROUNDING[self.dtype]
        for b in range(len(self.lengths)) if sequences is None else sequences:
            begin = sum(self.lengths[:b])
            rows = slice(begin, begin + self.lengths[b])
            expected, expected_lse, scale = self.expected(b)
            bound = (2e-5 + 1.25 * rounding) * scale[..., None]
            _report(f"output of sequence {b}", output[rows], expected, bound)
            if lse is not None:
                bound = 2e-5 + 1e-6 * expected_lse.abs()
                _report(f"lse of sequence {b}", lse[rows], expected_lse, bound)


def _report(
    what: str, got: torch.Tensor, expected: torch.Tensor, bound: torch.Tensor
) -> None:
    # Written so that NaN fails.
    bad = int((~((got.double() - expected).abs() <= bound)).sum())
    assert bad == 0, f"{bad} of {expected.numel()} elements of {what} are wrong"


def small(device: str, **options: Any) -> Batch:
    return Batch([70, 1, 0, 130], [10, 200, 5, 0], device=device, **options)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def refuses(error: type, start: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except error as caught:
        assert str(caught).startswith(start), f"expected {start!r}, got {caught}"
    else:
        raise AssertionError(f"expected an error: {start}")


def need_cuda(device: str) -> None:
    if not device.startswith("cuda"):
        raise Skip("needs a CUDA device")
