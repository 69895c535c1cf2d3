"""Edits printed level 1: after the second matmul of each loop over keys, which
completes the scores, one more linalg.generic maps each score.

usage: add_op.py BODY... < level1.mlir > edited.mlir

BODY is lines of MLIR that compute %y from a score %x, both f32.
"""

from __future__ import annotations

import re
import sys

MATMUL = re.compile(
    r"^(?P<indent> *)(?P<name>%\w+) = linalg\.matmul .* -> (?P<type>tensor<\S+>)$"
)
GENERIC = """\
{indent}%empty{number} = tensor.empty() : {type}
{indent}{name} = linalg.generic {{
{indent}    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
{indent}                     affine_map<(d0, d1) -> (d0, d1)>],
{indent}    iterator_types = ["parallel", "parallel"]}}
{indent}    ins(%raw{number} : {type}) outs(%empty{number} : {type}) {{
{indent}^bb0(%x: f32, %old: f32):
{indent}  {body}
{indent}  linalg.yield %y : f32
{indent}}} -> {type}"""


def main() -> int:
    edited = matmuls = 0
    for line in sys.stdin.read().splitlines():
        if re.match(r" *%\S+ = scf\.for ", line):
            matmuls = 0
        found = MATMUL.match(line)
        matmuls += found is not None
        if found and matmuls == 2:
            print(line.replace(found["name"] + " =", f"%raw{edited} =", 1))
            body = ("\n" + found["indent"] + "  ").join(sys.argv[1:])
            print(GENERIC.format(**found.groupdict(), number=edited, body=body))
            edited += 1
        else:
            print(line)
    if not edited:
        sys.exit("no loop over keys found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
