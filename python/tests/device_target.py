# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Targets that run on copies of the operands in a device's memory.

No framework is needed: memory and copies are the runtime library's. Each operand
lies between guards full of NaN, so that what is read outside of it shows in the
result, and what is written outside of it shows in the guards.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
from far import FAR, pieces, reserve, span
from mla import _capi
from mla._limits import refusal
from mla.module import PrefillSignature, prefill_module
from targets import Operands, Refused, Target, operands, tensor


class Stream(ctypes.Structure):
    """MlaRuntimeStream: the default stream of device 0."""

    _fields_ = [("handle", ctypes.c_void_p), ("device", ctypes.c_int32)]


class DeviceMemory:
    """Device memory through the runtime; raises `_capi.Error` as calls fail."""

    def __init__(self) -> None:
        path = _capi.library_path().with_name("libMLARuntime.so")
        self._lib = ctypes.CDLL(str(path))
        self._stream = Stream(None, 0)

    def _call(self, name: str, *arguments: Any) -> None:
        error = ctypes.c_char_p()
        function = getattr(self._lib, name)
        if function(*arguments, ctypes.byref(self._stream), ctypes.byref(error)):
            raise _capi.Error((error.value or b"failed without a message").decode())

    def allocate(self, size: int) -> int:
        pointer = ctypes.c_void_p()
        try:
            self._call(
                "mlaRuntimeAllocate", ctypes.byref(pointer), ctypes.c_size_t(size)
            )
        except _capi.Error as error:
            # Arrays that reach past 2^31 elements do not fit every device.
            if size < FAR or "OUT_OF_MEMORY" not in str(error):
                raise
            raise Refused(str(error)) from None
        return pointer.value or 0

    def free(self, pointer: int) -> None:
        self._call("mlaRuntimeFree", ctypes.c_void_p(pointer))

    def copy(self, to: int, source: int, size: int) -> None:
        if size:
            self._call(
                "mlaRuntimeCopy",
                ctypes.c_void_p(to),
                ctypes.c_void_p(source),
                ctypes.c_size_t(size),
            )

    def synchronize(self) -> None:
        self._call("mlaRuntimeSynchronize")


class HostMemory:
    """The same of the host, for targets that run there."""

    def __init__(self) -> None:
        self._owners: dict[int, Any] = {}

    def allocate(self, size: int) -> int:
        memory = np.frombuffer(reserve(size), np.uint8)
        self._owners[memory.ctypes.data] = memory
        return memory.ctypes.data

    def free(self, pointer: int) -> None:
        del self._owners[pointer]

    def copy(self, to: int, source: int, size: int) -> None:
        ctypes.memmove(to, source, size)

    def synchronize(self) -> None:
        pass


GUARD = 2**16  # bytes
POISON = 0xFF  # as a byte of any float type here: NaN
# Where an operand begins after its guard: aligned to 256 bytes in every other run
# and to 16 in the others, which is all that a target may ask for (MLA-R8).
SHIFTS = (0, 16)


class Copy:
    """An array's copy on the device."""

    def __init__(self, memory: Any, array: np.ndarray, guard: int, shift: int):
        self._memory, self._array, self._guard = memory, array, guard
        self._size = span(array)
        self._base = self.pointer = 0
        if self._size == 0:
            return
        # The place within 16 bytes is the array's own: elements that a view does
        # not align are not aligned on the device either.
        shift += array.ctypes.data % 16
        self._base = memory.allocate(guard + shift + self._size + guard)
        self.pointer = self._base + guard + shift
        self._poison = np.full(guard + shift, POISON, np.uint8)
        memory.copy(self._base, self._poison.ctypes.data, guard + shift)
        memory.copy(self.pointer + self._size, self._poison.ctypes.data, guard)
        for offset, size in pieces(array):
            memory.copy(self.pointer + offset, array.ctypes.data + offset, size)

    def check_guards(self, name: str) -> None:
        """Fails if something was written before or after the array."""
        if not self.pointer:
            return
        before = self._fetch(self._base, len(self._poison))
        after = self._fetch(self.pointer + self._size, self._guard)
        for where, found in (("before", before[::-1]), ("after", after)):
            changed = np.flatnonzero(found != POISON)
            assert not len(changed), (
                f"{name}: {len(changed)} bytes {where} it were written, the nearest "
                f"at a distance of {changed[0]} bytes"
            )

    def fetch(self, name: str) -> None:
        """Copies the array back; fails if what lies between its elements changed."""
        for offset, size in pieces(self._array):
            if size < self._size or self._array.flags.c_contiguous:
                self._memory.copy(
                    self._array.ctypes.data + offset, self.pointer + offset, size
                )
            else:
                self._fetch_strided(name)

    def _fetch_strided(self, name: str) -> None:
        array = self._array
        got = self._fetch(self.pointer, self._size)
        host = np.frombuffer(
            (ctypes.c_uint8 * self._size).from_address(array.ctypes.data), np.uint8
        )
        between = np.ones(self._size, bool)
        shape, strides = (*array.shape, array.itemsize), (*array.strides, 1)
        np.ndarray(shape, bool, between, strides=strides)[...] = False
        changed = int((between & (got != host)).sum())
        assert not changed, f"{name}: {changed} bytes between its rows were written"
        array[...] = np.ndarray(array.shape, array.dtype, got, strides=array.strides)

    def _fetch(self, pointer: int, size: int) -> np.ndarray:
        result = np.empty(size, np.uint8)
        self._memory.copy(result.ctypes.data, pointer, size)
        return result

    def free(self) -> None:
        if self._base:
            self._memory.free(self._base)


