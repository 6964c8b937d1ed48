"""Facts of a fitted pipeline: coefficients, meaning of error bars, distribution of true values.

Coefficients are in the units of what a model reads. The last step says score = w'x + b of the rows that it
sees. Every step before it that is linear in the means is undone, from the last one to the first:

- a scaler, x = (z - m) / s: w / s, and b - w'(m / s);
- a linear map, x = z A: A w;
- simpler or fewer-ranked covariances do not move the means.

A denoiser or imputer ends the rows' way as readings: what comes out of it are the true values, or complete
rows, and to these, in the units of the table, the coefficients belong. (A scaler or map in front of one is
undone as well: true values scale as readings do.)
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._base.em import Mixture
from .._data.array import GaussianArray
from .._data.typing import Estimator, Floats
from .._estimators.discriminant import GaussianDiscriminant
from .._estimators.gsu import GSURegressor
from .._estimators.linear import LinearClassifier
from .._estimators.remeasured import RemeasuredClassifier, RemeasuredRegressor
from ..laws import CurveRegressor
from ..laws.law import CoefficientLaw
from ..preprocessing import (
    AsGaussians,
    GaussianCollapser,
    GaussianDenoiser,
    GaussianImputer,
    GaussianLogScaler,
    GaussianScaler,
    KernelMap,
    LinearMap,
    SubspaceProjector,
)

READS = (AsGaussians, GaussianDenoiser, GaussianImputer)
"""Steps whose answer is no linear function of the numbers that they read; features stay the same."""
BY_ITSELF = (
    *(GaussianDenoiser, GaussianDiscriminant, CoefficientLaw),
    *(RemeasuredClassifier, RemeasuredRegressor),
)

KNOW_FEATURES = (GaussianImputer, GaussianDenoiser, GaussianDiscriminant, CoefficientLaw)
"""Steps with a distribution of the features."""

LARGER = 10.0
"""How much larger errors may be for a model of true values and noise, which has a law for all of them."""


class Hyperplanes(NamedTuple):
    """score_k = coef_k'x + intercept_k."""

    coef: Floats
    """(1, d) or (K, d)."""
    intercept: Floats
    """(1,) or (K,)."""


def hyperplanes(pipeline: Pipeline, first: int = 0) -> Hyperplanes:
    """Coefficients of the last step, in the units of the rows that come to step number `first`;
    AttributeError, in a sentence, for models that have none."""
    last = pipeline[-1]
    name = type(last).__name__
    if hasattr(last, "members_"):
        raise AttributeError(
            f"an average of {len(last.members_)} models has no coefficients. See its members, "
            'model.pipeline_[-1].members_, or fit one linear model with method="gsu"'
        )
    line = isinstance(last, CoefficientLaw) and hasattr(last, "coef_")
    if not (line or isinstance(last, (LinearClassifier, GSURegressor))):
        raise AttributeError(
            f"{name} has no coefficients of the features, as it is not linear in them. Linear are "
            'method="gsu" (without kernel=), "usvc", "minimax", "law", and "mixture" (of one component)'
        )
    map_: KernelMap | None = getattr(last, "kernel_map_", None)
    if map_ is not None:
        raise AttributeError(
            f"{name}(kernel={last.kernel!r}) has no coefficients of the features: it is linear in the "
            f"{map_.rank_} dimensions of its feature space. Leave out kernel="
        )
    coef, intercept = np.atleast_2d(last.coef_), np.atleast_1d(last.intercept_).astype(np.float64)
    for _, step in reversed(pipeline.steps[first:-1]):
        coef, intercept = _before(step, coef, intercept)
    return Hyperplanes(coef.copy(), intercept.copy())


def law_of(pipeline: Pipeline) -> CoefficientLaw:
    """The last step, a law in the units of what is read; AttributeError, in a sentence, for others."""
    last = pipeline[-1]
    if not isinstance(last, CoefficientLaw):
        raise AttributeError(
            f'{type(last).__name__} has no standard errors. Fit with method="law" or "mixture"'
        )
    coef = hyperplanes(pipeline).coef
    if coef.shape != (1, len(last.coef_)) or not np.array_equal(coef[0], last.coef_):
        raise AttributeError(
            "no standard errors in the units of the table: features are mapped. See model.pipeline_[-1]"
        )
    return last


