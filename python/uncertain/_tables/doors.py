"""How columns come in: those that are there one by one, those of queries all at once or in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from .._data.typing import ColumnType, NativeColumn
from .._data.units import Unit
from .columns import column_type, sliced, to_series
from .door import BatchSize, Door

Stream = Callable[[Sequence[str], BatchSize], Iterator[pl.DataFrame]]
"""Reads these columns of a query in batches of rows, in an order that is always the same."""
Collect = Callable[[Sequence[str] | None], pl.DataFrame]
"""Reads these columns (None: all) of a query."""


@dataclass
class Foreign:
    """Columns in the memory of another library, by their numbers."""

    names: list[str]
    column: Callable[[int], NativeColumn]
    n_rows: Callable[[], int]
    """Raises if columns differ."""
    units: Callable[[], dict[str, Unit]] = dict
    """astropy's, where the library has units."""
    once: bool = False
    late: bool = False
    streams: bool = False

    def types(self) -> list[ColumnType]:
        """By the type, of objects by the first of them."""
        return [column_type(self.column(place)) for place in range(len(self.names))]

    def read(self, names: Sequence[str] | None) -> list[pl.Series]:
        """Without a copy where the memory is as Polars has it."""
        places = {name: place for place, name in enumerate(self.names)}
        chosen = self.names if names is None else names
        return [to_series(self.column(places[name]), name) for name in chosen]

    def slice(self, start: int, stop: int) -> Foreign:
        """The same rows of every column, when they are asked for."""
        stop = min(stop, self.n_rows())
        return Foreign(
            self.names,
            lambda place: sliced(self.column(place), start, stop),
            lambda: stop - start,
            self.units,
        )

    def stream(self, names: Sequence[str], size: BatchSize) -> None:
        """What is there is sliced."""

    def count(self) -> int:
        """The number of rows."""
        return self.n_rows()


@dataclass
class Query:
    """A query, which is collected when it is asked; names and types come from its schema."""

    schema: pl.DataFrame
    """A frame without rows."""
    collect: Collect
    batches: Stream | None = None
    counted: Callable[[], int] | None = None
    """Of what gives its rows in the same order whenever it is read."""
    once: bool = False
    late: bool = True
    own_units: Mapping[str, Unit] = field(default_factory=dict)
    """astropy's, or their names."""
    _count: int | None = field(default=None, init=False)

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return self.schema.columns

    @property
    def streams(self) -> bool:
        """Can it be read in batches?"""
        return self.batches is not None

    def types(self) -> list[ColumnType]:
        """By the schema."""
        return [column_type(column) for column in self.schema.get_columns()]

    def units(self) -> dict[str, Unit]:
        """Those of text files that have a line of them; other queries know none."""
        return dict(self.own_units)

    def column(self, place: int) -> NativeColumn:
        """Without rows."""
        return self.schema.to_series(place)

    def read(self, names: Sequence[str] | None) -> list[pl.Series]:
        """Collected at once."""
        return self.collect(names).get_columns()

    def slice(self, start: int, stop: int) -> Door:
        """Of a query nothing is there."""
        raise NotImplementedError

    def stream(self, names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame] | None:
        """One batch after the other."""
        return None if self.batches is None else self.batches(names, size)

    def count(self) -> int | None:
        """From what files say, once."""
        if self._count is None and self.counted is not None:
            self._count = self.counted()
        return self._count
