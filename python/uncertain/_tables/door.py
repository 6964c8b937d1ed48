"""What a `Table` asks of the columns behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from .._data.typing import NativeColumn
from .._data.units import Unit

if TYPE_CHECKING:
    import polars as pl

TypeName = Literal["number", "list", "other"]


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

    def types(self) -> list[TypeName]:
        """What every column holds in each row, by its type."""

    def units(self) -> dict[str, Unit]:
        """astropy's units of the columns that have one."""

    def native(self, places: Iterable[int]) -> list[NativeColumn]:
        """The columns as their library has them."""

    def read(self, names: Sequence[str] | None) -> list[pl.Series]:
        """These columns (None: all of them), whose names are unique."""

    def slice(self, start: int, stop: int) -> Door:
        """Some of the rows of what is there."""

    def stream(self, names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame] | None:
        """These columns in batches of rows, in an order that is always the same; None without."""

    def count(self) -> int | None:
        """The number of rows, if it is known without reading them."""
