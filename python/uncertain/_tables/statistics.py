"""Statistics of a table before it is read: codes for missing values, zeros among error bars, a sample.

One pass over the columns in use collects the two ends of each column, where codes such as -9999 are. The
statistics of parts of a table (batches of a file, partitions of a cluster) merge.

A code is the smallest or largest value of a column, occurs more than once, and is far outside the rest: by
more than five times the range of all other values, or by half of it for a number of nines. An error bar of
zero is unknown beside a value that is not zero, where fewer than one in twenty are zero and the others
positive, in lists and matrices where any other is: archives round small ones to zero or have nothing else to
write. Negative error bars are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._data.numbers import mixed
from .._data.typing import Floats
from .cleaning import Cleaning
from .columns import Columns, listing
from .list_places import list_places
from .size_model import MOST_ROWS
from .table import Table

FAR = 5.0
"""Distance from the other values, in units of their range, that makes any repeated value a code."""
FAR_NINES = 0.5
"""Distance that makes a code of a number of nines, such as -9999 and 99.9, which few quantities take."""
RARE = 0.05
"""Error bars of zero below this share of all that are not missing are unknown."""
MOST_NUMBERS = 1 << 20
"""Numbers of the sample at most, including those in lists."""


class Code(NamedTuple):
    """A number that stands for "missing" in a column."""

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


class End(NamedTuple):
    """The smallest of some numbers, how often it occurs, and the smallest of the others."""

    value: float = np.inf
    times: int = 0
    beside: float = np.inf

    def merged(self, other: End) -> End:
        """Return the end of both sets of numbers."""
        value = min(self.value, other.value)
        larger = [v for end in (self, other) for v in (end.value, end.beside) if v > value]
        times = sum(end.times for end in (self, other) if end.value == value)
        return End(value, times, min(larger, default=np.inf))


class Ends(NamedTuple):
    """Statistics of a column, or of a part of it."""

    n: int = 0
    """Number of finite values."""
    low: End = End()
    high: End = End()
    """The lower end of the values with the opposite sign."""
    n_missing: int = 0
    n_zeros: int = 0
    """Error bars of zero beside values that are not zero."""
    n_negative: int = 0
    n_infinite: int = 0

    def merged(self, other: Ends) -> Ends:
        """Return the statistics of both parts of a column."""
        counts = (a + b for a, b in zip(self[3:], other[3:], strict=True))
        return Ends(self.n + other.n, self.low.merged(other.low), self.high.merged(other.high), *counts)

    def codes(self, column: str) -> list[Code]:
        """Return the codes at either end of the values."""
        codes: list[Code] = []
        n, low, high = self.n, self.low.value, -self.high.value
        for end, sign in ((self.low, 1.0), (self.high, -1.0)):
            value, beside = sign * end.value, sign * end.beside
            if n < 4 or end.times < 2 or n - end.times < 2:
                continue
            below, above = (beside, high) if sign > 0 else (low, beside)
            far = FAR_NINES if _is_nines(value) else FAR
            if abs(beside - value) > far * (above - below) > 0:
                codes.append(Code(column, value, end.times, below, above))
                n, low, high = n - end.times, below, above
        return codes


def ends_of(columns: Mapping[str, Floats], values: Mapping[str, str]) -> dict[str, Ends]:
    """Return the statistics of columns; `values`: the column beside each column of error bars."""
    return {
        name: _ends(numbers, columns.get(values.get(name, name), numbers))
        for name, numbers in columns.items()
        if len(numbers)
    }


def _ends(numbers: Floats, beside: Floats) -> Ends:
    finite = np.isfinite(numbers)
    x = numbers if finite.all() else numbers[finite]
    lower = upper = End()
    if len(x):
        low, high = x.min(), x.max()
        inner = (x != low), (x != high)
        above, below = x[inner[0]].min(initial=np.inf), x[inner[1]].max(initial=-np.inf)
        n_low, n_high = (len(x) - int(np.count_nonzero(each)) for each in inner)
        lower, upper = End(float(low), n_low, float(above)), End(-float(high), n_high, -float(below))
    return Ends(
        len(x),
        lower,
        upper,
        n_missing=len(numbers) - len(x),
        n_zeros=int(np.count_nonzero((numbers == 0.0) & (beside != 0.0))),
        n_negative=int(np.count_nonzero(x < 0.0)),
        n_infinite=int(np.count_nonzero(np.isinf(numbers))),
    )


def codes_of(column: str, values: Floats) -> list[Code]:
    """Return the codes at either end of a column's values."""
    return find_codes(ends_of({column: values}, {}))


