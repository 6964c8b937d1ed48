"""Shared by classifiers that give scores: labels, probabilities, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from .._data.groups import groups_from, groups_of_fit
from .._data.typing import Floats, Keywords, Labels, RowValues
from .._data.validation import RowsLike, check_labels, check_numbers, check_sample_weight, check_weights
from .._uncertain import Fitted, Gaussians
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
    """The mean of one number per row, with `return_std` its standard deviation, too."""
    model: Fitted = estimator._model
    if not return_std:
        return model.decision(rows, estimator.n_jobs)[:, 0]
    mean, std = model.decision_distribution(rows, estimator.n_jobs)
    return mean[:, 0], std[:, 0]


def class_arguments(
    estimator: BaseEstimator, X: RowsLike, y: ArrayLike, sample_weight: RowValues, groups: RowValues
) -> tuple[Labels, Keywords]:
    """The classes, and the checked arguments of the extension's `fit`: codes, weights and groups.

    The extension leaves out rows of weight 0.
    """
    classes, codes = check_labels(y, X, estimator, sample_weight)
    class_weight = getattr(estimator, "class_weight", None)
    weights = check_weights(sample_weight, class_weight, classes=classes, codes=codes)
    folded = bool(estimator.probability)
    numbers = groups_of_fit(groups, classes=classes, codes=codes, weights=weights, folded=folded)
    return classes, {"codes": codes, "n_classes": len(classes), "weights": weights, "groups": numbers}


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
    """A classifier by the largest score; its `fit` takes groups, whose rows are held out together."""

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
