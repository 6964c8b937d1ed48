"""The door: tables of every library, opened once, and not touched."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from .._columns.bars import visible
from .._data.installed import installed
from .._data.typing import NativeColumn, NativeTable
from ..exceptions import ColumnError, ShapeError
from .exits import (
    ArrowExit,
    AstropyExit,
    DictExit,
    Exit,
    PandasExit,
    StructuredExit,
    WrappedExit,
)
from .hdus import ANY_TABLE, HduChoice, refuse_hdu
from .recognise import KINDS_OF_TABLES, Kind, table_kind
from .table import Table


def is_table(X: object) -> bool:
    """Does `X` have named columns? False for arrays, lists and GaussianArray."""
    return isinstance(X, Table) or table_kind(X) is not None


def open_table(X: NativeTable, choice: HduChoice = ANY_TABLE) -> Table:
    """`X` as a Table; queries are collected when they are asked. TypeError for what is not a table."""
    table = opened(X, choice)
    if table is None:
        raise TypeError(f"expected {KINDS_OF_TABLES}, got {type(X).__module__}.{type(X).__name__}")
    return table


def opened(X: NativeTable, choice: HduChoice = ANY_TABLE) -> Table | None:
    """`X` as a Table; None for what is not a table."""
    if isinstance(X, Table):
        return X
    kind = table_kind(X)
    if kind == "fits":
        return _fits(X, choice)
    if choice.hdu is not None:
        refuse_hdu(choice, f"{'a table' if kind else 'data'} of type {type(X).__name__}")
    return None if kind is None else OPENERS[kind](X)


def open_astropy(X: NativeTable, exit: Exit | None = None) -> Table:
    """A table of astropy."""
    from .columns import column_units
    from .doors import Foreign

    names = list(X.colnames)
    door = Foreign(
        names,
        lambda place: X[names[place]],
        lambda: len(X),
        lambda: column_units(names, [X[name] for name in names]),
    )
    return Table(door, exit or AstropyExit(lambda: X))


def _astropy(X: NativeTable) -> Table:
    """The caller's table, whose columns are cleaned as those of a FITS file are."""
    from .astropy import clean

    native, note = clean(X.copy(copy_data=False), "")
    table = open_astropy(native, AstropyExit(lambda: X))
    table.notes = (note,) if note else ()
    return table


def _polars(X: NativeTable) -> Table:
    return Table.from_frame(X)


def _lazy(X: NativeTable) -> Table:
    from .lazy import open_lazy

    return open_lazy(X)


def _pandas(X: NativeTable) -> Table:
    """The names of a column index of several levels are joined by "_"."""
    from .doors import Foreign

    names = [_joined(label) for label in X.columns]
    return Table(Foreign(names, lambda place: X.iloc[:, place], lambda: len(X)), PandasExit(lambda: X))


def _arrow(X: NativeTable) -> Table:
    from .doors import Foreign

    return Table(Foreign(list(X.schema.names), X.column, lambda: X.num_rows), ArrowExit(lambda: X))


def _fits(X: NativeTable, choice: HduChoice = ANY_TABLE) -> Table:
    from .astropy import read_fits

    native, note = read_fits(X, choice)
    table = open_astropy(native)
    table.notes = (note,) if note else ()
    return table


def _dict(X: Mapping[str, NativeColumn]) -> Table:
    from .columns import column_units
    from .doors import Foreign

    names = list(X)
    single = [name for name in names if isinstance(X[name], (str, bytes)) or not hasattr(X[name], "__len__")]
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
    from .doors import Foreign

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
    table = _by_narwhals(X) if table_kind(native) is None else open_table(native)
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


OPENERS: dict[Kind, Callable[[NativeTable], Table]] = {
    "polars": _polars,
    "polars query": _lazy,
    "pandas": _pandas,
    "arrow": _arrow,
    "arrow dataset": _lazy,
    "arrow scanner": _lazy,
    "arrow reader": _lazy,
    "duckdb": _lazy,
    "narwhals": _narwhals,
    "astropy": _astropy,
    "fits": _fits,
    "dict": _dict,
    "structured": _structured,
    "stream": _stream,
    "known to narwhals": _by_narwhals,
}
