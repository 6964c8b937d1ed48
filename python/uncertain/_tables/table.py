"""`Table`: the columns of any table, in Polars, asked for by name.

A `Frame` is what the caller's library gives; here are the columns that were read of it, their units, and
blocks of them as the extension reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._data.array import GaussianArray
from .._data.typing import ColumnType, Ints, NativeColumn, NativeTable
from .._data.units import Unit, as_unit, converted, unit_name
from .._uncertain import Rows
from ..exceptions import ColumnError, ShapeError
from .answers import Columns, answer
from .columns import require
from .frame import KINDS_OF_TABLES, BatchSize, Frame

if TYPE_CHECKING:
    import polars as pl


class Table:
    """The caller's table, untouched, and the few questions asked of it."""

    def __init__(
        self,
        source: Frame | None,
        columns: Collection[pl.Series] = (),
        *,
        own_units: Mapping[str, Unit] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> None:
        self._source = source
        """Where columns come from that are not in memory; None where all are."""
        self.is_late = source is not None and source.whole is None
        """Is it a query, which is collected when it is asked?"""
        loaded = columns if source is None or columns else source.loaded
        self.columns = {column.name: column for column in loaded}
        """Those that are in memory."""
        self.names = [*self.columns] if source is None else source.names
        """Column names, in order."""
        self.origin = "" if source is None else source.origin
        """The file that it is of."""
        self.notes = () if source is None else source.notes
        """Sentences on what was decided when it was opened."""
        self._own_units = own_units
        self._units = units or {}
        self._places = {name: place for place, name in enumerate(self.names)}
        self._is_sample = False  # a few rows in the place of a whole table, of which nothing more is read

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> Table:
        """A frame of Polars."""
        return cls(None, frame.get_columns())

    def with_columns(self, columns: Iterable[pl.Series]) -> Table:
        """A table of these columns, in the units of this one."""
        return Table(None, [*columns], own_units=self.own_units, units=self._units)

    @property
    def native(self) -> NativeTable:
        """The table as the caller's library has it, all columns of a query."""
        source = self._source
        if source is not None and source.whole is not None:
            return source.whole()
        frame = self.frame(self.names)
        return frame.to_arrow() if source is not None and source.kind == "pyarrow" else frame

    def answer(self, columns: Columns, *, beside: bool = False, fresh: bool = False) -> NativeTable:
        """New columns as a table of the caller's kind; `beside`: behind the caller's own; `fresh`: of other
        rows."""
        kind = "polars" if self._source is None else self._source.kind
        table = answer(kind, lambda: self.native, columns, beside=beside, fresh=fresh)
        wrap = None if self._source is None else self._source.wrap
        return table if wrap is None else wrap(table)

    # -- names, types, rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        known = self.counted()
        return len(next(iter(self.load(self.names).columns.values()))) if known is None else known

    def counted(self) -> int | None:
        """Number of rows, if it is known without reading them."""
        for column in self.columns.values():
            return len(column)
        return 0 if self._source is None else self._source.count()

    @cached_property
    def types(self) -> dict[str, ColumnType]:
        """What each column holds in its rows, by its type; "other" where a name is there twice."""
        from .series import column_types

        source = self._source
        types = column_types(self.columns.values() if source is None else source.loaded or source.schema())
        types |= {} if source is None else source.types
        if len(types) < len(self.names):
            types |= {name: "other" for name, count in Counter(self.names).items() if count > 1}
        return types

    @cached_property
    def own_units(self) -> dict[str, Unit]:
        """astropy's units of the columns that have one."""
        own = self._source.units() if self._own_units is None and self._source else self._own_units
        return {name: as_unit(unit) for name, unit in (own or {}).items()}

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
        return Table(self._source, self.columns.values(), own_units=self.own_units, units=units)

    def in_units_of(self, table: Table) -> Table:
        """The columns in the units of another table, of which they are a copy."""
        return Table(self._source, self.columns.values(), own_units=table.own_units, units=table._units)

    # -- reading

    def load(self, names: Iterable[str]) -> Self:
        """Say which columns will be asked for: a query collects them at once, with its rows in one order.

        Names that are no columns are passed over: the later question raises.
        """
        if not self.is_late or self._is_sample:
            return self
        assert self._source is not None
        known, wanted, present = self.names, set(names), self.columns.keys()
        if not present or wanted & set(known) - present:
            chosen = [name for name in known if name in wanted or name in present]
            # No column at all has no rows, and names that are there twice are told apart by nothing.
            whole = not chosen or len(chosen) == len(known) or len(set(known)) < len(known)
            read = self._source.read(known if whole else chosen)
            before = self.counted() if present else None
            if before is not None and read and len(read[0]) != before:
                raise ShapeError(
                    f"the query gave {before} rows and then {len(read[0])}: collect it once, and pass the "
                    "table"
                )
            self.columns = {column.name: column for column in read}
        return self

    def forget(self) -> None:
        """Let go of what was collected of files, which are read again when they are asked."""
        if self.repeats and not self._is_sample:
            self.columns = {}

    def collected(self, names: Iterable[str]) -> bool:
        """Are these columns in memory?"""
        return not self.is_late or {*names} <= self.columns.keys()

    @property
    def streams(self) -> bool:
        """Is it a query that can be read in batches?"""
        return self.is_late and self._source.stream is not None and not self._is_sample  # type: ignore[union-attr]

    @property
    def repeats(self) -> bool:
        """Is it a query that gives its rows in the same order whenever it is read? A file does."""
        return self.is_late and self._source.count() is not None  # type: ignore[union-attr]

    def divisible(self) -> int | None:
        """The number of rows of what can be read in parts, as often as one likes; None for all else."""
        divisible = self.streams and self.repeats if self.is_late else not (self.origin or self._is_sample)
        return self.counted() if divisible else None

    def series(self, names: Sequence[str]) -> list[pl.Series]:
        """The columns; ColumnError for the first that is not there, or there twice."""
        for name in names:
            self._place(name)
        unread = [name for name in names if name not in self.columns]
        if unread:
            if self._is_sample or self._source is None:
                raise ColumnError(f"column {unread[0]!r} was not read from these rows")
            if self.is_late:
                self.load(unread if self.columns else self.names)
            else:
                self.columns |= zip(unread, self._source.read(unread), strict=True)
        return [self.columns[name] for name in names]

    def first_rows(self, name: str, n_rows: int) -> pl.Series | None:
        """Return some rows of a column; None where a query would be run for them, or it cannot be read."""
        if name in self.columns or not (self.is_late or self.names.count(name) > 1):
            self.counted()  # which refuses columns of different lengths
            try:
                return self.series([name])[0].head(n_rows)
            except (ColumnError, TypeError):  # refused where it is asked for
                return None
        return self._heads.get(name)

    @cached_property
    def _heads(self) -> dict[str, pl.Series]:
        """The first rows of the columns of files."""
        source = self._source
        if source is None or source.head is None or not source.origin or len({*self.names}) < len(self.names):
            return {}
        return {column.name: column for column in source.head(self.names)}

    def block(
        self, names: Sequence[str], missing: str = "nan", *, like: Sequence[str] = (), power: int = 1
    ) -> Rows:
        """Columns of numbers side by side, or one column of lists, as the extension reads them.

        `missing`: what is done with nulls and NaN. Error bars get the units of the columns `like`,
        one for each; variances to their second `power`.
        """
        units = self.unit_names(like) if len(like) == len(names) else ()
        return Rows.from_arrow(self.numbers(names, units, power), list(names), missing)

    def numbers(
        self, names: Sequence[str], units: Sequence[str | None] = (), power: int = 1
    ) -> list[pl.Series]:
        """The columns as something whose Arrow memory the extension reads; nulls stay nulls.

        With `units`, columns that know their own unit are converted to ``unit ** power``: the unit of the
        values, and 2 for the variances of such values. ColumnError, with both units, if it cannot be.
        """
        numbers = [readable_numbers(column) for column in self.series(names)]
        if not (self.own_units or self._units):
            return numbers
        return [
            self._converted(column, name, unit or self._units.get(name), power)
            for column, name, unit in zip(numbers, names, units or [None] * len(names), strict=True)
        ]

    def factor(self, name: str, unit: str | None, power: int = 1) -> float:
        """What `numbers` multiplies the column by."""
        return float(self._converted(1.0, name, unit or self._units.get(name), power))

    def values(self, name: str) -> list[Any]:
        """The column as Python objects, missing values as None (or NaN): for labels, of any type."""
        return list(self.column(name).to_list())

    def column(self, name: str, unit: str | None = None) -> pl.Series:
        """The column; with `unit`, numbers are converted to it as by `numbers`."""
        (column,) = self.series([name])
        converted: pl.Series = self._converted(column, name, unit) if unit else column
        return converted

    def batches(self, names: Sequence[str], size: BatchSize) -> Iterator[Table]:
        """These columns in batches of rows, in order; queries read one after the other."""
        if self.streams and not self.collected(names):
            assert self._source is not None and self._source.stream is not None
            for name in names:
                self._place(name)
            for frame in self._source.stream(names, size):
                yield self.with_columns(frame.get_columns())
            return
        columns = self.load(names).series(names)
        start, n_rows = 0, self.n_rows
        while start < n_rows:
            rows = size.rows
            yield self.with_columns(column.slice(start, rows) for column in columns)
            start += rows

    def rows(self, names: Sequence[str], at: Ints) -> Table:
        """These rows of these columns."""
        return self.with_columns(self.frame(names)[at].get_columns())

    def frame(self, names: Sequence[str]) -> pl.DataFrame:
        """These columns."""
        import polars as pl

        self.load(names)
        return pl.DataFrame(self.series(names))

    @classmethod
    def below(cls, tables: Sequence[Table], order: Ints | None = None) -> Table:
        """The rows of tables below each other, which are batches of one stream; in another `order`."""
        import polars as pl

        table, *more = tables
        if more:
            table = table.with_columns(pl.concat([each.frame(each.names) for each in tables]).get_columns())
        return table if order is None else table.rows(table.names, order)

    def replaced(self, columns: Iterable[pl.Series]) -> Table:
        """The table with other numbers in these columns; the caller's own stays."""
        table = copy(self)
        table.columns = self.columns | {column.name: column for column in columns}
        return table

    def standing_for(self, some: Table) -> Table:
        """`some` under the names and types of this table, of whose other columns nothing is read."""
        table = Table(self._source, some.series(some.names), own_units=self.own_units, units=self._units)
        table.names, table._places = self.names, self._places
        table.types, table._is_sample = self.types, True
        return table

    # -- answers

    def appended(self, columns: Columns) -> NativeTable:
        """A table of the same kind with this one's columns and the new ones behind them."""
        return self.answer(columns, beside=True)

    def take(self, name: str, rows: Ints) -> NativeColumn:
        """Some rows of a column, as the table's library has it."""
        self._place(name)
        if self._source is None or self._source.column is None:
            return self.series([name])[0].gather(rows)
        column = self._source.column(name)
        if hasattr(column, "iloc"):
            return column.iloc[rows].reset_index(drop=True)
        return column[rows] if hasattr(column, "dtype") else [column[row] for row in rows.tolist()]

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


def readable_numbers(column: pl.Series) -> pl.Series:
    """A column of numbers, or lists of them, as the extension reads it; it refuses other types by name."""
    import polars as pl

    dtype = column.dtype
    if dtype == pl.Float64:
        return column
    if dtype == pl.Object:
        raise ColumnError(
            f"{column.name}: cannot be read as numbers or lists of them: its values are of several types"
        )
    # A column of nothing but nulls has no Arrow buffers to hand over; decimals are no floats yet.
    if dtype == pl.Null or isinstance(dtype, pl.Decimal) or str(dtype) in ("Int128", "UInt128"):
        return column.cast(pl.Float64)
    if str(dtype) == "Float16":  # which older versions do not have
        return column.cast(pl.Float32)
    return column


def open_table(X: NativeTable) -> Table:
    """`X` as a Table; queries are collected when they are asked. TypeError for what is not a table."""
    table = as_table(X)
    if table is None:
        raise TypeError(f"expected {KINDS_OF_TABLES}, got {type(X).__module__}.{type(X).__name__}")
    return table


def as_table(X: NativeTable) -> Table | None:
    """`X` as a Table, with columns that hold more than a number taken apart; None for what is not a table."""
    if isinstance(X, Table):
        return X
    if isinstance(X, GaussianArray) or (type(X) is np.ndarray and X.dtype.names is None):
        return None
    from .carried import expand
    from .libraries import open_frame

    frame = open_frame(X)
    if frame is None:
        return None
    is_plain = frame.loaded and all(c.dtype.is_numeric() or str(c.dtype) == "Boolean" for c in frame.loaded)
    return Table(frame if is_plain else expand(frame))
