"""Tables of Polars, pandas and pyarrow, whose memory the extension reads in place."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._data.array import GaussianArray
from .._data.typing import Ints, Labels
from ..exceptions import ParameterError
from ._nulls import column_of, installed, need_polars
from ._plain import decoded
from ._table import Table, arrays_of, plain_columns


class PolarsTable(Table):
    """A Polars DataFrame."""

    @property
    def names(self) -> list[str]:
        return list(self.native.columns)

    @property
    def n_rows(self) -> int:
        return int(self.native.height)

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        import polars

        column = self.native_column(name)
        # A column of nothing but nulls has no Arrow buffers to hand over; decimals are no floats yet.
        cast = column.dtype == polars.Null or isinstance(column.dtype, polars.Decimal)
        return column.cast(polars.Float64) if cast else column

    def is_numeric(self, name: str) -> bool:
        return bool(self.native_column(name).dtype.is_numeric())

    def is_nested(self, name: str) -> bool:
        return bool(self.native_column(name).dtype.is_nested())

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        return list(self.native_column(name).to_list())

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        """NumPy's memory, or strings by the places of their distinct values."""
        import polars

        column = self.native_column(name)
        dtype = column.dtype
        if column.null_count() or not len(column):
            return None
        if dtype in (polars.String, polars.Categorical, polars.Enum):
            distinct = (text := column.cast(polars.String)).unique()
            places = text.replace_strict(distinct, range(len(distinct)), return_dtype=polars.Int64)
            return decoded(places.to_numpy(), distinct.to_list())
        plain = dtype == polars.Boolean or dtype.is_float() or (dtype.is_integer() and dtype != polars.Int128)
        return np.asarray(column.to_numpy()) if plain else None

    def result(self, columns: Mapping[str, Labels]) -> Any:
        import polars

        return polars.DataFrame(plain_columns(columns))

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        return self.native.with_columns(self.result(columns).get_columns())

    def slice(self, start: int, stop: int) -> Table:
        return PolarsTable(self.native.slice(start, stop - start))

    def take(self, name: str, rows: Ints) -> Any:
        return self.native_column(name).gather(rows)

    def new(self, columns: Mapping[str, Any], rows: GaussianArray | None) -> Any:
        import polars

        return polars.DataFrame(dict(columns) | ({} if rows is None else polars.DataFrame(rows).to_dict()))

    def _at(self, place: int) -> Any:
        return self.native.to_series(place)


class PandasTable(Table):
    """A pandas DataFrame; the names of a column index of several levels are joined by "_"."""

    @property
    def names(self) -> list[str]:
        """Column names, in order; numbers as strings."""
        return [_joined(label) for label in self.native.columns]

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0])

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        """NumPy's memory where it holds numbers, else the Series."""
        column = self.native_column(name)
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "fiu":
            return native_numbers(column.to_numpy())
        if installed("pyarrow"):
            if hasattr(column, "__arrow_c_stream__"):
                return column
            import pyarrow

            return pyarrow.array(column)  # pandas 2
        return column_of(list(column.astype(object).where(column.notna(), None)), name)

    def is_numeric(self, name: str) -> bool:
        return getattr(self.native_column(name).dtype, "kind", "O") in "fiu"

    def is_nested(self, name: str) -> bool:
        """By the type, of objects by the first of them."""
        column = self.native_column(name)
        first = column.iloc[0] if len(column) else None
        return isinstance(first, (list, tuple, np.ndarray)) or "list" in str(column.dtype)

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        column = self.native_column(name)
        return list(column.astype(object).where(column.notna(), None))

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        """NumPy's memory, or categories and strings by their places."""
        import pandas

        column = self.native_column(name)
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            return np.asarray(column)
        if isinstance(dtype, pandas.CategoricalDtype):
            return decoded(column.cat.codes.to_numpy(), column.cat.categories.tolist())
        if isinstance(dtype, pandas.StringDtype):
            codes, distinct = pandas.factorize(column)
            return decoded(codes, list(distinct))
        return None

    def result(self, columns: Mapping[str, Labels]) -> Any:
        """A pandas DataFrame with the same index."""
        import pandas

        data = {name: np.asarray(values) for name, values in columns.items()}
        return pandas.DataFrame(data, index=self.native.index)

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """A pandas DataFrame with the same index; new names stand in the first level of several."""
        import pandas

        added = self.result(columns)
        levels = self.native.columns.nlevels
        if levels > 1:
            added.columns = pandas.MultiIndex.from_tuples(
                [(name, *[""] * (levels - 1)) for name in added.columns], names=self.native.columns.names
            )
        return pandas.concat([self.native, added], axis=1)

    def slice(self, start: int, stop: int) -> Table:
        return PandasTable(self.native.iloc[start:stop])

    def take(self, name: str, rows: Ints) -> Any:
        """A Series with an index of its own."""
        return self.native_column(name).iloc[rows].reset_index(drop=True)

    def new(self, columns: Mapping[str, Any], rows: GaussianArray | None) -> Any:
        """A pandas DataFrame; lists are flat arrays in columns of objects."""
        import pandas

        cells = {name: list(part.reshape(len(part), -1)) for name, part in arrays_of(rows).items()}
        return pandas.DataFrame(dict(columns) | cells)

    def _at(self, place: int) -> Any:
        return self.native.iloc[:, place]


