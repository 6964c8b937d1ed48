"""Shared by classifiers that give scores: labels, probabilities, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from .._data.groups import groups_from, groups_with
from .._data.typing import Booleans, Codes, Floats, Keywords, Labels, RowValues
from .._data.validation import RowsLike, check_labels, check_numbers, check_sample_weight, check_weights
from .._uncertain import Fitted, Gaussians
from ..exceptions import UncertainError
from .docs import documented
from .penalty import FitRows


def _with_probability(estimator: ScoreClassifier) -> bool:
    if not estimator.probability:
        name = type(estimator).__name__
        raise AttributeError(f"predict_proba needs {name}(probability=True), set before fit")
    return True


def single(scores: Floats) -> Floats:
    """One score per row as a vector."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


def predicted(estimator: BaseEstimator, rows: FitRows, return_std: bool) -> Floats | tuple[Floats, Floats]:
    """Mean of one number per row, with `return_std` its deviation, too."""
    model: Fitted = estimator._model
    if not return_std:
        return model.decision(rows, estimator.n_jobs)[:, 0]
    mean, std = model.decision_distribution(rows, estimator.n_jobs)
    return mean[:, 0], std[:, 0]


def class_arguments(
    estimator: BaseEstimator, X: RowsLike, y: ArrayLike, sample_weight: RowValues, groups: RowValues
) -> tuple[Labels, Keywords]:
    """Classes, and checked arguments of `fit`: codes, weights, groups."""
    classes, codes = check_labels(y, X, estimator, sample_weight)
    class_weight = getattr(estimator, "class_weight", None)
    weights = check_weights(sample_weight, class_weight, classes=classes, codes=codes)
    folded = bool(estimator.probability)
    numbers = groups_of_fit(groups, classes=classes, codes=codes, weights=weights, folded=folded)
    return classes, {"codes": codes, "n_classes": len(classes), "weights": weights, "groups": numbers}


def groups_of_fit(
    groups: RowValues, *, classes: Labels, codes: Codes, weights: Floats | None = None, folded: bool
) -> Codes | None:
    """The groups of a classifier's rows as numbers, None without; with `folded` every class must have two
    rows of weight, and in two groups, or calibration could not hold any of them out."""
    numbers = None if groups is None else groups_from(groups, "groups", len(codes))
    if not folded:
        return numbers
    counted: slice | Booleans = slice(None) if weights is None else weights > 0.0

    places, n_classes = codes[counted], len(classes)
    faults = [(np.bincount(places, minlength=n_classes), "a single row (of positive weight)", "rows", "")]
    if numbers is not None:
        of_class = groups_with(places, numbers[counted], n_classes)
        faults.append((of_class, "rows in one group only", "groups", " or without groups"))
    for counts, single, unit, way_out in faults:
        if (counts == 1).any():
            label = classes.tolist()[int(np.argmax(counts == 1))]
            raise UncertainError(
                f"class {label!r} has {single}, and probabilities are calibrated on {unit} that are held "
                f"out: add {unit} of this class, or fit with probability=False{way_out}"
            )
    return numbers


def target_arguments(
    estimator: BaseEstimator, X: RowsLike, y: ArrayLike, sample_weight: RowValues, groups: RowValues
) -> Keywords:
    """Arguments of a fit to targets that are numbers."""
    targets = check_numbers(y, X, estimator)
    weights = check_sample_weight(sample_weight, len(targets))
    numbers = None if groups is None else groups_from(groups, "groups", len(targets))
    return {"targets": targets, "weights": weights, "groups": numbers}


@documented
class ScoreClassifier(ClassifierMixin):
    """Classifier by the largest score; `fit` holds out groups together."""

    # Metadata routing brings it the groups that splitters get.
    __metadata_request__fit: ClassVar = {"groups": True}

    probability: bool
    n_jobs: int | None
    classes_: Labels
    _model: Fitted

    if TYPE_CHECKING:

        def _learn(self, X: RowsLike, y: ArrayLike, weights: RowValues, groups: RowValues) -> None:
            """`fit`, with its arguments."""

        def _to_predict(self, X: RowsLike) -> Gaussians:
            """Rows as the fitted machine takes them; an error before the fit."""

    def fit(
        self, X: RowsLike, y: ArrayLike, sample_weight: RowValues = None, *, groups: RowValues = None
    ) -> Self:
        """Fit to Gaussians, or to exact points.

        {Parameters: fitted_rows, labels, sample_weight, groups}

        {Returns: self}
        """
        self._learn(X, y, sample_weight, groups)
        return self

    def decision_function(self, X: RowsLike) -> Floats:
        """Mean of the score under each row's own uncertainty.

        {Parameters: rows_or_kernel}

        {Returns: scores}
        """
        rows = self._to_predict(X)
        return single(self._model.decision(rows, self.n_jobs))

    def decision_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the score under each row's own uncertainty.

        {Parameters: X}

        Returns
        -------
        mean, std : ndarrays of shape (n,), or (n, K) for more than two classes
            The mean is :meth:`decision_function`; exact points have the standard deviation 0.
        """
        rows = self._to_predict(X)
        mean, std = self._model.decision_distribution(rows, self.n_jobs)
        return single(mean), single(std)

    def predict(self, X: RowsLike) -> Labels:
        """The label with the largest score.

        {Parameters: rows_or_kernel}

        {Returns: class_labels}
        """
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: RowsLike) -> Floats:
        """Probability of each class, from Platt's sigmoids of cross-validated scores.

        {Parameters: rows_or_kernel}

        {Returns: class_probabilities}
        """
        rows = self._to_predict(X)
        return self._model.predict_proba(rows, self.n_jobs)

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: RowsLike) -> Floats:
        """Logarithm of :meth:`predict_proba`.

        {Parameters: rows_or_kernel}

        Returns
        -------
        ndarray of shape (n, K)
        """
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.predict_proba(X))
        return logarithms
