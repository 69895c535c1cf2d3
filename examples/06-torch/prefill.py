# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mla.prefill on PyTorch tensors of a GPU, captured in a CUDA graph.

PYTHONPATH=python python3 examples/06-torch/prefill.py, with a Python that has PyTorch
"""

import sys

import mla

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit()
if not torch.cuda.is_available():
    print("skipped: PyTorch finds no GPU")
    sys.exit()

# Two sequences of 300 and 7 new tokens after 100 and 1000 cached ones, 16 heads. The
# rope part of the keys lies in pages of 64 tokens, shuffled through the cache.
torch.manual_seed(0)
torch.set_default_device("cuda")
heads, new, cached = 16, torch.tensor([300, 7]), torch.tensor([100, 1000])


def offsets(lengths):
    return torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).int()


def random(*shape):
    return torch.randn(shape, dtype=torch.bfloat16)


tokens, rows = int(new.sum()), int((new + cached).sum())
q = random(tokens, heads, 192)
k, v = random(rows, heads, 256).split(128, dim=2)  # views: nothing is copied
kv_blocks = random(40, 1, 1, 64, 1, 576)
lookup_table = torch.randperm(40)[:34].view(2, 17).int()
cache = mla.PagedCache(kv_blocks, lookup_table, cached.int())


def attention():
    return mla.prefill(
        q,
        k,
        v,
        input_row_offsets=offsets(new),
        buffer_row_offsets=offsets(new + cached),
        cache=cache,
        mask="causal",
    )


def by_hand(token, head):
    """The same for one token of the second sequence, in float32."""
    seen = int(cached[1]) + token + 1
    begin, positions = 400, torch.arange(seen)
    pages = lookup_table[1][positions // 64].long()
    rope = kv_blocks[pages, 0, 0, positions % 64, 0, 512:]
    key = torch.cat([k[begin : begin + seen, head], rope], dim=1).float()
    scores = key @ q[300 + token, head].float() * 192**-0.5
    return torch.softmax(scores, 0) @ v[begin : begin + seen, head].float()


# The current stream's; torch's own operations wait for it.
output = attention()
torch.testing.assert_close(output[305, 3].float(), by_hand(5, 3), rtol=2e-2, atol=2e-3)

# Nothing is planned on the host, so a graph is as good for the next batch.
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    output = attention()
q.copy_(random(tokens, heads, 192))
graph.replay()
torch.testing.assert_close(output[306, 1].float(), by_hand(6, 1), rtol=2e-2, atol=2e-3)
print("output", tuple(output.shape), output.dtype, "on", output.device, "as by hand")
