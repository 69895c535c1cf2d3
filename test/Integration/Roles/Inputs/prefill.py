"""Runs mla.prefill with roles, in an interpreter, on a ragged batch, and compares
with the oracle of the Python package, mla/reference.py.

usage: prefill.py FILE --arguments NAMES [options]

FILE is in generic form, after mla-lower's stage `specialized` or `pipelined` and
lower-affine. NAMES says which operand each argument is. What a result must not
depend on is poison: NaN in free pages, in rows between sequences, in the output
before the call and in shared memory that no copy wrote; page numbers out of range
past a sequence's end.
"""

from __future__ import annotations

import argparse
import os
import sys
from types import SimpleNamespace

import numpy as np
from generic import parse
from kernel import run_function
from scalars import round_to

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, *[".."] * 4, "python", "mla"))
import reference  # noqa: E402

HEADS, NOPE, ROPE, VALUE, LATENT, LAYERS, LAYER, GAP = 3, 64, 64, 64, 64, 2, 1, 3
# New tokens of each sequence, and tokens cached before. Several tiles, one query at a
# long context, none at all, rows that end on a tile.
BATCHES = {
    "ragged": ((150, 1, 0, 33, 64, 129), (0, 200, 3, 63, 0, 130)),
    "one": ((64,), (0,)),
    "empty": ((0, 0), (5, 0)),
    "none": ((), ()),
}


def build(options: argparse.Namespace) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(options.seed)
    lengths, prefixes = BATCHES[options.batch]
    n, prefix = np.array(lengths, int), np.array(prefixes, int)
    context = n + prefix
    first = context * 0
    if options.cache_offsets:
        first = np.minimum(context, rng.integers(0, 90, len(n)))
    rows = context - first
    iro = np.concatenate([[0], np.cumsum(n)]).astype(int)
    # Without lengths all rows are keys (MLA-R4).
    gap = GAP if "cache_lengths" in options.arguments else 0
    bro = np.concatenate([[0], np.cumsum(rows + gap)]).astype(int)
    used = np.zeros(bro[-1], bool)
    for b in range(len(n)):
        used[bro[b] : bro[b] + rows[b]] = True

    def poisoned(*shape: int) -> np.ndarray:
        array = np.full((len(used), *shape), np.nan, np.float32)
        array[used] = rng.standard_normal((int(used.sum()), *shape))
        return round_to(array, "bf16")

    size = options.page_size
    pages = -(-context // size)
    width = LATENT + ROPE
    blocks = np.full((int(pages.sum()) + 2, 1, LAYERS, size, 1, width), np.nan)
    free = list(rng.permutation(len(blocks)))
    table = np.full((len(n), int(pages.max(initial=0)) + 1), 10**9)
    for b in range(len(n)):
        for column in range(pages[b]):
            page = free.pop()
            table[b, column] = page
            filled = min(size, context[b] - column * size)
            blocks[page, 0, LAYER, :filled, 0] = rng.standard_normal((filled, width))
    q = 2 * rng.standard_normal((iro[-1], HEADS, NOPE + ROPE))
    return {
        "q": round_to(q, "bf16"),
        "input_row_offsets": iro,
        "k": poisoned(HEADS, NOPE),
        "v": poisoned(HEADS, VALUE),
        "k_rope": poisoned(ROPE),
        "buffer_row_offsets": bro,
        "cache_offsets": first,
        "kv_blocks": round_to(blocks, "bf16"),
        "lookup_table": table,
        "cache_lengths": prefix,
    }


def expect(batch: dict, options: argparse.Namespace, scale: float):
    keywords = {"scale": scale, "local_window_size": options.window, "layer_idx": LAYER}
    keywords["cache_offsets"] = batch["cache_offsets"]
    if "kv_blocks" in options.arguments:
        names = ("kv_blocks", "lookup_table", "cache_lengths")
        cache = {name: batch[name] for name in names}
        cache["kv_blocks"] = cache["kv_blocks"].astype(float)
        keywords["cache"] = SimpleNamespace(**cache)
    else:
        keywords["k_rope"] = batch["k_rope"].astype(float)
        if "cache_lengths" in options.arguments:
            keywords["cache_lengths"] = batch["cache_lengths"]
    offsets = {
        name: batch[name] for name in ("input_row_offsets", "buffer_row_offsets")
    }
    q, k, v = (batch[name].astype(float) for name in ("q", "k", "v"))
    return reference.prefill(q, k, v, mask=options.mask, **offsets, **keywords)


def compare(
    name: str, actual: np.ndarray, expected: np.ndarray, tolerance: float
) -> bool:
    expected = np.asarray(expected)
    same = np.isclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    if same.all():
        return True
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    count = int((~same).sum())
    print(f"{name}: {count} of {same.size} differ, first {list(at)}:", end=" ")
    print(f"expected {expected[at]}, got {actual[at]}")
    return False


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--arguments", type=lambda text: text.split(","), required=True)
    parser.add_argument("--mask", default="causal")
    parser.add_argument("--window", type=int, default=-1)
    parser.add_argument("--batch", default="ragged", choices=BATCHES)
    parser.add_argument("--cache-offsets", action="store_true")
    parser.add_argument("--page-size", type=int, default=32)
    parser.add_argument("--resident", default="1,3")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    with open(options.file) as file:
        ops = parse(file.read())
    scale = np.float32(0.125)
    batch = build(options)
    output, lse = expect(batch, options, float(scale))
    batch["scale"], batch["layer_idx"] = scale, np.int32(LAYER)
    batch["window"] = np.int32(options.window)
    good = True
    for resident in map(int, options.resident.split(",")):
        batch["output"] = np.full((*batch["q"].shape[:2], VALUE), np.nan, np.float32)
        batch["lse"] = np.full(batch["q"].shape[:2], np.nan, np.float32)
        arguments = [batch[name] for name in options.arguments]
        items = run_function(ops, arguments, resident, options.seed)
        good &= compare("output", batch["output"], output, 2e-2)
        if "lse" in options.arguments:
            good &= compare("lse", batch["lse"], lse, 1e-4)
        print(f"{resident} blocks for up to {items} items")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
