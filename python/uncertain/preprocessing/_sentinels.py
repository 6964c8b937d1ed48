"""Numbers that stand for "missing": -9999, -99, 99, 999 and the like.

A code is the smallest or largest value of a column, occurs more than once, and lies far outside the rest: by
more than five times the range of all other values, or by half of it for a number of nines.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from .._columns.columns import listing
from .._data.typing import Floats

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

    def merge(self, other: Ends) -> None:
        """The values of another part."""
        self._n += other._n
        self._low.merge(other._low)
        self._high.merge(other._high)

    def negative(self) -> list[Sentinel]:
        """The one negative number of a column of sizes, where it is there more than once, but not mostly."""
        low = self._low
        if not (low.value < 0.0 <= low.beside < np.inf and 1 < low.count < self._n / 2):
            return []
        return [Sentinel(self._column, low.value, low.count, low.beside, self._high.value)]

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

    def merge(self, other: _End) -> None:
        """The end of another part."""
        inner = min if self._sign > 0 else max
        if self._sign * other.value > self._sign * self.value:
            self.beside = inner(self.beside, other.value)
        elif other.value == self.value:
            self.beside = inner(self.beside, other.beside)
            self.count += other.count
        else:
            self.beside = inner(self.value, other.beside)
            self.value, self.count = other.value, other.count


def watch_ends(ends: dict[str, Ends], columns: Iterable[tuple[str, Floats]]) -> None:
    """Add a part of these columns."""
    for name, values in columns:
        ends.setdefault(name, Ends(name)).add(values)


def find_sentinels(ends: Mapping[str, Ends], sizes: Container[str] = ()) -> list[Sentinel]:
    """The codes of all columns; of `sizes` also a negative number that they repeat."""
    codes = [code for of_column in ends.values() for code in of_column.codes()]
    known = {(code.column, code.value) for code in codes}
    negative = [code for name, of_column in ends.items() if name in sizes for code in of_column.negative()]
    return [*codes, *(code for code in negative if (code.column, code.value) not in known)]


def sentinels(column: str, values: Floats) -> list[Sentinel]:
    """The codes at either end of a column's values; NaN does not count."""
    ends = Ends(column)
    ends.add(values)
    return ends.codes()


def sentinel_warning(found: Iterable[Sentinel | str], *, taken: bool = False) -> str | None:
    """One warning about all columns; None if there is no code. `taken`: for missing."""
    texts = [str(sentinel) for sentinel in found]
    if not texts:
        return None
    if taken:
        return (
            f'taken for missing: {listing(texts, 5)}; if these are readings, pass on_missing="error", which '
            "takes every number as it is"
        )
    return (
        f"looks like a code for missing values: {listing(texts, 5)}; turn such numbers into nulls and choose "
        'what they mean with on_missing="auto" (or "point" for error bars), or drop these rows'
    )


def _is_nines(value: float) -> bool:
    """Is it made of at least two nines, such as -9999, 99.0 or -99.9?"""
    digits = f"{abs(value):.10g}".replace(".", "")
    return len(digits) >= 2 and set(digits) == {"9"}
