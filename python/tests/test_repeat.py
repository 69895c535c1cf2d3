# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of tensors with an exchange table: after the first one nothing is asked of
them in Python, and nothing else is different."""

import ctypes
import gc
import sys
import weakref

import fake_frameworks
import families
import mla
import numpy as np
import pytest
from dlpack_arrays import CUDA, export
from families import replace
from mla import _capi, _repeat, ops
from mla._exchange import exchange_of
from test_devices import (
    PAGED,
    POINTERS,
    RAGGED,
    check_threads,
    host_arguments,
    only,
    with_arrays,
)


@pytest.fixture
def torch(monkeypatch):
    module = fake_frameworks.torch_module(exchange=True)
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(_repeat, "_repeated", {})
    return module


def tensors(torch, case=PAGED, device="cuda:0"):
    return with_arrays(lambda array: torch.Tensor(array, device), host_arguments(case))


def launch_of(driver):
    """The only launch, for comparisons: what is beside a scalar of 4 bytes in its
    word may be anything."""
    launch = only(driver)
    words = np.frombuffer(launch.arguments, np.uint32)
    return launch._replace(arguments=words[::2].tobytes())


@pytest.fixture
def by_table(torch, monkeypatch):
    """A function: makes tensors that can be read by their table alone."""

    def asked(*_):
        raise AssertionError("asked in Python")

    def ignored(*_):
        pass

    def forbid():
        for name in ("shape", "dtype", "device"):
            monkeypatch.setattr(torch.Tensor, name, property(asked, ignored), False)
        for name in ("stride", "data_ptr", "new_empty", "__dlpack__"):
            monkeypatch.setattr(torch.Tensor, name, asked)

    return forbid


CHANGES = {
    "plain": (PAGED, {}),
    "ragged": (RAGGED, {}),
    "cache_offsets": (replace(RAGGED, cache_offsets=(0, 1, 0)), {}),
    "no_cache_lengths": (replace(RAGGED, rope="ragged_end"), {}),
    "scale": (PAGED, {"scale": 0.25}),
    "layer": (replace(PAGED, layers=3), {"layer_idx": 2}),
    "window": (PAGED, {"mask": "sliding_window_causal", "local_window_size": 5}),
    "target": (PAGED, {"target": "sm_90a"}),
    "output_dtype": (PAGED, {"output_dtype": "bfloat16"}),
    "return_lse": (PAGED, {"return_lse": True}),
}


@pytest.mark.parametrize("case, changes", CHANGES.values(), ids=CHANGES)
def test_the_same_launch(cuda, torch, by_table, case, changes):
    arguments = {**tensors(torch, case), **changes}
    first_result = mla.prefill(**arguments)
    first = launch_of(cuda)
    cuda.reset()
    by_table()
    result = mla.prefill(**arguments)
    assert launch_of(cuda) == first
    output, lse = arguments["output"], arguments["lse"]
    assert result == first_result
    assert result == ((output, lse) if "return_lse" in changes else output)


def test_scalars_of_the_moment(cuda, torch, by_table):
    """What may change from call to call of the same layouts does."""
    case = replace(PAGED, layers=3)
    mask = {"mask": "sliding_window_causal"}
    changes = [
        {"scale": scale, "layer_idx": layer, "local_window_size": window, **mask}
        for scale, layer, window in (
            (0.5, 0, 3),
            (0.25, 0, 3),
            (0.5, 2, 3),
            (0.5, 0, 7),
        )
    ]
    arguments = tensors(torch, case)
    expected = []
    for change in changes:
        cuda.reset()
        _repeat._repeated.clear()
        mla.prefill(**{**arguments, **change})
        expected.append(launch_of(cuda))
    assert len({launch.arguments for launch in expected}) == len(changes)
    by_table()
    for change, launch in zip(changes, expected):
        cuda.reset()
        mla.prefill(**{**arguments, **change})
        assert launch_of(cuda) == launch


def test_other_arrays(cuda, torch, by_table):
    """Nothing is kept of the arrays but their layouts, the cache's too."""
    first, second = tensors(torch), tensors(torch)
    mla.prefill(**first)
    by_table()
    cuda.reset()
    mla.prefill(**second)
    launch = only(cuda)
    parts = ("kv_blocks", "lookup_table", "cache_lengths")
    for name in (*POINTERS, *parts):
        one, other = (
            getattr(a["cache"], name) if name in parts else a[name]
            for a in (first, second)
        )
        assert launch.has(other.array.ctypes.data)
        assert not launch.has(one.array.ctypes.data)


