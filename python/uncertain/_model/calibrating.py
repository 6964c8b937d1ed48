"""What held-out rows say of a model: scatter and spread of a regression, scores for sets and intervals.

A `GSURegressor` has its scatter measured in 5 folds anyway, and the same predictions give the scores. Other
methods are fitted once more, to two thirds of the rows, and the rest is held out: that is less than a second
fit, and some hundred rows are enough. Up to 1,000 rows each third is held out in turn. The model itself
learns from all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline

from .._data.incomplete import GaussianRows, gaps_of, gaussians_of
from .._data.typing import Booleans, Floats, Ints, Labels
from .._errors.sizes import sizes_of
from .._report.held_out import quiet
from .._tables.groups import Groups
from ..exceptions import ConvergenceWarning, UncertainError, UncertainWarning
from ..preprocessing._error_columns import feature_spread
from ..preprocessing._readings import Readings, drawn_factors
from ..regression import GSURegressor
from .conformal import LARGEST, Conformal
from .distribution import from_errors, has_density, of_density
from .measured import is_measured
from .scatter import FOLDS, MANY_ROWS, most_likely_scatter
from .spread import Spread, parts_of, widths_of
from .trial import Rows

FEW_ROWS = 1_000
"""Up to so many rows each third of them is held out in turn, whatever the method; of more only one."""
THIRDS = 3
MOST_HELD_OUT = 5_000
LEAST_SCORES = 10
"""Fewer held-out rows say nothing."""
MOST_NUMBERS = 20_000_000
"""Of the covariance matrices of rows that are read again."""
FLOOR = -3.0


class Calibrated(NamedTuple):
    """What was learned from rows that were held out; None where there were too few."""

    residual_std: float | None = None
    spread: Spread | None = None
    conformal: Conformal | None = None
    widths: Floats | None = None
    """Of a classifier: the spread of every feature, in whose units noise levels are."""


@dataclass(frozen=True)
class Training(Rows):
    """The rows of a fit, as they come behind the reading steps, and what was known of them."""

    known: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the pipeline's `fit`, one value per row."""

    @property
    def labelled(self) -> Booleans:
        """Rows that have a target which is no limit."""
        if self.y_limit is not None:
            return np.asarray(self.y_limit == 0)
        if self.y.dtype.kind == "f":
            return ~np.isnan(self.y)
        if self.y.dtype.kind != "O":
            return np.ones(len(self.y), dtype=bool)
        return np.array([label is not None for label in self.y.tolist()])

    @property
    def counted(self) -> Booleans:
        """Rows that count and have a target."""
        return self.labelled if self.weights is None else self.labelled & (self.weights > 0.0)

    def held_out(self, fitted: Pipeline) -> Iterator[tuple[Pipeline, GaussianRows, Ints]]:
        """For every fold a model that has not seen some rows, these rows, and their numbers."""
        unfitted = quiet(fitted, probability=True)
        for chosen in ("alpha", "C"):
            if chosen in unfitted[-1].get_params() and hasattr(fitted[-1], f"{chosen}_"):
                unfitted[-1].set_params(**{chosen: getattr(fitted[-1], f"{chosen}_")})  # chosen once
        unlabelled = np.flatnonzero(~self.labelled)
        always = isinstance(fitted[-1], GSURegressor)
        for train, test in splits(self.counted, self.groups, self._classes(fitted), folds=always):
            seen = np.concatenate([train, unlabelled])
            some = {name: values[seen] for name, values in self.known.items()}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the fit to all rows has said so
                warnings.simplefilter("ignore", UncertainWarning)
                model = clone(unfitted).fit(self.rows[seen], self.y[seen], **some)
            yield model, self.rows[test], test

    def _classes(self, fitted: Pipeline) -> Labels | None:
        if is_regressor(fitted):
            return None
        places = {label: k for k, label in enumerate(fitted.classes_.tolist())}
        return np.array([places.get(label, -1) for label in self.y.tolist()])


def calibrated(fitted: Pipeline, training: Training) -> Calibrated:
    """What held-out rows say of a fitted pipeline that takes Gaussians."""
    try:
        if is_regressor(fitted):
            return _of_numbers(fitted, training)
        return _of_classes(fitted, training)
    except UncertainError:  # such as a feature that no row in training has, or a class with too few rows
        return Calibrated()