def find_codes(ends: Mapping[str, Ends]) -> list[Code]:
    """Return the codes in columns with these statistics."""
    return [code for name, own in ends.items() for code in own.codes(name)]


def code_warning(texts: Iterable[Code | str], advice: str | None = None) -> str | None:
    """Return one warning about suspicious numbers, None without any; with an `advice` on what to do with
    readings, they count as missing."""
    listed = listing([str(text) for text in texts], 5)
    if not listed:
        return None
    if advice is not None:
        return f"treated as missing: {listed}{advice}"
    return (
        f"looks like a code for missing values: {listed}. Drop these rows, or replace such numbers by null "
        'and pass on_missing="auto"'
    )


def _is_nines(value: float) -> bool:
    """Is it made of at least two nines, such as -9999, 99.0 or -99.9?"""
    digits = f"{abs(value):.10g}".replace(".", "")
    return len(digits) >= 2 and set(digits) == {"9"}


COPIED = 4 << 20
"""Bytes of columns of lists that are copied into columns of their places at a time."""


class Statistics:
    """Statistics of the parts of a table so far, and a sample of its rows."""

    def __init__(self, columns: Columns, share: float = 1.0) -> None:
        """`share`: of the rows, by their hashes, that may be in the sample."""
        self.columns = columns
        self.sample = Sample(share)
        self._ends: dict[str, Ends] = {}
        self._bars = dict(columns.error_bars)

    def add(self, table: Table, first: int = 0) -> Self:
        """Add a part whose first row has this number in the table."""
        import polars as pl

        columns = self.columns
        used = sorted(columns.used - {*(columns.categorical or ())})
        self.sample.add(table, [name for name in used if name in table.names], first)
        errors = [name for bar in columns.error_bars.values() for name in bar.columns]
        names = [n for n in dict.fromkeys((*columns.scalars, *errors)) if table.types.get(n) == "number"]
        frames = iter([pl.DataFrame(table.numbers(names))])
        if columns.mean is not None or columns.lists:
            places = list_places(columns, table.numbers)
            self._bars |= places.bars
            frames = chain(frames, places.frames(COPIED))
        beside = {name: value for value, bar in self._bars.items() for name in bar.columns}
        for frame in frames:
            numbers = {column.name: column.cast(pl.Float64).to_numpy() for column in frame.get_columns()}
            self._merge(ends_of(numbers, beside))
        return self

    def merge(self, other: Statistics) -> None:
        """Add the statistics of other rows of these columns."""
        self._merge(other._ends)
        self._bars |= other._bars
        self.sample.merge(other.sample)

    def _merge(self, ends: Mapping[str, Ends]) -> None:
        for name, own in ends.items():
            self._ends[name] = self._ends.get(name, Ends()).merged(own)

    @property
    def has_gaps(self) -> bool:
        """Is a value missing, or its error bar infinite?"""
        sizes = {name for bar in self._bars.values() for name in bar.columns}
        codes = find_codes(self._ends)
        return any(
            own.n_infinite if name in sizes else own.n_missing for name, own in self._ends.items()
        ) or any(code.column not in sizes or code.value > 0.0 for code in codes)

    def cleaning(self) -> Cleaning:
        """Return what is taken for unknown: codes, and rare zeros of error columns."""
        codes: dict[str, tuple[float, ...]] = {}
        for code in find_codes(self._ends):
            codes[code.column] = (*codes.get(code.column, ()), code.value)
        return Cleaning(codes, tuple(self._rare_zeros()))

    def warning(self, *, taken: bool) -> str | None:
        """Return the warning about suspicious numbers; `taken`: they count as missing."""
        texts: list[Code | str] = [*find_codes(self._ends)]
        if taken:
            coded = {code.column for code in find_codes(self._ends) if code.value < 0.0}
            counts = {f"{name} is 0": n for name, n in self._rare_zeros().items()}
            counts |= {f"{name} is below 0": n for name, n in self._negative() if name not in coded}
            texts += [f"{what} in {n:,} row{'s' * (n > 1)}" for what, n in counts.items()]
        has_gaps = any(own.n_missing for own in self._ends.values())
        how = "drop the rows with gaps and pass" if has_gaps else "pass"
        advice = f'. If they are readings, {how} on_missing="error"'
        return code_warning(texts, None if not taken else "" if any(self._negative()) else advice)

    def n_missing(self, column: str) -> int:
        """Return the number of rows without a finite number in a column."""
        return self._ends.get(column, Ends()).n_missing

    def _sizes(self) -> Iterator[tuple[str, Ends]]:
        """Yield the columns of error bars, which cannot be negative but for lower arms."""
        for bar in self._bars.values():
            for name in bar.columns if bar.kind != "limits" else ():
                if name in self._ends:
                    yield name, self._ends[name]

    def _rare_zeros(self) -> dict[str, int]:
        """Return the number of zeros of each error column in which they are unknown: rare ones of scalars,
        and of lists and matrices those beside others."""
        listed = {*self._bars} - {*self.columns.error_bars}
        of_lists = {name for value in listed for name in self._bars[value].columns}
        return {
            name: own.n_zeros
            for name, own in self._sizes()
            if 0 < own.n_zeros < RARE * own.n or (name in of_lists and own.n_zeros and own.high.value < 0.0)
        }

    def _negative(self) -> Iterator[tuple[str, int]]:
        """Yield the columns of deviations and variances with a negative one."""
        single = {bar.columns[0] for bar in self._bars.values() if len(bar.columns) == 1}
        return ((name, own.n_negative) for name, own in self._sizes() if name in single and own.n_negative)


