"""Families of targets, and what a `GeneralizedLinearLaw` answers for readings: classes, means, medians."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base.core import Core
from .._base.docs import documented
from .._data.typing import Floats, Labels
from .._data.validation import RowsLike, check_readings
from ..exceptions import UncertainError
from ._per_row import predictor_offset

Family = Literal["binomial", "poisson", "negative_binomial", "gamma", "ordinal", "weibull", "lognormal"]

CLASSES = ("binomial", "ordinal")
TIMES = ("weibull", "lognormal")


def _of_classes(law: Answers) -> bool:
    if law.family not in CLASSES:
        raise AttributeError(f"family={law.family!r} has no classes: use predict")
    return True


def _of_two_classes(law: Answers) -> bool:
    if law.family != "binomial":
        raise AttributeError(f"family={law.family!r} has no score: use predict")
    return True


@documented
class Answers(Core):
    """Averages over what a reading leaves open of the true features."""

    family: Family
    classes_: Labels
    n_jobs: int | None

    def predict(
        self, X: RowsLike, *, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> Any:
        """The most probable class, the mean count or size, or the median time, given each row's reading.

        The average over what the reading leaves open of the true features: not the law at the reading.

        {Parameters: readings}
        offset, exposure : array-like of shape (n,), default=None
            As in `fit`; 0 and 1 if not given. Not for classes.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "coef_")
        if self.family in CLASSES:
            if offset is not None or exposure is not None:
                raise UncertainError("offset and exposure are not for predictions of classes")
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        values = self._model.decision(check_readings(self, X, reset=False), self.n_jobs)[:, 0]
        shift = predictor_offset(offset, exposure, len(values))
        return values if shift is None else values * np.exp(shift)

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: RowsLike) -> Floats:
        """P(class | reading), averaged over what the reading leaves open of the true features.

        {Parameters: readings}

        {Returns: class_probabilities}
        """
        check_is_fitted(self, "coef_")
        return self._model.predict_proba(check_readings(self, X, reset=False), self.n_jobs)

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def decision_function(self, X: RowsLike) -> Floats:
        """Mean of the linear predictor given each row's reading; of "ordinal", logarithms of probabilities.

        {Parameters: readings}

        Returns
        -------
        ndarray of shape (n,), or (n, C) for more than two classes
        """
        if self.family == "binomial":
            mean: Floats = self.decision_distribution(X)[0]
            return mean
        logs = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        scores: Floats = logs if len(self.classes_) > 2 else logs[:, 1] - logs[:, 0]
        return scores

    @available_if(_of_two_classes)  # type: ignore[untyped-decorator]
    def decision_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the linear predictor given each row's reading.

        {Parameters: readings}

        Returns
        -------
        mean, std : ndarrays of shape (n,)
        """
        check_is_fitted(self, "coef_")
        mean, std = self._model.decision_distribution(check_readings(self, X, reset=False), self.n_jobs)
        return mean[:, 0], std[:, 0]

    def predict_distribution(
        self, X: RowsLike, *, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Mean and standard deviation of a count or size given each row's reading.

        The deviation has the law's own and what the reading leaves open of the true features.

        {Parameters: readings}
        offset, exposure : array-like of shape (n,), default=None
            As in `fit`. Only for "gamma", whose deviation is proportional to its mean.

        Returns
        -------
        mean, std : ndarrays of shape (n,)

        Raises
        ------
        UncertainError
            For classes, which have `predict_proba`, and for times, which have a median.
        """
        check_is_fitted(self, "coef_")
        if self.family in CLASSES or self.family in TIMES:
            instead = "predict_proba" if self.family in CLASSES else "predict, which gives the median"
            raise UncertainError(f"predict_distribution: not for family={self.family!r}; use {instead}")
        mean, std = self._model.decision_distribution(check_readings(self, X, reset=False), self.n_jobs)
        shift = predictor_offset(offset, exposure, len(mean))
        if shift is None:
            return mean[:, 0], std[:, 0]
        if self.family != "gamma":
            raise UncertainError(f"offset and exposure: not for the deviations of family={self.family!r}")
        return mean[:, 0] * np.exp(shift), std[:, 0] * np.exp(shift)

    def score(self, X: RowsLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of classes; of other targets, the coefficient of determination of `predict`.

        {Parameters: readings, targets, sample_weight}

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if self.family in CLASSES else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))
