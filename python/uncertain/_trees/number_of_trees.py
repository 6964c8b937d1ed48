"""Number of trees of re-measured rows, by held-out rows.

Boosting overfits after the first tree where features are noise, after 40 with 800 rows of three classes,
after 200 with 2,500 rows of two: no rule that knows only the size of a table can say when. So a part of the
objects, with all their copies, is held out, trees are added while its loss falls, and the learner is fitted
to all rows with that number. A learner that is not better than a constant by one standard error is the
constant.

Trees that count are grown in steps `FASTER` times as long, and each stands for so many of the learner: half
the trees, and no loss on new rows. Of large tables every second copy counts. Copies with smaller errors are
drawn from the distribution of the row's class (`_readings`), and would tell the labels of rows held out:
they are learned from and not judged by.

A scorer of scikit-learn's early stopping is called after every tree; it adds up what the new trees say of the
rows held out (by the core, from the arrays of the trees) and ends the fit when `BEYOND` times the best number
have been tried. Losses are computed at numbers of trees a `FINE`th part apart. Where one curve of several
folds is too short, its learner goes on with a warm start, which takes twice as long. So does a learner of a
version of scikit-learn whose arrays are not understood.

Rejected: scikit-learn's early stopping alone, which holds out copies of rows that it learns from; a fixed
number.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor

from .._base.folds import Fold, split
from .._data.groups import Groups
from .._data.typing import Booleans, Codes, Floats, Labels
from ..exceptions import UncertainError
from .boosting import TreesRegressor, core_rows, first_trees, flat_trees, probabilities

FIRST, MOST = 20, 640
"""Trees that are tried at least, and at most."""
BEYOND = 1.6
"""A search ends when so many times the best number of trees have been tried."""
FINE = 20
TINY = float(np.finfo(np.float64).eps)
FASTER = 2
"""Learning rate of trees that count, in units of the learner's."""
GROWTH = 1.5
"""Trees of curves that are too short, in units of what the shortest has."""
MANY = 60_000
"""Rows and copies together above which every second copy counts."""
FOLDS = 5
"""One of so many parts is held out: each in turn with fewer than `FEW` rows, or `FEW_OBJECTS` groups of rows,
else the first alone. A fifth of 60 groups of 50 rows found 40 trees where all five find 90."""
FEW, FEW_OBJECTS = 1_000, 200


