# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams, threads and CUDA graphs: tests of `gpu_python.py`."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading

import torch
from torch_batch import PAGE, Batch, Skip, need_cuda, same, small

# Of different kernels, and with different lengths.
FORMS = (
    {"paged": True},
    {"paged": False},
    {"mask": "null"},
    {"mask": "sliding_window_causal", "window": 33},
    {"dtype": torch.float16},
    {"dtype": torch.float16, "paged": False, "mask": "null"},
    {"heads": 1},
    {"heads": 16, "paged": False},
)
# New and cached tokens of three sequences each.
LENGTHS = (
    ([50, 60, 7], [100, 0, 33]),
    ([1, 128, 129], [0, 64, 65]),
    ([0, 300, 0], [5, 17, 9]),
    ([1, 1, 1], [100, 0, 33]),
)


def at_once(work, count: int) -> None:
    """Calls `work` with 0 to count - 1, each in a thread, none before all are there."""
    start = threading.Barrier(count)

    def begin(number: int) -> None:
        start.wait()
        work(number)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(begin, range(count)))


def test_current_stream(device):
    """Work goes after that of the current stream, and not to another one."""
    need_cuda(device)
    batch = small(device)
    good = batch.q.clone()
    batch.run()
    torch.cuda.synchronize()
    for explicit in (False, True):
        stream = torch.cuda.Stream(device)
        batch.q.fill_(torch.nan)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100_000_000)  # some 50 ms
            batch.q.copy_(good)
            if not explicit:
                output, lse = batch.run(return_lse=True)
        if explicit:
            output, lse = batch.run(return_lse=True, stream=stream)
        assert not stream.query(), "the call waited"
        stream.synchronize()
        batch.check(output, lse)


def test_streams_of_all_kinds(device):
    need_cuda(device)
    batch = small(device)

    class Protocol:
        def __init__(self, handle):
            self.handle = handle

        def __cuda_stream__(self):
            return (0, self.handle)

    stream = torch.cuda.Stream(device)
    handle = stream.cuda_stream
    for given in (stream, handle, Protocol(handle), torch.cuda.default_stream(device)):
        output = batch.run(stream=given)
        torch.cuda.synchronize()
        batch.check(output)
    for number in (0, 1, 2):  # the default streams
        output = torch.empty(201, 4, 128, dtype=batch.dtype, device=device)
        batch.run(output=output, stream=number)
        torch.cuda.synchronize()
        batch.check(output)


def test_allocations_belong_to_the_stream(device):
    """A new output is no memory that the current stream still uses."""
    need_cuda(device)
    batch = small(device)
    stream = torch.cuda.Stream(device)
    batch.run(stream=stream)  # the stream's own pool has its first block
    torch.cuda.synchronize()
    busy = torch.empty(201, 4, 128, dtype=batch.dtype, device=device)
    torch.cuda._sleep(100_000_000)
    busy.fill_(7)  # late, on the current stream, to which the block then returns
    del busy
    output = batch.run(stream=stream)
    torch.cuda.synchronize()
    batch.check(output)


def test_threads(device):
    batches = [small(device, seed=seed) for seed in range(4)]
    outputs = [None] * len(batches)
    batches[0].run()

    def work(i):
        if device.startswith("cuda"):
            torch.cuda.set_device(device)
            stream = torch.cuda.Stream(device)
            stream.wait_stream(torch.cuda.default_stream(device))
            torch.cuda.set_stream(stream)
        for _ in range(50):
            outputs[i] = batches[i].run()
        if device.startswith("cuda"):
            torch.cuda.current_stream().synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for batch, output in zip(batches, outputs):
        batch.check(output)


