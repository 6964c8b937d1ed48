"""What held-out rows say of a model: scatter and spread of a regression, scores for sets and intervals.

A choice has held rows out, and the models of its folds are at hand. Where nothing was chosen there are folds
of their own: a `GSURegressor` is fitted in 5 of them, and other methods once more, to two thirds of the rows
(up to 1,000 rows three times, so that each third is held out): some hundred held-out rows are enough. The
model itself learns from all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._base.folds import Fold, split
from .._data.column import read_column
from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.typing import Booleans, Floats, Ints
from .._errors.sizes import ErrorSizes
from .._estimators.gsu import GSURegressor
from .._held_out.equal import equal_rows
from .._held_out.fits import FoldModels, fit_folds, silenced, with_chosen_penalty
from .._rows.training import TrainingRows
from .._widths.answers import Answers
from .._widths.scatter import FOLDS, MANY_ROWS
from .._widths.spread import Spread, feature_widths, own_law
from ..exceptions import UncertainError
from ..preprocessing._error_columns import feature_spread
from ..preprocessing._readings import Readings, drawn_factors
from .conformal import Conformal
from .cross_conformal import CrossConformal, class_shares, cross_conformal, noise_levels
from .measured import is_measured
from .reader import gaussian_rows

FEW_ROWS = 1_000
"""Up to so many rows each third of them is held out in turn, whatever the method; of more only one."""
THIRDS = 3
MOST_HELD_OUT = 5_000
LEAST_SCORES = 10
"""Fewer held-out rows say nothing."""
MOST_NUMBERS = 20_000_000
"""Of the covariance matrices of rows that are read again."""
LARGER = {
    "numbers": ((1.0, 4.0),),
    "classes": ((1.0, 2.0), (2.0, 4.0), (4.0, 8.0), (8.0, 16.0)),
}
"""Held-out rows are read again with errors larger by factors between these ends. A number is judged in units
of its own predicted width. A class has no such unit: the rows of the noisiest bin, whose scores a noisy row
is compared with, are nearly all less noisy than it, unless there are still noisier ones. So each octave up to
sixteen has a copy of every row."""
ENOUGH_SCORES = 100, 400
"""Of classes a third of the rows or groups is scored, but no fewer, and no more are needed. The models of
more folds would make file and answers larger, and where labels are nearly noise, and they disagree, sets that
hold more than was asked."""


@dataclass(frozen=True)
class Calibration:
    """Statistics of held-out rows; None where there were too few, and in files that were written in Rust."""

    residual_std: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    """Of a `GSURegressor`: the scatter of the targets that no error bar explains."""
    spread: Spread | None = None
    """Of a regression: the width of predictions, where the method has none of its own, or a worse one."""
    conformal: Conformal | None = None
    """Of a regression: scores for `predict_interval`."""
    sets: CrossConformal | None = None
    """Of a classifier: scores for `predict_set`, with the models of the folds that gave them."""
    sizes: ErrorSizes | None = None
    """Of the error bars of the fit."""


def calibrate(fitted: Pipeline, training: TrainingRows, held_out: FoldModels | None = None) -> Calibration:
    """Return the calibration of a fitted pipeline that takes Gaussians, from rows of its fit.

    `held_out` are models of the folds of a choice; without them there are folds of the training rows.
    """
    training = replace(training, rows=gaussian_rows(training.rows))
    sizes = ErrorSizes.from_rows(training.rows)
    return replace(_held_out_statistics(fitted, training, held_out), sizes=sizes)


def _held_out_statistics(
    fitted: Pipeline, training: TrainingRows, held_out: FoldModels | None
) -> Calibration:
    try:
        held_out = _refit(fitted, training) if held_out is None else held_out
        if is_regressor(fitted):
            return _calibrate_numbers(fitted, training, held_out)
        return _calibrate_classes(fitted, training, held_out)
    except UncertainError:  # such as a feature that no row in training has, or a class with too few rows
        return Calibration()


def _labelled(training: TrainingRows) -> Booleans:
    """Rows that have a target which is no limit."""
    if training.y_limit is not None:
        return np.asarray(training.y_limit == 0)
    labels = training.y[:]
    missing = read_column(labels, "target", len(labels), "targets").missing
    return np.ones(len(labels), dtype=bool) if missing is None else ~missing


def _codes(fitted: Pipeline, training: TrainingRows) -> Ints:
    """The place of each row's class among those of the fit, -1 for none."""
    places = {label: k for k, label in enumerate(fitted.classes_.tolist())}
    return np.array([places.get(label, -1) for label in training.y[:].tolist()])


