# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays read through DLPack: what is described, what is refused and released."""

import re

import families
import mla
import numpy as np
import pytest
from dlpack_arrays import (
    CPU,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    ROCM,
    DLPackArray,
    export,
)
from families import Case, build
from mla._frameworks import as_array

VERSIONS = [None, (1, 0), (1, 7)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "device, expected",
    [
        ((CPU, 0), "cpu"),
        ((CUDA_HOST, 0), "cpu"),
        ((CUDA, 3), "cuda:3"),
        ((CUDA_MANAGED, 0), "cuda:0"),
    ],
)
def test_description(version, device, expected):
    given = DLPackArray(
        0x1000,
        (2, 3, 4),
        "bfloat16",
        strides=(40, 8, 1),
        device=device,
        version=version,
    )
    array = as_array(given, "q")
    assert array.pointer == 0x1000
    assert array.dtype == "bf16"
    assert array.shape == (2, 3, 4)
    assert array.strides == (40, 8, 1)
    assert str(array.device) == expected
    assert array.layout.writable
    assert array.owner is given
    # The structure went back at once, and its capsule cannot be used again.
    assert given.released == 1
    name = "used_dltensor" if version is None else "used_dltensor_versioned"
    assert given.capsule_names() == [name]


def test_the_same_layout_is_the_same_object():
    one, other = (DLPackArray(p, (2, 4), strides=(8, 1)) for p in (64, 128))
    assert as_array(one, "q").layout is as_array(other, "k").layout
    third = DLPackArray(64, (2, 4), strides=(4, 1))
    assert as_array(third, "q").layout is not as_array(one, "q").layout


@pytest.mark.parametrize("version", VERSIONS)
def test_requests(version):
    """Nothing is copied; older producers get what they know. Before there is a call
    the stream is the legacy default one."""
    new = {"max_version": (1, 0), "copy": False}
    host = DLPackArray(64, (1,), version=version)
    as_array(host, "q")
    assert host.requests == ([new] if version else [new, {}])
    device = DLPackArray(64, (1,), version=version, device=(CUDA, 0))
    as_array(device, "q")
    new, old = {**new, "stream": 1}, {"stream": 1}
    assert device.requests == ([new] if version else [new, old])


def test_no_strides():
    """NULL stands for row-major order without gaps."""
    assert as_array(DLPackArray(64, (2, 3, 4)), "q").strides == (12, 4, 1)
    assert as_array(DLPackArray(64, ()), "q").strides == ()


def test_strides_that_do_not_matter():
    array = as_array(DLPackArray(64, (1, 3, 1), strides=(-7, 5, 9)), "q")
    assert array.strides == (15, 5, 1)


def test_byte_offset():
    assert as_array(DLPackArray(0x1000, (4,), byte_offset=24), "q").pointer == 0x1018


@pytest.mark.parametrize("pointer", [0, 0x1000])
def test_no_elements(pointer):
    given = DLPackArray(pointer, (0, 4), strides=(9, 3), byte_offset=8)
    array = as_array(given, "q")
    assert array.pointer == 0
    assert array.strides == (4, 1)


def test_read_only():
    assert not as_array(DLPackArray(64, (4,), flags=1), "q").layout.writable


DTYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64"}
DTYPES |= {"int32": "i32", "uint32": "ui32", "int64": "i64"}
DTYPES |= {"float8_e4m3fn": "f8E4M3FN", "bool": "bool", "complex64": "complex64"}


@pytest.mark.parametrize("name, expected", DTYPES.items())
def test_element_types(name, expected):
    assert as_array(DLPackArray(64, (4,), name), "q").dtype == expected


# (array, error, message)
REFUSED = [
    (
        DLPackArray(64, (4,), "float32", lanes=4),
        TypeError,
        "q: expected elements of 1 lane, got float32 of 4 lanes",
    ),
    (
        DLPackArray(64, (4,), device=(ROCM, 0)),
        ValueError,
        "q: expected an array on the CPU or a CUDA device, got one on DLPack's device "
        "type 10 (ROCm)",
    ),
    (
        DLPackArray(64, (4,), device=(99, 0)),
        ValueError,
        "q: expected an array on the CPU or a CUDA device, got one on DLPack's device "
        "type 99 (unknown)",
    ),
    (
        DLPackArray(64, (4,), version=(2, 1)),
        ValueError,
        "q: expected DLPack version 1, got 2.1",
    ),
    (
        DLPackArray(64, (4,), flags=2),
        ValueError,
        "q: expected an array that DLPack can describe in place, got a copy of one",
    ),
    (
        DLPackArray(66, (4,), "float32"),
        ValueError,
        "q: expected elements aligned to 4 bytes",
    ),
    (
        DLPackArray(64, (4, 4), strides=(1, 4)),
        ValueError,
        "q: expected a last dimension of stride 1, got a stride of 4 elements",
    ),
    (
        DLPackArray(64, (4, 4), strides=(-4, 1)),
        ValueError,
        "q: expected strides that are not negative, got [-4, 1]",
    ),
]


