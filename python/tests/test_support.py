# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/Support.md says what the tests say."""

import dataclasses

import pytest
import support


def test_page_is_up_to_date():
    assert support.PAGE.read_text() == support.page(), (
        "docs/Support.md is stale: run python/tests/support.py"
    )


@pytest.mark.parametrize(
    "field, value", [("mask", "chunked"), ("rope", "ragged"), ("dtype", "float16")]
)
def test_what_is_not_tested_is_no_cell(monkeypatch, field, value):
    """Nor is a page made without it."""
    tests = {
        name: case
        for name, case in support.tests().items()
        if not name.startswith("forms/") or getattr(case, field) != value
    }
    monkeypatch.setattr(support, "tests", lambda: tests)
    with pytest.raises(AssertionError, match="no test has"):
        support.page()


def test_what_is_refused_is_no_target(monkeypatch):
    name = "forms/causal_paged_bfloat16"
    case = dataclasses.replace(support.tests()[name], dims=(72, 64, 64))
    monkeypatch.setattr(support, "tests", lambda: {name: case})
    support.targets_of.cache_clear()
    assert support.targets_of(name) == "`cpu`"
    support.targets_of.cache_clear()
