"""Error columns that were found by name, and by what they hold are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._data.column import is_missing
from .._data.warn import warn
from .._tables.columns import Columns
from .._tables.find import find_columns
from .._tables.table import Table
from ..exceptions import UncertainWarning

if TYPE_CHECKING:
    from polars import Series


def empty_errors(table: Table, columns: Columns) -> dict[str, tuple[str, ...]]:
    """By feature the error columns of which one is null or NaN in every row."""
    bars = {feature: bar.columns for feature, bar in columns.error_bars.items()}
    names = [name for own in bars.values() for name in own]
    if not bars:
        return {}
    series = zip(names, table.series(names), strict=True)
    empty = {name for name, column in series if is_empty(table, name, column)}
    return {feature: own for feature, own in bars.items() if not empty.isdisjoint(own)}


def is_empty(table: Table, name: str, column: Series) -> bool:
    """Is there no number in the rows of the column? Some readers call such a column one of strings."""
    if column.null_count() == len(column):
        return len(column) > 0
    if table.types[name] == "number":
        if not column.dtype.is_float():
            return False
        first = column[0]  # which a column that holds something nearly always has
        return (first is None or first != first) and bool(column.drop_nulls().is_nan().all())
    return table.types[name] == "other" and all(map(is_missing, table.values(name)))


def find_filled(asked: Columns, table: Table, columns: Columns | None = None) -> Columns:
    """`find_columns`, and again where error columns that were found by name are none: values with signs, and,
    after a warning, columns without a number.

    `columns` are those that were found before, if they were.
    """
    columns = find_columns(asked, table) if columns is None else columns
    if asked.errors or asked.found.settled:
        return columns
    unsure = sorted(columns.found.unsure)
    signed = signed_columns(table, unsure) if unsure else set()
    columns = find_columns(asked, table, signed) if signed else columns
    empty = empty_errors(table, columns)
    if not empty:
        return columns
    texts = [f"{feature} ({', '.join(own)})" for feature, own in empty.items()]
    message = f"error columns without a number in any row count as absent: {', '.join(texts)}"
    warn(message, UncertainWarning)
    return find_columns(asked, table, {*signed, *(column for own in empty.values() for column in own)})


def signed_columns(table: Table, names: Sequence[str]) -> set[str]:
    """Those that are negative somewhere: values that letters (dx, eTeff) call error bars."""
    read = zip(names, table.series(names), strict=True)
    return {name for name, column in read if (column < 0).any()}
