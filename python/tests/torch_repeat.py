# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors read by PyTorch's exchange table and by their attributes: tests of
`gpu_python.py`. Whatever a tensor is, both ways say the same of it."""

from __future__ import annotations

import contextlib
import gc
import re
import weakref
from collections.abc import Iterator
from typing import Any, Callable

import mla
import torch
from mla import _repeat, ops
from mla._exchange import exchange_of
from torch_batch import Batch, Skip


@contextlib.contextmanager
def by_attributes():
    """As if there were no table."""
    before = ops.exchange_of
    ops.exchange_of = lambda kind: None
    try:
        yield
    finally:
        ops.exchange_of = before


def require_table() -> None:
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        raise Skip(f"PyTorch {torch.__version__} has no exchange table")
    assert exchange_of(torch.Tensor) is not None


class Unlike(torch.Tensor):
    """A subclass, whose instances are as they are told by `__torch_function__`."""


def negated(x: torch.Tensor) -> torch.Tensor:
    return torch.conj(torch.complex(x, x)).imag


def dense_negated(x: torch.Tensor) -> torch.Tensor:
    """A view with the strides of any other."""
    return negated(x).as_strided(x.shape, x.stride())


def fake(x: torch.Tensor) -> torch.Tensor:
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode().from_tensor(x)


def without_memory(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x.untyped_storage().resize_(0)
    return x


# Tensors in the place of one of float32, or float16.
ODD: dict[str, Callable[[torch.Tensor], Any]] = {
    "same": lambda x: x,
    "copy": lambda x: x.clone(),
    "gradient": lambda x: x.clone().requires_grad_(),
    "gradient_of_a_leaf": lambda x: x.clone().requires_grad_() * 2,
    "negated": negated,
    "dense_negated": dense_negated,
    "complex": lambda x: torch.complex(x, x),
    "conjugate": lambda x: torch.complex(x, x).conj(),
    "sparse": lambda x: x.to_sparse(),
    "sparse_rows": lambda x: x.flatten(1).to_sparse_csr(),
    "nested": lambda x: torch.nested.nested_tensor(list(x)),
    "jagged": lambda x: torch.nested.nested_tensor(list(x), layout=torch.jagged),
    "mkldnn": lambda x: x.to_mkldnn(),
    "quantized": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
    "meta": lambda x: x.to("meta"),
    "fake": fake,
    "functional": lambda x: torch._to_functional_tensor(x),
    "zero": lambda x: torch._efficientzerotensor(x.shape, device=x.device),
    "shared_until_written": lambda x: torch._lazy_clone(x),
    "without_memory": without_memory,
    "subclass": lambda x: x.as_subclass(Unlike),
    "parameter": lambda x: torch.nn.Parameter(x, requires_grad=False),
    "trained_parameter": lambda x: torch.nn.Parameter(x),
    "buffer": lambda x: torch.nn.Buffer(x),
    "transposed": lambda x: x.mT.contiguous().mT,
    "expanded": lambda x: x[:, :1].expand(x.shape),
    "strided": lambda x: torch.cat([x, x], -1)[..., : x.shape[-1]],
    "wide": lambda x: torch.cat([x, x], -1),
    "every_second": lambda x: torch.cat([x, x], -1)[..., ::2],
    "odd_start": lambda x: torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape),
    "empty": lambda x: x[:0],
    "scalar": lambda x: x.sum(),
    "more_dimensions": lambda x: x[None],
    "many_dimensions": lambda x: x.view(1, 1, 1, 1, 1, 1, 1, *x.shape),
    "double": lambda x: x.double(),
    "half": lambda x: x.half(),
    "integers": lambda x: x.int(),
    "bytes": lambda x: x.view(torch.uint8),
    "float8": lambda x: x.to(torch.float8_e4m3fn),
    "numpy": lambda x: x.cpu().numpy(),
    "list": lambda x: x.tolist(),
    "type": lambda x: torch.Tensor,
}

# Of these alone, not every version or device can make one.
NOT_EVERYWHERE = {
    "buffer",
    "float8",
    "functional",
    "jagged",
    "mkldnn",
    "nested",
    "quantized",
    "shared_until_written",
    "sparse_rows",
    "zero",
}

Call = Callable[[Any], None]

# Tensors that are something else only as long as a function runs.
INSIDE: dict[str, Callable[[torch.Tensor, Call], Any]] = {
    "vmap": lambda x, call: torch.vmap(lambda t: [call(t), t][1])(x[None]),
    "grad": lambda x, call: torch.func.grad(lambda t: [call(t), t.sum()][1])(x),
    "jvp": lambda x, call: torch.func.jvp(lambda t: [call(t), t][1], (x,), (x,)),
    "functionalize": lambda x, call: torch.func.functionalize(
        lambda t: [call(t), t][1]
    )(x),
}


def odd_tensors(plain: torch.Tensor) -> Iterator[tuple[str, Any]]:
    """Each kind that can be made in the place of a plain tensor, of memory of its
    own."""
    for kind, make in ODD.items():
        try:
            odd = make(plain.clone())
        except (RuntimeError, NotImplementedError, AttributeError):
            if kind not in NOT_EVERYWHERE:
                raise
        else:
            yield kind, odd


def outcome(batch: Batch, changes: dict[str, Any]) -> Any:
    """The bits of a call's result, or its error."""
    output = torch.full_like(batch.v[: batch.tokens], 7.0)
    try:
        result = batch.run(**{"output": output, **changes})
    except Exception as error:
        return type(error), str(error)
    return torch.as_tensor(result).detach().cpu().numpy().tobytes()


