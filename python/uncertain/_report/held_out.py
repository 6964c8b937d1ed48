"""Cross-validation on given folds, and what its means are worth.

Repeats share rows, so dividing the spread of the scores by the root of their number would promise too much:
see `_held_out.means.standard_error`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from inspect import signature
from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures
from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import Floats, Ints, Labels
from .._held_out.fits import certified_gap, silenced
from .._rows.training import TrainingRows
from ..exceptions import ConvergenceWarning, UncertainError
from .folds import Folds
from .metrics import Answer, Metric
from .pace import Pace


class Distribution(NamedTuple):
    """How a regression's predictions become distributions."""

    answer: Callable[[Pipeline, GaussianRows, Ints], Answer]
    """Of a fit and rows with these numbers: predictions, and their law, or what error bars leave open."""
    scatter: Callable[[Floats, Floats, Floats], float]
    """Of residuals, variances and weights: the scatter that no error bar explains (a standard deviation)."""


OF_ALL_CLASSES = {"scores", "probabilities"}
"""What a fit has one column for each class of; one that has not seen a class cannot be measured by it."""


@dataclass(frozen=True)
class Candidate:
    """A pipeline that is compared, and the rows as it sees them."""

    pipeline: Pipeline
    training: TrainingRows
    """Its groups matter where probabilities are calibrated."""
    optional: bool = False
    """Whether it is left out if it cannot be fitted to some fold."""

    def fitted(self, rows: Ints | None = None, *, probability: bool = False) -> Pipeline:
        """A fit to some of the rows, or to all."""
        training = self.training if rows is None else self.training.take(rows)
        if not probability:
            training = replace(training, groups=None)
        return training.fit(silenced(self.pipeline, probability=probability))

    def can_calibrate(self, rows: Ints) -> bool:
        """Has every class rows in two groups, one of which can be held out?"""
        y, groups = self.training.y, self.training.groups
        if groups is None:
            return True
        labelled = rows[[label is not None for label in y[rows].tolist()]]
        _, counts = groups.take(labelled).groups_per_class(np.asarray(y[labelled].tolist()))
        return bool(counts.min() > 1)


class Timed(NamedTuple):
    """One fit to all rows."""

    pipeline: Pipeline
    gap: float
    seconds: float

    @classmethod
    def run(cls, candidate: Candidate) -> Timed:
        """Fit, and look at the clock."""
        start = time.perf_counter()
        fitted = candidate.fitted()
        return cls(fitted, certified_gap(fitted), time.perf_counter() - start)


def cross_validate(
    candidates: Mapping[str, Candidate],
    folds: Folds,
    metrics: Sequence[Metric],
    pace: Pace,
    *,
    rows: Callable[[Ints, Ints], tuple[Ints, Ints]] | None = None,
    seen: Callable[[str, Pipeline], object] | None = None,
    distribution: Distribution | None = None,
) -> dict[str, list[Answer]]:
    """What every candidate says about the rows that each fold holds out, until all folds or the time is over.

    Probabilities are calibrated, on folds of the training rows, in the first repeat only: that alone costs
    as much as five more repeats. `rows` turns (train, test) of a fold into the rows to fit and to predict, if
    these are not the same numbers; `seen` looks at every fit; `distribution` gives the predictions of a
    regression with what each row's error bars leave open.
    """
    needs = {metric.needs for metric in metrics}
    labels = next(iter(candidates.values())).training.y.tolist() if needs & OF_ALL_CLASSES else []
    n_classes = len({label for label in labels if label is not None})
    answers: dict[str, list[Answer]] = {name: [] for name in candidates}
    pace.begin(len(folds.splits), len(candidates))
    for k, (train, test) in enumerate(folds.splits):
        if pace.enough(k):
            break
        fit_rows, test_rows = (train, test) if rows is None else rows(train, test)
        probability = k < folds.per_repeat and "probabilities" in needs
        for name in list(answers):
            candidate = candidates[name]
            try:
                with warnings.catch_warnings():
                    if candidate.optional:
                        # Whether others' fits have converged does not matter: held-out rows judge them.
                        warnings.simplefilter("ignore", ConvergenceWarning)
                    calibrated = probability and candidate.can_calibrate(fit_rows)
                    fitted = candidate.fitted(fit_rows, probability=calibrated)
                    held_out = candidate.training.rows[test_rows]
                    answerable = needs
                    if n_classes and len(fitted.classes_) < n_classes:  # whole groups, all of a class
                        answerable = needs - OF_ALL_CLASSES
                    if distribution is not None and "law" in needs:
                        answer = distribution.answer(fitted, held_out, test)
                    else:
                        known = candidate.training.take(test_rows)
                        answer = compute_answer(
                            fitted, held_out, test, answerable, probability=calibrated, known=known
                        )
                    answers[name].append(answer)
            except UncertainError:
                # A class whose rows in some fold all lack a feature: no model of this meaning, no score.
                if not (candidate.optional and isinstance(candidate.training.rows, Incomplete)):
                    raise
                del answers[name]
                continue
            if seen is not None:
                seen(name, fitted)
            pace.step(name, k)
    pace.end()
    return answers


