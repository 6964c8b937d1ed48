"""Columns of astropy whose distributions are given by samples."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from ..._data.typing import Array, NativeColumn
from ..._data.units import find_unit
from ...exceptions import ColumnError
from .carrier import Carried, Part


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