def test_graph(device):
    """Captured once, replayed with other lengths, pages and contents."""
    need_cuda(device)
    for paged in (True, False):
        batch = Batch([50, 60, 7], [100, 0, 33], device=device, paged=paged, room=300)
        batch.run(return_lse=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output, lse = batch.run(return_lse=True)
        for lengths, cached in (
            ([50, 60, 7], [100, 0, 33]),
            ([1, 128, 129], [0, 64, 65]),
            ([0, 300, 0], [5, 17, 9]),
            ([1, 1, 1], [100, 0, 33]),
        ):
            batch.resize(lengths, cached)
            batch.q.copy_(batch.normal(*batch.q.shape))
            if paged:
                shuffled = torch.randperm(batch.kv_blocks.shape[0], device=device)
                table = batch.lookup_table
                table.copy_(shuffled[: table.numel()].view_as(table))
            output.fill_(torch.nan)
            graph.replay()
            torch.cuda.synchronize()
            batch.check(output, lse)


def test_two_graphs_at_once(device):
    need_cuda(device)
    batches = [small(device, seed=seed) for seed in range(2)]
    runs = []
    for batch in batches:
        batch.run()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output = batch.run()
        runs.append((batch, graph, output, torch.cuda.Stream(device)))
    for _ in range(20):
        for _, graph, _, stream in runs:
            with torch.cuda.stream(stream):
                graph.replay()
    torch.cuda.synchronize()
    for batch, _, output, _ in runs:
        batch.check(output)


def test_validate_waits_for_the_stream(device):
    need_cuda(device)
    batch = small(device)
    batch.run()
    batch.input_row_offsets[0] = 1
    torch.cuda.synchronize()
    torch.cuda._sleep(100_000_000)
    batch.input_row_offsets[0] = 0
    batch.check(batch.run(validate=True))


def test_eight_threads_on_four_streams(device):
    """Each with batches of its own: two threads launch on each stream, whose kernels
    meet those of the others on the device."""
    streams = [None] * 4
    if device.startswith("cuda"):
        streams = [torch.cuda.Stream(device) for _ in range(4)]
    threads = 2 * len(streams)
    batches = [
        [
            Batch(*lengths, device=device, seed=10 * i + j, **FORMS[i])
            for j, lengths in enumerate(LENGTHS)
        ]
        for i in range(threads)
    ]
    expected = [[b.run(return_lse=True) for b in own] for own in batches]
    wrong = [torch.zeros((), dtype=torch.int64, device=device) for _ in batches]
    if device.startswith("cuda"):
        torch.cuda.synchronize()

    def work(i):
        stream = streams[i % len(streams)]
        context = contextlib.nullcontext()
        if stream is not None:
            torch.cuda.set_device(device)
            context = torch.cuda.stream(stream)
        with context:
            for _ in range(50 if stream is not None else 2):
                for batch, pair in zip(batches[i], expected[i]):
                    for one, other in zip(batch.run(return_lse=True), pair):
                        wrong[i] += (one != other).sum()
        if stream is not None:
            stream.synchronize()

    at_once(work, threads)
    assert [int(count) for count in wrong] == [0] * threads
    for own, pairs in zip(batches, expected):
        for batch, pair in zip(own, pairs):
            batch.check(*pair)


def test_graphs_on_other_streams(device):
    """Captured on one stream, replayed at once on others by as many threads, with other
    lengths each time, while the first stream goes on to launch."""
    need_cuda(device)
    home = torch.cuda.Stream(device)
    runs = []
    for seed, form in enumerate(FORMS[:4]):
        batch = Batch(*LENGTHS[0], device=device, seed=seed, room=300, **form)
        batch.run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=home):
            results = [batch.run(return_lse=True) for _ in range(3)]
        runs.append((batch, graph, results, torch.cuda.Stream(device)))
    eager = small(device)

    def work(i):
        torch.cuda.set_device(device)
        if i == len(runs):
            with torch.cuda.stream(home):
                for _ in range(30):
                    eager_results[:] = eager.run(return_lse=True)
            return
        _, graph, _, stream = runs[i]
        with torch.cuda.stream(stream):
            for _ in range(10):
                graph.replay()

    for turn in range(2 * len(LENGTHS)):
        for i, (batch, _, results, _) in enumerate(runs):
            batch.resize(*LENGTHS[(i + turn) % len(LENGTHS)])
            batch.q.copy_(batch.normal(*batch.q.shape))
            for output, lse in results:
                output.fill_(torch.nan)
                lse.fill_(torch.nan)
        eager_results = [None, None]
        torch.cuda.synchronize()
        at_once(work, len(runs) + 1)
        torch.cuda.synchronize()
        eager.check(*eager_results)
        for batch, _, results, _ in runs:
            for output, lse in results:
                batch.check(output, lse)


def test_more_than_2_31_elements(device):
    """In each of q, k, v, the output and the cache (MLA-R7): more sequences than the
    kernel's order has lines, of which those around that place are checked."""
    need_cuda(device)
    gigabytes = torch.cuda.mem_get_info(device)[0] / 2**30
    if gigabytes < 60:
        raise Skip(f"needs 60 GiB of the device's memory, {gigabytes:.0f} are free")
    heads, length, far = 128, 64, 2**31
    count = far // (length * heads * 128) + 2
    pages = far // (2 * PAGE * 576)
    batch = Batch(
        [length] * count, [0] * count, device=device, heads=heads, spare_pages=pages
    )
    output, lse = batch.run(return_lse=True)
    tensors = (batch.q, batch.k, batch.v, output, batch.kv_blocks)
    assert all(tensor.numel() > far for tensor in tensors)
    farthest = batch.lookup_table[:, 0].argmax().item()
    of_q = far // (length * heads * 192)
    batch.check(output, lse, (0, 1, of_q, of_q + 1, farthest, count - 2, count - 1))
    again, lse_again = batch.run(return_lse=True)
    assert same(output, again) and same(lse, lse_again)
