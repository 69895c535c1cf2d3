"""Ops on scalars, which here are numbers or NumPy arrays of them: the body of a wg.map
is run once for all elements.
"""

from __future__ import annotations

import re

import numpy as np
from generic import Op

INT = {"index": np.int64, "i64": np.int64, "i32": np.int32, "i1": np.bool_}


def round_to(values, kind: str):
    """f32 numbers as what `kind` makes of them, in f32."""
    values = np.asarray(values, np.float32)
    if kind == "f16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    if kind == "bf16":
        bits = values.view(np.uint32)
        even = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        return np.where(np.isnan(values), values, even.view(np.float32))
    return values


def constant(op: Op):
    kind, text = op.result_types[0], op.get("value").split(" : ")[0]
    if kind in INT:
        return INT[kind](int(text)) if text not in ("true", "false") else text == "true"
    if text.startswith("0x"):
        width = {"f32": (np.uint32, np.float32), "bf16": (np.uint16, None)}[kind]
        bits = width[0](int(text, 16))
        return bits.view(width[1]) if width[1] else np.float32(0)
    return np.float32(float(text))


def _unsigned(value):
    value = np.asarray(value)
    return value.view({4: np.uint32, 8: np.uint64}.get(value.dtype.itemsize, np.bool_))


SIGNED = [
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
]
# Of the predicates of arith.cmpf those that are in use: oeq, ogt, olt, une.
FLOAT = {1: np.equal, 2: np.greater, 4: np.less, 13: np.not_equal}


def compare(op: Op, x, y):
    predicate = op.number("predicate")
    if op.name == "arith.cmpf":
        return FLOAT[predicate](x, y)
    if predicate >= 6:
        x, y = _unsigned(x), _unsigned(y)
    return SIGNED[predicate](x, y)


def _exp2(x):
    with np.errstate(over="ignore", under="ignore"):
        return np.exp2(x, dtype=np.float32)


def _toward_zero(x, y):
    return np.asarray(np.trunc(x / np.float64(y)), np.asarray(x).dtype)[()]


def _cast(op: Op, x):
    return np.asarray(x).astype(INT[op.result_types[0]])[()]


FUNCTIONS = {
    "arith.addi": lambda op, x, y: x + y,
    "arith.subi": lambda op, x, y: x - y,
    "arith.muli": lambda op, x, y: x * y,
    "arith.divsi": lambda op, x, y: _toward_zero(x, y),
    "arith.divui": lambda op, x, y: x // y,
    "arith.remui": lambda op, x, y: x % y,
    "arith.remsi": lambda op, x, y: np.fmod(x, y),
    "arith.ceildivsi": lambda op, x, y: -((-x) // y),
    "arith.ceildivui": lambda op, x, y: -((-x) // y),
    "arith.floordivsi": lambda op, x, y: x // y,
    "arith.maxsi": lambda op, x, y: np.maximum(x, y),
    "arith.minsi": lambda op, x, y: np.minimum(x, y),
    "arith.maxui": lambda op, x, y: np.maximum(x, y),
    "arith.minui": lambda op, x, y: np.minimum(x, y),
    "arith.andi": lambda op, x, y: x & y,
    "arith.ori": lambda op, x, y: x | y,
    "arith.xori": lambda op, x, y: x ^ y,
    "arith.cmpi": compare,
    "arith.cmpf": compare,
    "arith.select": lambda op, c, x, y: np.where(c, x, y)[()],
    "arith.index_cast": _cast,
    "arith.index_castui": lambda op, x: _cast(op, _unsigned(x)),
    "arith.addf": lambda op, x, y: np.float32(1) * (x + y),
    "arith.subf": lambda op, x, y: np.float32(1) * (x - y),
    "arith.mulf": lambda op, x, y: np.float32(1) * (x * y),
    "arith.divf": lambda op, x, y: np.float32(1) * np.divide(x, y),
    "arith.negf": lambda op, x: -x,
    "arith.maximumf": lambda op, x, y: np.maximum(x, y),
    "arith.truncf": lambda op, x: round_to(x, op.result_types[0]),
    "arith.extf": lambda op, x: x,
    "math.exp2": lambda op, x: _exp2(x),
    "math.log": lambda op, x: np.log(x, dtype=np.float32),
    "math.tanh": lambda op, x: np.tanh(x, dtype=np.float32),
    "math.fma": lambda op, x, y, z: (
        np.float32(1) * np.asarray(np.float64(1) * x * y + z, np.float32)
    ),
}


def evaluate(op: Op, operands: list):
    """The result of an op of arith or math; KeyError for another."""
    if op.name == "arith.constant":
        return constant(op)
    with np.errstate(all="ignore"):
        return FUNCTIONS[op.name](op, *operands)


def shape_of(kind: str) -> tuple[list[int], str]:
    """`!wg.tile<128x64xbf16>`: [128, 64], bf16."""
    inside = re.search(r"<(?:<)?([0-9x]+)x([a-z0-9]+)[,>]", kind)
    if not inside:
        raise ValueError(kind)
    return [int(part) for part in inside[1].split("x")], inside[2]


def subview(op: Op, source: np.ndarray, operands: list[list]) -> np.ndarray:
    """memref.subview; dimensions of extent 1 that the result lacks are dropped."""

    def mixed(values: list, name: str) -> list[int]:
        rest = iter(values)
        return [
            int(next(rest)) if static == -(2**63) else static
            for static in op.numbers(name)
        ]

    offsets = mixed(operands[1], "static_offsets")
    sizes = mixed(operands[2], "static_sizes")
    strides = mixed(operands[3], "static_strides")
    view = source[
        tuple(slice(o, o + n * s, s) for o, n, s in zip(offsets, sizes, strides))
    ]
    rank = len(op.result_types[0].split("<")[1].split(",")[0].split("x")) - 1
    static = op.numbers("static_sizes")
    ones = [axis for axis, size in enumerate(static) if size == 1]
    return np.squeeze(view, axis=tuple(ones[: len(sizes) - rank]))
