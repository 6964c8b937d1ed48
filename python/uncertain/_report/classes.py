"""Did the error bars change anything? A fit on the means alone, side by side with the model.

Idea: everything that is compared is compared on rows neither fit has seen. Both models get the same
folds of a repeated stratified cross-validation, so the difference of their scores is paired and its
standard error is far smaller than that of either score (see `_held_out`). On the same folds the report
compares what error bars may mean (see `_meanings`).

"Nothing measurable" is a result, and the most common one when error bars are small or alike.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Floats, Ints, Labels, RandomState
from ..exceptions import ConvergenceWarning, UncertainError
from ..tables._groups import Groups
from .base import BaseReport, Folds, check_counts
from .held_out import cross_validate, gap_text, means_alone, quiet, standard_error, timed
from .meanings import MEANS_ONLY, Meanings, alternatives, own_meaning, ranked

DRAWS = 1000
"""Draws per listed row for the probability of another class when there are more than two."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Report(BaseReport):
    """What the error bars changed. Row numbers count from 0.

    Scores are accuracies on held-out rows, one per fold of the repeated cross-validation.
    """

    _derived = ("score", "score_means_only", "difference", "verdict")

    scores: Floats
    """Accuracy of the model with error bars in each fold, shape (folds * repeats,)."""
    scores_means_only: Floats
    """Accuracy of the same model without error bars in the same folds."""
    score_se: float
    """Standard error of `score`."""
    score_means_only_se: float
    """Standard error of `score_means_only`."""
    difference_se: float
    """Standard error of `difference`, which is paired and therefore smaller."""
    flipped_rows: Ints
    """Rows that the two predict differently when held out (first repeat)."""
    flipped_labels: Labels
    """Shape (len(flipped_rows), 3): true label, label by means only, label with error bars."""
    doubtful_rows: Ints
    """The rows whose own error bars change their probabilities most, the largest change first."""
    flip_probability: Floats
    """For each of `doubtful_rows`: probability that its true position lies in another class's region."""
    probability_change: Floats
    """For each of `doubtful_rows`: largest change of a class probability due to the row's own error bar."""
    gap: float
    """Certified relative distance to the optimum of the fit with error bars (its worst problem); NaN for a
    method without a certificate."""
    gap_means_only: float
    seconds: float
    """Time of one fit to all rows, without calibration."""
    seconds_means_only: float
    meanings: Meanings | None = None
    """Means only, spread, measurement error and discriminant on the same folds; None if it was not asked for,
    or if no row has error bars. One that gaps leave without a feature in some fold is not among them."""

    @property
    def score(self) -> float:
        """Mean held-out accuracy with error bars."""
        return float(self.scores.mean())

    @property
    def score_means_only(self) -> float:
        """Mean held-out accuracy without error bars."""
        return float(self.scores_means_only.mean())

    @property
    def difference(self) -> float:
        """Mean of the paired differences: with error bars minus without."""
        return float((self.scores - self.scores_means_only).mean())

    @property
    def verdict(self) -> str:
        """One sentence; a difference counts when it exceeds two standard errors."""
        points, error = 100 * abs(self.difference), 100 * self.difference_se
        if abs(self.difference) > 2 * self.difference_se:
            word = "raised" if self.difference > 0 else "lowered"
            return f"The error bars {word} the accuracy by {points:.1f} +- {error:.1f} points."
        if self.flipped_rows.size == 0:
            return "The error bars changed nothing measurable: no prediction differs."
        return (
            f"The error bars changed nothing measurable in accuracy, though {_rows(self.flipped_rows.size)} "
            f"({self.flipped_rows.size / self.n_rows:.1%}) are predicted differently."
        )

    def __str__(self) -> str:
        """The report as text."""
        with_bars, without = (
            _score(self.score, self.score_se),
            _score(self.score_means_only, self.score_means_only_se),
        )
        lines = [
            self.verdict,
            "",
            f"Held-out accuracy, {self._design(_rows(self.n_rows))} (mean +- standard error)",
            f"  with error bars   {with_bars}{gap_text(self.gap)}   {self.seconds * 1e3:8.1f} ms",
            f"  means only        {without}{gap_text(self.gap_means_only)}   "
            f"{self.seconds_means_only * 1e3:8.1f} ms",
            f"  paired difference {100 * self.difference:+6.2f} +- {100 * self.difference_se:.2f} %",
            *([] if self.meanings is None else ["", "What the error bars mean", *self.meanings.lines()]),
            "",
            f"Predicted differently when held out: {_rows(self.flipped_rows.size)}",
        ]
        if self.flipped_rows.size:
            truth, means, gaussians = self.flipped_labels.T
            right, wrong = int((gaussians == truth).sum()), int((means == truth).sum())
            lines.append(f"  right only with error bars {right}, right only without {wrong}")
            lines.append(f"  rows {_numbers(self.flipped_rows)}")
        lines += ["", "Rows whose own error bar matters most"]
        if self.doubtful_rows.size:
            lines.append("       row   change of probability   P(other class)")
            lines += [
                f"  {row:8d}   {change:21.3f}   {flip:14.3f}"
                for row, flip, change in zip(
                    self.doubtful_rows, self.flip_probability, self.probability_change, strict=True
                )
            ]
        else:
            lines.append("  none: every row is an exact point")
        return "\n".join(lines)


