# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whose arrays they are: how to read one, make one, and find the current stream.

No framework is imported here. One whose arrays are given has been imported by the
caller, and is found in `sys.modules`; all others are read through DLPack.
"""

from __future__ import annotations

import functools
import sys
from abc import ABC, abstractmethod
from typing import Any, Callable, NamedTuple

import numpy as np

from mla import _cuda_array, _dlpack
from mla._array import (
    CPU,
    ITEM_BYTES,
    Array,
    Device,
    Layout,
    dtype_from_name,
    dtype_name,
    element_strides,
    numpy_dtype,
    numpy_spelling,
)
from mla._stream import stream_handle

# Entries of a cache whose keys have shapes in them. A server that never sees the
# same batch twice would fill it without end: when it is full it starts anew.
CACHE_SIZE = 4096


def remember(cache: dict, key: Any, value: Any) -> Any:
    """Keeps `value`, or returns what another thread has kept meanwhile."""
    if len(cache) >= CACHE_SIZE:
        cache.clear()
    return cache.setdefault(key, value)


class Framework(ABC):
    """Arrays of one kind."""

    def __init__(self) -> None:
        # Layouts by what the framework's own attributes say.
        self._layouts: dict[tuple, Layout] = {}

    # Whether its arrays are read for each call, in which its producer makes the call's
    # stream wait. The others' work is on a stream that is theirs to tell.
    orders = False

    @abstractmethod
    def read(self, obj: Any, name: str, stream: int) -> tuple[int, Layout]:
        """The address of `obj`, which becomes the operand `name`, and the rest.

        `stream` is the handle of the stream that the call's work will go to.
        """

    @abstractmethod
    def empty(self, like: Any, new: NewArray) -> tuple[int, Any]:
        """The address of a new array beside `like`, and the array."""

    def current_stream(self, device: Device) -> int:
        """The handle of the stream that the framework's own work goes to now.

        One that says nothing of streams: the legacy default stream.
        """
        return 0


class NewArray(NamedTuple):
    """A contiguous array to be made, its elements not initialised."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    device: Device
    # The stream that writes it first, as the caller gave it, or None for the
    # framework's current one. Allocators hand out memory that the current stream
    # still uses, since whatever comes on that stream comes later.
    stream: Any = None


class _NumPy(Framework):
    def read(self, obj: np.ndarray, name: str, stream: int) -> tuple[int, Layout]:
        flags = obj.flags
        key = (obj.dtype, obj.shape, obj.strides, flags.writeable, flags.aligned)
        layout = self._layouts.get(key)
        if layout is None:
            layout = remember(self._layouts, key, self._layout(obj, name))
        return obj.ctypes.data if obj.size else 0, layout

    def _layout(self, array: np.ndarray, name: str) -> Layout:
        dtype = array.dtype
        if not dtype.isnative:
            raise TypeError(f"{name}: expected native byte order, got {dtype.str}")
        if not array.flags.aligned:
            raise ValueError(
                f"{name}: expected elements aligned to {dtype.itemsize} bytes"
            )
        strides = element_strides(name, array.shape, array.strides, dtype.itemsize)
        return Layout(
            self,
            CPU,
            numpy_spelling(dtype),
            array.shape,
            strides,
            array.flags.writeable,
        )

    def empty(self, like: Any, new: NewArray) -> tuple[int, np.ndarray]:
        array = np.empty(new.shape, numpy_dtype(new.dtype, new.name))
        return array.ctypes.data if array.size else 0, array


