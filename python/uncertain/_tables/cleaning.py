"""Cleaning of a table: nulls for numbers that mean "unknown", and the record of what was done.

The rules are the same for scalar columns, for the places of lists and the diagonals of matrices, and for the
target with its error column:

- A value is missing if it is not finite, or a code.
- An error bar is unknown if it is not finite, a code, negative (of two arms: both), a rare zero beside a
  value that is not zero, or limits that the value lies outside of.
- An infinite error bar, or one at a code above zero (50, 99, 1e108), says that nothing was measured: its
  value is missing. So is a placeholder: one number that values without a usable error bar share.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from .._data.typing import Booleans, Floats
from ..exceptions import ColumnError
from .columns import Columns, listing
from .contents import NO_NUMBER
from .error_bars import ErrorBar
from .flags import numbers_behind_signs, read_flags
from .list_places import ListPlaces, list_places
from .size_model import SizeModel
from .table import Table, readable_numbers

if TYPE_CHECKING:
    import polars as pl


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
    placeholders: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By feature the numbers that stand for a missing value beside an unknown error bar."""
    sizes: SizeModel | None = None
    """Sizes of the features with error bars, in their order; None without such."""
    n_gaps: Mapping[str, int] = field(default_factory=dict)
    """By feature the number of values of the fit that were missing."""
    n_sized: Mapping[str, int] = field(default_factory=dict)
    """By feature the number of values of the fit whose error bar is from the model of sizes."""

    def __post_init__(self) -> None:
        if not all(np.isfinite(v).all() for v in (*self.codes.values(), *self.placeholders.values())):
            raise ValueError(f"codes = {self.codes!r:.100}, placeholders = {self.placeholders!r:.100}")

    @property
    def changes(self) -> bool:
        """Are there numbers that mean "missing"?"""
        return bool(self.codes or self.zeros)

    def counting(self, n_gaps: Mapping[str, int], n_sized: Mapping[str, int]) -> Self:
        """Return the record with these counts added to those of the fit."""
        return replace(self, n_gaps=_sum(self.n_gaps, n_gaps), n_sized=_sum(self.n_sized, n_sized))

    def __str__(self) -> str:
        """What was missing in the fit."""
        return ", ".join(f"{number} ({own})" for number, own in self._counts())

    @property
    def totals(self) -> str:
        """What was missing in the fit, without the features."""
        return ", ".join(number for number, _ in self._counts())

    def _counts(self) -> Iterator[tuple[str, str]]:
        """Yield numbers of what was missing, and those of its features."""
        for noun, counts, how in (
            ("value", self.n_gaps, ""), ("error bar", self.n_sized, "; estimated from the others")
        ):  # fmt: skip
            if total := sum(counts.values()):
                largest = sorted(counts.items(), key=lambda item: -item[1])
                features = listing([f"{name} {count:,}" for name, count in largest], 4)
                yield f"{total:,} {noun}{'s' * (total > 1)}", features + how

    def clean(
        self,
        table: Table,
        columns: Columns,
        *,
        refuse: bool = True,
        unusable: Container[str] = ("std", "var", "arms", "limits"),
    ) -> Cleaned:
        """Make nulls of unknown numbers.

        `refuse` text that is no number, which is null else; `unusable`: kinds of error bars that may be so.
        """
        import polars as pl

        names = [name for name in table.names if name in columns.used]
        before = pl.DataFrame(table.series(names))
        values, bars = columns.scalars, columns.error_bars
        errors = [name for bar in bars.values() for name in bar.columns]
        pairs = [name for name in names if name not in columns.needed]
        numbers = (self._numbers(before[name], columns, refuse) for name in dict.fromkeys((*values, *errors)))
        frame = _with(before, numbers)
        frame = _with_nulls(frame, {n: self._is_unknown(n) for n in pairs if before[n].dtype.is_numeric()})
        limited = {f: read_flags(table, column, f) != 0 for f, column in columns.flags.items() if f in bars}
        frame = self._with_unknown(frame, values, bars, limited, unusable)
        if columns.mean is not None or columns.lists:
            places = list_places(columns, lambda names: [readable_numbers(frame[name]) for name in names])
            frame = _with(frame, self._clean_lists(places, columns))
        none = (pl.col(name).fill_null(0.0) if frame[name].null_count() else None for name in pairs)
        frame = _with(frame, none)  # an unknown correlation is none
        lists = [*filter(None, [columns.mean]), *columns.lists.values(), *(columns.draws or ())]
        read = [*values, *errors, *lists]
        is_complete = not any(_lacks(frame[name]) for name in read)
        cleaned = table if frame is before else table.standing_for(Table.from_frame(frame))
        return Cleaned(cleaned, is_complete)

    def _with_unknown(
        self,
        frame: pl.DataFrame,
        values: Iterable[str],
        bars: Mapping[str, ErrorBar],
        limited: Mapping[str, Booleans],
        unusable: Container[str],
    ) -> pl.DataFrame:
        """Return the frame with nulls for unknown values and error bars; a limit (`limited`) needs no error
        bar."""
        import polars as pl

        numeric = {name for name, dtype in frame.schema.items() if dtype.is_numeric() or dtype == pl.Null}
        values = [name for name in values if name in numeric]  # others are refused where they are read
        bars = {v: bar for v, bar in bars.items() if {v, *bar.columns} <= numeric}
        vast = {
            value: pl.any_horizontal(self._is_vast(name) for name in bar.columns)
            for value, bar in bars.items()
        }
        gaps = frame.select(mask.alias(value) for value, mask in vast.items())
        errors = [name for bar in bars.values() for name in bar.columns]
        frame = _with_nulls(frame, {name: self._is_unknown(name) for name in (*values, *bars, *errors)})
        rules = [self._unusable(value, bar) for value, bar in bars.items() if bar.kind in unusable]
        frame = _with_nulls(frame, {name: mask for rule in rules for name, mask in rule.items()})
        for value, bar in bars.items():
            missing = gaps[value].fill_null(False)
            if value in self.placeholders:
                no_bar = frame.select(pl.all_horizontal(pl.col(name).is_null() for name in bar.columns))
                same = frame[value].is_in(list(self.placeholders[value])).fill_null(False)
                missing |= no_bar.to_series() & same
            if value in limited:
                missing &= pl.Series(~limited[value])
            if missing.any():
                frame = frame.with_columns(frame[value].set(missing, None))
        return frame

    def _is_unknown(self, name: str) -> pl.Expr:
        """Return where the numbers of a column mean nothing."""
        import polars as pl

        column = pl.col(name).cast(pl.Float64)
        codes = self.codes.get(name)
        return ~column.is_finite() | column.is_in(list(codes)) if codes else ~column.is_finite()

    def _is_vast(self, name: str) -> pl.Expr:
        """Return where error bars say that nothing was measured."""
        import polars as pl

        column = pl.col(name).cast(pl.Float64)
        codes = [code for code in self.codes.get(name, ()) if code > 0.0]
        return column.is_infinite() | column.is_in(codes) if codes else column.is_infinite()

    def _unusable(self, value: str, bar: ErrorBar) -> dict[str, pl.Expr]:
        """Return by column where finite numbers are no error bars."""
        import polars as pl

        x, *own = (pl.col(name) for name in (value, *bar.columns))
        rules = {
            "arms": lambda: (own[0] < 0) & (own[1] < 0),
            "limits": lambda: (own[0] > x) | (own[1] < x),
            "precision": lambda: own[0] <= 0,
        }
        wrong = rules.get(bar.kind, lambda: own[0] < 0)()
        zeros = {name: (pl.col(name) == 0) & (x != 0) for name in {*bar.columns} & {*self.zeros}}
        return {name: wrong | zeros[name] if name in zeros else wrong for name in bar.columns}

    def _clean_lists(self, places: ListPlaces, columns: Columns) -> list[pl.Series]:
        """Return the columns of lists with NaN for what is unknown; none where nothing is."""
        import polars as pl

        own = {*places.names, *(bar.columns[0] for bar in places.bars.values())}
        if places.are_usable and own.isdisjoint({*self.codes, *self.zeros, *self.placeholders}):
            return []
        (frame,) = places.frames()
        cleaned = self._with_unknown(frame, places.names, places.bars, {}, ("std", "var", "precision"))
        if cleaned is frame and places.bars:
            return []
        values, errors = _array(cleaned.select(places.names)), places.errors
        if errors is not None and places.bars:
            sizes = _array(cleaned.select([*dict.fromkeys(bar.columns[0] for bar in places.bars.values())]))
            if places.kind == "precision":  # of which sizes are not estimated
                values, sizes = np.where(np.isnan(sizes), np.nan, values), np.nan_to_num(sizes, nan=1.0)
            errors = _matrices(errors, sizes, values) if places.is_matrix else sizes
        elif errors is not None:
            values = np.where(np.isfinite(errors).all(axis=1, keepdims=True), values, np.nan)
            errors = np.where(np.isfinite(errors), errors, 0.0)
        features = [pl.Series(name, values[:, j]) for j, name in enumerate(places.names)]
        means = features if columns.mean is None else [pl.Series(columns.mean, values)]
        return means if errors is None else [*means, pl.Series(places.column, errors)]

    def _numbers(self, column: pl.Series, columns: Columns, refuse: bool) -> pl.Series | None:
        """Return the numbers of a column of text or lists; None where nothing changes."""
        import polars as pl

        if column.dtype in (pl.String, pl.Categorical, pl.Enum):
            if columns.flags.get(column.name) == column.name:
                column = numbers_behind_signs(column.cast(pl.String))
            numbers, wrong = numbers_from_text(column)
            if wrong is None or not refuse:
                return numbers
            if column.name in (columns.exact or ()):  # for which reading has better advice
                return None
            text = f"{column.name}: row {wrong} is {column[wrong]!r}, which is no number"
            if "," in str(column[wrong]):
                raise ColumnError(f"{text}. Read files with polars.read_csv(path, decimal_comma=True).")
            limits = f"'<0.5' for an upper limit (limits={ {column.name: column.name}!r})"
            raise ColumnError(f"{text}. Write null for what is unknown, {limits}.")
        return None


