"""A member of the portfolio on held-out rows.

Losses are those of rows: -log of the probability that was given to what happened, or the square of a
residual, so that differences of members are paired.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._base.folds import Fold
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Labels
from .._held_out.fits import certified_gap, ended_early, fit_fold, for_known_features
from .._held_out.means import mean_known
from .._report.pace import Pace
from .._rows.training import TrainingRows
from ..exceptions import ConvergenceWarning, UncertainError
from .average import AveragedClassifier, AveragedRegressor
from .budget import path_rows
from .comparison import Comparison, sample
from .leaderboard import AVERAGE
from .portfolio import Member, Request

SMALLEST = float(np.finfo(np.float64).eps)
"""A probability counts as this at least, as in scikit-learn."""
PATH_ROWS = {"alpha": 5_000, "C": 500, "n_trees": 20_000}
"""Rows that a penalty, or a number of trees, is chosen on."""


@dataclass(frozen=True)
class Trial:
    """A member, and what it said of rows that it had not seen."""

    member: Member
    answers: Floats
    """Shape (repeats x sizes, n): probabilities of what happened, or predicted numbers; NaN if not asked."""
    losses: Floats
    """Of each row, the mean over repeats and readings, by which candidates are judged; NaN for rows that were
    never held out."""
    right: Floats | None = None
    """Of classes, in the shape of the answers: was the class predicted?"""
    seconds: float = 0.0
    """Of all fits, and of the path before."""
    gap: float = field(default=float("nan"))
    """The largest certified gap of the fits."""
    models: Sequence[Pipeline] = ()
    """Of the folds."""

    @property
    def status(self) -> str:
        """How many fits ended before they had converged; empty for none."""
        cut = sum(ended_early(model) for model in self.models)
        return f"{cut} of {len(self.models)} fits ended by max_iter" if cut else ""


class Runner:
    """A member that answers for one fold after the other; its penalty is chosen once, on all rows."""

    def __init__(self, member: Member, request: Request, comparison: Comparison) -> None:
        self.member, self._request, self._comparison = member, request, comparison
        self._seconds, self._gap, self.models = 0.0, float("nan"), list[Pipeline]()
        shape = comparison.repeats * len(comparison.readings), len(comparison.training)
        self.looked = self._settled = False
        """Are its answers so far those of a quick look?"""
        self._answers = np.full(shape, np.nan)
        self._right = None if comparison.classes is None else np.full(shape, np.nan)

    def look(self) -> bool:
        """Choose the penalty. Has what found it answered for the first fold, so that `run` can wait?

        Trees that were counted by rows held out have: in steps twice as long, and of half of many copies, so
        that they are hardly worse. Steps in front, and what true values of copies are drawn from, know these
        rows, which would sooner keep a candidate in the race than lose it one.
        """
        start = time.perf_counter()
        self.member, quick = _with_penalty(self.member, self._request, self._comparison)
        if quick is not None:
            self._answer(quick, self._comparison.folds[0])
        self._seconds += time.perf_counter() - start
        self.looked, self._settled = quick is not None, True
        return self.looked

    def run(self) -> None:
        """The next fold; UncertainError if it cannot be fitted to what the fold leaves."""
        if not self._settled:
            self.look()
        start, k, comparison = time.perf_counter(), len(self.models), self._comparison
        assert self.member.pipeline is not None
        fold = comparison.folds[k]
        model = fit_fold(self.member.pipeline, comparison.training, fold)
        self._seconds += time.perf_counter() - start
        self._gap = float(np.fmax(self._gap, certified_gap(model)))
        self._answer(model, fold)
        self.models.append(model)
        self.looked = False

    def _answer(self, model: Pipeline, fold: Fold) -> None:
        """Write down what a model says of the rows that a fold holds out."""
        comparison = self._comparison
        for j, rows in enumerate(comparison.readings):
            line = fold.repeat * len(comparison.readings) + j
            if self._right is None:
                _predict(model, rows, fold, comparison, self._answers[line])
            else:
                _predict_class(model, rows, fold, comparison, self._answers[line], self._right[line])

    @property
    def losses(self) -> Floats:
        """Of each row so far; NaN for those that no fold has held out."""
        return losses(self._answers, self._comparison)

    @property
    def scored(self) -> Floats:
        """The same with errors as they are."""
        return losses(self._comparison.scored(self._answers), self._comparison)

    def trial(self, folds: int | None = None) -> Trial:
        """All that it has said, or of the first folds only."""
        for fold in self._comparison.folds[slice(folds, None)] if folds is not None else ():
            first = fold.repeat * len(self._comparison.readings)
            lines = slice(first, first + len(self._comparison.readings))
            for table in filter(lambda one: one is not None, (self._answers, self._right)):
                table[lines, fold.test] = np.nan  # type: ignore[index]
        models = self.models[:folds]
        return Trial(self.member, self._answers, self.losses, self._right, self._seconds, self._gap, models)


def as_scored(trial: Trial, comparison: Comparison) -> Trial:
    """The same, judged by its scores."""
    answers = comparison.scored(trial.answers)
    right = None if trial.right is None else comparison.scored(trial.right)
    return replace(trial, answers=answers, losses=losses(answers, comparison), right=right)


def try_member(member: Member, request: Request, comparison: Comparison, pace: Pace) -> Trial:
    """The member on all folds; UncertainError if it cannot be fitted to what some fold leaves."""
    runner = Runner(member, request, comparison)
    for k in range(len(comparison.folds)):
        runner.run()
        pace.step(runner.member.text, k)
    return runner.trial()


def average(trials: Sequence[Trial], weights: Floats, comparison: Comparison) -> Trial:
    """What an average of members says of the rows held out."""
    answers = np.tensordot(weights, np.stack([trial.answers for trial in trials]), 1)
    kind = AveragedRegressor if comparison.classes is None else AveragedClassifier
    models = [
        Pipeline([("average", kind.from_fitted(members, weights))])
        for members in zip(*(trial.models for trial in trials), strict=True)
    ]
    return Trial(Member(AVERAGE, ""), answers, losses(answers, comparison), models=models)


def losses(answers: Floats, comparison: Comparison) -> Floats:
    """The mean loss of each row."""
    if comparison.classes is None:
        return mean_known((answers - comparison.training.y) ** 2, 0)
    return mean_known(-np.log(np.maximum(answers, SMALLEST)), 0)


def _predict(
    model: Pipeline, rows: GaussianRows, fold: Fold, comparison: Comparison, answers: Floats
) -> None:
    """Write down the predicted numbers of the rows held out."""
    predicted = model.predict(rows[fold.test])
    if not np.isfinite(predicted).all():
        raise UncertainError("its predictions are not finite")
    limits = comparison.training.y_limit
    # Of a target that is a limit nobody knows how far a prediction is off.
    read = slice(None) if limits is None else limits[fold.test] == 0
    answers[fold.test[read]] = predicted[read]


def _predict_class(
    model: Pipeline, rows: GaussianRows, fold: Fold, comparison: Comparison, answers: Floats, right: Floats
) -> None:
    """Write down the probabilities of what happened, and whether it was the most probable class."""
    classes = comparison.classes
    assert classes is not None
    probabilities = np.full((len(fold.test), len(classes)), np.nan)
    probabilities[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(rows[fold.test])
    truth = np.searchsorted(classes, comparison.training.y[fold.test])
    # Of a class that no row of the training has nothing can be said.
    answers[fold.test] = probabilities[np.arange(len(fold.test)), truth]
    right[fold.test] = np.nanargmax(probabilities, axis=1) == truth


def _with_penalty(member: Member, request: Request, comparison: Comparison) -> tuple[Member, Pipeline | None]:
    """The member with the penalty, or number of trees, that its own path chooses, and a quick look at the
    first fold, if it comes with the number."""
    if not member.penalty or member.pipeline is None:
        return member, None
    labels: Labels | None = None if comparison.classes is None else comparison.training.y
    most = PATH_ROWS[member.penalty]
    most = path_rows(request.size, most) if member.penalty == "alpha" else most
    if most == 0:
        return replace(member, penalty=""), None
    some = sample(comparison.training, labels, most, np.random.RandomState(0))
    path, known = for_known_features(clone(member.pipeline), some)
    path[-1].set_params(**{member.penalty: "auto"})
    if "probability" in path[-1].get_params():
        path[-1].set_params(probability=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if member.penalty == "n_trees":
            fold = comparison.folds[0] if some is comparison.training else None
            trees, quick = _counted_trees(path, known, fold)
            return member.with_parameters(n_trees=trees), quick
        fitted = known.fitted(path)
    return member.with_parameters(**{member.penalty: getattr(fitted[-1], f"{member.penalty}_")}), None


def _counted_trees(path: Pipeline, some: TrainingRows, fold: Fold | None) -> tuple[int, Pipeline | None]:
    """What `n_trees="auto"` finds, without the fit to all rows that would follow; and the pipeline of what
    has found it by holding out this fold."""
    *front, (name, last) = path.steps
    if front:
        moved = some.fitted(Pipeline(front))
        front, some = moved.steps, some.instead(moved.transform(some.rows))
    trees: int = last._count_trees(some.rows, some.y, fold=fold, **some.step_arguments(last))
    if fold is None or last.estimator_ is None:
        return trees, None
    return trees, Pipeline([*front, (name, last)])