def test_other_layouts(cuda, torch):
    """Whatever differs is found out, at the first call and at the next ones."""
    cases = [
        PAGED,
        replace(PAGED, lengths=(41, 0, 3)),
        replace(PAGED, interleaved=True),
        replace(PAGED, dtype="float16"),
        replace(PAGED, index_dtype="uint32"),
        replace(PAGED, heads=3),
        RAGGED,
        replace(RAGGED, rope="ragged_end"),
    ]
    batches = [tensors(torch, case) for case in cases]
    batches.append(tensors(torch, device="cuda:1"))
    batches.append({k: v for k, v in batches[0].items() if k != "lse"})
    batches.append({**batches[0], "output": tensors(torch)["output"]})
    expected = []
    for arguments in batches:
        cuda.reset()
        mla.prefill(**arguments)
        expected.append(launch_of(cuda))
    for _ in range(2):
        for arguments, launch in zip(batches, expected):
            cuda.reset()
            mla.prefill(**arguments)
            assert launch_of(cuda) == launch


def test_streams(cuda, torch):
    """The stream is the one of the moment; memory belongs to the one that writes."""
    arguments = tensors(torch)
    del arguments["output"], arguments["lse"]
    mla.prefill(**arguments)
    first, second, third = (cuda.stream(0) for _ in range(3))
    for current, given, expected in (
        (first, None, first),
        (second, None, second),
        (second, torch.cuda.Stream(third), third),
        (second, third, third),
        (second, second, second),
        (second, 0, 0),
    ):
        cuda.reset()
        torch.streams.of_allocations.clear()
        torch.streams.current[0] = current
        output, lse = mla.prefill(**arguments, return_lse=True, stream=given)
        launch = only(cuda)
        assert launch.stream == expected
        assert torch.streams.of_allocations == [expected, expected]
        assert launch.has(output.data_ptr()) and launch.has(lse.data_ptr())
        assert str(lse.device) == "cuda:0" and lse.dtype is torch.float32


def test_allocations_are_new(cuda, torch, by_table):
    arguments = tensors(torch)
    del arguments["output"], arguments["lse"]
    first = mla.prefill(**arguments)
    shape = first.shape
    by_table()
    one, other = (mla.prefill(**arguments) for _ in range(2))
    assert one is not other and one is not first and other is not first
    assert one.array.shape == other.array.shape == shape
    assert not np.shares_memory(one.array, other.array)


# What is refused is refused by the same words, whatever was called before.


def bad_tensor(torch, arguments, name, **options):
    array = options.pop("array", arguments[name].array)
    return {name: torch.Tensor(array, options.pop("device", "cuda:0"), **options)}


def misaligned(array):
    flat = np.zeros(array.size + 8, array.dtype)
    start = next(i for i in range(1, 8) if flat[i:].ctypes.data % 16)
    return flat[start : start + array.size].reshape(array.shape)


