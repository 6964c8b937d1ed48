"""Rows in temporary files that are mapped into memory, for ``memory=``.

What is as long as the table (rows, targets, weights) is in files, and everything passes by. Estimators that
compare rows with one another, or copy them, are refused before anything is read, with what to use instead.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._base.sums import Need
from .._data.incomplete import GaussianRows, Incomplete
from .._spill import OF_SEVERAL, Budget, Spill, in_files
from .._tables.columns import Columns, listing
from ..exceptions import ParameterError
from ..preprocessing import AsGaussians
from .joined import joined, joins
from .of_target import with_target_std
from .reader import PerRow, Policy, RowReader, Uses, no_target_std, refuse_of_laws
from .source import Source
from .store import LocalRows
from .streamed import Streamed, streamed
from .training import TrainingRows

BYTES_PER_ROW = {
    "targets": 12, "weights": 24, "groups": 8, "y_std": 16, "exact": 120, "scores": 16, "law": 24
}  # fmt: skip
"""What a fit takes for each row beside the rows themselves: codes and targets of the core, weights with their
copies, the numbers that a solver for exact rows keeps beside each, residuals of targets from a law."""


class InFile(LocalRows):
    """Rows in files, within a budget of memory."""

    where: ClassVar[str] = "memory="
    gives: ClassVar[frozenset[Need]] = frozenset({Need.IN_PLACE})

    def __init__(self, spill: Spill, known: TrainingRows, budget: Budget, folder: Path) -> None:
        self._spill = spill
        self.known = known
        self._budget = budget
        self._folder = folder

    @property
    def rows(self) -> GaussianRows:
        return self._spill.rows()

    def transform(self, step: BaseEstimator) -> None:
        """Block by block: in place where the rows keep their shape, else in new files."""
        self._spill.transform(step)

    def fit(self, step: BaseEstimator) -> None:
        with joined(step, self._spill, self.known.y, self.known.y_std):
            super().fit(step)

    @contextmanager
    def fitting(self, pipeline: Pipeline) -> Iterator[None]:
        """An error if the budget or the disk is too small; meanwhile, the fit keeps within both."""
        beside = self._bytes_per_row(pipeline[-1])
        free = self._budget.check(len(self), self._spill.row_bytes, beside)
        with self._budget.keeping(free), in_files(self._folder, len(self) * beside):
            yield

    def _bytes_per_row(self, estimator: BaseEstimator) -> int:
        """Bytes that a fit takes for each row."""
        rows, known = self.rows, self.known
        taken = BYTES_PER_ROW["targets"] + BYTES_PER_ROW["scores"]
        weighted = known.weights is not None or getattr(estimator, "class_weight", None)
        taken += BYTES_PER_ROW["weights"] if weighted else 0
        taken += BYTES_PER_ROW["groups"] if known.groups is not None else 0
        taken += BYTES_PER_ROW["y_std"] if known.y_std is not None else 0
        taken += BYTES_PER_ROW["exact"] if rows.kind == "zero" else 0
        taken += 4 * rows.n_features if isinstance(rows, Incomplete) else 0
        if joins(estimator, rows):
            return taken + BYTES_PER_ROW["law"]
        # The mixture of features and target makes rows of its own.
        return taken + (self._spill.row_bytes if has_fit_parameter(estimator, "xy_cov") else 0)


class FileReader(RowReader):
    """Reads a table once, batch by batch, into a file: rows, targets and what else there is in one pass."""

    def __init__(
        self,
        source: Source,
        columns: Columns,
        per_row: PerRow,
        policy: Policy,
        *,
        budget: Budget,
        may_use: Uses,
    ) -> None:
        """ParameterError for what is no table in columns, or cannot be read batch by batch; `may_use`: what
        the fit uses if the targets are numbers."""
        refuse_of_laws(per_row)
        _refuse(source, columns, per_row)
        self._folder = Path(tempfile.gettempdir())
        self._source = source
        self._budget = budget
        self._given_std = columns.target_std is not None
        if self._given_std and not may_use.y_std:
            raise no_target_std(may_use)
        self.columns = with_target_std(columns) if may_use.y_std else columns
        self.reading: AsGaussians = AsGaussians(
            columns=self.columns, **policy._asdict() | {"arms": "moments"}
        )

    def settle(self, task: str, *, partial: bool) -> bool:
        with self._source.named():
            self._read: Streamed = streamed(
                self._source, self.reading, self.columns, task, budget=self._budget, folder=self._folder
            )
        return self._read.regression

    def read(self, uses: Uses) -> InFile:
        spill, _, known, self.n_left_out = self._read
        if not uses.y_std and self._given_std:
            raise no_target_std(uses)
        if not uses.y_std and self.columns.target_std is not None:
            self.columns, known = replace(self.columns, target_std=None), replace(known, y_std=None)
        return InFile(spill, known, self._budget, self._folder)


def _refuse(source: Source, columns: Columns, per_row: PerRow) -> None:
    table, with_target = source.table, columns.found.target_pairs
    if with_target.named and with_target.columns:
        raise ParameterError(
            "memory=: covariances with the errors of the target are for rows in memory; leave them out"
        )
    if table is None:
        raise ParameterError(
            f"memory=: data of type {type(source.rows).__name__} is in memory already; pass a table, a "
            "path, a dataset or a reader of batches"
        )
    drawn = [name for name in columns.draws or () if table.types.get(name) == "list"]
    if drawn:
        raise ParameterError(f"memory=: {listing(drawn)}: draws {OF_SEVERAL}")
    for role, given in per_row.items():
        if given is not None and not isinstance(given, str):
            raise ParameterError(
                f"memory=: {role}= must be the name of a column, which is read with the rows"
            )
    if table.origin and not table.streams:
        raise ParameterError(
            f"memory=: {table.origin} is of a format that is read as a whole; write it as Parquet first, "
            f"such as by uncertain convert {table.origin} table.parquet"
        )
    if columns.target_limit is not None:
        raise ParameterError(
            f"memory=: limits of the target in {columns.target_limit!r} are for rows in memory"
        )
