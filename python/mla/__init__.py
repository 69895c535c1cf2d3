# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Multi-head Latent Attention over ragged batches and paged caches.

``mla.prefill`` computes the attention of a prefill step on arrays that the
caller owns, numpy's, PyTorch's or others', in place and without copies::

    cache = mla.PagedCache(kv_blocks, lookup_table, cache_lengths)
    output, lse = mla.prefill(
        q, k, v,
        buffer_row_offsets=buffer_row_offsets,
        input_row_offsets=input_row_offsets,
        cache=cache,
        mask="causal",
        return_lse=True,
    )

The kernel for a set of element types and static extents is compiled once and
kept for the life of the process. ``mla.reference`` has the same function as a
slow, obvious float64 oracle.
"""

from mla._capi import Error
from mla.ops import MASKS, get_num_threads, prefill, set_num_threads
from mla.paged_cache import PagedCache

__version__ = "0.1.0"

__all__ = [
    "MASKS",
    "Error",
    "PagedCache",
    "__version__",
    "get_num_threads",
    "prefill",
    "set_num_threads",
]