def _refit(fitted: Pipeline, training: TrainingRows) -> FoldModels:
    """The pipeline fitted again to the rows that folds leave."""
    counted = np.flatnonzero(_labelled(training))
    in_folds = isinstance(fitted[-1], GSURegressor)
    equal = equal_rows(training.rows) if training.groups is None else None
    groups = training.groups if equal is None else equal.groups
    folds = split(
        len(training),
        np.random.RandomState(0),
        folds=FOLDS if in_folds else THIRDS,
        classes=None if is_regressor(fitted) else _codes(fitted, training),
        groups=groups,
        counted=counted,
    )
    if len(counted) > (MANY_ROWS if in_folds else FEW_ROWS):
        folds = [_lessened(fold, training) for fold in folds[:1]]
    unfitted = with_chosen_penalty(silenced(fitted, probability=True), fitted)
    return fit_folds(unfitted, training, folds)


def _lessened(fold: Fold, training: TrainingRows) -> Fold:
    """Some of the rows of a fold, and every row without a target."""
    random = np.random.default_rng(0)
    labelled = _labelled(training)[fold.train]
    train, unlabelled = fold.train[labelled], fold.train[~labelled]
    train = random.permutation(train)[:MANY_ROWS]
    test = np.sort(random.permutation(fold.test)[:MOST_HELD_OUT])
    return Fold(fold.repeat, np.sort(np.concatenate([train, unlabelled])), test)


def tested(held_out: FoldModels) -> list[tuple[Pipeline, GaussianRows, Ints]]:
    """Every model of the first repeat with the rows that it has not seen and that have a target."""
    labelled = _labelled(held_out.training)
    tested = []
    for model, fold in held_out:
        test = fold.test[labelled[fold.test]]
        if fold.repeat == 0 and len(test):
            tested.append((model, held_out.training.rows[test], test))
    return tested


def _calibrate_numbers(fitted: Pipeline, training: TrainingRows, held_out: FoldModels) -> Calibration:
    widths = feature_widths(fitted, training.rows)
    training = held_out.training
    read = (
        (model, readings_of(fitted, rows, LARGER["numbers"]), test) for model, rows, test in tested(held_out)
    )
    answers = Answers.from_models(read, training, widths)
    if answers is None:
        return Calibration()
    residual_std = answers.residual_std(fitted)
    if np.count_nonzero(~answers.copied) < LEAST_SCORES:
        return Calibration(residual_std)
    law = own_law(fitted, residual_std)
    spread = answers.spread(law)[0]
    std = np.maximum(spread.std(answers.parts), 1e-12 * np.abs(training.y[answers.rows]).max())
    whole = np.hypot(std, answers.target_std)
    scores = np.divide(np.abs(answers.residuals), whole, out=np.zeros(len(whole)), where=whole > 0.0)
    conformal = Conformal.from_scores(scores, log(std), answers.weights)
    return Calibration(residual_std, None if spread is law else spread, conformal)


def _calibrate_classes(fitted: Pipeline, training: TrainingRows, held_out: FoldModels) -> Calibration:
    widths = feature_spread(filled_gaussians(training.rows).means, ~missing_mask(training.rows))
    training = held_out.training
    codes = _codes(fitted, training)
    models, scores, levels, weights = [], [], [], []
    n_tested = n_rows = 0
    n_units = len(training) if training.groups is None else training.groups.count
    enough = np.clip(n_units // THIRDS, *ENOUGH_SCORES)
    for model, rows, test in tested(held_out):
        if n_tested >= enough:
            break
        n_tested += len(test) if training.groups is None else training.groups.take(test).count
        n_rows += len(test)
        readings = readings_of(fitted, rows, LARGER["classes"])
        shares = [class_shares(model, read, fitted.classes_) for read in readings]
        at = np.concatenate([test[: len(read)] for read in readings])
        models.append(model)
        scores.append(1.0 - np.concatenate(shares)[np.arange(len(at)), codes[at]])
        levels.append(np.concatenate([noise_levels(read, widths) for read in readings]))
        weights.append(training.counts[at])
    if n_rows < LEAST_SCORES:
        return Calibration()
    if not all(np.array_equal(model.classes_, fitted.classes_) for model in models):
        models = []  # the sample had no row of some class
    return Calibration(sets=cross_conformal(models, scores, levels, weights, widths))


def log(std: Floats) -> Floats:
    """The noise level of a regression."""
    return np.asarray(np.log10(np.maximum(std, 1e-300)))


def readings_of(
    fitted: Pipeline, rows: GaussianRows, larger: Sequence[tuple[float, float]]
) -> Sequence[GaussianRows]:
    """The rows, and as they would have been read with larger errors, if error bars are measurement errors."""
    gaussians = filled_gaussians(rows)
    if not is_measured(fitted) or not gaussians.trace().any():
        return [rows]
    dense = gaussians.kind not in ("diagonal", "isotropic")
    count = min(len(rows), MOST_NUMBERS // rows.n_features**2) if dense else len(rows)
    random = np.random.RandomState(0)
    drawn = (drawn_factors((count, rows.n_features), ends, 0.0, random) for ends in larger)
    return [rows, *(Readings(rows[:count], random).again(factors) for factors in drawn)]