def _of_numbers(fitted: Pipeline, training: Training) -> Calibrated:
    widths = widths_of(fitted, training.rows)
    exact, dense = isinstance(fitted[-1], GSURegressor), has_density(fitted)
    residuals, parts, numbers, again = [], [], [], []
    for model, rows, test in training.held_out(fitted):
        for copy, read in enumerate(_readings(fitted, rows)):
            if exact:
                mean, std = from_errors(model, read)
                parts.append(std[:, None] ** 2)
            elif dense:
                mean, std, _ = of_density(model, read)
                parts.append(std[:, None] ** 2)
            else:
                mean = model.predict(read)
                parts.append(parts_of(model, read, widths))
            residuals.append(training.y[test[: len(read)]] - mean)
            numbers.append(test[: len(read)])
            again.append(np.full(len(read), copy > 0))
    if not residuals:
        return Calibrated()
    r, v, at, copied = (np.concatenate(each) for each in (residuals, parts, numbers, again))
    weights = np.ones(len(at)) if training.weights is None else training.weights[at]
    own = np.zeros(len(at)) if training.y_std is None else training.y_std[at]
    residual_std = spread = None
    enough = np.count_nonzero(~copied) >= LEAST_SCORES
    if exact:
        first = ~copied
        residual_std = most_likely_scatter(r[first], v[first, 0] + own[first] ** 2, weights[first])
        std = np.sqrt(residual_std**2 + v[:, 0])
    elif dense:
        std = np.sqrt(v[:, 0])
    elif enough:
        spread = Spread.of(r, v, weights, widths)
        std = spread.std(v)
    if not enough:
        return Calibrated(residual_std)
    std = np.maximum(std, 1e-12 * np.abs(training.y[at]).max())
    whole = np.hypot(std, own)
    scores = np.divide(np.abs(r), whole, out=np.zeros(len(r)), where=whole > 0.0)
    return Calibrated(residual_std, spread, Conformal.of(scores, log(std), weights))


def _of_classes(fitted: Pipeline, training: Training) -> Calibrated:
    widths = feature_spread(gaussians_of(training.rows).means, ~gaps_of(training.rows))
    scores, levels, numbers = [], [], []
    codes = training._classes(fitted)
    assert codes is not None
    for model, rows, test in training.held_out(fitted):
        for read in _readings(fitted, rows):
            at = test[: len(read)]
            shares = shares_of(model, read, fitted.classes_)
            scores.append(1.0 - shares[np.arange(len(at)), codes[at]])
            levels.append(noise_levels(read, widths))
            numbers.append(at)
    if not numbers or len(np.unique(np.concatenate(numbers))) < LEAST_SCORES:
        return Calibrated()
    weights = np.ones(len(codes)) if training.weights is None else training.weights
    at = np.concatenate(numbers)
    conformal = Conformal.of(np.concatenate(scores), np.concatenate(levels), weights[at])
    return Calibrated(None, None, conformal, widths)


def shares_of(pipeline: Pipeline, rows: Any, classes: Labels) -> Floats:
    """How much speaks for each of these classes, (n, K), rows summing to 1.

    Probabilities, or the softmax of scores for a method that has none; 0 for classes that it has not seen.
    """
    if hasattr(pipeline, "predict_proba"):
        found = pipeline.predict_proba(rows)
    else:
        scores = pipeline.decision_function(rows)
        found = softmax(np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores, axis=1)
    if len(pipeline.classes_) == len(classes):
        return np.asarray(found)
    shares = np.zeros((len(found), len(classes)))
    places = {label: k for k, label in enumerate(classes.tolist())}
    shares[:, [places[label] for label in pipeline.classes_.tolist()]] = found
    return shares


def noise_levels(rows: Any, widths: Floats) -> Floats:
    """log10 of the root mean square of errors in units of the features' spread; a missing value counts 2."""
    std, known = sizes_of(rows)
    size = np.sqrt((np.where(known, np.minimum(std / widths, 2.0), 2.0) ** 2).mean(axis=1))
    return np.asarray(np.log10(np.maximum(size, 10.0**FLOOR)))


def log(std: Floats) -> Floats:
    """The noise level of a regression."""
    return np.asarray(np.log10(np.maximum(std, 1e-300)))


def _readings(fitted: Pipeline, rows: GaussianRows) -> Sequence[GaussianRows]:
    """The rows, and as they would have been read with larger errors, if error bars are measurement errors."""
    gaussians = gaussians_of(rows)
    if not is_measured(fitted) or not gaussians.trace().any():
        return [rows]
    dense = gaussians.kind not in ("diagonal", "isotropic")
    count = min(len(rows), MOST_NUMBERS // rows.n_features**2) if dense else len(rows)
    random = np.random.RandomState(0)
    factors = drawn_factors((count, rows.n_features), (1.0, LARGEST), 0.0, random)
    return [rows, Readings(rows[:count], random).again(factors)]


def splits(
    counted: Booleans, groups: Groups | None, classes: Labels | None, *, folds: bool
) -> list[tuple[Ints, Ints]]:
    """(train, test) of whole groups, of rows that count: five `folds` of up to 20,000 rows, else thirds."""
    at = np.flatnonzero(counted)
    together = Groups(np.arange(len(counted), dtype=np.uint32)) if groups is None else groups
    together = together.take(at)
    some = None if classes is None else classes[at]
    if together.count < 2:
        return []
    parts = together.splits(min(FOLDS if folds else THIRDS, together.count), 1, 0, some)
    if len(at) > (MANY_ROWS if folds else FEW_ROWS):
        rng = np.random.default_rng(0)
        parts = [
            (np.sort(rng.permutation(train)[:MANY_ROWS]), np.sort(rng.permutation(test)[:MOST_HELD_OUT]))
            for train, test in parts[:1]
        ]
    return [(at[train], at[test]) for train, test in parts]
