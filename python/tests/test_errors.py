# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every message: it names the operand, what was expected and what came."""

import re

import families
import ml_dtypes
import mla
import numpy as np
import pytest
from families import Case, build
from mla import _capi, ops

PAGED = Case("errors", (4, 3), (2, 0), dims=(8, 4, 6), latent=4, page_size=2, layers=3)
RAGGED = families.replace(PAGED, rope="ragged", cache_offsets=(0, 0))

f32, i32 = np.float32, np.int32


def _unaligned() -> np.ndarray:
    return np.zeros(9 * 2 * 12 * 4 + 1, np.uint8)[1:].view(f32).reshape(9, 2, 12)


def _overlapping() -> np.ndarray:
    flat = np.zeros(1000, f32)
    return np.lib.stride_tricks.as_strided(flat, (7, 2, 6), (4 * 10, 4 * 6, 4))


def _read_only() -> np.ndarray:
    array = np.zeros((7, 2, 6), f32)
    array.flags.writeable = False
    return array


def _field() -> np.ndarray:
    """Elements 4 bytes wide and 6 apart."""
    pair = np.dtype([("a", f32), ("b", np.int16)])
    return np.zeros((9, 2, 8), pair)["a"]


INT64 = "expected int32 or uint32, got int64; convert it to int32"

