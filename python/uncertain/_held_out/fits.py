"""Fits to the rows that folds leave, and the models that come of them.

A feature that no row of a fold's training has (of a filter, say, that one survey alone used, where whole
surveys are held out) is left out there by a `LinearMap`: the fold's model takes rows of all features, as the
others do, and answers from those that it knows. Held constant it would be a feature without variance, and
its first value an outlier without end.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from inspect import signature

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._base.folds import Fold
from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, missing_mask
from .._data.typing import Floats, Ints, Keywords
from .._rows.training import TrainingRows
from ..exceptions import ConvergenceWarning
from ..preprocessing import GaussianCollapser, GaussianLogScaler, LinearMap
from ..preprocessing._denoiser import GaussianImputer

PASSING = (LinearMap, GaussianLogScaler, GaussianCollapser)
"""Steps that learn nothing from values, and pass gaps on."""


def fit_fold(pipeline: Pipeline, training: TrainingRows, fold: Fold) -> Pipeline:
    """A copy of the pipeline, fitted to the rows that a fold leaves.

    UncertainError if it cannot be fitted to them.
    """
    pipeline, some = for_known_features(_with_one_learner(pipeline), training.take(fold.train))
    return some.fitted(pipeline)


def _with_one_learner(pipeline: Pipeline) -> Pipeline:
    """Re-measured trees of one learner: what is held out judges them a little too hard, in a fourth of the
    time."""
    name, last = pipeline.steps[-1]
    if "n_learners" not in last.get_params(deep=False):
        return pipeline
    return clone(pipeline).set_params(**{f"{name}__n_learners": 1})


def for_known_features(pipeline: Pipeline, some: TrainingRows) -> tuple[Pipeline, TrainingRows]:
    """The unfitted pipeline, and such rows for it, without the features that no row that counts has."""
    known = np.flatnonzero(~missing_mask(some.rows)[some.counts > 0.0].all(axis=0))
    if len(known) in (0, some.rows.shape[1]):
        return pipeline, some
    pairs = None if some.xy_cov is None else some.xy_cov[:, known]
    return _of_features(pipeline, some.rows, known), replace(some, xy_cov=pairs)


def _of_features(pipeline: Pipeline, rows: GaussianRows, known: Ints) -> Pipeline:
    """The unfitted pipeline with a step that leaves the other features out, before one learns from values."""
    place = next(k for k, (_, step) in enumerate(pipeline.steps) if not isinstance(step, PASSING))
    names = rows.feature_names
    kept = LinearMap(
        np.eye(rows.shape[1])[:, known], names=None if names is None else [names[j] for j in known]
    )
    return Pipeline([*pipeline.steps[:place], ("known", kept), *pipeline.steps[place:]])


def silenced(pipeline: Pipeline, *, probability: bool = False) -> Pipeline:
    """An unfitted copy that shows no progress, and calibrates no probabilities unless it did and may."""
    (*before, (name, last)) = pipeline.steps
    parameters = last.get_params(deep=False)
    silence: Keywords = {"callback": None, "verbose": 0}
    silence |= {} if probability else {"probability": False}
    changes = {key: value for key, value in silence.items() if key in parameters}
    # A clone copies parameters, and a callback may hold what cannot be copied.
    return clone(Pipeline([*before, (name, type(last)(**parameters | changes) if changes else last)]))


def with_chosen_penalty(unfitted: Pipeline, fitted: Pipeline) -> Pipeline:
    """The penalty, or number of trees, that the fit to all rows has chosen, instead of what chose it."""
    for name in ("alpha", "C", "n_trees"):
        if name in unfitted[-1].get_params() and hasattr(fitted[-1], f"{name}_"):
            unfitted[-1].set_params(**{name: getattr(fitted[-1], f"{name}_")})
    return unfitted


def predict_beside(fitted: Pipeline, rows: GaussianRows, beside: TrainingRows) -> Floats:
    """Predictions of rows with their offsets, and with what the fit knows of errors that they share."""
    takes, offset, modes = signature(fitted[-1].predict).parameters, beside.offset, beside.modes
    if modes is not None and "modes" in takes:
        return np.asarray(fitted.predict(rows, modes=modes))
    known = getattr(fitted[-1], "modes_", None)
    shared = None if modes is None or known is None else modes @ known
    if "offset" in takes:
        return np.asarray(fitted.predict(rows, offset=sum(x for x in (offset, shared) if x is not None)))
    return np.asarray(fitted.predict(rows) + (0.0 if shared is None else shared))


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


def for_exact_rows(fitted: Pipeline) -> Pipeline:
    """The estimator for rows without error bars, which can have no factors."""
    name, last = fitted.steps[-1]
    scale = getattr(last, "error_scale", None)
    if scale not in ("features", "both"):
        return fitted
    blind: Pipeline = clone(fitted).set_params(**{f"{name}__error_scale": "fit" if scale == "both" else None})
    return blind
