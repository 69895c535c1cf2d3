# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of the real JAX, where it is installed, on the host.

`test_producers.py` has what it does on a device, with arrays like them.
"""

import families
import mla
import numpy as np
import pytest
from families import Case, build
from test_devices import with_arrays

jax = pytest.importorskip("jax", reason="jax is not installed")

PAGED = Case("jax", (40, 0, 3), (20, 5, 0), dims=(64, 32, 80), gap=8)


@pytest.fixture(autouse=True)
def on_the_host():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.mark.parametrize("dtype", families.DTYPES)
@pytest.mark.parametrize("rope", ["paged", "ragged"])
def test_prefill(rope, dtype):
    """The bits that numpy's arrays give."""
    batch = build(families.replace(PAGED, rope=rope, dtype=dtype))
    expected, expected_lse = batch.run()
    arguments = {"q": batch.q, "k": batch.k, "v": batch.v, **batch.options}
    arguments = with_arrays(jax.numpy.asarray, arguments)
    output = np.full_like(batch.output, np.nan)
    lse = np.full(output.shape[:2], np.nan, np.float32)
    result = mla.prefill(**arguments, output=output, lse=lse, validate=True)
    assert result is output
    assert families.same_bits(output, expected)
    assert families.same_bits(lse, expected_lse)


def test_results_that_are_not_there_yet():
    """JAX computes while its caller goes on: what is read is the result."""
    batch = build(PAGED)
    expected, _ = batch.run_anew()
    arguments = {"q": batch.q, "k": batch.k, "v": batch.v, **batch.options}
    arguments = with_arrays(jax.numpy.asarray, arguments)

    @jax.jit
    def later(array, ones):
        for _ in range(30):
            ones = ones @ ones / len(ones)
        return array * ones[0, 0].astype(array.dtype)

    ones = jax.numpy.ones((600, 600))
    jax.block_until_ready(later(arguments["v"], ones))  # compiled
    for _ in range(3):
        output = np.full_like(batch.output, np.nan)
        mla.prefill(**{**arguments, "v": later(arguments["v"], ones)}, output=output)
        assert families.same_bits(output, expected)


def test_its_arrays_are_not_written():
    batch = build(PAGED)
    arguments = {"q": batch.q, "k": batch.k, "v": batch.v, **batch.options}
    arguments["output"] = jax.numpy.asarray(batch.output)
    with pytest.raises(ValueError, match=r"^output: expected a writable array, got a"):
        mla.prefill(**arguments)
    arguments["q"] = jax.numpy.asarray(batch.q)
    del arguments["output"]
    with pytest.raises(TypeError, match=r"^output: expected an array to write to, si"):
        mla.prefill(**arguments)
