"""Base of transformers from Gaussians to Gaussians.

Design: a transformer that only moves Gaussians answers an array with an array (so that it is an ordinary
scikit-learn transformer) and a GaussianArray with a GaussianArray. The latter must escape scikit-learn's
``set_output``, which would turn it into a table without error bars; `Moves` therefore wraps by itself.
One that `_passes_gaps` moves what is there; gaps stay, or go with their features (`_marks`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils._set_output import _wrap_data_with_container

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete
from .._data.validation import RowsLike, check_gaussians, check_rows
from .._uncertain import Fitted, Gaussians


def moved(pipeline: Pipeline, rows: GaussianRows) -> GaussianRows:
    """The rows as they come to the last step."""
    for _, step in pipeline.steps[:-1]:
        rows = step.transform(rows)
    return rows


class Moves:
    """`transform` in the kind of the input; `set_output` concerns arrays only."""

    _passes_gaps: bool = False
    _keeps_unit: ClassVar[bool] = True
    _model: Fitted

    def transform(self, X: RowsLike) -> Any:
        """The moved rows: an array for an array, a GaussianArray for a GaussianArray."""
        if self._passes_gaps:
            data, missing = check_rows(self, X, reset=False, limits=True)
        else:
            data, missing = check_gaussians(self, X, reset=False), None
        return self._answer(self._model.transform((data, missing)), X, missing)

    def _answer(self, moved: Gaussians, X: RowsLike, missing: Any = None) -> Any:
        """Moved rows in the kind of the input."""
        if isinstance(X, (GaussianArray, Incomplete)):
            unit = X.unit if self._keeps_unit else None
            moved_rows = GaussianArray._from_core(moved, self._names_out(), unit)
            if not isinstance(X, Incomplete):
                return moved_rows
            return Incomplete(moved_rows, self._marks(X.missing), self._marks(X.limits))
        means = moved.means.copy()
        if missing is not None:
            means[self._marks(missing)] = np.nan
        return _wrap_data_with_container("transform", means, X, self)

    def _marks(self, marks: Any) -> Any:
        """Marks of the features that come of those marked."""
        return marks

    def _moved_back(self, X: RowsLike) -> Any:
        """Results of an `inverse_transform`."""
        rows = check_gaussians(self, X, reset=False)
        moved = self._model.inverse_transform(rows)
        if isinstance(X, GaussianArray):
            return GaussianArray._from_core(moved, self._names_out())
        return moved.means.copy()

    def _names_out(self) -> Iterable[str] | None:
        """Names of the features of Gaussians that were moved: those of the fit."""
        return getattr(self, "feature_names_in_", None)

    def fit_transform(self, X: RowsLike, y: object = None, **fit_params: Any) -> Any:
        """`fit`, then `transform` of the same rows."""
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]
