"""Rows in parts of memory, read and moved part by part: large tables that are there once.

The rows of every part are what a fitted step makes of them before the next part is looked at, so there are
never two copies of all.
"""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.base import BaseEstimator

from .._data.incomplete import GaussianRows, Incomplete
from .._spill import Parts, in_parts
from .._tables.columns import Columns
from .._tables.frame import BatchSize
from .._uncertain import give_memory_back
from ..preprocessing import AsGaussians
from ..preprocessing._empty import empty_errors
from .batches import Batch, BatchReading
from .source import Source
from .store import LocalRows
from .training import TrainingRows

LARGE = 64 << 20
"""Bytes of numbers from which a table is read in parts: less is not worth more than one."""
LOOKED_AT = 1_000
"""Rows in which an error column of a large table has to hold something."""


class InParts(LocalRows):
    """Rows in parts that share their memory with the array of all."""

    def __init__(self, parts: Parts, known: TrainingRows) -> None:
        self._parts = parts
        self.known = known

    @property
    def rows(self) -> GaussianRows:
        return self._parts.rows()

    def transform(self, step: BaseEstimator) -> None:
        """Part by part, in place."""
        self._parts.transform(step)

    def fit(self, step: BaseEstimator) -> None:
        """Without keeping what the fit no longer needs."""
        super().fit(step)
        give_memory_back()


def read_in_parts(reading: AsGaussians, source: Source, names: list[str]) -> Parts:
    """The rows of a table, part by part; codes for missing values and categories are looked for in all of
    them.

    The table is there, or gives the same rows in the same order whenever it is read.
    """
    table = source.table
    assert table is not None
    table.forget()

    def parts(batches: Iterator[Batch]) -> Parts:
        rows = Parts()
        for batch in batches:
            rows.append(batch.rows)
        return rows

    rows = BatchReading(reading, table, names, BatchSize(in_parts(len(names)))).collect(parts)
    give_memory_back()
    whole = rows.rows()
    if isinstance(whole, Incomplete):
        reading._refuse_empty(whole)
    return rows


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
    return first is not None and not empty_errors(first, columns)
