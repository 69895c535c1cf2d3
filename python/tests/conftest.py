# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Set-up of the Python tests.

Tests of the oracle, the module text and the argument checks need no library.
All others fail, and say why, when libMLACompiler.so is not found: a suite that
skips them would pass on a broken build.
"""

import importlib.util
import os
import pathlib
import sys

import numpy as np
import pytest

if importlib.util.find_spec("mla") is None:
    # A source checkout: the package is beside this folder.
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import fake_cuda
import mla
from mla import _capi

# Whatever means to compile does, and the user's cache stays as it is.
os.environ["MLA_CACHE_DIR"] = "off"


def pytest_report_header() -> str:
    try:
        path = _capi.library_path()
        return f"mla: {mla.__file__}\n{path}: LLVM {_capi.llvm_version()}"
    except mla.Error as error:
        return f"mla: {mla.__file__}\n{error}"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _default_threads():
    yield
    mla.set_num_threads(0)


@pytest.fixture
def cuda(monkeypatch):
    """The fake driver. It reads PTX, so no ptxas may be found."""
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("MLA_PTXAS", raising=False)
    driver = fake_cuda.install()
    driver.reset()
    return driver


@pytest.fixture
def frequent_switches():
    """Threads take turns as often as the interpreter permits."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
