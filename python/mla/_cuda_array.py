# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of `__cuda_array_interface__`, for producers that know no DLPack.

https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html. It says neither
which device an array is on, so the driver is asked, nor anything of bfloat16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mla import _dlpack, _runtime


def read(obj: Any, name: str, stream: int) -> _dlpack.Tensor:
    """The description of `obj`, which becomes the operand `name`.

    Work that another stream than `stream` has yet to do for it is waited for.
    """
    try:
        interface = obj.__cuda_array_interface__
        pointer, read_only = interface["data"]
        shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
    except Exception as error:
        raise ValueError(
            f"{name}: expected an array that __cuda_array_interface__ can describe, "
            f"got {type(obj).__name__}: {type(error).__name__}: {error}"
        ) from error
    if interface.get("mask") is not None:
        raise ValueError(f"{name}: expected an array without a mask")
    if not dtype.isnative:
        raise TypeError(f"{name}: expected native byte order, got {dtype.str}")
    strides = interface.get("strides")
    if strides is not None:
        strides = _in_elements(name, shape, strides, dtype.itemsize)
    # Without an address nothing is read or written, wherever that is.
    device = _runtime.device_of(pointer, name) if pointer else 0
    writer = interface.get("stream")
    if pointer and writer not in (None, stream or _dlpack.LEGACY_STREAM):
        _runtime.synchronize(writer, device, name)
    return _dlpack.Tensor(
        pointer=pointer or 0,
        kind="cuda",
        index=device,
        dtype=dtype.name,
        shape=shape,
        strides=strides,
        read_only=read_only,
    )


def _in_elements(
    name: str, shape: tuple[int, ...], strides: tuple[int, ...], item: int
) -> tuple[int, ...]:
    moving = [stride for extent, stride in zip(shape, strides) if extent > 1]
    if any(stride % item for stride in moving):
        raise ValueError(
            f"{name}: expected strides that are multiples of the element's {item} "
            f"bytes, got {list(strides)} bytes"
        )
    return tuple(stride // item for stride in strides)
