# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPU benchmark's parts that need neither a GPU nor a framework."""

import gc
import importlib
import json
import math
import pathlib
import weakref
from dataclasses import replace

import numpy as np
import pytest
from mla import _capi, reference
from mla.module import argument_types, prefill_module

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def report():
    return importlib.import_module("report")


@pytest.fixture
def exact():
    return importlib.import_module("exact")


def make_batch(sequences, mask="causal", window=-1, heads=3):
    workload = importlib.import_module("workload")
    (first, *_), _ = workload.load("gpu")
    w = replace(first, heads=heads, mask=mask, window=window, sequences=sequences)
    return workload.make_batch(w, "bf16")


def expect(batch):
    return reference.prefill(batch.q, batch.k, batch.v, **batch.options())


def test_floor(report):
    workload = importlib.import_module("workload")
    floors = {
        w.name: report.floor_us(w.flops, w.min_bytes) for w in workload.load("gpu")[0]
    }
    assert len(floors) == 30
    # One is bound by its operations, the other by its bytes.
    assert floors["dense_1x16k_h128_causal"] == pytest.approx(10995787366400 / 770e6)
    assert floors["few_256_over_8k_h16_null"] == pytest.approx(28, abs=0.5)


RESULTS = [
    {
        "workload": "a_h16",
        "flops": 2e9,
        "floor_us": 8.0,
        "peers": {
            "mla": {"median_us": 10.0, "host_us": 5.0},
            "fast": {"median_us": 5.0, "host_us": 5.0, "host_bound": True},
        },
    },
    {
        "workload": "b_h128",
        "flops": 4e12,
        "floor_us": 5000.0,
        "peers": {
            "mla": {"median_us": 10000.0, "host_us": 7.0},
            "fast": {"median_us": 20000.0, "host_us": 6.0},
            "slow": {"median_us": 80000.0, "host_us": 9.0},
        },
    },
    {
        "workload": "c_h128",
        "flops": 1e9,
        "floor_us": 9.0,
        "peers": {"mla": {"failure": "WrongResult: runs differ"}},
    },
]


def test_table(report):
    lines = report.format_table(RESULTS, ["fast", "slow"]).splitlines()
    assert lines[2:] == [
        "| a_h16 | 8 | 10.0 | 200 | 0.80 | 5.0* | 0.50 | - | - |",
        "| b_h128 | 5000 | 10000 | 400 | 0.50 | 20000 | 2.00 | 80000 | 8.00 |",
        "| c_h128 | 9 | failed | - | - | - | - | - | - |",
    ]
    assert {line.count("|") for line in lines} == {10}


def test_means(report):
    lines = report.format_means(RESULTS, ["fast", "slow"], ["h128"]).splitlines()
    assert lines == [
        "/h128/: ours 1 of 2, efficiency 0.500; "
        "fast 1, efficiency 0.250, fast / ours 2.000, smallest 2.000 (b_h128); "
        "slow 1, efficiency 0.062, slow / ours 8.000, smallest 8.000 (b_h128)",
        "all: ours 2 of 3, efficiency 0.632; "
        "fast 2, efficiency 0.632, fast / ours 1.000, smallest 0.500 (a_h16); "
        "slow 1, efficiency 0.062, slow / ours 8.000, smallest 8.000 (b_h128)",
    ]
    assert report.geometric_mean([1, 2, 4]) == pytest.approx(2)


def test_result_file(report):
    run = {"date": "today", "matmul_tflops": [1.5], "results": RESULTS}
    text = report.dump(run)
    assert json.loads(text) == run
    assert len(text.splitlines()) == 9  # one a workload
    assert "at best" in report.format_run(run, ["fast"], [])


