# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C API of libMLACompiler.so (mla-c/Compiler.h) through ctypes.

The library is loaded at the first use, not at import, and RTLD_LOCAL: another
copy of LLVM in the process must neither see ours nor be seen by it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import weakref
from collections.abc import Sequence
from typing import NamedTuple

LIBRARY_NAME = "libMLACompiler.so"
LIBRARY_VARIABLE = "MLA_COMPILER_LIBRARY"
_API_VERSION = 1

# MlaDType, by MLIR's spelling.
_DTYPES = {
    "bf16": 0,
    "f16": 1,
    "f32": 2,
    "f64": 3,
    "i32": 4,
    "ui32": 5,
    "i64": 6,
    "ui64": 7,
    "f8E4M3FN": 8,
}
_DTYPE_NAMES = {number: name for name, number in _DTYPES.items()}

_SCALARS = {
    "i32": ctypes.c_int32,
    "ui32": ctypes.c_uint32,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
}


class Error(RuntimeError):
    """The compiler or the runtime refused, or could not be loaded."""


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


class _CompileOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("target", ctypes.c_char_p),
        ("entry", ctypes.c_char_p),
    ]


class _Argument(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("written", ctypes.c_int32),
    ]


class _RunOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("numThreads", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("stream", ctypes.c_void_p),
    ]


class Argument(NamedTuple):
    """What a kernel expects at one place of its argument list."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None  # -1: dynamic. None: a scalar
    written: bool


class Tensor(NamedTuple):
    """One argument of a call."""

    pointer: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Scalar(NamedTuple):
    """One argument of a call, by value."""

    value: int | float
    dtype: str


class Kernel:
    """A compiled function. May be run from several threads at once."""

    def __init__(self, text: str, target: str = "cpu", entry: str | None = None):
        lib = library()
        source = text.encode()
        options = _compile_options(target, entry)
        error = ctypes.c_void_p()
        self._handle = lib.mlaCompile(
            source, len(source), ctypes.byref(options), ctypes.byref(error)
        )
        if not self._handle:
            raise Error(_take_string(lib, error))
        weakref.finalize(self, lib.mlaKernelDestroy, self._handle)
        self.arguments = tuple(
            _argument(lib.mlaKernelArgument(self._handle, index))
            for index in range(lib.mlaKernelArgumentCount(self._handle))
        )

    def run(self, arguments: Sequence[Tensor | Scalar], num_threads: int = 0) -> None:
        """Runs and waits. The caller keeps the memory of the tensors alive."""
        Call(self, arguments).run(
            [a.pointer for a in arguments if isinstance(a, Tensor)],
            [a.value for a in arguments if isinstance(a, Scalar)],
            num_threads,
        )


class Call:
    """A call of a kernel, prepared: what may differ the next time are pointers,
    scalars and the stream. May be run again, but not by two threads at once."""

    def __init__(
        self,
        kernel: Kernel,
        arguments: Sequence[Tensor | Scalar],
        device: int = -1,
    ):
        self.kernel, self.device = kernel, device
        self._run = library().mlaKernelRun
        count = len(arguments)
        self.tensors = tensors = (_Tensor * count)()
        self._kept = []  # shapes and strides that `tensors` points into
        self._scalars = []
        for tensor, argument in zip(tensors, arguments):
            tensor.dtype = _DTYPES[argument.dtype]
            if isinstance(argument, Scalar):
                scalar = _SCALARS[argument.dtype]()
                self._scalars.append(scalar)
                tensor.data = ctypes.addressof(scalar)
                continue
            rank = len(argument.shape)
            extents = (ctypes.c_int64 * (2 * rank))(*argument.shape, *argument.strides)
            self._kept.append(extents)
            tensor.rank = rank
            tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
            tensor.strides = ctypes.cast(
                ctypes.addressof(extents) + 8 * rank, ctypes.POINTER(ctypes.c_int64)
            )
        # The same memory as words, of which a tensor's first is its pointer: far
        # cheaper to write than a field of a structure in an array.
        words = ctypes.sizeof(_Tensor) // 8
        self._words = (ctypes.c_uint64 * (words * count)).from_buffer(tensors)
        self._places = [
            words * index
            for index, argument in enumerate(arguments)
            if not isinstance(argument, Scalar)
        ]
        self._options = _RunOptions(ctypes.sizeof(_RunOptions), 0, device, None)
        self._error = ctypes.c_void_p()
        self._arguments = (
            ctypes.c_void_p(kernel._handle),
            tensors,
            ctypes.c_size_t(count),
            ctypes.pointer(self._options),
            ctypes.pointer(self._error),
        )

    def run(
        self,
        pointers: Sequence[int],
        scalars: Sequence[int | float],
        num_threads: int = 0,
        stream: int = 0,
    ) -> None:
        """Runs with the tensors and the scalars in the order of the arguments. On a
        CPU it has finished on return, on a GPU it has been enqueued on `stream`."""
        words = self._words
        for place, pointer in zip(self._places, pointers):
            words[place] = pointer
        for scalar, value in zip(self._scalars, scalars):
            scalar.value = value
        self._options.numThreads = num_threads
        self._options.stream = stream
        if self._run(*self._arguments):
            message = _take_string(library(), self._error)
            self._error.value = None
            raise Error(message)


def lower_text(text: str, stop_after: str, target: str = "cpu") -> str:
    """The module's text after a stage of the pipeline."""
    lib = library()
    source = text.encode()
    error = ctypes.c_void_p()
    lowered = lib.mlaLowerText(
        source, len(source), target.encode(), stop_after.encode(), ctypes.byref(error)
    )
    if not lowered:
        raise Error(_take_string(lib, error))
    return _take_string(lib, ctypes.c_void_p(lowered))


