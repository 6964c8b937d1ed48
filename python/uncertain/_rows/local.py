"""`LocalRows`: rows that this process reads in place, in memory or in a mapped file."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from .._data.coded import Coded
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.typing import Array, Floats
from .._uncertain import Part, partial_sums
from .store import RowStore
from .training import TrainingRows


class LocalRows(RowStore):
    """Rows whose targets, weights and groups are arrays of this process."""

    known: TrainingRows
    """What is known of the rows, without the rows."""

    @property
    @abstractmethod
    def rows(self) -> GaussianRows:
        """All rows as one array, which copies nothing."""

    def __len__(self) -> int:
        return len(self.known)

    @property
    def has_gaps(self) -> bool:
        rows = self.rows
        return isinstance(rows, Incomplete) and bool(rows.missing.any())

    def sample(self, most: int) -> TrainingRows:
        """By a hash of row numbers, or of groups; it stays when the rows are replaced."""
        return replace(self.known, rows=self.rows).sampled(most)

    def fit(self, step: BaseEstimator) -> None:
        """By the `fit` of the step."""
        replace(self.known, rows=self.rows).fit_step(step)

    def answer(self, requests: bytes) -> list[Floats]:
        """One group, of all rows."""
        return [partial_sums(to_part(replace(self.known, rows=self.rows)), requests)]


def to_part(training: TrainingRows) -> Part:
    """Rows with what sums may be about, as the core takes them."""
    rows, y = training.rows, training.y
    known: dict[str, Array | None] = {"weights": training.weights}
    if isinstance(y, Coded) or y.dtype.kind != "f":
        codes = y.codes if isinstance(y, Coded) else np.unique(y, return_inverse=True)[1]
        known["codes"] = codes.astype(np.uint32)
    else:
        known["targets"] = y
        if training.y_std is not None:
            known["variances"] = training.y_std**2
    missing = rows.missing if isinstance(rows, Incomplete) else None
    return Part(filled_gaussians(rows)._core, missing=missing, **known)
