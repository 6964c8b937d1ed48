"""What a `Table` asks of columns that are not in Polars yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .._data.typing import ColumnType, NativeColumn
from .._data.units import Unit

if TYPE_CHECKING:
    import polars as pl


@dataclass
class BatchSize:
    """Rows of the next batch; whoever reads batches may change it when it has seen how large they are."""

    rows: int


class Door(Protocol):
    """How columns come in, by their numbers."""

    once: bool
    """Can it be read only once?"""
    late: bool
    """Is it a query, whose columns are read when they are asked for, all at once?"""

    @property
    def names(self) -> list[str]:
        """Column names, in order; they need not be unique."""

    @property
    def streams(self) -> bool:
        """Can it be read in batches?"""

    def types(self) -> list[ColumnType]:
        """What every column holds in each row, by its type."""

    def units(self) -> dict[str, Unit]:
        """astropy's units of the columns that have one."""

    def column(self, place: int) -> NativeColumn:
        """A column as its library has it."""

    def read(self, names: Sequence[str] | None) -> list[pl.Series]:
        """These columns (None: all of them), whose names are unique."""

    def slice(self, start: int, stop: int) -> Door:
        """Some of the rows of what is there."""

    def stream(self, names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame] | None:
        """These columns in batches of rows, in an order that is always the same; None without."""

    def count(self) -> int | None:
        """The number of rows, if it is known without reading them."""