# (case, changed arguments, error, message). Floats are f32 here: 7 tokens, 9
# rows, 2 heads, Dn = 8, Dr = 4, Dv = 6.
ARGUMENTS = [
    # What is no array, or one that cannot be used where it lies.
    (
        RAGGED,
        {"q": [[1.0]]},
        TypeError,
        "q: expected a numpy array or one with __dlpack__, got list",
    ),
    (
        RAGGED,
        {"k": None},
        TypeError,
        "k: expected a numpy array or one with __dlpack__, got NoneType",
    ),
    (
        RAGGED,
        {"input_row_offsets": [0, 4, 7]},
        TypeError,
        "input_row_offsets: expected a numpy array or one with __dlpack__, got list",
    ),
    (
        RAGGED,
        {"q": np.zeros((7, 2, 12), ">f4")},
        TypeError,
        "q: expected native byte order, got >f4",
    ),
    (
        RAGGED,
        {"q": _unaligned()},
        ValueError,
        "q: expected elements aligned to 4 bytes",
    ),
    (
        RAGGED,
        {"k": np.zeros((9, 2, 16), f32)[..., ::2]},
        ValueError,
        "k: expected a last dimension of stride 1, got a stride of 2 elements",
    ),
    (
        RAGGED,
        {"v": np.zeros((9, 6, 2), f32).transpose(0, 2, 1)},
        ValueError,
        "v: expected a last dimension of stride 1, got a stride of 2 elements",
    ),
    (
        RAGGED,
        {"cache_lengths": np.zeros(4, i32)[::2]},
        ValueError,
        "cache_lengths: expected a last dimension of stride 1, got a stride of 2 "
        "elements",
    ),
    (
        RAGGED,
        {"k": np.zeros((9, 2, 8), f32)[::-1]},
        ValueError,
        "k: expected strides that are multiples of the element's 4 bytes and not "
        "negative, got [-64, 32, 4] bytes",
    ),
    (
        RAGGED,
        {"k": _field()},
        ValueError,
        "k: expected elements aligned to 4 bytes",
    ),
    # Element types.
    (
        RAGGED,
        {"q": np.zeros((7, 2, 12))},
        TypeError,
        "q: expected bfloat16 or float16 or float32, got float64",
    ),
    (
        RAGGED,
        {"q": np.zeros((7, 2, 12), ml_dtypes.float8_e4m3fn)},
        TypeError,
        "q: expected bfloat16 or float16 or float32, got float8_e4m3fn",
    ),
    (
        RAGGED,
        {"k": np.zeros((9, 2, 8), np.float16)},
        TypeError,
        "k: expected float32, got float16 (q's element type)",
    ),
    (
        RAGGED,
        {"v": np.zeros((9, 2, 6), np.float16)},
        TypeError,
        "v: expected float32, got float16 (q's element type)",
    ),
    (
        RAGGED,
        {"k_rope": np.zeros((9, 4), i32)},
        TypeError,
        "k_rope: expected bfloat16 or float16 or float32, got int32",
    ),
    *(
        (
            RAGGED,
            {name: np.zeros(extent, np.int64)},
            TypeError,
            f"{name}: {INT64}",
        )
        for name, extent in (
            ("input_row_offsets", 3),
            ("buffer_row_offsets", 3),
            ("cache_offsets", 2),
            ("cache_lengths", 2),
        )
    ),
    # Shapes.
    (
        RAGGED,
        {"q": np.zeros((7, 12), f32)},
        ValueError,
        "q: expected shape [T, H, Dn + Dr], got [7, 12]",
    ),
    (
        RAGGED,
        {"k": np.zeros((9, 3, 8), f32)},
        ValueError,
        "k: expected shape [N, 2, Dn], got [9, 3, 8]",
    ),
    (
        RAGGED,
        {"v": np.zeros((8, 2, 6), f32)},
        ValueError,
        "v: expected shape [9, 2, Dv], got [8, 2, 6]",
    ),
    (
        RAGGED,
        {
            "q": np.zeros((7, 0, 12), f32),
            "k": np.zeros((9, 0, 8), f32),
            "v": np.zeros((9, 0, 6), f32),
        },
        ValueError,
        "q: expected at least 1 head, got 0",
    ),
    (
        RAGGED,
        {"k": np.zeros((9, 2, 0), f32)},
        ValueError,
        "k: expected at least 1 column, got 0",
    ),
    (
        RAGGED,
        {"v": np.zeros((9, 2, 0), f32)},
        ValueError,
        "v: expected at least 1 column, got 0",
    ),
    (
        RAGGED,
        {"k": np.zeros((9, 2, 12), f32)},
        ValueError,
        "q: expected more columns than the 12 of k, for the rope part, got 12",
    ),
    (
        RAGGED,
        {"input_row_offsets": np.zeros((1, 3), i32)},
        ValueError,
        "input_row_offsets: expected shape [B + 1], got [1, 3]",
    ),
    (
        RAGGED,
        {"input_row_offsets": np.zeros(0, i32)},
        ValueError,
        "input_row_offsets: expected at least 1 entry, got 0",
    ),
    (
        RAGGED,
        {"buffer_row_offsets": np.zeros(4, i32)},
        ValueError,
        "buffer_row_offsets: expected shape [3], got [4]",
    ),
    (
        RAGGED,
        {"cache_offsets": np.zeros(4, i32)},
        ValueError,
        "cache_offsets: expected shape [2], got [4]",
    ),
    (
        RAGGED,
        {"cache_lengths": np.zeros(3, i32)},
        ValueError,
        "cache_lengths: expected shape [2], got [3]",
    ),
    (
        RAGGED,
        {"k_rope": np.zeros((9, 5), f32)},
        ValueError,
        "k_rope: expected shape [9, 4], got [9, 5]",
    ),
    # The rope's source.
    (
        RAGGED,
        {"k_rope": None},
        ValueError,
        "cache, k_rope: expected one of the two, got neither",
    ),
    (
        PAGED,
        {"k_rope": np.zeros((9, 4), f32)},
        ValueError,
        "cache, k_rope: expected one of the two, got both",
    ),
    (
        PAGED,
        {"cache": np.zeros((9, 4), f32)},
        TypeError,
        "cache: expected a mla.PagedCache, got ndarray",
    ),
    (
        PAGED,
        {"cache_lengths": np.zeros(2, i32)},
        ValueError,
        "cache_lengths: expected None with a cache, which has its own",
    ),
    (
        PAGED,
        {
            "cache": mla.PagedCache(
                np.zeros((9, 1, 3, 2, 1, 3), f32),
                np.zeros((2, 9), i32),
                np.zeros(2, i32),
            )
        },
        ValueError,
        "kv_blocks: expected rows of at least 4 columns (the width of q less that "
        "of k), got 3",
    ),
    (
        PAGED,
        {
            "cache": mla.PagedCache(
                np.zeros((9, 1, 3, 2, 1, 8), f32),
                np.zeros((3, 9), i32),
                np.zeros(3, i32),
            )
        },
        ValueError,
        "cache_lengths: expected shape [2], got [3]",
    ),
    # Scalars.
    (RAGGED, {"layer_idx": 1}, ValueError, "layer_idx: expected 0 without a cache"),
    (
        PAGED,
        {"layer_idx": 3},
        ValueError,
        "layer_idx: expected a layer in [0, 3), got 3",
    ),
    (
        PAGED,
        {"layer_idx": -1},
        ValueError,
        "layer_idx: expected a layer in [0, 3), got -1",
    ),
    (
        PAGED,
        {"layer_idx": 1.0},
        TypeError,
        "layer_idx: expected an integer, got float",
    ),
    *(
        (
            RAGGED,
            {"scale": scale},
            ValueError,
            f"scale: expected a finite number > 0, got {scale}",
        )
        for scale in (0.0, -1.0, float("nan"), float("inf"), 1e39, 1e-46)
    ),
    (RAGGED, {"scale": "big"}, TypeError, "scale: expected a number, got str"),
    (
        RAGGED,
        {"mask": "diagonal"},
        ValueError,
        "mask: expected one of null, causal, sliding_window_causal, "
        "sliding_window_noncausal, chunked, chunked_causal, got 'diagonal'",
    ),
    (
        RAGGED,
        {"mask": ["causal"]},
        ValueError,
        "mask: expected one of null, causal, sliding_window_causal, "
        "sliding_window_noncausal, chunked, chunked_causal, got ['causal']",
    ),
    *(
        (
            RAGGED,
            {"mask": mask, "local_window_size": window},
            ValueError,
            f"local_window_size: expected a window in [1, 2147483647] for mask "
            f"{mask}, got {window}",
        )
        for mask in families.WINDOWED
        for window in (-1, 0, 2**31)
    ),
    (
        RAGGED,
        {"mask": "chunked", "local_window_size": None},
        TypeError,
        "local_window_size: expected an integer, got NoneType",
    ),
    (
        RAGGED,
        {"stream": 0},
        ValueError,
        "stream: expected None for arrays on cpu",
    ),
    (
        RAGGED,
        {"target": 90},
        TypeError,
        "target: expected a name, got int",
    ),
    (
        RAGGED,
        {"target": "sm_90a"},
        ValueError,
        "target: expected a CPU for arrays on cpu, got 'sm_90a'",
    ),
    # The destination.
    (
        RAGGED,
        {"output": np.zeros((7, 2, 5), f32)},
        ValueError,
        "output: expected shape [7, 2, 6], got [7, 2, 5]",
    ),
    (
        RAGGED,
        {"output": np.zeros((7, 2, 6))},
        TypeError,
        "output: expected bfloat16 or float16 or float32, got float64",
    ),
    (
        RAGGED,
        {"output": np.zeros((7, 2, 6), f32), "output_dtype": "float16"},
        TypeError,
        "output: expected float16, got float32 (output_dtype says so)",
    ),
    (
        RAGGED,
        {"output": _read_only()},
        ValueError,
        "output: expected a writable array, got a read-only one",
    ),
    (
        RAGGED,
        {"output": _overlapping()},
        ValueError,
        "output: expected elements that do not overlap, got shape [7, 2, 6] with "
        "strides [10, 6, 1]",
    ),
    (
        RAGGED,
        {"output": [0.0]},
        TypeError,
        "output: expected a numpy array or one with __dlpack__, got list",
    ),
    (
        RAGGED,
        {"lse": np.zeros((7, 2))},
        TypeError,
        "lse: expected float32, got float64",
    ),
    (
        RAGGED,
        {"lse": np.zeros((7, 3), f32)},
        ValueError,
        "lse: expected shape [7, 2], got [7, 3]",
    ),
    (
        RAGGED,
        {"lse": _read_only()[..., 0, :2]},
        ValueError,
        "lse: expected a writable array, got a read-only one",
    ),
    (
        RAGGED,
        {"lse": np.lib.stride_tricks.as_strided(np.zeros(9, f32), (7, 2), (4, 4))},
        ValueError,
        "lse: expected elements that do not overlap, got shape [7, 2] with strides "
        "[1, 1]",
    ),
    (
        RAGGED,
        {"output": None, "output_dtype": np.int32},
        TypeError,
        "output_dtype: expected bfloat16 or float16 or float32, got int32",
    ),
    (
        RAGGED,
        {"output": None, "output_dtype": "float17"},
        TypeError,
        "output_dtype: expected an element type, got 'float17'",
    ),
]


