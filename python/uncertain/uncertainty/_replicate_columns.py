"""Columns of a table of replicates: groups, measurements, and what describes a group.

A measurement varies within its group. A column that never does (a label, a site, an age) describes the group
and goes along with it. Numbers of recordings and identifiers vary as well but measure nothing, so whole
numbers are measurements only by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.column import read_column
from .._data.numbers import float_array
from .._data.options import refuse_if
from .._data.typing import Floats, Keywords
from .._data.warn import warn
from .._tables.columns import listing, require
from .._tables.table import Table
from ..exceptions import ColumnError, NotFiniteError, NullError, ShapeError, UncertainError, UncertainWarning

if TYPE_CHECKING:
    import polars as pl

Codes = NDArray[np.intp]


class Replicates(NamedTuple):
    """A table of replicates, taken apart."""

    codes: Codes
    """Number of each row's group, in the sorted order of the groups."""
    groups: list[str]
    """Names of the groups in messages."""
    features: list[str]
    values: Floats
    """Measurements, shape (n, d)."""
    kept: Keywords
    """Columns that describe the group, one value per group, as the table's library has them."""


def read_replicates(
    table: Table, by: Sequence[str], features: Sequence[str] | None, keep: Sequence[str]
) -> Replicates:
    """Sort the columns and read the measurements; errors name column, row and value."""
    _check_names(table, {"by": by, "keep": keep, "features": features})
    columns = dict(zip(table.names, table.series(table.names), strict=True))
    codes, first = _group_codes([columns[name] for name in by])
    groups = [", ".join(f"{name} = {columns[name][i]!r}" for name in by) for i in first.tolist()]
    changes = {name: _first_change(columns[name], codes, first) for name in table.names if name not in by}
    for name in keep:
        row = changes.pop(name)
        if row is not None:
            start, column = int(first[codes[row]]), columns[name]
            raise UncertainError(
                f"column {name!r} varies within group {groups[codes[row]]}: {column[start]!r} in row "
                f"{start}, {column[row]!r} in row {row}"
            )
    varying = [name for name, row in changes.items() if row is not None]
    measured = list(features or [name for name in varying if _is_fraction(columns[name])])
    if features is None and len(measured) < len(varying):
        left_out = listing([name for name in varying if name not in measured])
        warn(
            f"left out, as these vary within groups but are no columns of floats: {left_out}. Name the "
            "measurements with features=[...], or drop these columns.",
            UncertainWarning,
        )
    none = f"no column of floats varies within the groups of {', '.join(by)}. Name the measurements with "
    refuse_if(not measured, f"{none}features=[...].", ColumnError)
    values = np.stack([_numbers(table, name) for name in measured], axis=1)
    describe = [name for name, row in changes.items() if row is None and name not in measured]
    kept = {name: table.take(name, first) for name in (*by, *keep, *describe)}
    return Replicates(codes, groups, measured, finite(values, measured), kept)


def finite(values: Floats, names: Sequence[str] | None = None) -> Floats:
    """Return replicates of shape (n, d); the first that is no finite number is an error."""
    wrong = values.ndim != 2 or 0 in values.shape
    refuse_if(wrong, f"replicates: expected shape (n, d) with n, d >= 1, got {values.shape}", ShapeError)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        i, j = bad[0]
        where = f"column {names[j]!r}" if names else f"feature {j}"
        raise NotFiniteError(f"{where}, row {i}: {values[i, j]}; drop the replicate or fill it in")
    return values


def _check_names(table: Table, roles: Mapping[str, Sequence[str] | None]) -> None:
    role_of: dict[str, str] = {}
    for role, columns in roles.items():
        one = isinstance(columns, str)
        refuse_if(one, f"{role}={columns!r}: must be a list of column names, [{columns!r}]")
        none = role != "keep" and columns is not None and len(columns) == 0
        refuse_if(none, f"{role} = []: name at least one column")
        for name in columns or ():
            require(name, table.names)
            first = role_of.setdefault(name, role)
            refuse_if(first != role, f"column {name!r} is given as {first}= and as {role}=: choose one")


def _group_codes(columns: Sequence[pl.Series]) -> tuple[Codes, Codes]:
    """Number of each row's group, and the first row of every group; groups in sorted order."""
    codes = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        values = read_column(column, column.name, len(column), "groups")
        values.refuse_missing(f"column {column.name!r}", "is null; every replicate needs its group")
        keys, places = values.distinct()
        codes = codes * len(keys) + places
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return codes, first


def _first_change(column: pl.Series, codes: Codes, first: Codes) -> int | None:
    """First row that differs from the first row of its group; missing values are alike."""
    import polars as pl

    if column.dtype == pl.Object:
        column = pl.Series(map(repr, column))
    rows = column.ne_missing(column.gather(first[codes])).arg_true()
    return int(rows[0]) if len(rows) else None


def _is_fraction(column: pl.Series) -> bool:
    return column.dtype.is_float() or column.dtype.is_decimal()


def _numbers(table: Table, name: str) -> Floats:
    import polars as pl

    (column,) = table.series([name])
    if column.null_count():
        row = column.is_null().arg_max()
        raise NullError(f"column {name!r}, row {row} is null; drop the replicate or fill it in")
    if column.dtype.is_decimal():
        column = column.cast(pl.Float64)
    numbers = float_array(column.to_numpy(), f"column {name!r}")
    lists = f"column {name!r}: expected one number per row, got lists of them"
    refuse_if(numbers.ndim != 1, lists, ShapeError)
    return numbers
