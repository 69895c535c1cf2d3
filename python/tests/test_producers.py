# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Producers of arrays on a device: who is told of the stream, and who waits.

On the fake driver, as in `test_devices.py`.
"""

import ctypes
import sys
import types

import dlpack_arrays
import fake_frameworks
import families
import mla
import numpy as np
import pytest
from dlpack_arrays import CUDA
from mla import _runtime
from mla._frameworks import as_array
from test_devices import (
    PAGED,
    POINTERS,
    RAGGED,
    fails,
    host_arguments,
    on_device,
    only,
    with_arrays,
)


def arrays_of(arguments):
    """All arrays of a call, the cache's too, by name."""
    arrays = dict(arguments)
    cache = arrays.pop("cache", None)
    if cache is not None:
        for name in ("kv_blocks", "lookup_table", "cache_lengths"):
            arrays[name] = getattr(cache, name)
    return {n: a for n, a in arrays.items() if hasattr(type(a), "__dlpack__")}


# --- DLPack's streams.


@pytest.mark.parametrize("case", [PAGED, RAGGED], ids=lambda case: case.rope)
def test_producers_are_told_of_the_stream(cuda, case):
    """Each time, since they may have written again: 0 is ambiguous, so it is 1."""
    arguments = on_device(host_arguments(case))
    arrays = arrays_of(arguments)
    assert len(arrays) == (10 if case is PAGED else 9)
    stream = cuda.stream(0)
    for given, told in ((stream, stream), (None, 1), (0, 1), (1, 1), (2, 2)):
        for array in arrays.values():
            array.requests.clear()
        cuda.reset()
        mla.prefill(**arguments, stream=given)
        asked = {n: [r["stream"] for r in a.requests] for n, a in arrays.items()}
        assert asked == {name: [told] for name in arrays}
        assert only(cuda).stream == (given or 0)


def test_torchs_stream_is_the_one_that_others_are_told_of(cuda, monkeypatch):
    torch = fake_frameworks.torch_module()
    monkeypatch.setitem(sys.modules, "torch", torch)
    host = host_arguments(RAGGED)
    arguments = on_device(host)
    arguments["q"] = torch.Tensor(host["q"], "cuda:0")
    stream = torch.streams.current[0] = cuda.stream(0)
    mla.prefill(**arguments)
    assert only(cuda).stream == stream
    assert arguments["k"].requests[-1]["stream"] == stream


def test_cupy_is_not_told(cuda, monkeypatch):
    """Its current stream is the caller's to know, as PyTorch's is."""
    cupy = fake_frameworks.cupy_module()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    arguments = with_arrays(
        lambda array: cupy.ndarray(array, 0), host_arguments(RAGGED)
    )
    mla.prefill(**arguments, stream=cuda.stream(0))
    assert arguments["k"].kept.requests[-1]["stream"] == -1


def test_arrays_of_the_host_have_no_stream():
    arguments = with_arrays(dlpack_arrays.export, host_arguments())
    mla.prefill(**arguments)
    for array in arrays_of(arguments).values():
        assert all("stream" not in request for request in array.requests)


# --- JAX.


@pytest.fixture
def jax(monkeypatch):
    module = fake_frameworks.jax_module()
    monkeypatch.setitem(sys.modules, "jax", module)
    return module


@pytest.mark.parametrize("case", [PAGED, RAGGED], ids=lambda case: case.rope)
def test_jax(cuda, jax, case):
    """Its arrays in, another's out."""
    host = host_arguments(case)
    outputs = {name: host.pop(name) for name in ("output", "lse")}
    arguments = with_arrays(lambda array: jax.ArrayImpl(array, 1), host)
    outputs = {
        name: dlpack_arrays.export(array, device=(CUDA, 1))
        for name, array in outputs.items()
    }
    stream = cuda.stream(1)
    assert mla.prefill(**arguments, **outputs, stream=stream) is outputs["output"]
    launch = only(cuda)
    assert (launch.device, launch.stream) == (1, stream)
    assert launch.has(host["q"].ctypes.data)
    assert all(array.waits[-1] == stream for array in arrays_of(arguments).values())


@pytest.mark.parametrize("name", ["output", "lse"])
def test_jax_arrays_are_not_written(cuda, jax, name):
    host = host_arguments(RAGGED)
    arguments = {**on_device(host), name: jax.ArrayImpl(host[name], 0)}
    assert fails(cuda, ValueError, arguments) == (
        f"{name}: expected a writable array, got a read-only one"
    )


def test_jax_allocates_nothing(cuda, jax):
    host = host_arguments(RAGGED)
    del host["output"]
    arguments = with_arrays(lambda array: jax.ArrayImpl(array, 0), host)
    arguments["lse"] = dlpack_arrays.export(host["lse"], device=(CUDA, 0))
    assert fails(cuda, TypeError, arguments) == (
        "output: expected an array to write to, since q is of ArrayImpl: only for "
        "numpy, PyTorch and CuPy is one allocated"
    )


# --- __cuda_array_interface__, which has no bfloat16.

HALF = families.replace(PAGED, dtype="float16")


class CudaArray:
    """An array of `__cuda_array_interface__` alone."""

    def __init__(self, array, **changes):
        self.array, self.changes = array, changes

    @property
    def __cuda_array_interface__(self):
        pointer = self.array.ctypes.data if self.array.size else 0
        interface = {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (pointer, False),
            "strides": self.array.strides,
            "version": 3,
            **self.changes,
        }
        return {key: value for key, value in interface.items() if value != "absent"}


