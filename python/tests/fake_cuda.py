# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The unit tests' CUDA driver, which has the host's memory and only records launches.

The runtime library opens one driver in its life: `install` says which, and later
calls of this process see the fake one. Devices 0 and 1 are sm_90, device 2 is sm_80.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from typing import NamedTuple

from mla import _capi

VARIABLE = "MLA_CUDA_DRIVER_LIBRARY"
NAME = "libFakeCuda.so"


def path() -> pathlib.Path:
    """Of the build tree that the compiler's library is in."""
    return _capi.library_path().resolve().parents[1] / "unittests" / NAME


class Launch(NamedTuple):
    function: str
    device: int
    stream: int
    captured: bool
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: bytes

    def has(self, pointer: int) -> bool:
        """Whether an address is anywhere among the arguments."""
        return pointer.to_bytes(8, "little") in self.arguments


class FakeCuda:
    def __init__(self, library: ctypes.CDLL):
        self._library = library
        library.fakeCudaCreateStream.restype = ctypes.c_void_p
        library.fakeCudaEndCapture.restype = ctypes.c_void_p
        library.fakeCudaDescribeLaunches.restype = ctypes.c_size_t

    def reset(self) -> None:
        self._library.fakeCudaReset()

    def fail(self, function: str, result: int) -> None:
        """The next call of a function of the driver returns `result`."""
        self._library.fakeCudaFail(function.encode(), result)

    def count(self, function: str) -> int:
        return self._library.fakeCudaCount(function.encode())

    def violations(self) -> int:
        """Calls that a capture under way forbids."""
        return self._library.fakeCudaViolations()

    def stream(self, device: int) -> int:
        return self._library.fakeCudaCreateStream(device)

    def begin_capture(self, stream: int) -> None:
        self._library.fakeCudaBeginCapture(ctypes.c_void_p(stream))

    def end_capture(self, stream: int) -> None:
        graph = self._library.fakeCudaEndCapture(ctypes.c_void_p(stream))
        self._library.fakeCudaDestroyGraph(ctypes.c_void_p(graph))

    def launches(self) -> list[Launch]:
        size = self._library.fakeCudaDescribeLaunches(None, ctypes.c_size_t(0))
        text = ctypes.create_string_buffer(size)
        self._library.fakeCudaDescribeLaunches(text, ctypes.c_size_t(size))
        result = []
        for line in text.value.decode().splitlines():
            function, device, stream, captured, *numbers, arguments = line.split(" ")
            extents = tuple(map(int, numbers))
            result.append(
                Launch(
                    function,
                    int(device),
                    int(stream),
                    captured == "1",
                    extents[:3],
                    extents[3:6],
                    extents[6],
                    bytes.fromhex(arguments),
                )
            )
        return result


@functools.cache
def install() -> FakeCuda:
    """Makes the fake driver that of this process, and returns it."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(path())
    error = ctypes.c_char_p()
    count = _capi.library().mlaRuntimeDeviceCount(ctypes.byref(error))
    if before is None:
        del os.environ[VARIABLE]
    else:
        os.environ[VARIABLE] = before
    assert count == 3, f"{path()}: expected 3 devices, got {count}: {error.value}"
    return FakeCuda(ctypes.CDLL(str(path())))
