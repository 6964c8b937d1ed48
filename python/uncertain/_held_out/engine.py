"""Predictions of candidates for held-out rows, and which of two candidates is better.

`HeldOut` fits candidates to folds and keeps their predictive distributions of the rows held out, as the rows
are and as they would have been read with errors of other sizes. The choice of ``method="auto"``, reports
and the calibration of sets, intervals and widths all start from it. Differences of candidates are paired:
they answered about the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._base.folds import Fold, split
from .._base.normal_mixtures import NormalMixtures
from .._base.run import Deadline
from .._data.array import GaussianArray
from .._data.column import read_column
from .._data.incomplete import GaussianRows, filled_gaussians
from .._data.typing import Booleans, Floats, Ints, Labels
from .._estimators.gsu import GSURegressor
from .._rows.training import TrainingRows
from ..exceptions import ConvergenceWarning, UncertainError, UncertainWarning
from ..preprocessing._moves import moved
from ..preprocessing._readings import Readings, TruthOfClasses, TruthOfTargets
from .fits import fit_fold, predict_beside
from .means import Mean, weighted_mean
from .measures import MEASURES, Predicted
from .widths import (
    Spread,
    chosen,
    density_of_rows,
    feature_widths,
    has_density,
    left_open,
    most_likely_scatter,
    of_scatter,
    own_law,
)

COMPONENTS = 5
"""Gaussians of the true values, for smaller errors."""
MOST_NUMBERS = 20_000_000
"""Of the covariance matrices of rows that are read again."""
NO_TIME = "time_limit was over"


class Candidate(NamedTuple):
    """An unfitted pipeline, and the rows as it sees them."""

    pipeline: Pipeline
    training: TrainingRows | None = None
    """None: the rows that all candidates share."""
    models: Sequence[Pipeline] = ()
    """Of the first folds, fitted already."""


class Answer(NamedTuple):
    """Predictions of a candidate for m held-out readings."""

    predicted: Floats
    """Of numbers; of classes their codes."""
    shares: Floats | None = None
    """Probabilities of the classes, (m, K); 0 for a class that the fold's model has not seen."""
    parts: Floats | None = None
    """Sources of the width of a predicted number, (m, k); see `widths`."""
    law: NormalMixtures | None = None
    """The density of the true number, where the method has one."""

    def density(self, spread: Spread | None) -> NormalMixtures:
        """The density of the true number, as wide as `spread` says."""
        if spread is None or self.parts is None:
            assert self.law is not None
            return self.law
        std = spread.std(self.parts)
        return NormalMixtures.normal(self.predicted, std) if self.law is None else self.law.widened(std)


