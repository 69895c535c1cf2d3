# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of any producer through DLPack, read with ctypes.

https://dmlc.github.io/dlpack/latest/c_api.html. Only the description is wanted:
the caller holds the array itself, so the producer's structure is released as soon
as it has been read. That is also why a producer must not copy.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

# The newest version whose structures are those below.
_MAX_VERSION = (1, 0)

# Memory that the host may use, and memory that a CUDA device may use.
_KINDS = {1: "cpu", 3: "cpu", 2: "cuda", 13: "cuda"}
_OTHER_DEVICES = {
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    9: "VPI",
    10: "ROCm",
    11: "ROCm host",
    12: "extension",
    14: "oneAPI",
    15: "WebGPU",
    16: "Hexagon",
    17: "MAIA",
}

_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_CODES = {
    _INT: "int",
    _UINT: "uint",
    _FLOAT: "float",
    _BFLOAT: "bfloat",
    _COMPLEX: "complex",
}
_FLOAT8_E4M3FN = 10

_READ_ONLY, _IS_COPIED = 1, 2

# What the protocol has for streams that have no address.
LEGACY_STREAM, NO_STREAM = 1, -1


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


# From Python to the deleter: under the interpreter's lock, as capsules' own
# destructors are.
_Deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


class Tensor(NamedTuple):
    """What a producer said about an array."""

    pointer: int
    kind: str  # of the device: "cpu" or "cuda"
    index: int
    dtype: str  # as numpy names it
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in elements; None: row-major without gaps
    read_only: bool


def is_producer(kind: type) -> bool:
    return hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")


def read(obj: Any, name: str, stream: int) -> Tensor:
    """The description of `obj`, which becomes the operand `name`.

    Of an array on a device the producer makes `stream`, a CUDA stream's handle, wait
    for what has yet to write it; NO_STREAM: nobody has to wait.
    """
    kind = _device_kind(obj, name)
    options = {"stream": stream or LEGACY_STREAM} if kind == "cuda" else {}
    try:
        capsule = _export(obj, options)
    except Exception as error:
        raise ValueError(
            f"{name}: expected an array that DLPack can describe in place, got "
            f"{type(obj).__name__}: {error}"
        ) from error
    return _consume(capsule, name)


def _device_kind(obj: Any, name: str) -> str:
    try:
        number, _ = obj.__dlpack_device__()
    except Exception as error:
        raise ValueError(
            f"{name}: expected an array on the CPU or a CUDA device, got "
            f"{type(obj).__name__}: {error}"
        ) from error
    return _kind(int(number), name)


def _kind(number: int, name: str) -> str:
    if number not in _KINDS:
        other = _OTHER_DEVICES.get(number, "unknown")
        raise ValueError(
            f"{name}: expected an array on the CPU or a CUDA device, got one on "
            f"DLPack's device type {number} ({other})"
        )
    return _KINDS[number]


def _export(obj: Any, options: dict[str, Any]) -> Any:
    """The capsule: of DLPack 1 if the producer knows it, else an older one."""
    try:
        return obj.__dlpack__(max_version=_MAX_VERSION, copy=False, **options)
    except TypeError:
        return obj.__dlpack__(**options)


# Prototypes of our own: those of ctypes.pythonapi belong to the whole process.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", ctypes.pythonapi)
)

# A capsule keeps the pointer to its name, and may outlive this module when the
# interpreter ends: these are never freed.
_USED = ctypes.create_string_buffer(b"used_dltensor")
_USED_VERSIONED = ctypes.create_string_buffer(b"used_dltensor_versioned")
for _name in (_USED, _USED_VERSIONED):
    ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))(_name)


def _consume(capsule: Any, name: str) -> Tensor:
    """Reads a capsule, marks it used and hands its structure back."""
    if _is_valid(capsule, b"dltensor_versioned"):
        pointer = _get_pointer(capsule, b"dltensor_versioned")
        _set_name(capsule, _USED_VERSIONED)
        managed = _Versioned.from_address(pointer)
    elif _is_valid(capsule, b"dltensor"):
        pointer = _get_pointer(capsule, b"dltensor")
        _set_name(capsule, _USED)
        managed = _Managed.from_address(pointer)
    else:
        raise ValueError(
            f"{name}: expected a DLPack capsule that was not used before, got "
            f"{capsule!r}"
        )
    try:
        flags = 0
        if isinstance(managed, _Versioned):
            # Of a version that we do not know only the deleter has a known place.
            if managed.major != _MAX_VERSION[0]:
                raise ValueError(
                    f"{name}: expected DLPack version {_MAX_VERSION[0]}, got "
                    f"{managed.major}.{managed.minor}"
                )
            flags = managed.flags
        if flags & _IS_COPIED:
            raise ValueError(
                f"{name}: expected an array that DLPack can describe in place, got "
                "a copy of one"
            )
        return _describe(managed.tensor, bool(flags & _READ_ONLY), name)
    finally:
        if managed.deleter:
            _Deleter(managed.deleter)(pointer)


def _describe(tensor: _Tensor, read_only: bool, name: str) -> Tensor:
    if tensor.lanes != 1:
        raise TypeError(
            f"{name}: expected elements of 1 lane, got {_dtype(tensor)} of "
            f"{tensor.lanes} lanes"
        )
    rank = tensor.ndim
    return Tensor(
        pointer=(tensor.data or 0) + tensor.byte_offset,
        kind=_kind(tensor.device_type, name),
        index=tensor.device_id,
        dtype=_dtype(tensor),
        shape=tuple(tensor.shape[:rank]) if rank else (),
        strides=tuple(tensor.strides[:rank]) if tensor.strides else None,
        read_only=read_only,
    )


def _dtype(tensor: _Tensor) -> str:
    if tensor.code == _BOOL:
        return "bool"
    if tensor.code == _FLOAT8_E4M3FN:
        return "float8_e4m3fn"
    if tensor.code in _CODES:
        return f"{_CODES[tensor.code]}{tensor.bits}"
    return f"DLPack's type {tensor.code} of {tensor.bits} bits"