def compile_to_object(
    text: str, path: str | os.PathLike, target: str = "cpu", entry: str | None = None
) -> None:
    """Writes a native object file of the module."""
    lib = library()
    source = text.encode()
    options = _compile_options(target, entry)
    error = ctypes.c_void_p()
    failed = lib.mlaCompileToObject(
        source,
        len(source),
        ctypes.byref(options),
        os.fsencode(path),
        ctypes.byref(error),
    )
    if failed:
        raise Error(_take_string(lib, error))


def version() -> str:
    """The version of the loaded library, for example "0.1.0"."""
    return library().mlaVersion().decode()


def llvm_version() -> str:
    """The LLVM release inside the loaded library."""
    return library().mlaLLVMVersion().decode()


def library_path() -> pathlib.Path:
    """Where libMLACompiler.so is; raises `Error` if it is nowhere.

    In this order: the environment variable MLA_COMPILER_LIBRARY, the installed
    package, the build tree of a source checkout.
    """
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        path = pathlib.Path(named)
        if path.is_file():
            return path
        raise Error(f"{LIBRARY_VARIABLE}: expected the path of a file, got {named}")
    package = pathlib.Path(__file__).resolve().parent
    candidates = [package / "_lib" / LIBRARY_NAME]
    if package.parent.name == "python":
        candidates.append(package.parents[1] / "build" / "lib" / LIBRARY_NAME)
    for path in candidates:
        if path.is_file():
            return path
    raise Error(
        f"{LIBRARY_NAME} not found; looked for "
        + ", ".join(str(path) for path in candidates)
        + f". Build it (cmake --build build) or set {LIBRARY_VARIABLE} to its path"
    )


@functools.cache
def library() -> ctypes.CDLL:
    """The loaded library, with the types of its functions declared."""
    path = library_path()
    try:
        lib = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
    except OSError as error:
        raise Error(f"cannot load {path}: {error}") from None
    _declare(lib)
    given = lib.mlaApiVersion()
    if given < _API_VERSION:
        raise Error(f"{path}: expected C API version {_API_VERSION}, got {given}")
    return lib


def _declare(lib: ctypes.CDLL) -> None:
    text = [ctypes.c_char_p, ctypes.c_size_t]
    compile_options = ctypes.POINTER(_CompileOptions)
    error = ctypes.POINTER(ctypes.c_void_p)
    # Strings that are to be freed are declared void *: as char * ctypes would
    # turn them into bytes and lose the pointer.
    signatures = {
        "mlaApiVersion": (ctypes.c_int32, []),
        "mlaVersion": (ctypes.c_char_p, []),
        "mlaLLVMVersion": (ctypes.c_char_p, []),
        "mlaFreeString": (None, [ctypes.c_void_p]),
        "mlaCompile": (ctypes.c_void_p, [*text, compile_options, error]),
        "mlaKernelDestroy": (None, [ctypes.c_void_p]),
        "mlaKernelArgumentCount": (ctypes.c_size_t, [ctypes.c_void_p]),
        "mlaKernelArgument": (_Argument, [ctypes.c_void_p, ctypes.c_size_t]),
        "mlaKernelRun": (
            ctypes.c_int,
            [
                ctypes.c_void_p,
                ctypes.POINTER(_Tensor),
                ctypes.c_size_t,
                ctypes.POINTER(_RunOptions),
                error,
            ],
        ),
        "mlaLowerText": (
            ctypes.c_void_p,
            [*text, ctypes.c_char_p, ctypes.c_char_p, error],
        ),
        "mlaCompileToObject": (
            ctypes.c_int,
            [*text, compile_options, ctypes.c_char_p, error],
        ),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments


def _compile_options(target: str, entry: str | None) -> _CompileOptions:
    return _CompileOptions(
        ctypes.sizeof(_CompileOptions),
        target.encode(),
        entry.encode() if entry is not None else None,
    )


def _argument(argument: _Argument) -> Argument:
    scalar = argument.rank < 0
    return Argument(
        name=argument.name.decode(),
        dtype=_DTYPE_NAMES[argument.dtype],
        shape=None if scalar else tuple(argument.shape[: argument.rank]),
        written=bool(argument.written),
    )


def _take_string(lib: ctypes.CDLL, string: ctypes.c_void_p) -> str:
    """Copies a string of the library's and frees it."""
    if not string.value:
        return "failed without a message"
    try:
        return ctypes.string_at(string.value).decode(errors="replace")
    finally:
        lib.mlaFreeString(string)
