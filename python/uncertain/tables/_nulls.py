"""Columns of Python objects, and columns with gaps, as something that the extension reads.

Polars or pyarrow make an Arrow column of them, whichever is installed. Without both, NumPy serves: gaps are
NaN then, which every policy for missing values treats as it treats a null.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from decimal import Decimal
from types import ModuleType
from typing import Any

import numpy as np

from .._data.typing import Booleans, Floats
from ..exceptions import ColumnError, RaggedError, UncertainError


def installed(module: str) -> bool:
    """Can the module be imported?"""
    return module in sys.modules or importlib.util.find_spec(module) is not None


def need_polars(what: str) -> ModuleType:
    """Polars; UncertainError with the command that installs it where it is missing."""
    if not installed("polars"):
        raise UncertainError(f'{what} needs Polars: pip install "uncertain-learn[polars]"')
    import polars

    return polars


def column_of(values: list[Any], name: str) -> Any:
    """Python objects, None for what is missing, as a column; ColumnError for what is of no one type."""
    if any(isinstance(value, Decimal) for value in values):  # of which Polars reads no NaN
        try:
            values = [float(value) if isinstance(value, Decimal) else value for value in values]
        except ValueError as error:  # a signalling NaN
            raise _mixed(name, error) from error
    if installed("polars"):
        import polars

        try:
            return polars.Series(values)
        except (TypeError, ValueError, ArithmeticError, polars.exceptions.PolarsError) as error:
            raise _mixed(name, error) from error
    if installed("pyarrow"):
        import pyarrow

        try:
            column = pyarrow.array(values)
        except (TypeError, ValueError, ArithmeticError, pyarrow.ArrowException) as error:
            raise _mixed(name, error) from error
        return column.cast(pyarrow.float64()) if pyarrow.types.is_decimal(column.type) else column
    return _numbers(values, name)


def with_nulls(data: Any, mask: Booleans) -> Any:
    """Numbers, or rows of them, as a column that is null where `mask` is True."""
    flat, gaps = data.ravel(), np.ascontiguousarray(mask).ravel()
    width = int(data[:1].size)
    if installed("polars"):
        import polars

        holed = polars.Series(flat).set(polars.Series(gaps), None)
        return holed if data.ndim == 1 else holed.reshape((len(data), width))
    if installed("pyarrow"):
        import pyarrow

        column = pyarrow.array(flat, mask=gaps)
        return column if data.ndim == 1 else pyarrow.FixedSizeListArray.from_arrays(column, width)
    return np.where(mask, np.nan, data)


def _numbers(values: Sequence[Any], name: str) -> Floats:
    """One number or one list of numbers per row as an array, NaN for what is missing."""
    present = [value for value in values if value is not None]
    if all(_is_number(value) for value in present):
        return np.asarray([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    strange = next((v for v in present if not isinstance(v, (list, tuple, np.ndarray))), None)
    if strange is not None:
        raise _type(name, strange)
    try:
        rows = [None if value is None else np.asarray(value, dtype=np.float64).ravel() for value in values]
    except (TypeError, ValueError) as error:
        raise _mixed(name, error) from error
    width = next(len(row) for row in rows if row is not None)
    for place, row in enumerate(rows):
        if row is not None and len(row) != width:
            raise RaggedError(
                f"{name}: row {place} has {len(row)} elements but row 0 has {width}; all rows must have one "
                "length"
            )
    return np.stack([np.full(width, np.nan) if row is None else row for row in rows])


def _is_number(value: object) -> bool:
    numbers = (int, float, Decimal, np.integer, np.floating)
    return isinstance(value, numbers) and not isinstance(value, bool)


def _type(name: str, value: object) -> ColumnError:
    found = {str: "strings", bool: "booleans", np.bool_: "booleans"}.get(type(value), type(value).__name__)
    return ColumnError(
        f"{name}: expected real numbers (float64, float32 or integers, plain or in lists), got {found}; cast "
        "the column first"
    )


def _mixed(name: str, error: Exception) -> ColumnError:
    return ColumnError(f"{name}: cannot be read as numbers or lists of them: {error}")
