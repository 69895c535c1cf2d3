# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes operands, and what to expect with and without a soft cap, by numpy.

usage: make_data.py FOLDER
"""

import pathlib
import sys

import numpy as np

TOKENS, HEADS, NOPE, ROPE, VALUE = 300, 4, 128, 64, 128
SCALE = (NOPE + ROPE) ** -0.5

rng = np.random.default_rng(0)
# Large queries, so that scores reach the cap.
q = 15 * rng.standard_normal((TOKENS, HEADS, NOPE + ROPE), np.float32)
k = rng.standard_normal((TOKENS, HEADS, NOPE), np.float32)
v = rng.standard_normal((TOKENS, HEADS, VALUE), np.float32)
k_rope = rng.standard_normal((TOKENS, ROPE), np.float32)


def attention(cap):
    keys = np.concatenate(
        [k, np.broadcast_to(k_rope[:, None], (TOKENS, HEADS, ROPE))], 2
    )
    u = cap(SCALE * np.einsum("qhd,khd->hqk", q, keys, dtype=np.float64))
    u = np.where(np.tril(np.ones((TOKENS, TOKENS), bool)), u, -np.inf)
    p = np.exp(u - u.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    return np.einsum("hqk,khd->qhd", p, v.astype(np.float64)).astype(np.float32)


data = {
    "q": q,
    "offsets": np.array([0, TOKENS], np.int32),
    "k": k,
    "v": v,
    "k_rope": k_rope,
    "scale": np.float32(SCALE),
    "expected": attention(lambda u: u),
    "expected_capped": attention(lambda u: 30 * np.tanh(u / 30)),
}
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, array in data.items():
    np.save(folder / f"{name}.npy", array)