def numbers_from_text(column: pl.Series) -> tuple[pl.Series, int | None]:
    """Return the numbers, null for blanks and other text; and the first row of other text, None without."""
    import polars as pl

    text = column.cast(pl.String).str.strip_chars()
    text = text.set(((text == "") | text.str.contains(f"(?i){NO_NUMBER}")).fill_null(False), None)
    numbers = text.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & text.is_not_null()).arg_true()
    return numbers, int(wrong[0]) if len(wrong) else None


FEWEST = 3
"""Rows that share a placeholder, at least."""
MORE_OFTEN = 10.0
"""Times that it is more frequent than among values with an error bar, at least."""


def find_placeholders(names: Sequence[str], values: Floats, std: Floats) -> dict[str, tuple[float, ...]]:
    """Return by feature the numbers that values without an error bar share, and others seldom have.

    `values` and `std` are (n, d), with NaN for what is unknown.
    """
    found = {}
    for name, x, s in zip(names, values.T, std.T, strict=True):
        bare, others = x[np.isnan(s) & ~np.isnan(x)], x[~np.isnan(s)]
        numbers, counts = np.unique(bare, return_counts=True)
        numbers, counts = numbers[counts >= FEWEST], counts[counts >= FEWEST]
        usual = np.array([(others == number).sum() for number in numbers]) + 1.0
        taken = numbers[counts > MORE_OFTEN * len(bare) * usual / (len(others) + 2.0)]
        if len(taken):
            found[name] = tuple(taken.tolist())
    return found


