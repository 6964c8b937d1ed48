"""Tables made of arrays: a dict of columns, and NumPy's structured arrays.

The columns of both, and of astropy, come down to a plain array, a mask and a unit (`pieces`). A column of
shape (n, d) or (n, d, d) is a column of lists; what is masked is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._data.array import GaussianArray
from .._data.typing import Booleans, Ints, Labels
from ..exceptions import ColumnError, ShapeError
from ._frames import native_numbers, of_series
from ._nulls import column_of, with_nulls
from ._table import Table, arrays_of
from ._units import as_unit, converted, unit_name


class Pieces(NamedTuple):
    """A column of an array type."""

    data: Any
    """The plain array, without unit and mask."""
    mask: Booleans | None
    """True where a value is missing; None if none is."""
    unit: Any
    """astropy's unit; None without."""


def pieces(column: Any, name: str) -> Pieces:
    """Array, mask and unit of an array, a masked array, a Quantity, an astropy Column or a list."""
    mask = getattr(column, "mask", None)
    data = getattr(column, "unmasked", column)
    unit = as_unit(getattr(data, "unit", None))
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
    return Pieces(data, mask if mask is not None and mask.any() else None, unit)


class ArrayTable(Table):
    """A table whose columns are arrays."""

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        """NumPy's memory, or an Arrow column where values are missing or of mixed types."""
        column = self.native_column(name)
        data, mask, own = pieces(column, name)
        if data.dtype.kind not in "fiu":
            return _objects(data, mask, name)
        data = native_numbers(converted(data, own, unit, power, name))
        return data if mask is None else with_nulls(data, mask)

    def unit(self, name: str) -> str | None:
        column = self.native_column(name)
        own = getattr(getattr(column, "unmasked", column), "unit", None)
        return unit_name(as_unit(own))

    def is_numeric(self, name: str) -> bool:
        data = _array(self.native_column(name), name)
        return data is not None and data.ndim == 1 and data.dtype.kind in "fiu"

    def is_nested(self, name: str) -> bool:
        """By the shape, of objects by the first of them."""
        data = _array(self.native_column(name), name)
        if data is None or data.ndim > 1 or not len(data):
            return data is not None and data.ndim > 1
        return data.dtype.kind == "O" and isinstance(data[0], (list, tuple, np.ndarray))

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        data, mask, own = pieces(self.native_column(name), name)
        if data.dtype.kind in "fiu":
            data = converted(data, own, unit, 1, name)
        found: list[Any] = _text(data).tolist()
        return found if mask is None else _holed(found, mask.tolist())

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        """The array itself, in a given unit."""
        data, mask, own = pieces(self.native_column(name), name)
        if mask is not None or data.ndim != 1 or data.dtype.kind not in "biufUS":
            return None
        if data.dtype.kind in "iuf":
            return np.asarray(converted(native_numbers(data), own, unit, 1, name))
        return np.asarray(_text(data))

    def new(self, columns: Mapping[str, Any], rows: GaussianArray | None) -> Any:
        """The same kind of table, from arrays; lists are columns of shape (n, d) and (n, d, d)."""
        return self._made(dict(columns) | arrays_of(rows))

    def result(self, columns: Mapping[str, Labels]) -> Any:
        return self._made({name: np.asarray(values) for name, values in columns.items()})

    def _made(self, columns: dict[str, Any]) -> Any:
        """A table of the same kind."""
        raise NotImplementedError


