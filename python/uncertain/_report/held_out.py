"""Cross-validation on given folds, and what its means are worth.

Repeats share rows, so dividing the spread of the scores by the root of their number would promise too much:
see `standard_error`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import Floats, Ints, Labels
from .._tables.groups import Groups
from ..exceptions import ConvergenceWarning, UncertainError
from ..preprocessing._imputer import GaussianImputer
from .folds import Design, Folds
from .metrics import Answer, Metric
from .pace import Pace


def standard_error(correct: Floats, groups: Groups | None = None) -> float:
    """Standard error of a mean over random splits of a finite number of rows, or of whole groups of rows.

    `correct` has shape (splits, rows) and is NaN where a row was not held out, or not measured. Two
    kinds of luck add up, that of the split (which rows were trained on) and that of the rows there are:

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
    correct, tested = correct[tested.any(axis=1)], tested[tested.any(axis=1)]
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


def means_alone(data: GaussianRows) -> GaussianArray:
    """Exact points: the means, and for what is missing its conditional mean given the rest of the row.

    A limit is its value, as for whoever overlooks the flags.
    """
    if not isinstance(data, Incomplete):
        return data.collapse("zero")
    if data.limits is not None:
        data = Incomplete(data.gaussians, data.missing & (data.limits == 0))
        if not data.missing.any():
            return data.gaussians.collapse("zero")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = GaussianImputer(random_state=0).fit(data).transform(data)
    return filled.collapse("zero")


def quiet(pipeline: Pipeline, *, probability: bool = False) -> Pipeline:
    """An unfitted copy that shows no progress, and calibrates no probabilities unless it did and may."""
    (*before, (name, last)) = pipeline.steps
    known = last.get_params(deep=False)
    asked = {"callback": None, "verbose": 0} | ({} if probability else {"probability": False})
    # A clone copies parameters, and a callback may hold what cannot be copied.
    told = type(last)(**known | {key: value for key, value in asked.items() if key in known})
    return clone(Pipeline([*before, (name, told)]))


def gap_of(fitted: Pipeline) -> float:
    """Certified relative distance to the optimum (of the worst problem); NaN if the fit certifies nothing."""
    return float(np.max(getattr(fitted[-1], "optimality_gap_", np.nan)))


class Distribution(NamedTuple):
    """How a regression's predictions become distributions."""

    from_errors: Callable[[Pipeline, GaussianRows], tuple[Floats, Floats]]
    """Of a fit and rows: predictions, and what the rows' error bars leave open (standard deviations)."""
    scatter: Callable[[Floats, Floats, Floats], float]
    """Of residuals, variances and weights: the scatter that no error bar explains (a standard deviation)."""


OF_ALL_CLASSES = {"scores", "probabilities"}
"""What a fit has one column for each class of; one that has not seen a class cannot be measured by it."""


