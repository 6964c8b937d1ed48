"""Which library a table is of, by the modules that are loaded; none is imported for a foreign table."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .._data.array import GaussianArray
from ..exceptions import ParameterError

Kind = Literal[
    "polars", "polars query", "pandas", "arrow", "arrow dataset", "arrow scanner", "arrow reader", "duckdb",
    "narwhals", "astropy", "fits", "dict", "structured", "stream", "known to narwhals",
]  # fmt: skip

CLASSES: tuple[tuple[Kind, str, str], ...] = (
    ("polars", "polars", "DataFrame"),
    ("polars query", "polars", "LazyFrame"),
    ("pandas", "pandas", "DataFrame"),
    ("arrow", "pyarrow", "Table"),
    ("arrow", "pyarrow", "RecordBatch"),
    ("arrow reader", "pyarrow", "RecordBatchReader"),
    ("arrow dataset", "pyarrow.dataset", "Dataset"),
    ("arrow scanner", "pyarrow.dataset", "Scanner"),
    ("duckdb", "duckdb", "DuckDBPyRelation"),
    ("narwhals", "narwhals", "DataFrame"),
    ("narwhals", "narwhals", "LazyFrame"),
    ("astropy", "astropy.table", "Table"),
    *(("fits", "astropy.io.fits", name) for name in ("HDUList", "BinTableHDU", "TableHDU", "FITS_rec")),
)
"""Kinds of tables, each with a module and its class."""

COLUMNS = (("polars", "Series"), ("pandas", "Series"), ("pyarrow", "ChunkedArray"))
"""Single columns, which are streams without names."""

KINDS_OF_TABLES = (
    "a table of Polars, pandas, pyarrow, DuckDB, astropy or narwhals, a dict of columns, a structured array, "
    "or anything with __arrow_c_stream__"
)


def table_kind(X: object) -> Kind | None:
    """The kind of table; None for arrays, lists, single columns and all else."""
    for kind, module, name in CLASSES:
        if _is(X, module, name):
            return kind
    if isinstance(X, Mapping):
        return "dict" if len(X) and all(isinstance(name, str) for name in X) else None
    if isinstance(X, np.ndarray):
        return None if X.dtype.names is None else "structured"
    if isinstance(X, (type, GaussianArray)):
        return None
    if hasattr(X, "__arrow_c_stream__"):
        return None if any(_is(X, module, name) for module, name in COLUMNS) else "stream"
    return "known to narwhals" if hasattr(X, "columns") and _narwhals_knows(X) else None


def refuse_strange(X: Any) -> None:
    """ParameterError for what has columns, or rows with names, but is no table that is read here."""
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    if isinstance(first, Mapping):
        raise ParameterError(
            f"data of type {type(X).__name__} is no table: pass a table of its dictionaries, such as "
            "polars.DataFrame(rows)"
        )
    if isinstance(X, Mapping):
        other = type(next((key for key in X if not isinstance(key, str)), "")).__name__
        what = "an empty dict" if not X else f"a dict with a key of type {other}"
        raise ParameterError(f"{what} is no table: its keys must be the names of columns")
    named = any(hasattr(X, name) for name in ("columns", "colnames", "data_vars", "column_names", "schema"))
    if named and not isinstance(X, (np.ndarray, GaussianArray)):
        raise ParameterError(
            f"{type(X).__module__}.{type(X).__name__} is no table that is read here, which is "
            f"{KINDS_OF_TABLES}: convert it first, such as by a method to_polars() or to_pandas()"
        )


def _is(X: object, module: str, name: str) -> bool:
    cls = getattr(sys.modules.get(module), name, None)
    return cls is not None and isinstance(X, cls)


def _narwhals_knows(X: object) -> bool:
    """Where narwhals is loaded it has frames of more libraries."""
    narwhals = sys.modules.get("narwhals")
    if narwhals is None:
        return False
    return isinstance(narwhals.from_native(X, pass_through=True), (narwhals.DataFrame, narwhals.LazyFrame))
