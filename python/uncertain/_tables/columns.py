"""From a column of any library, or an array, to a column of Polars.

Arrow columns and the numbers of NumPy arrays are taken over without a copy; strided ones, those of another
byte order and Python objects are copied. Arrays and astropy's columns come down to a plain array and a mask
(`pieces`). A column of shape (n, d) or (n, d, d) is one of lists; what is masked is null.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._data.arrow_rows import struct_type
from .._data.arrow_types import labelled
from .._data.typing import Array, ArrowStream, Booleans, ColumnType, NativeColumn
from .._data.units import Unit, as_unit
from ..exceptions import ColumnError


class Pieces(NamedTuple):
    """A column of an array type."""

    data: Array
    """The plain array, without unit and mask."""
    mask: Booleans | None
    """True where a value is missing; None if none is."""


def to_series(column: NativeColumn, name: str) -> pl.Series:
    """A column in Polars; ColumnError for what has no values of one type per row."""
    library = _library(column)
    if library == "polars":
        return column.alias(name)  # type: ignore[no-any-return]
    if library == "pyarrow":
        return _of_arrow(column, name)
    if library == "pandas":
        return _of_pandas(column, name)
    data, mask = pieces(column, name)
    if data.dtype.kind == "V":
        raise not_numbers(column, name)
    if data.dtype.kind in "fiub":
        numbers = pl.Series(name, native_numbers(data))
        return numbers if mask is None else _with_nulls(numbers, mask)
    if data.dtype.kind == "S":  # FITS has bytes for text
        data = np.char.rstrip(np.char.decode(data, "utf-8", "replace"))
    if mask is None and data.dtype.kind in "UMm" and data.ndim == 1:
        return pl.Series(name, data)
    values = data.tolist()
    if mask is not None:  # of several values in a row all are
        values = [None if np.all(gone) else value for value, gone in zip(values, mask, strict=True)]
    return series_from_objects(values, name)


def column_type(column: NativeColumn) -> ColumnType:
    """What a column holds in each row, by its type; of Python objects, by the first of them."""
    library = _library(column)
    if library == "polars":
        return series_types([column])[0]
    if library == "pyarrow":
        return _type_of_arrow(column.type)
    if library == "pandas":
        if getattr(column.dtype, "kind", "O") in "fiu":
            return "number"
        first = next(iter(column[:1]), None)
        nested = isinstance(first, (list, tuple, np.ndarray)) or "list" in str(column.dtype)
        return "list" if nested else "other"
    if not isinstance(column, (np.ndarray, list, tuple, range)):  # mixin columns of astropy, such as Time
        return "other"
    data = pieces(column, "").data
    if data.ndim > 1 or (
        data.dtype.kind == "O" and isinstance(next(iter(data), 0), (list, tuple, np.ndarray))
    ):
        return "list"
    return "number" if data.dtype.kind in "fiu" else "other"


def series_types(columns: Iterable[pl.Series]) -> list[ColumnType]:
    """What columns of Polars hold in each row."""
    return [_series_type(column.dtype) for column in columns]


def _series_type(dtype: Any) -> ColumnType:
    if dtype.is_numeric():
        return "number"
    if (dtype.is_nested() or hasattr(dtype, "ext_storage")) and struct_type(dtype) is not None:
        return "distribution"
    return "list" if dtype.is_nested() else "other"


def column_units(names: Iterable[str], columns: Iterable[NativeColumn]) -> dict[str, Unit]:
    """astropy's units of its own columns, and of arrays, that have one."""
    units = {name: _column_unit(column) for name, column in zip(names, columns, strict=True)}
    return {name: unit for name, unit in units.items() if unit is not None}


def _column_unit(column: NativeColumn) -> Unit:
    if _library(column) in ("polars", "pyarrow", "pandas"):
        return None
    return as_unit(getattr(getattr(column, "unmasked", column), "unit", None))


def pieces(column: Any, name: str) -> Pieces:
    """Array and mask of an array, a masked array, a Quantity, an astropy Column or a list."""
    mask = getattr(column, "mask", None)
    data = getattr(column, "unmasked", column)
    if isinstance(data, np.ndarray):
        data = np.asarray(np.ma.getdata(getattr(data, "value", data)))
    elif isinstance(data, (list, tuple, range)) or hasattr(data, "__array__"):
        try:
            data = np.asarray(data)
        except ValueError:  # lists of different lengths
            data = np.fromiter(data, dtype=object, count=len(data))
    else:
        raise not_numbers(column, name)
    mask = None if mask is None else np.broadcast_to(np.asarray(mask), data.shape)
    return Pieces(data, mask if mask is not None and mask.any() else None)


