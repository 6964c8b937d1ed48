"""A table read in batches by `AsGaussians`: what is learned of all rows, and their Gaussians, in order.

Idea: a table in which nothing is missing is read once. With ``on_missing="auto"`` the first reading takes it
for one, and counts (`Statistics`). Where it meets something that is missing, or finds in the end that numbers
mean nothing, all rows are counted first and read again. A stream that is there once is read by what its first
batch says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from .._data.incomplete import GaussianRows, with_gaps
from .._data.typing import Ints, Label
from .._tables.columns import Columns
from .._tables.frame import BatchSize
from .._tables.statistics import Statistics
from .._tables.table import Table
from ..exceptions import (
    ColumnError,
    MissingErrorBarsError,
    NotFiniteError,
    NullError,
    ParameterError,
    UncertainError,
)
from ..preprocessing import AsGaussians
from ..preprocessing._categories import Categories, find_categories, joined_categories
from .labelled import rows_with

Collected = TypeVar("Collected")
INCOMPLETE = (NullError, NotFiniteError, MissingErrorBarsError, ColumnError)
"""Errors of a table that is not complete, or has text for numbers."""


class Batch(NamedTuple):
    """Some rows of a table."""

    table: Table
    rows: GaussianRows
    first: int
    """The number of its first row in the whole table."""
    at: Ints | None
    """The numbers of its rows behind that one, where some were left out."""


class BatchReading:
    """`AsGaussians` fitted to these columns of a table; rows without a value in `target` are left out."""

    n_left_out = 0
    """Rows without a target."""

    def __init__(
        self,
        reading: AsGaussians,
        table: Table,
        names: Sequence[str],
        size: BatchSize,
        target: str | None = None,
    ) -> None:
        self._reading = reading
        self._table = table
        self._names = names
        self._size = size
        self._target = target if reading.on_missing == "auto" else None
        self._whole = table if table.collected(names) else None
        self._categories = None if self._whole is not None else collected_categories(table, reading, size)

    def collect(self, collected: Callable[[Iterator[Batch]], Collected]) -> Collected:
        """What this makes of all batches: of those of the second reading, where it takes two."""
        reading = self._reading
        reading._forget_unknown()
        if reading.on_missing == "auto" and self._table.is_once:
            return collected(self._completed(None))
        counted: list[Statistics] = []
        try:
            answer = collected(self._strict(counted))
        except INCOMPLETE:
            if reading.on_missing != "auto":
                raise
            counted = [self._statistics()]
        else:
            if reading.on_missing != "auto" or not any(each.cleaning().changes for each in counted):
                for each in counted:
                    reading._learn(each)
                    reading._learn_sizes(each, reading.columns_)
                return answer
        return collected(self._completed(counted[0]))

    def _batches(self) -> Iterator[tuple[Table, int, Ints | None]]:
        """The rows with a target, the number of the first one, and those of the others behind it."""
        first = self.n_left_out = 0
        for batch in self._table.batches(self._names, self._size):
            at = None if self._target is None else rows_with(batch, self._target)
            kept = batch if at is None else batch.rows(batch.names, at)
            self.n_left_out += batch.n_rows - kept.n_rows
            if kept.n_rows:
                yield kept, first, at
            first += batch.n_rows

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

    def _strict(self, counted: list[Statistics]) -> Iterator[Batch]:
        """Yield batches of which nothing is missing, and count them."""
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
            yield Batch(table, rows, first, at)

    def _completed(self, statistics: Statistics | None) -> Iterator[Batch]:
        """Yield batches that are cleaned by what was counted; None: in the first one."""
        reading, started = self._reading, False
        for table, first, at in self._batches():
            with numbered(first, at):
                if started:
                    rows = reading._transform(table, counting=True)
                else:
                    statistics = statistics or Statistics(reading._found(table)).add(table)
                    reading._learn(statistics)
                    columns, categories = self._settled(table, statistics.columns)
                    reading._learn_sizes(statistics, columns)
                    rows = reading._read_first(table, columns, categories, whole=False, counting=True)
                    started = True
            yield Batch(table, with_gaps(rows), first, at)  # alike in every batch

    def _settled(self, table: Table, columns: Columns) -> tuple[Columns, Categories]:
        """What is learned of columns by the first rows; of a table in memory by all of its rows."""
        return self._reading._settle(self._whole or table, self._categories, columns)


def collected_categories(
    table: Table, reading: AsGaussians, size: BatchSize
) -> dict[str, list[Label]] | None:
    """Those of the whole columns, by a pass of its own over these; None without categorical columns."""
    columns = reading._asked().categorical or ()
    if not columns:
        return None
    if table.is_once:
        raise ParameterError(
            f"categorical={list(columns)!r}: their categories are collected first, but this stream is read "
            "once; pass a dataset or a path"
        )
    found: dict[str, list[Label]] = {}
    n_rows = 0
    for batch in table.batches(columns, size):
        with numbered(n_rows):
            found = joined_categories(found, find_categories(batch, columns, reading.on_missing))
        n_rows += batch.n_rows
    return found


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
