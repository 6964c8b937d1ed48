"""The meaning of error bars for a model, how far errors of new rows may be from errors of its fit, and its
distribution of true values."""

from __future__ import annotations

from sklearn.pipeline import Pipeline

from .._base.em import Mixture
from .._data.array import GaussianArray
from .._estimators.discriminant import GaussianDiscriminant
from .._estimators.remeasured import RemeasuredClassifier, RemeasuredRegressor
from ..laws.law import CoefficientLaw
from ..preprocessing import (
    GaussianCollapser,
    GaussianDenoiser,
    GaussianImputer,
    GaussianLogScaler,
    GaussianScaler,
)

BY_ITSELF = (
    *(GaussianDenoiser, GaussianDiscriminant, CoefficientLaw),
    *(RemeasuredClassifier, RemeasuredRegressor),
)

KNOW_FEATURES = (GaussianImputer, GaussianDenoiser, GaussianDiscriminant, CoefficientLaw)
"""Steps with a distribution of the features."""

LARGER = 10.0
"""How much larger errors may be for a model of true values and noise, which has a law for all of them."""


def is_measured(pipeline: Pipeline) -> bool:
    """Is each row one noisy reading of true values, for some step, and for every member of a stack?"""
    if hasattr(pipeline[-1], "members_"):
        return all(is_measured(member) for member in pipeline[-1].members_)
    return not drops_errors(pipeline) and any(isinstance(step, BY_ITSELF) for _, step in pipeline.steps)


def drops_errors(pipeline: Pipeline) -> bool:
    """Does it, or every member of a stack, use the means alone? A collapser behind a denoiser had them."""
    members = getattr(pipeline[-1], "members_", ())
    if len(members):
        return all(map(drops_errors, members))
    steps = [step for _, step in pipeline.steps if isinstance(step, (GaussianDenoiser, GaussianCollapser))]
    return bool(steps) and isinstance(steps[0], GaussianCollapser)


def tolerated(pipeline: Pipeline) -> tuple[float, float]:
    """The smallest and the largest factor of errors that the method has an answer for."""
    last = pipeline[-1]
    if hasattr(last, "members_"):
        lows, highs = zip(*map(tolerated, last.members_), strict=True)
        return max(lows), min(highs)
    if isinstance(last, (RemeasuredClassifier, RemeasuredRegressor)):
        smallest, largest = last.factors_
        return min(smallest, 1.0), max(largest, 1.0)
    return (0.0, LARGER) if is_measured(pipeline) else (1.0, 1.0)


def advice(pipeline: Pipeline) -> str:
    """Whether the method minds, and what to do."""
    last = pipeline[-1]
    if isinstance(last, (RemeasuredClassifier, RemeasuredRegressor)) and not drops_errors(pipeline):
        smallest, largest = last.factors_
        return (
            f"the model has seen copies with {smallest:.3g} to {largest:.3g} times the errors of the fit, "
            "and knows nothing beyond; fit it again with other factors=, such as (0.1, 100)"
        )
    if is_measured(pipeline):
        return (
            f"the model takes errors up to {LARGER:g} times as large into account, and extrapolates here; "
            "add rows like these to the fit"
        )
    return (
        "the model has learned from none like these, and its predictions may be too sure; "
        'method="discriminant", method="remeasured" and meaning="measurement" hold for other errors, too'
    )


def true_values(pipeline: Pipeline) -> Mixture | None:
    """The distribution of true values, in the units of what is read.

    That of the first step that knows one, behind the reading steps; None if none does.
    """
    scalers: list[GaussianScaler | GaussianLogScaler] = []
    for _, step in pipeline.steps:
        if isinstance(step, (GaussianScaler, GaussianLogScaler)):
            scalers.insert(0, step)
        if isinstance(step, KNOW_FEATURES):
            weights, means, covariances = step._mixture()
            components = GaussianArray(means, cov=covariances)
            for scaler in scalers:
                names = getattr(scaler, "feature_names_in_", None)
                components = scaler.inverse_transform(components._named(names))
            return weights, components.means, components.covariances()
    return None
