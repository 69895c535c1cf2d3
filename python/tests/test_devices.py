# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays on CUDA devices, from the call to the driver: a fake one, which records.

Kernels are compiled as for a real device. What they compute is `gpu_python.py`'s
subject, on a machine that has one.
"""

import ctypes
import sys
import threading

import dlpack_arrays
import fake_frameworks
import families
import mla
import numpy as np
import pytest
from dlpack_arrays import CUDA, DLPackArray
from families import Case, build
from mla import _capi, _repeat
from test_isolation import run_python

PAGED = Case("devices", (40, 0, 3), (20, 5, 0), dims=(64, 64, 64), gap=8)
RAGGED = families.replace(PAGED, rope="ragged")
POINTERS = ("q", "k", "v", "input_row_offsets", "buffer_row_offsets", "output", "lse")


def host_arguments(case=PAGED):
    """Arguments with all destinations, as arrays of the host."""
    batch = build(case)
    arguments = {"q": batch.q, "k": batch.k, "v": batch.v, **batch.options}
    arguments["output"] = batch.output
    arguments["lse"] = np.full(batch.output.shape[:2], np.nan, np.float32)
    return arguments


def with_arrays(make, arguments):
    """The arguments with `make(array)` of every array, the cache's too."""
    result = {
        name: make(value) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    if "cache" in arguments:
        cache = arguments["cache"]
        parts = (cache.kv_blocks, cache.lookup_table, cache.cache_lengths)
        result["cache"] = mla.PagedCache(*map(make, parts))
    return result


def on_device(arguments, index=0):
    """Through DLPack, as if on a device."""
    return with_arrays(
        lambda array: dlpack_arrays.export(array, device=(CUDA, index)), arguments
    )


def only(driver):
    (launch,) = driver.launches()
    return launch


# Launches.


@pytest.mark.parametrize("case", [PAGED, RAGGED], ids=lambda case: case.rope)
def test_launch(cuda, case):
    host = host_arguments(case)
    arguments = on_device(host)
    output, lse = mla.prefill(**arguments, return_lse=True)
    assert output is arguments["output"] and lse is arguments["lse"]
    launch = only(cuda)
    assert "prefill" in launch.function
    assert launch.device == 0
    assert launch.stream == 0  # the legacy default stream: nobody says otherwise
    assert not launch.captured
    pointers = {name: host[name].ctypes.data for name in POINTERS}
    if case is PAGED:
        for name in ("kv_blocks", "lookup_table", "cache_lengths"):
            pointers[name] = getattr(host["cache"], name).ctypes.data
    else:
        pointers["k_rope"] = host["k_rope"].ctypes.data
    missing = [name for name, pointer in pointers.items() if not launch.has(pointer)]
    assert not missing
    # Once the kernel is loaded, calls are enqueued and nothing is waited for.
    cuda.reset()
    mla.prefill(**arguments)
    assert only(cuda).has(host["q"].ctypes.data)
    for function in ("cuStreamSynchronize", "cuMemAlloc_v2", "cuMemcpyAsync"):
        assert cuda.count(function) == 0


def test_calls_with_the_same_layouts(cuda):
    """What is kept of a call are no pointers, scalars or streams."""
    first, second = (on_device(host_arguments()) for _ in range(2))
    mla.prefill(**first)
    stream = cuda.stream(0)
    mla.prefill(**second, stream=stream)
    one, other = cuda.launches()
    assert (one.stream, other.stream) == (0, stream)
    for launch, has, has_not in ((one, first, second), (other, second, first)):
        for name in POINTERS:
            assert launch.has(has[name].pointer)
            assert not launch.has(has_not[name].pointer)


def test_other_device(cuda):
    mla.prefill(**on_device(host_arguments(), 1))
    assert only(cuda).device == 1


def test_empty_batch(cuda):
    """Pointers to nothing are null, and nobody minds (MLA-R10)."""
    case = families.replace(RAGGED, lengths=(0,), prefixes=(), gap=0)
    host = host_arguments(case)
    assert host["q"].size == host["k"].size == 0
    mla.prefill(**on_device(host))
    assert all(not launch.has(host["q"].ctypes.data) for launch in cuda.launches())


def check_threads(cuda, batches, pointer_of, count):
    """Calls each batch from a thread of its own, `count` times: its launches have its
    pointers and its stream."""
    streams = [cuda.stream(0) for _ in batches]
    mla.prefill(**batches[0])
    cuda.reset()

    def work(i):
        for _ in range(count):
            mla.prefill(**batches[i], stream=streams[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    launches = cuda.launches()
    assert len(launches) == count * len(batches)
    for launch in launches:
        batch = batches[streams.index(launch.stream)]
        assert launch.has(pointer_of(batch["q"]))
        assert launch.has(pointer_of(batch["output"]))


def test_calls_from_several_threads(cuda, frequent_switches):
    batches = [on_device(host_arguments()) for _ in range(6)]
    check_threads(cuda, batches, lambda array: array.pointer, 200)


def test_capture(cuda):
    """A capture sees the launch and nothing that it forbids."""
    arguments = on_device(host_arguments())
    mla.prefill(**arguments)
    stream = cuda.stream(0)
    cuda.reset()
    cuda.begin_capture(stream)
    mla.prefill(**arguments, stream=stream)
    cuda.end_capture(stream)
    assert only(cuda).captured
    assert cuda.violations() == 0


def test_validate_waits_so_it_is_no_part_of_a_capture(cuda):
    arguments = on_device(host_arguments())
    mla.prefill(**arguments, validate=True)
    stream = cuda.stream(0)
    cuda.reset()
    cuda.begin_capture(stream)
    with pytest.raises(mla.Error, match=r"^\w+: .*capturing"):
        mla.prefill(**arguments, stream=stream, validate=True)
    cuda.end_capture(stream)
    assert cuda.launches() == []


def test_validate_copies_on_the_stream(cuda):
    """So a stream that cannot be used is what it complains of."""
    arguments = on_device(host_arguments())
    stream = cuda.stream(1)
    with pytest.raises(mla.Error) as caught:
        mla.prefill(**arguments, stream=stream, validate=True)
    assert str(caught.value) == (
        "buffer_row_offsets: stream: expected a stream of device 0, got one of device 1"
    )


# Streams.


class RuntimeStream(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_void_p), ("device", ctypes.c_int32)]


class TorchLike:
    def __init__(self, handle):
        self.cuda_stream = handle


class CuPyLike:
    def __init__(self, handle):
        self.ptr = handle


class Method:
    ptr = "not this one"

    def __init__(self, handle):
        self._handle = handle

    def __cuda_stream__(self):
        return (0, self._handle)


class Property(Method):
    @property
    def __cuda_stream__(self):
        return (0, self._handle)


@pytest.mark.parametrize("kind", [int, np.int64, TorchLike, CuPyLike, Method, Property])
def test_stream(cuda, kind):
    stream = cuda.stream(0)
    mla.prefill(**on_device(host_arguments()), stream=kind(stream))
    assert only(cuda).stream == stream


@pytest.mark.parametrize("handle", [0, 1, 2])
def test_default_streams(cuda, handle):
    """CUDA's own numbers, on the arrays' device whatever is current."""
    mla.prefill(**on_device(host_arguments(), 1), stream=handle)
    launch = only(cuda)
    assert (launch.stream, launch.device) == (handle, 1)


def test_the_runtimes_own_stream_is_as_before(cuda):
    library = _capi.library()
    get = library["mlaRuntimeGetStream"]
    get.restype = RuntimeStream
    before = cuda.stream(1)
    library["mlaRuntimeSetStream"](RuntimeStream(before, 1))
    try:
        arguments = on_device(host_arguments())
        mla.prefill(**arguments, stream=cuda.stream(0))
        cuda.fail("cuLaunchKernelEx", 700)
        with pytest.raises(mla.Error):
            mla.prefill(**arguments)
        after = get()
        assert (after.handle, after.device) == (before, 1)
    finally:
        library["mlaRuntimeSetStream"](RuntimeStream(None, -1))


class Version1:
    def __cuda_stream__(self):
        return (1, 0)


@pytest.mark.parametrize(
    "stream, error, message",
    [
        (
            "fast",
            TypeError,
            "stream: expected a CUDA stream (an integer, or an object with "
            "cuda_stream, ptr or __cuda_stream__), got str",
        ),
        (
            TorchLike(None),
            TypeError,
            "stream: expected a CUDA stream (an integer, or an object with "
            "cuda_stream, ptr or __cuda_stream__), got TorchLike",
        ),
        (-1, ValueError, "stream: expected a CUDA stream's handle, got -1"),
        (
            Version1(),
            ValueError,
            "stream: expected version 0 of __cuda_stream__, got 1",
        ),
    ],
)
def test_no_stream(cuda, stream, error, message):
    with pytest.raises(error) as caught:
        mla.prefill(**on_device(host_arguments()), stream=stream)
    assert str(caught.value) == message
    assert cuda.launches() == []


def test_stream_of_another_device(cuda):
    stream = cuda.stream(1)
    with pytest.raises(mla.Error) as caught:
        mla.prefill(**on_device(host_arguments()), stream=stream)
    assert "stream: expected a stream of device 0, got one of device 1" in str(
        caught.value
    )
    assert cuda.launches() == []


# Devices and targets.


def fails(cuda, error, arguments):
    """The message of a call that launches nothing."""
    with pytest.raises(error) as caught:
        mla.prefill(**arguments)
    assert cuda.launches() == []
    return str(caught.value)


OPERANDS = ("input_row_offsets", "k", "v", "buffer_row_offsets", "k_rope")


@pytest.mark.parametrize("name", [*OPERANDS, "cache_lengths", "output", "lse"])
def test_mixed_devices(cuda, name):
    host = host_arguments(RAGGED)
    arguments = {**on_device(host), name: host[name]}
    assert fails(cuda, ValueError, arguments) == (
        f"{name}: expected an array on cuda:0 (as q), got one on cpu"
    )
    arguments[name] = dlpack_arrays.export(host[name], device=(CUDA, 1))
    assert fails(cuda, ValueError, arguments) == (
        f"{name}: expected an array on cuda:0 (as q), got one on cuda:1"
    )


def test_host_queries_with_a_cache_on_a_device(cuda):
    host = host_arguments()
    arguments = {**host, "cache": on_device(host)["cache"]}
    assert fails(cuda, ValueError, arguments) == (
        "kv_blocks: expected an array on cpu (as q), got one on cuda:0"
    )


@pytest.mark.parametrize("target", ["cpu", "cpu-avx2", "sm_100a", ""])
def test_target_that_does_not_fit(cuda, target):
    arguments = {**on_device(host_arguments()), "target": target}
    assert fails(cuda, ValueError, arguments) == (
        f"target: expected sm_90a for arrays on cuda:0, got {target!r}"
    )


def test_target(cuda):
    mla.prefill(**on_device(host_arguments()), target="sm_90a")
    assert only(cuda).device == 0
    assert fails(ResetTo(cuda), TypeError, {**host_arguments(), "target": [1]}) == (
        "target: expected a name, got list"
    )


class ResetTo:
    """A driver whose launches so far are forgotten."""

    def __init__(self, driver):
        driver.reset()
        self.launches = driver.launches


def test_device_of_another_architecture(cuda):
    assert fails(cuda, ValueError, on_device(host_arguments(), 2)) == (
        "q: expected an array on a device that runs sm_90a, got one on cuda:2, which "
        "is sm_80"
    )


def test_device_that_is_not_there(cuda):
    assert fails(cuda, mla.Error, on_device(host_arguments(), 7)) == (
        "q: cannot use cuda:7: device: expected a number from 0 to 2, got 7"
    )


def test_error_of_the_driver(cuda):
    arguments = on_device(host_arguments())
    cuda.fail("cuLaunchKernelEx", 700)
    message = fails(cuda, mla.Error, arguments)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in message
    # The call is as good as new.
    mla.prefill(**arguments)
    assert only(cuda).has(arguments["q"].pointer)


def test_no_driver():
    """A machine without a GPU says so, and names the operand."""
    run_python(
        """
import os
os.environ["MLA_CUDA_DRIVER_LIBRARY"] = "/nonexistent/libcuda.so"
import mla
from test_devices import host_arguments, on_device
try:
    mla.prefill(**on_device(host_arguments()))
except mla.Error as error:
    assert str(error).startswith("q: cannot use cuda:0: no CUDA driver: "), error
    assert "/nonexistent/libcuda.so" in str(error), error
else:
    raise AssertionError("ran")
"""
    )


@pytest.mark.parametrize("name", ["q", "k", "v", "k_rope"])
def test_alignment(cuda, name):
    """Rows are copied in pieces of 16 bytes (MLA-R8)."""
    host = host_arguments(RAGGED)
    array = host[name]
    flat = np.zeros(array.size + 4, array.dtype)[4:]
    if flat.ctypes.data % 16 == 0:
        flat = np.zeros(array.size + 8, array.dtype)[4:]
    host[name] = flat[: array.size].reshape(array.shape)
    assert fails(cuda, ValueError, on_device(host)) == (
        f"{name}: expected an array that starts at a multiple of 16 bytes, got address "
        f"{host[name].ctypes.data:#x}"
    )
    padded = np.zeros((*array.shape[:-1], array.shape[-1] + 4), array.dtype)
    host[name] = padded[..., :-4]
    strides = [stride // array.itemsize for stride in host[name].strides]
    assert fails(cuda, ValueError, on_device(host)) == (
        f"{name}: expected strides that are multiples of 16 bytes for sm_90a, got "
        f"{strides} elements of 2 bytes"
    )


# (operand, entry, value, message)
BAD = [
    ("input_row_offsets", 0, 1, "input_row_offsets[0]: expected 0, got 1"),
    ("input_row_offsets", 3, 44, "input_row_offsets[3]: expected <= 43, got 44"),
    ("buffer_row_offsets", 1, -1, "buffer_row_offsets[1]: expected >= 8, got -1"),
    ("cache_lengths", 1, -3, "cache_lengths[1]: expected >= 0, got -3"),
    ("lookup_table", (0, 0), 9, "lookup_table[0, 0]: expected a page in [0, 6), got 9"),
]


@pytest.mark.parametrize("name, entry, value, message", BAD)
def test_validate(cuda, name, entry, value, message):
    host = host_arguments()
    mla.prefill(**on_device(host), validate=True)
    cuda.reset()
    array = getattr(host["cache"], name, None)
    (host[name] if array is None else array)[entry] = value
    arguments = {**on_device(host), "validate": True}
    assert fails(cuda, ValueError, arguments) == message
    # They were copied on the stream, not read where they are.
    assert cuda.count("cuMemcpyAsync") == 4


# Frameworks.


@pytest.fixture(params=["raw", "public", "exchange"])
def torch(request, monkeypatch):
    module = fake_frameworks.torch_module(
        raw_stream=request.param == "raw", exchange=request.param == "exchange"
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(_repeat, "_repeated", {})
    return module


@pytest.fixture
def cupy(monkeypatch):
    module = fake_frameworks.cupy_module()
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_torch(cuda, torch):
    """Its current stream, its allocator, its tensors; DLPack is not asked."""
    torch.Tensor.__dlpack__ = None
    stream = torch.streams.current[1] = cuda.stream(1)
    host = host_arguments()
    del host["output"], host["lse"]
    arguments = with_arrays(lambda array: torch.Tensor(array, "cuda:1"), host)
    output, lse = mla.prefill(**arguments, return_lse=True)
    assert type(output) is type(lse) is torch.Tensor
    assert str(output.device) == str(lse.device) == "cuda:1"
    assert output.shape == (43, 2, 64) and output.dtype is torch.bfloat16
    assert lse.shape == (43, 2) and lse.dtype is torch.float32
    launch = only(cuda)
    assert (launch.device, launch.stream) == (1, stream)
    for tensor in (arguments["q"], arguments["k"], output, lse):
        assert launch.has(tensor.data_ptr())


def test_torch_streams(cuda, torch):
    """The stream is the one of the moment; memory belongs to the one that writes."""
    host = host_arguments()
    del host["output"], host["lse"]
    arguments = with_arrays(lambda array: torch.Tensor(array, "cuda:0"), host)
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
        mla.prefill(**arguments, stream=given)
        assert only(cuda).stream == expected
        assert torch.streams.of_allocations == [expected]
        assert torch.streams.current[0] == current


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "torch"])
def test_torch_output_dtype(cuda, torch, dtype):
    host = host_arguments()
    del host["output"]
    arguments = with_arrays(lambda array: torch.Tensor(array, "cuda:0"), host)
    wanted = torch.float16 if dtype == "torch" else dtype
    output = mla.prefill(**arguments, output_dtype=wanted)
    assert output.dtype is (
        torch.float16 if dtype == "torch" else getattr(torch, dtype)
    )


def test_torch_parameters_and_subclasses(cuda, torch):
    """A parameter is a plain tensor, another subclass is asked through DLPack."""

    class Wrapped(torch.Tensor):
        def data_ptr(self):
            raise AssertionError("asked")

    arguments = with_arrays(
        lambda array: torch.Tensor(array, "cuda:0"), host_arguments()
    )
    arguments["k"] = torch.nn.Parameter(arguments["k"].array, "cuda:0")
    arguments["v"] = Wrapped(arguments["v"].array, "cuda:0")
    torch.streams.current[0] = cuda.stream(0)
    mla.prefill(**arguments)
    launch = only(cuda)
    assert launch.has(arguments["k"].data_ptr())
    assert launch.has(arguments["v"].array.ctypes.data)
    # q of such a class: the stream and the allocations are still torch's.
    arguments["q"] = Wrapped(arguments["q"].array, "cuda:0")
    del arguments["output"]
    cuda.reset()
    output = mla.prefill(**arguments)
    assert only(cuda).stream == torch.streams.current[0]
    assert type(output) is torch.Tensor


@pytest.mark.parametrize(
    "device, flags, message",
    [
        (
            "cuda:0",
            {"requires_grad": True},
            "k: expected a tensor that requires no gradient, since none is computed; "
            "k.detach() is one",
        ),
        (
            "cuda:0",
            {"negated": True},
            "k: expected a tensor whose memory holds its values, got a view that "
            "negates them; k.resolve_neg() is one",
        ),
        (
            "meta",
            {},
            "k: expected an array on the CPU or a CUDA device, got one on meta",
        ),
    ],
)
def test_torch_tensors_that_are_refused(cuda, torch, device, flags, message):
    # There is no complex bfloat16, and so nothing to make a view of that negates.
    host = host_arguments(families.replace(PAGED, dtype="float16"))
    arguments = with_arrays(lambda array: torch.Tensor(array, "cuda:0"), host)
    mla.prefill(**arguments)
    cuda.reset()
    arguments["k"] = torch.Tensor(arguments["k"].array, device, **flags)
    assert fails(cuda, ValueError, arguments) == message


@pytest.mark.parametrize("message", ["", ": it has no strides"])
def test_torch_tensor_without_strides(cuda, torch, message):
    """Some layouts tell by an error, others have strides of zeros."""
    arguments = with_arrays(
        lambda array: torch.Tensor(array, "cuda:0"), host_arguments()
    )
    arguments["v"].layout = "torch.sparse_coo"
    arguments["v"].error = message[2:]
    assert fails(cuda, ValueError, arguments) == (
        f"v: expected a tensor with strides, got one of torch.sparse_coo{message}"
    )


def test_torch_on_the_host(torch):
    """Read, computed and allocated like numpy's arrays."""
    host = host_arguments()
    expected = mla.prefill(**host).copy()
    del host["output"], host["lse"]
    arguments = with_arrays(lambda array: torch.Tensor(array, "cpu"), host)
    output, lse = mla.prefill(**arguments, return_lse=True, validate=True)
    assert str(output.device) == "cpu" and lse.dtype is torch.float32
    assert families.same_bits(output.array, expected)


def test_cupy(cuda, cupy):
    stream = cupy.streams.current[1] = cuda.stream(1)
    host = host_arguments()
    del host["output"], host["lse"]
    arguments = with_arrays(lambda array: cupy.ndarray(array, 1), host)
    output, lse = mla.prefill(**arguments, return_lse=True)
    assert type(output) is type(lse) is cupy.ndarray
    assert output.device == 1 and output.array.dtype == host["q"].dtype
    launch = only(cuda)
    assert (launch.device, launch.stream) == (1, stream)
    assert launch.has(output.data.ptr) and launch.has(lse.data.ptr)
    assert cupy.streams.of_allocations == [stream, stream]
    # Another stream than the current one gets memory of its own, too.
    with cupy.cuda.Device(1):
        own = cupy.cuda.Stream(cuda.stream(1), 1)
    foreign = TorchLike(cuda.stream(1))
    for given, handle in ((own, own.ptr), (foreign, foreign.cuda_stream)):
        cuda.reset()
        cupy.streams.of_allocations.clear()
        mla.prefill(**arguments, stream=given)
        assert only(cuda).stream == handle
        assert cupy.streams.of_allocations == [handle]
        assert cupy.streams.current[1] == stream


def test_cache_size(monkeypatch):
    """Batches that never come again do not fill the memory."""
    from mla import _frameworks, ops

    monkeypatch.setattr(_frameworks, "CACHE_SIZE", 8)
    ops._plans.clear()
    for tokens in range(1, 40):
        mla.prefill(**host_arguments(Case("many", (tokens,), rope="ragged", heads=1)))
        assert len(ops._plans) <= 8
    array = _frameworks.as_array(DLPackArray(64, (3,)), "q")
    assert len(array.layout.framework._layouts) <= 8
