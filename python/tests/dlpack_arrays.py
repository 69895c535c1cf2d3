# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that know DLPack and nothing else, made by hand.

Written from DLPack's own header, not from the package's reader, so that the two
check each other. Memory is somebody else's: a pointer is all that is exported.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

CPU, CUDA, CUDA_HOST, ROCM, CUDA_MANAGED = 1, 2, 3, 10, 13
CODES = {
    "int32": (0, 32),
    "int64": (0, 64),
    "uint32": (1, 32),
    "float16": (2, 16),
    "float32": (2, 32),
    "float64": (2, 64),
    "bfloat16": (4, 16),
    "complex64": (5, 64),
    "bool": (6, 8),
    "float8_e4m3fn": (10, 8),
}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [
        ("dl_tensor", DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", _Deleter),
    ]


class _ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}


class DLPackArray:
    """An array of any kind that DLPack can describe."""

    def __init__(
        self,
        pointer: int,
        shape: tuple[int, ...],
        dtype: str | tuple[int, int] = "float32",
        *,
        strides: tuple[int, ...] | None = None,
        device: tuple[int, int] = (CPU, 0),
        lanes: int = 1,
        byte_offset: int = 0,
        version: tuple[int, int] | None = (1, 0),
        flags: int = 0,
        owner: Any = None,
    ):
        self.pointer, self.owner = pointer, owner
        self.device, self.version = device, version
        # The calls of __dlpack__ and of deleters.
        self.requests: list[dict[str, Any]] = []
        self.capsules: list[Any] = []
        self.released = 0
        code, bits = CODES[dtype] if isinstance(dtype, str) else dtype
        rank = len(shape)
        self._shape = (ctypes.c_int64 * rank)(*shape)
        self._strides = (ctypes.c_int64 * rank)(*strides) if strides else None
        self.tensor = DLTensor(
            data=pointer,
            device=device,
            ndim=rank,
            code=code,
            bits=bits,
            lanes=lanes,
            shape=ctypes.addressof(self._shape) if rank else None,
            strides=ctypes.addressof(self._strides) if strides else None,
            byte_offset=byte_offset,
        )
        self._flags = flags
        self._managed: list[Any] = []
        self._deleter = _Deleter(self._release)

    def _release(self, managed: int) -> None:
        assert managed in [ctypes.addressof(m) for m in self._managed]
        self.released += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: Any) -> Any:
        self.requests.append(options)
        if self.version is None and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        versioned = self.version is not None
        if versioned:
            managed = _ManagedVersioned(
                version=self.version, flags=self._flags, deleter=self._deleter
            )
        else:
            managed = _Managed(deleter=self._deleter)
        managed.dl_tensor = self.tensor
        self._managed.append(managed)
        capsule = _new_capsule(ctypes.addressof(managed), _NAMES[versioned], None)
        self.capsules.append(capsule)
        return capsule

    def capsule_names(self) -> list[str]:
        return [_capsule_name(capsule).decode() for capsule in self.capsules]


def export(array: np.ndarray, **options: Any) -> DLPackArray:
    """`array` through DLPack, on the CPU or, if `device` says so, as if on it."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return DLPackArray(
        array.ctypes.data,
        array.shape,
        array.dtype.name,
        strides=strides,
        owner=array,
        **options,
    )
