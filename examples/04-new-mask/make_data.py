# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the operands of prefix_lm.mlir, and what to expect: make_data.py FOLDER"""

import pathlib
import sys

import numpy as np
from mla import reference

HEADS, NOPE, ROPE, VALUE = 4, 128, 64, 128

folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(0)
prefix = np.array([100, 0, 7], np.int32)
offsets = np.array([0, 300, 340, 400], np.int32)
data = {
    "prefix": prefix,
    "q": rng.standard_normal((400, HEADS, NOPE + ROPE), np.float32),
    "offsets": offsets,
    "k": rng.standard_normal((400, HEADS, NOPE), np.float32),
    "v": rng.standard_normal((400, HEADS, VALUE), np.float32),
    "k_rope": rng.standard_normal((400, ROPE), np.float32),
    "scale": np.float32((NOPE + ROPE) ** -0.5),
}

# The oracle takes any predicate of positions; here each sequence has its own.
parts = []
for b, length in enumerate(prefix):
    rows = slice(offsets[b], offsets[b + 1])
    one = np.array([0, rows.stop - rows.start])
    output, _ = reference.prefill(
        data["q"][rows],
        data["k"][rows],
        data["v"][rows],
        k_rope=data["k_rope"][rows],
        buffer_row_offsets=one,
        input_row_offsets=one,
        mask=lambda qpos, kpos, p=length: (kpos <= qpos) | (kpos < p),
    )
    parts.append(output)
data["expected"] = np.concatenate(parts).astype(np.float32)

folder.mkdir(parents=True, exist_ok=True)
for name, array in data.items():
    np.save(folder / f"{name}.npy", array)
