"""Calls a function on a ragged batch through mla-run and expects what the oracle
of the Python package, mla/reference.py, makes of it.

usage: prefill.py MLA_RUN FILE --arguments NAMES [options]

FILE is what mla-opt prints, so that arguments are called arg0, arg1 and so on.
NAMES says, in order, which operand each of them is. What a result must not depend
on is poison: NaN in free pages, in gap rows and in the
output before the call, page numbers out of range past each sequence's end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, *[".."] * 4, "python", "mla"))
import reference  # noqa: E402

HEADS, NOPE, ROPE, VALUE, LATENT, PAGE = 2, 16, 8, 16, 32, 16
# New tokens of each sequence, and tokens cached before. More queries than a tile,
# one query at a long context, none at all, keys that end on a tile.
LENGTHS, PREFIXES = (70, 1, 0, 33, 64), (0, 90, 3, 63, 0)
LAYERS, LAYER, GAP = 2, 1, 3


def build(seed: int, cache_offsets: bool) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    n, prefix = np.array(LENGTHS), np.array(PREFIXES)
    context = n + prefix
    # Where keys start late, part of the context is not in the buffer.
    first = np.minimum(context, [0, 37, 0, 64, 5]) if cache_offsets else 0 * n
    rows = context - first
    iro = np.concatenate([[0], np.cumsum(n)])
    bro = np.concatenate([[0], np.cumsum(rows + GAP)])

    used = np.zeros(bro[-1], bool)
    for b in range(len(n)):
        used[bro[b] : bro[b] + rows[b]] = True

    def poisoned(*shape: int) -> np.ndarray:
        array = np.full((len(used), *shape), np.nan)
        array[used] = rng.standard_normal((int(used.sum()), *shape))
        return array

    pages = -(-context // PAGE)
    columns = int(pages.max()) + 1
    blocks = np.full((int(pages.sum()) + 2, 1, LAYERS, PAGE, 1, LATENT + ROPE), np.nan)
    free = rng.permutation(len(blocks))
    table = np.full((len(n), columns), 10**9)
    for b in range(len(n)):
        for column in range(pages[b]):
            page, free = free[0], free[1:]
            table[b, column] = page
            filled = min(PAGE, context[b] - column * PAGE)
            blocks[page, 0, LAYER, :filled, 0] = rng.standard_normal(
                (filled, LATENT + ROPE)
            )
    return {
        "q": 2 * rng.standard_normal((iro[-1], HEADS, NOPE + ROPE)),
        "input_row_offsets": iro,
        "k": poisoned(HEADS, NOPE),
        "v": poisoned(HEADS, VALUE),
        "k_rope": poisoned(ROPE),
        "buffer_row_offsets": bro,
        "cache_offsets": first,
        "kv_blocks": blocks,
        "lookup_table": table,
        "cache_lengths": prefix,
        "prefix": np.array([17, 50, 9, 80, 40]),
    }


def round_to(array: np.ndarray, dtype: str) -> np.ndarray:
    """`array` as mla-run reads it: bf16 as its bits in unsigned 16-bit integers."""
    if dtype == "f32":
        return array.astype(np.float32)
    bits = array.astype(np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(array), np.uint16(0x7FC0), rounded)


def exact(array: np.ndarray) -> np.ndarray:
    """The numbers behind what `round_to` returned, in float64."""
    if array.dtype == np.uint16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def cap_scores(cap: float) -> None:
    """Makes the oracle cap its scores: cap * tanh(score / cap), before the mask."""
    attend = reference._attend

    def capped(u: np.ndarray, v: np.ndarray):
        with np.errstate(invalid="ignore"):
            return attend(np.where(np.isneginf(u), u, cap * np.tanh(u / cap)), v)

    reference._attend = capped


def expect(batch: dict, options: argparse.Namespace, scale: float):
    """(output, lse) of the oracle; the prefix mask is one of ours, by sequence."""
    keywords = {"scale": scale, "local_window_size": options.window, "layer_idx": LAYER}
    keywords["cache_offsets"] = batch["cache_offsets"]
    if "k_rope" in options.arguments:
        keywords["k_rope"] = batch["k_rope"]
        keywords["cache_lengths"] = batch["cache_lengths"]
    else:
        names = ("kv_blocks", "lookup_table", "cache_lengths")
        keywords["cache"] = SimpleNamespace(**{name: batch[name] for name in names})
    offsets = {
        name: batch[name] for name in ("input_row_offsets", "buffer_row_offsets")
    }
    q, k, v = batch["q"], batch["k"], batch["v"]
    if options.mask != "prefix_lm":
        return reference.prefill(q, k, v, mask=options.mask, **offsets, **keywords)
    output = np.full((len(q), HEADS, VALUE), np.nan)
    lse = np.full((len(q), HEADS), np.nan)
    for b, prefix in enumerate(batch["prefix"]):
        whole = reference.prefill(
            q,
            k,
            v,
            mask=lambda qp, kp, p=prefix: (kp <= qp) | (kp < p),
            **offsets,
            **keywords,
        )
        own = slice(*offsets["input_row_offsets"][b : b + 2])
        output[own], lse[own] = whole[0][own], whole[1][own]
    return output, lse


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("mla_run")
    parser.add_argument("file")
    parser.add_argument("--arguments", type=lambda text: text.split(","), required=True)
    parser.add_argument("--mask", default="causal")
    parser.add_argument("--window", type=int, default=-1)
    parser.add_argument("--soft-cap", type=float)
    parser.add_argument("--dtype", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--cache-offsets", action="store_true")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--tolerance", default="1e-5")
    options = parser.parse_args()

    scale = 0.25
    if options.soft_cap:
        cap_scores(options.soft_cap * scale)
    arrays = build(seed=1, cache_offsets=options.cache_offsets)
    for name in ("q", "k", "v", "k_rope", "kv_blocks"):
        dtype = "f32" if name == "kv_blocks" else options.dtype
        arrays[name] = round_to(arrays[name], dtype)
    output, lse = expect(
        {name: exact(a) if a.dtype.kind != "i" else a for name, a in arrays.items()},
        options,
        scale,
    )
    scalars = {"scale": scale, "layer_idx": LAYER, "window": options.window}

    with tempfile.TemporaryDirectory() as folder:
        command = [options.mla_run, options.file, "--target", options.target]
        command += ["--tolerance", options.tolerance]

        def save(array: np.ndarray, name: str) -> str:
            path = os.path.join(folder, name + ".npy")
            np.save(path, np.ascontiguousarray(array))
            return path

        for number, operand in enumerate(options.arguments):
            name = f"arg{number}"
            if operand in scalars:
                command += ["--arg", f"{name}={scalars[operand]}"]
            elif operand in ("output", "lse"):
                expected = output if operand == "output" else lse
                shape = "x".join(map(str, expected.shape))
                command += ["--arg", f"{name}=nan:{shape}"]
                command += ["--expect", f"{name}={save(expected, name)}"]
            else:
                array = arrays[operand]
                if array.dtype == np.int64:
                    array = array.astype(np.int32)
                command += ["--arg", f"{name}={save(array, name)}"]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
