"""Reads MLIR in its generic form, as `mlir-opt -mlir-print-op-generic` prints it, into
plain objects. Only what the interpreter needs: no locations, no nested modules' names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

OP = re.compile(
    r'^\s*(?:(?P<results>%\S+(?:, %\S+)*) = )?"(?P<name>[\w.]+)"\((?P<operands>[^)]*)\)'
    r"(?P<rest>.*)$"
)
BLOCK = re.compile(r"^\s*\^bb\d+(?:\((?P<arguments>.*)\))?:")


@dataclass
class Block:
    arguments: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)


@dataclass
class Op:
    name: str
    operands: list[str]
    results: list[str]
    attributes: str
    operand_types: list[str]
    result_types: list[str]
    regions: list[Block]

    def get(self, name: str, default: str | None = None) -> str:
        """The text of an attribute."""
        found = re.search(rf"(?<![\w.]){name} = ", self.attributes)
        if found:
            return split(self.attributes[found.end() :])[0]
        if default is None:
            raise KeyError(f"{self.name}: no attribute {name} in {self.attributes}")
        return default

    def has(self, name: str) -> bool:
        return re.search(rf"(?<![\w.]){name}(?![\w.])", self.attributes) is not None

    def number(self, name: str) -> int:
        return int(self.get(name).split(":")[0])

    def numbers(self, name: str) -> list[int]:
        """`array<i64: 1, 2>`"""
        inside = self.get(name).partition("<")[2].rpartition(">")[0].partition(":")[2]
        return [int(part) for part in inside.split(",") if part.strip()]

    def groups(self) -> list[list[str]]:
        """Operands by operandSegmentSizes."""
        groups, start = [], 0
        for size in self.numbers("operandSegmentSizes"):
            groups.append(self.operands[start : start + size])
            start += size
        return groups


def split(text: str) -> list[str]:
    """The parts of `text` between commas outside of brackets; stops at a bracket that
    closes what was not opened."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "<([{":
            depth += 1
        elif c in ">)]}" and text[i - 1] != "-":
            if depth == 0:
                text = text[:i]
                break
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def parse_results(text: str | None) -> list[str]:
    names = []
    for part in split(text or ""):
        name, _, count = part.partition(":")
        names += [f"{name}#{i}" for i in range(int(count))] if count else [name]
    return names


def parse_types(text: str) -> tuple[list[str], list[str]]:
    """`(i32, index) -> i1`"""
    inputs = split(text.strip()[1:])
    after = text.strip()[1 + _closing(text.strip()[1:]) :].partition("->")[2].strip()
    return inputs, split(after[1:] if after.startswith("(") else after)


def _closing(text: str) -> int:
    depth = 0
    for i, c in enumerate(text):
        if c in "<([{":
            depth += 1
        elif c in ">)]}" and text[i - 1] != "-":
            if depth == 0:
                return i + 1
            depth -= 1
    raise ValueError(f"not closed: {text}")


class Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.at = 0

    def read(self) -> list[Op]:
        ops = []
        while self.at < len(self.lines):
            if OP.match(self.lines[self.at]):
                ops.append(self._op())
            else:
                self.at += 1  # aliases
        return ops

    def _op(self) -> Op:
        line = self.lines[self.at]
        found = OP.match(line)
        if not found:
            raise ValueError(f"line {self.at + 1}: {line}")
        self.at += 1
        rest, regions = found["rest"], []
        attributes = rest
        while rest.endswith("({") or rest.strip() == "}, {":
            regions.append(self._region())
            rest = self.lines[self.at]
            self.at += 1
        if regions:
            attributes += rest.strip().removeprefix("})")
        head, _, types = _signature(attributes)
        inputs, results = parse_types(types)
        return Op(
            found["name"],
            [name.strip() for name in split(found["operands"])],
            parse_results(found["results"]),
            head,
            inputs,
            results,
            regions,
        )

    def _region(self) -> Block:
        block = Block()
        while True:
            line = self.lines[self.at]
            if line.strip().startswith("}"):
                return block
            found = BLOCK.match(line)
            if found:
                for part in split(found["arguments"] or ""):
                    name, _, kind = part.partition(":")
                    block.arguments.append(name.strip())
                    block.types.append(kind.strip())
                self.at += 1
            else:
                block.ops.append(self._op())


def _signature(text: str) -> tuple[str, str, str]:
    """Splits at the last ` : (`, where the types begin."""
    at = text.rfind(" : (")
    return text[:at], ":", text[at + 3 :]


def parse(text: str) -> list[Op]:
    return Reader(text).read()
