"""Measures of held-out predictions, each as one number per row whose mean is the measure.

An accuracy is a mean over rows; a balanced accuracy, an AUC or an R2 is not. But each is a smooth function of
means, and adding to it the row's influence (what the row moves it by, times n) gives numbers that have the
measure as their mean and its large-sample variance as theirs. So one formula for standard errors, paired and
with groups or without, serves all of them (`held_out.standard_error`). For the AUC these are the placement
values of E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44, 1988, doi 10.2307/2531595; for
the rest it is the delta method. With r_k the recall of class k, which has n_k of the n rows,

    balanced accuracy    B + n / (K n_k) (right_i - r_k)           B = mean of the K recalls
    AUC                  A + n / n_+ (V_i - A), or n / n_- for the other class
    R2 = 1 - E / V       R - (e_i^2 - E) / V + E / V^2 ((y_i - mean y)^2 - V)
    RMSE = sqrt(E)       RMSE + (e_i^2 - E) / (2 RMSE)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import rankdata

from .._base.normal_mixtures import NormalMixtures
from .._data.options import check_option
from .._data.typing import Floats, Ints, Labels
from ..exceptions import ParameterError


class Answer(NamedTuple):
    """What one fit says of the rows that it has not seen."""

    rows: Ints
    """Their numbers."""
    predicted: Labels
    """Labels, or numbers."""
    scores: Floats | None = None
    """Of a classifier: shape (rows,), or (rows, K) for more than two classes."""
    probabilities: Floats | None = None
    """Shape (rows, K), in the order of the sorted classes; None where they were not calibrated."""
    law: NormalMixtures | None = None
    """Of a regression: the distributions of targets as they are measured."""
    whole: bool = True
    """Is the law the whole distribution, or only what error bars leave open?"""


Rows = Callable[[Labels, Answer, Labels], "Floats | None"]
"""(truth, answer, sorted classes) -> a number for each row; None where the measure is not defined."""


@dataclass(frozen=True)
class Metric:
    """A measure of held-out predictions."""

    name: str
    label: str
    by_row: Rows
    needs: Literal["predicted", "scores", "probabilities", "law"] = "predicted"
    sign: int = 1
    """1 if more is better, -1 if less is, 0 if neither (a coverage should be what it says)."""
    percent: bool = False

    def text(self, value: float, se: float, *, plus: bool = False) -> str:
        """A value and its standard error, for people."""
        if np.isnan(value):
            return "-"
        sign = "+" if plus else ""
        if self.percent:
            return f"{100 * value:{sign}.2f} +- {100 * se:.2f} %"
        # As many places as two digits of the standard error have.
        places = 1 - int(np.floor(np.log10(se))) if se > 0 else 4
        if 0 <= places <= 6:
            return f"{value:{sign}.{places}f} +- {se:.{places}f}"
        return f"{value:{sign}.4g} +- {se:.2g}"


def _accuracy(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    return np.asarray(answer.predicted == truth, dtype=np.float64)


def _balanced_accuracy(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    right, n = _accuracy(truth, answer, classes), len(truth)
    present, codes, counts = np.unique(truth, return_inverse=True, return_counts=True)
    recall = np.bincount(codes, weights=right) / counts
    return np.asarray(recall.mean() + n / (len(present) * counts[codes]) * (right - recall[codes]))


def _auc(truth: Labels, answer: Answer, classes: Labels) -> Floats | None:
    """Of two classes; of more the mean over classes of each against the rest."""
    assert answer.scores is not None
    scores = answer.scores[:, None] if answer.scores.ndim == 1 else answer.scores
    positives = classes[1:] if scores.shape[1] == 1 else classes
    each = [_area_under_curve(truth == label, scores[:, k]) for k, label in enumerate(positives)]
    known = [rows for rows in each if rows is not None]
    return np.asarray(np.mean(known, axis=0)) if known else None


def _area_under_curve(positive: Labels, score: Floats) -> Floats | None:
    """A row's placement is the share of the other class's rows that its score beats, ties counting half."""
    n, n_positive = len(score), int(positive.sum())
    if n_positive in (0, n):
        return None
    own = np.empty(n)
    for side in (positive, ~positive):
        own[side] = rankdata(score[side])
    beaten = rankdata(score) - own  # rows of the other class below
    placement = np.where(positive, beaten / (n - n_positive), 1.0 - beaten / n_positive)
    auc = placement[positive].mean()
    share = np.where(positive, n_positive, n - n_positive) / n
    return np.asarray(auc + (placement - auc) / share)


def _log_loss(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    """-log of the probability of what happened, which counts as 2^-52 at least, as in scikit-learn."""
    assert answer.probabilities is not None
    given = answer.probabilities[np.arange(len(truth)), np.searchsorted(classes, truth)]
    return np.asarray(-np.log(np.clip(given, np.finfo(np.float64).eps, 1.0)))


def _brier(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    """Sum over classes of (p - [it happened])^2; half of it for two, as usual."""
    assert answer.probabilities is not None
    happened = truth[:, None] == classes
    total: Floats = ((answer.probabilities - happened) ** 2).sum(axis=1)
    return np.asarray(total / 2 if len(classes) == 2 else total)


def _absolute(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    return np.asarray(np.abs(answer.predicted - truth))


def _rmse(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    squares = (answer.predicted - truth) ** 2
    rmse = np.sqrt(squares.mean())
    return np.asarray(rmse + (squares - squares.mean()) / (2 * rmse) if rmse > 0 else squares)


def _r2(truth: Labels, answer: Answer, classes: Labels) -> Floats | None:
    squares, around = (answer.predicted - truth) ** 2, (truth - truth.mean()) ** 2
    error, variance = squares.mean(), around.mean()
    if not variance > 0:
        return None
    return np.asarray(
        1 - error / variance - (squares - error) / variance + error / variance**2 * (around - variance)
    )


def _coverage(share: float) -> Rows:
    """Between the quantiles (1 -+ share) / 2."""

    def by_row(truth: Labels, answer: Answer, classes: Labels) -> Floats:
        assert answer.law is not None
        return np.asarray(np.abs(answer.law.pit(truth) - 0.5) <= share / 2, dtype=np.float64)

    return by_row


def _crps(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    assert answer.law is not None
    return answer.law.crps(truth)


def _cde_loss(truth: Labels, answer: Answer, classes: Labels) -> Floats:
    assert answer.law is not None
    return answer.law.cde_loss(truth)


OF_CLASSES = (
    Metric("accuracy", "accuracy", _accuracy, percent=True),
    Metric("balanced_accuracy", "balanced accuracy", _balanced_accuracy, percent=True),
    Metric("roc_auc", "AUC", _auc, needs="scores"),
    Metric("log_loss", "log loss", _log_loss, needs="probabilities", sign=-1),
    Metric("brier", "Brier score", _brier, needs="probabilities", sign=-1),
)
OF_NUMBERS = (
    Metric("mae", "mean absolute error", _absolute, sign=-1),
    Metric("rmse", "root mean square error", _rmse, sign=-1),
    Metric("r2", "R2", _r2),
    Metric("crps", "CRPS", _crps, needs="law", sign=-1),
    Metric("cde_loss", "CDE loss", _cde_loss, needs="law", sign=-1),
    Metric("coverage_68", "coverage at 68 %", _coverage(0.68), needs="law", sign=0, percent=True),
    Metric("coverage_95", "coverage at 95 %", _coverage(0.95), needs="law", sign=0, percent=True),
)


def chosen_metrics(
    scorers: Sequence[str] | str | None, scoring: str | None, known: Sequence[Metric]
) -> tuple[tuple[Metric, ...], Metric]:
    """The measures to take (all if `scorers` is None) and the one that ranks; the first is always among them.

    Raises `ParameterError` for a name that is none, and for a coverage that should rank.
    """
    names = [metric.name for metric in known]
    wanted = names if scorers is None else [scorers] if isinstance(scorers, str) else list(scorers)
    for name in wanted:
        check_option("scorers", name, names)
    ranking = names[0] if scoring is None else scoring
    check_option("scoring", ranking, names)
    ranks = known[names.index(ranking)]
    if ranks.sign == 0:
        raise ParameterError(
            f"scoring={ranking!r}: a coverage ranks nothing, it should be what it says; use one of "
            f"{', '.join(metric.name for metric in known if metric.sign)}"
        )
    return tuple(m for m in known if m.name in {*wanted, ranking, names[0]}), ranks