def law_or_curve(pipeline: Pipeline) -> Any:
    """A law with coefficients, or a `CurveRegressor`, whose parameters belong to what it reads."""
    if not isinstance(pipeline[-1], CurveRegressor):
        return law_of(pipeline)
    moved = [type(step).__name__ for _, step in pipeline.steps[:-1] if not isinstance(step, READS)]
    if moved:
        raise AttributeError(
            f"the curve's parameters belong to features transformed by {moved[-1]}. See model.pipeline_[-1]"
        )
    return pipeline[-1]


def _before(step: Estimator, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
    """Hyperplanes in terms of the rows that come to the step."""
    if isinstance(step, GaussianScaler):
        scaled = coef / step.scale_
        return scaled, intercept - scaled @ step.mean_
    if isinstance(step, LinearMap):
        return coef @ step.matrix_.T, intercept
    moves = isinstance(step, SubspaceProjector) and step.project == "both"
    if not moves and isinstance(step, (*READS, GaussianCollapser, SubspaceProjector)):
        return coef, intercept
    if isinstance(step, GaussianLogScaler):
        raise AttributeError(
            "the model has no coefficients in the units of the table: some features are taken as logarithms. "
            "Fit with transform=None"
        )
    raise AttributeError(
        f"the model has no coefficients in the units of the table: {type(step).__name__} is not linear"
    )


def reading_steps(pipeline: Pipeline) -> int:
    """How many steps there are up to the last one that reads; the rows after them move linearly."""
    reading = [at + 1 for at, (_, step) in enumerate(pipeline.steps[:-1]) if isinstance(step, READS)]
    return max(reading, default=0)


def logarithms(pipeline: Pipeline) -> dict[str, float]:
    """The features that are taken as logarithms, with their softening."""
    step = next((step for _, step in pipeline.steps if isinstance(step, GaussianLogScaler)), None)
    if step is None:
        return {}
    softening = zip(feature_names(pipeline), step.softening_.tolist(), strict=True)
    return {name: b for name, b in softening if b > 0.0}


def feature_names(pipeline: Pipeline) -> list[str]:
    """Names of what the model reads: those of its columns or of the fit's rows, else x0, x1, ..."""
    first = pipeline[0]
    if isinstance(first, AsGaussians):
        named = first.roles_ or hasattr(first, "feature_names_in_")
        names = first.get_feature_names_out().tolist() if named else None
    else:
        names = getattr(first, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(first.n_features_in_)]
    return [str(name) for name in names]


def is_measured(pipeline: Pipeline) -> bool:
    """Is each row one noisy reading of true values, for some step; of a stack for most of the weight of the
    members that use error bars?"""
    if hasattr(last := pipeline[-1], "members_"):
        used = [k for k, member in enumerate(last.members_) if not drops_errors(member)]
        measured = [k for k in used if is_measured(last.members_[k])]
        return bool(last.weights_[0, measured].sum() > last.weights_[0, used].sum() / 2)
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
    """Effect of such errors on the method, and what to do."""
    last = pipeline[-1]
    if isinstance(last, (RemeasuredClassifier, RemeasuredRegressor)) and not drops_errors(pipeline):
        smallest, largest = last.factors_
        return (
            f"the model was trained for {smallest:.3g} to {largest:.3g} times the errors of the fit. Fit it "
            "again with larger factors, such as factors=(0.1, 100)"
        )
    if is_measured(pipeline):
        return (
            f"the model extrapolates: it accounts for errors up to {LARGER:g} times as large. Add rows like "
            "these to the fit"
        )
    return (
        'predictions may be overconfident. Refit with method="discriminant", method="remeasured" or '
        'meaning="measurement"'
    )


def true_values(pipeline: Pipeline) -> Mixture | None:
    """The distribution of true values that the first step knows, in the units of what is read; None if none
    does."""
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
