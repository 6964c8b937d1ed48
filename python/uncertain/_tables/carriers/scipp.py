"""Columns of scipp: variables of one dimension with variances and a unit."""

from __future__ import annotations

import numpy as np

from ..._data.typing import Floats, NativeColumn
from ...exceptions import ColumnError
from .carrier import Carried, beside


def from_scipp(column: NativeColumn, name: str) -> Carried | None:
    """Values, and the square roots of their variances; those that a mask covers are missing."""
    if type(column).__module__.partition(".")[0] != "scipp":
        return None
    if column.ndim != 1:
        raise ColumnError(f"{name}: a scipp variable of dimensions {column.dims} is not one value per row")
    if str(column.dtype) in ("string", "bool", "datetime64") or column.unit is None:
        return Carried(column, {name: lambda own: np.asarray(own.values)}, "other")
    unit = None if str(column.unit) in ("dimensionless", "counts") else str(column.unit)
    if column.variances is None:
        return Carried(column, {name: _values}, unit=unit)
    return beside(name, column, _values, lambda own: np.sqrt(_covered(own, own.variances)), unit)


def _values(column: NativeColumn) -> Floats:
    return _covered(column, column.values)


def _covered(column: NativeColumn, numbers: NativeColumn) -> Floats:
    made = np.array(numbers, dtype=float)
    for mask in getattr(column, "masks", {}).values():
        made[mask.values] = np.nan
    return made
