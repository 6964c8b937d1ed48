"""Features and target of a row as one reading, in a file beside that of the rows.

For an estimator that learns the distribution of both together, and would join them in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.typing import Floats, Labels
from .._spill import Spill
from .._uncertain import Part


@contextmanager
def joined(estimator: BaseEstimator, rows: Spill, y: Labels, y_std: Floats | None) -> Iterator[None]:
    """While this estimator is fitted to these rows, it reads features and target from a file of both."""
    if not joins(estimator, rows.rows()):
        yield
        return
    estimator._joint = rows.copied(_WithTarget(y, y_std)).rows()
    try:
        yield
    finally:
        del estimator._joint


def joins(estimator: BaseEstimator, rows: GaussianRows) -> bool:
    """Does it learn from features and target together, of rows that can be joined block by block?

    The errors of all rows in common may be different ones in the next block, with the target's; limits are
    joined in memory.
    """
    limited = isinstance(rows, Incomplete) and rows.limits is not None
    return has_fit_parameter(estimator, "xy_cov") and not limited and rows.kind != "shared"


class _WithTarget:
    """Makes rows of features and target, block after block."""

    def __init__(self, y: Labels, y_std: Floats | None) -> None:
        self._y, self._y_std, self._seen = y, y_std, 0

    def transform(self, rows: GaussianRows) -> GaussianRows:
        """The rows of the next block."""
        own = slice(self._seen, self._seen + len(rows))
        self._seen = own.stop
        gaps = rows.missing if isinstance(rows, Incomplete) else None
        part = Part(
            filled_gaussians(rows)._core,
            missing=gaps,
            targets=np.ascontiguousarray(self._y[own], dtype=np.float64),
            variances=None if self._y_std is None else self._y_std[own] ** 2,
        ).with_target()
        both = GaussianArray._from_core(part.rows)
        if gaps is None:
            return both
        missing = part.missing
        return Incomplete(both, np.zeros(both.shape, dtype=bool) if missing is None else missing)
