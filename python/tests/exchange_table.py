# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A framework's DLPack exchange table, whose functions are Python's.

Written from DLPack's own header, like `dlpack_arrays`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from dlpack_arrays import DLPackArray, DLTensor

# As a framework's functions are: called with the interpreter's lock.
_Describe = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
_CurrentStream = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class _Table(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("previous", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 3),
        ("describe", _Describe),
        ("current_stream", _CurrentStream),
    ]


_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


class ExchangeTable:
    """Counts the calls of its functions."""

    def __init__(
        self,
        describe: Callable[[Any], DLPackArray | None],  # None: an error
        current_stream: Callable[[int], int],
    ):
        self.described = 0

        def fill(array: Any, result: Any) -> int:
            self.described += 1
            exported = describe(array)
            if exported is None:
                return -1
            result[0] = exported.tensor
            return 0

        def get_stream(kind: int, index: int, result: Any) -> int:
            result[0] = current_stream(index)
            return 0

        self.struct = _Table(
            version=(1, 3),
            describe=_Describe(fill),
            current_stream=_CurrentStream(get_stream),
        )
        self.capsule = self.make_capsule()

    def make_capsule(
        self, name: bytes = b"dlpack_exchange_api", struct: Any = None
    ) -> Any:
        # To which it points.
        self.kept = (ctypes.create_string_buffer(name), struct or self.struct)
        return _new_capsule(ctypes.addressof(self.kept[1]), self.kept[0], None)
