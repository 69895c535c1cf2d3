# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example runs, and says what it promises to say."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def run(*command: object) -> str:
    environment = os.environ | {
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT / "python"),
    }
    process = subprocess.run(
        [str(word) for word in command], env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_every_example_is_tested():
    numbers = {path.name[:2] for path in EXAMPLES.glob("[0-9][0-9]-*")}
    tests = {name[5:7] for name in globals() if re.match(r"test_\d\d_", name)}
    assert numbers == tests


def test_01_deepseek_v3_prefill():
    output = run(EXAMPLES / "01-deepseek-v3-prefill" / "run.sh")
    assert "scf.forall" in output
    assert "mla.gather_pages" in output
    assert re.search(r"output: ok: max abs error", output)
    assert re.search(r"lse: ok: max abs error", output)
    assert re.search(r"[1-9]\d* GFLOP/s", output)


def test_02_python():
    assert "as by hand" in run(sys.executable, EXAMPLES / "02-python" / "prefill.py")


def test_03_embedding_c():
    output = run(EXAMPLES / "03-embedding-c" / "run.sh")
    assert "largest difference to a plain loop" in output


def test_04_new_mask():
    output = run(EXAMPLES / "04-new-mask" / "run.sh")
    assert "arith.ori" in output
    assert re.search(r"ok: max abs error", output)


def test_05_edit_level_1():
    output = run(EXAMPLES / "05-edit-level-1" / "run.sh")
    verdicts = re.findall(r"arg6: (ok|mismatch)", output)
    assert verdicts == ["ok", "ok", "mismatch"]


def test_06_torch():
    output = run(sys.executable, EXAMPLES / "06-torch" / "prefill.py")
    try:
        import torch
    except ImportError:
        assert output == "skipped: PyTorch is not installed\n"
        return
    found = torch.cuda.is_available()
    assert ("as by hand" if found else "skipped: PyTorch finds no GPU") in output


def test_07_ahead_of_time():
    output = run(EXAMPLES / "07-ahead-of-time" / "run.sh")
    cpu, gpu = output.split("== sm_90a")
    verdict = "largest difference to a plain loop"
    assert verdict in cpu
    assert verdict in gpu or re.search(r"^skipped: .", gpu, re.MULTILINE)
    # Nothing but the runtime, and the functions of C's library.
    calls = [re.search("^the object calls: (.*)", part, re.M)[1] for part in (cpu, gpu)]
    assert calls == [
        "free malloc memset mlaRuntimeParallelFor",
        "mlaRuntimeEncodeTensorMap mlaRuntimeLaunch mlaRuntimeLoadKernelOnce",
    ]


@pytest.mark.parametrize(
    "script", sorted(EXAMPLES.glob("*/run.sh")), ids=lambda path: path.parent.name
)
def test_scripts_are_executable(script):
    assert os.access(script, os.X_OK)