@dataclass(frozen=True)
class HeldOut:
    """Answers of candidates about rows held out; a row in several repeats is there several times."""

    training: TrainingRows
    folds: Sequence[Fold]
    factors: tuple[float, ...]
    """Sizes of the errors in units of the table's; the first is 1 where rows are there as they are."""
    at: Ints
    """The numbers of the m rows held out."""
    readings: Sequence[GaussianRows]
    """These rows with errors of every size."""
    classes: Labels | None
    """None for numbers."""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    """By candidate, for every size of errors."""
    models: dict[str, list[Pipeline]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Why candidates have no answers."""
    spreads: dict[str, Spread | None] = field(default_factory=dict)
    """Of candidates that were asked for it."""

    @property
    def truth(self) -> Labels:
        """Targets of the rows held out; codes of classes."""
        y = self.training.y[self.at]
        return np.asarray(y) if self.classes is None else np.searchsorted(self.classes, y)

    @property
    def counts(self) -> Floats:
        """How much each row held out counts."""
        return np.asarray(self.training.counts[self.at])

    @property
    def target_std(self) -> Floats:
        """Error bars of the targets held out."""
        std = self.training.y_std
        return np.zeros(len(self.at)) if std is None else np.asarray(std[self.at])

    def spread(self, name: str) -> Spread | None:
        """The law of widths of a candidate for numbers; None for a method with a density."""
        if name not in self.spreads:
            spread, scatter = (None, None) if self.answers[name][0].law is not None else self.widths(name)
            self.spreads[name] = spread or of_scatter(scatter)
        return self.spreads[name]

    def widths(self, name: str) -> tuple[Spread | None, float | None]:
        """The law of widths of a candidate for numbers, None where that of the method is as good, and the
        scatter that no error explains of one that ends with a `GSURegressor`."""
        model, answers, t = self.models[name][0], self.answers[name], self.target_std
        y, scatter, own = self.truth, None, None
        parts = [answer.parts for answer in answers if answer.parts is not None]
        if isinstance(model[-1], GSURegressor):
            off = y - answers[0].predicted
            scatter = most_likely_scatter(off, parts[0][:, 0] + t**2, self.counts)
        law, copies = own_law(model, scatter), len(answers)
        off = np.concatenate([y - answer.predicted for answer in answers])
        open_, std = np.concatenate(parts), np.tile(t, copies)
        if answers[0].law is not None:
            own = np.concatenate([with_errors(a.law, t).crps(y) for a in answers if a.law is not None])
        elif law is not None:
            own = law.losses(off, open_, std)
        widths = feature_widths(model, self.training.rows)
        spread = chosen(
            law, own, off, open_, np.tile(self.counts, copies), widths, std, np.tile(self.at, copies)
        )
        return None if spread is law else spread, scatter

    def laws(self, name: str, *, measured: bool = False) -> list[NormalMixtures]:
        """Densities for every size of errors, of true numbers or of numbers as they are measured."""
        laws, t = [answer.density(self.spread(name)) for answer in self.answers[name]], self.target_std
        return [with_errors(law, t) for law in laws] if measured else laws

    def rows_of(self, measure: str, name: str) -> Floats:
        """The number of each row held out in a measure of a candidate, (sizes, m)."""
        answers, needs_laws = self.answers[name], MEASURES[measure].needs == "law"
        laws = self.laws(name, measured=True) if needs_laws else [None] * len(answers)
        pairs = zip(answers, laws, strict=True)
        predicted = (Predicted(self.truth, a.predicted, self.counts, a.shares, law) for a, law in pairs)
        return np.stack([MEASURES[measure].of_rows(each) for each in predicted])

    def mean(self, losses: Floats) -> Mean:
        """The mean over rows held out and its standard error, by weights and groups."""
        return weighted_mean(self._of_rows(losses), self.training.counts, self.training.groups)

    def paired(self, a: Floats, b: Floats) -> Mean:
        """By how much losses `a` exceed losses `b` of the same rows."""
        return self.mean(a - b)

    def _of_rows(self, losses: Floats) -> Floats:
        """Means over repeats, (n,); NaN for rows that were never held out."""
        count = np.bincount(self.at, minlength=len(self.training))
        total = np.bincount(self.at, losses, minlength=len(self.training))
        return np.asarray(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))

    @classmethod
    def begin(
        cls, rows: TrainingRows, folds: Sequence[Fold], factors: Sequence[float] = (1.0,), *,
        regression: bool, raw: GaussianRows | None = None,
        transform: Callable[[GaussianRows], GaussianRows] = lambda rows: rows,
    ) -> HeldOut:  # fmt: skip
        """Without candidates yet.

        Rows without a target, and targets that are limits, are not held out. `factors` are sizes of errors in
        units of the table's; `raw` and `transform` the rows as they were read, whose errors grow, and what
        turns them into `rows`.
        """
        judged, rows = labelled(rows), replace(rows, y=np.asarray(rows.y[:]))
        folds = [fold._replace(test=fold.test[judged[fold.test]]) for fold in folds]
        at = np.concatenate([np.empty(0, dtype=np.int64), *(fold.test for fold in folds)])
        asked, places = np.unique(at, return_inverse=True)  # a few of many, where one fold is enough
        again = read_again(rows.take(asked), factors, None if raw is None else raw[asked], regression)
        readings = [(x if f == 1.0 else transform(x))[places] for f, x in zip(factors, again, strict=True)]
        return cls(rows, folds, tuple(factors), at, readings, None if regression else np.unique(rows.y[at]))

    def ask(
        self,
        candidates: Mapping[str, Candidate],
        *,
        threads: int = 1,
        deadline: Deadline | None = None,
        share: float = 1.0,
        heard: Callable[[str, int], object] = lambda name, fold: None,
    ) -> None:
        """Fit more candidates, the cheapest first, to every fold, and add their answers.

        No fit begins after this share of the time until the deadline. `heard` is called after every fit.
        """
        deadline = deadline or Deadline()
        ends = np.cumsum([0, *(len(fold.test) for fold in self.folds)])
        jobs = [(name, k) for name in candidates for k in range(len(self.folds))]

        def run(job: tuple[str, int]) -> tuple[Pipeline, list[Answer]] | str:
            name, k = job
            if name in self.refused or deadline.left(share) == 0.0:
                return NO_TIME
            (pipeline, other, models), fold = candidates[name], self.folds[k]
            own = other or self.training
            try:
                with deadline.stops(share):
                    model = models[k] if k < len(models) else fit_fold(pipeline, own, fold)
                    seen = [rows[ends[k] : ends[k + 1]] for rows in self.readings]
                    seen = seen if other is None else [own.rows[fold.test]] * len(seen)
                    beside = None if own.offset is None and own.modes is None else own.take(fold.test)
                    return model, [ask(model, rows, self.classes, own.rows, beside) for rows in seen]
            except UncertainError as error:
                return str(error)

        done: dict[str, list[tuple[Pipeline, list[Answer]]]] = {}
        with quiet(), ThreadPoolExecutor(threads) as pool:
            try:
                results = pool.map(run, jobs) if threads > 1 else map(run, jobs)
                for (name, k), result in zip(jobs, results, strict=True):
                    if isinstance(result, str):
                        self.refused.setdefault(name, result)
                        continue
                    done.setdefault(name, []).append(result)
                    heard(name, k)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for name in [name for name in done if name not in self.refused]:
            models, by_fold = zip(*done[name], strict=True)
            self.models[name] = list(models)
            self.answers[name] = [_joined(each) for each in zip(*by_fold, strict=True)]

    def only(self, name: str, answers: list[Answer] | None = None) -> HeldOut:
        """Held-out predictions of one candidate, "model"; `answers`: that combine those of several."""
        chosen = self.answers[name] if answers is None else answers
        return replace(self, answers={"model": chosen}, models={"model": self.models[name]}, spreads={})


def with_errors(law: NormalMixtures, target_std: Floats) -> NormalMixtures:
    """The density of targets that are measured with these errors."""
    return law._replace(stds=np.hypot(law.stds, target_std[:, None])) if target_std.any() else law


def cross_predict(
    candidates: Mapping[str, Candidate], rows: TrainingRows, folds: Sequence[Fold],
    factors: Sequence[float] = (1.0,),
) -> HeldOut:  # fmt: skip
    """Fit every candidate to every fold, and ask it about the rows held out with errors of every size."""
    regression = any(is_regressor(candidate.pipeline) for candidate in candidates.values())
    held = HeldOut.begin(rows, folds, factors, regression=regression)
    held.ask(candidates)
    return held


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings of candidates, whose coefficients nobody reads."""
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, UncertainWarning):
            warnings.simplefilter("ignore", kind)
        yield


