"""`Look`: what the numbers of columns say of their roles, by the first rows of a table.

An error column by letters or place that is negative somewhere, or larger than the values themselves, is a
value. Shares of the value are of the order that their name says. A column without a number is no error bar.
Flags of limits hold signs (<, >), truth values or -1, 0 and 1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .._data.column import is_missing
from .error_names import told
from .rules import DETECTION, SIGNS, SIGNS_OF_DETECTIONS

if TYPE_CHECKING:
    from polars import Series

TEXTS = ("String", "Categorical", "Enum")
LOOKED_AT = 10_000
"""Rows that are looked at: of a table in memory or in files, or of the first partition on a cluster."""


class Look:
    """The first rows of a table; columns that no row is known of say nothing."""

    def __init__(self, table: Any) -> None:
        """`table`: a `Table`, whose module is above this one."""
        self._table = table
        self._read: dict[str, Series] = {}

    def _column(self, name: str) -> Series | None:
        column: Series | None = self._table.first_rows(name, LOOKED_AT)
        return column

    def _numbers(self, name: str) -> Series | None:
        import polars as pl

        column = self._column(name) if self._table.types.get(name) == "number" else None
        if column is not None and name not in self._read:
            self._read[name] = pl.Series(column.cast(float).to_numpy(), nan_to_null=True)
        return None if column is None else self._read[name]

    def contradiction(self, value: str, column: str, *, sure: bool, factor: float = 1.0) -> str:
        """Return why a column is no error bar of a value, by letters (`sure`: by words); "" if it may be.

        `factor`: from the unit of the column to that of the value.
        """
        share = told(column).share
        error, values = self._numbers(column), self._numbers(value)
        if error is None or (middle := _median(error)) is None:
            return ""
        low, high = error.min(), error.max()
        if low < 0 and error.filter(error < 0).n_unique() > 2 * sure:  # type: ignore[operator]  # codes
            return "it has negative numbers"
        if (low, high) == (0.0, 1.0) and error.drop_nulls().n_unique() == 2:
            return "it holds 0 and 1 alone"
        is_told = sure and not re.match(r"(?i)std[_.\- ]", column)  # which may mean "standardised"
        if is_told and not share:
            return ""
        if share and not (middle < 1.0 if share == 1.0 else "%" in column or middle > 0.2):
            return f"its numbers are no {'per cent' if share < 1 else 'shares'} of the value"
        if is_told or share or values is None:
            return ""
        if not _is_smaller(factor * middle, values):
            return f"its numbers are as large as those of {value}"
        steps = _join(values - error / 2, values + error / 2) or _join(values, values + error)
        return f"its numbers are the steps of {value}" if steps else ""

    def is_small(self, name: str, value: str) -> bool:
        """Are the numbers fractions, positive, and much smaller than the spread of the values?"""
        error, values = self._numbers(name), self._numbers(value)
        if error is None or values is None or (middle := _median(error)) is None:
            return False
        is_whole = bool((error.round() == error).all())
        return not is_whole and bool((error >= 0).all()) and 2.0 * middle < float(values.std() or 0.0)  # type: ignore[arg-type]

    def lies_between(self, value: str, low: str, high: str) -> bool:
        """Do nearly all numbers of a column lie between those of two others?"""
        numbers = [self._numbers(name) for name in (low, value, high)]
        if any(each is None for each in numbers):
            return False
        below, middle, above = numbers
        return bool((((below <= middle) & (middle <= above) & (below < above)).mean() or 0.0) > 0.9)  # type: ignore[operator]

    def has_both_signs(self, name: str) -> bool:
        """Are there more than a few numbers below zero, as differences have them, and no code?"""
        numbers = self._numbers(name)
        return numbers is not None and numbers.filter(numbers < 0).n_unique() > 2

    def holds_signs(self, name: str) -> bool:
        """Does a column of text hold signs of limits (<, >) and nothing else?"""
        return bool(self.any_text(name, "^\\s*[<>]=?\\s*$")) and self.marks_limits(name)

    def are_bins(self, low: str, high: str) -> bool:
        """Do the intervals between two columns join, as the bins of a histogram?"""
        ends = self._numbers(low), self._numbers(high)
        return ends[0] is None or ends[1] is None or _join(ends[0], ends[1])

    def is_empty(self, name: str) -> bool:
        """Is there no number in any row of the column? Some readers call such a column one of strings."""
        is_empty = self._column(name) is not None and self.starts_empty(name)
        whole = self._table.columns.get(name)
        return is_empty and whole is not None and _has_nothing(whole, self._table.types[name])

    def marks_limits(self, name: str) -> bool:
        """Does the column call some values limits, and hold nothing but flags? The first rows of a file may
        have no limit."""
        column = self._column(name)
        if column is None:
            return False
        whole = self._table.columns.get(name)
        column = column if whole is None else whole
        is_of_values = bool(DETECTION.search(name))
        if str(column.dtype) == "Boolean":
            return whole is None or bool((~column).any() if is_of_values else column.any())
        if column.dtype.is_numeric():
            numbers = {*column.cast(float).fill_nan(None).drop_nulls().unique()[:9].to_list()}
            return numbers <= {-1.0, 0.0, 1.0} and (
                whole is None or bool(numbers & ({0.0} if is_of_values else {-1.0, 1.0}))
            )
        if str(column.dtype).partition("(")[0] not in TEXTS:
            return False
        signs = SIGNS_OF_DETECTIONS if is_of_values else SIGNS
        texts = {str(text).strip() for text in column.drop_nulls().unique()[:9]} - {"~"}
        meanings = [signs.get(text, signs.get(text.lower())) for text in texts]
        return None not in meanings and (whole is None or any(meanings))

    def has_signs(self, name: str) -> bool:
        """Do flags tell an upper limit from a lower one, as -1, texts and truth values do?"""
        numbers = self._numbers(name)
        return numbers is None or bool((numbers < 0).any())

    def is_float(self, name: str) -> bool:
        """Are the numbers of a column floats?"""
        column = self._column(name)
        return column is not None and column.dtype.is_float()

    def any_text(self, name: str, pattern: str) -> str:
        """Return the first text of a column that matches a pattern, "" without one."""
        column = self._column(name) if self._table.types.get(name) == "other" else None
        if column is None or str(column.dtype).partition("(")[0] not in TEXTS:
            return ""
        texts = self._table.columns.get(name, column).cast(str)
        matching = texts.filter(texts.str.contains(f"(?i){pattern}").fill_null(False)).head(1)
        return str(matching[0]) if len(matching) else ""

    def starts_empty(self, name: str) -> bool:
        """Are there rows, and no number in the first ones?"""
        column = self._column(name)
        return column is None or (len(column) > 0 and _has_nothing(column, self._table.types[name]))

    def n_distinct(self, name: str) -> tuple[int, int]:
        """Return the numbers of rows and of different texts or truth values; zeros where they are unknown."""
        n_rows = self._table.counted()
        column = None if n_rows is None or n_rows > LOOKED_AT else self._column(name)
        if column is None or str(column.dtype) == "Object":
            return 0, 0
        return len(column) - column.null_count(), column.n_unique()

    def is_whole(self, name: str) -> bool:
        """Are the numbers whole, for all that is known?"""
        numbers = self._numbers(name)
        return numbers is None or bool((numbers.round() == numbers).all())


def _is_smaller(middle: float, values: Series) -> bool:
    """Is an error bar smaller than the values or their spread, and not much larger than the latter?"""
    size, spread = _median(values.abs()), float(values.std() or 0.0)  # type: ignore[arg-type]
    return size is None or (middle < max(size, spread) and (middle < 3.0 * spread or not spread))


def _join(low: Series, high: Series) -> bool:
    """Do most of the intervals between these ends begin where another one ends?"""
    import polars as pl

    ends = pl.DataFrame({"low": low, "high": high}).drop_nulls().unique().sort("low")
    gaps = (ends["low"].shift(-1) - ends["high"]).abs()
    return bool(((gaps < 1e-3 * (ends["high"] - ends["low"])).mean() or 0.0) > 0.5)  # type: ignore[operator]


def _median(column: Series) -> float | None:
    return column.median()  # type: ignore[return-value]


def _has_nothing(column: Series, kind: str) -> bool:
    if column.null_count() == len(column):
        return True
    if kind == "number":
        if not column.dtype.is_float():
            return False
        first = column[0]  # which a column that holds something nearly always has
        return (first is None or first != first) and bool(column.drop_nulls().is_nan().all())
    return kind == "other" and all(map(is_missing, column.to_list()))
