"""Roles of columns by what they hold: names propose (`find`), numbers confirm or refuse.

An error column by letters or place that is negative somewhere, or larger than the values themselves, is a
value. Shares of the value are of the order that their name says. A column without a number is no error bar.
Flags of limits hold signs (<, >), truth values or -1, 0 and 1.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from .._data.column import is_missing
from .._data.warn import warn
from ..exceptions import ColumnError, UncertainWarning
from .columns import Columns, require
from .error_names import ErrorBar, told
from .find import EMPTY, find_columns, proposed
from .frame import refuse_strange
from .table import Table, as_table
from .unread import reasons, reasons_text, unsaid_level, unsaid_levels

if TYPE_CHECKING:
    from polars import Series

SIGNS = {"<": -1, "<=": -1, ">": 1, ">=": 1, "=": 0, "": 0}
"""Meanings of flags that are strings, such as the l_ columns of VizieR have."""


def find_filled(asked: Columns, table: Table, columns: Columns | None = None) -> Columns:
    """`find_columns`, and again where error columns that were found by name are none by what they hold.

    `columns` are those that were found before, if they were.
    """
    columns = find_columns(asked, table) if columns is None else columns
    if asked.found.settled:
        return columns
    if not asked.errors:
        refused = contradictions(table, columns)
        columns = find_columns(asked, table, refused) if refused else columns
        if empty := empty_errors(table, columns):
            texts = [f"{feature} ({', '.join(own)})" for feature, own in empty.items()]
            message = f"error columns without a number in any row count as absent: {', '.join(texts)}"
            warn(message, UncertainWarning)
            names = [column for own in empty.values() for column in own]
            columns = find_columns(asked, table, refused | dict.fromkeys(names, EMPTY))
        if unsaid := unsaid_levels(columns):
            warn(unsaid, UncertainWarning)
    flags = {value: flag for value, flag in columns.found.flags.items() if _marks_limits(table, flag)}
    columns = columns.with_found(flags=flags)
    return columns.with_found(reasons=reasons(columns, table.types, table))


# -- one line a column


def read_columns(table: Any, target: str | None = None) -> Columns:
    """Return the roles of columns, with a line on each; see `Columns.find`."""
    from .files import open_files  # which imports Polars

    asked = Columns(target)
    opened = open_files(table) if isinstance(table, (str, os.PathLike)) else as_table(table)
    if opened is None:
        refuse_strange(table)
        raise ColumnError(f"data of type {type(table).__name__} has no columns. Pass a table.")
    opened.load(opened.names)
    if target is not None:
        require(target, opened.names)
    last: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertainWarning)  # the lines say it
        try:
            columns = find_filled(asked, opened)
        except ColumnError as error:
            columns, last = proposed(asked, opened), [str(error)]
            columns = columns.with_found(reasons=reasons(columns, opened.types, opened))
    stds = [*columns.found.target_stds, *columns.found.target_pairs_of_arms]
    columns = columns.changed(target_std=stds[0]) if len(stds) == 1 else columns
    rows = [(name, *_described(name, columns)) for name in opened.names]
    widths = [max(len(row[k]) for row in rows) for k in range(2)] if rows else [0, 0]
    lines = [f"{name:<{widths[0]}}  {what:<{widths[1]}}  {why}".rstrip() for name, what, why in rows]
    return columns.with_found(lines=(*lines, *last))


Columns.reader = staticmethod(read_columns)


def _described(name: str, columns: Columns) -> tuple[str, str]:
    """Return what a column is, of which, and why, or what takes it."""
    found = columns.found
    for value, bar in (*columns.error_bars.items(), *_bars_of_target(columns)):
        if name in bar.columns:
            how = "; by its place and numbers" if name in found.unsure else ""
            how += "; level not told: one standard deviation" if unsaid_level(columns, value, bar) else ""
            return f"{_part(name, bar)} of {value}", (bar.conversion + how).strip("; ")
    if name == columns.target:
        return "target", ""
    for (a, b), column in (*columns.pairs("corr").items(), *columns.pairs("cov").items()):
        if name == column:
            return f"correlation or covariance of {a} and {b}", ""
    if name in columns.used:
        return ("exact value" if name in (columns.exact or ()) else "value with an error bar"), ""
    for doubt in found.doubts:
        if name in doubt.bar.columns:
            what = f"{_part(name, doubt.bar)}{f' of {doubt.of[0]}' if doubt.of else ''}?"
            return what, reasons_text(columns, [name], "not read: ")
    return "left out", reasons_text(columns, [name], "")


def _bars_of_target(columns: Columns) -> list[tuple[str, ErrorBar]]:
    bar = columns.bar_of_target()
    return [] if bar is None or columns.target is None else [(columns.target, bar)]


def _part(name: str, bar: ErrorBar) -> str:
    """Return what part of an error bar a column is."""
    if len(bar.columns) == 1:
        return "variance" if bar.kind == "var" else "error bar"
    upper = (name == bar.columns[0]) == (bar.kind == "arms")
    return f"{'upper' if upper else 'lower'} {'arm' if bar.kind == 'arms' else 'limit'}"


# -- what numbers say


def empty_errors(table: Table, columns: Columns) -> dict[str, tuple[str, ...]]:
    """By feature the error columns of which one is null or NaN in every row."""
    bars = {feature: bar.columns for feature, bar in columns.error_bars.items()}
    return {feature: own for feature, own in bars.items() if any(_is_empty(table, name) for name in own)}


def contradictions(table: Table, columns: Columns) -> dict[str, str]:
    """Return error columns that were found by name and are none by their numbers, and why."""
    bars = [*columns.error_bars.items()]
    if columns.target is not None and columns.found.target_stds:
        bars += [(columns.target, ErrorBar("std", (name,))) for name in columns.found.target_stds]
    refused: dict[str, str] = {}
    for value, bar in bars:
        unsure, shares = columns.found.unsure & {*bar.columns}, told(bar.columns[0]).share
        is_number = bar.columns[0] in table.names and table.types[bar.columns[0]] == "number"
        if len(bar.columns) > 1 or not (unsure or shares) or not is_number:
            continue
        [error] = table.series(bar.columns)
        if (error < 0).any():
            refused[bar.columns[0]] = "it has negative numbers"
        elif shares and _median(error) is not None and not _is_share(bar.columns[0], error, shares):
            refused[bar.columns[0]] = (
                f"its numbers are no {'per cent' if shares < 1 else 'shares'} of the value"
            )
        elif (
            unsure and table.types.get(value) == "number" and not _is_smaller(error, table.series([value])[0])
        ):
            refused[bar.columns[0]] = f"its numbers are as large as those of {value}"
    return refused


def _is_share(name: str, error: Series, share: float) -> bool:
    """Are the numbers of the order of per cent (.01), or of shares of one?"""
    middle = _median(error)
    return middle is None or (middle < 1.0 if share == 1.0 else "%" in name or middle > 0.2)


def _is_smaller(error: Series, values: Series) -> bool:
    """Are the numbers smaller than the values, or than their spread?"""
    middle, size = _median(error), _median(values.abs())
    spread = values.cast(float).fill_nan(None).std()
    return middle is None or size is None or middle < max(size, float(spread or 0.0))  # type: ignore[arg-type]


def _median(column: Series) -> float | None:
    return column.cast(float).fill_nan(None).median()  # type: ignore[return-value]


def _is_empty(table: Table, name: str) -> bool:
    """Is there no number in the rows of the column? Some readers call such a column one of strings."""
    [column] = table.series([name])
    if column.null_count() == len(column):
        return len(column) > 0
    if table.types[name] == "number":
        if not column.dtype.is_float():
            return False
        first = column[0]  # which a column that holds something nearly always has
        return (first is None or first != first) and bool(column.drop_nulls().is_nan().all())
    return table.types[name] == "other" and all(map(is_missing, table.values(name)))


def _marks_limits(table: Table, name: str) -> bool:
    """Does the column call some values limits, and hold nothing but flags?"""
    import polars as pl

    [column] = table.series([name])
    if column.dtype == pl.Boolean:
        return bool(column.any())
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        texts = {str(text).strip() for text in column.drop_nulls().unique()[:9]}
        return texts <= {*SIGNS, "~"} and bool(texts & {"<", ">", "<=", ">="})
    if not column.dtype.is_numeric():
        return False
    numbers = {*column.cast(float).fill_nan(None).drop_nulls().unique()[:9].to_list()}
    return numbers <= {-1.0, 0.0, 1.0} and bool(numbers & {-1.0, 1.0})
