"""Cleaning of a table: which of its numbers mean "unknown", and what was done about them.

`Statistics` are collected in one pass over the columns in use: the two ends of each column, where codes such
as -9999 are, zeros among error bars, gaps, and a sample of rows for the model of error sizes. They merge over
the parts of a table (batches of a file, partitions of a cluster). What follows from them is a `Cleaning`,
which makes nulls of unknown numbers in any rows of the table, and is the record of what was done.

A code is the smallest or largest value of a column, occurs more than once, and is far outside the rest: by
more than five times the range of all other values, or by half of it for a number of nines. An error bar of
zero is unknown beside a value that is not zero, where fewer than one in twenty are zero and the others
positive: archives round small ones to zero or have nothing else to write.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._columns.columns import Columns, listing
from .._data.mixing import mixed
from .._data.typing import Floats
from .._uncertain import Rows
from ..exceptions import ColumnError
from .size_model import MOST_ROWS, SizeModel
from .table import Table

if TYPE_CHECKING:
    import polars as pl

FAR = 5.0
"""Distance from the other values, in units of their range, that makes any repeated value a code."""
FAR_NINES = 0.5
"""Distance that makes a code of a number of nines, such as -9999 and 99.9, which few quantities take."""
RARE = 0.05
"""Error bars of zero below this share of all that are not missing are unknown."""
MOST_NUMBERS = 1 << 20
"""Numbers of the sample at most, including those in lists."""


# -- codes for missing values


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
    """Number of the finite values of a column, their lower end, and that of their negatives."""

    n: int = 0
    low: End = End()
    high: End = End()

    def merged(self, other: Ends) -> Ends:
        """Return the ends of both parts of a column."""
        return Ends(self.n + other.n, self.low.merged(other.low), self.high.merged(other.high))

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

    def negative_code(self, column: str) -> Iterator[Code]:
        """Yield the one negative number of a column of sizes, if it is repeated in less than half of them."""
        low = self.low
        if low.value < 0.0 <= low.beside < np.inf and 1 < low.times < self.n / 2:
            yield Code(column, low.value, low.times, low.beside, -self.high.value)


def ends_of(frame: pl.DataFrame) -> dict[str, Ends]:
    """Return the ends of columns of floats, of which nulls, NaN and infinities do not count."""
    import polars as pl

    if not frame.width or not frame.height:
        return {}
    whole = frame.select(pl.all().is_finite().all()).row(0)
    finite = frame.with_columns(
        pl.when(pl.col(name).is_finite()).then(pl.col(name))
        for name, is_whole in zip(frame.columns, whole, strict=True)
        if not is_whole
    )
    lows, highs = finite.select(pl.all().min()).row(0), finite.select(pl.all().max()).row(0)
    ranges = {
        name: (pl.col(name), low, high)
        for name, low, high in zip(frame.columns, lows, highs, strict=True)
        if low is not None
    }
    counts = finite.select(
        pl.struct(
            column.count().alias("n"),
            (column == low).sum().alias("lowest"),
            column.filter(column > low).min().alias("second"),
            (column == high).sum().alias("highest"),
            (-column.filter(column < high).max()).alias("last but one"),
        ).alias(name)
        for name, (column, low, high) in ranges.items()
    )
    ends = {}
    for name, (_, low, high) in ranges.items():
        n, lowest, second, highest, last = counts[name][0].values()
        others = (np.inf if value is None else value for value in (second, last))
        ends[name] = Ends(n, End(low, lowest, next(others)), End(-high, highest, next(others)))
    return ends


def codes_of(column: str, values: Floats) -> list[Code]:
    """Return the codes at either end of a column's values."""
    import polars as pl

    return find_codes(ends_of(pl.DataFrame([pl.Series(column, values, dtype=pl.Float64)])))


def find_codes(ends: Mapping[str, Ends], sizes: Container[str] = ()) -> list[Code]:
    """Return the codes of all columns; of `sizes` also a negative number that they repeat."""
    codes = [code for name, own in ends.items() for code in own.codes(name)]
    known = {(code.column, code.value) for code in codes}
    negative = [code for name, own in ends.items() if name in sizes for code in own.negative_code(name)]
    return codes + [code for code in negative if (code.column, code.value) not in known]


