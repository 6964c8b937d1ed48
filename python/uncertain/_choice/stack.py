"""Stacks of fitted pipelines: mixtures of distributions, with weights that depend on the noise of a row.

A member is a pipeline that takes Gaussians. Probabilities of classes, and densities of numbers, are mixed
with the weights of `weights`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags

from .._base.normal_mixtures import NormalMixtures
from .._data.typing import Floats, Labels
from .._held_out.widths import Spread, law_of_rows, left_open
from .._rows.training import fit_arguments
from ..exceptions import ParameterError
from .weights import hats, level


class _Stacked(BaseEstimator):
    """What the stacks of classes and of numbers share.

    Parameters
    ----------
    members : list of pipelines over Gaussians.
    weights : of each member, (K,), or at each level of noise, (knots, K); rows are divided by their sums.
    sizes : the errors of typical rows, one per feature, 0 for none; for several knots.

    Attributes
    ----------
    members_ : the fitted ones.
    weights_ : ndarray of shape (knots, K).
    sizes_ : ndarray of shape (d,), empty with one knot.
    spreads_ : laws of widths of members for numbers without a density of their own, else None.
    """

    members_: list[Pipeline]
    weights_: Floats
    sizes_: Floats
    spreads_: list[Spread | None]
    n_features_in_: int

    def __init__(self, members: Sequence[Pipeline], weights: ArrayLike, sizes: ArrayLike = ()) -> None:
        self.members = members
        self.weights = weights
        self.sizes = sizes

    @classmethod
    def from_fitted(
        cls,
        members: Sequence[Pipeline],
        weights: ArrayLike,
        sizes: ArrayLike = (),
        spreads: Sequence[Spread | None] = (),
    ) -> Self:
        """Of pipelines that have been fitted to the same rows."""
        lists = (np.asarray(values, dtype=np.float64).tolist() for values in (weights, sizes))
        return cls([clone(member) for member in members], *lists)._keep(list(members), spreads)

    def __sklearn_clone__(self) -> Self:
        copy = type(self)([clone(member) for member in self.members], self.weights, self.sizes)
        if hasattr(self, "spreads_"):  # which held-out rows told; `fit` keeps them
            copy.spreads_ = self.spreads_
        return copy

    def _facts(self) -> list[tuple[str, str]]:
        """Return the members and their weights, for `Model.summary`."""
        shares = (" / ".join(f"{w:.2f}" for w in column) for column in self.weights_.T)
        return [
            ("member", f"{share} " + " -> ".join(type(step).__name__ for _, step in member.steps))
            for share, member in zip(shares, self.members_, strict=True)
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
        """Fit every member; weights stay."""
        known = {
            "sample_weight": sample_weight, "groups": groups, "y_std": y_std, "xy_cov": xy_cov,
            "y_limit": y_limit,
        }  # fmt: skip
        fitted = [clone(member) for member in self.members]
        spreads = getattr(self, "spreads_", ())
        return self._keep([member.fit(X, y, **fit_arguments(member, known)) for member in fitted], spreads)

    def _keep(self, members: list[Pipeline], spreads: Sequence[Spread | None]) -> Self:
        weights = np.atleast_2d(np.asarray(self.weights, dtype=np.float64))
        sums = weights.sum(axis=1, keepdims=True)
        if weights.shape[1] != len(members) or not (weights >= 0.0).all() or not (sums > 0.0).all():
            raise ParameterError(f"weights = {self.weights!r}: must be one number >= 0 for each member")
        self.members_, self.weights_ = members, weights / sums
        self.sizes_ = np.asarray(self.sizes, dtype=np.float64)
        self.spreads_ = list(spreads) or [None] * len(members)
        self.n_features_in_ = int(members[0].n_features_in_)
        if hasattr(members[0], "feature_names_in_"):
            self.feature_names_in_ = members[0].feature_names_in_
        if hasattr(members[0], "classes_"):
            self.classes_ = members[0].classes_
        return self

    def weights_of(self, X: object) -> Floats:
        """w_k of every row, (n, K)."""
        knots = len(self.weights_)
        if knots == 1:
            return np.broadcast_to(self.weights_, (len(X), self.weights_.shape[1]))  # type: ignore[arg-type]
        return np.asarray(hats(level(X, self.sizes_), knots) @ self.weights_)  # type: ignore[arg-type]

    def _mean(self, method: str, X: object) -> Floats:
        """The weighted mean of the members' answers."""
        answers = [getattr(member, method)(X) for member in self.members_]
        weights = self.weights_of(X).T.reshape(len(answers), -1, *[1] * (answers[0].ndim - 1))
        return np.asarray(sum(weight * answer for weight, answer in zip(weights, answers, strict=True)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = all(get_tags(member).input_tags.allow_nan for member in self.members)
        return tags


class StackedClassifier(ClassifierMixin, _Stacked):
    """Mixed probabilities of classifiers."""

    classes_: Labels

    def predict_proba(self, X: object) -> Floats:
        """sum_k w_k p_k, shape (n, C)."""
        return self._mean("predict_proba", X)

    def predict(self, X: object) -> Labels:
        """The class of the largest probability."""
        found: Labels = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found

    def decision_function(self, X: object) -> Floats:
        """Of two classes log p / (1 - p), shape (n,); of more log p, shape (n, C)."""
        logs = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        score: Floats = logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs
        return score


class StackedRegressor(RegressorMixin, _Stacked):
    """Mixed densities of regressions."""

    def predict(self, X: object) -> Floats:
        """sum_k w_k prediction_k, shape (n,)."""
        return self._mean("predict", X)

    def predict_mixture(self, X: object) -> tuple[Floats, Floats, Floats]:
        """The density of each row's target: weights, means and standard deviations of normal components."""
        laws = [
            law_of_rows(member, X, spread)  # type: ignore[arg-type]
            for member, spread in zip(self.members_, self.spreads_, strict=True)
        ]
        weights, means, stds = mixed(laws, self.weights_of(X))
        return weights, means, stds

    def _distribution(self, X: object) -> tuple[Floats, Floats, Floats]:
        """The prediction, the root mean square deviation from it, and the part that errors make."""
        mean, squares = self.predict(X), 0.0
        for w, member, spread in zip(self.weights_of(X).T, self.members_, self.spreads_, strict=True):
            of_errors = left_open(member, X, np.empty(0) if spread is None else spread.widths).of_errors  # type: ignore[arg-type]
            slopes = np.ones(of_errors.shape[1]) if spread is None else spread.slopes
            squares = squares + w * (of_errors @ slopes)
        whole = NormalMixtures(*self.predict_mixture(X)).mean_square(mean)
        return mean, np.sqrt(whole), np.sqrt(np.minimum(squares, whole))


def mixed(laws: Sequence[NormalMixtures], weights: Floats) -> NormalMixtures:
    """The mixture of densities of the same rows, with weights (n, K)."""
    scaled = [law.weights * w[:, None] for law, w in zip(laws, weights.T, strict=True)]
    rest = ([law.means for law in laws], [law.stds for law in laws])
    return NormalMixtures(*(np.concatenate(parts, axis=1) for parts in (scaled, *rest)))