@pytest.mark.parametrize(
    "array, error, message",
    REFUSED,
    ids=[re.sub(r"\W+", "_", message)[-40:] for *_, message in REFUSED],
)
def test_refused(array, error, message):
    with pytest.raises(error) as caught:
        as_array(array, "q")
    assert str(caught.value) == message
    # What was exported is released in any case.
    assert array.released == len(array.capsules)


@pytest.mark.parametrize(
    "dtype, name",
    [("bool", "bool"), ((3, 64), "DLPack's type 3 of 64 bits"), ((0, 8), "int8")],
)
def test_element_type_that_no_operand_has(dtype, name):
    arguments = prefill_arguments()
    arguments["q"] = DLPackArray(64, (7, 2, 12), dtype)
    message = f"q: expected bfloat16 or float16 or float32, got {name}"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        mla.prefill(**arguments)


def test_producer_that_refuses():
    class Refusing(DLPackArray):
        def __dlpack__(self, **options):
            raise BufferError("this one has gradients")

    with pytest.raises(ValueError) as caught:
        as_array(Refusing(64, (4,)), "k_rope")
    assert str(caught.value) == (
        "k_rope: expected an array that DLPack can describe in place, got Refusing: "
        "this one has gradients"
    )


def test_capsule_that_was_used():
    class Forgetful(DLPackArray):
        def __dlpack__(self, **options):
            return self.capsules[0] if self.capsules else super().__dlpack__(**options)

    array = Forgetful(64, (4,))
    as_array(array, "q")
    with pytest.raises(ValueError, match=r"^q: expected a DLPack capsule that was not"):
        as_array(array, "q")
    assert array.released == 1


def test_no_array():
    class Half:
        def __dlpack__(self):
            raise AssertionError("asked")

    for obj in (Half(), DLPackArray, None, 1.0):
        with pytest.raises(TypeError, match=r"^q: expected a numpy array or one with"):
            as_array(obj, "q")


SMALL = Case("dlpack", (4, 3), (2, 0), dims=(8, 4, 6), latent=4, page_size=2)


def prefill_arguments(**changes):
    batch = build(families.replace(SMALL, **changes))
    arguments = {"q": batch.q, "k": batch.k, "v": batch.v, **batch.options}
    return {**arguments, "output": batch.output}


def exported(arguments, **options):
    """The arguments with every array, also those of the cache, through DLPack."""
    result = {
        name: export(value, **options) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    cache = arguments.get("cache")
    if cache is not None:
        parts = (cache.kv_blocks, cache.lookup_table, cache.cache_lengths)
        result["cache"] = mla.PagedCache(*(export(part, **options) for part in parts))
    return result


@pytest.mark.parametrize("rope", ["paged", "ragged", "ragged_end"])
def test_prefill_on_the_host(rope):
    """The same bits as through numpy, with bfloat16 and with validation."""
    case = families.replace(SMALL, rope=rope)
    batch = build(case)
    expected, expected_lse = batch.run()
    arguments = exported(prefill_arguments(rope=rope))
    lse = np.full(batch.output.shape[:2], np.nan, np.float32)
    result = mla.prefill(**arguments, lse=export(lse), validate=True)
    assert result is arguments["output"]
    assert families.same_bits(result.owner, expected)
    assert families.same_bits(lse, expected_lse)


def test_mixed_with_numpy():
    arguments = prefill_arguments()
    expected = mla.prefill(**arguments).copy()
    arguments["q"] = export(arguments["q"])
    arguments["output"][:] = 0
    assert families.same_bits(mla.prefill(**arguments), expected)


def test_validate():
    arguments = prefill_arguments()
    arguments["input_row_offsets"][2] = 8
    with pytest.raises(ValueError, match=r"^input_row_offsets\[2\]: expected <= 7, "):
        mla.prefill(**exported(arguments), validate=True)


def test_read_only_destination():
    arguments = prefill_arguments()
    arguments["output"] = export(arguments["output"], flags=1)
    with pytest.raises(ValueError, match=r"^output: expected a writable array, got a"):
        mla.prefill(**arguments)


@pytest.mark.parametrize("name, given", [("output", {}), ("lse", {"output": True})])
def test_nothing_is_allocated(name, given):
    """Whose array a new one should be is not known."""
    arguments = exported(prefill_arguments())
    if not given:
        del arguments["output"]
    with pytest.raises(TypeError) as caught:
        mla.prefill(**arguments, return_lse=True)
    assert str(caught.value) == (
        f"{name}: expected an array to write to, since q is of DLPackArray: only for "
        "numpy, PyTorch and CuPy is one allocated"
    )
