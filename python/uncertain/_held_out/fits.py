"""Fits to the rows that folds leave, and the models that come of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._base.folds import Fold
from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete
from .._data.typing import Keywords
from .._rows.training import TrainingRows
from ..exceptions import ConvergenceWarning, UncertainWarning
from ..preprocessing._imputer import GaussianImputer


def fit_fold(pipeline: Pipeline, training: TrainingRows, fold: Fold) -> Pipeline:
    """A copy of the pipeline, fitted to the rows that a fold leaves.

    UncertainError if it cannot be fitted to them.
    """
    with warnings.catch_warnings():
        # Held-out rows judge it, whether or not it has converged; the fit to all rows warns.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UncertainWarning)
        return training.take(fold.train).fitted(pipeline)


@dataclass(frozen=True)
class FoldModels:
    """Models of one kind, each with the rows that it has not seen."""

    training: TrainingRows
    """All rows that the folds are made of."""
    folds: Sequence[Fold]
    models: Sequence[Pipeline]
    """One for each fold."""

    def __iter__(self) -> Iterator[tuple[Pipeline, Fold]]:
        return iter(zip(self.models, self.folds, strict=True))


def fit_folds(pipeline: Pipeline, training: TrainingRows, folds: Sequence[Fold]) -> FoldModels:
    """The pipeline fitted to what each fold leaves; UncertainError if it cannot be fitted to some of it."""
    return FoldModels(training, folds, [fit_fold(pipeline, training, fold) for fold in folds])


def silenced(pipeline: Pipeline, *, probability: bool = False) -> Pipeline:
    """An unfitted copy that shows no progress, and calibrates no probabilities unless it did and may."""
    (*before, (name, last)) = pipeline.steps
    parameters = last.get_params(deep=False)
    silence: Keywords = {"callback": None, "verbose": 0}
    silence |= {} if probability else {"probability": False}
    changes = {key: value for key, value in silence.items() if key in parameters}
    # A clone copies parameters, and a callback may hold what cannot be copied.
    return clone(Pipeline([*before, (name, type(last)(**parameters | changes))]))


def with_chosen_penalty(unfitted: Pipeline, fitted: Pipeline) -> Pipeline:
    """The penalty, or number of trees, that the fit to all rows has chosen, instead of what chose it."""
    for name in ("alpha", "C", "n_trees"):
        if name in unfitted[-1].get_params() and hasattr(fitted[-1], f"{name}_"):
            unfitted[-1].set_params(**{name: getattr(fitted[-1], f"{name}_")})
    return unfitted


def certified_gap(fitted: Pipeline) -> float:
    """Certified relative distance to the optimum (of the worst problem); NaN if the fit certifies nothing."""
    return float(np.max(getattr(fitted[-1], "optimality_gap_", np.nan)))


def ended_early(fitted: Pipeline) -> bool:
    """Has a step made all the passes it may make without converging?"""
    return any("max_iter" in np.ravel(getattr(step, "status_", "")) for _, step in fitted.steps)


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
