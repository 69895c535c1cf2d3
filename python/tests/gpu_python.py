# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mla.prefill` on tensors of PyTorch, and of CuPy where it is installed.

    PYTHONPATH=python python python/tests/gpu_python.py [--device cuda:0] [NAME...]

Needs a GPU, its driver and PyTorch; `--device cpu` runs what needs no device. The
subject is the way from a tensor to the kernel: streams, graphs, views, messages.
What kernels compute in every corner is `gpu_suite.py`'s. Ends with
`N passed, N failed`.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback
from typing import Any, Callable

import mla
import torch

# Half the distance from 1 to the next number: the relative error of a rounding.
ROUNDING = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}
PAGE = 64
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Skip(Exception):
    """A test that this machine cannot run."""


class Batch:
    """Operands of a prefill, and the same in float64."""

    def __init__(
        self,
        lengths: list[int],
        cached: list[int],
        *,
        device: str,
        dtype: torch.dtype = torch.bfloat16,
        heads: int = 4,
        paged: bool = True,
        mask: str = "causal",
        window: int = -1,
        room: int = 0,  # rows past the last offset, for batches to grow into
        seed: int = 0,
    ):
        self.device, self.dtype = device, dtype
        self.mask, self.window = mask, window
        self.paged = paged
        self.random = torch.Generator(device).manual_seed(seed)
        tokens, rows = sum(lengths) + room, sum(lengths) + sum(cached) + room
        self.q = self.normal(tokens, heads, 192)
        self.k = self.normal(rows, heads, 128)
        self.v = self.normal(rows, heads, 128)
        self.input_row_offsets = self.index(len(lengths) + 1)
        self.buffer_row_offsets = self.index(len(lengths) + 1)
        self.cache_lengths = self.index(len(lengths))
        if paged:
            columns = -(-rows // PAGE) + 1
            pages = columns * len(lengths) + 3
            self.kv_blocks = self.normal(pages, 1, 2, PAGE, 1, 576)
            order = torch.randperm(pages, generator=self.random, device=device)
            self.lookup_table = (
                order[: len(lengths) * columns].int().view(-1, columns).contiguous()
            )
            self.cache = mla.PagedCache(
                self.kv_blocks, self.lookup_table, self.cache_lengths
            )
        else:
            self.k_rope = self.normal(rows, 64)
        self.resize(lengths, cached)

    def normal(self, *shape: int) -> torch.Tensor:
        values = torch.randn(
            shape, generator=self.random, device=self.device, dtype=torch.float32
        )
        return values.to(self.dtype)

    def index(self, count: int) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.int32, device=self.device)

    def resize(self, lengths: list[int], cached: list[int]) -> None:
        """Other sequences in the same tensors."""
        self.lengths, self.cached = lengths, cached
        ends = torch.tensor(lengths).cumsum(0)
        rows = (torch.tensor(lengths) + torch.tensor(cached)).cumsum(0)
        self.input_row_offsets[1:] = ends.int().to(self.device)
        self.buffer_row_offsets[1:] = rows.int().to(self.device)
        self.cache_lengths[:] = torch.tensor(cached, dtype=torch.int32)

    @property
    def tokens(self) -> int:
        return sum(self.lengths)

    def arguments(self, **changes: Any) -> dict[str, Any]:
        arguments = {
            "q": self.q,
            "k": self.k,
            "v": self.v,
            "input_row_offsets": self.input_row_offsets,
            "buffer_row_offsets": self.buffer_row_offsets,
            "mask": self.mask,
            "local_window_size": self.window,
        }
        if self.paged:
            arguments |= {"cache": self.cache, "layer_idx": 1}
        else:
            arguments |= {"k_rope": self.k_rope, "cache_lengths": self.cache_lengths}
        return arguments | changes

    def run(self, **changes: Any) -> Any:
        return mla.prefill(**self.arguments(**changes))

    def rope(self, sequence: int, begin: int, rows: int) -> torch.Tensor:
        if not self.paged:
            return self.k_rope[begin : begin + rows]
        positions = torch.arange(rows, device=self.device)
        pages = self.lookup_table[sequence][positions // PAGE].long()
        return self.kv_blocks[pages, 0, 1, positions % PAGE, 0, 512:]

    def expected(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Output, lse, and what errors of each row are measured by, in float64."""
        outputs, lses, scales = [], [], []
        row = token = 0
        for b, (n, cached) in enumerate(zip(self.lengths, self.cached)):
            rows = n + cached
            q = self.q[token : token + n].double()
            k = self.k[row : row + rows].double()
            v = self.v[row : row + rows].double()
            rope = self.rope(b, row, rows).double()
            s = torch.einsum("nhd,rhd->hnr", q[..., :128], k)
            s += torch.einsum("nhd,rd->hnr", q[..., 128:], rope)
            s *= 192**-0.5
            query = cached + torch.arange(n, device=self.device)[:, None]
            key = torch.arange(rows, device=self.device)[None, :]
            seen = torch.ones(n, rows, dtype=torch.bool, device=self.device)
            if self.mask != "null":
                seen &= key <= query
            if self.mask == "sliding_window_causal":
                seen &= query - key < self.window
            s.masked_fill_(~seen, -torch.inf)
            p = torch.softmax(s, dim=2)
            outputs.append(torch.einsum("hnr,rhd->nhd", p, v))
            scales.append(torch.einsum("hnr,rhd->nhd", p, v.abs()).amax(2))
            lses.append(torch.logsumexp(s, dim=2).T)
            row, token = row + rows, token + n
        return torch.cat(outputs), torch.cat(lses), torch.cat(scales)

    def check(self, output: torch.Tensor, lse: torch.Tensor | None = None) -> None:
        expected, expected_lse, scale = self.expected()
        rounding = ROUNDING[output.dtype] + ROUNDING[self.dtype]
        bound = (2e-5 + 1.25 * rounding) * scale[..., None]
        error = (output[: self.tokens].double() - expected).abs()
        # Written so that NaN fails.
        bad = int((~(error <= bound)).sum())
        assert bad == 0, f"{bad} of {error.numel()} elements of output are wrong"
        if lse is not None:
            error = (lse[: self.tokens].double() - expected_lse).abs()
            bad = int((~(error <= 2e-5 + 1e-6 * expected_lse.abs())).sum())
            assert bad == 0, f"{bad} of {error.numel()} elements of lse are wrong"


def small(device: str, **options: Any) -> Batch:
    return Batch([70, 1, 0, 130], [10, 200, 5, 0], device=device, **options)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def refuses(error: type, start: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except error as caught:
        assert str(caught).startswith(start), f"expected {start!r}, got {caught}"
    else:
        raise AssertionError(f"expected an error: {start}")


def need_cuda(device: str) -> None:
    if not device.startswith("cuda"):
        raise Skip("needs a CUDA device")


# Each test gets the device. What it prints is about to fail or a figure.


def test_types_and_forms(device):
    for dtype in (torch.bfloat16, torch.float16):
        for paged in (True, False):
            batch = small(device, dtype=dtype, paged=paged)
            output, lse = batch.run(return_lse=True)
            assert output.dtype == dtype and lse.dtype == torch.float32
            assert output.device == lse.device == batch.q.device
            batch.check(output, lse)


def test_masks(device):
    for mask, window in (("null", -1), ("sliding_window_causal", 33)):
        batch = small(device, mask=mask, window=window)
        batch.check(*batch.run(return_lse=True))


def test_many_heads_and_tokens(device):
    batch = Batch([512, 300], [100, 1000], device=device, heads=128)
    batch.check(*batch.run(return_lse=True))


def test_queries_at_the_end(device):
    """k_rope without cache_lengths: the last query is at the last key."""
    batch = small(device, paged=False)
    output, lse = batch.run(cache_lengths=None, return_lse=True)
    batch.check(output, lse)


def test_destinations(device):
    batch = small(device, room=9)
    output = torch.full((210, 4, 128), 7.0, dtype=torch.float32, device=device)
    lse = torch.full((210, 4), 7.0, device=device)
    assert batch.run(output=output, lse=lse) is output
    batch.check(output, lse)
    # Rows past the last offset are left alone.
    assert bool(
        (output[batch.tokens :] == 7).all() and (lse[batch.tokens :] == 7).all()
    )
    other = batch.run(output_dtype=torch.float32)
    assert same(other[: batch.tokens], output[: batch.tokens])


def test_strided_views(device):
    """k and v side by side in one projection, padded q and output: the same bits."""
    batch = small(device)
    expected, expected_lse = batch.run(return_lse=True)
    both = torch.cat([batch.k, batch.v], dim=2)
    padded = torch.full((201, 5, 256), torch.nan, dtype=batch.dtype, device=device)
    padded[:, :4, :192] = batch.q
    out = torch.full((201, 4, 160), 7.0, dtype=batch.dtype, device=device)
    output, lse = batch.run(
        q=padded[:, :4, :192],
        k=both[..., :128],
        v=both[..., 128:],
        output=out[..., :128],
        return_lse=True,
    )
    assert same(output, expected) and same(lse, expected_lse)
    assert bool((out[..., 128:] == 7).all())


def test_parameters_and_subclasses(device):
    batch = small(device)
    expected = batch.run()

    class Wrapped(torch.Tensor):
        pass

    parameter = torch.nn.Parameter(batch.k, requires_grad=False)
    output = batch.run(k=parameter, v=batch.v.as_subclass(Wrapped))
    assert same(output, expected)


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


def test_validate(device):
    for name, entry, value, message in (
        ("input_row_offsets", 0, 1, "input_row_offsets[0]: expected 0, got 1"),
        ("input_row_offsets", 4, 202, "input_row_offsets[4]: expected <= 201, got 202"),
        ("buffer_row_offsets", 1, -1, "buffer_row_offsets[1]: expected >= 0, got -1"),
        ("cache_lengths", 1, -3, "cache_lengths[1]: expected >= 0, got -3"),
        ("lookup_table", (1, 0), -1, "lookup_table[1, 0]: expected a page in [0, "),
    ):
        batch = small(device)
        output = torch.full((201, 4, 128), 7.0, dtype=batch.dtype, device=device)
        batch.check(batch.run(validate=True))
        getattr(batch, name)[entry] = value
        refuses(
            ValueError,
            message,
            lambda b=batch, o=output: b.run(output=o, validate=True),
        )
        assert bool((output == 7).all()), "something was launched"


def test_validate_waits_for_the_stream(device):
    need_cuda(device)
    batch = small(device)
    batch.run()
    batch.input_row_offsets[0] = 1
    torch.cuda.synchronize()
    torch.cuda._sleep(100_000_000)
    batch.input_row_offsets[0] = 0
    batch.check(batch.run(validate=True))


def test_mixed_devices(device):
    need_cuda(device)
    batch = small(device, paged=False)
    for name in ("k", "v", "k_rope", "input_row_offsets", "cache_lengths"):
        host = batch.arguments()[name].cpu()
        refuses(
            ValueError,
            f"{name}: expected an array on {device} (as q), got one on cpu",
            lambda name=name, host=host: batch.run(**{name: host}),
        )
    output = torch.empty(201, 4, 128, dtype=batch.dtype)
    refuses(
        ValueError, "output: expected an array on", lambda: batch.run(output=output)
    )
    paged = small("cpu")
    paged.check(paged.run())
    refuses(
        ValueError,
        "kv_blocks: expected an array on",
        lambda: small(device).run(cache=paged.cache),
    )


def test_tensors_that_are_refused(device):
    batch = small(device)
    cases = [
        (
            {"q": batch.q.clone().requires_grad_()},
            ValueError,
            "q: expected a tensor th",
        ),
        ({"k": batch.k.to("meta")}, ValueError, "k: expected an array on the CPU or a"),
        ({"v": batch.v.to_sparse()}, ValueError, "v: expected a tensor with strides"),
        ({"k": batch.k.float()}, TypeError, "k: expected bfloat16, got float32 (q's"),
        ({"v": torch._neg_view(batch.v)}, ValueError, "v: expected a tensor whose mem"),
        ({"q": batch.q.transpose(0, 1)}, ValueError, "k: expected shape [N, 201, Dn]"),
        (
            {"input_row_offsets": batch.input_row_offsets.long()},
            TypeError,
            "input_row_offsets: expected int32 or uint32, got int64",
        ),
    ]
    if device.startswith("cuda"):
        flat = torch.zeros(batch.q.numel() + 8, dtype=batch.dtype, device=device)
        unaligned = flat[4 : 4 + batch.q.numel()].view_as(batch.q)
        cases += [
            ({"q": unaligned}, ValueError, "q: expected an array that starts at a mul"),
            ({"target": "cpu"}, ValueError, "target: expected sm_90a for arrays on"),
            ({"stream": "fast"}, TypeError, "stream: expected a CUDA stream"),
        ]
    else:
        cases.append(({"stream": 0}, ValueError, "stream: expected None for arrays on"))
    for changes, error, message in cases:
        refuses(error, message, lambda changes=changes: batch.run(**changes))
    # And nothing is left broken.
    batch.check(batch.run())


def test_float32_is_refused(device):
    need_cuda(device)
    batch = small(device, dtype=torch.float32)
    refuses(TypeError, "q: expected bfloat16 or float16 for sm_90a, got", batch.run)
    other = small(device)
    other.check(other.run())


def test_second_device(device):
    """Not the current one: the tensors say where they are."""
    need_cuda(device)
    if torch.cuda.device_count() < 2:
        raise Skip("needs two devices")
    other = "cuda:1" if device == "cuda:0" else "cuda:0"
    batch = small(other)
    output, lse = batch.run(return_lse=True)
    assert str(output.device) == other
    batch.check(output, lse)
    refuses(
        ValueError, "k: expected an array on", lambda: batch.run(k=batch.k.to(device))
    )
    refuses(
        mla.Error,
        "",
        lambda: batch.run(stream=torch.cuda.Stream(device)),
    )


class Foreign:
    """A tensor of which only DLPack is known."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        return self._tensor.__dlpack__(**options)


def test_dlpack(device):
    batch = small(device, paged=False)
    expected, expected_lse = batch.run(return_lse=True)
    output, lse = torch.empty_like(expected), torch.empty_like(expected_lse)
    arguments = batch.arguments(output=output, lse=lse)
    foreign = {
        name: Foreign(value) if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }
    assert mla.prefill(**foreign) is foreign["output"]
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    assert same(output, expected) and same(lse, expected_lse)
    del foreign["output"]
    refuses(
        TypeError,
        "output: expected an array to write to",
        lambda: mla.prefill(**foreign),
    )


def test_cupy(device):
    need_cuda(device)
    try:
        import cupy
    except ImportError as error:
        raise Skip("CuPy is not installed") from error
    batch = small(device, dtype=torch.float16, paged=False)
    arrays = {
        name: cupy.from_dlpack(value) if isinstance(value, torch.Tensor) else value
        for name, value in batch.arguments().items()
    }
    torch.cuda.synchronize()
    with cupy.cuda.Device(batch.q.device.index):
        for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
            with stream:
                output, lse = mla.prefill(**arrays, return_lse=True)
                assert isinstance(output, cupy.ndarray)
            stream.synchronize()
            batch.check(torch.from_dlpack(output), torch.from_dlpack(lse))
        other = cupy.cuda.Stream(non_blocking=True)
        output = mla.prefill(**arrays, stream=other)
        other.synchronize()
        batch.check(torch.from_dlpack(output))
    # CuPy's and torch's in one call: q's framework has the stream and the memory.
    mixed = {**arrays, "q": batch.q}
    output = mla.prefill(**mixed)
    assert isinstance(output, torch.Tensor)
    batch.check(output)


def test_readme(device):
    """Its block for a GPU."""
    path = ROOT / "README.md"
    if not path.exists():
        raise Skip("the README is not here")
    (block,) = re.findall(r"^```py\n(.*?)^```$", path.read_text(), re.M | re.S)
    namespace: dict[str, Any] = {}
    try:
        exec(block.replace("cuda", device), namespace)
    finally:
        torch.set_default_device(None)
    assert str(namespace["output"].device) == device
    assert bool(namespace["output"].isfinite().all())


def test_example(device):
    need_cuda(device)
    path = ROOT / "examples" / "06-torch" / "prefill.py"
    if not path.exists():
        raise Skip("the example is not here")
    process = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "as by hand" in process.stdout, process.stdout


def test_host_cost(device):
    """Prints what a call costs the interpreter, beside the shortest launch there is."""
    batch = Batch([1], [0], device=device, heads=1)
    output = batch.run()
    lse = torch.empty(1, 1, device=device)
    cuda = device.startswith("cuda")

    def measure(call, count=200):
        best = []
        for _ in range(20):
            if cuda:
                torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                call()
            best.append((time.perf_counter() - start) / count)
        return f"{min(best) * 1e6:.1f} us"

    arguments = batch.arguments()
    mla.prefill(**arguments)
    print(f"  output given: {measure(lambda: mla.prefill(**arguments, output=output))}")
    print(f"  output allocated: {measure(lambda: mla.prefill(**arguments))}")
    both = {**arguments, "output": output, "lse": lse}
    print(f"  output and lse given: {measure(lambda: mla.prefill(**both))}")
    print(f"  torch's fill_ of one element: {measure(lambda: lse.fill_(0))}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("names", nargs="*", help="only these tests")
    options = parser.parse_args()
    os.environ["MLA_CACHE_DIR"] = "off"  # whatever means to compile does
    tests = {n[5:]: f for n, f in globals().items() if n.startswith("test_")}
    unknown = set(options.names) - set(tests)
    if unknown:
        parser.error(f"expected names of {', '.join(tests)}, got {', '.join(unknown)}")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name in options.names or tests:
        start = time.perf_counter()
        try:
            tests[name](options.device)
            result, reason = "passed", ""
        except Skip as skip:
            result, reason = "skipped", f": {skip}"
        except Exception:
            result, reason = "failed", f":\n{traceback.format_exc()}"
        counts[result] += 1
        seconds = time.perf_counter() - start
        print(f"{result}: {name} ({seconds:.1f} s){reason}", flush=True)
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
