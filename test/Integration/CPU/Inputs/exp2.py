"""Compares exp2 as compiled with numpy's in float64.

usage: exp2.py MLA_RUN FILE ENTRY TARGET
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

SMALLEST = 2.0**-126  # of the normal numbers


def main() -> int:
    mla_run, file, entry, target = sys.argv[1:]
    rng = np.random.default_rng(3)
    special = [0.0, -0.0, -np.inf, np.inf, np.nan, 127.99999, 128.0, 1e30, -1e30]
    special += [-125.5, -126.0, -126.5, -127.0, -127.5, -149.0, -150.0, 0.5, -0.5]
    x = np.concatenate(
        [
            special,
            np.arange(-126, 128),
            np.nextafter(np.arange(-126, 128, dtype=np.float32) + 0.5, np.inf),
            rng.uniform(-126, 128, 20000),
            rng.uniform(-1, 1, 10000),
            -(10.0 ** rng.uniform(-30, 2, 5000)),
        ]
    ).astype(np.float32)
    x = np.resize(x, -(-len(x) // 64) * 64)
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
        np.save(source, x)
        command = [mla_run, file, "--entry", entry, "--target", target]
        command += ["--arg", f"x={source}", "--arg", f"y=zeros:{len(x)}"]
        subprocess.run([*command, "--out", f"y={result}"], check=True)
        y = np.load(result).astype(np.float64)

    with np.errstate(over="ignore"):
        exact = np.exp2(x.astype(np.float64))
    assert np.isnan(y[np.isnan(x)]).all(), "NaN at NaN"
    assert (y[np.isneginf(x)] == 0).all(), "exactly 0 at -inf"
    assert np.isposinf(y[x >= 128]).all(), "infinity from 128 on"
    # 2^x is 2^round(x) times a number around 1, and 2^128 is infinity.
    close = (x >= 127.5) & (x < 128) & np.isfinite(y)
    normal = ((x >= -126) & (x < 127.5)) | close
    error = np.abs(y[normal] / exact[normal] - 1)
    worst = x[normal][error.argmax()]
    assert error.max() <= 2.3e-7, f"relative error {error.max():.3g} at {worst}"
    tiny = x < -126
    assert (np.abs(y[tiny] - exact[tiny]) <= SMALLEST).all(), "below 2^-126"
    assert (y[x == 0] == np.float64(np.float32(1.0000001192092896))).all() or (
        y[x == 0] == 1
    ).all(), "1 at 0, or the next number"
    print(f"{entry}: largest relative error {error.max():.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
