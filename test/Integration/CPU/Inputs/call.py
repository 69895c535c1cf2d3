"""Calls a function on random arrays through mla-run and expects what a numpy
expression makes of them in float64.

usage: call.py MLA_RUN FILE --array NAME=2x3 ... --expect NAME=2x3=EXPRESSION

Arrays are f32, normal, from a fixed seed; --int NAME=V,V,... gives one of i32,
--scalar NAME=V a number. The expression may use the arrays' names, numpy as np, t(x)
and softmax(x).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np


def t(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


def softmax(x: np.ndarray) -> np.ndarray:
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def shape(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("mla_run")
    parser.add_argument("file")
    parser.add_argument("--array", action="append", default=[])
    parser.add_argument("--int", action="append", default=[])
    parser.add_argument("--expect", action="append", required=True)
    parser.add_argument("--tolerance", default="1e-5")
    parser.add_argument("--scalar", action="append", default=[])
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--entry")
    options = parser.parse_args()

    rng = np.random.default_rng(7)
    arrays = {}
    for text in options.array:
        name, extents = text.split("=")
        arrays[name] = rng.standard_normal(shape(extents)).astype(np.float32)
    for text in options.int:
        name, values = text.split("=")
        arrays[name] = np.array(values.split(","), np.int32)

    names = {"np": np, "t": t, "softmax": softmax}
    names.update({name: array.astype(np.float64) for name, array in arrays.items()})
    with tempfile.TemporaryDirectory() as folder:
        command = [options.mla_run, options.file, "--tolerance", options.tolerance]
        command += ["--target", options.target]
        if options.entry:
            command += ["--entry", options.entry]
        for text in options.scalar:
            command += ["--arg", text]
        for name, array in arrays.items():
            path = os.path.join(folder, name + ".npy")
            np.save(path, array)
            command += ["--arg", f"{name}={path}"]
        for text in options.expect:
            name, extents, expression = text.split("=", 2)
            expected = np.broadcast_to(eval(expression, names), shape(extents))
            path = os.path.join(folder, name + ".expected.npy")
            np.save(path, np.ascontiguousarray(expected))
            command += ["--arg", f"{name}=nan:{extents}", "--expect", f"{name}={path}"]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
