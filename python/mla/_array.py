# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package needs to know of an array, whoever made it.

The rest of the package speaks of `Array` alone: a pointer, an element type,
a shape, strides in elements and a device. numpy arrays are the one producer
today; another (anything with ``__dlpack__``) is one more branch in `as_array`
and one in `allocate`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

# Element types as MLIR spells them, by numpy's name. bfloat16 is a numpy dtype
# that the ml_dtypes package registers; it is recognised by its name, so reading
# such an array does not need that package.
_FROM_NUMPY = {
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "int32": "i32",
    "uint32": "ui32",
    "int64": "i64",
    "uint64": "ui64",
    "float8_e4m3fn": "f8E4M3FN",
}
_TO_NUMPY = {mlir: numpy for numpy, mlir in _FROM_NUMPY.items()}


class Device(NamedTuple):
    """Where the memory of an array lives."""

    kind: str  # "cpu"
    index: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"


CPU = Device("cpu")


class Array(NamedTuple):
    """One operand: a description of memory that its owner keeps alive."""

    name: str
    pointer: int  # 0 for an empty array
    dtype: str  # as MLIR spells it, or numpy's name where MLIR has no such type
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    device: Device
    writable: bool
    owner: Any  # the object that was given

    def require_dtype(self, allowed: tuple[str, ...], hint: str = "") -> None:
        """Raises unless the element type is one of `allowed`."""
        if self.dtype not in allowed:
            expected = " or ".join(dtype_name(dtype) for dtype in allowed)
            raise TypeError(
                f"{self.name}: expected {expected}, got {dtype_name(self.dtype)}{hint}"
            )

    def require_shape(self, *extents: int | str) -> None:
        """Raises unless the shape fits. A string is the name of a free extent."""
        fits = len(self.shape) == len(extents) and all(
            isinstance(expected, str) or expected == given
            for expected, given in zip(extents, self.shape)
        )
        if not fits:
            expected = ", ".join(str(extent) for extent in extents)
            raise ValueError(
                f"{self.name}: expected shape [{expected}], got {list(self.shape)}"
            )

    def require_distinct_elements(self) -> None:
        """Raises if two elements share memory: a destination must not."""
        dims = sorted(
            (stride, extent)
            for stride, extent in zip(self.strides, self.shape)
            if extent > 1
        )
        reach = 0  # the furthest element that the dimensions so far touch
        for stride, extent in dims:
            if 0 in self.shape:
                return
            if stride <= reach:
                raise ValueError(
                    f"{self.name}: expected elements that do not overlap, got "
                    f"shape {list(self.shape)} with strides {list(self.strides)}"
                )
            reach += stride * (extent - 1)


def dtype_name(dtype: str) -> str:
    """The name users know an MLIR element type by: "bfloat16" for "bf16"."""
    return _TO_NUMPY.get(dtype, dtype)


def as_dtype(dtype: Any, name: str) -> str:
    """The MLIR spelling of anything numpy takes for a dtype, or of its name."""
    if isinstance(dtype, str) and dtype in _FROM_NUMPY:
        return _FROM_NUMPY[dtype]
    try:
        return _spelling(np.dtype(dtype))
    except TypeError:
        raise TypeError(f"{name}: expected an element type, got {dtype!r}") from None


@functools.cache
def _spelling(dtype: np.dtype) -> str:
    # Kept, since numpy works out the name of a dtype anew each time.
    return _FROM_NUMPY.get(dtype.name, dtype.name)


def as_array(obj: Any, name: str) -> Array:
    """Describes `obj`, which becomes the operand `name`. Nothing is copied."""
    if isinstance(obj, np.ndarray):
        return _from_numpy(obj, name)
    raise TypeError(f"{name}: expected a numpy array, got {type(obj).__name__}")


def allocate(shape: tuple[int, ...], dtype: str, device: Device, name: str) -> Array:
    """A new contiguous array on `device`; its elements are not initialised."""
    assert device == CPU, "only numpy arrays get this far"
    return _from_numpy(np.empty(shape, _numpy_dtype(dtype, name)), name)


def _numpy_dtype(dtype: str, name: str) -> np.dtype:
    if dtype != "bf16":
        return np.dtype(_TO_NUMPY[dtype])
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise TypeError(
            f"{name}: numpy knows bfloat16 through the package ml_dtypes only, "
            "which is not installed"
        ) from None
    return np.dtype(bfloat16)


def _from_numpy(array: np.ndarray, name: str) -> Array:
    dtype = array.dtype
    if not dtype.isnative:
        raise TypeError(f"{name}: expected native byte order, got {dtype.str}")
    if not array.flags.aligned:
        raise ValueError(f"{name}: expected elements aligned to {dtype.itemsize} bytes")
    return Array(
        name=name,
        pointer=array.ctypes.data if array.size else 0,
        dtype=_spelling(dtype),
        shape=array.shape,
        strides=_element_strides(array, name),
        device=CPU,
        writable=array.flags.writeable,
        owner=array,
    )


def _element_strides(array: np.ndarray, name: str) -> tuple[int, ...]:
    """Strides in elements. Those that address nothing become contiguous ones."""
    itemsize = array.dtype.itemsize
    strides = [0] * array.ndim
    contiguous = 1
    for dim in reversed(range(array.ndim)):
        extent, stride = array.shape[dim], array.strides[dim]
        if extent <= 1 or array.size == 0:
            strides[dim] = contiguous
        elif stride < 0 or stride % itemsize:
            raise ValueError(
                f"{name}: expected strides that are multiples of the element's "
                f"{itemsize} bytes and not negative, got {list(array.strides)} bytes"
            )
        else:
            strides[dim] = stride // itemsize
        contiguous = strides[dim] * max(extent, 1)
    if strides and strides[-1] != 1:
        raise ValueError(
            f"{name}: expected a last dimension of stride 1, got a stride of "
            f"{strides[-1]} elements"
        )
    return tuple(strides)
