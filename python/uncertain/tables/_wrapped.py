"""Tables that are read as one kind and answered as another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from .._data.array import GaussianArray
from .._data.typing import Ints, Labels
from ._table import BatchSize, Table


class WrappedTable(Table):
    """A table that is read as another one and answered in a wrapping of its answers."""

    def __init__(self, inner: Table, wrap: Callable[[Any], Any]) -> None:
        self._inner = inner
        self._wrap = wrap

    @property
    def native(self) -> Any:
        """The table without the wrapper."""
        return self._inner.native

    @property
    def names(self) -> list[str]:
        return self._inner.names

    @property
    def n_rows(self) -> int:
        return self._inner.n_rows

    def load(self, names: Iterable[str]) -> Self:
        self._inner.load(names)
        return self

    def native_column(self, name: str) -> Any:
        return self._inner.native_column(name)

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        return self._inner.numbers(name, unit, power)

    def unit(self, name: str) -> str | None:
        return self._inner.unit(name)

    def is_numeric(self, name: str) -> bool:
        return self._inner.is_numeric(name)

    def is_nested(self, name: str) -> bool:
        return self._inner.is_nested(name)

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        return self._inner.values(name, unit)

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        return self._inner.array(name, unit)

    def result(self, columns: Mapping[str, Labels]) -> Any:
        return self._wrap(self._inner.result(columns))

    def take(self, name: str, rows: Ints) -> Any:
        return self._inner.take(name, rows)

    def slice(self, start: int, stop: int) -> Table:
        return WrappedTable(self._inner.slice(start, stop), self._wrap)

    def batches(self, names: Sequence[str], size: BatchSize) -> Iterator[Table]:
        return (WrappedTable(batch, self._wrap) for batch in self._inner.batches(names, size))

    def counted(self) -> int | None:
        return self._inner.counted()

    def new(self, columns: Mapping[str, Any], rows: GaussianArray | None) -> Any:
        return self._wrap(self._inner.new(columns, rows))

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        return self._wrap(self._inner.appended(columns))


class TableInUnits(WrappedTable):
    """A table whose columns of values are read in given units, such as those that a model was fitted in."""

    def __init__(self, inner: Table, units: Mapping[str, str]) -> None:
        super().__init__(inner, lambda table: table)
        self.origin = inner.origin
        self._units = units

    def slice(self, start: int, stop: int) -> Table:
        return TableInUnits(self._inner.slice(start, stop), self._units)

    def batches(self, names: Sequence[str], size: BatchSize) -> Iterator[Table]:
        return (TableInUnits(batch, self._units) for batch in self._inner.batches(names, size))

    def unit(self, name: str) -> str | None:
        """The given one."""
        return self._units.get(name, self._inner.unit(name))

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        """In the given unit, unless another is asked for."""
        return self._inner.numbers(name, unit or self._units.get(name), power)


def in_units(table: Table, units: Mapping[str, str]) -> Table:
    """The table with its values in these units; the table itself if there are none."""
    return TableInUnits(table, units) if units else table


def unwrapped(table: Table) -> Table:
    """The table within all wrappings."""
    while isinstance(table, WrappedTable):
        table = table._inner
    return table
