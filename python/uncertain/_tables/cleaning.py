"""Cleaning of a table: nulls for numbers that mean "unknown", and the record of what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from .._uncertain import Rows
from ..exceptions import ColumnError
from .columns import Columns, listing
from .size_model import SizeModel
from .table import Table

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
    """True if a number is missing, in a list, too; lists may differ in length."""
    import polars as pl

    numbers = column
    while isinstance(numbers.dtype, (pl.List, pl.Array)) and not numbers.null_count():
        numbers = numbers.explode()
    has_nan = numbers is not column and numbers.dtype.is_float() and numbers.is_nan().any()
    return numbers.null_count() > 0 or has_nan


def _sum(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) + more.get(name, 0) for name in {**counts, **more}}


def _counts(noun: str, what: str, counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    largest = sorted(counts.items(), key=lambda item: -item[1])
    features = listing([f"{name} {count:,}" for name, count in largest], 4)
    return f"{total:,} {noun}{'s' * (total > 1)} {what} ({features})"
