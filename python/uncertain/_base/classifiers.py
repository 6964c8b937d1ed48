"""What classifiers share whose fitted machine gives scores: labels, probabilities, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from .._data.typing import Floats, Labels
from .._data.validation import RowsLike
from .._uncertain import Fitted
from .docs import documented


def _with_probability(estimator: ScoreClassifier) -> bool:
    if not estimator.probability:
        name = type(estimator).__name__
        raise AttributeError(f"predict_proba needs {name}(probability=True), set before fit")
    return True


def single(scores: Floats) -> Floats:
    """One score per row as a vector."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


@documented
class ScoreClassifier(ClassifierMixin):
    """A classifier by the largest score; its `fit` takes groups, whose rows are calibrated together."""

    # Metadata routing brings it the groups that splitters get.
    __metadata_request__fit: ClassVar = {"groups": True}

    probability: bool
    n_jobs: int | None
    classes_: Labels
    _model: Fitted

    if TYPE_CHECKING:

        def _learn(
            self, X: RowsLike, y: ArrayLike, weights: ArrayLike | None, groups: ArrayLike | None
        ) -> None:
            """`fit`, with its arguments."""

        def _to_predict(self, X: RowsLike) -> Any:
            """Rows as the fitted machine takes them; an error before the fit."""

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to Gaussians, or to exact points.

        Parameters
        ----------
        {fitted_rows, labels, sample_weight, groups}

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight, groups)
        return self

    def decision_function(self, X: RowsLike) -> Floats:
        """Mean of the score under each row's own uncertainty.

        Parameters
        ----------
        {rows_or_kernel}

        Returns
        -------
        {scores}
        """
        rows = self._to_predict(X)
        return single(self._model.decision(rows, self.n_jobs))

    def decision_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the score under each row's own uncertainty.

        Parameters
        ----------
        {X}

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

        Parameters
        ----------
        {rows_or_kernel}

        Returns
        -------
        ndarray of shape (n,)
            Elements of ``classes_``.
        """
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: RowsLike) -> Floats:
        """Probability of each class, from Platt's sigmoids of cross-validated scores.

        Parameters
        ----------
        {rows_or_kernel}

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of ``classes_``.
        """
        rows = self._to_predict(X)
        return self._model.predict_proba(rows, self.n_jobs)

    @available_if(_with_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: RowsLike) -> Floats:
        """Logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        {rows_or_kernel}

        Returns
        -------
        ndarray of shape (n, K)
        """
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.predict_proba(X))
        return logarithms