def arguments_of(case: Case) -> dict:
    batch = build(families.replace(case, dtype="float32"))
    batch_arguments = {"q": batch.q, "k": batch.k, "v": batch.v}
    return {**batch_arguments, **batch.options, "output": batch.output}


@pytest.fixture
def no_kernel(monkeypatch):
    """Nothing may be compiled or run."""

    def refuse(*_):
        pytest.fail("got as far as the kernel")

    monkeypatch.setattr(ops, "_kernel", refuse)


@pytest.mark.parametrize(
    "case, changes, error, message",
    ARGUMENTS,
    ids=[re.sub(r"\W+", "_", message)[:60] for *_, message in ARGUMENTS],
)
def test_arguments(case, changes, error, message, no_kernel):
    arguments = arguments_of(case)
    arguments.update(changes)
    with pytest.raises(error) as caught:
        mla.prefill(**arguments)
    assert str(caught.value) == message


def test_strides_that_are_no_multiple(no_kernel):
    arguments = arguments_of(RAGGED)
    flat = np.zeros(1000, np.float16)
    for name in ("q", "k", "v"):
        arguments[name] = arguments[name].astype(np.float16)
    arguments["k"] = np.lib.stride_tricks.as_strided(flat, (9, 2, 8), (40, 17, 2))
    with pytest.raises(ValueError, match=r"^k: expected "):
        mla.prefill(**arguments)