class _Producer(Framework):
    """Anything with `__dlpack__`."""

    orders = True

    def describe(self, obj: Any, name: str, stream: int) -> _dlpack.Tensor:
        stream = stream if self.orders else _dlpack.NO_STREAM
        return _dlpack.read(obj, name, stream)

    def read(self, obj: Any, name: str, stream: int) -> tuple[int, Layout]:
        pointer, *rest = self.describe(obj, name, stream)
        key = tuple(rest)
        layout = self._layouts.get(key)
        if layout is None:
            layout = remember(self._layouts, key, self._layout(*key, name))
        if 0 in layout.shape:
            return 0, layout
        item = ITEM_BYTES.get(layout.dtype, 1)
        if pointer % item:
            raise ValueError(f"{name}: expected elements aligned to {item} bytes")
        return pointer, layout

    def _layout(
        self,
        kind: str,
        index: int,
        dtype: str,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        read_only: bool,
        name: str,
    ) -> Layout:
        if strides is None:
            strides = contiguous_strides(shape)
        return Layout(
            self,
            CPU if kind == "cpu" else Device(kind, index),
            dtype_from_name(dtype),
            shape,
            element_strides(name, shape, strides),
            not read_only,
        )

    def empty(self, like: Any, new: NewArray) -> tuple[int, Any]:
        raise TypeError(
            f"{new.name}: expected an array to write to, since q is of "
            f"{type(like).__name__}: only for numpy, PyTorch and CuPy is one allocated"
        )


class _CudaArray(_Producer):
    """Anything with `__cuda_array_interface__` alone."""

    def describe(self, obj: Any, name: str, stream: int) -> _dlpack.Tensor:
        return _cuda_array.read(obj, name, stream)


class _Jax(_Producer):
    """Arrays that are never written, which DLPack cannot tell of all of them."""

    def describe(self, obj: Any, name: str, stream: int) -> _dlpack.Tensor:
        return super().describe(obj, name, stream)._replace(read_only=True)


class _CuPy(_Producer):
    orders = False

    def empty(self, like: Any, new: NewArray) -> tuple[int, Any]:
        cuda, empty = sys.modules["cupy"].cuda, sys.modules["cupy"].empty
        index, dtype = new.device.index, numpy_dtype(new.dtype, new.name)
        stream = new.stream
        with cuda.Device(index):
            if stream is None:
                array = empty(new.shape, dtype)
            else:
                if not isinstance(stream, (cuda.Stream, cuda.ExternalStream)):
                    stream = cuda.ExternalStream(stream_handle(stream), index)
                with stream:
                    array = empty(new.shape, dtype)
        return array.data.ptr, array

    def current_stream(self, device: Device) -> int:
        return sys.modules["cupy"].cuda.get_current_stream(device.index).ptr


class _TorchSubclass(_Producer):
    """Tensors whose attributes may mean something else: DLPack has the last word."""

    orders = False

    def empty(self, like: Any, new: NewArray) -> tuple[int, Any]:
        torch = sys.modules["torch"]
        dtype, device = getattr(torch, dtype_name(new.dtype)), str(new.device)
        stream = new.stream
        if stream is None:
            tensor = torch.empty(new.shape, dtype=dtype, device=device)
        else:
            if not isinstance(stream, torch.cuda.Stream):
                handle = stream_handle(stream)
                stream = torch.cuda.ExternalStream(handle, new.device.index)
            with torch.cuda.stream(stream):
                tensor = torch.empty(new.shape, dtype=dtype, device=device)
        return tensor.data_ptr(), tensor

    def current_stream(self, device: Device) -> int:
        torch = sys.modules["torch"]
        # What torch's own compiler calls: the public way makes an object first,
        # which takes several times as long.
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        if raw is not None:
            return raw(device.index)
        return torch.cuda.current_stream(device.index).cuda_stream


