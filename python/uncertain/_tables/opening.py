"""The door: tables of every library, opened once, and not touched.

Which library a table is of is told by the modules that are loaded: none is imported for a foreign table.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from .._columns.columns import visible
from .._data.array import GaussianArray
from .._data.arrow_types import labelled
from .._data.installed import installed
from .._data.typing import NativeColumn, NativeTable
from ..exceptions import ColumnError, ParameterError, ShapeError
from .door import Foreign
from .exits import (
    ArrowExit,
    AstropyExit,
    DictExit,
    Exit,
    PandasExit,
    StructuredExit,
    WrappedExit,
)
from .table import Table

Opener: TypeAlias = Callable[[NativeTable], Table]

KINDS_OF_TABLES = (
    "a table of Polars, pandas, pyarrow, DuckDB, astropy or narwhals, a dict of columns, a structured array, "
    "or anything with __arrow_c_stream__"
)
COLUMNS = (("polars", "Series"), ("pandas", "Series"), ("pyarrow", "ChunkedArray"))
"""Single columns, which are streams without names."""


def is_table(X: object) -> bool:
    """Does `X` have named columns? False for arrays, lists and GaussianArray."""
    return isinstance(X, Table) or _opener(X) is not None


def open_table(X: NativeTable) -> Table:
    """`X` as a Table; queries are collected when they are asked. TypeError for what is not a table."""
    table = opened(X)
    if table is None:
        raise TypeError(f"expected {KINDS_OF_TABLES}, got {type(X).__module__}.{type(X).__name__}")
    return table


def opened(X: NativeTable, *, apart: bool = True) -> Table | None:
    """`X` as a Table; None for what is not a table. `apart`: columns that carry their error bars are taken
    apart."""
    if isinstance(X, Table):
        return X
    opener = _opener(X)
    if opener is None:
        return None
    table = opener(X)
    if not apart:
        return table
    from .carried import with_bars_beside

    return with_bars_beside(table)


def _opener(X: object) -> Opener | None:
    """What opens such a table; None for arrays, lists, single columns and all else."""
    for module, name, opener in LIBRARIES:
        if _is(X, module, name):
            return opener
    if isinstance(X, Mapping):
        return _dict if len(X) and all(isinstance(name, str) for name in X) else None
    if isinstance(X, np.ndarray):
        return None if X.dtype.names is None else _structured
    if isinstance(X, (type, GaussianArray)):
        return None
    if hasattr(X, "__arrow_c_stream__"):
        return None if any(_is(X, module, name) for module, name in COLUMNS) else _stream
    return _by_narwhals if hasattr(X, "columns") and _narwhals_knows(X) else None


def open_astropy(X: NativeTable, exit: Exit | None = None, note: str = "") -> Table:
    """A table of astropy; with a note on what was decided about it."""
    from .columns import column_units

    names = list(X.colnames)
    door = Foreign(
        names,
        lambda place: X[names[place]],
        lambda: len(X),
        lambda: column_units(names, [X[name] for name in names]),
    )
    return Table(door, exit or AstropyExit(lambda: X), notes=(note,) if note else ())


def _astropy(X: NativeTable) -> Table:
    """The caller's table, whose columns are cleaned as those of a FITS file are."""
    from .astropy import clean

    native, note = clean(X.copy(copy_data=False), "")
    return open_astropy(native, AstropyExit(lambda: X), note)


def _pandas(X: NativeTable) -> Table:
    """The names of a column index of several levels are joined by "_"."""
    names = [_joined(label) for label in X.columns]
    return Table(Foreign(names, lambda place: X.iloc[:, place], lambda: len(X)), PandasExit(lambda: X))


def _arrow(X: NativeTable) -> Table:
    def column(place: int) -> NativeColumn:
        """A type that is not registered with pyarrow stands in the field alone."""
        from .columns import require_codes, to_series

        said = X.schema.field(place).metadata or {}
        if said.get(b"ARROW:extension:name", b"")[:10] != b"uncertain.":
            require_codes(X.column(place), X.schema.names[place])
            return X.column(place)
        values = [said.get(b"ARROW:extension:" + key, b"") for key in (b"name", b"metadata")]
        names = [value.decode(errors="replace") for value in values]
        return labelled(to_series(X.column(place), X.schema.names[place]), *names)

    return Table(Foreign(list(X.schema.names), column, lambda: X.num_rows), ArrowExit(lambda: X))


def _fits(X: NativeTable) -> Table:
    from .astropy import read_fits

    native, note = read_fits(X)
    return open_astropy(native, note=note)