BAD = {
    "gradient": lambda t, a: bad_tensor(t, a, "k", requires_grad=True),
    "gradient_of_output": lambda t, a: bad_tensor(t, a, "output", requires_grad=True),
    "negated": lambda t, a: bad_tensor(t, a, "lse", negated=True),
    "meta": lambda t, a: bad_tensor(t, a, "v", device="meta"),
    "host": lambda t, a: bad_tensor(t, a, "v", device="cpu"),
    "other_device": lambda t, a: bad_tensor(t, a, "q", device="cuda:1"),
    "misaligned": lambda t, a: bad_tensor(t, a, "q", array=misaligned(a["q"].array)),
    "shape": lambda t, a: bad_tensor(t, a, "k", array=a["k"].array[:-1]),
    "strides": lambda t, a: bad_tensor(t, a, "k", array=a["k"].array[:, :, ::2]),
    "dtype": lambda t, a: bad_tensor(t, a, "v", array=a["v"].array.view(np.float16)),
    "numpy": lambda t, a: {"v": a["v"].array},
    "no_array": lambda t, a: {"v": 3},
    "no_queries": lambda t, a: {"q": None},
    "no_offsets": lambda t, a: {"input_row_offsets": None},
    "no_cache": lambda t, a: {"cache": None},
    "another_cache": lambda t, a: {"cache": 5},
    "both": lambda t, a: {"k_rope": a["k"]},
    "cache_lengths": lambda t, a: {"cache_lengths": a["input_row_offsets"]},
    "layer": lambda t, a: {"layer_idx": 1},
    "negative_layer": lambda t, a: {"layer_idx": -1},
    "layer_type": lambda t, a: {"layer_idx": 0.0},
    "scale": lambda t, a: {"scale": 0.0},
    "nan": lambda t, a: {"scale": float("nan")},
    "big_scale": lambda t, a: {"scale": 1e39},
    "scale_type": lambda t, a: {"scale": "large"},
    "mask": lambda t, a: {"mask": "causa"},
    "mask_type": lambda t, a: {"mask": ["causal"]},
    "window": lambda t, a: {"local_window_size": 0},
    "window_type": lambda t, a: {"local_window_size": 1.0},
    "target": lambda t, a: {"target": "cpu"},
    "target_type": lambda t, a: {"target": ["sm_90a"]},
    "output_dtype": lambda t, a: {"output_dtype": "float32"},
    "output_dtype_type": lambda t, a: {"output_dtype": []},
    "stream": lambda t, a: {"stream": "fast"},
    "stream_number": lambda t, a: {"stream": -1},
}


@pytest.mark.parametrize("name", BAD)
def test_the_same_error(cuda, torch, monkeypatch, name):
    arguments = {
        **tensors(torch),
        "mask": "sliding_window_causal",
        "local_window_size": 5,
    }
    for _ in range(2):
        mla.prefill(**arguments)
    arguments |= BAD[name](torch, arguments)
    cuda.reset()
    messages = []
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)) as caught:
            mla.prefill(**arguments)
        messages.append((caught.type, str(caught.value)))
        # The other way: as if there were no table.
        monkeypatch.setattr(ops, "exchange_of", lambda kind: None)
    assert messages[0] == messages[1]
    assert cuda.launches() == []


