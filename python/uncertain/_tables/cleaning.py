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
from .error_bar import ErrorBar
from .flags import numbers_behind_signs, read_flags
from .list_places import ListPlaces, list_places
from .rules import NO_NUMBER
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
        names = [name for name in table.names if name in columns.used]
        before = dict(zip(names, table.series(names), strict=True))
        values, bars = columns.scalars, columns.error_bars
        errors = [name for bar in bars.values() for name in bar.columns]
        pairs = [name for name in names if name not in columns.needed]
        frame = before | self._texts_as_numbers(before, (*values, *errors), columns, refuse)
        limited = {f: read_flags(table, column, f) != 0 for f, column in columns.flags.items() if f in bars}
        missing = self._missing(frame, values, bars, limited, unusable)
        missing |= {n: self._is_unknown(n, _floats(frame[n])) for n in pairs if frame[n].dtype.is_numeric()}
        frame |= _with_nulls(frame, missing)
        if columns.mean is not None or columns.lists:
            places = list_places(columns, lambda names: [readable_numbers(frame[name]) for name in names])
            frame |= {column.name: column for column in self._clean_lists(places, columns)}
        frame |= {n: frame[n].fill_null(0.0) for n in pairs if frame[n].null_count()}  # not correlated
        lists = [*filter(None, [columns.mean]), *columns.lists.values(), *(columns.draws or ())]
        is_complete = not any(_lacks(frame[name]) for name in (*values, *errors, *lists))
        if all(frame[name] is column for name, column in before.items()):
            return Cleaned(table, is_complete)
        return Cleaned(table.standing_for(Table(None, [*frame.values()])), is_complete)

    def _missing(
        self,
        frame: Mapping[str, pl.Series],
        values: Iterable[str],
        bars: Mapping[str, ErrorBar],
        limited: Mapping[str, Booleans],
        unusable: Container[str],
    ) -> dict[str, Booleans]:
        """Return by column where values and error bars are unknown; a limit (`limited`) needs no error bar.

        NumPy instead of Polars, whose queries cost more than all else for the few rows of a prediction.
        """
        import polars as pl

        numeric = {n for n, column in frame.items() if column.dtype.is_numeric() or column.dtype == pl.Null}
        values = [name for name in values if name in numeric]  # others are refused where they are read
        bars = {v: bar for v, bar in bars.items() if {v, *bar.columns} <= numeric}
        missing, gaps, wrong = dict[str, Booleans](), dict[str, Booleans](), dict[str, Booleans]()
        for value, bar in bars.items():
            numbers = {name: _floats(frame[name]) for name in (value, *bar.columns)}
            missing |= {name: self._is_unknown(name, x) for name, x in numbers.items()}
            gaps[value] = np.logical_or.reduce([self._is_vast(name, numbers[name]) for name in bar.columns])
            if bar.kind in unusable:
                x, *arms = (
                    np.where(missing[n], np.nan, x) if missing[n].any() else x for n, x in numbers.items()
                )
                wrong |= self._unusable(bar, x, arms)
        missing |= {n: self._is_unknown(n, _floats(frame[n])) for n in values if n not in missing}
        missing |= {name: missing[name] | mask for name, mask in wrong.items()}
        for value, bar in bars.items():
            gap = gaps[value]
            if value in self.placeholders:
                has_no_bar = np.logical_and.reduce([missing[name] for name in bar.columns])
                gap = gap | (has_no_bar & np.isin(_floats(frame[value]), self.placeholders[value]))
            if value in limited:
                gap = gap & ~limited[value]
            missing[value] = missing[value] | gap
        return missing

    def _is_unknown(self, name: str, numbers: Floats) -> Booleans:
        """Return where the numbers of a column mean nothing."""
        unknown: Booleans = ~np.isfinite(numbers)
        return unknown | np.isin(numbers, self.codes[name]) if name in self.codes else unknown

    def _is_vast(self, name: str, numbers: Floats) -> Booleans:
        """Return where error bars say that nothing was measured."""
        codes = [code for code in self.codes.get(name, ()) if code > 0.0]
        return np.isinf(numbers) | np.isin(numbers, codes) if codes else np.isinf(numbers)

    def _unusable(self, bar: ErrorBar, x: Floats, arms: Sequence[Floats]) -> dict[str, Booleans]:
        """Return by column where finite numbers are no error bars of the values `x`."""
        rules = {
            "arms": lambda: (arms[0] < 0) & (arms[1] < 0),
            "limits": lambda: (arms[0] > x) | (arms[1] < x),
            "precision": lambda: arms[0] <= 0,
        }
        wrong = rules.get(bar.kind, lambda: arms[0] < 0)()
        return {
            name: wrong | ((arm == 0) & (x != 0) & ~np.isnan(x)) if name in self.zeros else wrong
            for name, arm in zip(bar.columns, arms, strict=True)
        }

    def _clean_lists(self, places: ListPlaces, columns: Columns) -> list[pl.Series]:
        """Return the columns of lists with NaN for what is unknown; none where nothing is."""
        import polars as pl

        sized = [*dict.fromkeys(bar.columns[0] for bar in places.bars.values())]
        if places.are_usable and {*places.names, *sized}.isdisjoint(
            {*self.codes, *self.zeros, *self.placeholders}
        ):
            return []
        frame = {column.name: column for each in places.frames() for column in each.get_columns()}
        missing = self._missing(frame, places.names, places.bars, {}, ("std", "var", "precision"))
        if places.bars and not any(mask.any() for mask in missing.values()):
            return []

        def cleaned(names: Sequence[str]) -> Floats:
            return np.stack([np.where(missing[n], np.nan, _floats(frame[n])) for n in names], axis=1)

        values, errors = cleaned(places.names), places.errors
        if errors is not None and places.bars:
            sizes = cleaned(sized)
            if places.kind == "precision":  # of which sizes are not estimated
                values, sizes = np.where(np.isnan(sizes), np.nan, values), np.nan_to_num(sizes, nan=1.0)
            errors = _matrices(errors, sizes, values) if places.is_matrix else sizes
        elif errors is not None:
            values = np.where(np.isfinite(errors).all(axis=1, keepdims=True), values, np.nan)
            errors = np.where(np.isfinite(errors), errors, 0.0)
        features = [pl.Series(name, values[:, j]) for j, name in enumerate(places.names)]
        means = features if columns.mean is None else [pl.Series(columns.mean, values)]
        return means if errors is None else [*means, pl.Series(places.column, errors)]

    def _texts_as_numbers(
        self, frame: Mapping[str, pl.Series], names: Iterable[str], columns: Columns, refuse: bool
    ) -> dict[str, pl.Series]:
        """Return the numbers of columns of text."""
        import polars as pl

        found: dict[str, pl.Series] = {}
        for name in names:
            column = frame[name]
            if column.dtype.is_numeric() or column.dtype not in (pl.String, pl.Categorical, pl.Enum):
                continue
            text = numbers_behind_signs(column.cast(pl.String)) if columns.flags.get(name) == name else column
            numbers, wrong = numbers_from_text(text)
            if wrong is None or not refuse:
                found[name] = numbers
            elif name not in (columns.exact or ()):  # for which reading has better advice
                cell = f"{name}: row {wrong} is {text[wrong]!r}, which is no number"
                if "," in str(text[wrong]):
                    raise ColumnError(f"{cell}. Read files with polars.read_csv(path, decimal_comma=True).")
                limits = f"'<0.5' for an upper limit (limits={ {name: name}!r})"
                raise ColumnError(f"{cell}. Write null for what is unknown, {limits}.")
        return found


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