def code_warning(texts: Iterable[Code | str], *, taken: bool = False) -> str | None:
    """Return one warning about suspicious numbers, None without any; `taken`: they count as missing."""
    listed = listing([str(text) for text in texts], 5)
    if not listed:
        return None
    if taken:
        return (
            f'taken for missing: {listed}; if these are readings, pass on_missing="error", which '
            "takes every number as it is"
        )
    return (
        f"looks like a code for missing values: {listed}; turn such numbers into nulls and choose "
        'what they mean with on_missing="auto" (or "point" for error bars), or drop these rows'
    )


def _is_nines(value: float) -> bool:
    """Is it made of at least two nines, such as -9999, 99.0 or -99.9?"""
    digits = f"{abs(value):.10g}".replace(".", "")
    return len(digits) >= 2 and set(digits) == {"9"}


# -- statistics of a table


class Statistics:
    """Statistics of the parts of a table so far."""

    def __init__(self, columns: Columns, share: float = 1.0) -> None:
        """`share`: of the rows, by their hashes, that may be in the sample."""
        self.columns = columns
        self._bars = {name: bar.kind for bar in columns.error_bars.values() for name in bar.columns}
        self._ends: dict[str, Ends] = {}
        self._zeros: dict[str, tuple[int, int]] = {}
        self._incomplete: set[str] = set()
        self._sample = Sample(share)

    def add(self, table: Table, first: int = 0) -> Self:
        """Add a part whose first row has this number in the table."""
        import polars as pl

        columns = self.columns
        used = sorted(columns.used - {*(columns.categorical or ())})
        self._sample.add(table, [name for name in used if name in table.names], first)
        names = dict.fromkeys((*columns.scalars, *self._bars))
        numbers = [name for name in names if table.types.get(name) == "number"]
        series = [_as_floats(column) for column in table.numbers(numbers)]
        lists = [] if columns.mean is None else [columns.mean]
        lists += [columns.lists[kind] for kind in ("std", "var") if lists and kind in columns.lists]
        for name, column in zip(lists, table.numbers(lists), strict=True):
            matrix = Rows.from_arrow([column], [name], "nan").to_numpy()
            series += [pl.Series(f"{name}[{j}]", values) for j, values in enumerate(matrix.T)]
        frame = pl.DataFrame(series)
        ends = ends_of(frame)
        for name, own in ends.items():
            self._ends[name] = self._ends.get(name, Ends()).merged(own)
        self._incomplete |= {name for name in frame.columns if ends.get(name, Ends()).n < frame.height}
        self._count_zeros(frame)
        return self

    def _count_zeros(self, frame: pl.DataFrame) -> None:
        """Count the error bars of zero beside values that are not zero, and all error bars."""
        import polars as pl

        pairs = [
            (name, feature)
            for feature, bar in self.columns.error_bars.items()
            for name in bar.columns
            if bar.kind != "limits" and {name, feature} <= {*frame.columns}
        ]
        asked = [
            pl.struct(
                ((pl.col(name) == 0.0) & pl.col(feature).ne_missing(0.0)).sum().alias("zero"),
                pl.col(name).is_finite().sum().alias("all"),
            ).alias(name)
            for name, feature in pairs
        ]
        for name, counts in frame.select(asked).row(0, named=True).items() if asked else ():
            zero, n = self._zeros.get(name, (0, 0))
            self._zeros[name] = zero + counts["zero"], n + counts["all"]

    def merge(self, other: Statistics) -> None:
        """Add the statistics of other rows of these columns."""
        for name, ends in other._ends.items():
            self._ends[name] = self._ends.get(name, Ends()).merged(ends)
        for name, (zero, n) in other._zeros.items():
            before = self._zeros.get(name, (0, 0))
            self._zeros[name] = before[0] + zero, before[1] + n
        self._incomplete |= other._incomplete
        self._sample.merge(other._sample)

    @property
    def has_gaps(self) -> bool:
        """Is a value missing?"""
        names = self._incomplete | {code.column for code in find_codes(self._ends)}
        names |= {name.rpartition("[")[0] for name in names}  # the column of lists
        return not names.isdisjoint({self.columns.mean, *self.columns.scalars})

    @property
    def sample(self) -> Table | None:
        """Rows for the model of sizes, in the order of their hashes; None if there are none."""
        return self._sample.table

    def cleaning(self) -> Cleaning:
        """Return what is taken for unknown: codes, also negative ones of error columns, and rare zeros."""
        codes: dict[str, tuple[float, ...]] = {}
        for code in self._codes(taken=True):
            codes[code.column] = (*codes.get(code.column, ()), code.value)
        return Cleaning(codes, tuple(self._rare_zeros()))

    def warning(self, *, taken: bool) -> str | None:
        """Return the warning about suspicious numbers; `taken`: they count as missing."""
        zeros = self._rare_zeros() if taken else {}
        of_zeros = [f"{name} is 0 in {count:,} row{'s' * (count > 1)}" for name, count in zeros.items()]
        return code_warning([*self._codes(taken=taken), *of_zeros], taken=taken)

    def _codes(self, *, taken: bool) -> list[Code]:
        sizes = {name for name, kind in self._bars.items() if kind in ("std", "var")}
        return find_codes(self._ends, sizes if taken else ())

    def _rare_zeros(self) -> dict[str, int]:
        """Return the number of zeros of each error column in which they are unknown."""
        return {name: zero for name, (zero, n) in self._zeros.items() if 0 < zero < RARE * n}


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


