# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a result on a sample of its rows, in float64, wherever its arrays are.

The formula is that of mla.reference, for chosen rows and heads and for arrays that
numpy or torch understands: tested on numpy's, it runs on the device with torch's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Callable, NamedTuple

import numpy as np
from mla import reference

EDGE = 64  # rows at either end of a sequence that are always in the sample
INNER = 128  # rows in between, at random


class Arrays(NamedTuple):
    """The functions of a framework, and how its arrays are converted."""

    xp: Any  # numpy, torch
    float64: Callable[[Any], Any]
    from_numpy: Callable[[np.ndarray], Any]
    to_numpy: Callable[[Any], np.ndarray]


NUMPY = Arrays(np, lambda a: a.astype(np.float64), lambda a: a, lambda a: a)


@dataclass(frozen=True)
class Error:
    """How far a result is from float64; rows are those of one query and head."""

    total: float  # |difference| / |expected| of all sampled rows together
    row: float  # the largest of a row
    lse: float  # the largest difference; 0 if there is none to check

    def small(self, results: int = 1) -> bool:
        """Whether rounding P and the output to bf16 explains it; 2: the difference
        of two results that are both so far from the truth. NaN is never small."""
        bounds = ((self.total, 6e-3), (self.row, 2e-2), (self.lse, 1e-4))
        return all(value <= results * bound for value, bound in bounds)

    def rounded(self) -> dict[str, float]:
        return {key: float(f"{value:.2e}") for key, value in asdict(self).items()}

    def __str__(self) -> str:
        return f"total {self.total:.1e}, row {self.row:.1e}, lse {self.lse:.1e}"


def sample_rows(count: int, rng: np.random.Generator) -> np.ndarray:
    if count <= 2 * EDGE + INNER:
        return np.arange(count)
    inner = EDGE + rng.choice(count - 2 * EDGE, INNER, replace=False)
    edges = np.arange(EDGE)
    return np.concatenate([edges, np.sort(inner), count - EDGE + edges])


def sample_heads(heads: int, sequences: int, rng: np.random.Generator) -> np.ndarray:
    """Few of them where many sequences bring their own."""
    count = min(heads, 4 if sequences < 16 else 2)
    return np.sort(rng.choice(heads, count, replace=False))


def attend(
    arrays: Arrays, q: Any, k: Any, k_rope: Any, v: Any, seen: Any, scale: float
) -> tuple[Any, Any]:
    """(output, lse) of q [heads, rows, Dq], k and v [heads, keys, D], k_rope
    [keys, Dr], all float64, where `seen` [rows, keys]; each row sees a key."""
    xp, nope = arrays.xp, k.shape[-1]
    scores = q[..., :nope] @ k.swapaxes(-1, -2) + q[..., nope:] @ k_rope.swapaxes(0, 1)
    scores = xp.where(seen, scale * scores, -np.inf)
    top = xp.amax(scores, axis=-1, keepdims=True)
    p = xp.exp(scores - top)
    total = xp.sum(p, axis=-1, keepdims=True)
    return (p @ v) / total, (xp.log(total) + top)[..., 0]


def error(batch: Any, arrays: Arrays, output: Any, lse: Any, seed: int = 0) -> Error:
    """Of a batch's output [T, H, Dv] and its lse [T, H], which may be None. `batch`
    is any that has a workload, q, k, v, k_rope and scale; the last query is at the
    last key."""
    w, rng = batch.workload, np.random.default_rng(seed)
    xp, float64 = arrays.xp, arrays.float64
    differences, lengths, lse_differences = [], [], []
    q_begin = k_begin = 0
    for new, keys in w.sequences:
        rows = sample_rows(new, rng)
        picked = arrays.from_numpy(sample_heads(w.heads, len(w.sequences), rng))
        at = arrays.from_numpy(q_begin + rows)
        own = slice(k_begin, k_begin + keys)
        seen = reference.visible(
            w.mask, (keys - new + rows)[:, None], np.arange(keys)[None], w.window
        )

        def heads_first(a: Any, picked: Any = picked) -> Any:
            return float64(a[:, picked].swapaxes(0, 1))

        expected, expected_lse = attend(
            arrays,
            heads_first(batch.q[at]),
            heads_first(batch.k[own]),
            float64(batch.k_rope[own]),
            heads_first(batch.v[own]),
            arrays.from_numpy(seen),
            batch.scale,
        )
        difference = heads_first(output[at]) - expected
        differences.append(_norms(xp, difference))
        lengths.append(_norms(xp, expected))
        if lse is not None:
            gap = xp.abs(heads_first(lse[at]) - expected_lse)
            lse_differences.append(gap.reshape(-1))
        q_begin, k_begin = q_begin + new, k_begin + keys

    def gather(parts: list[Any]) -> np.ndarray:
        return arrays.to_numpy(xp.concatenate(parts)) if parts else np.zeros(1)

    return summarize(gather(differences), gather(lengths), gather(lse_differences))


def summarize(
    differences: np.ndarray, lengths: np.ndarray, lse_differences: np.ndarray
) -> Error:
    """Of the norms of each row's difference and expected value."""
    total = np.sqrt((differences**2).sum() / (lengths**2).sum())
    rows = differences / lengths
    # max() of an array with a NaN is NaN, which no bound accepts.
    return Error(float(total), float(rows.max()), float(lse_differences.max()))


def _norms(xp: Any, rows: Any) -> Any:
    return xp.sqrt(xp.sum(rows * rows, axis=-1)).reshape(-1)
