"""Did the error bars change anything? A fit on the means alone, side by side with the model.

Idea: everything that is compared is compared on rows neither fit has seen. Both models get the same
folds of a repeated stratified cross-validation, so the difference of their scores is paired and its
standard error is far smaller than that of either score (see `_held_out`). On the same folds the report
compares what error bars may mean (see `_meanings`).

"Nothing measurable" is a result, and the most common one when error bars are small or alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import ndtr
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import Booleans, Floats, Ints, Labels, RandomState
from .._held_out.fits import for_exact_rows, means_alone
from .._rows.training import TrainingRows
from ..exceptions import ParameterError
from .base import aligned, amount, common
from .beside import BesideMeans
from .board import MEANS_ONLY, Table, make_board
from .folds import Design, Folds, check_counts
from .held_out import Candidate, Timed, cross_validate
from .meanings import Meanings, alternatives, own_meaning
from .metrics import OF_CLASSES, Answer, chosen_metrics
from .pictures import reliability_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWS = 1000
"""Draws per listed row for the probability of another class when there are more than two."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Report(BesideMeans):
    """The effect of the error bars on held-out rows, counted from 0.

    Scores are accuracies on held-out rows, one per fold of the repeated cross-validation, unless another
    measure was asked for.
    """

    _row_numbers = ("flipped_rows", "doubtful_rows")

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
    positive: object = None
    """Of two classes: the second one, whose probability is meant where one is."""
    _probabilities: Probabilities | None = None
    """Of two classes: what was held out in the first repeat, for the picture of reliability."""

    @property
    def verdict(self) -> str:
        """One sentence on the accuracy, and one on the log loss."""
        measure, log_loss = self.board.scoring.label, self._in_choice("log_loss")
        if self._change.counts:
            word = "raised" if self.difference > 0 else "lowered"
            return f"The error bars {word} the {measure} by {amount(self.board, self._change)}.{log_loss}"
        if self.flipped_rows.size == 0:
            what = "no predicted class" if log_loss else "nothing measurable: no prediction differs"
            return f"The error bars changed {what}.{log_loss}"
        return (
            f"The error bars changed nothing measurable in {measure}, though {_rows(self.flipped_rows.size)} "
            f"({self.flipped_rows.size / self.n_rows:.1%}) are predicted differently.{log_loss}"
        )

    def doubtful(self) -> Table:
        """The rows whose own error bar matters most, under a row of titles."""
        listed = zip(self.doubtful_rows, self.flip_probability, self.probability_change, strict=True)
        rows = [(str(row), f"{change:.3f}", f"{flip:.3f}") for row, flip, change in listed]
        return [("row", "change of probability", "P(other class)"), *rows]

    def sections(self) -> list[tuple[str, Table]]:
        """The tables of the report, each with a title and under a row of titles."""
        doubtful = [("Rows whose own error bar matters most", self.doubtful())]
        return super().sections() + (doubtful if self.doubtful_rows.size else [])

    def pictures(self) -> dict[str, Figure]:
        """Return figures by title: scores, and the reliability of probabilities."""
        held_out = self._probabilities
        if held_out is None:
            return super().pictures()
        reliability = reliability_picture(held_out, self.own, self.positive)
        return super().pictures() | {"Reliability of held-out probabilities": reliability}

    def __str__(self) -> str:
        """The report as text."""
        lines = [
            *self._lines(), "", f"Predicted differently when held out: {_rows(self.flipped_rows.size)}"
        ]  # fmt: skip
        if self.flipped_rows.size:
            truth, means, gaussians = self.flipped_labels.T
            right, wrong = int((gaussians == truth).sum()), int((means == truth).sum())
            lines.append(f"  right only with error bars {right}, right only without {wrong}")
            lines.append(f"  rows {_numbers(self.flipped_rows)}")
        lines += ["", "Rows whose own error bar matters most"]
        none = ["  none: every row is an exact point"]
        lines += aligned(self.doubtful()) if self.doubtful_rows.size else none
        return "\n".join([*lines, "", self.reason])


