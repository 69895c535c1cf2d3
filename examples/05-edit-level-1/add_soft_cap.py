# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caps the scores of a printed level 1 softly: 30 tanh(u / 30).

usage: add_soft_cap.py <level-1.mlir >capped.mlir

u is scale * s, and level 1 holds s, the sum of two matrix products, since the
scale is folded into the exponent. So after the second product goes
s' = 30 / scale * tanh(scale * s / 30), before any mask: -inf must stay -inf.
"""

import re
import sys

SOFT_CAP = """\
{indent}{capped} = linalg.generic {{
{indent}    indexing_maps = [affine_map<(i, j) -> (i, j)>],
{indent}    iterator_types = ["parallel", "parallel"]}} outs({scores} : {type}) {{
{indent}^bb0(%s: f32):
{indent}  %c = arith.constant 30.0 : f32
{indent}  %factor = arith.divf {scale}, %c : f32
{indent}  %u = arith.mulf %s, %factor : f32
{indent}  %t = math.tanh %u : f32
{indent}  %r = arith.divf %t, %factor : f32
{indent}  linalg.yield %r : f32
{indent}}} -> {type}"""

MATMUL = re.compile(r"( *)(%\w+) = linalg\.matmul .* outs\((%\w+) : .* -> (\S+)$")


def add_soft_cap(text: str) -> str:
    scale = re.search(r"(%arg\d+): f32", text)[1]
    products = set()
    rename = {}
    lines = []
    for line in text.splitlines():
        # Uses after the edit, in the same loop, are of the capped scores.
        for old, new in rename.items():
            line = re.sub(rf"{old}\b", new, line)
        if "scf.yield" in line:
            rename.clear()
        lines.append(line)
        match = MATMUL.match(line)
        if not match:
            continue
        indent, result, accumulator, type = match.groups()
        if accumulator in products:  # q_nope k_nope^T + q_rope k_rope^T
            capped = f"%capped{result[1:]}"
            lines.append(
                SOFT_CAP.format(
                    indent=indent, capped=capped, scores=result, type=type, scale=scale
                )
            )
            rename[result] = capped
        products.add(result)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(add_soft_cap(sys.stdin.read()))
