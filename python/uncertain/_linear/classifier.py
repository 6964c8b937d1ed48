"""What all linear classifiers for Gaussian rows have in common: predictions from fitted hyperplanes."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._data.validation import check_gaussians, check_labels, check_weights
from .._uncertain import Gaussians, GsuModel
from ..tables._groups import GroupedFolds, groups_of_fit

__all__ = ["LinearClassifier", "training_rows"]

Floats = NDArray[np.float64]


class Training(NamedTuple):
    """Rows of positive weight with their labels, as the extension takes them."""

    data: Gaussians
    codes: NDArray[np.uint32]
    weights: Floats | None
    groups: NDArray[np.uint32] | None
    classes: NDArray[Any]
    """All labels, also those whose rows have no weight: the fit refuses such classes."""
    kept: NDArray[np.intp]
    """Numbers of these rows among the caller's."""
    n_given: int


def training_rows(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    class_weight: Any = None,
    *,
    groups: ArrayLike | None = None,
) -> Training:
    """Check what a classifier is fitted on; rows without weight are dropped, so that no solver sees them."""
    data = check_gaussians(estimator, X, reset=True)
    classes, codes = check_labels(y, X, estimator)
    weights = check_weights(sample_weight, class_weight, classes=classes, codes=codes)
    n = len(codes)
    kept = np.arange(n) if weights is None else np.flatnonzero(weights)
    folded = bool(estimator.probability)
    whole = groups_of_fit(groups, n, classes=classes, codes=codes[kept], kept=kept, folded=folded)
    if weights is not None and len(kept) < n:
        data, codes, weights = data.take(kept), codes[kept], weights[kept]
        whole = None if whole is None else whole[kept]
    return Training(data, codes, weights, whole, classes, kept, n)


def _with_probability(estimator: Any) -> bool:
    if not estimator.probability:
        raise AttributeError(
            f"predict_proba needs {type(estimator).__name__}(probability=True), set before fit"
        )
    return True


class LinearClassifier(GroupedFolds, ClassifierMixin, BaseEstimator):
    """A score w'x + b per class (one for two classes), from the hyperplanes in ``_model``."""

    n_jobs: int | None
    classes_: NDArray[Any]
    _model: GsuModel

    def decision_function(self, X: Any) -> Floats:
        """Mean of the score: w'x_i + b.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians, or exact points.

        Returns
        -------
        ndarray of shape (n,), or (n, K) for more than two classes
            Positive for ``classes_[1]`` in the case of two classes.
        """
        check_is_fitted(self, "coef_")
        return self._squeezed(self._model.decision(self._rows(X), self.n_jobs))

    def decision_distribution(self, X: Any) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the score under each row's own uncertainty.

        The score is Gaussian: N(w'x_i + b, w'S_i w).

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians, or exact points (whose standard deviation is zero).

        Returns
        -------
        mean, std : ndarrays of shape (n,), or (n, K) for more than two classes
        """
        check_is_fitted(self, "coef_")
        mean, std = self._model.decision_distribution(self._rows(X), self.n_jobs)
        return self._squeezed(mean), self._squeezed(std)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest mean score.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians, or exact points.

        Returns
        -------
        ndarray of shape (n,)
            Elements of ``classes_``.
        """
        check_is_fitted(self, "coef_")
        codes: NDArray[np.uint32] = self._model.predict(self._rows(X), self.n_jobs)
        return np.asarray(self.classes_[codes])

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, averaged over each row's own uncertainty.

        Platt's sigmoid 1 / (1 + exp(A t + B)), fitted on cross-validated scores, averaged over the score
        t ~ N(w'x_i + b, w'S_i w): the more uncertain the row, the nearer to the middle. For more than two
        classes the probabilities of one against the rest are scaled to sum 1.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians, or exact points.

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "coef_")
        return self._model.predict_proba(self._rows(X), self.n_jobs)

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians, or exact points.

        Returns
        -------
        ndarray of shape (n, K)
        """
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.predict_proba(X))
        return logarithms

    def _rows(self, X: Any) -> Gaussians:
        """Rows to predict, as the linear model takes them."""
        return check_gaussians(self, X, reset=False)

    def _squeezed(self, scores: Floats) -> Floats:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _fitted(self, model: GsuModel) -> Self:
        """The attributes that every fit leaves behind."""
        self._model = model
        self.coef_ = model.coef
        self.intercept_ = model.intercept
        binary = len(self.classes_) == 2
        self.objective_ = model.objective[0] if binary else model.objective
        self.optimality_gap_ = model.gap[0] if binary else model.gap
        self.n_iter_ = model.n_iter[0] if binary else model.n_iter
        self.status_ = model.status[0] if binary else np.array(model.status)
        return self