class _Torch(_TorchSubclass):
    """Plain tensors, read by their attributes: a tenth of what DLPack takes."""

    def read(self, obj: Any, name: str, stream: int) -> tuple[int, Layout]:
        try:
            key = (
                obj.dtype,
                obj.shape,
                obj.stride(),
                obj.device,
                obj.requires_grad,
                obj.is_neg(),
            )
            layout = self._layouts.get(key)
            if layout is None:
                layout = remember(self._layouts, key, self._tensor_layout(obj, name))
            return obj.data_ptr(), layout
        except RuntimeError as error:
            raise ValueError(
                f"{name}: expected a tensor with strides, got one of {obj.layout}: "
                f"{error}"
            ) from error

    def _tensor_layout(self, tensor: Any, name: str) -> Layout:
        if str(tensor.layout) != "torch.strided":
            raise ValueError(
                f"{name}: expected a tensor with strides, got one of {tensor.layout}"
            )
        if tensor.requires_grad:
            raise ValueError(
                f"{name}: expected a tensor that requires no gradient, since none is "
                f"computed; {name}.detach() is one"
            )
        if tensor.is_neg():
            raise ValueError(
                f"{name}: expected a tensor whose memory holds its values, got a view "
                f"that negates them; {name}.resolve_neg() is one"
            )
        device = tensor.device
        if device.type not in ("cpu", "cuda"):
            raise ValueError(
                f"{name}: expected an array on the CPU or a CUDA device, got one on "
                f"{device}"
            )
        shape = tuple(tensor.shape)
        return Layout(
            self,
            CPU if device.type == "cpu" else Device("cuda", device.index),
            dtype_from_name(str(tensor.dtype).rpartition(".")[2]),
            shape,
            element_strides(name, shape, tensor.stride()),
            True,
        )

    def empty(self, like: Any, new: NewArray) -> tuple[int, Any]:
        if new.stream is not None:
            return super().empty(like, new)
        dtype = getattr(sys.modules["torch"], dtype_name(new.dtype))
        tensor = like.new_empty(new.shape, dtype=dtype)
        return tensor.data_ptr(), tensor

    def prepare_empty(self, new: NewArray) -> Callable[[], Any]:
        """A function that makes `new` each time, for the current stream."""
        torch = sys.modules["torch"]
        return functools.partial(
            # It is told the most, and takes the least time.
            torch.empty_strided,
            new.shape,
            contiguous_strides(new.shape),
            dtype=getattr(torch, dtype_name(new.dtype)),
            device=torch.device(str(new.device)),
        )


_numpy, _cupy, _torch, _torch_subclass = _NumPy(), _CuPy(), _Torch(), _TorchSubclass()
_producer, _cuda_arrays, _jax = _Producer(), _CudaArray(), _Jax()

Reader = Callable[[Any, str, int], tuple[int, Layout]]


def _read_array(array: Array, name: str, stream: int) -> tuple[int, Layout]:
    """What was read before, unless the stream has to be told of to a producer."""
    framework = array.layout.framework
    if framework.orders and array.device.kind == "cuda":
        return framework.read(array.owner, name, stream)
    return array.pointer, array.layout


# By the type of what is read.
READERS: dict[type, Reader] = {np.ndarray: _numpy.read, Array: _read_array}


def reader_of(obj: Any, name: str) -> Reader:
    """The function that reads arrays of the type of `obj`, the operand `name`."""
    read = READERS.get(type(obj))
    if read is None:
        read = remember(READERS, type(obj), _framework_of(obj, name).read)
    return read


def as_array(obj: Any, name: str) -> Array:
    """Describes `obj`, which becomes the operand `name`. Nothing is copied.

    No call has a stream yet: one that uses the array reads it again if it has to.
    """
    return Array(name, *reader_of(obj, name)(obj, name, 0), obj)


def _framework_of(obj: Any, name: str) -> Framework:
    if isinstance(obj, np.ndarray):
        return _numpy
    if _is_instance(obj, "torch", "Tensor"):
        torch = sys.modules["torch"]
        plain = type(obj) in (torch.Tensor, torch.nn.Parameter)
        return _torch if plain else _torch_subclass
    if _dlpack.is_producer(type(obj)):
        if _is_instance(obj, "cupy", "ndarray"):
            return _cupy
        return _jax if _is_instance(obj, "jax", "Array") else _producer
    if hasattr(type(obj), "__cuda_array_interface__"):
        return _cuda_arrays
    raise TypeError(
        f"{name}: expected a numpy array or one with __dlpack__, got "
        f"{type(obj).__name__}"
    )


def _is_instance(obj: Any, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(obj, kind)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))
