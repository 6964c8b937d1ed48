"""Numbers that stand for "missing": -9999, -99, 99, 999 and the like.

A code is the smallest or largest value of a column, occurs more than once, and lies far outside the rest: by
more than five times the range of all other values, or by half of it for a number of nines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from .._columns import Columns
from .._columns.bars import listing
from .._data.typing import Floats
from .._tables import Table
from .._uncertain import Rows

FAR = 5.0
"""Distance from the other values, in units of their range, that makes any repeated value a code."""

FAR_NINES = 0.5
"""The same for numbers of nines, such as -9999 and 99.9, which few quantities take by chance."""


class Sentinel(NamedTuple):
    """A code for missing values in a column."""

    column: str
    value: float
    n_rows: int
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.column} is {self.value:g} in {self.n_rows:,} rows (all others lie between {self.low:g} "
            f"and {self.high:g})"
        )


class Ends:
    """A column read in parts: what tells codes at either end of all of its values. NaN does not count."""

    def __init__(self, column: str) -> None:
        self._column, self._n = column, 0
        self._low, self._high = _End(1.0), _End(-1.0)

    def add(self, values: Floats) -> None:
        """More values."""
        finite = np.isfinite(values)
        known = values if finite.all() else values[finite]
        if known.size:
            self._n += known.size
            self._low.add(known, known.min())
            self._high.add(known, known.max())

    def codes(self) -> list[Sentinel]:
        """Those of the values so far."""
        found: list[Sentinel] = []
        n, low, high = self._n, self._low.value, self._high.value
        for end in (self._low, self._high):
            others = n - end.count
            if n < 4 or end.count < 2 or others < 2:
                continue
            below, above = (end.beside, high) if end is self._low else (low, end.beside)
            far = FAR_NINES if _is_nines(end.value) else FAR
            if abs(end.beside - end.value) > far * (above - below) > 0:
                found.append(Sentinel(self._column, end.value, end.count, below, above))
                n, low, high = others, below, above
        return found


class _End:
    """The smallest value (or with `sign` -1 the largest), how often it occurs, and the one beside it."""

    def __init__(self, sign: float) -> None:
        self._sign = sign
        self.value = self.beside = sign * np.inf
        self.count = 0

    def add(self, known: Floats, value: float) -> None:
        """More values, the outermost of which is `value`."""
        inner = min if self._sign > 0 else max
        if self._sign * value > self._sign * self.value:
            self.beside = inner(self.beside, float(value))
            return
        here = known == value
        rest = known[~here]
        beside = self._sign * np.inf
        if rest.size:
            beside = float(rest.min() if self._sign > 0 else rest.max())
        same = value == self.value
        self.beside = inner(beside, self.beside if same else self.value)
        self.count = int(np.count_nonzero(here)) + (self.count if same else 0)
        self.value = float(value)


def watch_ends(ends: dict[str, Ends], table: Table, columns: Columns) -> None:
    """Add the numbers of a part of a table.

    They are looked at where they lie, column by column. (The rows that were made of them lie side by side:
    going through those takes three times as long.)
    """
    names = [*columns.scalars, *(c for bar in columns.bars.values() for c in bar.columns)]
    names = [name for name in names if table.types.get(name) == "number"]
    lists = [] if columns.mean is None else [columns.mean]
    lists += [columns.lists[kind] for kind in ("std", "var") if lists and kind in columns.lists]
    for name, column in zip([*names, *lists], table.numbers([*names, *lists]), strict=True):
        values = Rows.from_arrow([column], [name], "nan").to_numpy()
        for j in range(values.shape[1]):
            place = name if name in names else f"{name}[{j}]"
            ends.setdefault(place, Ends(place)).add(values[:, j])


def codes_of(ends: Mapping[str, Ends]) -> list[Sentinel]:
    """Those of all columns."""
    return [code for of_column in ends.values() for code in of_column.codes()]


def find_sentinels(table: Table, columns: Columns) -> list[Sentinel]:
    """The codes in the columns of a table."""
    ends: dict[str, Ends] = {}
    watch_ends(ends, table, columns)
    return codes_of(ends)


def sentinels(column: str, values: Floats) -> list[Sentinel]:
    """The codes at either end of a column's values; NaN does not count."""
    ends = Ends(column)
    ends.add(values)
    return ends.codes()


def sentinel_warning(found: Iterable[Sentinel]) -> str | None:
    """One warning about all columns; None if there is no code."""
    texts = [str(sentinel) for sentinel in found]
    if not texts:
        return None
    return (
        f"looks like a code for missing values: {listing(texts, 5)}; turn such numbers into nulls and choose "
        'what they mean with on_missing="impute" (or "point" for error bars), or drop these rows'
    )


def _is_nines(value: float) -> bool:
    """Is it made of at least two nines, such as -9999, 99.0 or -99.9?"""
    digits = f"{abs(value):.10g}".replace(".", "")
    return len(digits) >= 2 and set(digits) == {"9"}
