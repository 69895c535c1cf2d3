# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Object files for a GPU: called without a compiler, they launch what it would.

On the fake driver, in a process of its own that has the kernel and the runtime. How an
object runs on a CPU is tested by examples/07-ahead-of-time, and on a GPU too.
"""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

import fake_cuda
import families
import mla
import numpy as np
import pytest
import targets
from families import Case
from mla import _capi
from mla.module import prefill_module

PAGED = Case("ahead", (40, 0, 3), (20, 5, 0), dims=(64, 64, 64), gap=8)
WINDOWED = {"mask": "sliding_window_causal", "window": 7}
CASES = [PAGED, families.replace(PAGED, rope="ragged", **WINDOWED)]
LIBRARIES = _capi.library_path().resolve().parent
TESTS = pathlib.Path(__file__).resolve().parent

COMPILER = shutil.which("clang-22") or shutil.which("cc")
SCALARS = {"i32": ctypes.c_int32, "f32": ctypes.c_float}


class Descriptor(NamedTuple):
    """A memref descriptor, as docs/CAPI.md has it."""

    aligned: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    allocated: int = 0  # nobody reads it

    def words(self) -> Any:
        values = [self.allocated, self.aligned, 0, *self.shape, *self.strides]
        return (ctypes.c_int64 * len(values))(*values)


def call(kernel: ctypes.CDLL, arguments: list[Any]) -> None:
    """Calls @prefill with descriptors and scalars."""
    passed, kept = [], []
    for argument in arguments:
        if isinstance(argument, Descriptor):
            kept.append(argument.words())
            passed.append(ctypes.c_void_p(ctypes.addressof(kept[-1])))
        else:
            passed.append(SCALARS[argument.dtype](argument.value))
    kernel._mlir_ciface_prefill(*passed)


class Runtime:
    """libMLARuntime, as a program that has no compiler sees it."""

    class Stream(ctypes.Structure):
        _fields_ = [("handle", ctypes.c_void_p), ("device", ctypes.c_int32)]

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(LIBRARIES / "libMLARuntime.so"))
        self._library.mlaRuntimeTakeError.restype = ctypes.c_char_p

    def set_stream(self, handle: int, device: int) -> None:
        self._library.mlaRuntimeSetStream(self.Stream(handle, device))

    def take_error(self) -> str:
        return (self._library.mlaRuntimeTakeError() or b"").decode()


class Prefill(NamedTuple):
    """A prefill, its operands in memory that the fake driver takes for a device's."""

    text: str
    values: dict[str, Any]

    def arguments(self) -> list[Any]:
        return [
            Descriptor(
                value.ctypes.data if value.size else 0,
                value.shape,
                targets.element_strides(value),
            )
            if isinstance(value, np.ndarray)
            else value
            for value in self.values.values()
        ]


def make(case: Case) -> Prefill:
    batch = families.build(case)
    operands = targets.operands(
        batch.q, batch.k, batch.v, output=batch.output, **batch.options
    )
    return Prefill(prefill_module(operands.signature), operands.values)


