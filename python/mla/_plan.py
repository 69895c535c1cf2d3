# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What follows from the layouts of a call's arrays, and from nothing else.

A model calls once a layer with the same layouts: the checks are made and the
kernel's arguments laid out at the first of these calls, and found at the others.
"""

from __future__ import annotations

from typing import Any

from mla import _capi
from mla._array import Array, Layout
from mla._checks import (
    check_destinations,
    check_inputs,
    check_row_alignment,
    check_target,
    common_device,
)
from mla._frameworks import Framework, NewArray, contiguous_strides
from mla._limits import refusal
from mla.module import (
    CacheSignature,
    PrefillSignature,
    RopeSignature,
    argument_types,
)

# Scalars of the kernel, by name.
_SCALARS = {"window": "i32", "layer_idx": "i32", "scale": "f32"}


class Plan:
    """The part of a call that is the same whenever the layouts are."""

    def __init__(
        self,
        arrays: dict[str, Array],
        mask: str,
        output_dtype: str | None,
        with_lse: bool,
        target: str | None,
    ):
        """Raises, with the operand's name, if the arrays do not fit together."""
        check_inputs(arrays)
        q, k, v = arrays["q"], arrays["k"], arrays["v"]
        blocks = arrays.get("kv_blocks")
        self.device = common_device(arrays)
        self.framework: Framework = q.layout.framework
        self.output_shape = (q.shape[0], q.shape[1], v.shape[2])
        check_destinations(arrays, self.output_shape, output_dtype)
        self.target = check_target(target, q)
        aligned = check_row_alignment(arrays, self.target)
        self.aligned = [(n, i) for i, n in enumerate(arrays) if n in aligned]
        self.scale = q.shape[2] ** -0.5
        self.layers = None if blocks is None else blocks.shape[2]
        self.output_dtype = (
            arrays["output"].dtype if "output" in arrays else output_dtype or q.dtype
        )
        if blocks is not None:
            source = CacheSignature(
                dtype=blocks.dtype,
                width=blocks.shape[5],
                page_size=blocks.shape[3],
                lookup_table=arrays["lookup_table"].dtype,
            )
        else:
            source = RopeSignature(dtype=arrays["k_rope"].dtype)
        self.signature = PrefillSignature(
            heads=q.shape[1],
            nope=k.shape[2],
            rope=q.shape[2] - k.shape[2],
            value=v.shape[2],
            dtype=q.dtype,
            output_dtype=self.output_dtype,
            rope_source=source,
            mask=mask,
            input_row_offsets=arrays["input_row_offsets"].dtype,
            buffer_row_offsets=arrays["buffer_row_offsets"].dtype,
            cache_offsets=_dtype_of(arrays.get("cache_offsets")),
            cache_lengths=_dtype_of(arrays.get("cache_lengths")),
            lse=with_lse,
        )
        error = refusal(self.signature, self.target)
        if error is not None:
            raise error
        types = argument_types(self.signature)
        self.names = list(types)
        self.scalars = [name for name in types if name in _SCALARS]
        # The caller has the addresses in the order of the kernel's arguments.
        given = [name for name in types if name in arrays]
        assert given == list(arrays), f"expected {given}, got {list(arrays)}"
        self.output_place = [n for n in types if n not in _SCALARS].index("output")
        self.new_output = self.new_lse = None
        if "output" not in arrays:
            self.new_output = NewArray(
                "output", self.output_shape, self.output_dtype, self.device
            )
        if with_lse and "lse" not in arrays:
            self.new_lse = NewArray("lse", self.output_shape[:2], "f32", self.device)
        self._arguments = [self._argument(name, arrays) for name in types]
        # Prepared calls that no thread is making at the moment.
        self.calls: list[_capi.Call] = []

    def _argument(
        self, name: str, arrays: dict[str, Array]
    ) -> _capi.Scalar | _capi.Tensor:
        if name in _SCALARS:
            return _capi.Scalar(0, _SCALARS[name])
        if name in arrays:
            layout: Layout = arrays[name].layout
            return _capi.Tensor(0, layout.dtype, layout.shape, layout.strides)
        new = self.new_output if name == "output" else self.new_lse
        return _capi.Tensor(0, new.dtype, new.shape, contiguous_strides(new.shape))

    def empty(self, new: NewArray, like: Any, stream: Any) -> tuple[int, Any]:
        """A destination that was not given; see `NewArray` of its stream."""
        if stream is not None:
            new = new._replace(stream=stream)
        return self.framework.empty(like, new)

    def make_call(self, kernel: _capi.Kernel) -> _capi.Call:
        return _capi.Call(kernel, self._arguments, self.device.index)


def _dtype_of(array: Array | None) -> str | None:
    return None if array is None else array.dtype
