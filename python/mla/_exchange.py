# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors by their DLPack exchange table, in the library and not in the interpreter.

To read a tensor by its attributes takes longer than to launch a kernel. A type with
`__dlpack_c_exchange_api__` has functions in C that describe its arrays, and the
library has two of its own that call them for all arrays of a call: PythonArrays.h.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from mla import _capi

# What the arrays are given in, and what comes from a cache that holds its own:
# MlaArrayOperands and MlaHeldOperands, in order.
OPERANDS = (
    "q",
    "input_row_offsets",
    "k",
    "v",
    "buffer_row_offsets",
    "cache_offsets",
    "k_rope",
    "cache_lengths",
    "output",
    "lse",
)
HELD = ("kv_blocks", "lookup_table", "cache_lengths")
_SCALARS = ("window", "layer_idx", "scale")


class Exchange(NamedTuple):
    """Functions for arrays of one type, in tuples in the order of `OPERANDS`."""

    # (arrays): equal bytes for equal layouts, None if it does not tell everything.
    describe: Callable[[tuple], bytes | None]
    # (arrays, PreparedCall.address, HeldPointers.address or 0, the stream's handle or
    # None, threads, window, layer_idx, scale): what went wrong, or None.
    run: Callable[..., str | None]
    # Types of what the framework and Python call an element type.
    dtypes: tuple[type, type]


class _PreparedCall(ctypes.Structure):
    """MlaPreparedCall."""

    _fields_ = [
        ("kernel", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("places", ctypes.POINTER(ctypes.c_int32)),
        ("count", ctypes.c_size_t),
        ("device", ctypes.c_int32),
    ]


class PreparedCall:
    """A call of a kernel without its arrays; `address` is what `Exchange.run` takes."""

    def __init__(self, call: _capi.Call, names: list[str], held: bool):
        """`names` of the kernel's arguments, some of which may be held by a cache."""
        places = {name: place for place, name in enumerate(OPERANDS)}
        first = len(places)
        if held:
            places |= {name: first + place for place, name in enumerate(HELD)}
        first += len(HELD)
        places |= {name: first + place for place, name in enumerate(_SCALARS)}
        order = (ctypes.c_int32 * len(names))(*(places[name] for name in names))
        self._call = call  # which has the tensors
        self._struct = _PreparedCall(
            call.kernel._handle,
            ctypes.addressof(call.tensors),
            order,
            len(names),
            call.device,
        )
        self.address = ctypes.addressof(self._struct)


class HeldPointers:
    """The addresses of the operands `HELD`, in memory of their own."""

    def __init__(self, *pointers: int):
        self._words = (ctypes.c_uint64 * len(HELD))(*pointers)
        self.address = ctypes.addressof(self._words)


_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_knows = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_create = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)


@functools.lru_cache(maxsize=64)
def exchange_of(kind: type) -> Exchange | None:
    """The functions for arrays of exactly this type, if it is PyTorch's and has any.

    A subclass may mean something else by what it inherits, and other frameworks'
    arrays are not read before their producers have been told of the stream.
    """
    torch: Any = sys.modules.get("torch")
    if kind is not getattr(torch, "Tensor", None):
        return None
    capsule: Any = getattr(kind, "__dlpack_c_exchange_api__", None)
    try:
        table = _get_pointer(capsule, b"dlpack_exchange_api")
        library = _capi.library()
    except (ValueError, _capi.Error):  # no capsule, or another one; no library
        return None
    if not _knows(("mlaPythonKnowsTable", library))(table):
        return None
    return Exchange(
        _create(("mlaPythonDescribe", library))(kind, table),
        _create(("mlaPythonRun", library))(kind, table),
        (str, type(torch.float32)),
    )
