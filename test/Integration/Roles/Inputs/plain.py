"""Runs the attention of Conversion/TileToWarpgroup/two-matmuls.mlir with roles, in an
interpreter, and compares with the same in float64.

usage: plain.py FILE [--cap] [--tiles N] [--keys N]
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from generic import parse
from kernel import run_function
from prefill import compare
from scalars import round_to

HEADS, WIDTH, TILE = 8, 64, 64


def expect(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, cap: bool):
    q, k, v = (x.astype(float) for x in (q, k, v))
    scores = scale * np.einsum("ihd,jhd->hij", q, k)
    if cap:
        scores = (np.exp2(scores) - 1) / (np.exp2(scores) + 1)
    weights = np.exp2(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", weights, v)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--cap", action="store_true")
    parser.add_argument("--tiles", type=int, default=3)
    parser.add_argument("--keys", type=int, default=512)
    options = parser.parse_args()
    with open(options.file) as file:
        ops = parse(file.read())
    rng = np.random.default_rng(1)
    rows = TILE * options.tiles
    q, k, v = (
        round_to(rng.standard_normal((count, HEADS, WIDTH)), "bf16")
        for count in (rows, options.keys, options.keys)
    )
    scale = np.float32(0.2)
    out = np.full(q.shape, np.nan, np.float32)
    sizes = [np.int64(options.tiles), np.int64(options.keys)]
    run_function(ops, [q, k, v, *sizes, scale, out], resident=3, seed=1)
    expected = expect(q, k, v, float(scale), options.cap)
    return 0 if compare("output", out, expected, 2e-2) else 1


if __name__ == "__main__":
    sys.exit(main())
