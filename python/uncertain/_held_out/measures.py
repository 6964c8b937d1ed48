"""Measures of held-out predictions, each as one number per row whose weighted mean is the measure.

Of a measure that is no mean over rows, a row's number is the measure and the row's influence on it (placement
values of an AUC: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44, 1988, doi
10.2307/2531595; else the delta method). So one formula for paired standard errors, with groups and weights,
serves all of them (`HeldOut.mean`). With weights c_i of sum C, of which class k has C_k, its recall r_k, and
placements V_i:

    balanced accuracy    B + C / (K C_k) (right_i - r_k)           B = mean of the K recalls
    AUC                  A + C / C_+ (V_i - A), or C / C_- for the other class
    R2 = 1 - E / V       R - (e_i^2 - E) / V + E / V^2 ((y_i - mean y)^2 - V)
    RMSE = sqrt(E)       RMSE + (e_i^2 - E) / (2 RMSE)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._base.normal_mixtures import NormalMixtures
from .._data.options import check_option, refuse_if
from .._data.typing import Booleans, Floats, Labels
from ..exceptions import UncertainError

SMALLEST = float(np.finfo(np.float64).eps)
"""A probability counts as this at least, as in scikit-learn."""


class Predicted(NamedTuple):
    """Predictions of rows whose targets are known."""

    y: Labels
    """Targets; codes of classes."""
    predicted: Labels
    counts: Floats
    """How much each row counts."""
    shares: Any
    """Probabilities of classes, (m, K); their softmax where a method has scores alone; None of numbers."""
    law: NormalMixtures | None = None
    """Densities of targets as they are measured."""


class Measure(NamedTuple):
    """A measure of predictions."""

    name: str
    label: str
    of_rows: Callable[[Predicted], Floats]
    needs: str = ""
    """ "scores", "probabilities" or "law"."""
    sign: int = 1
    """1 if more is better, -1 if less is."""
    by_row: bool = True
    """Is it a mean over rows?"""
    percent: bool = False


def _right(p: Predicted) -> Floats:
    return np.asarray(p.predicted == p.y, dtype=np.float64)


def _balanced(p: Predicted) -> Floats:
    sums = np.bincount(p.y, p.counts)
    recall = np.bincount(p.y, p.counts * _right(p)) / np.maximum(sums, 1e-300)
    present = np.count_nonzero(sums)
    share = present * sums[p.y] / p.counts.sum()
    return np.asarray(recall.sum() / present + (_right(p) - recall[p.y]) / share)


def _auc(p: Predicted) -> Floats:
    """Of two classes; of more the mean over classes of each against the rest."""
    classes = [1] if p.shares.shape[1] == 2 else np.unique(p.y).tolist()
    refuse_if(np.ptp(p.y) == 0, "AUC: all rows are of one class", UncertainError)
    return np.asarray(np.mean([_area(p.y == k, p.shares[:, k], p.counts) for k in classes], axis=0))


def _area(positive: Booleans, score: Floats, counts: Floats) -> Floats:
    """A row's placement is the share of the other class's rows that its score beats, ties counting half."""
    placement = np.empty(len(score))
    for side, sign in ((positive, 1.0), (~positive, -1.0)):
        order = np.argsort(sign * score[~side])
        sums, others = np.append(0.0, np.cumsum(counts[~side][order])), (sign * score[~side])[order]
        ends = (sums[np.searchsorted(others, sign * score[side], end)] for end in ("left", "right"))
        placement[side] = sum(ends) / (2.0 * sums[-1])
    area, share = (
        np.average(placement[positive], weights=counts[positive]),
        np.average(positive, weights=counts),
    )
    return np.asarray(area + (placement - area) / np.where(positive, share, 1.0 - share))


def _log_loss(p: Predicted) -> Floats:
    return np.asarray(-np.log(np.maximum(p.shares[np.arange(len(p.y)), p.y], SMALLEST)))


def _brier(p: Predicted) -> Floats:
    """Sum over classes of (p - [it happened])^2; half of it for two, as usual."""
    total = ((p.shares - np.eye(p.shares.shape[1])[p.y]) ** 2).sum(axis=1)
    return np.asarray(total / 2 if p.shares.shape[1] == 2 else total)


def _rmse(p: Predicted) -> Floats:
    squares = (p.predicted - p.y) ** 2
    mean = np.average(squares, weights=p.counts)
    return np.asarray(np.sqrt(mean) + (squares - mean) / (2 * np.sqrt(mean)) if mean > 0 else squares)


def _r2(p: Predicted) -> Floats:
    squares, around = (p.predicted - p.y) ** 2, (p.y - np.average(p.y, weights=p.counts)) ** 2
    e, v = (np.average(values, weights=p.counts) for values in (squares, around))
    refuse_if(not v > 0, "R2: the targets of all rows are equal", UncertainError)
    return np.asarray(1 - e / v - (squares - e) / v + e / v**2 * (around - v))


OF_CLASSES = (
    Measure("accuracy", "accuracy", _right, percent=True),
    Measure("balanced_accuracy", "balanced accuracy", _balanced, by_row=False, percent=True),
    Measure("roc_auc", "AUC", _auc, "scores", by_row=False),
    Measure("log_loss", "log loss", _log_loss, "probabilities", -1),
    Measure("brier", "Brier score", _brier, "probabilities", -1),
)
OF_NUMBERS = (
    Measure("mae", "mean absolute error", lambda p: np.abs(p.predicted - p.y), "", -1),
    Measure("rmse", "root mean square error", _rmse, "", -1, by_row=False),
    Measure("r2", "R2", _r2, by_row=False),
    Measure("crps", "CRPS", lambda p: p.law.crps(p.y), "law", -1),  # type: ignore[union-attr]
    Measure("cde_loss", "CDE loss", lambda p: p.law.cde_loss(p.y), "law", -1),  # type: ignore[union-attr]
)
MEASURES = {measure.name: measure for measure in (*OF_CLASSES, *OF_NUMBERS)}


def chosen_measures(
    scorers: Sequence[str] | str | None, scoring: str | None, usable: Sequence[Measure]
) -> tuple[list[Measure], Measure]:
    """The measures to take (all if `scorers` is None), always with the first, and the one that ranks."""
    names = [measure.name for measure in usable]
    wanted = names if scorers is None else [scorers] if isinstance(scorers, str) else list(scorers)
    ranking = names[0] if scoring is None else scoring
    for argument, name in [*(("scorers", name) for name in wanted), ("scoring", ranking)]:
        check_option(argument, name, names)
    return [m for m in usable if m.name in {*wanted, ranking, names[0]}], MEASURES[ranking]
