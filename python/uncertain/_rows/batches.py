"""A table read in parts by `AsGaussians`: what is learned of all rows, and their Gaussians, in order.

Idea: a table in which nothing is missing is read once. With ``on_missing="auto"`` the first reading takes it
for one, and counts (`Statistics`). Where it meets something that is missing, or finds in the end that numbers
mean nothing, all rows are counted first and read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._data.incomplete import GaussianRows, Incomplete, with_gaps
from .._data.typing import Ints, Label
from .._tables.columns import Columns
from .._tables.contents import contradictions, empty_errors
from .._tables.frame import BatchSize
from .._tables.statistics import Statistics
from .._tables.table import Table
from .._uncertain import give_memory_back
from ..exceptions import ColumnError, MissingErrorBarsError, NotFiniteError, NullError, UncertainError
from ..preprocessing import AsGaussians
from ..preprocessing._categories import Categories, find_categories, joined_categories
from .rows import Place
from .source import Source

INCOMPLETE = (NullError, NotFiniteError, MissingErrorBarsError, ColumnError)
"""Errors of a table that is not complete, or has text for numbers."""
LARGE = 64 << 20
"""Bytes of numbers from which a table is read in parts: less is not worth more than one."""
LOOKED_AT = 1_000
"""Rows in which an error column of a large table has to hold something."""
PART_BYTES = 8 << 20
"""Of a part: what is made of it beside it stays in the cache, and small."""
UNIT = 1024
"""Rows of a part are a multiple of it, as the core's blocks of rows are."""
FIRST_ROWS = 16_384
"""Rows of a first part whose lists are of unknown lengths."""


