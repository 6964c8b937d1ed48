"""The methods of `uncertain.fit` (a new one is one row here), and its arguments about the choice, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real

from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from .._data.options import did_you_mean
from .._data.typing import Keywords, RandomState
from .._estimators.discriminant import GaussianDiscriminant
from .._estimators.gsu import GSUClassifier, GSURegressor
from .._estimators.kernel_svm import ProbabilisticKernelSVC, ProbabilisticKernelSVR
from .._estimators.remeasured import RemeasuredClassifier, RemeasuredRegressor
from .._estimators.robust import MinimaxProbabilityClassifier, RobustSVC
from ..exceptions import ParameterError
from ..huber import AdaptiveHuberClassifier, AdaptiveHuberRegressor
from ..laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw
from ..laws.linear import GaussianMixtureRegressor


@dataclass(frozen=True)
class Method:
    """The estimators behind the name of a method."""

    classifier: type[BaseEstimator]
    regressor: type[BaseEstimator] | None = None
    fixed: Keywords = field(default_factory=dict)
    """Parameters that make the method what it is."""
    defaults: Keywords = field(default_factory=dict)
    """Parameters whose default is another one here."""
    of_numbers: Keywords = field(default_factory=dict)
    """The same for a target of numbers."""
    partial: bool = False
    """Whether it learns from rows without a target."""
    measurement: bool = False
    """Whether it takes error bars for measurement error by itself, without a step in front that does."""
    asked_by: Mapping[str, type[BaseEstimator]] = field(default_factory=dict)
    """Estimators of numbers that a parameter of their own asks for."""


METHODS = {
    "gsu": Method(GSUClassifier, GSURegressor),
    "kernel": Method(ProbabilisticKernelSVC, ProbabilisticKernelSVR, defaults={"sigma": "median"}),
    # The paper's labels are -1 and 1; numbers have a level, which no kernel of scaled features holds.
    "huber": Method(
        AdaptiveHuberClassifier, AdaptiveHuberRegressor, partial=True, of_numbers={"fit_intercept": True}
    ),
    "discriminant": Method(GaussianDiscriminant, measurement=True),
    "minimax": Method(MinimaxProbabilityClassifier),
    "mixture": Method(GaussianDiscriminant, GaussianMixtureRegressor, measurement=True),
    "law": Method(
        GeneralizedLinearLaw,
        LinearLaw,
        measurement=True,
        asked_by={"family": GeneralizedLinearLaw, "curve": CurveRegressor},
    ),
    **{
        name: Method(RobustSVC, fixed={"method": name}) for name in ("usvc", "tsvc", "ausvc", "mpsvc", "psvm")
    },
    "remeasured": Method(RemeasuredClassifier, RemeasuredRegressor, measurement=True),
}

EVERYWHERE = {"probability": True}
"""Defaults of every estimator that has these parameters."""
IN_UNITS: dict[type[BaseEstimator], tuple[str, ...]] = {
    GSURegressor: ("delta", "epsilon"),
    ProbabilisticKernelSVR: ("C", "epsilon"),
    AdaptiveHuberRegressor: ("delta",),
}
"""Parameters in units of the target; their defaults are those of a target of scale 1."""

AUTO = "auto"
"""The method that is a choice among others."""


def make_estimator(
    method: str, *, regression: bool, params: Keywords, random_state: RandomState = 0, scale: float = 1.0
) -> BaseEstimator:
    """The unfitted estimator, its parameters checked by name; `scale`: of the target (`target_scale`)."""
    entry = METHODS[method]
    asked_for = [entry.asked_by[name] for name in params if name in entry.asked_by]
    kind = [*asked_for, entry.regressor][0] if regression else entry.classifier
    if kind is None:
        able = ", ".join(f'"{name}"' for name, m in METHODS.items() if m.regressor)
        raise ParameterError(f'method="{method}" is for classes. For numbers pass one of {able}')
    known = set(kind._get_param_names())
    valid = sorted(known - set(entry.fixed))
    of_classes = set(entry.classifier._get_param_names()) - known
    for name, value in params.items():
        if regression and entry.partial and name in of_classes:
            raise ParameterError(f"{name}= is for classes. Write missing numbers as null or NaN")
        if name not in valid:
            raise ParameterError(
                f"unknown parameter {name!r}; valid ones are {', '.join(valid)} ({kind.__name__})"
                f"{did_you_mean(name, valid, '{}=')}"
            )
        if name == "kernel" and value == "precomputed":
            raise ParameterError(
                "kernel='precomputed': a table has no kernel matrix. "
                f"Use {kind.__name__}(kernel='precomputed')"
            )
    if isinstance(params.get("curve"), CurveRegressor):
        given = {name: value for name, value in params.items() if name != "curve"}
        return clone(params["curve"]).set_params(**given)
    if kind is CurveRegressor and "p0" not in params:
        raise ParameterError(
            "curve= needs starting values of its parameters. Pass them as a list or by name: "
            "p0={'a': 1.0, 'b': 0.5}"
        )
    usual = EVERYWHERE | {"random_state": random_state}
    everywhere = {name: value for name, value in usual.items() if name in known}
    of_numbers = dict(entry.of_numbers) if regression else {}
    of_numbers |= {name: getattr(kind, name) * scale for name in IN_UNITS.get(kind, ())}
    if kind is GSURegressor and params.get("loss") == "epsilon_insensitive":
        of_numbers["alpha"] = float(GSURegressor.alpha) / scale  # residuals beside a square of coefficients
    return kind(**everywhere | entry.defaults | of_numbers | entry.fixed | params)


ALLOWED = ("estimator", "n_jobs", "verbose", "callback")
"""Parameters that make sense without a method."""


def checked_noise(noise: object) -> tuple[float, float]:
    """The range of errors as two floats; ParameterError for what is none."""
    pair = isinstance(noise, (tuple, list)) and len(noise) == 2
    if not pair or not all(isinstance(f, Real) and not isinstance(f, bool) for f in noise):  # type: ignore[attr-defined]
        raise ParameterError(f"noise={noise!r}: must be the smallest and the largest factor, such as (1, 4)")
    low, high = (float(f) for f in noise)  # type: ignore[attr-defined]
    if not 0.0 < low <= high < math.inf:
        raise ParameterError(f"noise={noise!r}: must be two factors with 0 < smallest <= largest")
    return low, high


def settings_of(params: Mapping[str, object]) -> Keywords:
    """Parameters for all candidates; ParameterError for those that belong to one method."""
    for name in params:
        if name not in ALLOWED:
            able = [m for m, entry in METHODS.items() if name in entry.classifier._get_param_names()]
            raise ParameterError(
                f'unknown parameter {name!r}: method="auto" chooses the parameters of its candidates; to set '
                f'one, name the method, such as method="{[*able, "law"][0]}"'
            )
    n_jobs = params.get("n_jobs")
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise ParameterError(f"n_jobs = {n_jobs!r}: must be an integer or None")
    return dict(params)


def factors_of(noise: tuple[float, float], params: Mapping[str, object]) -> Keywords:
    """Parameters of a re-measured learner for a range of errors, which a new catalogue shares."""
    if "factors" in params:
        raise ParameterError(f"noise={noise!r} and factors={params['factors']!r}: pass one of them")
    return {"per_feature": 0.0} | dict(params) | {"factors": noise}


def seed_of(random_state: RandomState) -> int:
    """An integer that stands for it."""
    if isinstance(random_state, int):
        return random_state
    return int(check_random_state(random_state).randint(2**31 - 1))