def compile_object(text: str, path: pathlib.Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # The fake driver reads PTX, so no ptxas may be found.
        patch.setenv("PATH", "/nonexistent")
        patch.delenv("CUDA_HOME", raising=False)
        patch.delenv("MLA_PTXAS", raising=False)
        _capi.compile_to_object(text, path, "sm_90a")


def link(*arguments: object) -> None:
    """With the runtime's library and no other one of ours."""
    command = [COMPILER, *arguments, f"-L{LIBRARIES}", "-lMLARuntime", "-lm"]
    command += [f"-Wl,-rpath,{LIBRARIES},-z,defs"]
    subprocess.run(list(map(str, command)), check=True)


def compile_kernel(prefill: Prefill, folder: pathlib.Path) -> pathlib.Path:
    """A library with the kernel."""
    compile_object(prefill.text, folder / "prefill.o")
    link("-shared", folder / "prefill.o", "-o", folder / "libprefill.so")
    return folder / "libprefill.so"


@pytest.fixture(scope="module", params=range(len(CASES)), ids=lambda i: CASES[i].rope)
def compiled(request, tmp_path_factory) -> tuple[int, pathlib.Path]:
    """A case's number, and its kernel."""
    folder = tmp_path_factory.mktemp("kernel")
    return request.param, compile_kernel(make(CASES[request.param]), folder)


def without_padding(arguments: bytes, scale: float) -> list[int]:
    """Words of four bytes. The exponents' factor is the one parameter that has only
    four, so that what follows it may be anything."""
    words = np.frombuffer(arguments, np.uint32).copy()
    factor = np.isclose(words.view(np.float32), scale * np.log2(np.e), rtol=1e-6)
    (place,) = np.flatnonzero(factor)
    words[place + 1] = 0
    return words.tolist()


def test_launches_what_the_compiler_would(cuda, compiled):
    """On the same operands and stream: the same launch to the last word."""
    number, library = compiled
    prefill = make(CASES[number])
    kernel = _capi.Kernel(prefill.text, "sm_90a")
    tensors = [
        targets.tensor(value, value.ctypes.data)
        if isinstance(value, np.ndarray)
        else value
        for value in prefill.values.values()
    ]
    stream = cuda.stream(1)
    _capi.Call(kernel, tensors, device=1).run(
        [t.pointer for t in tensors if isinstance(t, _capi.Tensor)],
        [s.value for s in tensors if isinstance(s, _capi.Scalar)],
        stream=stream,
    )
    runtime = Runtime()
    runtime.set_stream(stream, 1)
    arguments = [
        # As the compiler's own calls have it.
        a._replace(allocated=a.aligned) if isinstance(a, Descriptor) else a
        for a in prefill.arguments()
    ]
    call(ctypes.CDLL(str(library)), arguments)
    runtime.set_stream(0, -1)
    assert runtime.take_error() == ""

    expected, launch = cuda.launches()
    # The last parameter is the slot, which is each kernel's own.
    scale = prefill.values["scale"].value
    words, expected_words = (
        without_padding(each.arguments[:-8], scale) for each in (launch, expected)
    )
    assert words == expected_words
    assert launch[:-1] == expected[:-1]
    assert (launch.device, launch.stream) == (1, stream)
    assert launch.shared_bytes > 48 << 10 and launch.block[0] % 128 == 0
    for name, value in prefill.values.items():
        if isinstance(value, np.ndarray):
            assert launch.has(value.ctypes.data), name


CHILD = """
import ctypes, sys
import fake_cuda, test_ahead_of_time
from test_ahead_of_time import CASES, Runtime, call, make
prefill = make(CASES[int(sys.argv[1])])
runtime, kernel = Runtime(), ctypes.CDLL(sys.argv[2])
"""


def run_without_compiler(
    number: int, library: pathlib.Path, body: str, **environment: str
) -> None:
    """Runs Python statements in a process that has the kernel, made of the case of
    that number, and the runtime."""
    package = str(pathlib.Path(mla.__file__).parents[1])
    checks = """
maps = open("/proc/self/maps").read()
for name in ("libMLACompiler", "libMLIR", "libLLVM"):
    assert name not in maps, name
assert "libMLARuntime" in maps
"""
    process = subprocess.run(
        [sys.executable, "-c", CHILD + body + checks, str(number), str(library)],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([package, str(TESTS)])}
        | {fake_cuda.VARIABLE: str(fake_cuda.path()), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr


def test_without_compiler(compiled):
    run_without_compiler(
        *compiled,
        """
driver = fake_cuda.FakeCuda(ctypes.CDLL(str(fake_cuda.path())))
for _ in range(2):
    call(kernel, prefill.arguments())
assert runtime.take_error() == ""
first, second = driver.launches()
assert first == second
assert first.function == "prefill_kernel" and first.device == 0, first
assert first.grid[0] > 0 and first.grid[1:] == (1, 1), first.grid
for name, value in prefill.values.items():
    if hasattr(value, "ctypes"):
        assert first.has(value.ctypes.data), name
# The image was loaded once.
assert driver.count("cuModuleLoadDataEx") == 1
""",
    )


def test_errors_without_compiler(compiled):
    """They name the operand, nothing is launched, and the next call is as good."""
    run_without_compiler(
        *compiled,
        """
driver = fake_cuda.FakeCuda(ctypes.CDLL(str(fake_cuda.path())))
good = prefill.arguments()
index = list(prefill.values).index("k")
bad = good.copy()
bad[index] = good[index]._replace(aligned=good[index].aligned + 8)
call(kernel, bad)
message = runtime.take_error()
assert message.startswith("'k': expected data at a multiple of 16"), message
assert runtime.take_error() == "" and driver.launches() == []

driver.fail("cuLaunchKernelEx", 700)
call(kernel, good)
message = runtime.take_error()
assert "CUDA_ERROR_ILLEGAL_ADDRESS" in message, message

call(kernel, good)
assert runtime.take_error() == "" and len(driver.launches()) == 1

runtime.set_stream(0, 2)
call(kernel, good)
message = runtime.take_error()
assert "sm_90a" in message, message
assert len(driver.launches()) == 1
""",
    )


def test_without_driver(compiled):
    run_without_compiler(
        *compiled,
        """
call(kernel, prefill.arguments())
message = runtime.take_error()
assert "no CUDA driver" in message and "/nonexistent/libcuda.so" in message, message
""",
        **{fake_cuda.VARIABLE: "/nonexistent/libcuda.so"},
    )


def test_example_notices_a_kernel_that_did_not_run(tmp_path):
    """Its program on the fake driver, which copies there and back and computes nothing:
    the results are the NaN that they were."""
    root = TESTS.parents[1]
    example = root / "examples" / "07-ahead-of-time"
    compile_object((example / "prefill.mlir").read_text(), tmp_path / "prefill.o")
    program = tmp_path / "prefill"
    include = f"-I{root / 'include'}"
    link("-std=c11", include, example / "main.c", tmp_path / "prefill.o", "-o", program)
    process = subprocess.run(
        [program, "gpu"],
        env=os.environ | {fake_cuda.VARIABLE: str(fake_cuda.path())},
        capture_output=True,
        text=True,
    )
    assert process.stdout == "largest difference to a plain loop inf\n"
    assert process.returncode == 1 and process.stderr == ""
