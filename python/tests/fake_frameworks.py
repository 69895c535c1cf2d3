# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package uses of PyTorch, CuPy and JAX, on memory of the host.

Devices are a number: nothing is there that could tell. Both say which stream is
theirs at the moment, and on which one memory was asked for.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from dlpack_arrays import CPU, CUDA, DLPackArray, export
from exchange_table import ExchangeTable

NUMPY = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}
NUMPY |= {n: np.dtype(n) for n in ("float16", "float32", "int32", "uint32", "int64")}


class Streams:
    """The current stream of each device."""

    def __init__(self) -> None:
        self.current: dict[int, int] = {}
        self.of_allocations: list[int] = []

    def get(self, device: int) -> int:
        return self.current.get(device, 0)

    def note_allocation(self, device: int) -> None:
        self.of_allocations.append(self.get(device))

    @contextlib.contextmanager
    def use(self, handle: int, device: int):
        before = self.get(device)
        self.current[device] = handle
        yield
        self.current[device] = before


class _TorchDtype(NamedTuple):
    name: str

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    __str__ = __repr__


class _TorchDevice(NamedTuple):
    type: str
    index: int | None = None

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


def torch_module(raw_stream: bool = True, exchange: bool = False) -> Any:
    """A module to be put into sys.modules; `streams` are its streams.

    With `exchange` tensors have a table of functions, which is `torch.exchange`.
    """
    torch = types.ModuleType("torch")
    torch.streams = streams = Streams()

    class Tensor:
        def __init__(self, array: np.ndarray, device: str, **flags: bool):
            kind, _, index = device.partition(":")
            self.array = array
            self.kind, self.index = kind, int(index) if index else None
            self.device = _TorchDevice(self.kind, self.index)
            self.dtype = getattr(torch, array.dtype.name)
            self.requires_grad = flags.get("requires_grad", False)
            self.negated = flags.get("negated", False)
            self.layout, self.error = "torch.strided", ""
            # For the table: what it says points into this.
            self.exported = export(array, device=self.__dlpack_device__())

        @property
        def shape(self) -> tuple[int, ...]:
            return self.array.shape

        def stride(self) -> tuple[int, ...]:
            if self.error:
                raise RuntimeError(self.error)
            if self.layout != "torch.strided":
                return (0,) * self.array.ndim
            return tuple(s // self.array.itemsize for s in self.array.strides)

        def is_neg(self) -> bool:
            return self.negated

        def data_ptr(self) -> int:
            return self.array.ctypes.data if self.array.size else 0

        def new_empty(self, shape: tuple[int, ...], dtype: Any) -> Tensor:
            return torch.empty(shape, dtype=dtype, device=str(self.device))

        def __dlpack_device__(self) -> tuple[int, int]:
            return (CUDA if self.kind == "cuda" else CPU, self.index or 0)

        def __dlpack__(self, **options: Any) -> Any:
            exporter = export(self.array, device=self.__dlpack_device__())
            self.kept = exporter  # as the capsule points into it
            return exporter.__dlpack__(**options)

    def empty(shape: tuple[int, ...], dtype: Any, device: str) -> Tensor:
        tensor = Tensor(np.full(shape, 7, NUMPY[dtype.name]), device)
        if tensor.kind == "cuda":
            streams.note_allocation(tensor.index)
        return tensor

    def empty_strided(
        shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, device: Any
    ) -> Tensor:
        tensor = empty(shape, dtype, str(device))
        item = tensor.array.itemsize
        assert tensor.array.strides == tuple(item * stride for stride in strides)
        return tensor

    def describe(tensor: Tensor) -> DLPackArray | None:
        known = tensor.layout == "torch.strided" and tensor.kind != "meta"
        return tensor.exported if known else None

    class Stream(NamedTuple):
        cuda_stream: int
        device_index: int = 0

    torch.Tensor, torch.empty, torch.empty_strided = Tensor, empty, empty_strided
    torch.device = lambda name: Tensor(np.zeros(0, np.float32), name).device
    if exchange:
        torch.exchange = ExchangeTable(describe, streams.get)
        Tensor.__dlpack_c_exchange_api__ = torch.exchange.capsule
    torch.nn = types.SimpleNamespace(Parameter=type("Parameter", (Tensor,), {}))
    torch.cuda = types.SimpleNamespace(
        current_stream=lambda device: Stream(streams.get(device), device),
        Stream=Stream,
        ExternalStream=Stream,
        stream=lambda stream: streams.use(stream.cuda_stream, stream.device_index),
    )
    torch._C = types.SimpleNamespace()
    if raw_stream:
        torch._C._cuda_getCurrentRawStream = streams.get
    for name in NUMPY:
        setattr(torch, name, _TorchDtype(name))
    return torch


def cupy_module() -> Any:
    """The same of CuPy, whose arrays are read through DLPack."""
    cupy = types.ModuleType("cupy")
    cupy.streams = streams = Streams()
    devices = [0]

    class ndarray:
        def __init__(self, array: np.ndarray, device: int):
            self.array, self.device = array, device
            self.data = types.SimpleNamespace(ptr=array.ctypes.data)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (CUDA, self.device)

        def __dlpack__(self, **options: Any) -> Any:
            self.kept = export(self.array, device=(CUDA, self.device))
            return self.kept.__dlpack__(**options)

    def empty(shape: tuple[int, ...], dtype: Any) -> ndarray:
        streams.note_allocation(devices[-1])
        return ndarray(np.full(shape, 7, dtype), devices[-1])

    class Device:
        def __init__(self, index: int):
            self.index = index

        def __enter__(self) -> None:
            devices.append(self.index)

        def __exit__(self, *_: Any) -> None:
            devices.pop()

    class ExternalStream:
        def __init__(self, ptr: int, device_id: int):
            assert device_id == devices[-1], "a stream of another device"
            self.ptr, self._use = ptr, streams.use(ptr, device_id)

        def __enter__(self) -> None:
            self._use.__enter__()

        def __exit__(self, *error: Any) -> None:
            self._use.__exit__(*error)

    cupy.ndarray, cupy.empty = ndarray, empty
    cupy.cuda = types.SimpleNamespace(
        Device=Device,
        Stream=type("Stream", (ExternalStream,), {}),
        ExternalStream=ExternalStream,
        get_current_stream=lambda device: types.SimpleNamespace(
            ptr=streams.get(device)
        ),
    )
    return cupy


def jax_module() -> Any:
    """JAX's arrays: immutable, which their DLPack of before version 1 cannot say."""
    jax = types.ModuleType("jax")

    class Array:
        pass

    class ArrayImpl(Array):
        def __init__(self, array: np.ndarray, device: int):
            self.array, self.device = array, device
            self.waits: list[int] = []  # the streams that were to wait for it

        def __dlpack_device__(self) -> tuple[int, int]:
            return (CUDA, self.device)

        def __dlpack__(
            self,
            *,
            stream: int | None = None,
            max_version: tuple[int, int] | None = None,
            dl_device: tuple[int, int] | None = None,
            copy: bool | None = None,
        ) -> Any:
            # XLA takes the number for a stream's handle: -1 it would follow.
            assert stream is not None and stream > 0
            self.waits.append(stream)
            device = (CUDA, self.device)
            self.kept = export(self.array, device=device, version=None)
            return self.kept.__dlpack__()

    jax.Array, jax.ArrayImpl = Array, ArrayImpl
    return jax