# What can be said of a cache alone is said when it is made.
CACHES = [
    (
        {"kv_blocks": [0]},
        TypeError,
        "kv_blocks: expected a numpy array or one with __dlpack__, got list",
    ),
    (
        {"kv_blocks": np.zeros((9, 1, 3, 2, 1, 8))},
        TypeError,
        "kv_blocks: expected bfloat16 or float16 or float32, got float64",
    ),
    (
        {"kv_blocks": np.zeros((9, 2, 3, 2, 1, 8), f32)},
        ValueError,
        "kv_blocks: expected shape [pages, 1, layers, page size, 1, width], got "
        "[9, 2, 3, 2, 1, 8]",
    ),
    (
        {"kv_blocks": np.zeros((9, 1, 3, 0, 1, 8), f32)},
        ValueError,
        "kv_blocks: expected a page size and a width of at least 1, got shape "
        "[9, 1, 3, 0, 1, 8]",
    ),
    (
        {"lookup_table": np.zeros((2, 9), np.int64)},
        TypeError,
        f"lookup_table: {INT64}",
    ),
    (
        {"lookup_table": np.zeros(9, i32)},
        ValueError,
        "lookup_table: expected shape [sequences, columns], got [9]",
    ),
    (
        {"cache_lengths": np.zeros(2, np.int64)},
        TypeError,
        f"cache_lengths: {INT64}",
    ),
    (
        {"cache_lengths": np.zeros(3, i32)},
        ValueError,
        "cache_lengths: expected shape [2], got [3]",
    ),
]


@pytest.mark.parametrize("changes, error, message", CACHES)
def test_cache(changes, error, message):
    arguments = {
        "kv_blocks": np.zeros((9, 1, 3, 2, 1, 8), f32),
        "lookup_table": np.zeros((2, 9), i32),
        "cache_lengths": np.zeros(2, i32),
    }
    mla.PagedCache(**arguments)
    arguments.update(changes)
    with pytest.raises(error) as caught:
        mla.PagedCache(**arguments)
    assert str(caught.value) == message


