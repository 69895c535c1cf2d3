"""Compiles masked.mlir with each of a list of predicates and checks its result: no
key that a query sees may be skipped. usage: masked.py MLA_RUN
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))

# MLIR and numpy; whether the compiler is expected to skip tiles by it.
PREDICATES = [
    (
        "%visible = arith.cmpi sge, %query, %key : index",
        lambda q, k: q >= k,
        True,
    ),
    (  # a distance, both ways
        """%a = arith.subi %query, %key : index
           %b = arith.subi %key, %query : index
           %distance = arith.maxsi %a, %b : index
           %visible = arith.cmpi slt, %distance, %c9 : index""",
        lambda q, k: abs(q - k) < 9,
        True,
    ),
    (  # not (key > query + 40) and not (key == query)
        """%far = arith.addi %query, %c40 : index
           %a = arith.cmpi sgt, %key, %far : index
           %b = arith.xori %a, %true : i1
           %c = arith.cmpi ne, %key, %query : index
           %visible = arith.andi %b, %c : i1""",
        lambda q, k: (k <= q + 40) & (k != q),
        True,
    ),
    (  # key < (query < 40 ? 3 : 64)
        """%early = arith.cmpi slt, %query, %c40 : index
           %bound = arith.select %early, %c3, %c64 : index
           %visible = arith.cmpi slt, %key, %bound : index""",
        lambda q, k: k < np.where(q < 40, 3, 64),
        True,
    ),
    (  # 3 key <= query, by a negative factor and a division
        """%minus = arith.subi %c0, %c3 : index
           %a = arith.muli %key, %minus : index
           %b = arith.subi %c0, %query : index
           %c = arith.cmpi sge, %a, %b : index
           %d = arith.floordivsi %query, %c40 : index
           %e = arith.floordivsi %key, %c40 : index
           %f = arith.cmpi eq, %d, %e : index
           %visible = arith.ori %c, %f : i1""",
        lambda q, k: (3 * k <= q) | (q // 40 == k // 40),
        True,
    ),
    (  # every third key: there is no rule for remainders
        """%a = arith.addi %query, %key : index
           %b = arith.remui %a, %c3 : index
           %visible = arith.cmpi eq, %b, %c0 : index""",
        lambda q, k: (q + k) % 3 == 0,
        False,
    ),
    (  # nor for comparisons without sign: a negative number is a large one
        """%a = arith.subi %query, %key : index
           %visible = arith.cmpi ult, %a, %c40 : index""",
        lambda q, k: (q - k >= 0) & (q - k < 40),
        False,
    ),
    (  # what is not known of one side says nothing of either
        """%a = arith.remui %key, %c9 : index
           %b = arith.cmpi eq, %a, %c0 : index
           %c = arith.cmpi sle, %key, %query : index
           %visible = arith.ori %b, %c : i1""",
        lambda q, k: (k % 9 == 0) | (k <= q),
        False,
    ),
    (  # but it may be ruled out by the other side
        """%a = arith.remui %key, %c9 : index
           %b = arith.cmpi eq, %a, %c0 : index
           %c = arith.cmpi sle, %key, %query : index
           %visible = arith.andi %b, %c : i1""",
        lambda q, k: (k % 9 == 0) & (k <= q),
        True,
    ),
    (  # a vertical band
        """%a = arith.cmpi sge, %key, %c40 : index
           %b = arith.cmpi slt, %key, %c64 : index
           %visible = arith.andi %a, %b : i1""",
        lambda q, k: (k >= 40) & (k < 64) & (q == q),
        True,
    ),
]


def main() -> int:
    mla_run = sys.argv[1]
    with open(os.path.join(HERE, "masked.mlir")) as file:
        template = file.read()
    rng = np.random.default_rng(5)
    q, k, v = (
        (0.3 * rng.standard_normal(shape)).astype(np.float32)
        for shape in [(150, 8), (96, 8), (96, 16)]
    )
    scores = q.astype(np.float64) @ k.T.astype(np.float64)
    queries, keys = np.arange(150)[:, None], np.arange(96)[None]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, array in {"q": q, "k": k, "v": v}.items():
            paths[name] = os.path.join(folder, name + ".npy")
            np.save(paths[name], array)
        source = os.path.join(folder, "masked.mlir")
        expected = os.path.join(folder, "expected.npy")
        for predicate, visible, skips in PREDICATES:
            with open(source, "w") as file:
                file.write(template.replace("PREDICATE", predicate))
            strips = subprocess.run(
                [mla_run, source, "--dump-after", "strips"],
                stdout=subprocess.PIPE,
                check=True,
                text=True,
            ).stdout
            np.save(expected, np.where(visible(queries, keys), np.exp(scores), 0) @ v)
            command = [mla_run, source, "--tolerance", "1e-5"]
            command += [x for n in paths for x in ("--arg", f"{n}={paths[n]}")]
            command += ["--arg", "out=nan:150x16", "--expect", f"out={expected}"]
            run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if run.returncode or ("scf.if" in strips) != skips:
                bad += 1
                print(predicate)
                print("skips tiles:", "scf.if" in strips, "expected:", skips)
                print(run.stdout)
    return bad


if __name__ == "__main__":
    sys.exit(main())
