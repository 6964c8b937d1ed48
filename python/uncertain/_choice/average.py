"""Averages of fitted pipelines: what `method="auto"` makes of few rows, where none is surely the best.

A member is a pipeline that takes Gaussians. Probabilities of classes, and predicted numbers, are averaged
with weights that sum to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags

from .._data.typing import Floats, Labels
from .._rows.training import fit_arguments
from ..exceptions import ParameterError


class _Averaged(BaseEstimator):
    """What the averages of classes and of numbers share.

    Parameters
    ----------
    members : list of pipelines over Gaussians.
    weights : how much each counts; they are divided by their sum.

    Attributes
    ----------
    members_ : the fitted ones.
    weights_ : weights that sum to one.
    """

    members_: list[Pipeline]
    weights_: Floats
    n_features_in_: int

    def __init__(self, members: Sequence[Pipeline], weights: ArrayLike) -> None:
        self.members = members
        self.weights = weights

    @classmethod
    def from_fitted(cls, members: Sequence[Pipeline], weights: ArrayLike) -> Self:
        """Of pipelines that have been fitted to the same rows."""
        average = cls([clone(member) for member in members], np.asarray(weights, dtype=np.float64).tolist())
        return average._keep(list(members))

    def _facts(self) -> list[tuple[str, str]]:
        """Return the members and their weights, for `Model.summary`."""
        return [
            ("member", f"{weight:.2f} " + " -> ".join(type(step).__name__ for _, step in member.steps))
            for weight, member in zip(self.weights_, self.members_, strict=True)
        ]

    def fit(
        self,
        X: object,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        y_std: ArrayLike | None = None,
        xy_cov: ArrayLike | None = None,
        y_limit: ArrayLike | None = None,
    ) -> Self:
        """Fit every member."""
        known = {
            "sample_weight": sample_weight, "groups": groups, "y_std": y_std, "xy_cov": xy_cov,
            "y_limit": y_limit,
        }  # fmt: skip
        fitted = [clone(member) for member in self.members]
        return self._keep([member.fit(X, y, **fit_arguments(member, known)) for member in fitted])

    def _keep(self, members: list[Pipeline]) -> Self:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(members),) or not (weights >= 0.0).all() or not weights.sum() > 0.0:
            raise ParameterError(f"weights = {self.weights!r}: must be one number >= 0 for each member")
        self.members_, self.weights_ = members, weights / weights.sum()
        self.n_features_in_ = int(members[0].n_features_in_)
        if hasattr(members[0], "feature_names_in_"):
            self.feature_names_in_ = members[0].feature_names_in_
        if hasattr(members[0], "classes_"):
            self.classes_ = members[0].classes_
        return self

    def _mean(self, method: str, X: object) -> Floats:
        """The weighted mean of the members' answers."""
        pairs = zip(self.weights_, self.members_, strict=True)
        mean: Floats = np.sum([weight * getattr(member, method)(X) for weight, member in pairs], axis=0)
        return mean

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = all(get_tags(member).input_tags.allow_nan for member in self.members)
        return tags


class AveragedClassifier(ClassifierMixin, _Averaged):
    """Averaged probabilities of classifiers."""

    classes_: Labels

    def predict_proba(self, X: object) -> Floats:
        """sum_m w_m p_m, shape (n, K)."""
        return self._mean("predict_proba", X)

    def predict(self, X: object) -> Labels:
        """The class of the largest probability."""
        found: Labels = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found

    def decision_function(self, X: object) -> Floats:
        """Of two classes log p / (1 - p), shape (n,); of more log p, shape (n, K)."""
        logs = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        score: Floats = logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs
        return score


class AveragedRegressor(RegressorMixin, _Averaged):
    """Averaged predictions of regressions."""

    def predict(self, X: object) -> Floats:
        """sum_m w_m prediction_m, shape (n,)."""
        return self._mean("predict", X)
