"""Columns that carry their error bars become columns of numbers beside each other; their names say the rest.

So such a column may be the target or a feature, and have gaps, as any other. What is more than numbers beside
each other (correlated features, mixtures, draws) stays one column, a distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._columns.columns import listing
from .._data.arrow_rows import struct_type, width_of
from .._data.typing import ColumnType, NativeColumn
from .._data.units import Unit
from ..exceptions import ColumnError
from .carriers import Carried, carried, from_vectors
from .door import BatchSize, Foreign, Query
from .exits import ArrowExit, WrappedExit
from .table import Table

if TYPE_CHECKING:
    import polars as pl

Found = Mapping[str, Carried]
"""The columns that carry their error bars, by name."""


def with_bars_beside(table: Table) -> Table:
    """The table with such columns taken apart; itself if there are none."""
    door, exit = table.door, table.exit
    vectors: Found = {}
    if len({*table.names}) < len(table.names) or isinstance(exit, WrappedExit):  # around one taken apart
        return table
    if isinstance(door, Query):
        columns = {column.name: column for column in _with_rows(door)}
        found = _found(columns.items())
        if sum(map(_may_be_list, columns.values())) > 1:
            vectors = from_vectors(
                table.names, table.types, partial(_with_first_row, door, columns), door.units()
            )
        found = {**found, **vectors}
        apart: Foreign | Query = _query(door, found) if found else door
    else:
        if door is None:
            series = [*table.columns.values()]
            door = Foreign(table.names, lambda place: series[place], lambda: table.n_rows)
        found = _found((name, door.column(place)) for place, name in enumerate(door.names))
        if sum(_may_be_list(door.column(place)) for place in range(len(door.names))) > 1:
            vectors = from_vectors(table.names, table.types, partial(_series, door), door.units())
        found = {**found, **vectors}
        apart = _foreign(door, found) if found else door
    if not found:
        return table
    origin, notes = table.origin, table.notes
    if values := [name for name, own in vectors.items() if f"{name}[0]" in own.parts]:
        shown = listing(values, 4)
        notes += (f"lists of numbers with error bars ({shown}) were read as columns x[0], x[1], ...",)
    if isinstance(apart, Query):  # which is not to be asked again for the table itself
        return Table.from_query(apart, by_arrow=isinstance(exit, ArrowExit), origin=origin, notes=notes)
    return Table(apart, exit, origin=origin, notes=notes)


def _may_be_list(column: Any) -> bool:
    """By its type, may each row be a list? Python objects may."""
    dtype = str(getattr(column, "dtype", getattr(column, "type", "object")))
    return getattr(column, "ndim", 1) > 1 or dtype.startswith(LISTS)


LISTS = ("List(", "Array(", "list<", "large_list<", "fixed_size_list<", "object")


def _series(door: Foreign, name: str) -> pl.Series:
    from .columns import to_series

    return to_series(door.column(door.names.index(name)), name)


def _found(columns: Iterable[tuple[str, NativeColumn]]) -> Found:
    by_name = {name: carried(column, name) for name, column in columns if not _is_plain(column)}
    return {name: own for name, own in by_name.items() if own is not None}


def _is_plain(column: Any) -> bool:
    """Are these numbers or booleans of Polars, NumPy or pandas, beside which there is nothing?"""
    dtype: Any = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiub" and type(column).__name__ in ("ndarray", "Series")
    return str(dtype) == "Boolean" or (hasattr(dtype, "is_numeric") and bool(dtype.is_numeric()))


def _with_rows(door: Query) -> list[pl.Series]:
    """The columns of the schema, with first rows where types say too little."""
    columns = {column.name: column for column in door.schema.get_columns()}
    texts = [name for name, column in columns.items() if str(column.dtype) == "String"]
    if door.sample is not None and texts:
        columns |= door.sample(texts).to_dict()
    return [column if _may_be_list(column) else _with_a_row(door, column) for column in columns.values()]


def _with_a_row(door: Query, column: pl.Series) -> pl.Series:
    """The column, with its first row where types do not say how long lists are (DuckDB's, of Parquet)."""
    storage = struct_type(column.dtype)
    known = (
        not str(column.dtype).startswith("List") if storage is None else width_of(storage, column) is not None
    )
    if known or door.once or door.batches is None:
        return column
    first = next(iter(door.batches([column.name], BatchSize(1))), None)
    return column if first is None else first.to_series()[:1]


def _with_first_row(door: Query, columns: Mapping[str, pl.Series], name: str) -> pl.Series:
    return _with_a_row(door, columns[name])


def _names(names: Sequence[str], found: Found) -> dict[str, str]:
    """By new name the column that it comes from; ColumnError for a name that is there twice."""
    origins: dict[str, str] = {}
    for name in names:
        for part in found[name].parts if name in found else (name,):
            if part in origins:
                one, other = (origins[part], name) if origins[part] in found else (name, origins[part])
                raise ColumnError(
                    f"column {one!r} carries its error bars, which become a column {part!r}, but {other!r} "
                    "has one of that name: rename or drop one of them"
                )
            origins[part] = name
    return origins


def _type(own: Carried, whole: bool) -> ColumnType:
    return "list" if own.kept and whole else own.type


def _units(units: Mapping[str, Unit], found: Found) -> dict[str, Unit]:
    own = {part: carrier.unit for carrier in found.values() if carrier.unit for part in carrier.parts}
    return {**units, **own}


# -- in memory


@dataclass
class _Apart(Foreign):
    """Columns in memory, some of which are parts of one that carries its error bars."""

    known: Mapping[str, ColumnType | None] = None  # type: ignore[assignment]

    def types(self) -> list[ColumnType]:
        """Parts are not computed for that."""
        from .columns import column_type

        return [own or column_type(self.column(place)) for place, own in enumerate(self.known.values())]


def _foreign(door: Foreign, found: Found) -> Foreign:
    origins = _names(door.names, found)
    names, places = [*origins], {name: place for place, name in enumerate(door.names)}

    @cache
    def part(name: str) -> NativeColumn:
        carrier = found[origins[name]]
        return carrier.parts[name](carrier.column)

    def column(place: int) -> NativeColumn:
        name = names[place]
        return part(name) if origins[name] in found else door.column(places[name])

    known = {
        name: _type(found[origin], name == origin) if origin in found else None
        for name, origin in origins.items()
    }
    return _Apart(names, column, door.count, lambda: _units(door.units(), found), known)


# -- queries


def _query(door: Query, found: Found) -> Query:
    """Answers of the query, taken apart when they are there."""
    origins = _names(door.names, found)

    def read(names: Iterable[str]) -> list[str]:
        return [*dict.fromkeys(origins[name] for name in names)]

    def apart(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(
            [
                found[origins[name]].parts[name](frame[origins[name]]).alias(name)
                if origins[name] in found
                else frame[name]
                for name in names
            ]
        )

    def collect(names: Sequence[str] | None) -> pl.DataFrame:
        return apart(
            door.collect(None if names is None else read(names)), origins if names is None else names
        )

    def batches(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        assert door.batches is not None
        return (apart(frame, names) for frame in door.batches(read(names), size))

    return Query(
        apart(door.schema, origins),
        collect,
        batches if door.batches else None,
        door.counted,
        door.once,
        _units(door.units(), found),
    )