def sizes(most: int) -> list[int]:
    """Numbers of trees at which losses are computed."""
    numbers = [1]
    while numbers[-1] < most:
        numbers.append(min(most, numbers[-1] + max(1, numbers[-1] // FINE)))
    return numbers


def ends(best: int, size: int, most: int) -> bool:
    """True if a search may end with `size` trees."""
    return size >= most or (size >= FIRST and BEYOND * best <= size)


def with_known_columns(rows: Floats) -> Floats:
    """Columns of a fold; those that no row has are 0, as histograms need a value."""
    rows[..., np.isnan(rows).all(axis=tuple(range(rows.ndim - 1)))] = 0.0
    return rows


class Targets(NamedTuple):
    """Labels or numbers of all rows, their weights, and the groups that are held out together."""

    y: Labels
    weights: Floats | None
    groups: Codes | None

    @property
    def counts(self) -> Floats:
        """Numbers by which losses of rows count."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def judging(self, folds: Sequence[Fold]) -> Sequence[Fold]:
        """The folds whose losses are needed: of many rows the first alone."""
        n_objects = len(self.y) if self.groups is None else len(np.unique(self.groups))
        return folds[: 1 if len(self.y) >= FEW and n_objects >= FEW_OBJECTS else None]


class Curve:
    """The losses of the rows of one fold."""

    def __init__(
        self, learner: BaseEstimator, table: Floats, judged: Floats, targets: Targets, fold: Fold, most: int
    ) -> None:
        """Fit to the copies (copies, n, columns) of a fold's training rows, judged by `judged` copies of its
        test rows, (copies, m, columns)."""
        y, weights, _ = targets
        copies, _, columns = table.shape
        self._rows = with_known_columns(table.reshape(-1, columns))
        self._y = np.tile(y[fold.train], copies)
        # Weights, also of 1, make scikit-learn's bins ten times as slow.
        self._weights = None if weights is None else np.tile(weights[fold.train], copies)
        self._copies, self._points = len(judged), judged.reshape(-1, columns)
        self._truth, self._counts = np.tile(y[fold.test], len(judged)), targets.counts[fold.test]
        self._learner = clone(learner).set_params(warm_start=True)
        self.sizes, self._most = sizes(most), most
        self.losses: list[Floats] = []
        """Of each row, the mean over its copies, with the first of these numbers of trees."""
        self._best = (np.inf, 0)

    def begin(self, least: int = 0) -> int:
        """Grow trees to the end of its own search, or `least`; how many there are."""
        self._least = least
        search = {"early_stopping": True, "validation_fraction": None, "n_iter_no_change": 1, "tol": 0.0}
        learner = clone(self._learner).set_params(max_iter=self._most, scoring=_Watch(self), **search)
        try:
            learner.fit(self._rows, self._y, self._weights)
        except UncertainError:  # arrays that are not understood
            self.extend(min(max(FIRST, least), self._most))
        else:
            self._learner = learner.set_params(early_stopping=False, scoring="loss")
        return self.sizes[len(self.losses) - 1]

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

    def learner(self, size: int) -> BaseEstimator:
        """The one with so many trees, a constant with none."""
        shorter = first_trees(self._learner, size) if size else None
        if shorter is not None:
            return shorter
        constant = {} if size else {"min_samples_leaf": len(self._rows)}
        plain = clone(self._learner).set_params(
            warm_start=False, early_stopping=False, scoring="loss", max_iter=max(size, 1), **constant
        )
        return plain.fit(self._rows, self._y, self._weights)

    def _is_next(self, trees: int) -> bool:
        """True if the loss of so many trees is the next one."""
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
        """Score for early stopping: falls to end the fit."""
        trees, curve = len(learner._predictors), self._curve
        if not curve._is_next(trees):
            return float(trees)
        new = flat_trees(learner, self._seen)
        sums = TreesRegressor(*new).sums(self._rows)
        self._scores, self._seen = sums if self._scores is None else self._scores + sums, trees
        answer = probabilities(self._scores) if is_classifier(learner) else self._scores.ravel()
        curve._learner = learner
        curve._append(trees, answer)
        enough = trees >= curve._least and ends(curve._best[1], trees, curve._most)
        return -1.0 if enough else float(trees)


def loss(learner: BaseEstimator, answers: Floats, truth: Labels) -> Floats:
    """Squared errors, or minus the log-probability of the class."""
    if not is_classifier(learner):
        squares: Floats = (answers - truth) ** 2
        return squares
    place = np.minimum(np.searchsorted(learner.classes_, truth), len(learner.classes_) - 1)
    p = np.where(learner.classes_[place] == truth, answers[np.arange(len(truth)), place], 0.0)
    return np.asarray(-np.log(np.maximum(p, TINY)))


def number_of_trees(
    learner: BaseEstimator, table: Floats, targets: Targets, judged: Booleans, random: np.random.RandomState
) -> int:
    """Number of trees to fit to the copies (copies, n, columns) of n rows; 0 for a constant. `judged`: the
    copies that count where rows are held out."""
    classes = targets.y if is_classifier(learner) else None
    groups = None if targets.groups is None else Groups(targets.groups)
    folds = targets.judging(split(len(targets.y), random, folds=FOLDS, classes=classes, groups=groups))
    if not folds:
        return 0
    swift = clone(learner).set_params(learning_rate=FASTER * learner.learning_rate)
    if table.shape[0] * table.shape[1] > MANY:
        swift.set_params(
            min_samples_leaf=max(1, learner.min_samples_leaf // 2),
            l2_regularization=learner.l2_regularization / 2,
        )
        table, judged = table[::2], judged[::2]
    curves = [
        Curve(swift, table[:, fold.train], table[judged][:, fold.test], targets, fold, MOST) for fold in folds
    ]
    for curve in curves:
        curve.begin()
    return FASTER * best_number(curves, learner, targets, folds)


def best_number(curves: list[Curve], learner: BaseEstimator, targets: Targets, folds: Sequence[Fold]) -> int:
    """The number of trees of the least loss of rows held out, by a curve of each fold that has begun; 0 for a
    constant."""
    test = np.concatenate([fold.test for fold in folds])
    counts, groups = targets.counts, targets.groups
    while True:
        known, sizes = min(len(curve.losses) for curve in curves), curves[0].sizes
        losses = np.hstack([np.stack(curve.losses[:known]) for curve in curves])
        best = int((losses @ counts[test]).argmin())
        if ends(sizes[best], sizes[known - 1], sizes[-1]):
            break
        for curve in curves:
            curve.extend(min(sizes[-1], int(GROWTH * sizes[known - 1])))
    gains = counts[test] * (_constant(learner, targets, folds) - losses[best])
    objects = np.arange(len(test)) if groups is None else np.unique(groups[test], return_inverse=True)[1]
    gains = np.bincount(objects, gains)
    return 0 if gains.mean() * np.sqrt(len(gains)) <= gains.std() else sizes[best]


def _constant(learner: BaseEstimator, targets: Targets, folds: Sequence[Fold]) -> Floats:
    """Held-out losses of a constant: class shares, or the mean."""
    losses, y, counts = [], targets.y, targets.counts
    for fold in folds:
        kind = DummyClassifier(strategy="prior") if is_classifier(learner) else DummyRegressor()
        kind.fit(fold.train[:, None], y[fold.train], counts[fold.train])
        at = fold.test[:, None]
        answers = kind.predict_proba(at) if is_classifier(learner) else kind.predict(at)
        losses.append(loss(kind, answers, y[fold.test]))
    return np.concatenate(losses)