@dataclass(frozen=True)
class Candidate:
    """A pipeline that is compared, and the rows as it sees them."""

    pipeline: Pipeline
    rows: GaussianRows
    known: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `fit` with one value per row, for a last step that takes them."""
    weights: Floats | None = None
    """How much each row counts, for every step that can count."""
    groups: Groups | None = None
    """Rows that are held out together where probabilities are calibrated."""
    optional: bool = False
    """Whether it is left out if it cannot be fitted to some fold."""

    @classmethod
    def of(
        cls,
        design: Design,
        pipeline: Pipeline,
        rows: GaussianRows,
        known: Mapping[str, Any] | None = None,
        *,
        optional: bool = False,
    ) -> Self:
        """With the weights and groups of the comparison."""
        return cls(pipeline, rows, known or {}, design.weights, design.groups, optional)

    def fitted(self, y: Labels, rows: Ints | None = None, *, probability: bool = False) -> Pipeline:
        """A fit to some of the rows, or to all."""
        step = self.pipeline.steps[-1][0]
        here = slice(None) if rows is None else rows
        able = [name for name in self.known if has_fit_parameter(self.pipeline[-1], name)]
        known: dict[str, Any] = {f"{step}__{name}": self.known[name][here] for name in able}
        if self.weights is not None:
            counting = [n for n, each in self.pipeline.steps if has_fit_parameter(each, "sample_weight")]
            known |= {f"{name}__sample_weight": self.weights[here] for name in counting}
        if probability and self.groups is not None and has_fit_parameter(self.pipeline[-1], "groups"):
            known[f"{step}__groups"] = self.groups.codes[here]
        return quiet(self.pipeline, probability=probability).fit(self.rows[here], y[here], **known)

    def can_calibrate(self, y: Labels, rows: Ints) -> bool:
        """Has every class rows in two groups, one of which can be held out?"""
        if self.groups is None:
            return True
        labelled = rows[[label is not None for label in y[rows].tolist()]]
        _, counts = self.groups.take(labelled).counts_of(np.asarray(y[labelled].tolist()))
        return bool(counts.min() > 1)


class Timed(NamedTuple):
    """One fit to all rows."""

    pipeline: Pipeline
    gap: float
    seconds: float

    @classmethod
    def of(cls, candidate: Candidate, y: Labels) -> Timed:
        """Fit, and look at the clock."""
        start = time.perf_counter()
        fitted = candidate.fitted(y)
        return cls(fitted, gap_of(fitted), time.perf_counter() - start)


def cross_validate(
    candidates: Mapping[str, Candidate],
    y: Labels,
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
    n_classes = len({label for label in y.tolist() if label is not None}) if needs & OF_ALL_CLASSES else 0
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
                    calibrated = probability and candidate.can_calibrate(y, fit_rows)
                    fitted = candidate.fitted(y, fit_rows, probability=calibrated)
                    held_out = candidate.rows[test_rows]
                    known = needs
                    if n_classes and len(fitted.classes_) < n_classes:  # whole groups, all of a class
                        known = needs - OF_ALL_CLASSES
                    if distribution is not None and "std" in needs:
                        predicted, std = distribution.from_errors(fitted, held_out)
                        answer = Answer(test, predicted, std=std)
                    else:
                        answer = answer_of(fitted, held_out, test, known, probability=calibrated)
                    answers[name].append(answer)
            except UncertainError:
                # A class whose rows in some fold all lack a feature: no model of this meaning, no score.
                if not (candidate.optional and isinstance(candidate.rows, Incomplete)):
                    raise
                del answers[name]
                continue
            if seen is not None:
                seen(name, fitted)
            pace.step(name, k)
    pace.end()
    return answers


def answer_of(
    fitted: Pipeline, rows: GaussianRows, numbers: Ints, needs: Set[str], *, probability: bool
) -> Answer:
    """All that the measures need to know of a fit."""
    scores = fitted.decision_function(rows) if "scores" in needs else None
    known = "probabilities" in needs and probability and hasattr(fitted, "predict_proba")
    return Answer(numbers, fitted.predict(rows), scores, fitted.predict_proba(rows) if known else None)


def with_scatter(
    folds: Sequence[Answer],
    truth: Floats,
    per_repeat: int,
    scatter: Callable[[Floats, Floats, Floats], float],
    y_std: Floats | None = None,
) -> list[Answer]:
    """Predictive standard deviations: sqrt(sigma^2 + v) for a row whose error bars contribute the variance v.

    sigma is what `scatter` makes of the residuals and variances of the rows that the other folds of the same
    repeat held out, so that no row's own residual is in it; None without other folds. It costs no further
    fits. The error bars of the targets are part of v: what is compared with is measured, too.
    """
    own = np.zeros(len(truth)) if y_std is None else y_std**2
    parts = [None if a.std is None else (truth[a.rows] - a.predicted, a.std**2 + own[a.rows]) for a in folds]
    found = []
    for k, answer in enumerate(folds):
        first = k - k % per_repeat
        others = [
            p for j, p in enumerate(parts[first : first + per_repeat], first) if j != k and p is not None
        ]
        mine = parts[k]
        if mine is None or not others:
            found.append(answer._replace(std=None))
            continue
        residuals, variances = (np.concatenate(each) for each in zip(*others, strict=True))
        sigma = scatter(residuals, variances, np.ones(len(residuals)))
        found.append(answer._replace(std=np.sqrt(sigma**2 + mine[1])))
    return found