# `validate=True`: (case, operand, entry, value, message). The batch: lengths 4
# and 3, prefixes 2 and 0, so 6 and 3 rows, in pages of 2 tokens out of 8.
VALUES = [
    (PAGED, "input_row_offsets", 0, 1, "input_row_offsets[0]: expected 0, got 1"),
    (PAGED, "input_row_offsets", 1, 8, "input_row_offsets[1]: expected <= 7, got 8"),
    (PAGED, "input_row_offsets", 2, 3, "input_row_offsets[2]: expected >= 4, got 3"),
    (PAGED, "input_row_offsets", 2, 8, "input_row_offsets[2]: expected <= 7, got 8"),
    (
        PAGED,
        "buffer_row_offsets",
        0,
        -1,
        "buffer_row_offsets[0]: expected >= 0, got -1",
    ),
    (PAGED, "buffer_row_offsets", 2, 5, "buffer_row_offsets[2]: expected >= 6, got 5"),
    (
        PAGED,
        "buffer_row_offsets",
        2,
        10,
        "buffer_row_offsets[2]: expected <= 9, got 10",
    ),
    (PAGED, "cache_lengths", 1, -3, "cache_lengths[1]: expected >= 0, got -3"),
    (
        PAGED,
        "cache_lengths",
        0,
        2**31 - 2,
        "cache_lengths[0]: expected at most 2147483643, for 4 new tokens, got "
        "2147483646",
    ),
    (RAGGED, "cache_lengths", 1, -3, "cache_lengths[1]: expected >= 0, got -3"),
    (RAGGED, "cache_offsets", 0, -2, "cache_offsets[0]: expected >= 0, got -2"),
    (
        PAGED,
        "lookup_table",
        (0, 2),
        8,
        "lookup_table[0, 2]: expected a page in [0, 8), got 8",
    ),
    (
        PAGED,
        "lookup_table",
        (1, 0),
        -1,
        "lookup_table[1, 0]: expected a page in [0, 8), got -1",
    ),
]


@pytest.mark.parametrize(
    "case, name, entry, value, message", VALUES, ids=[row[-1] for row in VALUES]
)
def test_validate(case, name, entry, value, message, no_kernel):
    arguments = arguments_of(case)
    cache = arguments.get("cache")
    array = getattr(cache, name, None) if cache else None
    array = arguments[name] if array is None else array
    array[entry] = value
    with pytest.raises(ValueError) as caught:
        mla.prefill(**arguments, validate=True)
    assert str(caught.value) == message


def test_validate_offsets_further_down(no_kernel):
    """The first bad entry is the one that is named."""
    arguments = arguments_of(
        families.replace(RAGGED, lengths=(5, 12, 1, 4), prefixes=(), cache_offsets=None)
    )
    arguments["input_row_offsets"][3:] = (12, 13)
    with pytest.raises(ValueError) as caught:
        mla.prefill(**arguments, validate=True)
    assert str(caught.value) == "input_row_offsets[3]: expected >= 17, got 12"


def test_validate_too_few_columns(no_kernel):
    arguments = arguments_of(PAGED)
    cache = arguments["cache"]
    arguments["cache"] = mla.PagedCache(
        cache.kv_blocks, cache.lookup_table[:, :2], cache.cache_lengths
    )
    with pytest.raises(ValueError) as caught:
        mla.prefill(**arguments, validate=True)
    assert str(caught.value) == (
        "lookup_table: expected at least 3 columns, for 6 tokens of sequence 0 in "
        "pages of 2, got 2"
    )


@pytest.mark.parametrize("case", families.cases(), ids=str)
def test_validate_accepts_every_family(case, monkeypatch):
    """Garbage where the contract allows it is no error."""

    class Reached(Exception):
        pass

    def reach(*_):
        raise Reached

    monkeypatch.setattr(ops, "_kernel", reach)
    batch = build(families.replace(case, heads=1, dims=(2, 1, 1)))
    with pytest.raises(Reached):
        batch.run(validate=True)


