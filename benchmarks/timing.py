# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times bursts of launches with CUDA events, the host kept out of it.

A burst is a number of launches back to back between two events. A kernel that only
waits runs before it, long enough for the host to enqueue the whole burst meanwhile;
whether it was long enough is looked up each time, and the burst repeated if not. So
Python's cost of a call is in no peer's figure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

CLOCK = 2e9  # Hz, about what the waiting kernel counts
CLOCK_CYCLES = 200_000  # waited after a burst, to see how fast the clock ran
MAX_WAIT = 0.05  # seconds


@dataclass(frozen=True)
class Burst:
    us: float  # of one launch
    host_us: float  # the host's part of one launch
    clock_ghz: float  # just after
    host_bound: bool  # the host fell behind, whatever was tried


class Timer:
    """Of one peer and workload: remembers how much head start the host needs."""

    def __init__(self, calls: Sequence[Callable[[], object]], launches: int):
        self._calls = [calls[i % len(calls)] for i in range(launches)]
        self._wait = 50e-6
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]

    def burst(self) -> Burst:
        start, end, after = self._events
        while True:
            torch.cuda._sleep(int(self._wait * CLOCK))
            start.record()
            begin = time.perf_counter()
            for call in self._calls:
                call()
            host = time.perf_counter() - begin
            behind = start.query()
            end.record()
            torch.cuda._sleep(CLOCK_CYCLES)
            after.record()
            after.synchronize()
            if not behind or self._wait >= MAX_WAIT:
                break
            self._wait = min(MAX_WAIT, max(2 * self._wait, 1.5 * host))
        return Burst(
            us=1e3 * start.elapsed_time(end) / len(self._calls),
            host_us=1e6 * host / len(self._calls),
            clock_ghz=CLOCK_CYCLES / end.elapsed_time(after) / 1e6,
            host_bound=behind,
        )


def matmul_tflops(size: int = 8192, repeat: int = 7) -> float:
    """The rate of a large bf16 product, in bursts of a few."""
    a, b = torch.randn(2, size, size, device="cuda").to(torch.bfloat16)
    out = torch.empty_like(a)
    timer = Timer([lambda: torch.mm(a, b, out=out)], 3)
    times = sorted(timer.burst().us for _ in range(repeat + 2))
    return 2 * size**3 / times[len(times) // 2] / 1e6
