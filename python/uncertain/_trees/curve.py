"""What rows that are held out lose, by the number of trees of a learner that is fitted to the others.

Idea: trees are added one after the other, so that the fit itself can say when it has seen enough. A scorer of
scikit-learn's early stopping is called after every tree; this one adds up what the new trees say of the rows
held out (by the core, from the arrays of the trees) and ends the fit when `BEYOND` times the best number have
been tried. Losses are known of numbers of trees that are a `FINE`th part apart.

Where one curve is too short, as that of one of several folds, its learner goes on with a warm start, which
finds bins and predicts all rows of the fit once more: with these alone a search took twice as long. So does a
learner of a version of scikit-learn whose arrays are not understood.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from .._base.folds import Fold
from .._data.typing import Floats, Labels
from ..exceptions import UncertainError
from .kept import TreesRegressor, core_rows, probabilities
from .scikit_learn import first_trees, flat_trees

FIRST, MOST = 20, 640
"""Trees that are tried at least, and at most."""
BEYOND = 1.6
"""A search ends when so many times the best number of trees have been tried."""
FINE = 20
TINY = float(np.finfo(np.float64).eps)


def sizes() -> list[int]:
    """Numbers of trees of which losses are known, those of a search the first so many of them."""
    found = [1]
    while found[-1] < MOST:
        found.append(min(MOST, found[-1] + max(1, found[-1] // FINE)))
    return found


def ends(best: int, size: int) -> bool:
    """Has a search seen enough with so many trees?"""
    return size >= FIRST and (BEYOND * best <= size or size >= MOST)


def with_known_columns(rows: Floats) -> Floats:
    """The columns of a fold, in which those that no row has are constant: histograms need a value."""
    rows[..., np.isnan(rows).all(axis=tuple(range(rows.ndim - 1)))] = 0.0
    return rows


class Curve:
    """The losses of the rows of one fold."""

    def __init__(
        self,
        learner: BaseEstimator,
        table: Floats,
        judged: Floats,
        y: Labels,
        weights: Floats | None,
        counts: Floats,
        fold: Fold,
    ) -> None:
        """Of a learner that is fitted to the copies (copies, n, columns) of the rows that a fold leaves, and
        asked about those that are `judged`, (copies, n, columns), of the others."""
        copies, _, columns = table.shape
        self._rows = with_known_columns(table[:, fold.train].reshape(-1, columns))
        self._y = np.tile(y[fold.train], copies)
        # Weights, also of 1, make scikit-learn's bins ten times as slow.
        self._weights = None if weights is None else np.tile(weights[fold.train], copies)
        self._copies, self._points = len(judged), judged[:, fold.test].reshape(-1, columns)
        self._truth, self._counts = np.tile(y[fold.test], len(judged)), counts[fold.test]
        self._learner = clone(learner).set_params(warm_start=True)
        self.sizes = sizes()
        self.losses: list[Floats] = []
        """Of each row, the mean over its copies, with the first of these numbers of trees."""
        self._best = (np.inf, 0)

    def begin(self) -> None:
        """Trees until the end of its own search."""
        watch = _Watch(self)
        learner = clone(self._learner).set_params(
            max_iter=MOST, early_stopping=True, validation_fraction=None, n_iter_no_change=1, tol=0.0,
            scoring=watch,
        )  # fmt: skip
        try:
            learner.fit(self._rows, self._y, self._weights)
        except UncertainError:  # arrays that are not understood
            return self.extend(FIRST)
        self._learner = learner.set_params(early_stopping=False, scoring="loss")
        return None

    def extend(self, size: int) -> None:
        """At least so many trees."""
        size = next(one for one in self.sizes if one >= size)
        if self.losses and self.sizes[len(self.losses) - 1] >= size:
            return
        learner = self._learner.set_params(max_iter=size).fit(self._rows, self._y, self._weights)
        of_classes = is_classifier(learner)
        answers = learner.staged_predict_proba if of_classes else learner.staged_predict
        for trees, answer in enumerate(answers(self._points), 1):
            if self._is_next(trees):
                self._append(trees, answer)

    def learner(self, size: int) -> BaseEstimator | None:
        """The one with so many trees, if it can be had."""
        return first_trees(self._learner, size)

    def _is_next(self, trees: int) -> bool:
        """Is the loss of so many the next one?"""
        return len(self.losses) < len(self.sizes) and trees == self.sizes[len(self.losses)]

    def _append(self, trees: int, answer: Floats) -> None:
        losses = loss(self._learner, answer, self._truth).reshape(self._copies, -1).mean(axis=0)
        self._best = min(self._best, (float(losses @ self._counts), trees))
        self.losses.append(losses)


class _Watch:
    """A scorer that looks at the newest trees, and falls where they are enough."""

    def __init__(self, curve: Curve) -> None:
        self._curve = curve
        self._rows = core_rows(curve._points)
        self._scores: Floats | None = None
        self._seen = 0

    def __call__(
        self, learner: BaseEstimator, X: Floats, y: Labels, sample_weight: Floats | None = None
    ) -> float:
        """Larger than the last score, or smaller to end the fit; the rows are some of the fit."""
        trees, curve = len(learner._predictors), self._curve
        if not curve._is_next(trees):
            return float(trees)
        new = flat_trees(learner, self._seen)
        sums = TreesRegressor(*new).sums(self._rows)
        self._scores, self._seen = sums if self._scores is None else self._scores + sums, trees
        answer = probabilities(self._scores) if is_classifier(learner) else self._scores.ravel()
        curve._learner = learner
        curve._append(trees, answer)
        return -1.0 if ends(curve._best[1], trees) else float(trees)


def loss(learner: BaseEstimator, answers: Floats, truth: Labels) -> Floats:
    """The squared errors of numbers, or minus the logarithm of the probability of what happened."""
    if not is_classifier(learner):
        squares: Floats = (answers - truth) ** 2
        return squares
    place = np.minimum(np.searchsorted(learner.classes_, truth), len(learner.classes_) - 1)
    p = np.where(learner.classes_[place] == truth, answers[np.arange(len(truth)), place], 0.0)
    return np.asarray(-np.log(np.maximum(p, TINY)))