@pytest.fixture
def pointers(cuda, monkeypatch):
    """The fake driver knows of no address on which device it is: this one does."""
    devices = {"of all": 0}

    def attribute(index, number, pointer):
        assert number.value == 9
        ctypes.cast(index, ctypes.POINTER(ctypes.c_int))[0] = devices["of all"]
        return devices.get(pointer.value, 0)

    driver = types.SimpleNamespace(cuPointerGetAttribute=attribute)
    monkeypatch.setattr(_runtime, "_driver", lambda: driver)
    return devices


@pytest.mark.parametrize("device", [0, 1])
def test_cuda_array_interface(cuda, pointers, device):
    pointers["of all"] = device
    host = host_arguments(HALF)
    # A stride of a view, and None for rows without gaps.
    host["k"] = np.concatenate([host["k"], host["v"]], axis=2)[..., :64]
    arguments = with_arrays(CudaArray, host)
    arguments["v"] = CudaArray(host["v"], strides=None)
    arguments["q"] = CudaArray(host["q"], strides="absent", version=2)
    output, _ = mla.prefill(**arguments, return_lse=True)
    assert output is arguments["output"]
    launch = only(cuda)
    assert (launch.device, launch.stream) == (device, 0)
    assert all(launch.has(host[name].ctypes.data) for name in POINTERS)
    assert as_array(arguments["k"], "k").strides == (256, 128, 1)
    assert as_array(arguments["q"], "q").strides == (256, 128, 1)
    assert cuda.count("cuStreamSynchronize") == 0


def test_cuda_array_interface_of_nothing(cuda, pointers):
    case = families.replace(HALF, lengths=(0,), prefixes=(), gap=0, rope="ragged")
    mla.prefill(**with_arrays(CudaArray, host_arguments(case)))


def test_writers_of_another_stream_are_waited_for(cuda, pointers):
    host = host_arguments(HALF)
    mine, other = cuda.stream(0), cuda.stream(0)
    for stream, writer, waits in (
        (mine, mine, 0),
        (mine, other, 1),
        (mine, 1, 1),
        (None, 1, 0),
        (None, 2, 1),
    ):
        arguments = with_arrays(CudaArray, host)
        mla.prefill(**arguments)
        cuda.reset()
        arguments["k"] = CudaArray(host["k"], stream=writer)
        mla.prefill(**arguments, stream=stream)
        assert cuda.count("cuStreamSynchronize") == waits


def test_dlpack_comes_first(cuda):
    """Of a producer that knows both."""

    class Both(dlpack_arrays.DLPackArray):
        @property
        def __cuda_array_interface__(self):
            raise AssertionError("asked")

    assert str(as_array(Both(64, (4,), device=(CUDA, 1)), "q").device) == "cuda:1"


@pytest.mark.parametrize(
    "changes, error, message",
    [
        (
            {"data": "absent"},
            ValueError,
            "k: expected an array that __cuda_array_interface__ can describe, got "
            "CudaArray: KeyError: 'data'",
        ),
        ({"mask": 1}, ValueError, "k: expected an array without a mask"),
        ({"typestr": ">f2"}, TypeError, "k: expected native byte order, got >f2"),
        (
            {"typestr": "<i2"},
            TypeError,
            "k: expected float16, got int16 (q's element type)",
        ),
        (
            {"strides": (257, 128, 2)},
            ValueError,
            "k: expected strides that are multiples of the element's 2 bytes, got "
            "[257, 128, 2] bytes",
        ),
        (
            {"strides": (256, 2, 128)},
            ValueError,
            "k: expected a last dimension of stride 1, got a stride of 64 elements",
        ),
        ({"data": (0x1001, False)}, ValueError, "k: expected elements aligned to 2"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_cuda_array_interface_that_is_refused(cuda, pointers, changes, error, message):
    host = host_arguments(HALF)
    arguments = with_arrays(CudaArray, host)
    arguments["k"] = CudaArray(host["k"], **changes)
    assert fails(cuda, error, arguments).startswith(message)


def test_cuda_array_interface_is_read_only(cuda, pointers):
    host = host_arguments(HALF)
    arguments = with_arrays(CudaArray, host)
    arguments["output"] = CudaArray(
        host["output"], data=(host["output"].ctypes.data, True)
    )
    assert fails(cuda, ValueError, arguments) == (
        "output: expected a writable array, got a read-only one"
    )


def test_address_of_no_device(cuda, pointers):
    host = host_arguments(HALF)
    pointers[host["v"].ctypes.data] = 1
    arguments = with_arrays(CudaArray, host)
    assert fails(cuda, ValueError, arguments) == (
        "v: expected an address on a CUDA device, got "
        f"{host['v'].ctypes.data:#x} (the driver's error 1)"
    )


def test_no_driver_to_ask(monkeypatch):
    monkeypatch.setenv("MLA_CUDA_DRIVER_LIBRARY", "/nonexistent/libcuda.so")
    _runtime._driver.cache_clear()
    with pytest.raises(mla.Error, match=r"^q: no CUDA driver: /nonexistent"):
        as_array(CudaArray(np.zeros(4, np.float16)), "q")
