"""What stands in the place of a column that carries its error bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..._data.typing import ColumnType, NativeColumn
from ..._data.units import Unit

Part: TypeAlias = Callable[[NativeColumn], NativeColumn]
"""Takes one column out of one that carries its error bars."""


class Carried(NamedTuple):
    """Columns of numbers, or one of distributions."""

    column: NativeColumn
    """What the parts are taken of; of a query the same column of its schema."""
    parts: Mapping[str, Part]
    """By name, values before their error bars."""
    type: ColumnType = "number"
    """Of all parts."""
    unit: Unit = None
    """Of values and error bars."""
    kept: bool = False
    """Is the column a part of its own, of lists?"""


def beside(name: str, column: NativeColumn, value: Part, std: Part, unit: Unit = None) -> Carried:
    """Values and standard deviations: columns x and x_err."""
    return Carried(column, {name: value, f"{name}_err": std}, unit=unit)


def first_object(column: NativeColumn) -> Any:
    """The first value that is there in a column of Python objects; None for all other columns."""
    pandas = sys.modules.get("pandas")
    listed = isinstance(column, (list, tuple)) or (isinstance(column, np.ndarray) and column.ndim == 1)
    listed = listed or (pandas is not None and isinstance(column, pandas.Series))
    if not listed or getattr(getattr(column, "dtype", None), "kind", "O") != "O":
        return None
    gone = (None, getattr(pandas, "NA", None), getattr(pandas, "NaT", None))
    there = (value for value in column[:FIRST] if not any(value is one for one in gone))
    return next((value for value in there if not (isinstance(value, float) and value != value)), None)


FIRST = 100
"""Rows that are looked at to see what a column holds."""
