"""The distribution of a predicted number: what the row's own error bars make uncertain."""

from __future__ import annotations

from sklearn.pipeline import Pipeline

from .._base.normal_mixtures import NormalMixtures
from .._data.incomplete import GaussianRows
from .._data.typing import Floats
from ..laws.linear import GaussianMixtureRegressor
from ..preprocessing import GaussianCollapser, GaussianDenoiser


def has_density(pipeline: Pipeline) -> bool:
    """Does the last step say the whole deviation of a target by itself?"""
    last = pipeline[-1]
    return isinstance(last, GaussianMixtureRegressor) or getattr(last, "_residuals", None) is not None


def moved(pipeline: Pipeline, rows: GaussianRows) -> GaussianRows:
    """The rows as they come to the last step."""
    for _, step in pipeline.steps[:-1]:
        rows = step.transform(rows)
    return rows


def answer_from_density(pipeline: Pipeline, rows: GaussianRows) -> tuple[Floats, Floats, Floats]:
    """Of such a step: the prediction, its whole deviation, and the part that errors make."""
    found: tuple[Floats, Floats, Floats] = pipeline[-1]._distribution(moved(pipeline, rows))
    return found


def density_of_rows(pipeline: Pipeline, rows: GaussianRows) -> NormalMixtures:
    """Of such a step: the density of each row's true target."""
    return NormalMixtures(*pipeline[-1].predict_mixture(moved(pipeline, rows)))


def from_errors(pipeline: Pipeline, rows: GaussianRows) -> tuple[Floats, Floats]:
    """The prediction, and its standard deviation under each row's own error bars.

    Where a `GaussianCollapser` takes posteriors N(m_i, C_i) of true values down to m_i for a regression, C_i
    is still what the reading leaves open: the prediction is that at m_i, and the deviation sqrt(w'C_i w). So
    the deviation is asked of rows that have not been collapsed.
    """
    mean, std = pipeline[-1].predict(in_front(pipeline, rows), return_std=True)
    collapsed = any(isinstance(step, GaussianDenoiser) for _, step in pipeline.steps)
    return (pipeline.predict(rows) if collapsed else mean), std


def in_front(pipeline: Pipeline, rows: GaussianRows) -> GaussianRows:
    """The rows as they come to the last step, before a `GaussianCollapser` drops covariances of posteriors.

    One without a denoiser in front drops error bars, which then do not count.
    """
    denoised = False
    for _, step in pipeline.steps[:-1]:
        denoised = denoised or isinstance(step, GaussianDenoiser)
        if not (denoised and isinstance(step, GaussianCollapser)):
            rows = step.transform(rows)
    return rows
