"""The pages papers/*.md have a row for everything that the four papers number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PAPERS = Path(__file__).resolve().parents[2] / "papers"

NUMBERED = {
    "GSU": {"equation": 18, "algorithm": 1, "theorem": 1, "figure": 6, "table": 6},
    "USVC": {"definition": 1, "equation": 18, "algorithm": 3, "figure": 5},
    "PK": {"equation": 12, "theorem": 1, "figure": 6},
    "HLR": {"equation": 32, "algorithm": 1, "theorem": 1, "proposition": 2, "figure": 5, "table": 11},
}
"""How many of each kind a paper has, numbered from 1 without gaps."""
ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10, "XI": 11}
KINDS = "definition|equation|algorithm|theorem|proposition|figure|table"


def rows(paper: str) -> list[list[str]]:
    """The cells of the table "Everything that is numbered" of one paper."""
    page = (PAPERS / f"{paper.lower()}.md").read_text(encoding="utf-8")
    table = page.split("## Everything that is numbered\n\n")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def numbered(cell: str) -> Iterator[tuple[str, int]]:
    """("figure", 3), ... of "(3), (4)", "(16) to (18), appendix B" or "tables IV, V, figure 2"."""
    kind, last, until = "", 0, False
    for word in re.findall(rf"\(\d+\)|(?:{KINDS})s?\b|\bto\b|\b\d+\b|\b[IVX]+\b|\w+", cell):
        if re.fullmatch(rf"(?:{KINDS})s?", word):
            kind = word.rstrip("s")
        elif word == "to":
            until = True
        elif match := re.fullmatch(r"\(?(\d+)\)?|[IVX]+", word):
            if word.startswith("("):
                kind = "equation"
            number = int(match[1]) if match[1] else ROMAN[word]
            for each in range(last + 1 if until else number, number + 1):
                yield kind, each
            last, until = number, False
        else:
            kind = ""


def test_ranges_are_read() -> None:
    assert list(numbered("(16) to (18), appendix B")) == [("equation", n) for n in (16, 17, 18)]
    assert list(numbered("tables IV, V, figure 2")) == [("table", 4), ("table", 5), ("figure", 2)]
    assert list(numbered("figures 3 to 5, tables VI to XI"))[-1] == ("table", 11)


@pytest.mark.parametrize("paper", list(NUMBERED))
def test_everything_numbered_has_one_row(paper: str) -> None:
    found = [thing for first, *_ in rows(paper) for thing in numbered(first) if thing[0]]
    wanted = [(kind, n) for kind, count in NUMBERED[paper].items() for n in range(1, count + 1)]
    assert sorted(set(found)) == sorted(wanted)
    twice = {thing for thing in found if found.count(thing) > 1}
    assert not twice


@pytest.mark.parametrize("paper", list(NUMBERED))
def test_every_row_says_where_it_is_or_why_it_is_not(paper: str) -> None:
    for number, what, where, reason in rows(paper):
        assert number and what and (where or reason), (paper, number)
        for page in re.findall(r"\]\((\S+?\.md)\)", where + reason):
            assert (PAPERS / page).is_file(), (paper, number, page)
