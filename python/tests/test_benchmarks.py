# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark harness: its workloads are what they say, and it measures.

The peers that need more than the project's own environment are not loaded.
"""

import importlib
import json
import pathlib
import subprocess
import sys

import mla
import numpy as np
import pytest

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def workload(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("workload")


def test_command_of_a_result(workload):
    """All of it but where it was written, as a shell takes it."""
    command = importlib.import_module("machine").command
    arguments = ["--mean", "^(a|b)", "--json", "/some/file", "--output=there", "-x"]
    assert command("run.py", arguments) == "run.py --mean '^(a|b)' -x"


def test_results_name_no_place():
    results = list((BENCHMARKS / "results").glob("*.json"))
    assert results
    for path in results:
        command = json.loads(path.read_text()).get("command", "")
        assert "--json" not in command and "--output" not in command, path


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_flops_and_bytes(workload, name):
    workloads, dtypes = workload.load(name)
    assert set(dtypes) <= set(workload.DTYPES)
    assert len({w.name for w in workloads}) == len(workloads)
    for w in workloads:
        tokens = sum(new for new, _ in w.sequences)
        rows = sum(keys for _, keys in w.sequences)
        query = w.nope + w.rope
        elements = tokens * w.heads * (query + w.value)
        elements += rows * (w.heads * (w.nope + w.value) + w.rope)
        assert w.min_bytes == 2 * elements, w.name
        # The largest ones take seconds to count.
        if tokens * rows < 2**26:
            assert w.flops == w.count_flops(), w.name


@pytest.mark.parametrize("rope_source", ["paged", "ragged"])
def test_batch_and_its_check(workload, rope_source):
    sizes = {"nope": 16, "rope": 8, "value": 16, "cache_row": 40}
    w = workload.Workload(
        "small", 2, "causal", -1, ((5, 5), (3, 70)), 0, 0, **sizes,
        rope_source=rope_source,
    )  # fmt: skip
    batch = workload.make_batch(w, "f32")
    output = mla.prefill(batch.q, batch.k, batch.v, **batch.options())
    assert batch.error(output) < 1e-5
    output[-1] += 1
    assert batch.error(output) > 0.5
    assert np.isfinite(output).all()


def test_harness(tmp_path):
    result = tmp_path / "result.json"
    command = [sys.executable, BENCHMARKS / "run.py", "--peers", "mla", "--isa"]
    command += ["native", "--filter", "dense_1x1k", "--dtypes", "bf16", "--repeat", "1"]
    process = subprocess.run(
        [*map(str, command), "--output", str(result)], capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    data = json.loads(result.read_text())
    (measured,) = data["runs"][0]["results"]
    assert measured["workload"] == "dense_1x1k_h16_causal"
    assert measured["peers"]["mla"]["gflops"] > 0
    assert measured["peers"]["mla"]["max_error"] < 1e-2
    assert data["machine"]["cpus"] > 0