class ArrowTable(Table):
    """A pyarrow Table or RecordBatch."""

    @property
    def names(self) -> list[str]:
        return list(self.native.schema.names)

    @property
    def n_rows(self) -> int:
        return int(self.native.num_rows)

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        import pyarrow

        column = self.native_column(name)
        return column.cast(pyarrow.float64()) if pyarrow.types.is_decimal(column.type) else column

    def is_numeric(self, name: str) -> bool:
        from pyarrow import types

        kind = self.native.schema.field(self._place(name)).type
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))

    def is_nested(self, name: str) -> bool:
        return "list" in str(self.native.schema.field(self._place(name)).type)

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        return list(self.native_column(name).to_pylist())

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        """NumPy's memory, or categories and strings by their places."""
        import pyarrow
        from pyarrow import types

        column = self.native_column(name)
        kind = column.type
        if column.null_count or not len(column):
            return None
        if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
            return np.asarray(column.to_numpy(zero_copy_only=False))
        text = kind.value_type if types.is_dictionary(kind) else kind
        if not (types.is_string(text) or types.is_large_string(text)):
            return None
        whole = pyarrow.chunked_array([column] if isinstance(column, pyarrow.Array) else column.chunks)
        encoded = whole.dictionary_encode().combine_chunks()
        if encoded.indices.null_count or encoded.dictionary.null_count:
            return None
        return decoded(encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist())

    def result(self, columns: Mapping[str, Labels]) -> Any:
        import pyarrow

        return pyarrow.table({name: pyarrow.array(v) for name, v in plain_columns(columns).items()})

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """A pyarrow Table; of a RecordBatch, too."""
        import pyarrow

        table = self.native
        if isinstance(table, pyarrow.RecordBatch):
            table = pyarrow.Table.from_batches([table])
        added = self.result(columns)
        for name in added.column_names:
            table = table.append_column(name, added.column(name))
        return table

    def slice(self, start: int, stop: int) -> Table:
        return ArrowTable(self.native.slice(start, stop - start))

    def take(self, name: str, rows: Ints) -> Any:
        return self.native_column(name).take(rows)

    def new(self, columns: Mapping[str, Any], rows: GaussianArray | None) -> Any:
        import pyarrow

        made = pyarrow.table(dict(columns))
        if rows is not None:
            lists = pyarrow.table(rows)
            for name in lists.column_names:
                made = made.append_column(name, lists.column(name))
        return made

    def _at(self, place: int) -> Any:
        return self.native.column(place)


def open_frame(X: Any) -> Table | None:
    """A frame of the three libraries as a Table; None if it is something else."""
    polars, pandas, pyarrow = (sys.modules.get(name) for name in ("polars", "pandas", "pyarrow"))
    if polars is not None and isinstance(X, polars.DataFrame):
        return PolarsTable(X)
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return PandasTable(X)
    if pyarrow is not None and isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return ArrowTable(X)
    return None


def of_series(column: Any, name: str) -> Table | None:
    """One column of the three libraries as a table of its own; None if it is something else."""
    polars, pandas, pyarrow = (sys.modules.get(module) for module in ("polars", "pandas", "pyarrow"))
    if polars is not None and isinstance(column, polars.Series):
        return PolarsTable(column.alias(name).to_frame())
    if pandas is not None and isinstance(column, (pandas.Series, pandas.api.extensions.ExtensionArray)):
        return PandasTable(pandas.DataFrame({name: column}))
    if pyarrow is not None and isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
        return ArrowTable(pyarrow.table({name: column}))
    return None


def open_stream(X: Any) -> Table:
    """A stream of record batches, read once, with pyarrow, or with Polars if that is not installed.

    ParameterError for whatever goes wrong in the code of `X`: its errors can be of any type.
    """
    kind = f"{type(X).__module__}.{type(X).__name__}"
    polars = None if installed("pyarrow") else need_polars(f"reading a {kind} (without pyarrow)")
    try:
        if polars is not None:
            return PolarsTable(polars.DataFrame(X))
        import pyarrow

        return ArrowTable(pyarrow.table(X))
    except MemoryError:
        raise
    except Exception as error:
        words = str(error).partition(". Detail: ")[0]  # where pyarrow begins to quote a traceback
        raise ParameterError(
            f"data of type {kind} could not be read through __arrow_c_stream__ "
            f"({type(error).__name__}: {words}): pass a table of Polars, pandas or pyarrow instead"
        ) from error


def native_numbers(values: Any) -> Any:
    """Real numbers as the extension reads them: contiguous, in this machine's byte order, 4 or 8 bytes wide
    if they are floats, and aligned, which memory from another process need not be."""
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    return np.require(values, values.dtype.newbyteorder("="), ["C", "A"])


def _joined(label: Any) -> str:
    """The name of a pandas column: the parts of a tuple that are not empty, joined by "_"."""
    parts = label if isinstance(label, tuple) else (label,)
    return "_".join(str(part) for part in parts if part is not None and part != "")
