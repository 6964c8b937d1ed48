"""Some rows of a table, as a table of the same kind."""

from __future__ import annotations

from collections.abc import Sequence

from .._data.typing import Ints
from ._frames import ArrowTable, PolarsTable
from ._lazy import LazyTable
from ._open import open_table
from ._table import Table
from ._wrapped import unwrapped


def some_rows(table: Table, names: Sequence[str], rows: Ints) -> Table:
    """These rows of these columns."""
    table = unwrapped(table)
    return open_table(table.new({name: table.take(name, rows) for name in names}, None))


def below(tables: Sequence[Table]) -> Table:
    """The rows of tables below each other, which are batches of one stream."""
    first, *others = tables
    if not others:
        return first
    natives = [table.native for table in tables]
    if isinstance(first, PolarsTable):
        import polars

        return PolarsTable(polars.concat(natives))
    if isinstance(first, ArrowTable):
        import pyarrow

        return ArrowTable(pyarrow.concat_tables(natives))
    raise TypeError(f"batches of {type(first.native).__name__} are not joined")


def standing_for(whole: Table, some: Table) -> Table:
    """`some` under the names and types of the whole table, of whose other columns nothing was read."""
    table = LazyTable(_empty(whole), lambda names: some).load(some.names)
    table.origin = whole.origin
    return table


def streams(table: Table) -> bool:
    """Is it read in batches, as long as nobody collects it?"""
    table = unwrapped(table)
    return isinstance(table, LazyTable) and table.streams


def _empty(table: Table) -> Table:
    table = unwrapped(table)
    return table._schema if isinstance(table, LazyTable) else table.slice(0, 0)
