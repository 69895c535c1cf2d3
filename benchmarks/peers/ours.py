# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mla.prefill, called from Python as a user does."""

from __future__ import annotations

import mla
import numpy as np
from mla import _capi

TARGETS = {"native": "cpu", "avx2": "cpu-avx2"}


def versions() -> dict[str, str]:
    return {"mla": _capi.version(), "llvm": _capi.llvm_version()}


def prepare(batch, isa: str, threads: int):
    mla.set_num_threads(threads)
    w = batch.workload
    output = np.empty((batch.q.shape[0], w.heads, w.value), batch.q.dtype)
    options = batch.options() | {"output": output, "target": TARGETS[isa]}

    def call() -> None:
        mla.prefill(batch.q, batch.k, batch.v, **options)

    return call, lambda: output
