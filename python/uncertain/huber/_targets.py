"""Targets and labels of which some are missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets

from .._data.numbers import refuse_where
from .._data.typing import Booleans, Floats, Labels
from .._data.validation import RowsLike, one_per_row
from ..exceptions import NotFiniteError


def partial_targets(y: ArrayLike, X: RowsLike, estimator: BaseEstimator) -> Floats:
    """Numbers, NaN without a label."""
    targets: Floats = one_per_row(y, X, estimator, dtype=np.float64, ensure_all_finite="allow-nan")
    return targets


def partial_labels(
    y: ArrayLike, X: RowsLike, estimator: BaseEstimator, unlabeled: object
) -> tuple[Labels, Booleans]:
    """Labels, and which rows have one; `unlabeled` as the classifier's parameter."""
    labels = one_per_row(y, X, estimator, ensure_all_finite=False)
    if labels.dtype.kind == "O":
        labelled = np.array([label is not None and bool(label == label) for label in labels.tolist()])
    else:
        labelled = labels == labels
    if labelled.any():
        # One type for the labels that are there; the others get any of them.
        filled = np.array(labels[labelled].tolist())
        labels = filled[np.maximum(np.cumsum(labelled) - 1, 0)]
        infinite = labelled & (np.isinf(labels) if labels.dtype.kind == "f" else False)
        refuse_where(infinite, labels, "y", "every label must be finite", error=NotFiniteError)
        check_classification_targets(filled)
    numeric = labels.dtype.kind in "iuf"
    if isinstance(unlabeled, str) and unlabeled == "auto":
        if numeric and len(np.unique(labels[labelled])) > 2:
            labelled &= labels != -1
    elif unlabeled is not None:
        labelled &= labels != unlabeled
    return labels, labelled
