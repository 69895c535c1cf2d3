# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package keeps to itself: no symbols leak, and it needs little else."""

import os
import pathlib
import subprocess
import sys

import mla
import pytest
from mla import _capi

PREFILL = """
import numpy as np
f32, i32 = np.float32, np.int32
v = np.arange(8, dtype=f32).reshape(4, 1, 2)
output = mla.prefill(
    np.zeros((4, 1, 3), f32), np.zeros((4, 1, 2), f32), v,
    k_rope=np.zeros((4, 1), f32),
    buffer_row_offsets=np.array([0, 4], i32), input_row_offsets=np.array([0, 4], i32),
)
assert np.allclose(output[:, 0, 0], [0, 1, 2, 3]), output
"""


def run_python(source: str) -> None:
    """Runs `source` in a process of its own."""
    package = str(pathlib.Path(mla.__file__).parents[1])
    paths = [package, str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH")]
    path = os.pathsep.join(filter(None, paths))
    result = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, f"exit status {result.returncode}: {result.stderr}"


def test_no_global_symbols():
    """RTLD_LOCAL: neither ours nor LLVM's symbols are found from outside. And the
    process ends cleanly, with kernels and threads alive and after an error."""
    run_python(
        f"""
import ctypes, mla
from mla import _capi
{PREFILL}
assert _capi.library().mlaVersion
everybody = ctypes.CDLL(None)
for symbol in ("mlaCompile", "mlaRuntimeGetNumThreads", "LLVMContextCreate",
               "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE"):
    assert not hasattr(everybody, symbol), symbol
try:
    _capi.Kernel("nonsense")
except mla.Error:
    pass
else:
    raise AssertionError("compiled nonsense")
"""
    )


def test_import_loads_no_library():
    """Importing is cheap, and works where there is no library."""
    run_python(
        """
import os
os.environ["MLA_COMPILER_LIBRARY"] = "/nonexistent"
import mla
assert "libMLACompiler" not in open("/proc/self/maps").read()
try:
    mla._capi.version()
except mla.Error as error:
    assert str(error).startswith("MLA_COMPILER_LIBRARY: ")
else:
    raise AssertionError("loaded a library that is not there")
"""
    )


def test_imports_no_framework():
    """Nor does a call, whoever's arrays it gets."""
    run_python(
        f"""
import sys
import mla
{PREFILL}
from dlpack_arrays import export
from test_dlpack import exported, prefill_arguments
for options in ({{}}, {{"version": None}}):
    mla.prefill(**exported(prefill_arguments(), **options), validate=True)
for framework in ("torch", "cupy", "jax", "tensorflow", "numba"):
    assert framework not in sys.modules, framework
"""
    )


def test_works_without_torch_and_ml_dtypes():
    """ml_dtypes is needed to allocate a bfloat16 output, and for that alone."""
    run_python(
        f"""
import sys
sys.modules["torch"] = None  # an import of it fails
sys.modules["ml_dtypes"] = None
import mla
{PREFILL}
try:
    mla.prefill(
        np.zeros((4, 1, 3), f32), np.zeros((4, 1, 2), f32), v,
        k_rope=np.zeros((4, 1), f32), output_dtype="bfloat16",
        buffer_row_offsets=np.array([0, 4], i32),
        input_row_offsets=np.array([0, 4], i32),
    )
except TypeError as error:
    assert str(error).startswith("output: numpy knows bfloat16 through"), error
else:
    raise AssertionError("allocated a bfloat16 array")
"""
    )


def test_takes_over_no_signals(tmp_path):
    """Compiling, keeping what was compiled, writing an object file: the process's
    handlers are its own."""
    run_python(
        f"""
import os
import numpy, mla
from mla import _capi
def handlers():
    lines = open("/proc/self/status").read().splitlines()
    return [line for line in lines if line.startswith(("SigCgt", "SigIgn"))]
before = handlers()
os.environ["MLA_CACHE_DIR"] = {str(tmp_path)!r}
{PREFILL}
assert os.listdir({str(tmp_path)!r})
_capi.compile_to_object("func.func @f() {{ return }}", {str(tmp_path / "f.o")!r})
assert handlers() == before, (before, handlers())
"""
    )


def test_generic_target():
    """A CPU with nothing beyond the baseline. In a process of its own, since what
    the code generator cannot do must not end the caller's."""
    run_python(
        """
import families, mla
cases = {case.name: case for case in families.cases()}
for name in ("base", "float32"):
    batch = families.build(cases[name])
    families.check(batch, *batch.run(target="cpu-generic"))
"""
    )


@pytest.mark.parametrize("module", ["torch", "triton"])
@pytest.mark.parametrize("first", [True, False])
def test_beside_another_llvm(module, first):
    """Frameworks with an LLVM of their own, imported before and after."""
    pytest.importorskip(module, reason=f"{module} is not installed")
    imports = [f"import {module}", f"import mla\n{PREFILL}"]
    run_python("\n".join(imports if first else reversed(imports)) + PREFILL)


def test_versions_agree():
    assert _capi.version() == mla.__version__
    assert _capi.llvm_version().split(".")[0].isdigit()