def hold_out(
    training: TrainingRows, random: np.random.RandomState, *, folds: int, regression: bool, repeats: int = 1,
    judged: Booleans | None = None,
) -> list[Fold]:  # fmt: skip
    """Folds that hold out every row that is judged (by default those of `labelled`) once in a repeat."""
    counted = np.flatnonzero(labelled(training) if judged is None else judged)
    return split(
        len(training), random, folds=folds, repeats=repeats, classes=None if regression else training.y,
        groups=training.groups, counted=counted,
    )  # fmt: skip


def labelled(training: TrainingRows) -> Booleans:
    """Rows that have a target which is no limit, and count."""
    known = training.counts > 0.0
    if training.y_limit is not None:
        return np.asarray(known & (training.y_limit == 0))
    labels = training.y[:]
    missing = read_column(labels, "target", len(labels), "targets").missing
    return np.asarray(known if missing is None else known & ~missing)


def ask(
    model: Pipeline, rows: GaussianRows, classes: Labels | None, of_fit: GaussianRows,
    beside: TrainingRows | None,
) -> Answer:  # fmt: skip
    """Predictions; `of_fit`: rows that tell the spread of features; `beside`: rows with offsets or modes."""
    if classes is not None:
        model, rows = model[-1:], moved(model, rows)
        shares = class_shares(model, rows, classes)
        predicted = shares.argmax(axis=1)
        if getattr(model[-1], "probability", False):  # beside the sign of the score, which decides
            labels = model.predict(rows)
            codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
            predicted = np.where(classes[codes] == labels, codes, predicted)
        return Answer(predicted, shares)
    found = left_open(model, rows, feature_widths(model, of_fit))
    mean = found.mean if beside is None else predict_beside(model, rows, beside)
    if not np.isfinite(mean).all():
        raise UncertainError("its predictions are not finite")
    law, parts = density_of_rows(model, rows) if has_density(model) else None, found.parts
    if "known" in model.named_steps and parts.shape[1] > 1:  # a fold without some feature
        parts = parts @ np.asarray(model.named_steps["known"].matrix).T
    return Answer(mean, parts=parts, law=law)


