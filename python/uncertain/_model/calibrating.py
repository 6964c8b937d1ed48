"""Calibration of a model on held-out rows: scatter and widths of a regression, scores for sets and intervals.

A choice has held rows out. Where nothing was chosen there are folds: a `GSURegressor` is fitted in 5 of them,
and other methods once more, to two thirds of the rows (up to 1,000 rows three times, so that each third is
held out): some hundred held-out rows are enough. The model itself learns from all rows.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import msgspec
import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from .._base.folds import Fold
from .._data.incomplete import feature_spread, filled_gaussians, missing_mask
from .._errors.sizes import ErrorSizes
from .._estimators.gsu import GSURegressor
from .._held_out.engine import (
    Candidate,
    HeldOut,
    allows_readings,
    cross_predict,
    hold_out,
    labelled,
    with_errors,
)
from .._held_out.equal import together
from .._held_out.fits import silenced, with_chosen_penalty
from .._held_out.order import in_order
from .._held_out.widths import Spread, feature_widths, of_scatter
from .._rows.training import TrainingRows
from ..exceptions import UncertainError
from ..preprocessing._moves import gaussian_rows
from .conformal import Conformal, noise_levels, noise_of_numbers, score_of_classes, score_of_numbers
from .pipeline_facts import is_measured

FEW_ROWS, MANY_ROWS = 1_000, 20_000
"""Up to so many rows each third of them is held out in turn, whatever the method; of more only one. A
`GSURegressor` is fitted in folds up to the second number."""
FOLDS, THIRDS = 5, 3
MOST_HELD_OUT = 5_000
LEAST_SCORES = 10
"""Fewer held-out rows say nothing."""
FACTORS = {"numbers": (1.0, 2.0, 4.0), "classes": (1.0, 2.0, 4.0, 8.0, 16.0)}
"""Errors of rows that are read again. A number is judged in units of its predicted width. A class has no
such unit: the rows of the noisiest bin, whose scores a noisy row is compared with, are nearly all less noisy
than it, unless there are still noisier ones."""


@dataclass(frozen=True)
class Calibration:
    """Statistics of held-out rows; None where there were too few, and in files that were written in Rust."""

    residual_std: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    """Of a `GSURegressor`: the scatter of the targets that no error bar explains."""
    spread: Spread | None = None
    """Of a regression: the width of predictions, where the method has none, or a worse one."""
    conformal: Conformal | None = None
    """Scores for `predict_interval` and `predict_set`."""
    sizes: ErrorSizes | None = None
    """Of the error bars of the fit."""


def calibrate(fitted: Pipeline, training: TrainingRows, held_out: HeldOut | None = None) -> Calibration:
    """Return the calibration of a fitted pipeline that takes Gaussians, from rows of its fit.

    `held_out` are answers of the folds of a choice; without them there are folds of the training rows.
    """
    training = replace(training, rows=gaussian_rows(training.rows))
    sizes = ErrorSizes.from_rows(training.rows)
    try:
        held_out = _refit(fitted, training) if held_out is None else held_out
    except UncertainError:  # such as a feature that no row in training has, or a class with too few rows
        held_out = None
    if held_out is None or "model" not in held_out.answers:
        return Calibration(sizes=sizes)
    kind = _of_numbers if is_regressor(fitted) else _of_classes
    return replace(kind(fitted, training, held_out), sizes=sizes)


def _refit(fitted: Pipeline, training: TrainingRows) -> HeldOut:
    """Answers of the pipeline fitted again to the rows that folds leave."""
    training = in_order(training, training.rows)[0] if len(training) <= MANY_ROWS else training
    judged, random = labelled(training), np.random.RandomState(0)
    in_folds, numbers = isinstance(fitted[-1], GSURegressor), is_regressor(fitted)
    whole = replace(training, groups=together(training.rows, training.groups).groups)
    folds = hold_out(whole, random, folds=FOLDS if in_folds else THIRDS, regression=numbers, judged=judged)
    if judged.sum() > (MANY_ROWS if in_folds else FEW_ROWS):
        folds = [_lessened(fold, judged) for fold in folds[:1]]
    unfitted = with_chosen_penalty(silenced(fitted, probability=True), fitted)
    again = is_measured(fitted) and allows_readings(training.rows)
    factors = FACTORS["numbers" if numbers else "classes"] if again else (1.0,)
    return cross_predict({"model": Candidate(unfitted)}, training, folds, factors)


def _lessened(fold: Fold, judged: np.ndarray) -> Fold:
    """Some of the rows of a fold, and every row without a target."""
    random = np.random.default_rng(0)
    train, unlabelled = fold.train[judged[fold.train]], fold.train[~judged[fold.train]]
    train = random.permutation(train)[:MANY_ROWS]
    test = np.sort(random.permutation(fold.test)[:MOST_HELD_OUT])
    return Fold(fold.repeat, np.sort(np.concatenate([train, unlabelled])), test)


def _of_numbers(fitted: Pipeline, training: TrainingRows, held: HeldOut) -> Calibration:
    few = len(held.at) < LEAST_SCORES
    if few and not isinstance(fitted[-1], GSURegressor):
        return Calibration()
    spread, residual_std = (None, None) if hasattr(fitted[-1], "members_") else held.widths("model")
    if few:
        return Calibration(residual_std)
    laws = [answer.density(spread or of_scatter(residual_std)) for answer in held.answers["model"]]
    if spread is not None:
        spread = replace(spread, widths=feature_widths(fitted, training.rows))
    scores = [score_of_numbers(with_errors(law, held.target_std), held.truth) for law in laws]
    levels = [noise_of_numbers(law) for law in laws]
    return Calibration(residual_std, spread, Conformal.from_scores(scores, levels, held.counts))


def _of_classes(fitted: Pipeline, training: TrainingRows, held: HeldOut) -> Calibration:
    if len(held.at) < LEAST_SCORES:
        return Calibration()
    means, present = filled_gaussians(held.training.rows).means, ~missing_mask(held.training.rows)
    widths = feature_spread(means, present)
    centres = np.where(present, means, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    rows, y = np.arange(len(held.at)), held.truth
    scores, levels = [], []
    for answer, read in zip(held.answers["model"], held.readings, strict=True):
        assert answer.shares is not None
        scores.append(score_of_classes(answer.shares, read, centres, widths)[rows, y])
        levels.append(noise_levels(read, widths))
    return Calibration(conformal=Conformal.from_scores(scores, levels, held.counts, widths, centres))
