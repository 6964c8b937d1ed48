"""Tables of every library, read by column and answered in the caller's kind.

Design: a table is asked for its names and for one column at a time, never for everything at once (a
Polars frame rechunks itself in place to answer that). Polars, pandas and pyarrow are distinguished by the
modules that are already imported, so none of them is imported here for a table that is not its own.
Everything else (DuckDB relations, readers, frames of other libraries) is read once through
``__arrow_c_stream__`` with pyarrow, or with Polars if that is not installed.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._data.array import GaussianArray
from ..exceptions import ColumnError
from ._columns import require

Kind = Literal["polars", "pandas", "pyarrow"]


@dataclass(frozen=True)
class Table:
    """A table of one of three kinds: its own object, untouched, and the few questions asked of it."""

    native: Any
    kind: Kind

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return list(self.native.schema.names if self.kind == "pyarrow" else self.native.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.native.num_rows if self.kind == "pyarrow" else self.native.shape[0])

    def native_column(self, name: str) -> Any:
        """The column as the table's library has it; ColumnError if it is not there or there twice."""
        count = self.names.count(name)
        if count == 0:
            require(name, [str(n) for n in self.names])
        if count > 1:
            raise ColumnError(f"there are {count} columns {name!r}; rename them so that the choice is clear")
        return self.native.column(name) if self.kind == "pyarrow" else self.native[name]

    def numbers(self, name: str) -> Any:
        """The column as something whose Arrow or NumPy memory the extension reads."""
        column = self.native_column(name)
        if self.kind == "polars":
            import polars

            # A column of nothing but nulls has no Arrow buffers to hand over.
            return column.cast(polars.Float64) if column.dtype == polars.Null else column
        if self.kind == "pyarrow":
            return column
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "fiu" and dtype.itemsize > 2 * (dtype.kind == "f"):
            return np.ascontiguousarray(column.to_numpy())
        if _installed("pyarrow"):
            return column
        import polars

        try:
            return polars.Series(column.to_list())
        except (TypeError, polars.exceptions.PolarsError) as error:
            raise ColumnError(f"{name}: cannot be read as numbers or lists of them: {error}") from error

    def is_numeric(self, name: str) -> bool:
        """Does the column hold one real number per row, by its type?"""
        column = self.native_column(name)
        if self.kind == "polars":
            return bool(column.dtype.is_numeric())
        if self.kind == "pandas":
            return getattr(column.dtype, "kind", "O") in "fiu"
        import pyarrow.types as types

        return bool(types.is_integer(column.type) or types.is_floating(column.type))

    def take(self, name: str, rows: NDArray[np.intp]) -> Any:
        """Some rows of a column, as the table's library has it."""
        column = self.native_column(name)
        if self.kind == "polars":
            return column.gather(rows)
        return column.iloc[rows].reset_index(drop=True) if self.kind == "pandas" else column.take(rows)

    def values(self, name: str) -> list[Any]:
        """The column as Python objects, missing values as None (or NaN): for labels, of any type."""
        column = self.native_column(name)
        if self.kind == "pandas":
            return list(column.astype(object).where(column.notna(), None))
        return list(column.to_list() if self.kind == "polars" else column.to_pylist())


def is_table(X: object) -> bool:
    """Does `X` have named columns? False for arrays, lists and GaussianArray."""
    return not isinstance(X, GaussianArray) and (_kind(X) is not None or _is_foreign(X))


def open_table(X: Any) -> Table:
    """`X` as a Table; lazy and foreign tables are collected once, others are not touched.

    Raises TypeError for what is not a table.
    """
    if not is_table(X):
        raise TypeError(
            "expected a table (Polars, pandas, pyarrow, DuckDB, or anything with __arrow_c_stream__), "
            f"got {type(X).__module__}.{type(X).__name__}"
        )
    kind = _kind(X)
    if kind == "polars" and hasattr(X, "collect"):
        return Table(X.collect(), "polars")
    if kind is not None:
        return Table(X, kind)
    if _installed("pyarrow"):
        import pyarrow

        return Table(pyarrow.table(X), "pyarrow")
    import polars

    return Table(polars.DataFrame(X), "polars")


def result_like(X: Any, columns: Mapping[str, NDArray[Any] | Sequence[Any]]) -> Any:
    """`columns` as a table of the same kind as `X`, with its index if it has one.

    A lazy Polars frame is answered eagerly; foreign tables as `pyarrow.Table` (Polars without pyarrow).
    """
    kind = _kind(X) or ("pyarrow" if _installed("pyarrow") else "polars")
    data = {name: np.asarray(values) for name, values in columns.items()}
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(data, index=X.index)
    if kind == "pyarrow":
        import pyarrow

        return pyarrow.table({name: pyarrow.array(values.tolist()) for name, values in data.items()})
    import polars

    return polars.DataFrame({name: values.tolist() for name, values in data.items()})


def new_table(like: Table, columns: Mapping[str, Any], rows: GaussianArray | None = None) -> Any:
    """A new table of the library of `like`: its own columns (`Table.take`), arrays, list columns of `rows`.

    Fixed-size lists where the library has them; pandas gets object columns of flat arrays.
    """
    if like.kind == "pyarrow":
        import pyarrow

        new = pyarrow.table(dict(columns))
        if rows is not None:
            lists = pyarrow.table(rows)
            for name in lists.column_names:
                new = new.append_column(name, lists.column(name))
        return new
    import polars

    gaussians = {} if rows is None else {c.name: c for c in polars.DataFrame(rows).iter_columns()}
    if like.kind == "polars":
        return polars.DataFrame(dict(columns) | gaussians)
    import pandas

    cells = {name: list(c.to_numpy().reshape(len(c), -1)) for name, c in gaussians.items()}
    return pandas.DataFrame(dict(columns) | cells)


def _kind(X: object) -> Kind | None:
    polars, pandas, pyarrow = (sys.modules.get(name) for name in ("polars", "pandas", "pyarrow"))
    if polars is not None and isinstance(X, (polars.DataFrame, polars.LazyFrame)):
        return "polars"
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return "pandas"
    if pyarrow is not None and isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return "pyarrow"
    return None


def _is_foreign(X: object) -> bool:
    """A stream of record batches of another library (a single Arrow column has no columns of its own)."""
    if not hasattr(X, "__arrow_c_stream__") or isinstance(X, np.ndarray):
        return False
    modules = [sys.modules.get(name) for name in ("polars", "pandas", "pyarrow")]
    names = ("Series", "ChunkedArray")
    return not isinstance(
        X, tuple(getattr(m, n) for m in modules if m is not None for n in names if hasattr(m, n))
    )


def _installed(module: str) -> bool:
    return module in sys.modules or importlib.util.find_spec(module) is not None