def in_parts(numbers_per_row: int, part_bytes: int = PART_BYTES) -> int:
    """The number of rows of a part whose rows have so many numbers."""
    return max(part_bytes // (8 * max(numbers_per_row, 1)) // UNIT, 1) * UNIT


def is_large(source: Source, columns: Columns) -> bool:
    """Is it a table that is worth being read in parts, and can be? Lists count as one number: they are read
    in place."""
    n_rows = None if source.table is None else source.table.divisible()
    return n_rows is not None and 8 * n_rows * len(columns.used) > LARGE


def suits_parts(source: Source, columns: Columns, *, named: bool) -> bool:
    """Is the table worth being read in parts, and nothing asked of all of its rows at once?

    Error columns that hold nothing need a full scan, unless they were `named`, or the first rows hold
    something.
    """
    if not is_large(source, columns):
        return False
    found = columns.found
    if found.target_limit is not None or found.target_pairs.columns:
        return False
    if named:
        return True
    assert source.table is not None
    first = next(iter(source.table.batches(sorted(columns.used), BatchSize(LOOKED_AT))), None)
    return first is not None and not (empty_errors(first, columns) or contradictions(first, columns))


class PartReading:
    """`AsGaussians` fitted to these columns of a table, which gives the same rows whenever it is read.

    `at`: the numbers of the rows that are read; None for all.
    """

    def __init__(
        self,
        reading: AsGaussians,
        table: Table,
        names: Sequence[str],
        *,
        at: Ints | None = None,
        part_bytes: int = PART_BYTES,
    ) -> None:
        self._reading = reading
        self._table = table
        self._names = names
        self._at = at
        self._part_bytes = part_bytes
        self._whole = table if table.collected(names) else None
        self._categories = None if self._whole is not None else self._collected_categories()

    def read(self, place: Place) -> list[Any]:
        """The rows in parts of a place: of the second reading, where it takes two."""
        reading = self._reading
        reading._forget_unknown()
        counted: list[Statistics] = []
        try:
            parts = place.keep(self._strict(counted))
        except INCOMPLETE:
            if reading.on_missing != "auto":
                raise
            counted = [self._statistics()]
        else:
            if reading.on_missing != "auto" or not any(each.cleaning().changes for each in counted):
                for each in counted:
                    reading._learn(each)
                    reading._learn_sizes(each, reading.columns_)
                return parts
        return place.keep(self._completed(counted[0]))

    def _batches(self, names: Sequence[str] | None = None) -> Iterator[tuple[Table, int, Ints | None]]:
        """Rows, the number of the first one of their batch, and those of all behind it; None for all."""
        names = self._names if names is None else names
        lists = any(self._table.types.get(name) == "list" for name in names)
        rows = in_parts(len(names), self._part_bytes)
        size = BatchSize(min(rows, FIRST_ROWS) if lists else rows)
        first = 0
        for batch in self._table.batches(names, size):
            if lists and not first:
                numbers = sum(int(column.estimated_size()) for column in batch.columns.values()) // 8
                size.rows = in_parts(numbers // max(batch.n_rows, 1), self._part_bytes)
            at = None
            if self._at is not None:
                low, high = np.searchsorted(self._at, (first, first + batch.n_rows))
                at = self._at[low:high] - first
                batch, n_rows = batch.rows(batch.names, at), batch.n_rows
            else:
                n_rows = batch.n_rows
            if batch.n_rows:
                yield batch, first, at
            first += n_rows

    def _statistics(self) -> Statistics:
        """Return those of all rows."""
        statistics: Statistics | None = None
        n_rows = 0
        for table, first, at in self._batches():
            if statistics is None:
                statistics = Statistics(self._reading._found(self._whole or table))
            with numbered(first, at):
                statistics.add(table, n_rows)
            n_rows += table.n_rows
        assert statistics is not None
        return statistics

    def _strict(self, counted: list[Statistics]) -> Iterator[GaussianRows]:
        """Yield rows of which nothing is missing, and count them."""
        reading, n_rows = self._reading, 0
        for table, first, at in self._batches():
            with numbered(first, at):
                if not n_rows:
                    counted[:] = [Statistics(reading._found(self._whole or table))]
                    columns, categories = self._settled(table, counted[0].columns)
                    rows = reading._read_first(table, columns, categories, whole=False, complete=True)
                else:
                    rows = reading._transform(table, complete=True)
                counted[0].add(table, n_rows)
            n_rows += table.n_rows
            yield rows

    def _completed(self, statistics: Statistics) -> Iterator[GaussianRows]:
        """Yield rows that are cleaned by what was counted."""
        reading, started = self._reading, False
        for table, first, at in self._batches():
            with numbered(first, at):
                if started:
                    rows = reading._transform(table, counting=True)
                else:
                    reading._learn(statistics)
                    columns, categories = self._settled(table, statistics.columns)
                    reading._learn_sizes(statistics, columns)
                    rows = reading._read_first(table, columns, categories, whole=False, counting=True)
                    started = True
            yield with_gaps(rows)  # alike in every part

    def _settled(self, table: Table, columns: Columns) -> tuple[Columns, Categories]:
        """What is learned of columns by the first rows; of a table in memory by all of its rows."""
        return self._reading._settle(self._whole or table, self._categories, columns)

    def _collected_categories(self) -> dict[str, list[Label]] | None:
        """Those of the whole columns, by a pass of its own over these; None without categorical columns."""
        columns = self._reading._asked().categorical or ()
        if not columns:
            return None
        found: dict[str, list[Label]] = {}
        for batch, first, at in self._batches(columns):
            with numbered(first, at):
                found = joined_categories(found, find_categories(batch, columns, self._reading.on_missing))
        return found


def read_in_parts(
    reading: AsGaussians,
    source: Source,
    names: Sequence[str],
    place: Place,
    *,
    at: Ints | None = None,
    part_bytes: int = PART_BYTES,
) -> list[Any]:
    """The rows of a table as parts of a place; codes for missing values and categories are looked for in all
    of them."""
    table = source.table
    assert table is not None
    table.forget()
    with source.named():
        parts = PartReading(reading, table, names, at=at, part_bytes=part_bytes).read(place)
    give_memory_back()
    if not parts:
        raise UncertainError("the table has no rows")
    if all(isinstance(part, Incomplete) for part in parts):
        reading._refuse_empty(np.logical_and.reduce([part.missing.all(axis=0) for part in parts]))
    return parts


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
