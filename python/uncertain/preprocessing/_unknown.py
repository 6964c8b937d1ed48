"""`Unknown`: what stands for "not known" in the columns of a table, and what takes its place.

With ``on_missing="auto"`` a table is completed before it is read. Nulls, NaN, infinities, blanks, codes such
as -9999 and rare error bars of zero are nulls then; a null value is a gap, and a value without error bar gets
one from the model of sizes. What counts as a code or as a rare zero, and the model, are learned from all rows
of a fit (`Census`) and hold for new rows, too. So reading itself (`_reading.py`) knows none of this, and a
table in which nothing is missing is read as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from .._columns.columns import Columns, listing
from .._tables import Table
from .._uncertain import Rows
from ._bar_sizes import BarSizes
from ._size_model import SizeModel
from ._text_numbers import not_a_number, numbers_from_text

if TYPE_CHECKING:
    from polars import Series


class Completed(NamedTuple):
    """A table whose unknown numbers are nulls, or filled."""

    table: Table
    has_gaps: bool = False
    """Is anything missing still?"""
    gaps: Mapping[str, int] = {}
    """By feature how many values are missing."""
    sizes: Mapping[str, int] = {}
    """By feature how many values have an error bar from the model of sizes."""


@dataclass(frozen=True)
class Unknown:
    """What is learned of a table."""

    codes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By column the numbers that stand for nothing; ``name[j]`` for those of lists."""
    zeros: tuple[str, ...] = ()
    """Error columns in which a zero is no size, beside a value that is not zero."""
    sizes: SizeModel | None = None
    """Of the features with error bars, in their order; None without such."""
    n_gaps: Mapping[str, int] = field(default_factory=dict)
    """By feature how many values of the fit were missing."""
    n_sized: Mapping[str, int] = field(default_factory=dict)
    """By feature how many values of the fit have an error bar from the model of sizes."""

    @property
    def changes(self) -> bool:
        """Are there numbers that mean nothing?"""
        return bool(self.codes or self.zeros)

    def counting(self, completed: Completed) -> Self:
        """The same with these gaps and sizes among those of the fit."""
        return replace(
            self, n_gaps=_sum(self.n_gaps, completed.gaps), n_sized=_sum(self.n_sized, completed.sizes)
        )

    def __str__(self) -> str:
        """What was missing in the fit."""
        texts = []
        if self.n_gaps:
            texts.append(_counts("value", "unknown", self.n_gaps))
        if self.n_sized:
            texts.append(_counts("error bar", "from a model of sizes", self.n_sized))
        return "; ".join(texts)

    def with_sizes(self, sample: Table, columns: Columns, *, complete: bool = False) -> Self:
        """The same with the model of sizes of these rows; `complete`: of which nothing is missing."""
        sample = sample if complete else self.cleaned(sample, columns, refuse=False)
        bars = BarSizes.from_table(sample, columns)
        return self if bars is None else replace(self, sizes=SizeModel.learn(bars.values, bars.std))

    def completed(self, table: Table, columns: Columns) -> Completed:
        """The table with nulls for all that is unknown, and sizes for values without error bar."""
        table, frame = self._cleaned(table, columns)
        without = any(frame[name].null_count() for name in columns.draws or ())
        if not any(_lacks(name, frame[name]) for name in (*_values(columns), *_error_columns(columns))):
            return Completed(table, has_gaps=without)
        points = [*(columns.scalars if not columns.errors else columns.exact or ())]
        exact = {name: _count(frame[name]) for name in points}
        bars = BarSizes.from_table(table, columns)
        if bars is None:
            gaps = {name: n for name, n in exact.items() if n}
            return Completed(table, has_gaps=True, gaps=gaps)
        missing = np.isnan(bars.values)
        std = bars.std if self.sizes is None else self.sizes.filled(bars.values, bars.std)
        new = np.isnan(bars.std) & ~np.isnan(std) & bars.absent
        gaps = dict(zip(bars.names, missing.sum(axis=0).tolist(), strict=True)) | exact
        return Completed(
            bars.written(table, std) if (bars.absent & ~missing).any() else table,
            bool(without or missing.any() or np.isnan(std).any() or any(exact.values())),
            {name: count for name, count in gaps.items() if count},
            {name: n for name, n in zip(bars.names, new.sum(axis=0).tolist(), strict=True) if n},
        )

    def cleaned(self, table: Table, columns: Columns, *, refuse: bool = True) -> Table:
        """The table with nulls for all that is unknown; `refuse` text that is no number, else it is null."""
        return self._cleaned(table, columns, refuse=refuse)[0]

    def _cleaned(
        self, table: Table, columns: Columns, *, refuse: bool = True
    ) -> tuple[Table, dict[str, Series]]:
        """The same, and the columns that are used."""
        import polars as pl

        used = [name for name in table.names if name in columns.used]
        frame = dict(zip(used, table.series(used), strict=True))
        changed: dict[str, Series] = {}
        for name in [*_values(columns), *_error_columns(columns)]:
            column = frame[name]
            if column.dtype in (pl.String, pl.Categorical, pl.Enum):
                numbers, wrong = numbers_from_text(column)
                if wrong is None or not refuse:
                    column = numbers
                elif name not in (columns.exact or ()):  # for which reading has better advice
                    raise not_a_number(column, name, wrong)
            changed[name] = (self._list if column.dtype.is_nested() else self._scalars)(column, name)
        for feature, bar in columns.error_bars.items():  # the error bar of a value of zero may be zero
            for name in {*bar.columns} & {*self.zeros}:
                zero = (changed[name] == 0) & (changed[feature] != 0)
                changed[name] = (
                    changed[name].set(zero.fill_null(False), None) if zero.any() else changed[name]
                )
        for name in frame.keys() - {*columns.needed}:  # an unknown correlation is none
            column = self._scalars(frame[name], name)
            changed[name] = column.fill_null(0.0) if column.null_count() else column
        if all(column is frame[name] for name, column in changed.items()):
            return table, frame
        frame |= changed
        return table.standing_for(Table.from_frame(pl.DataFrame([*frame.values()]))), frame

    def _scalars(self, column: Series, name: str) -> Series:
        import polars as pl

        if not column.dtype.is_numeric():
            return column
        unknown = [~column.is_finite()] if column.dtype.is_float() else []
        if name in self.codes:
            unknown.append(column.cast(pl.Float64).is_in(list(self.codes[name])))
        for mask in unknown:
            if mask.any():
                column = column.set(mask.fill_null(False), None)
        return column

    def _list(self, column: Series, name: str) -> Series:
        import polars as pl

        numbers = Rows.from_arrow([column], [name], "nan").to_numpy()
        places = [j for j in range(numbers.shape[1]) if f"{name}[{j}]" in self.codes]
        if not places and np.isfinite(numbers.sum()):
            return column
        unknown = np.isinf(numbers)
        for j in places:
            unknown[:, j] |= np.isin(numbers[:, j], self.codes[f"{name}[{j}]"])
        return pl.Series(name, np.where(unknown, np.nan, numbers)) if unknown.any() else column


