"""Intervals of a curve's parameters by the profile of its likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._data.typing import Floats

MOST = 30
"""Fits for one end of an interval."""
CLOSE = 1e-3
"""So near, in units of the quantile, an end is found."""


def profile_end(
    distance: Callable[[float], float], at: float, std: float, sign: float, quantile: float, bound: float
) -> float:
    """The c beyond `at` where `distance(c)` is the quantile; infinite where there is none up to the bound.

    `distance` is the root of twice the fall of the log-likelihood: nearly |c - at| / std, so that secants
    find the end in a few fits.
    """
    low, high = 0.0, np.inf
    step, last = quantile * std, (0.0, 0.0)
    room = abs(bound - at)
    for _ in range(MOST):
        if step >= room:
            if distance(bound) < quantile:
                return bound
            high = min(high, room)
            step = (low + high) / 2
        found = distance(at + sign * step)
        if not np.isfinite(found):
            high = step
            step = (low + high) / 2
            continue
        if abs(found - quantile) < CLOSE * quantile:
            return at + sign * step
        if found < quantile:
            low = step
        else:
            high = step
        slope = (found - last[1]) / (step - last[0]) if step != last[0] else 0.0
        last = (step, found)
        ahead = step + (quantile - found) / slope if slope > 0 else np.inf
        step = ahead if low < ahead < high else (2 * step if np.isinf(high) else (low + high) / 2)
        if step > 1e3 * quantile * std:
            return sign * np.inf
    return at + sign * step


def ends_of_all(
    distances: Callable[[int], Callable[[float], float]],
    params: Floats,
    std: Floats,
    quantile: float,
    bounds: tuple[list[float], list[float]],
) -> Floats:
    """(p, 2): both ends of every parameter; NaN where it has no standard error."""
    ends = np.full((len(params), 2), np.nan)
    for j in np.flatnonzero(std > 0):
        distance = distances(int(j))
        for side, sign in enumerate((-1.0, 1.0)):
            ends[j, side] = profile_end(distance, params[j], std[j], sign, quantile, bounds[side][j])
    return ends
