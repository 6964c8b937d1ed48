"""The table of the site, docs/benchmarks.md, from the stored result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .tables import overview

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- arena: written by python -m arena page -->\n\n", "\n\n<!-- end -->"


def written(results: dict[str, Any], ours: list[str]) -> str:
    """The page with the table of these results."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return before + BEGIN + "\n".join(overview(results, ours)) + END + rest.partition(END)[2]
