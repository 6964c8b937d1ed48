"""The data of a fit or a model: a table, a file, or rows without columns; opened once, asked by name."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, Self, TypeGuard

import numpy as np

from .._data.column import as_values, rows_with_value
from .._data.groups import Groups, groups_from
from .._data.numbers import float_array
from .._data.targets import numbers_from, targets_from, weights_from
from .._data.typing import ColumnOrValues, Floats, Ints, Labels, NativeTable, Values
from .._data.validation import TableLike
from .._data.warn import warn
from .._tables.columns import Columns, require
from .._tables.error_bar import ErrorBar
from .._tables.frame import refuse_strange
from .._tables.paths import Paths
from .._tables.table import Table, as_table
from ..exceptions import ColumnError, ParameterError, ShapeError, UncertainError, UncertainWarning
from ..preprocessing._error_bars import deviations_of_target

LARGE = 64 << 20
"""Bytes of numbers from which a table is read in parts: less is not worth more than one."""
PART_BYTES = 8 << 20
"""Of a part: what is made of it beside it stays in the cache, and small."""
UNIT = 1024
"""Rows of a part are a multiple of it, as the core's blocks of rows are."""


@dataclass(frozen=True)
class Source:
    """Rows, and the columns beside the features if they come from a table."""

    rows: Any
    """A `Table`, or rows without columns as the caller gave them: a GaussianArray, an array."""
    absent: frozenset[str] = frozenset()
    """Error columns that the table lacks, and that others stand in for."""
    errors: Literal["typical", "zero"] | None = None
    """Which ones."""
    table: Table | None = field(init=False)
    """The rows, where they have columns."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", self.rows if isinstance(self.rows, Table) else None)

    @classmethod
    def from_input(cls, data: TableLike, *, notes: bool = True) -> Source:
        """A table of any library, the path of one, or rows without columns; `notes`: warn of what was decided
        when it was opened."""
        if _are_paths(data):
            from .._tables.files import open_files

            table: Table | None = open_files(data)
        else:
            table = as_table(data)
        if table is None:
            refuse_strange(data)
        elif notes:
            for note in table.notes:
                warn(f"{table.origin}: {note}" if table.origin else note, UncertainWarning)
        return cls(data if table is None else table)

    def require(self, names: Sequence[str], advice: str) -> None:
        """ColumnError for the first of these columns that the table has not."""
        present = self.names
        missing = next((name for name in names if name not in present), None)
        if missing is not None:
            with self.named():  # a column that is asked for, too, was not meant
                require(missing, [other for other in present if other not in names], advice)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors about columns say which file they are about."""
        try:
            yield
        except ColumnError as error:
            self.refuse(error)

    def refuse(self, error: ColumnError) -> NoReturn:
        """The error, which says which file it is about."""
        origin = "" if self.table is None else self.table.origin
        if not origin:
            raise error
        raise ColumnError(f"{origin}: {error}") from error

    @property
    def data(self) -> Any:
        """The rows as the caller's library has them: a frame, a GaussianArray, an array."""
        return self.rows if self.table is None else self.table.native

    def load(self, names: Iterable[object]) -> Self:
        """Collect these columns of a lazy table, all at once; what is no name of a column is passed over."""
        if self.table is not None:
            self.table.load(name for name in names if isinstance(name, str))
        return self

    @property
    def names(self) -> list[str]:
        """Names of the columns, none without a table."""
        return [] if self.table is None else self.table.names

    @property
    def n_rows(self) -> int:
        return len(self.rows) if self.table is None else self.table.n_rows

    def is_large(self, columns: Columns) -> bool:
        """Is it a table that is worth being read in parts, and can be? Lists count as one number: they are
        read in place."""
        n_rows = None if self.table is None else self.table.divisible()
        return n_rows is not None and 8 * n_rows * len(columns.used) > LARGE

    def targets(
        self,
        target: ColumnOrValues,
        task: str,
        *,
        partial: bool = False,
        coded: bool = False,
        unit: str | None = None,
    ) -> tuple[Labels, bool]:
        """(targets, are they quantities?) from a column, by name, or the values of the caller, checked."""
        values, what, n_rows = self._values(target, "target", unit)
        return targets_from(values, what, task, n_rows, partial=partial, coded=coded)

    def target_stds(
        self,
        target_std: ColumnOrValues,
        missing: float | None = None,
        *,
        unit: str | None = None,
        bar: ErrorBar | None = None,
        y: Labels | None = None,
    ) -> Floats:
        """Standard deviations of the targets `y` from a column, by name, or the caller's values, checked;
        `bar`: what the column says."""
        if isinstance(target_std, tuple):
            assert self.table is not None and bar is not None and y is not None
            return deviations_of_target(self.table, bar, np.asarray(y, dtype=float), missing)
        values = self._values(target_std, "target_std", None if bar is not None and bar.share else unit)
        stds = numbers_from(*values, "standard deviations", missing=missing)
        if bar is None or bar.is_plain or not isinstance(target_std, str):
            return stds
        return stds * bar.scale * (bar.share * np.abs(np.asarray(y, dtype=float)) if bar.share else 1.0)

    def beside(self, given: ColumnOrValues | Sequence[str], role: str) -> Floats:
        """Finite numbers of each row from a column, several columns, or the values of the caller."""
        if isinstance(given, (list, tuple)) and given and all(isinstance(name, str) for name in given):
            return np.column_stack([self.beside(name, role) for name in given])
        if not isinstance(given, str):
            values = float_array(given, role)
            if values.ndim == 0 or len(values) != self.n_rows:
                raise ShapeError(f"{role}: expected {self.n_rows} rows, got an array of shape {values.shape}")
            return values
        return numbers_from(*self._values(given, role))

    def unit(self, column: object) -> str | None:
        if self.table is None or not isinstance(column, str):
            return None
        return self.table.unit(column)

    def weights(self, weights: ColumnOrValues) -> Floats:
        """Weight of each row, from a column, by name, or the values of the caller, checked."""
        return weights_from(*self._values(weights, "sample_weight"))

    def groups(self, groups: ColumnOrValues, advice: str = "") -> Groups:
        """The rows' groups from a column, by name, or the values of the caller."""
        if not isinstance(groups, str):
            return Groups(groups_from(groups, "groups", self.n_rows))
        if self.table is not None:
            require(groups, self.names, advice)
        values, name, n_rows = self._values(groups, "groups")
        return Groups(groups_from(values, name, n_rows), name)

    def rows_with(self, target: ColumnOrValues) -> Ints | None:
        """The numbers of the rows with a target; None for all rows."""
        values = target
        if isinstance(target, str):
            if self.table is None:
                return None
            values = self.table.column(target)
        at = rows_with_value(values)
        if at is not None and not len(at):
            what = target if isinstance(target, str) else "target"
            raise UncertainError(f"{what}: no row has a value; nothing can be learned from the table")
        return at

    def take(self, at: Ints, names: Iterable[str]) -> Source:
        if self.table is None:
            return Source(self.rows[at])
        present = [name for name in dict.fromkeys(names) if name in self.table.types]
        return Source(self.table.rows(present, at))

    def _values(self, given: ColumnOrValues, role: str, unit: str | None = None) -> tuple[Values, str, int]:
        """The values that are given, or in the column of that name; what errors call them; how many there
        have to be."""
        if not isinstance(given, str):
            return as_values(given, role), role, self.n_rows
        if self.table is None:
            raise ParameterError(f"{role}={given!r} names a column of a table, but these rows have none")
        values = self.table.column(given, unit)
        return values, given, len(values)

    def check_new(self, names: Iterable[str], instead: str) -> Self:
        """Refuse new columns for what is no table, or whose names are taken; load all columns otherwise."""
        if self.table is None:
            raise ParameterError(
                f"append=True adds columns to a table, but data of type {type(self.rows).__name__} has none"
            )
        self.table.refuse_existing(names, instead)
        return self.load(self.names)


