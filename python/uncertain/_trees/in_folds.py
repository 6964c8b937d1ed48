"""Default learners of the rows that folds leave, and their mean.

A choice holds rows out, and has a model once it has done so: the mean of the learners of five folds is about
as good as four learners of all rows (losses x 1.03, .99, .99, 1.02 at errors x 1, 2, 4, 8 over five splits),
for which no fit is left to be done. Trees are grown in steps `SWIFT` times as long as those of the default
learner: a fourth of the trees, and no loss in the mean of several learners.

The columns (which do not know targets) are those of all rows; distributions of true values, from which copies
with smaller errors are drawn, are those of the rows that a fold leaves.
"""

from collections.abc import Sequence

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier

from .._base.folds import Fold
from .._data.groups import groups_from
from .._data.typing import Array, Labels, RowValues
from .._data.validation import RowsLike, check_labels, check_numbers, check_sample_weight, generator_from
from . import number_of_trees as counting
from .remeasured import RATE, Remeasured, of_mean_one

SWIFT = 4
"""Learning rate, in units of the default learner's."""
FIRST, MOST = 28, 120
"""Trees that are tried at least, and at most, which stand for `SWIFT` times as many."""


def learners_of_folds(
    model: Remeasured,
    X: RowsLike,
    y: ArrayLike,
    folds: Sequence[Fold],
    *,
    sample_weight: RowValues = None,
    groups: RowValues = None,
    n_trees: int | None = None,
) -> list[BaseEstimator]:
    """Fit the learner of `model` to the copies of rows that folds leave.

    `n_trees` is how many each has, None for as many as help the rows held out (of many those of the first
    fold). The model knows its columns, and how many trees learners have (`n_trees_`); what it asks,
    `estimator_`, is left to be set.
    """
    model._check()
    rows = model._rows(X, reset=True)
    weights = of_mean_one(check_sample_weight(sample_weight, len(rows)))
    if weights is not None:  # of mean 1 for rows that count
        weights = weights * (weights > 0.0).mean()
    targets: Array
    if is_classifier(model):
        model.classes_, targets = check_labels(y, X, model, sample_weight)
        labels: Labels = model.classes_[targets]
    else:
        labels = targets = check_numbers(y, X, model)
    random, copies = generator_from(model.random_state), model._begin(rows)
    together = None if groups is None else groups_from(groups, "groups", len(rows))
    told = counting.Targets(labels, weights, together)
    counts, judges = told.counts, told.judging(folds)
    found, curves = list[BaseEstimator](), list[counting.Curve]()
    for fold in folds:
        at = fold.train[counts[fold.train] > 0.0]
        some = None if weights is None else weights[at]
        truth = model._fit_truth(rows[at], targets[at], some, copies, random)
        table = counting.with_known_columns(model._copied(rows[at], targets[at], truth, copies, random))
        learner = model._boosting(table, random).set_params(learning_rate=SWIFT * RATE)
        with model._quiet(table):
            if n_trees is not None:
                model.n_trees_ = n_trees
                model._set_trees(learner, table)
                found.append(model._trained(learner, table, labels[at], some))
                continue
            judged = model._copied(rows[fold.test], targets[fold.test], None, copies, random)
            left, most = Fold(fold.repeat, at, fold.test), min(MOST, counting.MOST)
            curves.append(counting.Curve(learner, table, judged, told, left, most))
            if len(curves) == len(judges):
                least = FIRST
                for curve in curves:  # warm starts, where one is shorter than others, cost much
                    least = curve.begin(least)
                n_trees = counting.best_number(curves, learner, told, judges)
                found, model.n_trees_ = [curve.learner(n_trees) for curve in curves], n_trees
    return found