@pytest.mark.parametrize("count", [-1, 2**31])
def test_number_of_threads(count):
    with pytest.raises(ValueError, match=f"^count: expected >= 0, got {count}$"):
        mla.set_num_threads(count)
    with pytest.raises(TypeError, match=r"^count: expected an integer, got float$"):
        mla.set_num_threads(1.5)
    assert mla.get_num_threads() == 0


def test_unknown_target():
    """The compiler's own refusals are mla.Error, a RuntimeError."""
    batch = build(PAGED)
    with pytest.raises(mla.Error, match="pentium"):
        batch.run(target="pentium")
    assert issubclass(mla.Error, RuntimeError)
    assert np.isnan(batch.output.astype(f32)).all()


def test_bad_module_text():
    with pytest.raises(mla.Error, match=r"1:\d+: error"):
        _capi.Kernel("func.func @f(")


def test_bad_stage():
    with pytest.raises(mla.Error, match="nowhere"):
        _capi.lower_text("module {}", "nowhere")


def test_kernel_arguments_are_checked():
    """The library checks too, for callers of the C API."""
    text = """
    func.func @f(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %r = linalg.copy ins(%x : tensor<?x4xf32>) outs(%y : tensor<?x4xf32>)
        -> tensor<?x4xf32>
      return %r : tensor<?x4xf32>
    }"""
    kernel = _capi.Kernel(text)
    x, y = np.arange(8, dtype=f32).reshape(2, 4), np.zeros((2, 4), f32)

    def tensor(array, **changes):
        fields = {
            "pointer": array.ctypes.data,
            "dtype": "f32",
            "shape": array.shape,
            "strides": tuple(stride // 4 for stride in array.strides),
        }
        return _capi.Tensor(**{**fields, **changes})

    kernel.run([tensor(x), tensor(y)])
    np.testing.assert_array_equal(x, y)
    for wrong, message in (
        ([tensor(x)], "2"),
        ([tensor(x), tensor(y, dtype="bf16")], "y"),
        ([tensor(x), tensor(y, shape=(8,), strides=(1,))], "y"),
        ([tensor(x), tensor(y, shape=(2, 3))], "y"),
        ([tensor(x, strides=(8, 2)), tensor(y)], "x"),
        ([tensor(x, pointer=0), tensor(y)], "x"),
        ([tensor(x, shape=(-1, 4)), tensor(y)], "x"),
    ):
        with pytest.raises(mla.Error, match=message):
            kernel.run(wrong)


def test_library_not_found(monkeypatch, tmp_path):
    monkeypatch.setenv(_capi.LIBRARY_VARIABLE, str(tmp_path / "nothing.so"))
    with pytest.raises(mla.Error) as caught:
        _capi.library_path()
    assert str(caught.value) == (
        f"MLA_COMPILER_LIBRARY: expected the path of a file, got {tmp_path}/nothing.so"
    )
    monkeypatch.delenv(_capi.LIBRARY_VARIABLE)
    monkeypatch.setattr(_capi, "__file__", str(tmp_path / "python/mla/_capi.py"))
    with pytest.raises(mla.Error) as caught:
        _capi.library_path()
    assert str(caught.value) == (
        f"libMLACompiler.so not found; looked for {tmp_path}/python/mla/_lib/"
        f"libMLACompiler.so, {tmp_path}/build/lib/libMLACompiler.so. Build it (cmake "
        "--build build) or set MLA_COMPILER_LIBRARY to its path"
    )


def test_library_order(monkeypatch, tmp_path):
    """The environment first, then the package's own, then the build tree's."""
    monkeypatch.delenv(_capi.LIBRARY_VARIABLE, raising=False)
    monkeypatch.setattr(_capi, "__file__", str(tmp_path / "python/mla/_capi.py"))
    for place in ("build/lib", "python/mla/_lib", "elsewhere"):
        path = tmp_path / place / _capi.LIBRARY_NAME
        path.parent.mkdir(parents=True)
        path.touch()
        if place == "elsewhere":
            monkeypatch.setenv(_capi.LIBRARY_VARIABLE, str(path))
        assert _capi.library_path() == path