# -- the record, and what it does


class Cleaned(NamedTuple):
    """A table whose unknown numbers are nulls."""

    table: Table
    is_complete: bool
    """Is nothing missing?"""


@dataclass(frozen=True)
class Cleaning:
    """What stands for "unknown" in a table, how missing error bars are filled, and how many were."""

    codes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By column the numbers that mean "missing"; ``name[j]`` for those of lists."""
    zeros: tuple[str, ...] = ()
    """Error columns in which zero is unknown, beside a value that is not zero."""
    sizes: SizeModel | None = None
    """Sizes of the features with error bars, in their order; None without such."""
    n_gaps: Mapping[str, int] = field(default_factory=dict)
    """By feature the number of values of the fit that were missing."""
    n_sized: Mapping[str, int] = field(default_factory=dict)
    """By feature the number of values of the fit whose error bar is from the model of sizes."""

    def __post_init__(self) -> None:
        if not all(np.isfinite(codes).all() for codes in self.codes.values()):
            raise ValueError(f"codes = {self.codes!r:.100}")

    @property
    def changes(self) -> bool:
        """Are there numbers that mean "missing"?"""
        return bool(self.codes or self.zeros)

    def counting(self, n_gaps: Mapping[str, int], n_sized: Mapping[str, int]) -> Self:
        """Return the record with these counts added to those of the fit."""
        return replace(self, n_gaps=_sum(self.n_gaps, n_gaps), n_sized=_sum(self.n_sized, n_sized))

    def __str__(self) -> str:
        """What was missing in the fit."""
        texts = []
        if self.n_gaps:
            texts.append(_counts("value", "unknown", self.n_gaps))
        if self.n_sized:
            texts.append(_counts("error bar", "from a model of sizes", self.n_sized))
        return "; ".join(texts)

    def clean(self, table: Table, columns: Columns, *, refuse: bool = True) -> Cleaned:
        """Make nulls of unknown numbers; `refuse` text that is no number, which is null else."""
        import polars as pl

        names = [name for name in table.names if name in columns.used]
        before = pl.DataFrame(table.series(names))
        values, errors = _values(columns), _error_columns(columns)
        pairs = [name for name in names if name not in columns.needed]
        frame = _with(
            before,
            (self._numbers(before[name], columns, refuse) for name in dict.fromkeys((*values, *errors))),
        )
        frame = _with_nulls(frame, {name: self._unknown(frame[name]) for name in (*values, *errors, *pairs)})
        zeros = {
            name: (pl.col(name) == 0) & (pl.col(feature) != 0)
            for feature, bar in columns.error_bars.items()
            for name in {*bar.columns} & {*self.zeros}
        }
        frame = _with_nulls(frame, zeros)
        none = (pl.col(name).fill_null(0.0) if frame[name].null_count() else None for name in pairs)
        frame = _with(frame, none)  # an unknown correlation is none
        is_complete = not any(_lacks(frame[name]) for name in (*values, *errors, *(columns.draws or ())))
        cleaned = table if frame is before else table.standing_for(Table.from_frame(frame))
        return Cleaned(cleaned, is_complete)

    def _numbers(self, column: pl.Series, columns: Columns, refuse: bool) -> pl.Series | None:
        """Return the numbers of a column of text or lists; None where nothing changes."""
        import polars as pl

        if column.dtype in (pl.String, pl.Categorical, pl.Enum):
            numbers, wrong = numbers_from_text(column)
            if wrong is None or not refuse:
                return numbers
            if column.name in (columns.exact or ()):  # for which reading has better advice
                return None
            raise ColumnError(
                f"{column.name}: row {wrong} is {column[wrong]!r}, which is no number; a null stands for "
                "what is unknown"
            )
        return self._clean_list(column) if column.dtype.is_nested() else None

    def _unknown(self, column: pl.Series) -> pl.Expr | None:
        """Return where numbers of the column mean "missing"; None for no column of numbers."""
        import polars as pl

        if not column.dtype.is_numeric():
            return None
        is_unknown = ~pl.col(column.name).is_finite() if column.dtype.is_float() else None
        if column.name in self.codes:
            codes = pl.col(column.name).cast(pl.Float64).is_in(list(self.codes[column.name]))
            return codes if is_unknown is None else is_unknown | codes
        return is_unknown

    def _clean_list(self, column: pl.Series) -> pl.Series | None:
        """Return the column with NaN for unknown numbers of its lists; None without any."""
        import polars as pl

        name = column.name
        numbers = Rows.from_arrow([column], [name], "nan").to_numpy()
        places = [j for j in range(numbers.shape[1]) if f"{name}[{j}]" in self.codes]
        if not places and np.isfinite(numbers.sum()):
            return None
        unknown = np.isinf(numbers)
        for j in places:
            unknown[:, j] |= np.isin(numbers[:, j], self.codes[f"{name}[{j}]"])
        return pl.Series(name, np.where(unknown, np.nan, numbers)) if unknown.any() else None


def numbers_from_text(column: pl.Series) -> tuple[pl.Series, int | None]:
    """Return the numbers, null for blanks and other text; and the first row of other text, None without."""
    import polars as pl

    text = column.cast(pl.String).str.strip_chars()
    text = text.set((text == "").fill_null(False), None)
    numbers = text.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & text.is_not_null()).arg_true()
    return numbers, int(wrong[0]) if len(wrong) else None


def _values(columns: Columns) -> list[str]:
    """Columns of values."""
    return [*([] if columns.mean is None else [columns.mean]), *columns.scalars]


def _error_columns(columns: Columns) -> list[str]:
    """Columns of error bars; of lists those that a model of sizes can fill."""
    lists = [column for kind, column in columns.lists.items() if kind in ("std", "var", "cov")]
    return [*(name for bar in columns.error_bars.values() for name in bar.columns), *lists]


def _with(frame: pl.DataFrame, columns: Iterable[pl.Series | pl.Expr | None]) -> pl.DataFrame:
    """Return the frame with these columns; itself if they are all None."""
    changed = [column for column in columns if column is not None]
    return frame.with_columns(changed) if changed else frame


def _with_nulls(frame: pl.DataFrame, rules: Mapping[str, pl.Expr | None]) -> pl.DataFrame:
    """Return the frame with nulls where the rule of a column is true; itself if none is."""
    import polars as pl

    asked = {name: rule for name, rule in rules.items() if rule is not None}
    if not asked:
        return frame
    found = frame.select(rule.any().alias(name) for name, rule in asked.items()).row(0, named=True)
    return _with(
        frame,
        (
            pl.when(asked[name]).then(None).otherwise(pl.col(name)).alias(name)
            for name in asked
            if found[name]
        ),
    )


def _lacks(column: pl.Series) -> bool:
    """Is a number missing?"""
    if column.null_count() or not column.dtype.is_nested():
        return column.null_count() > 0
    return bool(np.isnan(Rows.from_arrow([column], [column.name], "nan").to_numpy().sum(axis=0)).any())


def _as_floats(column: pl.Series) -> pl.Series:
    import polars as pl

    return column if column.dtype.is_float() else column.cast(pl.Float64)


def _sum(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) + more.get(name, 0) for name in {**counts, **more}}


def _counts(noun: str, what: str, counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    largest = sorted(counts.items(), key=lambda item: -item[1])
    features = listing([f"{name} {count:,}" for name, count in largest], 4)
    return f"{total:,} {noun}{'s' * (total > 1)} {what} ({features})"
