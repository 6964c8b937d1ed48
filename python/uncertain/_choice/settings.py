"""The arguments of `uncertain.fit` that are about the choice, checked before any work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real

from sklearn.utils import check_random_state

from .._data.typing import Keywords, RandomState
from ..exceptions import ParameterError
from .methods import METHODS

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


def settings_of_choice(params: Mapping[str, object]) -> Keywords:
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


def re_measured_in(noise: tuple[float, float], params: Mapping[str, object]) -> Keywords:
    """Parameters of a re-measured learner for a range of errors, which a new catalogue shares."""
    if "factors" in params:
        raise ParameterError(f"noise={noise!r} and factors={params['factors']!r}: say one of them")
    return {"per_feature": 0.0} | dict(params) | {"factors": noise}


def to_seed(random_state: RandomState) -> int:
    """An integer that stands for it."""
    if isinstance(random_state, int):
        return random_state
    return int(check_random_state(random_state).randint(2**31 - 1))
