# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The paged latent cache as an operand of `mla.prefill`."""

from __future__ import annotations

from typing import Any

from mla._array import COPY_BYTES, Array
from mla._exchange import HeldPointers
from mla._frameworks import as_array

INDEX_DTYPES = ("i32", "ui32")
INDEX_HINT = "; convert it to int32"
FLOAT_DTYPES = ("bf16", "f16", "f32")


class PagedCache:
    """A view of a paged cache: it holds the arrays, and copies none of them.

    Args:
      kv_blocks: [pages, 1, layers, page size, 1, width]. A row is one token of
        one layer; its last columns are the rope part of the key.
      lookup_table: [sequences, columns], int32 or uint32. Entry [b, c] is the
        page of the tokens [c * page size, (c + 1) * page size) of sequence b.
        Entries past a sequence's last page may hold anything.
      cache_lengths: [sequences], int32 or uint32. The tokens of each sequence
        that were cached before this step.

    The arrays are of any kind that `mla.prefill` takes, on the host or all on one
    CUDA device. They may be changed in place between calls, as a server does at
    each step; their memory must stay where it is.
    """

    def __init__(self, kv_blocks: Any, lookup_table: Any, cache_lengths: Any):
        blocks = as_array(kv_blocks, "kv_blocks")
        blocks.require_dtype(FLOAT_DTYPES)
        blocks.require_shape("pages", 1, "layers", "page size", 1, "width")
        _, _, _, page_size, _, width = blocks.shape
        if page_size == 0 or width == 0:
            raise ValueError(
                "kv_blocks: expected a page size and a width of at least 1, got "
                f"shape {list(blocks.shape)}"
            )
        table = as_array(lookup_table, "lookup_table")
        table.require_dtype(INDEX_DTYPES, INDEX_HINT)
        table.require_shape("sequences", "columns")
        lengths = as_array(cache_lengths, "cache_lengths")
        lengths.require_dtype(INDEX_DTYPES, INDEX_HINT)
        lengths.require_shape(table.shape[0])
        self._blocks, self._table, self._lengths = blocks, table, lengths
        arrays = (blocks, table, lengths)
        self._arrays = {array.name: array for array in arrays}
        # For `_repeat`: all that a call has to know of arrays that need not be read
        # again for it, or None.
        self.held = HeldPointers(*(array.pointer for array in arrays))
        self.layouts = None
        if not any(array.layout.framework.orders for array in arrays):
            starts = blocks.pointer % COPY_BYTES
            self.layouts = (starts, *(array.layout for array in arrays))

    def arrays(self) -> dict[str, Array]:
        """The operands by name."""
        return self._arrays

    @property
    def kv_blocks(self) -> Any:
        return self._blocks.owner

    @property
    def lookup_table(self) -> Any:
        return self._table.owner

    @property
    def cache_lengths(self) -> Any:
        return self._lengths.owner

    @property
    def layers(self) -> int:
        return self._blocks.shape[2]

    @property
    def page_size(self) -> int:
        return self._blocks.shape[3]

    @property
    def width(self) -> int:
        return self._blocks.shape[5]

    def __repr__(self) -> str:
        pages, sequences = self._blocks.shape[0], self._table.shape[0]
        return (
            f"PagedCache(sequences={sequences}, pages={pages}, "
            f"page_size={self.page_size}, layers={self.layers}, width={self.width})"
        )
