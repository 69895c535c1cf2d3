# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a target does not run of what the op permits.

The compiler says the same (lib/Pipelines/GPULimits.cpp). Here it is said before
anything is compiled, as the exception that Python has for it.
"""

from __future__ import annotations

from mla._array import ITEM_BYTES, dtype_name
from mla.module import CacheSignature, PrefillSignature

# A matrix product takes this many 16-bit columns of a row at a time, and its result
# has at most so many.
_STEP, _MAX_VALUE = 16, 256
# The bytes that the copies of rows move at a time.
_CHUNK = 16


def refusal(s: PrefillSignature, target: str) -> TypeError | ValueError | None:
    """The error that says what of a prefill the target does not run, if anything.

    Widths that the target runs one by one may still not fit its shared memory
    together: that is the compiler's to say.
    """
    if not target.startswith("sm_"):
        return None

    def wrong(kind: type, name: str, expected: str, got: object) -> Exception:
        return kind(f"{name}: expected {expected} for {target}, got {got}")

    source = s.rope_source
    paged = isinstance(source, CacheSignature)
    rope = "kv_blocks" if paged else "k_rope"
    if s.dtype not in ("bf16", "f16"):
        return wrong(TypeError, "q", "bfloat16 or float16", dtype_name(s.dtype))
    if source.dtype != s.dtype:
        expected = f"{dtype_name(s.dtype)} (q's element type)"
        return wrong(TypeError, rope, expected, dtype_name(source.dtype))
    if s.nope % _STEP:
        return wrong(ValueError, "k", f"a multiple of {_STEP} columns", s.nope)
    if s.rope % _STEP:
        expected = f"a rope part of a multiple of {_STEP} columns"
        return wrong(ValueError, "q", expected, s.rope)
    if s.value % _STEP or s.value > _MAX_VALUE:
        expected = f"a multiple of {_STEP} columns up to {_MAX_VALUE}"
        return wrong(ValueError, "v", expected, s.value)
    if paged and (source.width - s.rope) * ITEM_BYTES[s.dtype] % _CHUNK:
        columns = _CHUNK // ITEM_BYTES[s.dtype]
        expected = f"a multiple of {columns} columns before the rope part"
        return wrong(ValueError, rope, expected, source.width - s.rope)
    return None
