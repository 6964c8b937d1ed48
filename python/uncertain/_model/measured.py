"""Whether a model takes error bars for measurement error."""

from __future__ import annotations

from sklearn.pipeline import Pipeline

from ..discriminant import GaussianDiscriminant
from ..mixture import GaussianMixtureRegressor
from ..preprocessing import GaussianDenoiser
from ..remeasured import RemeasuredClassifier, RemeasuredRegressor

BY_ITSELF = (
    *(GaussianDenoiser, GaussianDiscriminant, GaussianMixtureRegressor),
    *(RemeasuredClassifier, RemeasuredRegressor),
)


def is_measured(pipeline: Pipeline) -> bool:
    """Is each row one noisy reading of true values, for some step, and for every member of an average?"""
    if hasattr(pipeline[-1], "members_"):
        return all(is_measured(member) for member in pipeline[-1].members_)
    return any(isinstance(step, BY_ITSELF) for _, step in pipeline.steps)