def test_error_of_the_driver(cuda, torch):
    arguments = tensors(torch)
    mla.prefill(**arguments)
    stream = cuda.stream(1)
    cuda.reset()
    cuda.fail("cuLaunchKernelEx", 700)
    with pytest.raises(mla.Error, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        mla.prefill(**arguments)
    with pytest.raises(mla.Error, match="expected a stream of device 0"):
        mla.prefill(**arguments, stream=stream)
    assert cuda.launches() == []
    mla.prefill(**arguments)
    assert only(cuda).has(arguments["q"].data_ptr())


def test_validate(cuda, torch):
    """The values are looked at if that is asked for, however often it was not."""
    arguments = tensors(torch)
    for _ in range(2):
        mla.prefill(**arguments)
    cuda.reset()
    arguments["input_row_offsets"].array[0] = 1
    with pytest.raises(ValueError, match=r"^input_row_offsets\[0\]: expected 0, got 1"):
        mla.prefill(**arguments, validate=True)
    assert cuda.launches() == []


def test_arrays_are_let_go(cuda, torch):
    """No call keeps a reference, whether it is a first one, a repeated one or none."""
    arguments = tensors(torch)
    kept = [a for a in arguments.values() if isinstance(a, torch.Tensor)]
    counts = list(map(sys.getrefcount, kept))
    for change in (
        {},
        {},
        {"layer_idx": 1},
        {"k": torch.Tensor(arguments["k"].array, "meta")},
    ):
        try:
            mla.prefill(**{**arguments, **change})
        except ValueError:
            assert change
    del change
    gc.collect()
    assert list(map(sys.getrefcount, kept)) == counts
    # Neither is one kept as the name of something else.
    odd = torch.Tensor(np.zeros(1, np.float32), "cpu")
    mla.prefill(**arguments, return_lse=odd)
    gone = weakref.ref(odd)
    del odd
    gc.collect()
    assert gone() is None


def test_threads(cuda, torch, frequent_switches):
    batches = [tensors(torch) for _ in range(6)]
    check_threads(cuda, batches, lambda tensor: tensor.data_ptr(), 100)


def test_threads_of_a_call(torch, monkeypatch):
    """As many as `set_num_threads` said last, also of a repeated call."""
    arguments = tensors(torch, device="cpu")
    mla.prefill(**arguments)
    exchange = exchange_of(torch.Tensor)
    seen = []

    def run(*given):
        seen.append(given[4])
        return exchange.run(*given)

    monkeypatch.setattr(ops, "exchange_of", lambda kind: exchange._replace(run=run))
    for count in (2, 0):
        mla.set_num_threads(count)
        mla.prefill(**arguments)
    assert seen == [2, 0]


def test_on_the_host(torch, by_table):
    """Computed as numpy's arrays are."""
    host = host_arguments()
    expected, expected_lse = (a.copy() for a in mla.prefill(**host, return_lse=True))
    arguments = {**tensors(torch, device="cpu"), "return_lse": True}
    mla.prefill(**arguments)
    by_table()
    for name in ("output", "lse"):
        arguments[name].array[:] = np.nan
    output, lse = mla.prefill(**arguments)
    assert families.same_bits(output.array, expected)
    assert families.same_bits(lse.array, expected_lse)


# Tables.


def test_a_cache_of_another_framework(cuda, torch):
    """Its arrays are asked at each call, so that they can order the stream."""
    host = host_arguments()
    arguments = tensors(torch)
    parts = [
        export(getattr(host["cache"], name), device=(CUDA, 0))
        for name in ("kv_blocks", "lookup_table", "cache_lengths")
    ]
    arguments["cache"] = mla.PagedCache(*parts)
    for _ in range(3):
        mla.prefill(**arguments)
    assert [len(part.requests) for part in parts] == [4, 4, 4]


def older(torch):
    """A newer table that knows an older one."""
    struct = torch.exchange.struct
    newer = type(struct)(version=(2, 0), previous=ctypes.addressof(struct))
    torch.exchange.newer = newer
    return torch.exchange.make_capsule(struct=newer)


def unknown(torch):
    torch.exchange.struct.version[0] = 2
    return torch.exchange.capsule


def without_function(torch):
    struct = torch.exchange.struct
    struct.describe = type(struct.describe)()
    return torch.exchange.capsule


@pytest.mark.parametrize(
    "make, known",
    [
        (older, True),
        (unknown, False),
        (without_function, False),
        (lambda torch: torch.exchange.make_capsule(b"dltensor"), False),
        (lambda torch: 5, False),
        (None, False),
    ],
    ids=["older", "unknown", "without_function", "other_capsule", "no_capsule", "none"],
)
def test_tables(cuda, torch, make, known):
    """One that is not known is as if there were none."""
    if make is None:
        del torch.Tensor.__dlpack_c_exchange_api__
    else:
        torch.Tensor.__dlpack_c_exchange_api__ = make(torch)
    assert (exchange_of(torch.Tensor) is not None) == known
    arguments = tensors(torch)
    launches = []
    for _ in range(2):
        cuda.reset()
        mla.prefill(**arguments)
        launches.append(launch_of(cuda))
    assert launches[0] == launches[1]
    assert (torch.exchange.described > 0) == known


def test_without_the_library(torch, monkeypatch):
    """The errors of arguments come first, as for all arrays."""
    arguments = {**tensors(torch, device="cpu"), "mask": "causa"}

    def missing():
        raise mla.Error("not found")

    monkeypatch.setattr(_capi, "library", missing)
    with pytest.raises(ValueError, match=r"^mask: expected one of "):
        mla.prefill(**arguments)


def test_other_types(torch):
    """What a subclass inherits may mean something else, and so may what others have."""

    class Wrapped(torch.Tensor):
        pass

    class Foreign:
        __dlpack_c_exchange_api__ = torch.exchange.capsule

    for kind in (Wrapped, Foreign, torch.nn.Parameter, np.ndarray):
        assert exchange_of(kind) is None
    assert exchange_of(torch.Tensor) is not None
