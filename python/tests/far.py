# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that reach past 2^31 elements, in which little is stored (MLA-R7).

They take memory only where they were written. `pieces` says where that is, so that
copies of them need not move gigabytes of nothing.
"""

from __future__ import annotations

import mmap
import weakref

import numpy as np

FAR = 2**31
_NORESERVE = 0x4000

# Lazy memory of which only a part counts: its address -> the part, in bytes.
_parts: dict[int, tuple[int, int]] = {}


def reserve(size: int) -> mmap.mmap:
    """Zeros that take memory only where they are touched."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    return mmap.mmap(-1, size, flags=flags)


def far_rows(array: np.ndarray, axis: int) -> np.ndarray:
    """A copy whose elements along `axis` lie so far apart that the last is past
    2^31 elements."""
    extent = array.shape[axis]
    # A multiple of 64 elements: what an aligned copy of the array would have.
    step = (FAR // (extent - 1) // 64 + 2) * 64
    shape = list(array.shape)
    shape[axis] = 1
    inner = int(np.prod(shape))
    assert inner <= step
    strides = [0] * array.ndim
    stride = 1
    for dim in reversed(range(array.ndim)):
        strides[dim] = stride
        stride *= shape[dim]
    strides[axis] = step
    elements = step * (extent - 1) + inner
    flat = np.frombuffer(reserve(elements * array.itemsize), array.dtype)
    view = np.lib.stride_tricks.as_strided(
        flat, array.shape, [stride * array.itemsize for stride in strides]
    )
    view[...] = array
    return view


def after_rows(array: np.ndarray, rows: int) -> np.ndarray:
    """A copy of `array` with so many rows before it that nobody looks at."""
    row = array[0].size * array.itemsize
    memory = reserve((rows + len(array)) * row)
    far = np.frombuffer(memory, array.dtype).reshape(-1, *array.shape[1:])
    far[rows:] = array
    address = far.ctypes.data
    _parts[address] = (rows * row, array.nbytes)
    weakref.finalize(memory, _parts.pop, address)
    return far


def span(array: np.ndarray) -> int:
    """Bytes from an array's first element to the end of its last."""
    if array.size == 0:
        return 0
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides) if n > 1)
    return last + array.itemsize


def pieces(array: np.ndarray) -> list[tuple[int, int]]:
    """The parts of an array's span that hold something: (offset, size) in bytes.

    The whole span, unless that is much more than there is.
    """
    size = span(array)
    part = _parts.get(array.ctypes.data)
    if part and size > part[1]:
        return [part]
    if size < 2**26 or size < 4 * array.nbytes:
        return [(0, size)] if size else []
    # The trailing dimensions that lie in one piece, and where those pieces are.
    dims, run = array.ndim, array.itemsize
    while dims and array.strides[dims - 1] == run:
        run *= array.shape[dims - 1]
        dims -= 1
    return [
        (sum(i * s for i, s in zip(index, array.strides)), run)
        for index in np.ndindex(array.shape[:dims])
    ]