def class_shares(pipeline: Pipeline, rows: Any, classes: Labels) -> Floats:
    """How much speaks for each of these classes, (n, K), rows summing to 1.

    Probabilities, or the softmax of scores for a method that has none; 0 for classes that it has not seen.
    """
    if hasattr(pipeline, "predict_proba"):
        found = pipeline.predict_proba(rows)
    else:
        scores = pipeline.decision_function(rows)
        found = softmax(np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores, axis=1)
    if np.array_equal(pipeline.classes_, classes):
        return np.asarray(found)
    shares = np.zeros((len(found), len(classes)))
    places = {label: k for k, label in enumerate(classes.tolist())}
    seen = [k for k, label in enumerate(pipeline.classes_.tolist()) if label in places]
    shares[:, [places[label] for label in pipeline.classes_[seen].tolist()]] = found[:, seen]
    return shares


def _joined(answers: Sequence[Answer]) -> Answer:
    """Answers of the folds one behind the other; densities may have different numbers of components."""
    laws = [answer.law for answer in answers if answer.law is not None]
    columns = zip(*(answer[:3] for answer in answers), strict=True)
    arrays = [None if values[0] is None else np.concatenate(values) for values in columns]
    most = max((law.weights.shape[1] for law in laws), default=0)
    parts = [
        [np.pad(each, ((0, 0), (0, most - each.shape[1])), constant_values=fill) for each in values]
        for values, fill in zip(zip(*laws, strict=True), (0.0, 0.0, 1.0), strict=bool(laws))
    ]
    law = NormalMixtures(*map(np.concatenate, parts)) if laws else None
    return Answer(*arrays, law)  # type: ignore[arg-type, call-arg]


def read_again(
    training: TrainingRows, factors: Sequence[float], raw: GaussianRows | None, regression: bool
) -> list[GaussianRows]:
    """All rows as they would have been read with errors of these sizes; as they are for 1."""
    rows, random = training.rows if raw is None else raw, np.random.RandomState(0)
    if all(factor == 1.0 for factor in factors):
        return [training.rows] * len(factors)
    truth: GaussianArray | None = None
    if min(factors) < 1.0:
        targets: Any = training.y if regression else np.unique(training.y, return_inverse=True)[1]
        law: type[TruthOfTargets] | type[TruthOfClasses] = TruthOfTargets if regression else TruthOfClasses
        truth = law(rows, targets, training.weights, COMPONENTS, random).posterior(rows, targets)
    readings = Readings(rows, random, truth)
    return [training.rows if f == 1.0 else readings.again(np.full(rows.shape, f)) for f in factors]


def allows_readings(rows: GaussianRows) -> bool:
    """Is there noise that could be larger, and memory for the covariances of rows that are read again?"""
    gaussians = filled_gaussians(rows)
    if not gaussians.trace().any():
        return False
    dense = gaussians.kind not in ("diagonal", "isotropic")
    return not dense or len(rows) * rows.n_features**2 <= MOST_NUMBERS
