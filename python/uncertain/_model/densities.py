"""Does the regression that a choice has found get a density of its own?

A re-measured learner can learn one (`RemeasuredRegressor(density=True)`). The model of the first fold of the
choice does, and the rows that it has not seen say which law has the smaller CRPS: the density, or a normal
one around the same prediction, with the width of `Spread` (which is fitted to these rows and so a little too
good). Where the density is better by one standard error, the model itself learns one, too; predictions stay
as they are. No candidate is fitted again, and calibration goes on with the rows of this fold.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from .._estimators.remeasured import RemeasuredRegressor
from .._held_out.fits import FoldModels
from .._held_out.means import weighted_mean
from .._rows.training import TrainingRows
from .._widths.answers import Answers, own_losses
from .._widths.distribution import density_of_rows, has_density
from .._widths.spread import feature_widths, groups_of_rows
from .calibrating import LARGER, LEAST_SCORES, readings_of, tested
from .reader import gaussian_rows


def with_density(
    pipeline: Pipeline, training: TrainingRows, held_out: FoldModels | None
) -> tuple[Pipeline, FoldModels | None]:
    """A pipeline that was fitted to these rows and the models of its folds, with densities where better."""
    asked = isinstance(pipeline[-1], RemeasuredRegressor) and not has_density(pipeline)
    if not asked or held_out is None or not held_out.models:
        return pipeline, held_out
    training = replace(training, rows=gaussian_rows(training.rows))
    # Such as a fold of too few groups, or one in which a learner finds no value of some feature.
    with suppress(ValueError), threadpool_limits(1, "openmp"):
        fold = held_out.folds[0]
        model = _dense(held_out.models[0], held_out.training.take(fold.train))
        first = FoldModels(held_out.training, [fold], [model])
        if _is_better(model, held_out.models[0], training, first):
            return _dense(pipeline, training), first
    return pipeline, held_out


def _dense(fitted: Pipeline, training: TrainingRows) -> Pipeline:
    """The same with a density, from the rows of its fit."""
    *front, (name, last) = fitted.steps
    rows = training.rows
    for _, step in front:
        rows = step.transform(rows)
    learned = last._with_density(rows, training.y, **training.step_arguments(last))
    return Pipeline([*front, (name, learned)])


def _is_better(dense: Pipeline, plain: Pipeline, training: TrainingRows, first: FoldModels) -> bool:
    """Is the CRPS of the densities of rows held out less than that of normal laws, by a standard error?"""
    widths = feature_widths(plain, training.rows)
    training = first.training
    read = [(readings_of(dense, rows, LARGER["numbers"]), test) for _, rows, test in tested(first)]
    normal = Answers.from_models([(plain, *one) for one in read], training, widths)
    if normal is None or len(read[0][1]) < LEAST_SCORES:
        return False
    laws = [density_of_rows(dense, rows) for readings, _ in read for rows in readings]
    gains = normal.losses(plain) - own_losses(laws, training.y[normal.rows], normal.target_std)
    gain, se = weighted_mean(gains, normal.weights, groups_of_rows(normal.rows))
    return bool(gain > se)
