"""Columns of astropy: distributions that are given by samples, and `NDData` with its uncertainty."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from ..._data.typing import Array, Floats, NativeColumn
from ..._data.units import find_unit
from ...exceptions import ColumnError
from .carrier import Carried, Part, beside


def from_distribution(column: NativeColumn, name: str) -> Carried | None:
    """Samples become draws of each row's distribution; several features columns that were drawn together."""
    cls = getattr(sys.modules.get("astropy.uncertainty"), "Distribution", None)
    if cls is None or not isinstance(column, cls):
        return None
    unit = find_unit(column)
    if column.ndim == 1:
        return Carried(column, {name: partial(_samples, None)}, "distribution", unit)
    if column.ndim > 2:
        raise ColumnError(f"{name}: a Distribution of shape {column.shape} has more than two dimensions")
    parts: dict[str, Part] = {f"{name}{j}": partial(_samples, j) for j in range(column.shape[1])}
    return Carried(column, parts, "distribution", unit)


def _samples(feature: int | None, column: NativeColumn) -> Array:
    samples = column if feature is None else column[:, feature]
    samples = samples.distribution
    return np.ascontiguousarray(getattr(samples, "value", samples))


def from_nddata(column: NativeColumn, name: str) -> Carried | None:
    """One-dimensional data with an uncertainty: of standard deviations, variances or inverse variances."""
    if not isinstance(column, Readings):
        return None
    if column.values.ndim != 1:
        raise ColumnError(
            f"{name}: NDData of shape {column.values.shape} are not one number per row; make a column of each"
        )
    if column.std is None:
        return Carried(column, {name: lambda own: own.values}, unit=column.unit)
    return beside(name, column, lambda own: own.values, lambda own: own.std, column.unit)


class Readings:
    """What an NDData holds, as a column, which has a length."""

    def __init__(self, data: Any) -> None:
        self.unit = data.unit
        gone = False if data.mask is None else np.asarray(data.mask, dtype=bool)
        self.values: Floats = np.where(gone, np.nan, np.asarray(data.data, dtype=float))
        self.std: Floats | None = None
        if data.uncertainty is not None:
            from astropy.nddata import StdDevUncertainty

            std = data.uncertainty.represent_as(StdDevUncertainty)
            scale = 1.0 if std.unit is None or data.unit is None else float(std.unit.to(data.unit))
            self.std = np.where(gone, np.nan, np.asarray(std.array, dtype=float) * scale)

    def __len__(self) -> int:
        return len(self.values)


def as_column(values: NativeColumn) -> NativeColumn:
    """An NDData as something with a length, all else as it is."""
    cls = getattr(sys.modules.get("astropy.nddata"), "NDData", None)
    return Readings(values) if cls is not None and isinstance(values, cls) else values
