# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a result of run.py: plot.py RESULT.json [IMAGE], beside it unless named."""

from __future__ import annotations

import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"mla": "#1b6ca8", "torch": "#d98032"}


def main(source: str, target: str | None = None) -> None:
    path = pathlib.Path(source)
    result = json.loads(path.read_text())
    runs = result["runs"]
    dtypes = list(dict.fromkeys(r["dtype"] for r in runs[0]["results"]))
    figure, axes = plt.subplots(
        len(runs), len(dtypes), figsize=(11, 3.2 * len(runs)), squeeze=False
    )
    for row, run in zip(axes, runs):
        for axis, dtype in zip(row, dtypes):
            rows = [r for r in run["results"] if r["dtype"] == dtype]
            draw(axis, rows)
            axis.set_title(f"{dtype}, {run['isa']}", fontsize=10)
        row[0].set_ylabel("GFLOP/s")
    axes[0][0].legend(fontsize=8)
    machine = result["machine"]
    figure.suptitle(
        f"{machine['cpu']}, {result['threads']} threads, {result['date'][:10]}, "
        f"revision {result['revision']}",
        fontsize=10,
    )
    figure.tight_layout()
    figure.savefig(target or path.with_suffix(".svg"), metadata={"Date": None})


def draw(axis, rows) -> None:
    peers = list(rows[0]["peers"])
    width = 0.8 / len(peers)
    for i, name in enumerate(peers):
        heights = [row["peers"][name]["gflops"] for row in rows]
        places = [x + (i - (len(peers) - 1) / 2) * width for x in range(len(rows))]
        axis.bar(places, heights, width, label=name, color=COLOURS.get(name))
    labels = [
        row["workload"].replace("_h16", "").replace("_causal", "") for row in rows
    ]
    axis.set_xticks(range(len(rows)), labels, rotation=30, ha="right", fontsize=8)
    axis.grid(axis="y", linewidth=0.3)
    axis.set_axisbelow(True)


if __name__ == "__main__":
    main(*sys.argv[1:])
