# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls like an earlier one, of which nothing has to be found out again.

A model calls once a layer with the same layouts, and there the interpreter takes
longer than the launch. What is not quite as it was, or not plain, is left to the way
that every first call goes: that one makes the checks, and the errors.
"""

from __future__ import annotations

from typing import Any

from mla import _capi
from mla._checks import INT32_MAX, fits_scale
from mla._exchange import Exchange, PreparedCall
from mla._frameworks import remember
from mla._plan import Plan
from mla._stream import stream_handle
from mla.paged_cache import PagedCache


class _Repeated:
    """A plan with its kernel."""

    def __init__(self, plan: Plan, kernel: _capi.Kernel):
        self.plan = plan
        # What every call looks at.
        self.scale = plan.scale
        self.layers = 1 if plan.layers is None else plan.layers
        self.has_window = "window" in plan.names
        self.allocates = plan.new_output is not None or plan.new_lse is not None
        prepare = plan.framework.prepare_empty
        self.make_output, self.make_lse = (
            None if new is None else prepare(new)
            for new in (plan.new_output, plan.new_lse)
        )
        has_cache = plan.layers is not None
        self.prepared = PreparedCall(plan.make_call(kernel), plan.names, has_cache)
        self.address = self.prepared.address

    def allocate(self, arrays: tuple, handle: int | None, stream: Any) -> tuple:
        """The arrays with the destinations that were not given."""
        plan, output, lse = self.plan, arrays[-2], arrays[-1]
        if handle is None or handle == plan.framework.current_stream(plan.device):
            if self.make_output is not None:
                output = self.make_output()
            if self.make_lse is not None:
                lse = self.make_lse()
        else:
            if plan.new_output is not None:
                output = plan.empty(plan.new_output, arrays[0], stream)[1]
            if plan.new_lse is not None:
                lse = plan.empty(plan.new_lse, arrays[0], stream)[1]
        return (*arrays[:-2], output, lse)


_repeated: dict[tuple, _Repeated] = {}


def remember_call(key: tuple, plan: Plan, kernel: _capi.Kernel) -> None:
    """Makes of the call that `repeat` had this key for one that it repeats."""
    remember(_repeated, key, _Repeated(plan, kernel))


def repeat(
    exchange: Exchange,
    arrays: tuple,
    cache: Any,
    mask: Any,
    window: Any,
    output_dtype: Any,
    return_lse: Any,
    target: Any,
    layer_idx: Any,
    scale: Any,
    stream: Any,
    num_threads: int,
) -> tuple[Any, tuple | None]:
    """What `prefill` returns, or None if this is not the call to repeat; and then the
    key to remember it by once it is known to be valid, if it can be."""
    described = exchange.describe(arrays)
    if described is None:
        return None, None
    if cache is None:
        layouts, held = None, 0
    elif type(cache) is PagedCache and cache.layouts is not None:
        layouts, held = cache.layouts, cache.held.address
    else:
        return None, None
    # What is kept in a key is nothing that may change, and no array.
    if type(return_lse) is not bool or not (
        output_dtype is None or type(output_dtype) in exchange.dtypes
    ):
        return None, None
    key = (described, layouts, mask, output_dtype, return_lse, target)
    try:
        call = _repeated.get(key)
    except TypeError:  # a mask or a target that is no name
        return None, None
    if call is None:
        return None, key

    if scale is None:
        scale = call.scale
    elif type(scale) is not float or not fits_scale(scale):
        return None, None
    if type(layer_idx) is not int or not 0 <= layer_idx < call.layers:
        return None, None
    if call.has_window and not (type(window) is int and 0 < window <= INT32_MAX):
        return None, None
    handle = None
    if stream is not None:
        if call.plan.device.kind == "cpu":
            return None, None
        handle = stream_handle(stream)
    if call.allocates:
        arrays = call.allocate(arrays, handle, stream)
    error = exchange.run(
        arrays,
        call.address,
        held,
        handle,
        num_threads,
        window if call.has_window else 0,
        layer_idx,
        scale,
    )
    if error is not None:
        raise _capi.Error(error)
    return ((arrays[-2], arrays[-1]) if return_lse else arrays[-2]), None
