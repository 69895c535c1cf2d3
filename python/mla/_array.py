# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package needs to know of an array, whoever made it.

The rest of the package speaks of `Array` alone: a pointer, and a `Layout`, which
is all else that a kernel and the checks look at. Equal layouts are one object,
so what was worked out for a set of layouts is found again by their identity:
that is what keeps a call cheap. `_frameworks` makes arrays of what is given.
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

ITEM_BYTES = {
    "bf16": 2,
    "f16": 2,
    "f32": 4,
    "f64": 8,
    "i32": 4,
    "ui32": 4,
    "i64": 8,
    "ui64": 8,
    "f8E4M3FN": 1,
}

# What the copies of GPU kernels move at once, and so what their operands start at a
# multiple of.
COPY_BYTES = 16


class Device(NamedTuple):
    """Where the memory of an array lives."""

    kind: str  # "cpu" or "cuda"
    index: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"


CPU = Device("cpu")


class Layout:
    """Everything about an array but where it starts; compared by identity."""

    __slots__ = ("device", "dtype", "framework", "shape", "strides", "writable")

    def __init__(
        self,
        framework: Any,
        device: Device,
        dtype: str,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        writable: bool,
    ):
        self.framework = framework  # of `_frameworks`: whose array it is
        self.device = device
        self.dtype = dtype  # as MLIR spells it, or numpy's name for other types
        self.shape = shape
        self.strides = strides  # in elements
        self.writable = writable


class Array(NamedTuple):
    """One operand: a description of memory that its owner keeps alive."""

    name: str
    pointer: int  # 0 for an empty array
    layout: Layout
    owner: Any  # the object that was given

    @property
    def dtype(self) -> str:
        return self.layout.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.layout.strides

    @property
    def device(self) -> Device:
        return self.layout.device

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

    def require_destination(self) -> None:
        """Raises unless every element can be written, and is one of its own."""
        if not self.layout.writable:
            raise ValueError(
                f"{self.name}: expected a writable array, got a read-only one"
            )
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


def numpy_dtype(dtype: str, name: str) -> np.dtype:
    """numpy's type for an MLIR spelling; the operand `name` has it."""
    if dtype != "bf16":
        return np.dtype(dtype_name(dtype))
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise TypeError(
            f"{name}: numpy knows bfloat16 through the package ml_dtypes only, "
            "which is not installed"
        ) from None
    return np.dtype(bfloat16)


def dtype_from_name(name: str) -> str:
    """The MLIR spelling of an element type's name; other names stay."""
    return _FROM_NUMPY.get(name, name)


def as_dtype(dtype: Any, name: str) -> str:
    """The MLIR spelling of what a framework calls a dtype, or of its name."""
    # torch.bfloat16 is no dtype for numpy, but its name says which one it is.
    text = str(dtype).rpartition("torch.")[2]
    if text in _FROM_NUMPY:
        return _FROM_NUMPY[text]
    try:
        return numpy_spelling(np.dtype(dtype))
    except TypeError:
        raise TypeError(f"{name}: expected an element type, got {dtype!r}") from None


@functools.cache
def numpy_spelling(dtype: np.dtype) -> str:
    # Kept, since numpy works out the name of a dtype anew each time.
    return dtype_from_name(dtype.name)


def element_strides(
    name: str,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    item_bytes: int | None = None,
) -> tuple[int, ...]:
    """Strides in elements. Those that address nothing become contiguous ones.

    `strides` count elements, or bytes where the size of an element is given.
    """
    unit = item_bytes or 1
    result = [0] * len(shape)
    contiguous = 1
    for dim in reversed(range(len(shape))):
        extent, stride = shape[dim], strides[dim]
        if extent <= 1 or 0 in shape:
            result[dim] = contiguous
        elif stride < 0 or stride % unit:
            multiples = f"multiples of the element's {unit} bytes and "
            raise ValueError(
                f"{name}: expected strides that are {multiples if item_bytes else ''}"
                f"not negative, got {list(strides)}{' bytes' if item_bytes else ''}"
            )
        else:
            result[dim] = stride // unit
        contiguous = result[dim] * max(extent, 1)
    if result and result[-1] != 1:
        raise ValueError(
            f"{name}: expected a last dimension of stride 1, got a stride of "
            f"{result[-1]} elements"
        )
    return tuple(result)
