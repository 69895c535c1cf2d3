# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What callers call a stream."""

from __future__ import annotations

import operator
from typing import Any


def stream_handle(stream: Any) -> int:
    """The CUstream behind what a caller calls a stream, as a number.

    An integer, or an object of PyTorch (`cuda_stream`), of CuPy (`ptr`), or with
    `__cuda_stream__`, the protocol of CUDA's own Python packages.
    """
    handle = stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        version, handle = protocol() if callable(protocol) else protocol
        if version != 0:
            raise ValueError(
                f"stream: expected version 0 of __cuda_stream__, got {version}"
            )
    else:
        for attribute in ("cuda_stream", "ptr"):
            if hasattr(stream, attribute):
                handle = getattr(stream, attribute)
                break
    try:
        handle = operator.index(handle)
    except TypeError:
        raise TypeError(
            "stream: expected a CUDA stream (an integer, or an object with "
            f"cuda_stream, ptr or __cuda_stream__), got {type(stream).__name__}"
        ) from None
    if not 0 <= handle < 2**64:
        raise ValueError(f"stream: expected a CUDA stream's handle, got {handle}")
    return handle
