"""Answers as tables of the caller's library: new columns alone, or behind the caller's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from .._data.typing import Array, Labels, NativeTable

if TYPE_CHECKING:
    import polars as pl

Kind: TypeAlias = Literal["polars", "pandas", "pyarrow", "dict", "numpy", "astropy"]
Columns: TypeAlias = Mapping[str, Any]
"""New columns by name: arrays, sequences, Quantities or columns of Polars."""


def answer(
    kind: Kind, whole: Callable[[], Any], columns: Columns, *, beside: bool = False, fresh: bool = False
) -> NativeTable:
    """Return new columns as a table of this kind; `beside`: behind those of the caller's table.

    `fresh`: of other rows than the caller's, whose index pandas gets otherwise. No two rows share a list.
    """
    if kind in ("polars", "pyarrow"):
        import polars as pl

        frame = pl.DataFrame([as_series(name, values) for name, values in columns.items()])
        if kind == "polars":
            return whole().with_columns(frame.get_columns()) if beside else frame
        return _arrow(frame, whole if beside else None)
    arrays, table = {name: as_array(values) for name, values in columns.items()}, whole()
    if kind == "pandas":
        return _pandas(table, arrays, beside, None if fresh else table.index)
    return ANSWERS[kind](table, arrays, beside)


def as_series(name: str, values: Any) -> pl.Series:
    """Return a column of Polars; of lists that rows share, each is converted once."""
    import polars as pl

    if isinstance(values, pl.Series):
        return values.alias(name)
    values = np.asarray(values)
    if _holds_lists(values):
        ids = np.fromiter(map(id, values), dtype=np.int64, count=len(values))
        _, first, places = np.unique(ids, return_index=True, return_inverse=True)
        return pl.Series(name, values[first].tolist()).gather(places)
    if values.dtype.kind in "iu":
        values = values.astype(np.int64, copy=False)
    return pl.Series(name, values if values.dtype.kind in "ifb" else values.tolist())


def as_array(values: Any) -> Labels:
    """Return an array, a Quantity or a Series of pandas; of lists a copy for each row."""
    if hasattr(values, "null_count"):  # of Polars
        plain = values.dtype.is_numeric() or values.dtype.is_temporal()
        return np.asarray(values.to_numpy() if plain else values.to_list())
    array: Labels = values if hasattr(values, "unit") or hasattr(values, "iloc") else np.asarray(values)
    if not _holds_lists(array):
        return array
    copies = np.empty(len(array), dtype=object)
    copies[:] = [each.copy() for each in array]
    return copies


def _holds_lists(values: Any) -> bool:
    return values.dtype.kind == "O" and values.ndim == 1 and len(values) > 0 and isinstance(values[0], list)


def _arrow(frame: pl.DataFrame, whole: Callable[[], Any] | None) -> NativeTable:
    import polars as pl
    import pyarrow

    made = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    if whole is None:
        return made
    table = whole()
    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    for name in made.column_names:
        table = table.append_column(name, made.column(name))
    return table


def _pandas(table: NativeTable, columns: Mapping[str, Labels], beside: bool, index: Any) -> NativeTable:
    """Return new columns with this index; their names are in the first of several levels."""
    import pandas

    cells = {
        name: list(values.reshape(len(values), -1)) if values.ndim > 1 else values
        for name, values in columns.items()
    }
    made = pandas.DataFrame(cells, index=index)
    if not beside:
        return made
    if (levels := table.columns.nlevels) > 1:
        made.columns = pandas.MultiIndex.from_tuples(
            [(name, *[""] * (levels - 1)) for name in made.columns], names=table.columns.names
        )
    return pandas.concat([table, made], axis=1)


def _dict(table: NativeTable, columns: Mapping[str, Labels], beside: bool) -> NativeTable:
    return {**table, **columns} if beside else dict(columns)


def _structured(table: NativeTable, columns: Mapping[str, Labels], beside: bool) -> NativeTable:
    """Return a structured array, masked if a column is, of records if the caller's are."""
    columns = ({name: table[name] for name in table.dtype.names} if beside else {}) | dict(columns)
    fields = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    masked = any(isinstance(column, np.ma.MaskedArray) for column in columns.values())
    n_rows = len(next(iter(columns.values())))
    made: Array = np.ma.empty(n_rows, dtype=fields) if masked else np.empty(n_rows, dtype=fields)
    for name, column in columns.items():
        made[name] = column
    return made.view(np.recarray) if isinstance(table, np.recarray) else made


def _astropy(table: NativeTable, columns: Mapping[str, Labels], beside: bool) -> NativeTable:
    """Return a table of the caller's class; behind a copy of it, its columns shared."""
    if not beside:
        return type(table)(dict(columns))
    table = table.copy(copy_data=False)
    for name, values in columns.items():
        table[name] = values
    return table


ANSWERS: Mapping[str, Callable[[Any, Mapping[str, Labels], bool], NativeTable]] = {
    "dict": _dict,
    "numpy": _structured,
    "astropy": _astropy,
}
