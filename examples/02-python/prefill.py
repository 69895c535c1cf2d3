# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mla.prefill on numpy arrays, and the same by hand.

PYTHONPATH=python .venv/bin/python examples/02-python/prefill.py
"""

import mla
import numpy as np

# Two prompts of 5 and 3 tokens, 4 heads, one after the other in the rows.
rng = np.random.default_rng(0)
offsets = np.array([0, 5, 8], np.int32)
q = rng.standard_normal((8, 4, 192), np.float32)
k = rng.standard_normal((8, 4, 128), np.float32)
v = rng.standard_normal((8, 4, 128), np.float32)
k_rope = rng.standard_normal((8, 64), np.float32)  # one rope key for all heads

output, lse = mla.prefill(
    q,
    k,
    v,
    k_rope=k_rope,
    buffer_row_offsets=offsets,
    input_row_offsets=offsets,
    mask="causal",
    return_lse=True,
)

# Row 6 is the second token of the second prompt: it sees rows 5 and 6.
key = np.concatenate([k[5:7, 0], k_rope[5:7]], axis=1)
p = np.exp(key @ q[6, 0] * 192**-0.5)
np.testing.assert_allclose(output[6, 0], p @ v[5:7, 0] / p.sum(), rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(lse[6, 0], np.log(p.sum()), rtol=1e-4)
print("output", output.shape, output.dtype, "as by hand")