def _array(frame: pl.DataFrame) -> Floats:
    """Return the numbers with NaN for nulls."""
    import polars as pl

    return np.ascontiguousarray(frame.cast(pl.Float64).fill_null(float("nan")).to_numpy())


def _matrices(matrices: Floats, sizes: Floats, values: Floats) -> Floats:
    """Return covariance matrices with these diagonals, and no covariances with what is unknown; a variance is
    NaN only beside a value."""
    n, d = values.shape
    unknown = np.isnan(sizes)
    whole: Floats = np.nan_to_num(matrices, posinf=0.0, neginf=0.0).reshape(n, d, d)
    whole[unknown] = whole.swapaxes(1, 2)[unknown] = 0.0
    whole[:, range(d), range(d)] = np.where(unknown & np.isnan(values), 0.0, sizes)
    return whole.reshape(n, d * d)


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
    """True if a number is missing, in a list, too; lists may differ in length."""
    import polars as pl

    numbers = column
    while isinstance(numbers.dtype, (pl.List, pl.Array)) and not numbers.null_count():
        numbers = numbers.explode()
    has_nan = numbers is not column and numbers.dtype.is_float() and numbers.is_nan().any()
    return numbers.null_count() > 0 or has_nan


def _sum(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) + more.get(name, 0) for name in {**counts, **more}}
