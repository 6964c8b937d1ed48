"""Columns of Polars from those of any library, and from arrays.

Arrow columns and the numbers of NumPy arrays are taken over without a copy; strided ones, those of another
byte order and Python objects are copied. Arrays and astropy's columns come down to a plain array and a mask.
A column of shape (n, d) or (n, d, d) is one of lists; masked values are null.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from .._data.array import GaussianArray
from .._data.arrow_rows import struct_type
from .._data.arrow_types import labelled
from .._data.typing import Array, ArrowStream, Booleans, ColumnType, NativeColumn, NativeTable
from .._data.units import Unit, as_unit
from ..exceptions import ColumnError


def to_series(column: NativeColumn, name: str) -> pl.Series:
    """Return a column of Polars; ColumnError for what has no values of one type per row."""
    library = type(column).__module__.partition(".")[0]
    if library == "polars":
        return column.alias(name)  # type: ignore[no-any-return]
    if library == "pyarrow":
        return _of_arrow(column, name)
    if library == "pandas":
        return _of_pandas(column, name)
    if isinstance(column, GaussianArray):
        return pl.DataFrame(column.to_arrow(name)).to_series()
    data, mask = _pieces(column, name)
    if data.dtype.kind in "fiub":
        numbers = pl.Series(name, native_numbers(data))
        return numbers if mask is None else _with_nulls(numbers, mask)
    if data.dtype.kind in "Vc":
        raise _not_numbers(column, name)
    if data.dtype.kind == "S":  # FITS has bytes for text
        data = np.char.rstrip(np.char.decode(data, "utf-8", "replace"))
    if mask is None and data.dtype.kind in "UMm" and data.ndim == 1:
        return pl.Series(name, data)
    values = data.tolist()
    if mask is not None:  # of several values in a row all are
        values = [None if np.all(gone) else value for value, gone in zip(values, mask, strict=True)]
    return series_from_objects(values, name)


def series_from_batches(table: NativeTable) -> list[pl.Series]:
    """Return the columns of a table or batch of pyarrow, in its chunks.

    Extension types that are not registered with pyarrow stand in the fields alone.
    """
    made = []
    for field, column in zip(table.schema, table.columns, strict=True):
        words = field.metadata or {}
        about = [
            words.get(b"ARROW:extension:" + key, b"").decode(errors="replace")
            for key in (b"name", b"metadata")
        ]
        made.append(labelled(_of_arrow(column, field.name), *about))
    return made


def column_types(columns: Iterable[pl.Series]) -> dict[str, ColumnType]:
    """Return what columns hold in each row, by their types; the last of a name counts."""
    return {column.name: _column_type(column.dtype) for column in columns}


def _column_type(dtype: Any) -> ColumnType:
    if dtype.is_numeric():
        return "number"
    if (dtype.is_nested() or hasattr(dtype, "ext_storage")) and struct_type(dtype) is not None:
        return "distribution"
    return "list" if dtype.is_nested() else "other"


def column_unit(column: NativeColumn) -> Unit:
    """Return astropy's unit of one of its columns, or of an array that has one."""
    return as_unit(getattr(getattr(column, "unmasked", column), "unit", None))


def series_from_objects(values: Iterable[object], name: str) -> pl.Series:
    """Return a column of Python objects, None for gaps; objects they stay if they are of no one type."""
    values = list(values)
    try:
        if any(isinstance(value, Decimal) for value in values):  # of which Polars reads no NaN
            values = [float(value) if isinstance(value, Decimal) else value for value in values]
        if any(value is None or isinstance(value, dict) for value in values):  # nor gaps among arrays
            values = [_plain(value) for value in values]
        return pl.Series(name, values)
    except (TypeError, ValueError, ArithmeticError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)


def _plain(value: Any) -> Any:
    """Return lists for arrays, also in a dictionary, which pandas makes of a struct."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (np.ndarray, list)) else value


def native_numbers(values: Array) -> Array:
    """Return numbers as Polars takes them over: contiguous, in this machine's byte order, floats of 4 or 8
    bytes, and aligned, which memory from another process need not be."""
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    return np.require(values, values.dtype.newbyteorder("="), ["C", "A"])


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


def _of_pandas(column: NativeColumn, name: str) -> pl.Series:
    dtype = column.dtype
    if getattr(dtype, "kind", "O") == "c":
        raise _not_numbers(column.to_numpy(), name)
    if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
        return pl.Series(name, native_numbers(column.to_numpy()))
    column = sys.modules["pandas"].Series(column)
    if not (isinstance(dtype, np.dtype) and dtype.kind == "O"):
        with suppress(ImportError, TypeError, ValueError, pl.exceptions.PolarsError):  # by pyarrow
            return pl.Series(_Stream(column) if hasattr(column, "__arrow_c_stream__") else column).alias(name)
    return series_from_objects(column.astype(object).where(column.notna(), None), name)


def _pieces(column: Any, name: str) -> tuple[Array, Booleans | None]:
    """Return array and mask (None if nothing is masked) of an array, a Quantity, a Column or a list."""
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
        raise _not_numbers(column, name)
    mask = None if mask is None else np.broadcast_to(np.asarray(mask), data.shape)
    return data, mask if mask is not None and mask.any() else None


def _not_numbers(column: NativeColumn, name: str) -> ColumnError:
    """Return why a column of another type (astropy's Time, SkyCoord, ...) cannot be read."""
    kind = type(column).__name__ if type(column) is not np.ndarray else f"array of {column.dtype}"
    make = {"Time": f"table[{name!r}].jd", "SkyCoord": f"table[{name!r}].ra.deg"}.get(kind)
    make = f"table[{name!r}].real" if "complex" in kind else make
    how = f", such as {make}" if make else ""
    return ColumnError(
        f"column {name!r} is of type {kind}, not numbers: make a column of numbers of it first{how}"
    )


def _with_nulls(numbers: pl.Series, mask: Booleans) -> pl.Series:
    """Return the numbers with null where `mask` is True."""
    flat = numbers if numbers.dtype != pl.Array else numbers.reshape((-1,))
    holed = flat.set(pl.Series(np.ascontiguousarray(mask).ravel()), None)
    return holed if flat is numbers else holed.reshape((len(numbers), -1))