class DeviceTarget(Target):
    """A target whose kernels get device memory; the arrays stay the host's."""

    def __init__(self, name: str, guard: int = GUARD):
        self.name = name
        gpu = name.startswith("sm_")
        self.memory: Any = DeviceMemory() if gpu else HostMemory()
        # tanh.approx.f32 has a relative error of 2^-11.
        self.tanh_error = 2.0**-11 if gpu else Target.tanh_error
        self.lost = False  # an error of the device that further calls repeat
        self._gpu = gpu
        self._guard = guard
        self._runs = 0
        # Kernels, or why the target refuses them.
        self._kernels: dict[PrefillSignature, _capi.Kernel | str] = {}

    def prefill(self, q: Any, k: Any, v: Any, **options: Any) -> Any:
        return_lse = options.pop("return_lse", False)
        shape = (*q.shape[:2], v.shape[2])
        if options.get("output") is None:
            options["output"] = np.full(shape, np.nan, q.dtype)
        if return_lse:
            options["lse"] = np.full(shape[:2], np.nan, np.float32)
        call = operands(q, k, v, **options)
        self.run(self._kernel(call), list(call.values.values()))
        output = options["output"]
        return (output, options["lse"]) if return_lse else output

    def _kernel(self, call: Operands) -> _capi.Kernel:
        signature = call.signature
        if signature not in self._kernels:
            self._kernels[signature] = self._compile_or_refuse(signature)
        kernel = self._kernels[signature]
        if isinstance(kernel, str):
            raise Refused(kernel)
        return kernel

    def _compile_or_refuse(self, signature: PrefillSignature) -> _capi.Kernel | str:
        try:
            return self.compile(prefill_module(signature))
        except _capi.Error:
            reason = refusal(signature, self.name)
            if reason is None:
                raise
            return str(reason)

    def run(self, kernel: _capi.Kernel, arguments: list[Any]) -> None:
        shift = SHIFTS[self._runs % len(SHIFTS)]
        self._runs += 1
        copies: list[Copy | None] = []
        try:
            for argument in arguments:
                is_array = isinstance(argument, np.ndarray)
                copies.append(
                    Copy(self.memory, argument, self._guard, shift)
                    if is_array
                    else None
                )
            self._launch(kernel, arguments, copies)
            for copy, info in zip(copies, kernel.arguments):
                if copy:
                    copy.check_guards(info.name)
            for copy, info in zip(copies, kernel.arguments):
                if copy and info.written:
                    copy.fetch(info.name)
        finally:
            if not self.lost:
                for copy in filter(None, copies):
                    copy.free()

    def _launch(
        self, kernel: _capi.Kernel, arguments: list[Any], copies: list[Copy | None]
    ) -> None:
        try:
            kernel.run(
                [
                    tensor(argument, copy.pointer) if copy else argument
                    for argument, copy in zip(arguments, copies)
                ]
            )
            self.memory.synchronize()
        except _capi.Error as error:
            try:
                self.memory.synchronize()
            except _capi.Error:
                self.lost = True
                raise error from None
            # MLA-R8: a target may refuse what is not aligned, naming the operand.
            for argument, info in zip(arguments, kernel.arguments):
                named = re.search(rf"\b{info.name}\b", str(error))
                if self._gpu and named and _is_misaligned(argument):
                    raise Refused(_first_line(error)) from error
            raise


def _is_misaligned(argument: Any) -> bool:
    if not isinstance(argument, np.ndarray):
        return False
    strides = [s for n, s in zip(argument.shape, argument.strides[:-1]) if n > 1]
    return any(place % 16 for place in (argument.ctypes.data, *strides))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