def _dict(X: Mapping[str, NativeColumn]) -> Table:
    from .columns import column_units

    names = list(X)
    single = [name for name in names if isinstance(X[name], (str, bytes)) or not hasattr(X[name], "__len__")]
    if single and len(single) == len(names):  # one row
        return _dict({name: [X[name]] for name in names})
    if single:
        values = visible(", ".join(f"{name!r}: [{X[name]!r}]" for name in single[:3]))
        more = ", ..." if len(single) > 3 else ""
        raise ColumnError(
            f"column {single[0]!r} is {X[single[0]]!r}: a column has one value per row; a table of one row "
            f"is {{{values}{more}}}"
        )

    def column(place: int) -> NativeColumn:
        return X[names[place]]

    def n_rows() -> int:
        sizes = {name: len(values) for name, values in X.items()}
        other = next((name for name in names if sizes[name] != sizes[names[0]]), None)
        if other is not None:
            raise ShapeError(
                f"columns of one length make a table, but {names[0]!r} has {sizes[names[0]]} values and "
                f"{other!r} {sizes[other]}"
            )
        return sizes[names[0]]

    door = Foreign(names, column, n_rows, lambda: column_units(names, map(column, range(len(names)))))
    return Table(door, DictExit(lambda: X))


def _structured(X: NativeTable) -> Table:
    if X.ndim != 1:
        raise ShapeError(f"a structured array of one dimension is a table, got shape {X.shape}")
    names = list(X.dtype.names)
    door = Foreign(names, lambda place: X[names[place]], lambda: len(X))
    return Table(door, StructuredExit(lambda: X))


def _narwhals(X: NativeTable) -> Table:
    """What a frame of narwhals wraps, answered wrapped again by the same of narwhals' stable interfaces."""
    narwhals = sys.modules["narwhals"]
    wrap: Callable[[NativeTable], NativeTable] = getattr(
        sys.modules[type(X).__module__], "from_native", narwhals.from_native
    )
    native = X.to_native()
    table = _by_narwhals(X) if _opener(native) is None else open_table(native)
    table.exit = WrappedExit(table.exit, wrap)
    return table


def _by_narwhals(X: NativeTable) -> Table:
    """A frame of a library that only narwhals knows, as a pyarrow table."""
    narwhals = sys.modules["narwhals"]
    frame = narwhals.from_native(X, pass_through=True)
    eager = frame.collect("pyarrow") if isinstance(frame, narwhals.LazyFrame) else frame
    return _arrow(eager.to_arrow())


def _stream(X: NativeTable) -> Table:
    """A stream of record batches of another library, read once."""
    from .lazy import read_stream

    frame = read_stream(X)
    table = Table.from_frame(frame)
    if installed("pyarrow"):
        table.exit = ArrowExit(frame.to_arrow)
    return table


def _joined(label: object) -> str:
    """The name of a pandas column: the parts of a tuple that are not empty, joined by "_"."""
    parts = label if isinstance(label, tuple) else (label,)
    return "_".join(str(part) for part in parts if part is not None and part != "")


def refuse_strange(X: NativeTable) -> None:
    """ParameterError for what has columns, or rows with names, but is no table that is read here."""
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    if isinstance(first, Mapping):
        raise ParameterError(
            f"data of type {type(X).__name__} is no table: pass a table of its dictionaries, such as "
            "polars.DataFrame(rows)"
        )
    if isinstance(first, np.ndarray) and first.ndim > 1:
        raise ParameterError(
            f"a {type(X).__name__} of arrays is no table: pass GaussianArray(means, std=deviations), "
            "or cov=covariances, and the targets as target="
        )
    if isinstance(X, Mapping):
        other = type(next((key for key in X if not isinstance(key, str)), "")).__name__
        what = "an empty dict" if not X else f"a dict with a key of type {other}"
        raise ParameterError(f"{what} is no table: its keys must be the names of columns")
    named = any(hasattr(X, name) for name in ("columns", "colnames", "column_names", "schema"))
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


def _query(name: str) -> Opener:
    """The function of `lazy` of this name, which imports Polars."""

    def opener(X: NativeTable) -> Table:
        table: Table = getattr(importlib.import_module(".lazy", __package__), name)(X)
        return table

    return opener


LIBRARIES: tuple[tuple[str, str, Opener], ...] = (
    ("polars", "DataFrame", Table.from_frame),
    ("polars", "LazyFrame", _query("lazy_polars")),
    ("pandas", "DataFrame", _pandas),
    ("pyarrow", "Table", _arrow),
    ("pyarrow", "RecordBatch", _arrow),
    ("pyarrow", "RecordBatchReader", _query("arrow_reader")),
    ("pyarrow.dataset", "Dataset", _query("arrow_dataset")),
    ("pyarrow.dataset", "Scanner", _query("arrow_scanner")),
    ("duckdb", "DuckDBPyRelation", _query("duckdb_relation")),
    ("narwhals", "DataFrame", _narwhals),
    ("narwhals", "LazyFrame", _narwhals),
    ("astropy.table", "Table", _astropy),
    *(("astropy.io.fits", name, _fits) for name in ("HDUList", "BinTableHDU", "TableHDU", "FITS_rec")),
)
"""Classes of tables by the modules that have them, and what opens them."""
