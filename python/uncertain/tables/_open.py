"""Tables of every library, opened once and answered in the caller's kind.

Libraries are recognised by the modules that are already imported, so none is imported here for a table
that is not its own. What no file here knows is read once through ``__arrow_c_stream__`` with pyarrow, or
with Polars if that is not installed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._data.array import GaussianArray
from .._data.typing import Labels
from ..exceptions import ParameterError
from ._arrays import open_arrays
from ._astropy import is_fits, open_astropy
from ._frames import open_frame, open_stream
from ._lazy import open_lazy
from ._narwhals import convert, wrapped_by_narwhals, wrapper
from ._table import Table
from ._wrapped import WrappedTable

KINDS_OF_TABLES = (
    "a table of Polars, pandas, pyarrow, DuckDB, astropy or narwhals, a dict of columns, a structured array, "
    "or anything with __arrow_c_stream__"
)


def is_table(X: object) -> bool:
    """Does `X` have named columns? False for arrays, lists and GaussianArray."""
    if isinstance(X, GaussianArray) or (isinstance(X, np.ndarray) and X.dtype.names is None):
        return False
    return isinstance(X, Table) or is_fits(X) or _is_stream(X) or _known(X) is not None


def open_table(X: Any) -> Table:
    """`X` as a Table, not touched; lazy tables are collected when they are asked.

    Raises TypeError for what is not a table.
    """
    if isinstance(X, Table):
        return X
    if is_table(X):
        table = _known(X)
        return open_stream(X) if table is None else table
    raise TypeError(f"expected {KINDS_OF_TABLES}, got {type(X).__module__}.{type(X).__name__}")


def refuse_strange(X: Any) -> None:
    """ParameterError for what has columns, or rows with names, but is no table that is read here."""
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    if isinstance(first, Mapping):
        raise ParameterError(
            f"data of type {type(X).__name__} is no table: pass a table of its dictionaries, such as "
            "polars.DataFrame(rows)"
        )
    if isinstance(X, Mapping):
        what = "an empty dict" if not X else f"a dict with a key of type {_other_than_names(X)}"
        raise ParameterError(f"{what} is no table: its keys must be the names of columns")
    named = any(hasattr(X, name) for name in ("columns", "colnames", "data_vars", "column_names", "schema"))
    if named and not isinstance(X, (np.ndarray, GaussianArray)):
        raise ParameterError(
            f"{type(X).__module__}.{type(X).__name__} is no table that is read here, which is "
            f"{KINDS_OF_TABLES}: convert it first, such as by a method to_polars() or to_pandas()"
        )


def _other_than_names(X: Mapping[Any, Any]) -> str:
    return type(next(key for key in X if not isinstance(key, str))).__name__


def result_like(X: Any, columns: Mapping[str, Labels | Sequence[Any]]) -> Any:
    """`columns` as a table of the same kind as `X`, with its index if it has one.

    A lazy Polars frame is answered eagerly; foreign tables as `pyarrow.Table` (Polars without pyarrow).
    """
    return open_table(X).result({name: np.asarray(values) for name, values in columns.items()})


def new_table(like: Table, columns: Mapping[str, Any], rows: GaussianArray | None = None) -> Any:
    """A new table of the library of `like`: its own columns (`Table.take`), arrays, list columns of `rows`.

    Fixed-size lists where the library has them; pandas gets object columns of flat arrays, and what is made
    of arrays gets columns of shape (n, d) and (n, d, d).
    """
    return like.new(columns, rows)


def _known(X: Any) -> Table | None:
    """A table of a library that has a kind of its own here."""
    for opened in (open_frame, open_lazy, open_astropy, open_arrays):
        table = opened(X)
        if table is not None:
            return table
    inner = wrapped_by_narwhals(X)
    if inner is not None:
        table = open_table(inner) if is_table(inner) else convert(X)
        return None if table is None else WrappedTable(table, wrapper(X))
    return None if _is_stream(X) else convert(X)


def _is_stream(X: object) -> bool:
    """A stream of record batches of another library (a single Arrow column has no columns of its own)."""
    if not hasattr(X, "__arrow_c_stream__"):
        return False
    modules = [sys.modules.get(name) for name in ("polars", "pandas", "pyarrow")]
    names = ("Series", "ChunkedArray")
    return not isinstance(
        X, tuple(getattr(m, n) for m in modules if m is not None for n in names if hasattr(m, n))
    )
