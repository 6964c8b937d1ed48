"""A table read once, batch by batch, into a file: rows by `AsGaussians`, and what stands beside them.

Nothing here is as long as the table but what is in files. What a rule needs to know of a whole column (are
these numbers classes? does a label ever occur?) is learned from its distinct values, of which there are few,
or from the first so many.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._data.column import Coded, encoded, read_column
from .._data.groups import Groups, groups_from
from .._data.targets import (
    MANY_CLASSES,
    finite_numbers,
    numbers_from,
    plain_labels,
    targets_from,
    weights_from,
)
from .._data.typing import Array, Floats, Ints, Label, Labels
from .._spill import Budget, Spill
from .._spill._column import Column
from .._spill._folder import ask_for_space
from .._tables.columns import Columns
from .._tables.frame import BatchSize
from .._tables.size_model import MISSING_STD, fill_target_sizes, target_sizes
from .._tables.table import Table
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians
from .batches import Batch, BatchReading, numbered
from .source import Source
from .training import TrainingRows

DISTINCT = 100_000
"""So many different targets are remembered; of more, the rules only need to know that there are many."""
FIRST_ROWS = 16_384
"""Rows of a first batch whose lists are of unknown lengths."""

BLOCK = 1 << 20
"""Rows that are filled at a time."""


class Streamed(NamedTuple):
    """What a pass over a table leaves in files."""

    rows: Spill
    regression: bool
    known: TrainingRows
    """What is known of the rows, without the rows."""
    n_left_out: int
    """Rows without a target."""


def streamed(
    source: Source, reading: AsGaussians, columns: Columns, task: str, *, budget: Budget, folder: Path
) -> Streamed:
    """Read the table once, or twice where something is missing.

    Raises what reading it at once would, with the numbers of its rows; and UncertainError for a full disk.
    """
    table = source.table
    assert table is not None
    beside = (columns.target, columns.target_std, columns.sample_weight, columns.groups)
    names = list(dict.fromkeys([*columns.used, *(name for name in beside if isinstance(name, str))]))
    first = any(table.types.get(name) == "list" for name in names)
    most = max(budget.batch_bytes // (8 * len(names)), 256)
    size = BatchSize(min(most, FIRST_ROWS) if first else min(most, 1 << 18))
    expected = table.counted()

    def written(batches: Iterator[Batch]) -> _Files:
        files = _Files(folder, columns, reading, budget)
        for batch in batches:
            known = files.rows.row_bytes
            with numbered(batch.first, batch.at):
                files.append(batch)
            if not known and files.rows.row_bytes:
                size.rows = max(min(budget.batch_bytes // max(files.rows.row_bytes, 1), 1 << 18), 256)
                if expected is not None:
                    ask_for_space(folder, expected * (files.rows.row_bytes + 8 * len(files.beside)))
        return files

    batches = BatchReading(reading, table, names, size, columns.target)
    files = batches.collect(written)
    if not files.n_rows:
        empty = (
            f"no row has a value of {batches.n_left_out:,}" if batches.n_left_out else "the table has no rows"
        )
        raise UncertainError(f"{columns.target}: {empty}")
    regression, known = files.finished(task)
    return Streamed(files.rows, regression, known, batches.n_left_out)


class _Files:
    """Rows, and what is known of each, on their way into files."""

    def __init__(self, folder: Path, columns: Columns, reading: AsGaussians, budget: Budget) -> None:
        self.rows = Spill(folder, budget.batch_bytes)
        self.n_rows = 0
        self._folder = folder
        self._target = _Targets(folder, columns.target or "", columns.target_unit)
        self._weights = self._stds = self._groups = None
        if isinstance(columns.sample_weight, str):
            self._weights = _Numbers(folder, columns.sample_weight, are_weights=True)
        if columns.target_std is not None:
            missing = MISSING_STD.get(reading.on_missing)
            self._stds = _Numbers(folder, columns.target_std, are_weights=False, missing=missing)
        if isinstance(columns.groups, str):
            self._groups = _Groups(folder, columns.groups)
        every = (self._target, self._weights, self._stds, self._groups)
        self.beside = [own for own in every if own is not None]

    def append(self, batch: Batch) -> None:
        """More rows; those without weight do not count."""
        kept = None if self._weights is None else self._weights.positive(batch.table)
        rows = batch.rows if kept is None else batch.rows[kept]
        self.rows.append(rows)
        for own in self.beside:
            own.append(batch.table, kept)
        self.n_rows += batch.table.n_rows

    def _filled(self, y: Floats, y_std: Floats) -> Floats:
        """Return the standard deviations of targets in a new column, with sizes for NaN."""
        if not np.isnan(y_std).any():
            return y_std
        sizes, column = target_sizes(y, y_std), Column(self._folder)
        for first in range(0, len(y), BLOCK):
            part = slice(first, first + BLOCK)
            column.append(fill_target_sizes(y[part], y_std[part], sizes))
        return np.asarray(column.mapped()[:, 0])

    def finished(self, task: str) -> tuple[bool, TrainingRows]:
        """Are the targets numbers? And what is known of the rows."""
        y, regression = self._target.finished(task)
        y_std = None if self._stds is None else self._stds.finished()
        if y_std is not None and regression:
            y_std = self._filled(y, y_std)
        return regression, TrainingRows(
            None,
            y,
            weights=None if self._weights is None else self._weights.finished(),
            groups=None if self._groups is None else self._groups.finished(),
            y_std=y_std,
        )


Kept: TypeAlias = Ints | None
"""The rows of a batch that count; None for all."""


def _of(values: Array, kept: Kept) -> Array:
    return values if kept is None else values[kept]


class _Numbers:
    """A column of numbers >= 0."""

    def __init__(self, folder: Path, name: str, *, are_weights: bool, missing: float | None = None) -> None:
        self._column, self._name = Column(folder), name
        self._are_weights, self._missing = are_weights, missing

    def append(self, batch: Table, kept: Kept) -> None:
        self._column.append(_of(self._read(batch), kept))

    def positive(self, batch: Table) -> Kept:
        """The rows of this batch that count; None if all do."""
        numbers = self._read(batch)
        return None if numbers.all() else np.flatnonzero(numbers)

    def _read(self, batch: Table) -> Floats:
        values = batch.column(self._name)
        if self._are_weights:
            return weights_from(values, self._name, len(values), some=False)
        return numbers_from(values, self._name, len(values), "standard deviations", missing=self._missing)

    def finished(self) -> Floats:
        if self._are_weights and not self._column.n_rows:
            raise UncertainError(f"{self._name}: every weight is 0, which leaves no rows to learn from")
        return np.asarray(self._column.mapped()[:, 0])


class _Groups:
    """A column of groups, numbered in order of appearance."""

    def __init__(self, folder: Path, name: str) -> None:
        self._column, self._name = Column(folder, dtype=np.uint32), name
        self._known: dict[Label, int] = {}

    def append(self, batch: Table, kept: Kept) -> None:
        values = batch.column(self._name)
        codes = groups_from(values, self._name, len(values))
        _, first = np.unique(codes, return_index=True)
        places = [self._known.setdefault(values[at], len(self._known)) for at in first.tolist()]
        self._column.append(_of(np.asarray(places, dtype=np.uint32)[codes], kept))

    def finished(self) -> Groups:
        return Groups(self._column.mapped()[:, 0], self._name)


class _Targets:
    """The target: numbers as they are, all else by places in order of appearance."""

    def __init__(self, folder: Path, name: str, unit: str | None) -> None:
        self._folder, self._name, self._unit = folder, name, unit
        self._column = Column(folder)
        self._places: dict[Label, int] | None = None
        self._distinct: Floats = np.empty(0)
        self._integers = True
        self._fraction: float | None = None

    def append(self, batch: Table, kept: Kept) -> None:
        values = batch.column(self._name, self._unit)
        column = read_column(values, self._name, len(values), "targets")
        column.refuse_missing(self._name, "has no target; drop the rows without one")
        plain = plain_labels(column, self._name)
        if column.kind == "floats" and not np.isfinite(plain).all():
            plain = finite_numbers(column, self._name, "targets", missing=None)
        plain = _of(plain, kept)
        if not len(plain):
            return
        if plain.dtype.kind in "if" and np.abs(plain).max() < 2.0**53:
            if self._places is not None:
                raise self._mixed()
            self._numbers(plain)
            return
        if self._column.n_rows and self._places is None:
            raise self._mixed()
        self._places = {} if self._places is None else self._places
        distinct, codes = encoded(plain)
        places = [self._places.setdefault(value, len(self._places)) for value in distinct.tolist()]
        if len(self._places) > DISTINCT:
            raise UncertainError(
                f"{self._name}: more than {DISTINCT:,} different labels are no classes; for a target of "
                "numbers make the column one of floats"
            )
        self._column.append(np.asarray(places, dtype=np.float64)[codes])

    def _numbers(self, plain: Labels) -> None:
        self._integers &= plain.dtype.kind == "i"
        if len(self._distinct) <= DISTINCT:
            self._distinct = np.union1d(self._distinct, plain)
        if plain.dtype.kind == "f" and self._fraction is None:
            fractional = plain[plain != np.round(plain)]
            self._fraction = float(fractional[0]) if fractional.size else None
        self._column.append(plain.astype(np.float64, copy=False))

    def _mixed(self) -> UncertainError:
        return UncertainError(f"{self._name}: labels must be of one type, got numbers and others")

    def finished(self, task: str) -> tuple[Any, bool]:
        """(targets, are they quantities?), by the rules of `targets_from` for the distinct values."""
        if self._places is not None:
            labels = list(self._places)
            targets_from(labels, self._name, task, len(labels))
            classes = np.sort(np.asarray(labels))
            places = {value: k for k, value in enumerate(classes.tolist())}
            return self._coded(classes, np.asarray([places[label] for label in labels])), False
        some = self._distinct[:DISTINCT]
        if self._integers:
            some = some.astype(np.int64)
        elif self._fraction is not None:
            some = np.append(some, self._fraction)
        _, regression = targets_from(some, self._name, task, len(some))
        if regression:
            return self._column.mapped()[:, 0], True
        if len(self._distinct) > max(MANY_CLASSES, 10_000):
            raise UncertainError(
                f"{self._name}: {len(self._distinct):,} different numbers look like a quantity: pass "
                'task="regression"'
            )
        return self._coded(some.astype(np.int64), None), False

    def _coded(self, classes: Labels, order: Ints | None) -> Coded:
        """Places among the classes, written block by block."""
        given, codes = self._column.mapped()[:, 0], Column(self._folder, dtype=np.uint32)
        for first in range(0, len(given), 1 << 20):
            part = given[first : first + (1 << 20)]
            places = np.searchsorted(classes, part) if order is None else order[part.astype(np.int64)]
            codes.append(places.astype(np.uint32))
        return Coded(classes, codes.mapped()[:, 0])