class DictTable(ArrayTable):
    """A dict of columns: arrays of one to three dimensions, lists or Series."""

    @property
    def names(self) -> list[str]:
        return list(self.native)

    @property
    def n_rows(self) -> int:
        """Number of rows; ShapeError if columns differ."""
        sizes = {name: len(column) for name, column in self.native.items()}
        if len(set(sizes.values())) > 1:
            first, other = next(iter(sizes)), next(n for n in sizes if sizes[n] != sizes[next(iter(sizes))])
            raise ShapeError(
                f"columns of one length make a table, but {first!r} has {sizes[first]} values and {other!r} "
                f"{sizes[other]}"
            )
        return next(iter(sizes.values()), 0)

    def _made(self, columns: dict[str, Any]) -> Any:
        return columns

    def slice(self, start: int, stop: int) -> Table:
        return DictTable({name: _sliced(column, start, stop) for name, column in self.native.items()})

    def take(self, name: str, rows: Ints) -> Any:
        """An array, or a part of the Series."""
        column = self.native_column(name)
        series = of_series(column, name)
        if series is not None:
            return series.take(name, rows)
        return column[rows] if isinstance(column, np.ndarray) else pieces(column, name).data[rows]

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        return {**self.native, **self.result(columns)}

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        """Of the Series of a library as that library's table, of arrays as above."""
        series = of_series(self.native_column(name), name)
        return super().numbers(name, unit, power) if series is None else series.numbers(name)

    def is_numeric(self, name: str) -> bool:
        series = of_series(self.native_column(name), name)
        return super().is_numeric(name) if series is None else series.is_numeric(name)

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        series = of_series(self.native_column(name), name)
        return super().array(name, unit) if series is None else series.array(name, unit)

    def is_nested(self, name: str) -> bool:
        series = of_series(self.native_column(name), name)
        return super().is_nested(name) if series is None else series.is_nested(name)

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        series = of_series(self.native_column(name), name)
        return super().values(name, unit) if series is None else series.values(name)

    def _at(self, place: int) -> Any:
        column = self.native[self.names[place]]
        if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
            raise ColumnError(f"column {self.names[place]!r} is {column!r}: a column has one value per row")
        return column


class StructuredTable(ArrayTable):
    """A structured array of NumPy (also a recarray): a field is a column."""

    @property
    def names(self) -> list[str]:
        return list(self.native.dtype.names)

    @property
    def n_rows(self) -> int:
        return len(self.native)

    def _made(self, columns: dict[str, Any]) -> Any:
        made = _structured(columns)
        return made.view(np.recarray) if isinstance(self.native, np.recarray) else made

    def slice(self, start: int, stop: int) -> Table:
        return StructuredTable(self.native[start:stop])

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """A structured array; masked if this one is."""
        own = {name: self.native[name] for name in self.names}
        return self._made(own | {name: np.asarray(values) for name, values in columns.items()})

    def _at(self, place: int) -> Any:
        return self.native[self.names[place]]


def _sliced(column: Any, start: int, stop: int) -> Any:
    """Some rows of a column of any kind."""
    return column.iloc[start:stop] if hasattr(column, "iloc") else column[start:stop]


def open_arrays(X: Any) -> Table | None:
    """A dict of columns or a structured array as a Table; None if it is something else."""
    if isinstance(X, Mapping) and len(X) and all(isinstance(name, str) for name in X):
        return DictTable(X)
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        if X.ndim != 1:
            raise ShapeError(f"a structured array of one dimension is a table, got shape {X.shape}")
        return StructuredTable(X)
    return None


def not_numbers(column: Any, name: str) -> ColumnError:
    """Why a column of another type (astropy's Time, SkyCoord, ...) cannot be read."""
    kind = type(column).__name__ if type(column) is not np.ndarray else f"array of {column.dtype}"
    make = {"Time": f"table[{name!r}].jd", "SkyCoord": f"table[{name!r}].ra.deg"}.get(kind)
    how = f", such as {make}" if make else ""
    return ColumnError(
        f"column {name!r} is of type {kind}, not numbers: make a column of numbers of it first{how}"
    )


def _array(column: Any, name: str) -> Any:
    """The column as an array; None for mixin columns of astropy, such as Time."""
    if isinstance(column, np.ndarray):
        return column
    return pieces(column, name).data if isinstance(column, (list, tuple, range)) else None


def _objects(data: Any, mask: Booleans | None, name: str) -> Any:
    """Lists, booleans, text: a column whose type the extension reads or refuses by name."""
    if data.dtype.kind in "VMm":
        raise not_numbers(data, name)
    return column_of(_holed(_text(data).tolist(), [] if mask is None else mask.tolist()), name)


def _text(data: Any) -> Any:
    """Bytes, which FITS has for text, as strings without their padding."""
    return np.char.rstrip(np.char.decode(data, "utf-8", "replace")) if data.dtype.kind == "S" else data


def _holed(values: list[Any], missing: list[Any]) -> list[Any]:
    """The same with None for rows that are masked (entirely, if a row has several values)."""
    if not missing:
        return values
    return [None if np.all(gone) else value for value, gone in zip(values, missing, strict=True)]


def _structured(columns: Mapping[str, Any]) -> Any:
    fields = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    masked = any(isinstance(column, np.ma.MaskedArray) for column in columns.values())
    n_rows = len(next(iter(columns.values())))
    made: Any = np.ma.empty(n_rows, dtype=fields) if masked else np.empty(n_rows, dtype=fields)
    for name, column in columns.items():
        made[name] = column
    return made