def compare(
    fitted: Pipeline,
    data: GaussianRows,
    y: Labels,
    *,
    listed: int = 10,
    meanings: bool = True,
    **given: Any,
) -> Report:
    """The report of a fitted pipeline that takes Gaussians, on labelled Gaussians (with gaps if it can).

    `given` are the fields of a `Design`.
    """
    design = Design(**given).with_equal_rows(data, y)
    check_counts(listed=(listed, 0))
    metrics, ranks = chosen_metrics(design.scorers, design.scoring, OF_CLASSES)
    if ranks.needs == "probabilities" and not hasattr(fitted, "predict_proba"):
        raise ParameterError(
            f"scoring={ranks.name!r}: {type(fitted[-1]).__name__} gives no probabilities here; fit with "
            "probability=True or another method, or rank by another measure"
        )
    folds = design.split(len(data), y, design.groups)
    own, exact = own_meaning(fitted), means_alone(data)
    training = TrainingRows(data, y, design.weights, design.groups)
    candidates = {
        MEANS_ONLY: Candidate(for_exact_rows(fitted), training.instead(exact)),
        own: Candidate(fitted, training),
    }
    if meanings and data.kind != "zero":
        others = alternatives(fitted, gaps=isinstance(data, Incomplete))
        candidates |= {name: Candidate(p, training, optional=True) for name, p in others.items()}
    fits = [Timed.run(candidates[name]) for name in (own, MEANS_ONLY)]
    answers = cross_validate(candidates, folds, metrics, design.pace)
    first, first_means = (first_repeat(answers[name], y, folds) for name in (own, MEANS_ONLY))
    flipped = np.flatnonzero(first != first_means)
    rows, flips, changes = _doubtful(fitted, data, exact, listed, design.random_state)
    board, classes = make_board(answers, y, metrics, ranks, design.groups), np.unique(y)
    return Report(
        n_rows=len(data),
        **common(design, folds, answers, board, own),
        flipped_rows=flipped,
        flipped_labels=np.stack([y[flipped], first_means[flipped], first[flipped]], axis=1),
        doubtful_rows=rows,
        flip_probability=flips,
        probability_change=changes,
        gap=fits[0].gap,
        gap_means_only=fits[1].gap,
        seconds=fits[0].seconds,
        seconds_means_only=fits[1].seconds,
        meanings=Meanings(board) if len(answers) > 2 else None,
        positive=classes[1].item() if len(classes) == 2 else None,
        _probabilities=_two_classes(answers, y),
    )


def first_repeat(answers: Sequence[Answer], y: Labels, folds: Folds) -> Labels:
    """What was predicted of every row when first held out; the truth where the time was over before."""
    held_out = y.copy()
    for answer in answers[: folds.per_repeat]:
        held_out[answer.rows] = answer.predicted
    return held_out


Probabilities: TypeAlias = dict[str, tuple[Booleans, Floats]]
"""For each candidate: is it the second class, and its probability."""


def _two_classes(answers: Mapping[str, Sequence[Answer]], y: Labels) -> Probabilities | None:
    """The held-out probabilities of the second of two classes; None for more."""
    classes = np.unique(y)
    found = {}
    for name, folds in answers.items():
        given = [(y[a.rows] == classes[1], a.probabilities) for a in folds if a.probabilities is not None]
        if given and len(classes) == 2:
            happened = np.concatenate([truth for truth, _ in given])
            found[name] = (happened, np.concatenate([p[:, 1] for _, p in given]))
    return found or None


def _doubtful(
    fitted: Pipeline,
    data: GaussianRows,
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


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _numbers(rows: Ints, most: int = 12) -> str:
    shown = ", ".join(map(str, rows[:most]))
    return shown if rows.size <= most else f"{shown}, ... ({rows.size} in all)"
