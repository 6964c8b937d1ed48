"""How many trees the default learner of re-measured rows needs, by objects that are held out.

Idea: boosting overfits after the first tree where features are noise, after 40 with 800 rows of three
classes, after 200 with 2,500 rows of two. No rule that knows only the size of a table can say that. So a part
of the objects, with all their copies, is held out, trees are added while its loss falls, and the learner is
fitted to all rows with that number. A learner that is not better than a constant by one standard error is
the constant.

Trees that count are grown in steps `FASTER` times as long, and each stands for so many of the learner: half
the trees, and on new rows nothing lost (docs/decisions/2026-11-24-a-cheaper-choice.md). Of large tables every
second copy counts.

Copies with smaller errors are drawn from what is known of the row's own class (`_readings`), so those of rows
held out would tell their labels: they are learned from and not judged by.

Rejected: scikit-learn's early stopping, which holds out copies of rows that it learns from; a fixed number
(benches/python/remeasured_rules.py).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor

from .._base.folds import Fold, split
from .._data.groups import Groups
from .._data.typing import Booleans, Codes, Floats, Labels
from .curve import Curve, ends, loss

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


def number_of_trees(
    learner: BaseEstimator,
    table: Floats,
    y: Labels,
    weights: Floats | None,
    groups: Codes | None,
    judged: Booleans,
    random: np.random.RandomState,
    fold: Fold | None = None,
) -> tuple[int, BaseEstimator | None]:
    """How many trees to fit to the copies (copies, n, columns) of n rows; 0 for a constant.

    `learner` is unfitted histogram gradient boosting; its `max_iter` is not looked at. `judged` says which of
    the copies count where rows are held out. `fold` is what is held out where one fold is enough. With the
    number comes the learner that has found it, if only one fold was held out and it is no constant.
    """
    counts = np.ones(len(y)) if weights is None else weights
    n_objects = len(y) if groups is None else len(np.unique(groups))
    one = len(y) >= FEW and n_objects >= FEW_OBJECTS
    folds = [fold] if one and fold is not None else split(
        len(y), random, folds=FOLDS, classes=y if is_classifier(learner) else None,
        groups=None if groups is None else Groups(groups), counted=np.flatnonzero(counts > 0.0),
    )  # fmt: skip
    folds = folds[:1] if one else folds
    if not folds:
        return 0, None
    test = np.concatenate([fold.test for fold in folds])
    swift = clone(learner).set_params(learning_rate=FASTER * learner.learning_rate)
    if table.shape[0] * table.shape[1] > MANY:
        swift.set_params(
            min_samples_leaf=max(1, learner.min_samples_leaf // 2),
            l2_regularization=learner.l2_regularization / 2,
        )
        table, judged = table[::2], judged[::2]
    curves = [Curve(swift, table, table[judged], y, weights, counts, fold) for fold in folds]
    for curve in curves:
        curve.begin()
    while True:
        known, sizes = min(len(curve.losses) for curve in curves), curves[0].sizes
        losses = np.hstack([np.stack(curve.losses[:known]) for curve in curves])
        best = int((losses @ counts[test]).argmin())
        if ends(sizes[best], sizes[known - 1]):
            break
        for curve in curves:
            curve.extend(min(sizes[-1], int(GROWTH * sizes[known - 1])))
    gains = counts[test] * (_constant(learner, y, counts, folds) - losses[best])
    objects = np.arange(len(test)) if groups is None else np.unique(groups[test], return_inverse=True)[1]
    gains = np.bincount(objects, gains)
    if gains.mean() * np.sqrt(len(gains)) <= gains.std():
        return 0, None
    return FASTER * sizes[best], curves[0].learner(sizes[best]) if one else None


def _constant(learner: BaseEstimator, y: Labels, counts: Floats, folds: list[Fold]) -> Floats:
    """The losses of the rows held out if the same is said of all: shares of classes, or the mean."""
    losses = []
    for fold in folds:
        kind = DummyClassifier(strategy="prior") if is_classifier(learner) else DummyRegressor()
        kind.fit(fold.train[:, None], y[fold.train], counts[fold.train])
        at = fold.test[:, None]
        answers = kind.predict_proba(at) if is_classifier(learner) else kind.predict(at)
        losses.append(loss(kind, answers, y[fold.test]))
    return np.concatenate(losses)
