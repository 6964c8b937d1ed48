"""Targets and labels of which some are missing, and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from .._data.typing import Booleans, Floats
from .._data.validation import RowsLike
from ..exceptions import NotFiniteError


def weights_of(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Weights >= 0, one per row; None: all are 1."""
    if sample_weight is None:
        return None
    weights: Floats = _check_sample_weight(
        sample_weight, np.empty((n_rows, 1)), dtype=np.float64, ensure_non_negative=True
    )
    return weights


def targets_of(y: Any, X: RowsLike, estimator: Any) -> Floats:
    """Numbers, NaN without a label."""
    targets: Floats = _one_per_row(y, X, estimator, np.float64, "allow-nan")
    return targets


def partial_labels(y: Any, X: RowsLike, estimator: Any, unlabeled: Any) -> tuple[NDArray[Any], Booleans]:
    """Labels, and which rows have one; `unlabeled` as the classifier's parameter."""
    labels = _one_per_row(y, X, estimator, None, False)
    if labels.dtype.kind == "O":
        known = np.array([label is not None and bool(label == label) for label in labels.tolist()])
    else:
        known = labels == labels
    if known.any():
        # One type for the labels that are there; the others get any of them.
        filled = np.array(labels[known].tolist())
        labels = filled[np.maximum(np.cumsum(known) - 1, 0)]
        infinite = np.flatnonzero(known & np.isinf(labels)) if labels.dtype.kind == "f" else np.empty(0)
        if infinite.size:
            row = int(infinite[0])
            raise NotFiniteError(f"y: row {row} is {labels[row]}; every label must be finite")
        check_classification_targets(filled)
    numeric = labels.dtype.kind in "iuf"
    if isinstance(unlabeled, str) and unlabeled == "auto":
        if numeric and len(np.unique(labels[known])) > 2:
            known &= labels != -1
    elif unlabeled is not None:
        known &= labels != unlabeled
    return labels, known


def _one_per_row(y: Any, X: RowsLike, estimator: Any, dtype: Any, ensure_all_finite: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    checked = check_array(
        y,
        ensure_2d=False,
        dtype=dtype,
        ensure_all_finite=ensure_all_finite,
        input_name="y",
        estimator=estimator,
    )
    values: NDArray[Any] = column_or_1d(checked, warn=True)
    check_consistent_length(X, values)
    return values
