# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level 1 of the modules whose mask lives in test/lib.

usage: level1.py TARGET FOLDER

writes them for machines that lack mla-opt and the mask's plugin: what comes out has
upstream MLIR and mla ops alone. Needs a build that is not self-contained.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

from mla import _capi

MODULES = pathlib.Path(__file__).resolve().parent / "modules"
PREFIX_LM_MASKS = ("prefix_lm", "prefix_lm_ranges")


def prefix_lm(mask: str, target: str) -> str:
    """Level 1 for `target` with one of PREFIX_LM_MASKS: from a file, or made."""
    assert mask in PREFIX_LM_MASKS
    written = MODULES / _file_name(mask, target)
    if written.exists():
        return written.read_text()
    text = (MODULES / "prefix_lm.mlir").read_text()
    libraries = _capi.library_path().parent
    command = [
        libraries.parent / "bin" / "mla-opt",
        f"--load-dialect-plugin={libraries / 'libMLATestPlugin.so'}",
        f"--mla-lower=target={target} stop-after=tile",
    ]
    process = subprocess.run(
        command,
        input=text.replace("#test_mla.prefix_lm", f"#test_mla.{mask}"),
        capture_output=True,
        text=True,
    )
    if process.returncode:
        raise _capi.Error(process.stderr)
    return process.stdout


def _file_name(mask: str, target: str) -> str:
    return f"{mask}.{target}.level-1.mlir"


def main() -> None:
    target, folder = sys.argv[1:]
    for mask in PREFIX_LM_MASKS:
        path = pathlib.Path(folder) / _file_name(mask, target)
        path.write_text(prefix_lm(mask, target))


if __name__ == "__main__":
    main()