@pytest.mark.parametrize("page_size", [1, 16, 64, 128])
def test_page_layout(page_size):
    workload = importlib.import_module("workload")
    keys = np.array([200, 1, 64, 65])
    table, rows = workload.page_layout(keys, page_size, np.random.default_rng(0))
    assert len(np.unique(rows)) == len(rows) == keys.sum()
    columns = -(-keys // page_size)
    assert table.shape == (4, columns.max())
    used = np.concatenate([table[b, :count] for b, count in enumerate(columns)])
    assert sorted(used) == list(range(columns.sum()))
    assert (np.diff(used) != 1).any()  # shuffled
    begin = 0
    for b, count in enumerate(keys):
        for position in range(count):
            page, row = divmod(int(rows[begin + position]), page_size)
            assert page == table[b, position // page_size]
            assert row == position % page_size
        begin += count


def test_samples(exact):
    rng = np.random.default_rng(0)
    assert list(exact.sample_rows(100, rng)) == list(range(100))
    rows = exact.sample_rows(5000, rng)
    assert (np.diff(rows) > 0).all() and len(rows) == 2 * exact.EDGE + exact.INNER
    assert rows[0] == 0 and rows[exact.EDGE - 1] == exact.EDGE - 1
    assert rows[-exact.EDGE] == 5000 - exact.EDGE and rows[-1] == 4999
    assert len(exact.sample_heads(3, 1, rng)) == 3
    heads = [tuple(exact.sample_heads(128, 100, rng)) for _ in range(20)]
    assert len(set(heads)) > 10 and all(a < b for a, b in heads)


@pytest.mark.parametrize(
    "mask, window", [("causal", -1), ("null", -1), ("sliding_window_causal", 37)]
)
def test_exact_rows(exact, mask, window):
    """The sampled rows are those of the oracle, for whole and sampled sequences."""
    batch = make_batch(((300, 400), (1, 130), (64, 64)), mask, window)
    output, lse = expect(batch)
    error = exact.error(batch, exact.NUMPY, output, lse)
    assert max(error.total, error.row, error.lse) < 1e-12
    rounded = output.astype(batch.q.dtype)
    assert exact.error(batch, exact.NUMPY, rounded, lse.astype(np.float32)).small()


def wrong_mask(batch, output, lse):
    options = batch.options() | {"mask": "null"}
    output[:], lse[:] = reference.prefill(batch.q, batch.k, batch.v, **options)


def one_row(batch, output, lse):
    output[-1] *= 1.03


def one_nan(batch, output, lse):
    output[0, :, 5] = math.nan


def shifted_lse(batch, output, lse):
    lse += 2e-4


def missing_lse(batch, output, lse):
    lse[3] = math.nan


@pytest.mark.parametrize(
    "break_it", [wrong_mask, one_row, one_nan, shifted_lse, missing_lse]
)
def test_exact_finds(exact, break_it):
    batch = make_batch(((90, 90), (30, 50)))
    output, lse = expect(batch)
    break_it(batch, output, lse)
    assert not exact.error(batch, exact.NUMPY, output, lse).small()


def bind(batch, kernel, signature, owners=None):
    w = batch.workload
    output = np.full((batch.q.shape[0], w.heads, w.value), math.nan, batch.q.dtype)
    lse = np.full(output.shape[:2], math.nan, np.float32)
    arrays = {
        "q": batch.q,
        "k": batch.k,
        "v": batch.v,
        "input_row_offsets": batch.input_row_offsets,
        "buffer_row_offsets": batch.buffer_row_offsets,
        "kv_blocks": batch.cache.kv_blocks,
        "lookup_table": batch.cache.lookup_table,
        "cache_lengths": batch.cache.cache_lengths,
        "output": output,
        "lse": lse,
    }
    dtypes = {"bfloat16": "bf16", "float32": "f32", "int32": "i32"}
    arguments = {
        name: _capi.Tensor(
            array.ctypes.data,
            dtypes[array.dtype.name],
            array.shape,
            tuple(stride // array.itemsize for stride in array.strides),
        )
        for name, array in arrays.items()
    }
    arguments["layer_idx"] = _capi.Scalar(0, "i32")
    arguments["scale"] = _capi.Scalar(batch.scale, "f32")
    arguments["window"] = _capi.Scalar(w.window, "i32")
    ordered = [arguments[name] for name in argument_types(signature)]
    bound = importlib.import_module("peers.bound")
    return bound.BoundKernel(kernel, ordered, owners or arrays), output, lse


def test_bound_kernel(exact):
    """Again and again, on different batches, with what it points into kept alive."""
    batches = [
        make_batch(((70, 130), (9, 9)), "sliding_window_causal", 20),
        make_batch(((5, 5),), "sliding_window_causal", 3),
    ]
    signature = batches[0].workload.signature(64)
    kernel = _capi.Kernel(prefill_module(signature), "cpu")
    calls = [(batch, *bind(batch, kernel, signature)) for batch in batches]
    del kernel
    gc.collect()
    for batch, call, output, lse in calls * 2:
        output[:] = lse[:] = math.nan
        call()
        assert exact.error(batch, exact.NUMPY, output, lse).small()


def test_bound_kernel_keeps_and_refuses():
    batch = make_batch(((5, 5),))
    signature = batch.workload.signature(64)
    kernel = _capi.Kernel(prefill_module(signature), "cpu")

    class Owner:
        pass

    owner = Owner()
    kept = weakref.ref(owner)
    call, _, _ = bind(batch, kernel, signature, owner)
    del owner
    gc.collect()
    assert kept() is not None
    del call
    gc.collect()
    assert kept() is None

    other = replace(batch, q=batch.q[:, :2])
    call, _, _ = bind(other, kernel, signature)
    for _ in range(2):
        with pytest.raises(_capi.Error, match="q"):
            call()


def test_compile_time(monkeypatch, tmp_path):
    """Whatever a user's cache has, cold is cold; from disk it is found."""
    monkeypatch.setenv("MLA_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    compile_time = importlib.import_module("compile_time")
    measured = compile_time.measure("few_256_over_8k_h16_null", "cpu", 64, 1)
    assert not list(tmp_path.iterdir())
    assert measured["cold_ms"] > 10 > measured["kept_us"] / 1000 > 0
    assert measured["again_ms"] > 0 and measured["library_ms"] > 0
    assert measured["disk_ms"] < measured["cold_ms"]
    assert measured["ptxas_ms"] is None
    line = compile_time.format_result(measured)
    assert f"from disk {measured['disk_ms']:.0f} ms" in line
