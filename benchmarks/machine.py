# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a figure depends on besides the code."""

from __future__ import annotations

import os
import pathlib
import platform
import re
import shlex
import subprocess
import time
from typing import Any

FLAGS = ("avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16")


def facts() -> dict[str, Any]:
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    fields = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", cpuinfo, re.MULTILINE))
    flags = fields.get("flags", "").split()
    return {
        "cpu": fields.get("model name", platform.processor()),
        "family_model_stepping": [
            fields.get(name, "") for name in ("cpu family", "model", "stepping")
        ],
        "flags": [flag for flag in FLAGS if flag in flags],
        "cpus": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def name() -> str:
    """A short name, for files: "intel-xeon-processor-6-207-2cpu"."""
    known = facts()
    words = re.sub(r"\((R|TM)\)", "", known["cpu"], flags=re.IGNORECASE)
    family = "-".join(known["family_model_stepping"][:2])
    text = f"{words} {family} {known['cpus']}cpu"
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def gpu() -> dict[str, str]:
    """What nvidia-smi says about the first one; empty without it."""
    fields = ("name", "driver_version", "power.limit", "clocks.max.sm", "memory.total")
    command = ["nvidia-smi", "--id=0", "--format=csv,noheader"]
    command.append("--query-gpu=" + ",".join(fields))
    try:
        process = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return {}
    values = process.stdout.strip().split(", ")
    return dict(zip(fields, values)) if process.returncode == 0 else {}


def revision() -> str:
    """The git revision of this checkout, with a + where files differ from it."""
    root = pathlib.Path(__file__).resolve().parents[1]

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        try:
            process = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            return ""
        return process.stdout.strip()

    changed = git(
        "status", "--porcelain", "--untracked-files=no", "--", "lib", "python"
    )
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + "+" * bool(changed)


def command(program: str, arguments: list[str]) -> str:
    """How a result was made, without the place it was written to, which is of one
    machine: an option `--json` or `--output` and its value."""
    kept, skipped = [program], False
    for argument in arguments:
        option, _, value = argument.partition("=")
        if option in ("--json", "--output"):
            skipped = not value
        elif skipped:
            skipped = False
        else:
            kept.append(argument)
    return shlex.join(kept)


class Others:
    """How busy all other processes were since this was made."""

    def __init__(self) -> None:
        self.start = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
        ticks = user + nice + system + irq + softirq + steal
        own = os.times()
        busy = ticks / os.sysconf("SC_CLK_TCK") - own.user - own.system
        return time.perf_counter(), busy

    def disturbed(self) -> bool:
        """Whether they took more than a tenth of the processors. The kernel counts
        in hundredths of a second; some of them are granted."""
        (start, before), (now, after) = self.start, self._now()
        cpus = os.cpu_count() or 1
        return after - before > 0.1 * (now - start) * cpus + 0.02 * cpus
