"""Cross-validation on given folds, and what its means are worth.

Repeats share rows, so dividing the spread of the scores by the root of their number would promise too much:
see `standard_error`.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Floats, Labels
from ..exceptions import ConvergenceWarning
from ..preprocessing._imputer import GaussianImputer
from ..tables._groups import Groups
from .base import Folds


def standard_error(correct: Floats, groups: Groups | None = None) -> float:
    """Standard error of a mean over random splits of a finite number of rows, or of whole groups of rows.

    `correct` has shape (splits, rows) and is NaN where a row was not held out. Two kinds of luck add up, that
    of the split (which rows were trained on) and that of the rows there are:

        se^2 = var(mean of each split) / splits + var(mean of each row) / rows

    More splits make only the first term small. Both terms contain some of the same luck, so this is a
    little too large rather than too small.

    Rows of one group are right or wrong together, so with groups the second term counts these. What row i
    contributes to the mean c of the S splits' means is d_i, summed over the splits in which it was held out
    (one of n_s rows), and the contributions of a group are added before they are squared:

        d_i = sum_s (c_si - c) / (S n_s)
        se^2 = var(mean of each split) / splits + G / (G - 1) sum_g (sum_{i in g} d_i)^2

    This is the cluster-robust variance of a mean, as in A. C. Cameron and D. L. Miller, A Practitioner's
    Guide to Cluster-Robust Inference, Journal of Human Resources 50(2), 2015, doi 10.3368/jhr.50.2.317, with
    the factor G / (G - 1) for G groups. For groups of one row, and splits of one size, it is the formula
    above. With fewer than some twenty groups it is itself uncertain, and on average a little too small.
    """
    tested = ~np.isnan(correct)
    filled = np.where(tested, correct, 0.0)
    of_splits = filled.sum(axis=1) / tested.sum(axis=1)
    if groups is not None:
        off = np.where(tested, correct - of_splits.mean(), 0.0) / tested.sum(axis=1, keepdims=True)
        of_groups = np.bincount(groups.codes, weights=off.sum(axis=0)) / len(correct)
        split_term = of_splits.var(ddof=1) / of_splits.size if of_splits.size > 1 else 0.0
        g = groups.count
        return float(np.sqrt(split_term + (g / (g - 1) if g > 1 else 1.0) * np.sum(of_groups**2)))
    seen = tested.any(axis=0)
    of_rows = filled.sum(axis=0)[seen] / tested.sum(axis=0)[seen]
    terms = [x.var(ddof=1) / x.size for x in (of_splits, of_rows) if x.size > 1]
    return float(np.sqrt(sum(terms)))


def means_alone(data: GaussianArray | Incomplete) -> GaussianArray:
    """Exact points: the means, and for what is missing its conditional mean given the rest of the row."""
    if not isinstance(data, Incomplete):
        return data.collapse("zero")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = GaussianImputer(random_state=0).fit(data).transform(data)
    return filled.collapse("zero")


def quiet(pipeline: Pipeline) -> Pipeline:
    """An unfitted copy that calibrates no probabilities and shows no progress."""
    copy = clone(pipeline)
    asked = {"probability": False, "callback": None, "verbose": 0}
    known = copy[-1].get_params()
    copy[-1].set_params(**{name: value for name, value in asked.items() if name in known})
    return copy


def gap_of(fitted: Pipeline) -> float:
    """Certified relative distance to the optimum (of the worst problem); NaN if the fit certifies nothing."""
    return float(np.max(getattr(fitted[-1], "optimality_gap_", np.nan)))


def timed(
    pipeline: Pipeline, data: GaussianArray | Incomplete, y: Labels, **known: Any
) -> tuple[float, float]:
    """The certified gap of one fit to all rows, and its seconds."""
    start = time.perf_counter()
    fitted = clone(pipeline).fit(data, y, **known)
    return gap_of(fitted), time.perf_counter() - start


def gap_text(gap: float) -> str:
    """How the gap is printed in a line of results."""
    return "             " if np.isnan(gap) else f"   gap {gap:.1e}"


def cross_validate(
    pipeline: Pipeline, data: GaussianArray | Incomplete, y: Labels, folds: Folds
) -> tuple[Floats, Labels]:
    """Is each held-out row right (splits x rows, NaN in training), and the first repeat's predictions."""
    correct = np.full((len(folds.splits), len(y)), np.nan)
    held_out = y.copy()
    for k, (train, test) in enumerate(folds.splits):
        predicted = clone(pipeline).fit(data[train], y[train]).predict(data[test])
        correct[k, test] = predicted == y[test]
        if k < folds.per_repeat:
            held_out[test] = predicted
    return correct, held_out
