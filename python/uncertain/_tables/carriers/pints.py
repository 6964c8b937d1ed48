"""Columns of pint: quantities, measurements, and quantities whose magnitudes are those of `uncertainties`.

Units go by their names, which astropy reads, as those of all other tables.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._data.installed import installed
from ..._data.typing import Array, NativeColumn
from .carrier import Carried, beside, first_object
from .ufloats import is_ufloat, numbers


def from_pint(column: NativeColumn, name: str) -> Carried | None:
    """An array with units, a pandas column of pint-pandas, or Python objects with units."""
    if type(getattr(column, "dtype", None)).__module__.startswith("pint_pandas"):
        column = column.values.quantity
    first = column if _is_quantity(column) else first_object(column)
    if not _is_quantity(first):
        return None
    units, unit = first.units, format(first.units, "~C")
    # Without astropy no unit is converted; pint converts those of one column.
    own = unit if unit and installed("astropy") else None
    plain = partial(_magnitudes, units)
    some: Any = first_object(plain(column)) if first is column else first.magnitude
    if not is_ufloat(some):
        return Carried(column, {name: lambda own: plain(own).astype(float)}, unit=own)
    value, std = (partial(numbers, attribute, name) for attribute in ("nominal_value", "std_dev"))
    return beside(name, column, lambda own: value(plain(own)), lambda own: std(plain(own)), own)


def _is_quantity(value: object) -> bool:
    return hasattr(value, "magnitude") and hasattr(value, "units") and hasattr(value, "m_as")


def _magnitudes(units: Any, column: NativeColumn) -> Array:
    """The numbers in these units; NaN for None."""
    if _is_quantity(column):
        return np.asarray(column.m_as(units))
    made = np.empty(len(column), dtype=object)
    made[:] = [value.m_as(units) if _is_quantity(value) else np.nan for value in column]
    return made