def _floats(column: pl.Series) -> Floats:
    """Return the numbers with NaN for nulls, without a copy where they are floats without one."""
    import polars as pl

    return np.asarray(column.cast(pl.Float64).to_numpy())


def _matrices(matrices: Floats, sizes: Floats, values: Floats) -> Floats:
    """Return covariance matrices with these diagonals, and no covariances with what is unknown; a variance is
    NaN only beside a value."""
    n, d = values.shape
    unknown = np.isnan(sizes)
    whole: Floats = np.nan_to_num(matrices, posinf=0.0, neginf=0.0).reshape(n, d, d)
    whole[unknown] = whole.swapaxes(1, 2)[unknown] = 0.0
    whole[:, range(d), range(d)] = np.where(unknown & np.isnan(values), 0.0, sizes)
    return whole.reshape(n, d * d)


def _with_nulls(frame: Mapping[str, pl.Series], missing: Mapping[str, Booleans]) -> dict[str, pl.Series]:
    """Return the columns in which other rows than those of their nulls are `missing`, with nulls there."""
    import polars as pl

    changed = {n: mask for n, mask in missing.items() if np.count_nonzero(mask) > frame[n].null_count()}
    if not changed:
        return {}
    rules = (pl.when(pl.Series(~mask)).then(pl.col(name)) for name, mask in changed.items())
    return {c.name: c for c in pl.DataFrame([frame[name] for name in changed]).select(rules).get_columns()}


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