class Sample:
    """The rows of the smallest hashes of their numbers, which are the same however a table is cut."""

    def __init__(self, share: float) -> None:
        self._most = 0
        self._largest = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        self._hashes: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self.table: Table | None = None

    def add(self, table: Table, names: Sequence[str], first: int) -> None:
        """Add rows of a table, the first of which has this number."""
        columns = table.series(names)
        n_rows = len(columns[0]) if columns else 0
        if not n_rows:
            return
        if not self._most:
            row_bytes = sum(column[:1].estimated_size() for column in columns)
            self._most = int(min(MOST_ROWS, max(8 * MOST_NUMBERS / max(row_bytes, 8), 1)))
        hashes = mixed(np.arange(first, first + n_rows, dtype=np.uint64))
        largest = self._largest
        if len(self._hashes) == self._most:
            largest = self._hashes[-1]
        elif n_rows > self._most:
            largest = min(largest, np.partition(hashes, self._most - 1)[self._most - 1])
        rows = np.flatnonzero(hashes <= largest)
        if len(rows):
            self._append(hashes[rows], table.rows(names, rows))

    def merge(self, other: Sample) -> None:
        """Add the sample of other rows."""
        self._most = self._most or other._most
        if other.table is not None:
            self._append(other._hashes, other.table)

    def _append(self, hashes: NDArray[np.uint64], rows: Table) -> None:
        """Keep the smallest hashes of both, in order."""
        tables = [rows] if self.table is None else [self.table, rows]
        hashes = np.concatenate([self._hashes, hashes])
        order = np.argsort(hashes, kind="stable")[: self._most]
        self._hashes, self.table = hashes[order], Table.below(tables, order)
