# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPU benchmark's figures as text: floors, means, tables. No framework here."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

# What an H200 does in a short burst: a large bf16 matmul, a large copy.
MATMUL_RATE = 770e12  # FLOP/s
COPY_RATE = 4.3e12  # bytes/s, read and written

OURS = "mla"


def floor_us(flops: int, min_bytes: int) -> float:
    """The microseconds that no kernel can be much faster than."""
    return 1e6 * max(flops / MATMUL_RATE, min_bytes / COPY_RATE)


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


def median_us(result: dict[str, Any], peer: str) -> float | None:
    """None: the peer does not run this workload, or was wrong."""
    return result["peers"].get(peer, {}).get("median_us")


def format_table(results: Sequence[dict[str, Any]], peers: Sequence[str]) -> str:
    """Markdown. Peers are columns of microseconds; the ratio of each is how many
    times ours is as fast."""
    head = ["workload", "floor us", "ours us", "TFLOP/s", "efficiency"]
    for peer in peers:
        head += [f"{peer} us", f"{peer} / ours"]
    rows = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for result in results:
        floor, ours = result["floor_us"], median_us(result, OURS)
        cells = [result["workload"], f"{floor:.0f}"]
        if ours is None:
            failed = "failure" in result["peers"].get(OURS, {})
            cells += ["failed" if failed else "-", "-", "-"]
        else:
            rate = result["flops"] / ours / 1e6
            cells += [_us(result, OURS), f"{rate:.0f}", f"{floor / ours:.2f}"]
        for peer in peers:
            theirs = median_us(result, peer)
            cells.append(_us(result, peer))
            cells.append("-" if None in (theirs, ours) else f"{theirs / ours:.2f}")
        rows.append(cells)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def format_means(
    results: Sequence[dict[str, Any]], peers: Sequence[str], groups: Sequence[str]
) -> str:
    """Geometric means over all workloads and over those that match each regular
    expression of `groups`. A peer's are over what it ran, and ours beside it over
    the same workloads."""
    lines = []
    for group in [*groups, ""]:
        chosen = [r for r in results if re.search(group, r["workload"])]
        timed = [r for r in chosen if median_us(r, OURS) is not None]
        name = f"/{group}/" if group else "all"
        text = f"{name}: ours {len(timed)} of {len(chosen)}"
        if timed:
            text += f", efficiency {_efficiency(timed, OURS):.3f}"
        for peer in peers:
            both = [r for r in timed if median_us(r, peer) is not None]
            if not both:
                continue
            ratios = {r["workload"]: _ratio(r, peer) for r in both}
            worst = min(ratios, key=ratios.__getitem__)
            text += (
                f"; {peer} {len(both)}, efficiency {_efficiency(both, peer):.3f}, "
                f"{peer} / ours {geometric_mean(ratios.values()):.3f}, "
                f"smallest {ratios[worst]:.3f} ({worst})"
            )
        lines.append(text)
    return "\n".join(lines)


def format_run(run: dict[str, Any], peers: Sequence[str], groups: Sequence[str]) -> str:
    parts = [format_table(run["results"], peers)]
    parts.append(format_means(run["results"], peers, groups))
    rates = " and ".join(f"{rate:.0f}" for rate in run["matmul_tflops"])
    parts.append(f"matmul 8192^3, before and after: {rates} TFLOP/s")
    for peer in (OURS, *peers):
        hosts = [
            r["peers"][peer]["host_us"]
            for r in run["results"]
            if median_us(r, peer) is not None
        ]
        if hosts:
            parts.append(f"host time of a launch, {peer}: {min(hosts):.1f} us at best")
    return "\n".join(parts)


def _us(result: dict[str, Any], peer: str) -> str:
    """A * where the host could not keep ahead of the device."""
    entry = result["peers"].get(peer, {})
    if "median_us" not in entry:
        return "-"
    time = entry["median_us"]
    digits = 1 if time < 1000 else 0
    return f"{time:.{digits}f}" + "*" * bool(entry.get("host_bound"))


def _ratio(result: dict[str, Any], peer: str) -> float:
    theirs, ours = median_us(result, peer), median_us(result, OURS)
    assert theirs is not None and ours is not None
    return theirs / ours


def _efficiency(results: Sequence[dict[str, Any]], peer: str) -> float:
    return geometric_mean(
        r["floor_us"] / r["peers"][peer]["median_us"] for r in results
    )


def dump(run: dict[str, Any]) -> str:
    """JSON with one line per field, and per workload."""
    fields = []
    for key, value in run.items():
        text = json.dumps(value)
        if key == "results" and value:
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        fields.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"
