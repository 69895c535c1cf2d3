# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`mla.prefill` on tensors of PyTorch, and of CuPy and JAX where they are installed.

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
import time
import traceback
from typing import Any, Callable

import mla
import torch
import torch_repeat
import torch_streams
from torch_batch import Batch, Skip, need_cuda, refuses, same, small

ROOT = pathlib.Path(__file__).resolve().parents[2]


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
    negated = torch.conj(torch.complex(batch.v.float(), batch.v.float())).imag
    cases = [
        (
            {"q": batch.q.clone().requires_grad_()},
            ValueError,
            "q: expected a tensor th",
        ),
        ({"k": batch.k.to("meta")}, ValueError, "k: expected an array on the CPU or a"),
        ({"v": batch.v.to_sparse()}, ValueError, "v: expected a tensor with strides"),
        ({"k": batch.k.float()}, TypeError, "k: expected bfloat16, got float32 (q's"),
        ({"v": negated}, ValueError, "v: expected a tensor whose memory holds its val"),
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


def test_foreign_arrays_are_waited_for(device):
    """By the call's stream: their producer's work is on another."""
    need_cuda(device)
    batch = small(device, dtype=torch.float16, paged=False)
    good = batch.v.clone()
    output = torch.empty_like(batch.run())
    stream = torch.cuda.Stream(device)
    for wrap in (Foreign, CudaArray):
        torch.cuda.synchronize()
        batch.v.fill_(torch.nan)
        torch.cuda._sleep(100_000_000)  # some 50 ms
        batch.v.copy_(good)
        batch.run(v=wrap(batch.v), output=output, stream=stream)
        stream.synchronize()
        batch.check(output)


class CudaArray:
    """A tensor of which only `__cuda_array_interface__` is known, and a stream."""

    def __init__(self, tensor):
        self._tensor = tensor

    @property
    def __cuda_array_interface__(self):
        stream = torch.cuda.current_stream(self._tensor.device).cuda_stream
        return {
            **self._tensor.__cuda_array_interface__,
            "version": 3,
            "stream": stream or 1,
        }


def test_cuda_array_interface(device):
    """All operands, on the stream of the producer and on another."""
    need_cuda(device)
    batch = small(device, dtype=torch.float16)
    expected, expected_lse = batch.run(return_lse=True)
    for stream in (None, torch.cuda.Stream(device)):
        output = torch.full_like(expected, torch.nan)
        lse = torch.full_like(expected_lse, torch.nan)
        arguments = batch.arguments(output=output, lse=lse, stream=stream)
        for name, value in arguments.items():
            if isinstance(value, torch.Tensor):
                arguments[name] = CudaArray(value)
        cache = (batch.kv_blocks, batch.lookup_table, batch.cache_lengths)
        arguments["cache"] = mla.PagedCache(*map(CudaArray, cache))
        mla.prefill(**arguments, validate=True)
        torch.cuda.synchronize()
        assert same(output, expected) and same(lse, expected_lse)


def test_jax(device):
    """Its arrays in, a tensor out; and what it has only begun to compute."""
    try:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax
    except ImportError as error:
        raise Skip("JAX is not installed") from error
    try:
        jax.devices("cuda" if device.startswith("cuda") else "cpu")
    except RuntimeError as error:
        raise Skip(f"JAX has no such device: {error}") from error
    batch = small(device, paged=False)
    expected, expected_lse = batch.run(return_lse=True)
    arguments = {
        name: jax.dlpack.from_dlpack(value)
        if isinstance(value, torch.Tensor)
        else value
        for name, value in batch.arguments().items()
    }

    @jax.jit
    def slowly(array, ones):
        for _ in range(50):
            ones = ones @ ones / len(ones)
        return array * ones[0, 0].astype(array.dtype)

    v, ones = arguments["v"], jax.numpy.ones_like(arguments["v"], shape=(2000, 2000))
    jax.block_until_ready(slowly(v, ones))
    streams = [None]
    if device.startswith("cuda"):
        streams.append(torch.cuda.Stream(device))
    for stream in streams:
        output = torch.full_like(expected, torch.nan)
        lse = torch.full_like(expected_lse, torch.nan)
        if stream is not None:
            torch.cuda.synchronize()
        changes = {"v": slowly(v, ones), "output": output, "lse": lse}
        mla.prefill(**{**arguments, **changes}, stream=stream)
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        assert same(output, expected) and same(lse, expected_lse)
    never_written = jax.numpy.zeros(expected.shape, v.dtype)
    refuses(
        ValueError,
        "output: expected a writable array",
        lambda: mla.prefill(**arguments, output=never_written),
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


def collect() -> dict[str, Callable[[str], None]]:
    """All tests by name."""
    functions = {**globals(), **vars(torch_streams), **vars(torch_repeat)}
    return {n[5:]: f for n, f in functions.items() if n.startswith("test_")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("names", nargs="*", help="only these tests")
    options = parser.parse_args()
    os.environ["MLA_CACHE_DIR"] = "off"  # whatever means to compile does
    tests = collect()
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
