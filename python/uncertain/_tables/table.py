"""`Table`: the columns of any table, in Polars, asked for by name.

Design: every table is columns of Polars inside. How they come in is a `Door`: columns that are there, taken
over one by one when they are asked for (`InMemory`), or a query that is collected late and can be read in
batches (`Query`). How answers go back to the caller's kind is an `Exit`. Code for other libraries stands in
these two alone. A table is never asked for everything at once: a Polars frame rechunks itself then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._columns.bars import require
from .._data.plain import decoded
from .._data.typing import Ints, Labels
from ..exceptions import ColumnError, ShapeError
from .door import BatchSize, Door, TypeName
from .units import as_unit, converted, unit_name

if TYPE_CHECKING:
    import polars as pl

    from .exits import Exit


class Table:
    """The caller's table, untouched, and the few questions asked of it."""

    def __init__(
        self, door: Door, exit: Exit, *, origin: str = "", units: Mapping[str, str] | None = None
    ) -> None:
        self.door = door
        self.exit = exit
        self.names = door.names
        """Column names, in order."""
        self.origin = origin
        self._units = units or {}
        self._places = {name: place for place, name in enumerate(door.names)}
        self._columns: dict[str, pl.Series] = {}
        self.notes: tuple[str, ...] = ()
        """Sentences on what was decided when it was opened."""
        self._stands = False  # are some rows in the place of a whole table, of which nothing more is read?

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> Table:
        """A frame of Polars."""
        return cls._from_frame(frame, {}, {})

    @classmethod
    def _from_frame(cls, frame: pl.DataFrame, own: dict[str, Any], units: Mapping[str, str]) -> Table:
        """One whose columns have units of their `own`, and are to be in these."""
        from .doors import InMemory
        from .exits import PolarsExit

        door = InMemory(frame.columns, frame.to_series, frame.__len__, lambda: own)
        return cls(door, PolarsExit(lambda: frame), units=units)

    @property
    def native(self) -> Any:
        """The table as the caller's library has it, all columns of a query."""
        if self.door.late:
            self.load(self.names)
        return self.exit.whole()

    # -- names, types, rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        known = self.counted()
        return len(next(iter(self.load(self.names)._columns.values()))) if known is None else known

    def counted(self) -> int | None:
        """Number of rows, if it is known without reading them."""
        first = next(iter(self._columns.values()), None)
        return self.door.count() if first is None else len(first)

    @cached_property
    def types(self) -> dict[str, TypeName]:
        """What each column holds in its rows, by its type; "other" where a name is there twice."""
        types: dict[str, TypeName] = dict(zip(self.names, self.door.types(), strict=True))
        if len(types) < len(self.names):
            types |= {name: "other" for name, count in Counter(self.names).items() if count > 1}
        return types

    @cached_property
    def own_units(self) -> dict[str, Any]:
        """astropy's units of the columns that have one."""
        return {name: as_unit(unit) for name, unit in self.door.units().items()}

    def unit_names(self, names: Sequence[str]) -> list[str | None]:
        """The names of the columns' units, "" for numbers that are said to have no dimension.

        None where the kind of table, or this column, knows none.
        """
        if not (self.own_units or self._units):
            return [None] * len(names)
        return [self._units.get(name) or unit_name(self.own_units.get(name)) for name in names]

    def unit(self, name: str) -> str | None:
        """The name of the column's unit, if it has one; ColumnError for what is no column."""
        self._place(name)
        return self.units([name]).get(name)

    def units(self, names: Sequence[str]) -> dict[str, str]:
        """The units of those of the columns that have one."""
        return {name: unit for name, unit in zip(names, self.unit_names(names), strict=True) if unit}

    def in_units(self, units: Mapping[str, str]) -> Table:
        """The table with its values in these units, such as those that a model was fitted in."""
        if not units:
            return self
        table = Table(self.door, self.exit, origin=self.origin, units=units)
        table._columns = self._columns
        return table

    # -- reading

    def load(self, names: Iterable[str]) -> Self:
        """Say which columns will be asked for: a query collects them at once, with its rows in one order.

        Names that are no columns are passed over: the later question raises.
        """
        if not self.door.late or self._stands:
            return self
        known, wanted, present = self.names, set(names), self._columns.keys()
        if not present or wanted & set(known) - present:
            chosen = [name for name in known if name in wanted or name in present]
            # No column at all has no rows, and names that are there twice are told apart by nothing.
            whole = not chosen or len(chosen) == len(known) or len(set(known)) < len(known)
            read = self.door.read(None if whole else chosen)
            before = self.counted() if present else None
            if before is not None and read and len(read[0]) != before:
                raise ShapeError(
                    f"the query gave {before} rows and then {len(read[0])}: collect it once, and pass the "
                    "table"
                )
            self._columns = {column.name: column for column in read}
        return self

    def forget(self) -> None:
        """Let go of what was collected of files, which are read again when they are asked."""
        if self.repeats and not self._stands:
            self._columns = {}

    def collected(self, names: Iterable[str]) -> bool:
        """Are these columns in memory?"""
        return not self.door.late or {*names} <= self._columns.keys()

    @property
    def streams(self) -> bool:
        """Is it a query that can be read in batches?"""
        return self.door.streams and not self._stands

    @property
    def repeats(self) -> bool:
        """Is it a query that gives its rows in the same order whenever it is read? A file does."""
        return self.door.late and self.door.count() is not None

    @property
    def divisible(self) -> bool:
        """Can it be read in parts, as often as one likes?"""
        return self.streams and self.repeats if self.door.late else not (self.origin or self._stands)

    def series(self, names: Sequence[str]) -> list[pl.Series]:
        """The columns; ColumnError for the first that is not there, or there twice."""
        for name in names:
            self._place(name)
        unread = [name for name in names if name not in self._columns]
        if unread:
            if self._stands:
                raise ColumnError(f"column {unread[0]!r} was not read of these rows")
            if self.door.late:
                self.load(unread if self._columns else self.names)
            else:
                self._columns |= zip(unread, self.door.read(unread), strict=True)
        return [self._columns[name] for name in names]

    def numbers(
        self, names: Sequence[str], units: Sequence[str | None] = (), power: int = 1
    ) -> list[pl.Series]:
        """The columns as something whose Arrow memory the extension reads; nulls stay nulls.

        With `units`, columns that know their own unit are converted to ``unit ** power``: the unit of the
        values, and 2 for the variances of such values. ColumnError, with both units, if it cannot be.
        """
        from .columns import as_numbers, refuse_no_numbers

        if not self.door.late:
            refuse_no_numbers(self.door.native([self._place(name) for name in names]), names)
        numbers = as_numbers(self.series(names))
        if not (self.own_units or self._units):
            return numbers
        return [
            self._converted(column, name, unit or self._units.get(name), power)
            for column, name, unit in zip(numbers, names, units or [None] * len(names), strict=True)
        ]

    def factor(self, name: str, unit: str | None, power: int = 1) -> float:
        """What `numbers` multiplies the column by."""
        return float(self._converted(1.0, name, unit or self._units.get(name), power))

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        """The column as Python objects, missing values as None (or NaN): for labels, of any type.

        With `unit`, numbers are converted to it as by `numbers`.
        """
        (column,) = self.series([name])
        return list((self._converted(column, name, unit) if unit else column).to_list())

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        """The column as booleans, integers, floats or strings, if no row is without one; else None.

        Strings by the places of their distinct values. With `unit` as in `values`.
        """
        import polars as pl

        (column,) = self.series([name])
        dtype = column.dtype
        if column.null_count() or not len(column):
            return None
        if dtype in (pl.String, pl.Categorical, pl.Enum):
            distinct = (text := column.cast(pl.String)).unique()
            places = text.replace_strict(distinct, range(len(distinct)), return_dtype=pl.Int64)
            return decoded(places.to_numpy(), distinct.to_list())
        if dtype == pl.Boolean:
            return np.asarray(column.to_numpy())
        if not (dtype.is_float() or (dtype.is_integer() and dtype != pl.Int128)):
            return None
        return np.asarray(self._converted(column, name, unit).to_numpy())

    def slice(self, start: int, stop: int) -> Table:
        """Rows `start` to `stop` of what is in memory."""
        if self.door.late or self._stands:
            self.load(self._columns.keys() or self.names)
            import polars as pl

            frame = pl.DataFrame(list(self._columns.values())).slice(start, stop - start)
            return Table._from_frame(frame, self._units_among(frame.columns), self._units)
        return Table(self.door.slice(start, stop), self.exit, units=self._units)

    def batches(self, names: Sequence[str], size: BatchSize) -> Iterator[Table]:
        """These columns in batches of rows, in order; queries read one after the other."""
        read = None if self.collected(names) else self.door.stream(names, size)
        if read is not None:
            for name in names:
                self._place(name)
            for frame in read:
                yield Table._from_frame(frame, self._units_among(frame.columns), self._units)
            return
        self.load(names)
        start, n_rows = 0, self.n_rows
        while start < n_rows:
            stop = min(start + size.rows, n_rows)
            yield self.slice(start, stop)
            start = stop

    def rows(self, names: Sequence[str], at: Ints) -> Table:
        """These rows of these columns."""
        return Table._from_frame(self.frame(names)[at], self._units_among(names), self._units)

    def _units_among(self, names: Sequence[str]) -> dict[str, Any]:
        """astropy's units of those of the columns that have one."""
        return {name: unit for name, unit in self.own_units.items() if name in names}

    def frame(self, names: Sequence[str]) -> pl.DataFrame:
        """These columns."""
        import polars as pl

        self.load(names)
        return pl.DataFrame(self.series(names))

    def with_columns(self, frame: pl.DataFrame) -> Table:
        """The table of a frame that has more columns than this one, whose units stay."""
        return Table._from_frame(frame, self.own_units, self._units)

    @classmethod
    def below(cls, tables: Sequence[Table]) -> Table:
        """The rows of tables below each other, which are batches of one stream."""
        import polars as pl

        if len(tables) == 1:
            return tables[0]
        first = tables[0]
        frame = pl.concat([table.frame(table.names) for table in tables])
        return cls._from_frame(frame, first.own_units, first._units)

    def standing_for(self, some: Table) -> Table:
        """`some` under the names and types of this table, of whose other columns nothing is read."""
        table = Table(self.door, self.exit, origin=self.origin, units=self._units)
        table._columns, table._stands = dict(zip(some.names, some.series(some.names), strict=True)), True
        return table

    # -- answers

    def result(self, columns: Mapping[str, Any]) -> Any:
        """New columns, one value per row, as a table of the same kind, with the index that this one has."""
        return self.exit.frame(self.exit.columns(columns))

    def answer(self, name: str, values: Labels) -> Any:
        """One new column as the table's library has it."""
        return self.result({name: values})[name]

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """A table of the same kind with this one's columns and the new ones behind them."""
        if self.door.late:
            self.load(self.names)
        return self.exit.append(self.exit.columns(columns))

    def take(self, name: str, rows: Ints) -> Any:
        """Some rows of a column, as the table's library has it."""
        (column,) = self.series([name]) if self.door.late else self.door.native([self._place(name)])
        return self.exit.take(column, rows)

    def refuse_existing(self, names: Iterable[str], instead: str) -> None:
        """ColumnError if the table has a column of one of these names, which would be replaced."""
        present = set(self.names)
        clash = next((name for name in names if name in present), None)
        if clash is not None:
            raise ColumnError(
                f"append=True adds a column {clash!r}, but the table has one: rename or drop it, or take the "
                f"predictions by themselves with {instead}"
            )

    def _converted(self, column: Any, name: str, unit: str | None, power: int = 1) -> Any:
        return converted(column, self.own_units.get(name), unit, power, name)

    def _place(self, name: str) -> int:
        """The number of the column, from 0."""
        names = self.names
        if name not in self._places:
            require(name, names)
        if len(self._places) < len(names) and (count := names.count(name)) > 1:
            raise ColumnError(f"there are {count} columns {name!r}; rename them so that the choice is clear")
        return self._places[name]
