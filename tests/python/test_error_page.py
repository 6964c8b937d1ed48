"""docs/guide/errors.md: each message is what its case provokes today, and every kind of error is there."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import uncertain
from uncertain import exceptions

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from error_cases import CASES, Case, all_cases, place, provoked  # noqa: E402
from error_page import PAGE, entry  # noqa: E402

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    with place() as names:
        yield names


@pytest.mark.parametrize(
    "case", [case for _, case in all_cases()], ids=[case.code[:60] for _, case in all_cases()]
)
def test_the_page_has_the_message(case: Case, names: dict[str, Any]) -> None:
    found = entry(case, provoked(case, names))
    assert found in TEXT, f"run python tools/error_page.py; now it is\n{found}"


def test_the_page_is_complete() -> None:
    assert sum(map(len, CASES.values())) >= 90
    assert set(CASES) == {"Columns of a table", "Values of a table", "Arrays", "Estimators and parameters",
                          "Files", "Memory", "Clusters"}  # fmt: skip
    shown = re.findall(r"^\*\*(\w+)\*\*: ", TEXT, re.MULTILINE)
    assert len(shown) == sum(map(len, CASES.values())), "run python tools/error_page.py"
    assert set(exceptions.__all__) <= set(shown)
    pythons = {
        "AttributeError",
        "FileNotFoundError",
        "IndexError",
        "NotFittedError",
        "TypeError",
        "ValueError",
    }
    assert set(shown) <= pythons | set(exceptions.__all__)


def test_every_message_of_the_core_for_data_is_there() -> None:
    """Those of the error type of the crate that name a place: their words between names and numbers."""
    source = (ROOT / "rust" / "uncertain" / "src" / "error.rs").read_text(encoding="utf-8")
    formats = re.findall(r'#\[error\(\s*"((?:[^"\\]|\\.)*)"', source)
    assert len(formats) >= 10
    for text in formats:
        words = [re.escape(w) for w in re.split(r"\{[^}]*\}", text)]
        if text.startswith(("{0}", "interrupted", "internal error", "out of memory")):
            continue  # messages of every kind; no message; a bug; MemoryError (test_shortage.py)
        assert re.search(".*".join(words), TEXT), text


def test_the_exceptions_lead_there() -> None:
    for thing in (exceptions, uncertain.UncertainError, exceptions.UncertainWarning):
        assert "Errors and what to do" in (inspect.getdoc(thing) or ""), thing
    assert "\nerrors\n" in (ROOT / "docs" / "guide" / "index.md").read_text(encoding="utf-8")
