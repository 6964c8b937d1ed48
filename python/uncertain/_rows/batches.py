"""A table read in parts by `AsGaussians`: what is learned of all rows, and their Gaussians, in order.

Idea: a table in which nothing is missing is read once. With ``on_missing="auto"`` the first reading takes it
for one, and counts (`Statistics`). Where it meets something that is missing, or finds in the end that numbers
mean nothing, all rows are counted first and read again.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._data.incomplete import GaussianRows, Incomplete, with_gaps
from .._data.options import refuse_if
from .._data.typing import Ints
from .._tables.columns import Columns
from .._tables.contents import Look
from .._tables.frame import BatchSize
from .._tables.statistics import Statistics
from .._tables.table import Table
from .._uncertain import give_memory_back
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians
from ..preprocessing._categories import Categories, find_categories, joined_categories
from .rows import Place
from .source import PART_BYTES, Source, in_parts, numbered

FIRST_ROWS = 16_384
"""Rows of a first part whose lists are of unknown lengths."""


def suits_parts(source: Source, columns: Columns, *, named: bool) -> bool:
    """Is nothing asked of all rows of a large table at once? Error columns that hold nothing need a full
    scan, unless they were `named`, or the first rows hold something."""
    found, table = columns.found, source.table
    if found.target_limit is not None or found.target_pairs.columns or found.flags:
        return False
    if named:
        return True
    assert table is not None
    look, bars = Look(table), columns.error_bars.values()
    return not any(look.starts_empty(name) for bar in bars for name in bar.columns)


class _Parts:
    """The rows (`at`: of these numbers) as `AsGaussians` reads them, part by part, as often as one likes."""

    def __init__(
        self, reading: AsGaussians, table: Table, columns: Columns, at: Ints | None, part_bytes: int
    ) -> None:
        self._reading = reading
        self._table = table
        self._columns = columns
        self._at = at
        self._part_bytes = part_bytes
        used = sorted(columns.used)
        self._whole = table if table.collected(used) else None
        self._categories = None if self._whole is not None else self._collected_categories()

    def _batches(self, names: Sequence[str] = ()) -> Iterator[tuple[Table, int, Ints | None]]:
        """Rows, the number of the first one of their batch, and those of all behind it; None for all."""
        names = names or sorted(self._columns.used)
        lists = any(self._table.types.get(name) == "list" for name in names)
        rows = in_parts(len(names), self._part_bytes)
        size = BatchSize(min(rows, FIRST_ROWS) if lists else rows)
        first = 0
        for batch in self._table.batches(names, size):
            if lists and not first:
                numbers = sum(int(column.estimated_size()) for column in batch.columns.values()) // 8
                size.rows = in_parts(numbers // max(batch.n_rows, 1), self._part_bytes)
            at, kept = None, batch
            if self._at is not None:
                low, high = np.searchsorted(self._at, (first, first + batch.n_rows))
                at = self._at[low:high] - first
                kept = batch.rows(batch.names, at)
            if kept.n_rows:
                yield kept, first, at
            first += batch.n_rows

    def statistics(self) -> Statistics:
        statistics, n_rows = Statistics(self._columns), 0
        for table, first, at in self._batches():
            with numbered(first, at):
                statistics.add(table, n_rows)
            n_rows += table.n_rows
        return statistics

    def rows(self, statistics: Statistics, *, complete: bool) -> Iterator[GaussianRows]:
        """Yield rows, `complete` ones of which nothing may be missing, which are counted; else as they are
        cleaned by what was counted."""
        reading, n_rows = self._reading, 0
        for table, first, at in self._batches():
            with numbered(first, at):
                if n_rows:
                    rows = reading._transform(table, complete=complete, counting=not complete)
                else:
                    rows = self._first(table, statistics, complete=complete)
                if complete:
                    statistics.add(table, n_rows)
            n_rows += table.n_rows
            yield rows if complete else with_gaps(rows)  # alike in every part

    def _first(self, table: Table, statistics: Statistics, *, complete: bool) -> GaussianRows:
        """Read first rows, of which columns are learned; of a table in memory by all of its rows."""
        reading = self._reading
        if not complete:
            reading._learn(statistics)
        columns, categories = reading._settle(self._whole or table, self._categories, self._columns)
        if not complete:
            reading._learn_sizes(statistics, columns)
        return reading._read_first(
            table, columns, categories, whole=False, complete=complete, counting=not complete
        )

    def _collected_categories(self) -> Categories | None:
        """Categories of the whole columns, by a separate pass; None without categorical columns."""
        columns = self._columns.categorical or ()
        if not columns:
            return None
        categories: Categories = {}
        for batch, first, at in self._batches(columns):
            with numbered(first, at):
                more = find_categories(batch, columns, self._reading.on_missing)
                categories = joined_categories(categories, more)
        return categories


def read_in_parts(
    reading: AsGaussians,
    source: Source,
    columns: Columns,
    place: Place,
    *,
    at: Ints | None = None,
    part_bytes: int = PART_BYTES,
) -> list[Any]:
    """The rows of a table, which gives the same whenever it is read, as parts of a place. Fits the `reading`
    with codes and categories of all rows; `at`: the numbers of those that count."""
    table = source.table
    assert table is not None
    table.forget()
    reading._forget_unknown()
    automatic = reading.on_missing == "auto"
    with source.named():
        rows, statistics = _Parts(reading, table, columns, at, part_bytes), Statistics(columns)
        try:
            parts = place.keep(rows.rows(statistics, complete=True))
        except UncertainError:  # something is missing, or text for numbers; raised again if it is not that
            if not automatic:
                raise
            statistics = rows.statistics()
            parts = place.keep(rows.rows(statistics, complete=False))
        else:
            if automatic and statistics.cleaning().changes:
                del parts
                parts = place.keep(rows.rows(statistics, complete=False))
            elif parts:
                reading._learn(statistics)
                reading._learn_sizes(statistics, reading.columns_)
    give_memory_back()
    refuse_if(not parts, "the table has no rows", UncertainError)
    if all(isinstance(part, Incomplete) for part in parts):
        reading._refuse_empty(np.logical_and.reduce([part.missing.all(axis=0) for part in parts]))
    return parts