def series_from_objects(values: Iterable[object], name: str) -> pl.Series:
    """Python objects, None for what is missing; objects they stay if they are of no one type."""
    values = list(values)
    try:
        if any(isinstance(value, Decimal) for value in values):  # of which Polars reads no NaN
            values = [float(value) if isinstance(value, Decimal) else value for value in values]
        if any(value is None for value in values):  # nor gaps among arrays
            values = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
        return pl.Series(name, values)
    except (TypeError, ValueError, ArithmeticError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)


def native_numbers(values: Array) -> Array:
    """Numbers as Polars takes them over: contiguous, in this machine's byte order, 4 or 8 bytes wide if they
    are floats, and aligned, which memory from another process need not be."""
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    return np.require(values, values.dtype.newbyteorder("="), ["C", "A"])


def not_numbers(column: NativeColumn, name: str) -> ColumnError:
    """Why a column of another type (astropy's Time, SkyCoord, ...) cannot be read."""
    kind = type(column).__name__ if type(column) is not np.ndarray else f"array of {column.dtype}"
    make = {"Time": f"table[{name!r}].jd", "SkyCoord": f"table[{name!r}].ra.deg"}.get(kind)
    how = f", such as {make}" if make else ""
    return ColumnError(
        f"column {name!r} is of type {kind}, not numbers: make a column of numbers of it first{how}"
    )


def require_codes(column: NativeColumn, name: str) -> None:
    """ColumnError for a code without an entry in pyarrow's dictionary, at which Polars panics.

    pyarrow makes such columns where it is told not to look (``safe=False``).
    """
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type):
        return
    first = 0
    for chunk in [column] if isinstance(column, pa.Array) else column.chunks:
        codes, count = chunk.indices, len(chunk.dictionary)
        wrong = compute.or_(compute.less(codes, 0), compute.greater(codes, count - 1))
        row = compute.index(wrong, True).as_py()
        if row >= 0:
            raise ColumnError(
                f"{name}: row {first + row} has code {codes[row].as_py()} of a dictionary of {count}: "
                "make the column again, with safe=True"
            )
        first += len(chunk)


class _Stream:
    """An Arrow column, whose other interfaces Polars is not to see: by this one it keeps the chunks."""

    def __init__(self, column: ArrowStream) -> None:
        self._column = column

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._column.__arrow_c_stream__(requested_schema)


def _of_arrow(column: NativeColumn, name: str) -> pl.Series:
    import pyarrow as pa

    chunks = [column] if isinstance(column, pa.Array) else column.chunks
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = _of_arrow(pa.chunked_array([chunk.storage for chunk in chunks], kind.storage_type), name)
        return labelled(stored, kind.extension_name, getattr(kind, "metadata", None))
    if pa.types.is_float16(kind):
        kind, chunks = pa.float32(), [chunk.cast(pa.float32()) for chunk in chunks]
    try:
        return pl.Series(_Stream(pa.chunked_array(chunks, kind))).alias(name)
    except (ValueError, pl.exceptions.PolarsError):  # such as views of lists; pyarrow casts them wrongly
        try:
            values = column.to_pylist()
        except (ValueError, pa.ArrowException) as error:  # such as structs with one name twice
            raise ColumnError(f"{name}: a column of type {kind} cannot be read ({error})") from None
        return series_from_objects(values, name)


def _type_of_arrow(kind: Any) -> ColumnType:
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    return "list" if "list" in str(getattr(kind, "storage_type", kind)) else "other"


def _of_pandas(column: NativeColumn, name: str) -> pl.Series:
    pandas = sys.modules["pandas"]
    column = column if isinstance(column, pandas.Series) else pandas.Series(column)
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
        return pl.Series(name, native_numbers(column.to_numpy()))
    if not (isinstance(dtype, np.dtype) and dtype.kind == "O"):
        with suppress(ImportError, TypeError, ValueError, pl.exceptions.PolarsError):  # by pyarrow
            return pl.Series(_Stream(column) if hasattr(column, "__arrow_c_stream__") else column).alias(name)
    return series_from_objects(column.astype(object).where(column.notna(), None), name)


def _with_nulls(numbers: pl.Series, mask: Booleans) -> pl.Series:
    """Null where `mask` is True."""
    flat = numbers if numbers.dtype != pl.Array else numbers.reshape((-1,))
    holed = flat.set(pl.Series(np.ascontiguousarray(mask).ravel()), None)
    return holed if flat is numbers else holed.reshape((len(numbers), -1))


def _library(column: NativeColumn) -> str:
    return type(column).__module__.partition(".")[0]
