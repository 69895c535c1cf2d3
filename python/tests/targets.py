# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the tests' kernels run: one definition of a test, several targets.

Tests call `targets.current`, with arrays of the host. Under pytest that is the CPU
through the package's own front end; `gpu_suite.py` puts a target of
`device_target.py` in its place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mla
import numpy as np
from mla import _capi
from mla.module import (
    MASK_HAS_WINDOW,
    CacheSignature,
    PrefillSignature,
    RopeSignature,
    argument_types,
)

MLIR_TYPES = {
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "int32": "i32",
    "uint32": "ui32",
}


class Refused(Exception):
    """The target does not run this, and said so: no failure."""


class Target:
    """The CPU that the tests run on."""

    name = "cpu"
    # The largest error of tanh, of which there are approximations.
    tanh_error = 1e-6

    def prefill(self, q: Any, k: Any, v: Any, **options: Any) -> Any:
        """`mla.prefill`."""
        return mla.prefill(q, k, v, **options)

    def compile(self, text: str) -> _capi.Kernel:
        return _capi.Kernel(text, self.name)

    def run(self, kernel: _capi.Kernel, arguments: list[Any]) -> None:
        """Runs a kernel on arrays and on scalars of `_capi`, in their order."""
        kernel.run(
            [
                tensor(argument, argument.ctypes.data)
                if isinstance(argument, np.ndarray)
                else argument
                for argument in arguments
            ]
        )


current = Target()


class Operands(NamedTuple):
    """What `mla.prefill` makes of its arguments, without the package's front end.

    `values` are arrays and scalars by name, in the order of the function's
    arguments.
    """

    signature: PrefillSignature
    values: dict[str, Any]


def operands(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    output: np.ndarray,
    lse: np.ndarray | None = None,
    cache: Any = None,
    k_rope: np.ndarray | None = None,
    layer_idx: int = 0,
    scale: float | None = None,
    mask: str = "causal",
    local_window_size: int = -1,
    **index_tensors: np.ndarray,
) -> Operands:
    """The operands of a prefill that has the arguments of `mla.prefill`."""
    values: dict[str, Any] = {"q": q, "k": k, "v": v, "output": output}
    values.update(index_tensors)
    if lse is not None:
        values["lse"] = lse
    values["window"] = _capi.Scalar(local_window_size, "i32")
    values["scale"] = _capi.Scalar(
        q.shape[2] ** -0.5 if scale is None else scale, "f32"
    )
    source: CacheSignature | RopeSignature
    if cache is not None:
        values["kv_blocks"] = cache.kv_blocks
        values["lookup_table"] = cache.lookup_table
        values["cache_lengths"] = cache.cache_lengths
        values["layer_idx"] = _capi.Scalar(layer_idx, "i32")
        source = CacheSignature(
            dtype=mlir_type(cache.kv_blocks),
            width=cache.kv_blocks.shape[5],
            page_size=cache.kv_blocks.shape[3],
            lookup_table=mlir_type(cache.lookup_table),
        )
    else:
        values["k_rope"] = k_rope
        source = RopeSignature(dtype=mlir_type(k_rope))

    def index_type(name: str) -> str | None:
        return mlir_type(values[name]) if name in values else None

    signature = PrefillSignature(
        heads=q.shape[1],
        nope=k.shape[2],
        rope=q.shape[2] - k.shape[2],
        value=v.shape[2],
        dtype=mlir_type(q),
        output_dtype=mlir_type(output),
        rope_source=source,
        mask=mask,
        input_row_offsets=index_type("input_row_offsets"),
        buffer_row_offsets=index_type("buffer_row_offsets"),
        cache_offsets=index_type("cache_offsets"),
        cache_lengths=index_type("cache_lengths"),
        lse=lse is not None,
    )
    assert MASK_HAS_WINDOW[mask] == ("window" in argument_types(signature))
    return Operands(
        signature, {name: values[name] for name in argument_types(signature)}
    )


def mlir_type(array: np.ndarray) -> str:
    return MLIR_TYPES[array.dtype.name]


def element_strides(array: np.ndarray) -> tuple[int, ...]:
    """Strides in elements; those that address nothing are as if contiguous."""
    strides, contiguous = [], 1
    for extent, stride in zip(reversed(array.shape), reversed(array.strides)):
        free = extent <= 1 or array.size == 0
        strides.append(contiguous if free else stride // array.itemsize)
        contiguous = strides[-1] * max(extent, 1)
    return tuple(reversed(strides))


def tensor(array: np.ndarray, pointer: int) -> _capi.Tensor:
    """`array` as an argument of a kernel, with its elements at `pointer`."""
    return _capi.Tensor(
        pointer if array.size else 0,
        mlir_type(array),
        array.shape,
        element_strides(array),
    )
