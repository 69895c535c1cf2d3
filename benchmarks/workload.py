# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workloads as data, and the arrays of one."""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from ml_dtypes import bfloat16
from mla import PagedCache, reference
from mla.module import CacheSignature, PrefillSignature

FOLDER = pathlib.Path(__file__).resolve().parent / "workloads"
DTYPES = {"f32": np.dtype(np.float32), "bf16": np.dtype(bfloat16)}
PAGE_SIZE = 64


@dataclass(frozen=True)
class Workload:
    name: str
    heads: int
    mask: str
    window: int
    sequences: tuple[tuple[int, int], ...]  # (new query tokens, keys in context)
    flops: int
    min_bytes: int
    nope: int
    rope: int
    value: int
    cache_row: int
    rope_source: str  # "paged" or "ragged"

    def count_flops(self) -> int:
        """Two operations a column for each (query, key) pair that the mask keeps."""
        pairs = 0
        for new, keys in self.sequences:
            qpos = np.arange(keys - new, keys)[:, None]
            for begin in range(0, new, 1024):
                part = reference.visible(
                    self.mask, qpos[begin : begin + 1024], np.arange(keys), self.window
                )
                pairs += int(part.sum())
        return 2 * (self.nope + self.rope + self.value) * self.heads * pairs

    def signature(self, page_size: int) -> PrefillSignature:
        """Of the GPU's kernels: bf16, rope from pages, lse too."""
        return PrefillSignature(
            heads=self.heads,
            nope=self.nope,
            rope=self.rope,
            value=self.value,
            dtype="bf16",
            output_dtype="bf16",
            rope_source=CacheSignature("bf16", self.cache_row, page_size),
            mask=self.mask,
            cache_lengths="i32",
            lse=True,
        )


def load(name: str) -> tuple[list[Workload], list[str]]:
    """The workloads of workloads/NAME.json, and their element types."""
    data = json.loads((FOLDER / f"{name}.json").read_text())
    workloads = []
    for entry in data["workloads"]:
        entry["sequences"] = tuple(map(tuple, entry["sequences"]))
        entry["rope_source"] = entry.pop("rope", "paged")
        workloads.append(Workload(**entry, **data["head_dims"]))
    return workloads, data["dtypes"]


@dataclass
class Batch:
    """The arrays of a workload: random normal numbers, shuffled pages."""

    workload: Workload
    dtype: str
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    k_rope: np.ndarray  # what the pages hold, in order; peers may use it as it is
    input_row_offsets: np.ndarray
    buffer_row_offsets: np.ndarray
    cache: PagedCache

    @property
    def scale(self) -> float:
        return self.q.shape[2] ** -0.5

    def options(self) -> dict[str, Any]:
        """The keyword arguments of mla.prefill and of its reference."""
        w = self.workload
        options = {
            "input_row_offsets": self.input_row_offsets,
            "buffer_row_offsets": self.buffer_row_offsets,
            "scale": self.scale,
            "mask": w.mask,
            "local_window_size": w.window,
        }
        if w.rope_source == "paged":
            options["cache"] = self.cache
        else:
            options["k_rope"] = self.k_rope
            options["cache_lengths"] = self.cache.cache_lengths
        return options

    def error(self, output: np.ndarray, rows: int = 256) -> float:
        """The largest error against float64, on one head and on the last `rows`
        queries of each sequence."""
        worst = 0.0
        options = self.options() | {"layer_idx": 0}
        head = self.workload.heads // 2
        for b, (new, keys) in enumerate(self.workload.sequences):
            n = min(new, rows)
            end = int(self.input_row_offsets[b + 1])
            k_rows = slice(*(int(x) for x in self.buffer_row_offsets[b : b + 2]))
            options.pop("cache", None)
            options |= {
                "k_rope": self.k_rope[k_rows],
                "cache_lengths": np.array([keys - n], np.int32),
                "input_row_offsets": np.array([0, n], np.int32),
                "buffer_row_offsets": np.array([0, keys], np.int32),
            }
            expected, _ = reference.prefill(
                self.q[end - n : end, head : head + 1],
                self.k[k_rows, head : head + 1],
                self.v[k_rows, head : head + 1],
                **options,
            )
            got = output[end - n : end, head : head + 1].astype(np.float64)
            worst = max(worst, float(np.abs(got - expected).max()))
        return worst


def make_batch(workload: Workload, dtype: str) -> Batch:
    w = workload
    rng = np.random.default_rng(0)
    new = np.array([n for n, _ in w.sequences])
    keys = np.array([c for _, c in w.sequences])
    iro, bro = offsets(new), offsets(keys)
    k_rope = _normal(rng, dtype, bro[-1], w.rope)

    table, rows = page_layout(keys, PAGE_SIZE, rng)
    pages = int((-(-keys // PAGE_SIZE)).sum())
    blocks = np.zeros((pages, 1, 1, PAGE_SIZE, 1, w.cache_row), DTYPES[dtype])
    blocks.reshape(-1, w.cache_row)[rows, -w.rope :] = k_rope

    return Batch(
        workload=w,
        dtype=dtype,
        q=_normal(rng, dtype, iro[-1], w.heads, w.nope + w.rope),
        k=_normal(rng, dtype, bro[-1], w.heads, w.nope),
        v=_normal(rng, dtype, bro[-1], w.heads, w.value),
        k_rope=k_rope,
        input_row_offsets=iro,
        buffer_row_offsets=bro,
        cache=PagedCache(blocks, table, (keys - new).astype(np.int32)),
    )


def page_layout(
    keys: np.ndarray, page_size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Shuffled pages, as many as needed: the lookup table, and for each key of each
    sequence its row among all rows of all pages."""
    columns = -(-keys // page_size)
    table = np.zeros((len(keys), columns.max()), np.int32)
    pages = np.split(rng.permutation(columns.sum()), np.cumsum(columns)[:-1])
    rows = []
    for b, count in enumerate(keys):
        table[b, : columns[b]] = pages[b]
        position = np.arange(count)
        page = pages[b][position // page_size].astype(np.int64)
        rows.append(page * page_size + position % page_size)
    return table, np.concatenate(rows)


def offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _normal(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32).astype(DTYPES[dtype])
