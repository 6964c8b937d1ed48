"""How the columns of a table are read: roles by names and numbers, what is said, and one line each."""

from __future__ import annotations

import os
import warnings
from typing import Any

from .._data.warn import warn
from ..exceptions import ColumnError, UncertainWarning
from .columns import Columns, require
from .contents import Look
from .error_bar import ErrorBar
from .find import find_columns, proposed
from .frame import refuse_strange
from .rules import NO_NUMBER
from .table import Table, as_table
from .unread import reasons, reasons_text, unsaid_level, unsaid_levels


def read_roles(asked: Columns, table: Table, look: Look | None = None) -> Columns:
    """`find_columns` by names and numbers, with why columns are left out; what is doubtful is said.

    `look`: at the numbers, if the table has none.
    """
    look = Look(table) if look is None else look
    columns = find_columns(asked, table, look)
    if asked.found.settled:
        return columns
    if not asked.errors:
        if columns.found.empty:
            empty = [f"{value} ({', '.join(own)})" for value, own in columns.found.empty.items()]
            text = f"error columns without a number in any row count as absent: {', '.join(empty)}"
            warn(text, UncertainWarning)
        if unsaid := unsaid_levels(columns):
            warn(unsaid, UncertainWarning)
        for value, bar in columns.error_bars.items():
            if bar.kind == "var" and {*bar.columns} <= columns.found.unsure:
                warn(f"{bar} is read as the variance of {value} (std={ {value: str(bar)}!r} takes it as "
                     "standard deviation)", UncertainWarning)  # fmt: skip
    for name in columns.scalars:
        if text := look.any_text(name, NO_NUMBER):
            warn(
                f"{name}: {text!r} and the like hold no number, and are taken as unknown. Write '<0.5' where "
                "the limit is known.", UncertainWarning,
            )  # fmt: skip
    return columns.with_found(reasons=reasons(columns, table.types, look))


def read_loaded(asked: Columns, table: Table, first: Columns | None = None) -> Columns:
    """`read_roles` by all rows; of a query the columns that are used are collected at once; `first`: the
    columns by its first rows, where they are known."""
    columns = find_columns(asked, table, Look(table)) if first is None else first
    for last in (False, True):
        columns = read_roles(asked, table) if last else columns  # what holds no number has no role
        found = columns.found
        used = {*found.of_target, *found.target_pairs.columns, *found.flags.values()}
        table.load({*table.names} - {*found.ignored} | used)
    return columns


def find(table: Any, target: str | None = None) -> Columns:
    """Return the roles of a table's columns, with a line on each: `Columns.find`."""
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
            columns = read_roles(asked, opened)
        except ColumnError as error:
            look = Look(opened)
            columns, last = proposed(asked, opened, look), [str(error)]
            columns = columns.with_found(reasons=reasons(columns, opened.types, look))
    stds = [*columns.found.target_stds, *columns.found.target_pairs_of_arms]
    columns = columns.changed(target_std=stds[0]) if len(stds) == 1 else columns
    rows = [(name, *_described(name, columns)) for name in opened.names]
    if last:  # nothing is read
        known = ("target", "left out")
        rows = [(name, what + "?" * (what not in known and what[-1] != "?"), why) for name, what, why in rows]
    widths = [max(len(row[k]) for row in rows) for k in range(2)] if rows else [0, 0]
    lines = [f"{name:<{widths[0]}}  {what:<{widths[1]}}  {why}".rstrip() for name, what, why in rows]
    return columns.with_found(lines=(*lines, *last))


Columns.reader = staticmethod(find)


def _described(name: str, columns: Columns) -> tuple[str, str]:
    """Return what a column is, of which, and why, or what takes it."""
    found, of_target = columns.found, columns.bar_of_target()
    for value, bar in (*columns.error_bars.items(), (columns.target or "", of_target)):
        if bar is not None and name in bar.columns:
            how = "; by its place and numbers" if name in found.unsure else ""
            how += "; level not told: one standard deviation" if unsaid_level(columns, value, bar) else ""
            part = "error bar" if bar is of_target else _part(name, bar)
            return f"{part} of {value}", (bar.conversion + how).strip("; ")
    if name == columns.target:
        return "target", ""
    for (a, b), column in (*columns.pairs("corr").items(), *columns.pairs("cov").items()):
        if name == column:
            return f"correlation or covariance of {a} and {b}", ""
    for kind, column in columns.lists.items():
        if name == column:
            return f"{ {'std': 'error bar', 'var': 'variance'}.get(kind, kind) } of {columns.mean}", ""
    if name in {*columns.used, *columns.error_bars}:
        return ("exact value" if name in (columns.exact or ()) else "value with an error bar"), ""
    for doubt in found.doubts:
        if name in doubt.bar.columns:
            what = f"{_part(name, doubt.bar)}{f' of {doubt.of[0]}' if doubt.of else ''}?"
            return what, reasons_text(columns, [name], "not read: ")
    return "left out", reasons_text(columns, [name], "")


def _part(name: str, bar: ErrorBar) -> str:
    """Return what part of an error bar a column is."""
    if len(bar.columns) == 1:
        return "variance" if bar.kind == "var" else "error bar"
    upper = (name == bar.columns[0]) == (bar.kind == "arms")
    return f"{'upper' if upper else 'lower'} {'arm' if bar.kind == 'arms' else 'limit'}"
