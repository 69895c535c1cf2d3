# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/Support.md, made from the tests: what is not tested is not in it.

    PYTHONPATH=python python python/tests/support.py    # writes it

`test_support.py` fails where the page and the tests disagree.
"""

from __future__ import annotations

import functools
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import families
import gpu_suite
import targets
import test_forms
import test_limits
from families import Case
from mla._limits import refusal
from mla.module import MASK_HAS_WINDOW

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "Support.md"
TARGETS = ("cpu", test_limits.TARGET)
ROPES = {
    "paged": "paged cache",
    "ragged": "`k_rope`",
    "ragged_end": "`k_rope` without lengths",
}
SHORT = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}


@functools.cache
def tests() -> dict[str, Case | None]:
    """The collected tests by name, with their cases where they have one."""
    return {
        name: next((a for a in getattr(test, "args", ()) if isinstance(a, Case)), None)
        for name, test in gpu_suite.collect().items()
    }


@functools.cache
def targets_of(name: str) -> str:
    """The targets that run a test, by the operands of its case."""
    batch = families.build(tests()[name])
    options = {**batch.options, "output": batch.output}
    call = targets.operands(batch.q, batch.k, batch.v, **options)
    run = [target for target in TARGETS if refusal(call.signature, target) is None]
    return " ".join(f"`{target}`" for target in run)


def forms(**fields: Any) -> list[str]:
    """The tests of `test_forms.py` whose cases have these fields."""
    return [
        name
        for name, case in tests().items()
        if name.startswith("forms/")
        and all(getattr(case, field) == value for field, value in fields.items())
    ]


def cell(**fields: Any) -> str:
    """The targets that run all that has these fields, which is at least one test."""
    found = forms(**fields)
    assert found, f"no test has {fields}"
    runs = {targets_of(name) for name in found}
    assert len(runs) == 1, f"{fields}: {found} run on {runs}"
    return runs.pop()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rules() -> str:
    """Those of the op's page, each with its tests."""
    text = (ROOT / "docs" / "Dialects" / "MLA.md").read_text()
    rows = []
    for label in re.findall(r"^\* (MLA-R\d+):", text, re.MULTILINE):
        prefix = f"rules/mla_{label[4:].lower()}_"
        names = [name for name in tests() if name.startswith(prefix)]
        assert names, f"{label} has no test"
        rows.append((label, f"`{prefix}*`", str(len(names))))
    return table(("rule", "tests", "how many"), rows)


DEFAULT = {"cache_dtype": "", "out_dtype": "", "dims": Case.dims, "cache_offsets": None}


def masks() -> str:
    return table(
        ("", *ROPES.values()),
        [
            (
                f"`{mask}`",
                *(cell(mask=mask, rope=r, dtype="bfloat16", **DEFAULT) for r in ROPES),
            )
            for mask in MASK_HAS_WINDOW
        ],
    )


def dtypes() -> str:
    def row(what: str, **fields: Any) -> tuple[str, ...]:
        cells = (cell(dtype=dtype, **DEFAULT, **fields) for dtype in SHORT)
        return (what, *cells)

    rows = [row(f"`{mask}`", mask=mask, rope="paged") for mask in MASK_HAS_WINDOW]
    rows += [row(f"causal, {ROPES[r]}", mask="causal", rope=r) for r in list(ROPES)[1:]]
    return table(("", *SHORT.values()), rows)


def pairs(kind: str, field: str) -> str:
    """Of element types: q's by column, another's by row."""
    rows = []
    for other in SHORT:
        cells = []
        for dtype in SHORT:
            name = f"forms/{kind}_{dtype}_{other}"
            if name in tests():
                assert getattr(tests()[name], field) == other
                cells.append(targets_of(name))
            else:
                cells.append(cell(dtype=dtype, mask="causal", rope="paged", **DEFAULT))
        rows.append((SHORT[other], *cells))
    return table(("", *(f"q {name}" for name in SHORT.values())), rows)


def widths() -> str:
    rows = []
    for dims in test_forms.WIDTHS:
        (name,) = (n for n in forms(dims=dims) if n.startswith("forms/widths"))
        case = tests()[name]
        rows.append(
            (
                ", ".join(map(str, dims)),
                ROPES[case.rope],
                SHORT[case.dtype],
                targets_of(name),
            )
        )
    return table(("Dn, Dr, Dv", "rope", "type", "targets"), rows)


def refusals() -> str:
    rows = [(f"`{error}`", type(error).__name__) for _, error in test_limits.REFUSED]
    return table(("message", "error"), rows)


def values(field: str) -> str:
    """All values that cases of any test have of a field."""
    found = {getattr(case, field) for case in tests().values() if case is not None}
    return ", ".join(str(value) for value in sorted(found))


def page() -> str:
    return f"""\
# What runs where

Made from the tests by `python/tests/support.py`; a test fails where it disagrees with
them. Each test is written once: pytest runs it on `cpu`, `python/tests/gpu_suite.py` on
`{test_limits.TARGET}` (`--list` names all). A cell names the targets that run it.

## Rules

Those of [the op](Dialects/MLA.md#mlaprefill-mlaprefillop), on both targets. A test with
operands that a target refuses, of f32 or not aligned to 16 bytes, is skipped there.

{rules()}

## Masks and where the rope comes from

In bf16: `forms/MASK_ROPE_bfloat16`.

{masks()}

## Element types of q, k, v

With the same type elsewhere: `forms/MASK_paged_TYPE`, `forms/causal_ROPE_TYPE`.

{dtypes()}

Of the output (`forms/output_Q_OUTPUT`):

{pairs("output", "out_dtype")}

Of the rope's source, `kv_blocks` or `k_rope` (`forms/source_Q_SOURCE`):

{pairs("source", "cache_dtype")}

## Widths

`forms/widths_DN_DR_DV`; a CPU runs any.

{widths()}

## Everything else

Other tests have these too, on both targets:

- pages of {values("page_size")} tokens
- {values("heads")} heads
- index tensors of {values("index_dtype")}
- up to {max(len(case.lengths) for case in tests().values() if case)} sequences
- first keys anywhere in a sequence (`cache_offsets`), gap rows, rows past the last
  offset, layers, strided views
- with the log-sum-exp and without

Random batches (`gpu_suite.py --random N`) mix all of it.

## What `{test_limits.TARGET}` refuses

By the name of the operand, from Python before anything is compiled (`test_limits.py`).
Widths that do not fit the shared memory together are refused by the compiler.

{refusals()}

Bases and strides of q, k, v and the rope's source have to be multiples of 16 bytes
there (`rules/mla_r8_bases_of_elements*`, `test_devices.py`).
"""


if __name__ == "__main__":
    PAGE.write_text(page())
