"""The distribution of true values that a fitted pipeline has learned, in the units of what it reads."""

from __future__ import annotations

from sklearn.pipeline import Pipeline

from .._base.em import Mixture
from .._data.array import GaussianArray
from ..discriminant import GaussianDiscriminant
from ..mixture import GaussianMixtureRegressor
from ..preprocessing import GaussianDenoiser, GaussianImputer, GaussianScaler

KNOW_FEATURES = (GaussianImputer, GaussianDenoiser, GaussianDiscriminant, GaussianMixtureRegressor)
"""Steps with a distribution of the features."""


def true_values(pipeline: Pipeline) -> Mixture | None:
    """That of the first step that knows one, behind the reading steps; None if none does."""
    scalers: list[GaussianScaler] = []
    for _, step in pipeline.steps:
        if isinstance(step, GaussianScaler):
            scalers.insert(0, step)
        if isinstance(step, KNOW_FEATURES):
            weights, means, covariances = step._mixture()
            components = GaussianArray(means, cov=covariances)
            for scaler in scalers:
                names = getattr(scaler, "feature_names_in_", None)
                components = scaler.inverse_transform(components._named(names))
            return weights, components.means, components.covariances()
    return None
