"""Grids of densities and levels of quantiles, checked before any work."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._base.normal_mixtures import NormalMixtures
from .._data.options import refuse_if
from .._data.typing import Floats
from .._data.warn import warn
from ..exceptions import ParameterError, UncertainWarning

POINTS = 200
"""Of a grid that nobody gave."""
OUTSIDE = 5e-4
"""Of each tail, what such a grid leaves out at most."""
NARROW = 0.01
"""A grid that leaves out more of a row is too narrow for it."""


def checked_grid(grid: ArrayLike) -> Floats:
    """Rising finite numbers; ParameterError for what is none."""
    points = _numbers(grid, "grid", "rising numbers, such as numpy.linspace(0, 3, 301)")
    wrong = points.ndim != 1 or len(points) < 2
    refuse_if(wrong, f"grid: expected two or more numbers in a row, got an array of shape {points.shape}")
    bad = np.flatnonzero(~np.isfinite(points))
    if bad.size:
        raise ParameterError(f"grid: point {bad[0]} is {points[bad[0]]}; it must be finite")
    falls = np.flatnonzero(np.diff(points) <= 0.0)
    if falls.size:
        k = int(falls[0]) + 1
        raise ParameterError(
            f"grid: point {k} is {points[k]:g} after {points[k - 1]:g}; the points must rise: sort them, and "
            "leave out equal ones"
        )
    return points


def checked_levels(q: ArrayLike) -> tuple[Floats, bool]:
    """Shares between 0 and 1, and whether it is a single one."""
    levels = _numbers(q, "q", "a share between 0 and 1, or a list of them")
    flat = levels.ravel()
    wrong = levels.ndim > 1 or not flat.size
    refuse_if(wrong, f"q: expected a number or a list of them, got an array of shape {levels.shape}")
    bad = np.flatnonzero(~((flat > 0.0) & (flat < 1.0)))
    if bad.size:
        raise ParameterError(f"q = {flat[bad[0]]:g}: must be a share between 0 and 1, such as 0.5")
    return flat, levels.ndim == 0


def _numbers(given: ArrayLike, name: str, wanted: str) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} = {given!r:.60}: must be {wanted}") from None


def grid_around(laws: NormalMixtures) -> Floats:
    """Evenly spaced points that hold nearly all of every row."""
    if not len(laws.weights):
        return np.linspace(0.0, 1.0, POINTS)
    ends = laws.quantiles(np.array([OUTSIDE, 1.0 - OUTSIDE]))
    low, high = float(ends.min()), float(ends.max())
    least = max(abs(low), abs(high), 1.0) * 1e-9  # of exact predictions that are all the same
    return np.linspace(low, max(high, low + least), POINTS)


def warn_of_narrow(laws: NormalMixtures, grid: Floats) -> None:
    """Say which rows a grid does not hold."""
    low, high = laws.below(grid[[0, -1]]).T
    outside = low + 1.0 - high
    rows = np.flatnonzero(outside > NARROW)
    if rows.size:
        worst = int(outside.argmax())
        warn(
            f"grid: {grid[0]:g} to {grid[-1]:g} leaves out more than 1 % of the density of {rows.size:,} of "
            f"{len(outside):,} rows ({100 * outside[worst]:.0f} % of row {worst}). Widen it, or pass no grid",
            UncertainWarning,
        )
