# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What sm_90a does not run: said by name, and what its compiler does not compile.

Needs no device: compiling is all that is done.
"""

from dataclasses import replace

import mla
import pytest
import test_devices
from mla import _capi
from mla._limits import refusal
from mla.module import (
    CacheSignature,
    PrefillSignature,
    RopeSignature,
    prefill_module,
)

TARGET = "sm_90a"
RAGGED = PrefillSignature(
    heads=2,
    nope=64,
    rope=64,
    value=64,
    dtype="bf16",
    output_dtype="bf16",
    rope_source=RopeSignature("bf16"),
    lse=True,
)
PAGED = replace(
    RAGGED,
    rope_source=CacheSignature("bf16", width=96, page_size=16),
    cache_lengths="i32",
)
F32 = {"dtype": "f32", "rope_source": RopeSignature("f32")}


def cache(**changes):
    return replace(PAGED, rope_source=replace(PAGED.rope_source, **changes))


# (signature, error)
REFUSED = [
    (
        replace(RAGGED, **F32),
        TypeError("q: expected bfloat16 or float16 for sm_90a, got float32"),
    ),
    (
        replace(RAGGED, rope_source=RopeSignature("f16")),
        TypeError(
            "k_rope: expected bfloat16 (q's element type) for sm_90a, got float16"
        ),
    ),
    (
        cache(dtype="f32"),
        TypeError(
            "kv_blocks: expected bfloat16 (q's element type) for sm_90a, got float32"
        ),
    ),
    (
        replace(PAGED, nope=72),
        ValueError("k: expected a multiple of 16 columns for sm_90a, got 72"),
    ),
    (
        replace(RAGGED, rope=24),
        ValueError(
            "q: expected a rope part of a multiple of 16 columns for sm_90a, got 24"
        ),
    ),
    (
        replace(RAGGED, value=72),
        ValueError("v: expected a multiple of 16 columns up to 256 for sm_90a, got 72"),
    ),
    (
        replace(PAGED, value=272),
        ValueError(
            "v: expected a multiple of 16 columns up to 256 for sm_90a, got 272"
        ),
    ),
    (
        cache(width=68),
        ValueError(
            "kv_blocks: expected a multiple of 8 columns before the rope part for "
            "sm_90a, got 4"
        ),
    ),
]
# What is next to it, and runs.
TAKEN = [
    replace(RAGGED, value=16, rope=16, dtype="f16", rope_source=RopeSignature("f16")),
    replace(PAGED, value=256, output_dtype="f32"),
    cache(width=72),
    replace(PAGED, nope=80),
    replace(RAGGED, nope=16, rope=48),
]


refused = pytest.mark.parametrize(
    "signature, error",
    REFUSED,
    ids=[str(error).partition(":")[0] for _, error in REFUSED],
)


@refused
def test_refused(signature, error):
    found = refusal(signature, TARGET)
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert refusal(signature, "cpu") is None


@refused
def test_nor_does_it_compile(cuda, signature, error):
    """Or nothing would have to be refused."""
    with pytest.raises(mla.Error):
        _capi.Kernel(prefill_module(signature), TARGET)


@pytest.mark.parametrize("signature", TAKEN, ids=range(len(TAKEN)))
def test_taken(cuda, signature):
    assert refusal(signature, TARGET) is None
    _capi.Kernel(prefill_module(signature), TARGET)


@pytest.mark.parametrize(
    "changes, error",
    [({"dtype": "float32"}, TypeError), ({"dims": (72, 64, 64)}, ValueError)],
)
def test_by_the_call(cuda, changes, error):
    """Before anything is compiled or launched; the same shapes run on a CPU."""
    case = replace(test_devices.RAGGED, **changes)
    arguments = test_devices.host_arguments(case)
    mla.prefill(**arguments)
    message = test_devices.fails(cuda, error, test_devices.on_device(arguments))
    assert "for sm_90a, got" in message
