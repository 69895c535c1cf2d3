# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the operands of prefill.mlir, and what to expect, as .npy files.

usage: make_data.py FOLDER

Four sequences at different points of their life: a new prompt, two that continue
after a cached prefix, and one that adds a single token. The pages are shuffled
through the cache, and whatever a result must not depend on is NaN or a page
number out of range. What to expect comes from the float64 oracle, for every row.
"""

import pathlib
import sys

import numpy as np
from ml_dtypes import bfloat16
from mla import PagedCache, reference

HEADS, NOPE, ROPE, VALUE, LATENT = 128, 128, 64, 128, 512
PAGE_SIZE, LAYERS, LAYER = 64, 2, 1

NEW_TOKENS = np.array([384, 150, 77, 1])
CACHED = np.array([0, 234, 123, 511])

SCALE = (NOPE + ROPE) ** -0.5


def main(folder: pathlib.Path) -> None:
    rng = np.random.default_rng(0)
    context = CACHED + NEW_TOKENS
    input_row_offsets = offsets(NEW_TOKENS)
    buffer_row_offsets = offsets(context)
    q = normal(rng, input_row_offsets[-1], HEADS, NOPE + ROPE)
    k = normal(rng, buffer_row_offsets[-1], HEADS, NOPE)
    v = normal(rng, buffer_row_offsets[-1], HEADS, VALUE)
    cache = make_cache(rng, context)

    files = {
        "q": q,
        "input_row_offsets": input_row_offsets,
        "k": k,
        "v": v,
        "buffer_row_offsets": buffer_row_offsets,
        "kv_blocks": cache.kv_blocks,
        "lookup_table": cache.lookup_table,
        "cache_lengths": cache.cache_lengths,
    }
    files["expected_output"], files["expected_lse"] = reference.prefill(
        q,
        k,
        v,
        buffer_row_offsets=buffer_row_offsets,
        input_row_offsets=input_row_offsets,
        cache=cache,
        layer_idx=LAYER,
        scale=SCALE,
        mask="causal",
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in files.items():
        if array.dtype == bfloat16:  # .npy has no name for it: its bits
            array = array.view(np.uint16)
        np.save(folder / f"{name}.npy", array)

    # Each visible (query, key) pair costs a dot product over 192 columns and a
    # sum over 128, two operations a column.
    pairs = int(sum(n * c + n * (n + 1) // 2 for n, c in zip(NEW_TOKENS, CACHED)))
    flops = 2 * (NOPE + ROPE + VALUE) * HEADS * pairs
    (folder / "facts.sh").write_text(
        f"layer={LAYER}\nscale={SCALE}\nflops={flops}\n"
        f"batch='{len(context)} sequences, {q.shape[0]} new tokens, "
        f"{k.shape[0]} keys, {HEADS} heads'\n"
    )


def offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32).astype(bfloat16)


def make_cache(rng: np.random.Generator, context: np.ndarray) -> PagedCache:
    used = -(-context // PAGE_SIZE)
    pages = int(used.sum()) + 6
    blocks = np.full(
        (pages, 1, LAYERS, PAGE_SIZE, 1, LATENT + ROPE), np.nan, np.float32
    )
    table = np.full((len(context), used.max() + 1), 2**31 - 1, np.int32)
    free = list(rng.permutation(pages))
    for b, length in enumerate(context):
        for column in range(used[b]):
            page = free.pop()
            rows = min(PAGE_SIZE, length - column * PAGE_SIZE)
            table[b, column] = page
            blocks[page, 0, LAYER, :rows, 0, LATENT:] = rng.standard_normal(
                (rows, ROPE), np.float32
            )
    return PagedCache(blocks.astype(bfloat16), table, CACHED.astype(np.int32))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
