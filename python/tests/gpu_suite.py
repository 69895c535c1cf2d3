# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The families on a GPU: the same batches, the same oracle, another target.

    PYTHONPATH=python python python/tests/gpu_suite.py [--target sm_90a] [NAME...]

Needs a GPU, its driver, numpy and ml_dtypes, no framework: operands are copied to
the device and results back through the runtime library. What the target refuses is
filtered out here, by name. Ends with `N passed, N failed, N skipped`.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import traceback

import families
from mla import _capi, ops
from mla.module import prefill_module

BYTES = {"bf16": 2, "f16": 2, "f32": 4, "i32": 4, "ui32": 4}


class Stream(ctypes.Structure):
    """MlaRuntimeStream: the default stream of device 0."""

    _fields_ = [("handle", ctypes.c_void_p), ("device", ctypes.c_int32)]


class Device:
    """Device memory through the runtime; raises `_capi.Error` as calls fail."""

    def __init__(self):
        path = _capi.library_path().with_name("libMLARuntime.so")
        self._lib = ctypes.CDLL(str(path))
        self._stream = Stream(None, 0)

    def _call(self, name, *arguments):
        error = ctypes.c_char_p()
        function = getattr(self._lib, name)
        if function(*arguments, ctypes.byref(self._stream), ctypes.byref(error)):
            raise _capi.Error(error.value.decode())

    def allocate(self, size):
        pointer = ctypes.c_void_p()
        self._call("mlaRuntimeAllocate", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer.value or 0

    def free(self, pointer):
        self._call("mlaRuntimeFree", ctypes.c_void_p(pointer))

    def copy(self, to, source, size):
        if size:
            self._call(
                "mlaRuntimeCopy",
                ctypes.c_void_p(to),
                ctypes.c_void_p(source),
                ctypes.c_size_t(size),
            )

    def synchronize(self):
        self._call("mlaRuntimeSynchronize")


def span(tensor):
    """Bytes from a tensor's first element to the end of its last."""
    if 0 in tensor.shape:
        return 0
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.strides))
    return (last + 1) * BYTES[tensor.dtype]


class DeviceKernel(_capi.Kernel):
    """A kernel that gets copies of its operands on the device."""

    device: Device

    def run(self, arguments, num_threads=0):
        copies, pointers = [], []
        try:
            for argument in arguments:
                if isinstance(argument, _capi.Scalar):
                    copies.append(argument)
                    continue
                size = span(argument)
                pointers.append(self.device.allocate(size))
                self.device.copy(pointers[-1], argument.pointer, size)
                copies.append(argument._replace(pointer=pointers[-1]))
            super().run(copies, num_threads)
            self.device.synchronize()
            for argument, copy, info in zip(arguments, copies, self.arguments):
                if isinstance(argument, _capi.Tensor) and info.written:
                    self.device.copy(argument.pointer, copy.pointer, span(argument))
        finally:
            for pointer in filter(None, pointers):
                self.device.free(pointer)


def refusal(case, batch):
    """Why the target does not take a case; empty if it does."""
    nope, rope, value = case.dims
    if case.dtype == "float32":
        return "f32 operands"
    if (case.cache_dtype or case.dtype) != case.dtype:
        return "a cache of another type"
    if nope % 64 or rope % 16 or value % 16 or case.latent % 8:
        return f"widths {case.dims}"
    for array in (batch.q, batch.k, batch.v):
        if any(s % 16 for s in array.strides[:-1]):
            return "strides that are not multiples of 16 bytes"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("names", nargs="*", help="only these cases")
    options = parser.parse_args()

    DeviceKernel.device = Device()
    kernels = {}

    def device_kernel(signature, _):
        if signature not in kernels:
            text = prefill_module(signature)
            kernels[signature] = DeviceKernel(text, options.target)
        return kernels[signature]

    ops._kernel = device_kernel
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in families.cases():
        if options.names and case.name not in options.names:
            continue
        batch = families.build(case)
        reason = refusal(case, batch)
        result = "skipped" if reason else "passed"
        if not reason:
            try:
                families.check(batch, *batch.run())
            except (AssertionError, _capi.Error) as error:
                result = "failed"
                reason = str(error) or traceback.format_exc()
        counts[result] += 1
        if result != "passed":
            print(f"{result}: {case.name}: {reason.splitlines()[0]}")
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
