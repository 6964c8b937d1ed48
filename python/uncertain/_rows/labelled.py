"""Rows without a target: with ``on_missing="auto"`` they are left out before anything else is looked at.

What else is missing in them (weights, groups, error bars) is nobody's business then, and nothing is learned
from them, so that a fit is the same as one of the rows that have a target. Methods that learn from rows
without a target get all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._data.column import rows_with_value
from .._data.typing import ColumnOrValues, Ints, NativeColumn
from .._tables.columns import OF_LAWS
from .._tables.table import Table
from ..exceptions import UncertainError
from .reader import PerRow
from .source import Source


def rows_with_target(source: Source, target: ColumnOrValues) -> Ints | None:
    """The numbers of the rows that have one; None for all rows."""
    if not isinstance(target, str):
        at = rows_with_value(target)
    else:
        at = None if source.table is None else rows_with(source.table, target)
    if at is not None and not len(at):
        what = target if isinstance(target, str) else "target"
        raise UncertainError(f"{what}: no row has a value; nothing can be learned from the table")
    return at


def of_these_rows(source: Source, per_row: PerRow, at: Ints, names: list[str]) -> tuple[Source, PerRow]:
    """These columns of some rows, and what was given for each of them."""
    y_cov = per_row["y_cov"]
    per_row = {
        role: values if role in OF_LAWS and _are_names(values) else _taken(values, at, source.n_rows)
        for role, values in per_row.items()
    }
    if y_cov is not None:
        per_row |= {"y_cov": np.asarray(y_cov)[np.ix_(at, at)]}
    if source.table is None:
        return Source(source.rows[at]), per_row
    present = [name for name in dict.fromkeys(names) if name in source.table.types]
    return Source(source.table.rows(present, at)), per_row


def rows_with(table: Table, column: str) -> Ints | None:
    """The numbers of the rows that have a value in a column; None if all have."""
    return rows_with_value(table.column(column))


def _are_names(values: NativeColumn) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(name, str) for name in values)


def _taken(values: NativeColumn, at: Ints, n_rows: int) -> Any:
    """Those of some rows; columns stay, and so does what has another length, which is refused later."""
    if values is None or isinstance(values, str) or len(values) != n_rows:
        return values
    if hasattr(values, "iloc"):
        return values.iloc[at]
    return values[at] if hasattr(values, "dtype") else [values[k] for k in at.tolist()]