def compare(
    fitted: Pipeline,
    data: GaussianArray | Incomplete,
    y: Labels,
    *,
    folds: int = 5,
    repeats: int | None = None,
    listed: int = 10,
    meanings: bool = True,
    groups: Groups | None = None,
    random_state: RandomState = 0,
) -> Report:
    """The report of a fitted pipeline that takes Gaussians, on labelled Gaussians (with gaps if it can)."""
    check_counts(listed=(listed, 0))
    dealt = Folds.of(len(data), y, folds=folds, repeats=repeats, groups=groups, random_state=random_state)
    uncalibrated = quiet(fitted)
    exact = means_alone(data)
    correct, first = cross_validate(uncalibrated, data, y, dealt)
    correct_means, first_means = cross_validate(uncalibrated, exact, y, dealt)
    flipped = np.flatnonzero(first != first_means)
    held_out = {MEANS_ONLY: correct_means, own_meaning(uncalibrated): correct}
    if meanings and data.kind != "zero":
        with warnings.catch_warnings():
            # Whether the others' fits have converged does not matter here: held-out rows judge them.
            warnings.simplefilter("ignore", ConvergenceWarning)
            gaps = isinstance(data, Incomplete)
            for name, pipeline in alternatives(uncalibrated, gaps=gaps).items():
                try:
                    held_out[name], _ = cross_validate(pipeline, data, y, dealt)
                except UncertainError:
                    # A class whose rows in some fold all lack a feature: no model of this meaning, no score.
                    if not gaps:
                        raise

    gap, seconds = timed(uncalibrated, data, y)
    gap_means, seconds_means = timed(uncalibrated, exact, y)
    rows, flips, changes = _doubtful(fitted, data, exact, listed, random_state)
    return Report(
        n_rows=len(data),
        **dealt.about,
        scores=np.nanmean(correct, axis=1),
        scores_means_only=np.nanmean(correct_means, axis=1),
        score_se=standard_error(correct, groups),
        score_means_only_se=standard_error(correct_means, groups),
        difference_se=standard_error(correct - correct_means, groups),
        flipped_rows=flipped,
        flipped_labels=np.stack([y[flipped], first_means[flipped], first[flipped]], axis=1),
        doubtful_rows=rows,
        flip_probability=flips,
        probability_change=changes,
        gap=gap,
        gap_means_only=gap_means,
        seconds=seconds,
        seconds_means_only=seconds_means,
        meanings=ranked(held_out, groups) if len(held_out) > 2 else None,
    )


def _doubtful(
    fitted: Pipeline,
    data: GaussianArray | Incomplete,
    exact: GaussianArray,
    listed: int,
    random_state: RandomState,
) -> tuple[Ints, Floats, Floats]:
    """The rows whose own error bar changes the probabilities most.

    Without calibration: the largest chance, or the largest change of a curved score.

    The chance that the true position lies in another class's region is Phi(-|m| / s) for two classes and a
    linear score of mean m and standard deviation s; else it is counted over draws of the listed rows.
    """
    moved = fitted[:-1].transform(data) if len(fitted) > 1 else data
    classifier = fitted[-1]
    linear = hasattr(classifier, "coef_") and hasattr(classifier, "decision_distribution")
    probable = hasattr(fitted, "predict_proba")
    if linear:
        mean, std = classifier.decision_distribution(moved)
        uncertain = np.flatnonzero((std > 0) if std.ndim == 1 else (std > 0).any(axis=1))
    else:
        uncertain = np.flatnonzero(moved.trace() > 0)
    if probable:
        change = np.abs(fitted.predict_proba(data) - fitted.predict_proba(exact)).max(axis=1)
    else:
        change = np.full(len(data), np.nan)

    def chance(rows: Ints) -> Floats:
        if linear and mean.ndim == 1:
            tail: Floats = ndtr(-np.abs(mean[rows]) / std[rows])
            return tail
        if rows.size == 0:
            return np.empty(0)
        drawn = fitted.predict(data[rows].sample(DRAWS, random_state)).reshape(rows.size, DRAWS)
        return np.asarray((drawn != fitted.predict(data[rows])[:, None]).mean(axis=1))

    if probable:
        doubt = change[uncertain]
    elif not linear:
        shift = np.abs(fitted.decision_function(data) - fitted.decision_function(exact))
        doubt = (shift if shift.ndim == 1 else shift.max(axis=1))[uncertain]
    else:
        doubt = chance(uncertain) if mean.ndim == 1 else std[uncertain].max(axis=1)
    rows = uncertain[np.argsort(-doubt, kind="stable")[:listed]]
    return rows, chance(rows), change[rows]


def _score(mean: float, se: float) -> str:
    return f"{100 * mean:6.2f} +- {100 * se:.2f} %"


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _numbers(rows: Ints, most: int = 12) -> str:
    shown = ", ".join(map(str, rows[:most]))
    return shown if rows.size <= most else f"{shown}, ... ({rows.size} in all)"
