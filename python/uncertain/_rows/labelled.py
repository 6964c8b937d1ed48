"""Rows without a target: with ``on_missing="auto"`` they are left out before anything else is looked at.

What else is missing in them (weights, groups, error bars) is nobody's business then, and nothing is learned
from them, so that a fit is the same as one of the rows that have a target. Methods that learn from rows
without a target get all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._data.targets import is_missing
from .._data.typing import ColumnOrValues, Ints, NativeColumn
from .._tables import Table
from ..exceptions import UncertainError
from .reader import PerRow
from .source import Source


def rows_with_target(source: Source, target: ColumnOrValues) -> Ints | None:
    """The numbers of the rows that have one; None for all rows."""
    if not isinstance(target, str):
        at = _present(target)
    else:
        at = None if source.table is None else rows_with(source.table, target)
    if at is not None and not len(at):
        what = target if isinstance(target, str) else "target"
        raise UncertainError(f"{what}: no row has a value; nothing can be learned from the table")
    return at


def of_these_rows(source: Source, per_row: PerRow, at: Ints, names: list[str]) -> tuple[Source, PerRow]:
    """These columns of some rows, and what was given for each of them."""
    y_cov = per_row["y_cov"]
    per_row = {role: _taken(values, at, source.n_rows) for role, values in per_row.items()}
    if y_cov is not None:
        per_row |= {"y_cov": np.asarray(y_cov)[np.ix_(at, at)]}
    if source.table is None:
        return Source(source.rows[at]), per_row
    present = [name for name in dict.fromkeys(names) if name in source.table.types]
    return Source(source.table.rows(present, at)), per_row


def rows_with(table: Table, column: str) -> Ints | None:
    """The numbers of the rows that have a value in a column: a finite number, or text that is not blank.

    None if all have.
    """
    (values,) = table.series([column])
    if values.dtype.is_float():
        there = values.is_finite().fill_null(False)
    elif str(values.dtype) == "String":
        there = (values.str.strip_chars() != "").fill_null(False)
    elif str(values.dtype) == "Object":
        return _present(values.to_list())
    else:
        there = values.is_not_null()
    return None if there.all() else there.arg_true().to_numpy().astype(np.int64)


def _present(values: NativeColumn) -> Ints | None:
    """The numbers of the values that are there; None for all."""
    array = values if isinstance(values, np.ndarray) and not np.ma.isMaskedArray(values) else None
    if array is not None and array.dtype.kind in "biuU":
        return None
    if array is not None and array.dtype.kind == "f":
        there = np.isfinite(array)
    else:
        listed = values.tolist() if hasattr(values, "tolist") else list(values)
        there = np.array(
            [not (is_missing(value) or value in ("", np.inf, -np.inf)) for value in listed], dtype=bool
        )
    return None if there.all() else np.flatnonzero(there)


def _are_names(values: NativeColumn) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(name, str) for name in values)


def _taken(values: NativeColumn, at: Ints, n_rows: int) -> Any:
    """Those of some rows; columns stay, and so does what has another length, which is refused later."""
    if values is None or isinstance(values, str) or len(values) != n_rows or _are_names(values):
        return values
    if hasattr(values, "iloc"):
        return values.iloc[at]
    return values[at] if hasattr(values, "dtype") else [values[k] for k in at.tolist()]
