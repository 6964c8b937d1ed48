"""`Model.leaderboard_`: a frame of Polars that prints six of its columns in the width of a page.

All columns are there for programs. A selection that lacks one of these prints as any frame of Polars.
"""

from __future__ import annotations

import polars

WIDTH = 100
PARAMETERS = 30
COLUMNS = ("method", "meaning", "parameters", "score", "behind", "weight")
PRINTED = {*COLUMNS, "score_se", "behind_se", "note"}
MORE = 'All columns are in .columns, such as ["accuracy"], ["seconds"], ["gap"] and ["note"]'


class BoardFrame(polars.DataFrame):
    """A row for each candidate."""

    def __str__(self) -> str:
        if not self.columns or PRINTED.difference(self.columns):
            return super().__str__()
        rows = [_texts(row) for row in self.iter_rows(named=True)]
        sizes = [max(map(len, column)) for column in zip(COLUMNS, *(row[:6] for row in rows), strict=True)]
        return "\n".join([*(_line(row, sizes) for row in ((*COLUMNS, ""), *rows)), MORE])

    __repr__ = __str__


def _line(row: tuple[str, ...], sizes: list[int]) -> str:
    """Texts under their titles; of a candidate that was left out the note takes the place of numbers."""
    names = [text.ljust(size) for text, size in zip(row[:3], sizes[:3], strict=True)]
    numbers = [text.rjust(size) for text, size in zip(row[3:6], sizes[3:], strict=True)]
    return _cut("  ".join([*names, *(numbers if row[3] else [row[6]])]).rstrip(), WIDTH)


def _texts(row: dict[str, object]) -> tuple[str, ...]:
    """Six texts, and the note. Where EM ends (tol) tells nobody anything."""
    parameters = sorted(p for p in str(row["parameters"]).split(", ") if not p.startswith("tol="))
    weight = row["weight"]
    return (
        str(row["method"]),
        str(row["meaning"]),
        _cut(", ".join(parameters), PARAMETERS),
        _value_and_se(row["score"], row["score_se"]),
        _value_and_se(row["behind"], row["behind_se"]) if row["behind"] else "",
        f"{weight:.2f}" if weight else "",
        str(row["note"]),
    )


def _value_and_se(value: object, se: object) -> str:
    """Two digits of the standard error, and as many places of the value; "" for what is not known."""
    if not isinstance(value, float) or not isinstance(se, float):
        return ""
    return f"{value:.4g}" if se <= 0.0 else f"{value:.{places(se)}f} +- {se:.{places(se)}f}"


def places(se: float) -> int:
    """Decimal places that show two digits of a standard error > 0."""
    exponent = int(f"{se:e}".partition("e")[2])
    return min(max(1 - exponent, 0), 6)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
