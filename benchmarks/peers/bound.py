# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel with its arguments, as a C program would call it again and again.

Kernel.run packs its arguments for every call; here that is done once, so that what
is left of a call is mlaKernelRun. Short kernels are not timed by Python then.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from mla import _capi


class BoundKernel:
    def __init__(
        self,
        kernel: _capi.Kernel,
        arguments: Sequence[_capi.Tensor | _capi.Scalar],
        owners: object,  # of the tensors' memory: kept as long as this
        stream: int = 0,  # a cudaStream_t; 0 is the default stream
        device: int = -1,
    ):
        lib = _capi.library()
        tensors = (_capi._Tensor * len(arguments))()
        memory: list[object] = []  # what `tensors` points into
        for tensor, argument in zip(tensors, arguments):
            tensor.dtype = _capi._DTYPES[argument.dtype]
            if isinstance(argument, _capi.Scalar):
                scalar = _capi._SCALARS[argument.dtype](argument.value)
                tensor.data = ctypes.addressof(scalar)
                memory.append(scalar)
                continue
            tensor.data = argument.pointer or None
            tensor.rank = len(argument.shape)
            extents = ctypes.c_int64 * tensor.rank
            shape, strides = extents(*argument.shape), extents(*argument.strides)
            tensor.shape, tensor.strides = shape, strides
            memory += [shape, strides]
        options = _capi._RunOptions(
            ctypes.sizeof(_capi._RunOptions), 0, device, stream or None
        )
        self._error = ctypes.c_void_p()
        self._run = lib.mlaKernelRun
        self._arguments = (
            kernel._handle,
            tensors,
            len(arguments),
            ctypes.byref(options),
            ctypes.byref(self._error),
        )
        self._kept = (kernel, owners, memory, tensors, options)

    def __call__(self) -> None:
        if self._run(*self._arguments):
            raise _capi.Error(_capi._take_string(_capi.library(), self._error))
