"""Reads a disassembly of x86-64 and describes its innermost loops that multiply and
add: one line each, with instructions, multiply-adds of the widest registers used,
and accesses to the stack.

usage: llvm-objdump -d --no-show-raw-insn FILE | inner_loops.py
"""

from __future__ import annotations

import re
import sys


def main() -> None:
    code = []
    for line in sys.stdin:
        found = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if found:
            code.append((int(found[1], 16), found[2], found[3]))
    index = {address: i for i, (address, _, _) in enumerate(code)}

    # A loop ends in a jump back to its beginning.
    loops = []
    for end, (_, name, operands) in enumerate(code):
        target = re.search(r"0x([0-9a-f]+)", operands) if name[0] == "j" else None
        begin = index.get(int(target[1], 16)) if target else None
        if begin is not None and begin <= end:
            loops.append((begin, end))

    for begin, end in loops:
        if any(begin <= b and e <= end for b, e in loops if (b, e) != (begin, end)):
            continue  # has a loop inside
        body = code[begin : end + 1]
        fmas = [operands for _, name, operands in body if name.startswith("vfmadd")]
        if not fmas:
            continue
        width = max(re.search(r"%([xyz])mm", operands)[1] for operands in fmas)
        widest = sum(f"%{width}mm" in operands for operands in fmas)
        stack = sum("rsp" in operands for _, _, operands in body)
        dense = "dense" if 2 * widest >= len(body) else "sparse"
        print(
            f"{dense} loop of {len(body)} instructions: "
            f"{widest} fma of {width}mm, {stack} of the stack"
        )


if __name__ == "__main__":
    main()