def _are_paths(given: object) -> TypeGuard[Paths]:
    if isinstance(given, (list, tuple)):
        return len(given) > 0 and all(isinstance(path, (str, os.PathLike)) for path in given)
    return isinstance(given, (str, os.PathLike))


def is_dask(X: object) -> bool:
    """Is it a DataFrame of Dask? Dask is not imported for that."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(X, frames.DataFrame)


def lazily(
    table: NativeTable, ask: Callable[[NativeTable], NativeTable], like: Callable[[NativeTable], NativeTable]
) -> NativeTable:
    """`ask` of every partition, when it is needed; `like` gives the empty answer to an empty table."""
    meta = like(table._meta)
    return table.map_partitions(_of_partition, ask, meta, meta=meta)


def _of_partition(
    part: NativeTable, ask: Callable[[NativeTable], NativeTable], empty: NativeTable
) -> NativeTable:
    return ask(part) if len(part) else empty


def in_parts(numbers_per_row: int, part_bytes: int = PART_BYTES) -> int:
    """The number of rows of a part whose rows have so many numbers."""
    return max(part_bytes // (8 * max(numbers_per_row, 1)) // UNIT, 1) * UNIT


@contextmanager
def numbered(first: int, at: Ints | None = None) -> Iterator[None]:
    """Errors count rows from the first of the table; `at`: the rows that are looked at."""
    try:
        yield
    except UncertainError as error:
        if not first and at is None:
            raise

        def place(row: re.Match[str]) -> str:
            number = int(row[1])
            return f"row {first + (number if at is None or number >= len(at) else int(at[number]))}"

        raise type(error)(re.sub(r"\brow (\d+)", place, str(error))) from error
