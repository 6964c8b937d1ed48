"""How columns come in that are not in Polars yet: those of other libraries one by one, queries all at once or
in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from .._data.typing import ColumnType, NativeColumn
from .._data.units import Unit

if TYPE_CHECKING:
    import polars as pl


@dataclass
class BatchSize:
    """Rows of the next batch; whoever reads batches may change it when it has seen how large they are."""

    rows: int


def from_library(error: BaseException) -> bool:
    """An exception, or the panic of a Rust library, and not an interrupt or an exit."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


Stream: TypeAlias = "Callable[[Sequence[str], BatchSize], Iterator[pl.DataFrame]]"
"""Reads these columns of a query in batches of rows, in an order that is always the same."""
Collect: TypeAlias = "Callable[[Sequence[str] | None], pl.DataFrame]"
"""Reads these columns (None: all) of a query."""


@dataclass
class Foreign:
    """Columns in the memory of another library."""

    names: list[str]
    """In order; they need not be unique."""
    column: Callable[[int], NativeColumn]
    """A column by its number, as its library has it."""
    count: Callable[[], int]
    """The number of rows; raises if columns differ."""
    units: Callable[[], dict[str, Unit]] = dict
    """astropy's, where the library has units."""

    def types(self) -> list[ColumnType]:
        """By the type, of objects by the first of them."""
        from .columns import column_type

        return [column_type(self.column(place)) for place in range(len(self.names))]

    def read(self, names: Sequence[str]) -> list[pl.Series]:
        """These columns, whose names are unique; without a copy where the memory is as Polars has it."""
        from .columns import to_series

        places = {name: place for place, name in enumerate(self.names)}
        return [to_series(self.column(places[name]), name) for name in names]

    def slice(self, start: int, stop: int) -> Foreign:
        """The same rows of every column, when they are asked for."""
        stop = min(stop, self.count())

        def column(place: int) -> NativeColumn:
            whole = self.column(place)
            return whole.iloc[start:stop] if hasattr(whole, "iloc") else whole[start:stop]

        return Foreign(self.names, column, lambda: stop - start, self.units)


@dataclass
class Query:
    """A query, which is collected when it is asked; names and types come from its schema."""

    schema: pl.DataFrame
    """A frame without rows."""
    collect: Collect
    batches: Stream | None = None
    """None for one that is collected all at once."""
    counted: Callable[[], int] | None = None
    """Of what gives its rows in the same order whenever it is read."""
    once: bool = False
    """Can it be read only once?"""
    own_units: Mapping[str, Unit] = field(default_factory=dict)
    """astropy's, or their names, of text files that have a line of them."""
    sample: Callable[[Sequence[str]], pl.DataFrame] | None = None
    """Reads the first rows of these columns, of text files, whose types say little."""
    _count: int | None = field(default=None, init=False)

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return self.schema.columns

    def types(self) -> list[ColumnType]:
        """By the schema."""
        from .columns import series_types

        return series_types(self.schema.get_columns())

    def units(self) -> Mapping[str, Unit]:
        """By the file."""
        return self.own_units

    def count(self) -> int | None:
        """The number of rows from what files say, once."""
        if self._count is None and self.counted is not None:
            self._count = self.counted()
        return self._count