def check_both_ways(batch: Batch, changes: dict[str, Any]) -> Any:
    with by_attributes():
        expected = outcome(batch, changes)
    for _ in range(2):
        given = outcome(batch, changes)
        assert given == expected, f"{given!s:.300}, expected {expected!s:.300}"
    return expected


def small_batch(device: str) -> Batch:
    """Of an element type that complex numbers have halves of."""
    dtype = torch.float16 if device.startswith("cuda") else torch.float32
    return Batch([3, 2], [0, 4], device=device, dtype=dtype)


def test_odd_tensors(device: str) -> None:
    """Among calls of plain ones; what is accepted is accepted and what is refused
    is refused, by the same words."""
    require_table()
    batch = small_batch(device)
    arguments = batch.arguments()
    good = check_both_ways(batch, {})
    assert isinstance(good, bytes)
    seen = {}
    for name in ("q", "k", "v"):
        plain = arguments[name]
        for kind, odd in odd_tensors(plain):
            seen[kind] = check_both_ways(batch, {name: odd})
            if kind == "gradient":
                with torch.no_grad():
                    check_both_ways(batch, {name: odd})
                with torch.inference_mode():
                    check_both_ways(batch, {name: odd})
        for kind, inside in INSIDE.items():

            def call(tensor, kind=kind, name=name):
                seen[kind] = check_both_ways(batch, {name: tensor})

            inside(plain, call)
        assert check_both_ways(batch, {}) == good
    # The list has some of each kind, and the functions did call.
    for kind in ("same", "copy", "parameter"):
        assert seen[kind] == good, kind
    refused = ("gradient", "dense_negated", "sparse", "meta", "fake", *INSIDE)
    for kind in refused:
        assert isinstance(seen[kind], tuple), kind


def test_odd_destinations(device: str) -> None:
    require_table()
    batch = small_batch(device)
    good = check_both_ways(batch, {})
    plain = torch.full_like(batch.v[: batch.tokens], 7.0)

    def outcomes() -> dict[str, Any]:
        """Of new destinations: what one call wrote is not taken for another's. So
        their addresses, which an error may say, are not the same."""
        result = {}
        for kind, odd in odd_tensors(plain):
            given = outcome(batch, {"output": odd})
            if isinstance(given, tuple):
                given = given[0], re.sub("address 0x[0-9a-f]+", "address", given[1])
            result[kind] = given
        return result

    with by_attributes():
        expected = outcomes()
    for _ in range(2):
        given = outcomes()
        assert given.keys() == expected.keys()
        for kind in expected:
            assert given[kind] == expected[kind], (
                f"{kind}: {given[kind]!s:.300}, expected {expected[kind]!s:.300}"
            )
    assert given["same"] == good


def test_repeated_calls(device: str) -> None:
    """Of every form: the bits of the first call, and no call that is not repeated."""
    require_table()
    window = {"mask": "sliding_window_causal", "window": 3}
    for options in ({}, {"paged": False}, window, {"dtype": torch.float16}):
        batch = Batch([5, 0, 3], [2, 1, 0], device=device, **options)
        with by_attributes():
            expected = batch.run(return_lse=True)
        batch.run(return_lse=True)
        count = len(_repeat._repeated)
        with forbidden(ops, "_read_first"):
            for _ in range(3):
                result = batch.run(return_lse=True)
                for one, other in zip(result, expected):
                    assert one.dtype == other.dtype and one.device == other.device
                    assert torch.equal(one, other)
        assert len(_repeat._repeated) == count


@contextlib.contextmanager
def forbidden(module: Any, name: str):
    """The function must not be called."""

    def called(*_: Any) -> None:
        raise AssertionError(f"{name} was called")

    before = getattr(module, name)
    setattr(module, name, called)
    try:
        yield
    finally:
        setattr(module, name, before)


def test_tensors_are_let_go(device: str) -> None:
    """After the call nobody but the caller has any of them."""
    require_table()
    batch = Batch([3], [2], device=device)
    output = batch.run()
    for _ in range(3):
        q, result = batch.q.clone(), torch.empty_like(output)
        batch.run(q=q, output=result)
        with contextlib.suppress(ValueError):
            batch.run(q=q, output=result, layer_idx=7)
        gone = [weakref.ref(q), weakref.ref(result)]
        del q, result
        gc.collect()
        assert [ref() for ref in gone] == [None, None]
    fresh = weakref.ref(batch.run())
    gc.collect()
    assert fresh() is None


def test_inference_mode(device: str) -> None:
    """Tensors made there, and those made there by the call."""
    require_table()
    batch = Batch([3], [2], device=device)
    expected = batch.run()
    with torch.inference_mode():
        q = batch.q.clone()
        for _ in range(3):
            output = batch.run(q=q)
            assert output.is_inference() and torch.equal(output, expected)
    with contextlib.suppress(RuntimeError):
        output.requires_grad_()
    assert torch.equal(mla.prefill(**batch.arguments()), expected)
