# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of the real PyTorch, where it is installed: what needs no GPU of
`gpu_python.py`."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import gpu_python

TESTS = gpu_python.collect()


@pytest.mark.parametrize("name", TESTS)
def test_on_the_host(name):
    try:
        TESTS[name]("cpu")
    except gpu_python.Skip as skip:
        pytest.skip(str(skip))
