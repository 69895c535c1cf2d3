# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of mla-c/Runtime.h that arrays on a GPU need."""

from __future__ import annotations

import ctypes
import functools
import os

import numpy as np

from mla import _capi
from mla._array import CPU, ITEM_BYTES, Array, numpy_dtype

# What to compile for by the number that the runtime has for an architecture.
TARGETS = {90: "sm_90a"}


class _Stream(ctypes.Structure):
    """MlaRuntimeStream."""

    _fields_ = [("handle", ctypes.c_void_p), ("device", ctypes.c_int32)]


@functools.cache
def _library() -> ctypes.CDLL:
    # libMLARuntime.so is among what the compiler's library brings along. Symbols
    # are looked for there too, and so in the very one that kernels call.
    lib = _capi.library()
    error = ctypes.POINTER(ctypes.c_void_p)
    signatures = {
        "mlaRuntimeDeviceArch": (ctypes.c_int32, [ctypes.c_int32, error]),
        "mlaRuntimeCopy": (
            ctypes.c_int,
            [
                ctypes.c_void_p,
                ctypes.c_void_p,
                ctypes.c_size_t,
                ctypes.POINTER(_Stream),
                error,
            ],
        ),
        "mlaRuntimeSynchronize": (ctypes.c_int, [ctypes.POINTER(_Stream), error]),
        "mlaRuntimeFreeString": (None, [ctypes.c_void_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments
    return lib


def _take_string(lib: ctypes.CDLL, error: ctypes.c_void_p) -> str:
    text = ctypes.string_at(error.value).decode(errors="replace")
    lib.mlaRuntimeFreeString(error)
    return text


def target_of(array: Array) -> str:
    """What to compile for to run where `array` is; raises if that is nothing."""
    if array.device == CPU:
        return "cpu"
    try:
        arch = device_arch(array.device.index)
    except _capi.Error as error:
        raise _capi.Error(f"{array.name}: cannot use {array.device}: {error}") from None
    if arch not in TARGETS:
        known = " or ".join(TARGETS.values())
        raise ValueError(
            f"{array.name}: expected an array on a device that runs {known}, got one "
            f"on {array.device}, which is sm_{arch}"
        )
    return TARGETS[arch]


def device_arch(index: int) -> int:
    """The architecture of a CUDA device, for example 90."""
    lib = _library()
    error = ctypes.c_void_p()
    arch = lib.mlaRuntimeDeviceArch(index, ctypes.byref(error))
    if arch < 0:
        raise _capi.Error(_take_string(lib, error))
    return arch


def synchronize(stream: int, device: int, name: str) -> None:
    """Waits for a stream that has yet to write the operand `name`."""
    lib = _library()
    error = ctypes.c_void_p()
    where = _Stream(stream or None, device)
    if lib.mlaRuntimeSynchronize(ctypes.byref(where), ctypes.byref(error)):
        raise _capi.Error(f"{name}: {_take_string(lib, error)}")


_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


@functools.cache
def _driver() -> ctypes.CDLL:
    # The one that the runtime opens.
    return ctypes.CDLL(os.environ.get("MLA_CUDA_DRIVER_LIBRARY") or "libcuda.so.1")


def device_of(pointer: int, name: str) -> int:
    """The number of the CUDA device that has an address, the operand's `name`."""
    index = ctypes.c_int()
    try:
        result = _driver().cuPointerGetAttribute(
            ctypes.byref(index), ctypes.c_int(_DEVICE_ORDINAL), ctypes.c_uint64(pointer)
        )
    except (OSError, AttributeError) as error:
        raise _capi.Error(f"{name}: no CUDA driver: {error}") from None
    if result:
        raise ValueError(
            f"{name}: expected an address on a CUDA device, got {pointer:#x} (the "
            f"driver's error {result})"
        )
    return index.value


def on_host(array: Array, stream: int) -> np.ndarray:
    """The array's values where numpy can read them: a copy if it is on a device,
    made after the earlier work of `stream`, which is waited for."""
    dtype = numpy_dtype(array.dtype, array.name)
    if 0 in array.shape:
        return np.empty(array.shape, dtype)
    item = ITEM_BYTES[array.dtype]
    last = sum((n - 1) * s for n, s in zip(array.shape, array.strides))
    size = (last + 1) * item
    if array.device == CPU:
        memory = (ctypes.c_char * size).from_address(array.pointer)
    else:
        memory = ctypes.create_string_buffer(size)
        lib = _library()
        error = ctypes.c_void_p()
        where = _Stream(stream or None, array.device.index)
        if lib.mlaRuntimeCopy(
            memory, array.pointer, size, ctypes.byref(where), ctypes.byref(error)
        ):
            raise _capi.Error(f"{array.name}: {_take_string(lib, error)}")
    strides = tuple(stride * item for stride in array.strides)
    return np.ndarray(array.shape, dtype, memory, strides=strides)
