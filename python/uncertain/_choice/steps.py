"""What stands between the rows and an estimator: what fills gaps, takes off noise, and scales."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import get_tags

from .._estimators.discriminant import GaussianDiscriminant
from ..exceptions import ParameterError
from ..laws.law import CoefficientLaw, Law
from ..preprocessing import (
    GaussianCollapser,
    GaussianDenoiser,
    GaussianImputer,
    GaussianLogScaler,
    GaussianScaler,
)

Softening: TypeAlias = tuple[float, ...]
"""Of each feature, see `GaussianLogScaler`."""


def takes_gaps(estimator: BaseEstimator, *, measured: bool) -> bool:
    """May the rows have gaps? `measured`: behind a denoiser, for which a gap is infinite noise."""
    return measured or bool(get_tags(estimator).input_tags.allow_nan)


def takes_shapes(law: Law) -> bool:
    """May its rows be mixtures? Not those of a line with outliers, of factors, and of a functional curve."""
    factors = getattr(law, "error_scale", None) in ("features", "both")
    return not (factors or getattr(law, "_has_options", False)) and (
        getattr(law, "truth", "structural") == "structural"
    )


def takes_limits(estimator: BaseEstimator, *, measured: bool) -> bool:
    """May features be limits? They are truncated Gaussians for EM, which the steps with a mixture do."""
    return measured or isinstance(estimator, (GaussianDiscriminant, CoefficientLaw))


def _limits_error(estimator: BaseEstimator, limits: Mapping[str, str]) -> ParameterError:
    """The method cannot use columns of limits; and what to do."""
    method = "mixture" if is_regressor(estimator) else "discriminant"
    feature, column = next(iter(limits.items()))
    return ParameterError(
        f'limits={{{feature!r}: {column!r}}}: this method takes no limits. Pass method="{method}", or '
        'meaning="measurement"'
    )


def steps_with(
    estimator: BaseEstimator,
    *,
    measured: bool,
    scale: bool,
    impute: bool,
    softening: Softening | None,
    limits: Mapping[str, str] | None = None,
) -> list[tuple[str, BaseEstimator]]:
    """The estimator behind the steps that it needs; `measured`: with one that takes off the noise.

    `softening`: of the features that are taken as logarithms, and 0 for the others. ParameterError for
    columns of `limits` that the method cannot use.
    """
    if limits and not takes_limits(estimator, measured=measured):
        raise _limits_error(estimator, limits)
    steps: list[tuple[str, BaseEstimator]] = []
    if softening is not None:
        steps.append(("log", GaussianLogScaler(softening=softening)))
    if impute and not takes_gaps(estimator, measured=measured):
        steps.append(("impute", GaussianImputer(random_state=0)))
    if measured:
        steps.append(("denoise", GaussianDenoiser(random_state=0)))
    if scale and not isinstance(estimator, Law):  # which is in the units of the rows
        # The spread of the true values is that of their posterior means and what is left of the noise.
        steps.append(("scale", GaussianScaler(spread="total" if measured else "means")))
    if measured and is_regressor(estimator):
        # A target belongs to the one true value, and averages over its posterior shrink coefficients again.
        steps.append(("collapse", GaussianCollapser()))
    return [*steps, ("regress" if is_regressor(estimator) else "classify", estimator)]