def _values(columns: Columns) -> list[str]:
    """Columns of values."""
    return [*([] if columns.mean is None else [columns.mean]), *columns.scalars]


def _error_columns(columns: Columns) -> list[str]:
    """Columns of error bars; of lists those that a model of sizes can fill."""
    lists = [column for kind, column in columns.lists.items() if kind in ("std", "var", "cov")]
    return [*(name for bar in columns.error_bars.values() for name in bar.columns), *lists]


def _lacks(name: str, column: Series) -> bool:
    """Is a number missing?"""
    if column.null_count():
        return True
    if column.dtype.is_nested():
        return bool(np.isnan(Rows.from_arrow([column], [name], "nan").to_numpy().sum(axis=0)).any())
    return bool(column.dtype.is_float() and column.is_nan().any())


def _count(column: Series) -> int:
    """How many numbers are missing."""
    return int(column.null_count() + (column.is_nan().sum() if column.dtype.is_float() else 0))


def _sum(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) + more.get(name, 0) for name in {**counts, **more}}


def _counts(noun: str, what: str, counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    largest = sorted(counts.items(), key=lambda item: -item[1])
    features = listing([f"{name} {count:,}" for name, count in largest], 4)
    return f"{total:,} {noun}{'s' * (total > 1)} {what} ({features})"