def compute_answer(
    fitted: Pipeline,
    rows: GaussianRows,
    numbers: Ints,
    needs: Set[str],
    *,
    probability: bool,
    known: TrainingRows | None = None,
) -> Answer:
    """All that the measures need to know of a fit; `known` has what a law knows of each row beside these."""
    scores = fitted.decision_function(rows) if "scores" in needs else None
    calibrated = "probabilities" in needs and probability and hasattr(fitted, "predict_proba")
    predicted = fitted.predict(rows) if known is None else _predicted(fitted, known)
    return Answer(numbers, predicted, scores, fitted.predict_proba(rows) if calibrated else None)


def _predicted(fitted: Pipeline, held_out: TrainingRows) -> Labels:
    """Predictions of rows with their offsets, and with what the fit knows of errors that they share."""
    takes = signature(fitted[-1].predict).parameters
    offset, modes = held_out.offset, held_out.modes
    if modes is not None and "modes" in takes:
        predictions: Labels = fitted.predict(held_out.rows, modes=modes)
        return predictions
    shared = None if modes is None else modes @ fitted[-1].modes_
    if "offset" in takes and not (offset is None and shared is None):
        together = sum(part for part in (offset, shared) if part is not None)
        predictions = fitted.predict(held_out.rows, offset=together)
        return predictions
    predictions = fitted.predict(held_out.rows)
    return predictions if shared is None else predictions + shared


def with_scatter(
    folds: Sequence[Answer],
    truth: Floats,
    per_repeat: int,
    scatter: Callable[[Floats, Floats, Floats], float],
    y_std: Floats | None = None,
) -> list[Answer]:
    """Whole laws: N(prediction, sigma^2 + v) for a row whose error bars contribute the variance v.

    sigma is what `scatter` makes of the residuals and variances of the rows that the other folds of the same
    repeat held out, so that no row's own residual is in it; None without other folds. It costs no further
    fits. Methods with a law of their own need none. The error bars of the targets are part of v: what is
    compared with is measured, too.
    """
    own = np.zeros(len(truth)) if y_std is None else y_std**2
    parts = [
        None
        if a.law is None or a.whole
        else (truth[a.rows] - a.predicted, a.law.stds[:, 0] ** 2 + own[a.rows])
        for a in folds
    ]
    found = []
    for k, answer in enumerate(folds):
        if answer.law is not None and answer.whole:
            stds = np.sqrt(answer.law.stds**2 + own[answer.rows, None])
            found.append(answer._replace(law=answer.law._replace(stds=stds)))
            continue
        first = k - k % per_repeat
        others = [
            p for j, p in enumerate(parts[first : first + per_repeat], first) if j != k and p is not None
        ]
        mine = parts[k]
        if mine is None or not others:
            found.append(answer._replace(law=None))
            continue
        residuals, variances = (np.concatenate(each) for each in zip(*others, strict=True))
        sigma = scatter(residuals, variances, np.ones(len(residuals)))
        law = NormalMixtures.normal(answer.predicted, np.sqrt(sigma**2 + mine[1]))
        found.append(answer._replace(law=law, whole=True))
    return found
