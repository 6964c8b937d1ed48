"""`NormalMixtures`: a distribution of a number per row, and its scores.

Row i has the density p(y) = sum_k w_ik N(y; m_ik, s_ik^2). With A(m, s) = 2 s phi(m / s) + m (2 Phi(m / s) -
1), which is E |X| of X ~ N(m, s^2) (E. P. Grimit, T. Gneiting, V. J. Berrocal, N. A. Johnson, The continuous
ranked probability score for circular variables and its application to mesoscale forecast ensemble
verification, QJRMS 132, 2006, doi 10.1256/qj.05.235):

    CRPS        sum_k w_k A(y - m_k, s_k) - 1/2 sum_kl w_k w_l A(m_k - m_l, sqrt(s_k^2 + s_l^2))
    CDE loss    int p^2 dy - 2 p(y),    int p^2 dy = sum_kl w_k w_l N(m_k - m_l; 0, s_k^2 + s_l^2)

(R. Izbicki, A. B. Lee, Converting high-dimensional regression to high-dimensional conditional density
estimation, Electronic Journal of Statistics 11, 2017, doi 10.1214/17-EJS1302).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from .._data.numbers import refuse_where
from .._data.options import refuse_if
from .._data.typing import Floats, Keywords
from .._data.warn import warn
from ..exceptions import ParameterError, UncertainWarning

TINY = 1e-150
"""The least standard deviation: of an exact prediction."""
BLOCK = 4_000_000
"""Numbers that are computed with at a time."""
HALVINGS = 60
"""Of a bracket of ten standard deviations on either side, to the last bits of a quantile."""
POINTS = 200
"""Of a grid around all rows."""
OUTSIDE = 5e-4
"""Of each tail, what such a grid leaves out at most."""
NARROW = 0.01
"""A grid that leaves out more of a row is too narrow for it."""

Kernel: TypeAlias = Callable[[Floats, Floats], Floats]


class NormalMixtures(NamedTuple):
    """Of n rows, K components each: shape (n, K)."""

    weights: Floats
    """Of a row 1 together."""
    means: Floats
    stds: Floats

    @classmethod
    def normal(cls, mean: Floats, std: Floats) -> Self:
        """One component each."""
        return cls(np.ones((len(mean), 1)), mean[:, None], std[:, None])

    def widened(self, std: Floats) -> Self:
        """Mixtures of the same shapes and means, with these standard deviations."""
        mean = self.mean[:, None]
        own = np.sqrt(self.mean_square(self.mean))
        times = (std / np.maximum(own, TINY))[:, None]
        return self._replace(means=mean + times * (self.means - mean), stds=times * self.stds)

    @property
    def mean(self) -> Floats:
        """sum_k w_k m_k, (n,)."""
        return np.asarray((self.weights * self.means).sum(axis=1))

    def mean_square(self, off: Floats) -> Floats:
        """E (y - off)^2, (n,)."""
        return np.asarray((self.weights * (self.stds**2 + (self.means - off[:, None]) ** 2)).sum(axis=1))

    def density(self, grid: Floats) -> Floats:
        """p at every point of a grid, (n, G)."""
        return self._on(grid, lambda z, s: np.exp(-(z**2) / 2.0) / (np.sqrt(2.0 * np.pi) * s))

    def below(self, grid: Floats) -> Floats:
        """The distribution function at every point of a grid, (n, G)."""
        return self._on(grid, lambda z, s: ndtr(z))

    def _on(self, grid: Floats, kernel: Kernel) -> Floats:
        found: Floats = np.empty((len(self.weights), len(grid)))
        each = max(1, BLOCK // (len(grid) * self.weights.shape[1]))
        for start in range(0, len(found), each):
            part = slice(start, start + each)
            s = np.maximum(self.stds[part], TINY)[:, :, None]
            z = (grid - self.means[part][:, :, None]) / s
            found[part] = (self.weights[part][:, :, None] * kernel(z, s)).sum(axis=1)
        return np.asarray(found)

    def pit(self, y: Floats) -> Floats:
        """The distribution function at the number of each row: uniform if the distributions are right."""
        z = (y[:, None] - self.means) / np.maximum(self.stds, TINY)
        return np.asarray((self.weights * ndtr(z)).sum(axis=1))

    def quantiles(self, levels: Floats) -> Floats:
        """(n, q); infinite for 0 and 1."""
        if self.weights.shape[1] == 1:
            return np.asarray(self.means + self.stds * ndtri(levels))
        z = ndtri(levels)
        each = self.means[:, :, None] + self.stds[:, :, None] * z
        low, high = each.min(axis=1), each.max(axis=1)  # where all components have less, and all have more
        known = np.isfinite(low)
        for _ in range(HALVINGS):
            middle = np.where(known, (low + high) / 2.0, low)
            z = (middle[:, None, :] - self.means[:, :, None]) / np.maximum(self.stds, TINY)[:, :, None]
            less = (self.weights[:, :, None] * ndtr(z)).sum(axis=1) < levels
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        return np.asarray(np.where(known, (low + high) / 2.0, low))

    def grid(self) -> Floats:
        """Evenly spaced points that hold nearly all of every row."""
        if not len(self.weights):
            return np.linspace(0.0, 1.0, POINTS)
        ends = self.quantiles(np.array([OUTSIDE, 1.0 - OUTSIDE]))
        low, high = float(ends.min()), float(ends.max())
        least = max(abs(low), abs(high), 1.0) * 1e-9  # of exact predictions that are all the same
        return np.linspace(low, max(high, low + least), POINTS)

    def warn_of_narrow(self, grid: Floats) -> None:
        """Say which rows a grid does not hold."""
        low, high = self.below(grid[[0, -1]]).T
        outside = low + 1.0 - high
        if (count := int((outside > NARROW).sum())) > 0:
            worst = int(outside.argmax())
            warn(
                f"grid: {grid[0]:g} to {grid[-1]:g} leaves out more than 1 % of the density of {count:,} of "
                f"{len(outside):,} rows ({100 * outside[worst]:.0f} % of row {worst}). Widen it, or pass no "
                "grid",
                UncertainWarning,
            )

    def crps(self, y: Floats) -> Floats:
        """Of each row."""
        near = (self.weights * distance(y[:, None] - self.means, self.stds)).sum(axis=1)
        return np.asarray(near - self.pairs(distance, self) / 2.0)

    def cde_loss(self, y: Floats) -> Floats:
        """Of each row."""
        at = (self.weights * _normal(y[:, None] - self.means, self.stds)).sum(axis=1)
        return np.asarray(self.pairs(_normal, self) - 2.0 * at)

    def pairs(self, of: Kernel, other: Self) -> Floats:
        """sum_kl w_k w_l of(m_k - m_l, sqrt(s_k^2 + s_l^2)), k of the one and l of the other."""
        total = np.zeros(len(self.weights))
        for w, m, s in zip(self.weights.T, self.means.T, self.stds.T, strict=True):
            terms = of(m[:, None] - other.means, np.hypot(s[:, None], other.stds))
            total += w * (other.weights * terms).sum(axis=1)
        return total


def distance(m: Floats, s: Floats) -> Floats:
    s = np.maximum(s, TINY)
    z = m / s
    return np.asarray(2.0 * s * np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi) + m * (2.0 * ndtr(z) - 1.0))


def _normal(m: Floats, s: Floats) -> Floats:
    s = np.maximum(s, TINY)
    return np.asarray(np.exp(-((m / s) ** 2) / 2.0) / (np.sqrt(2.0 * np.pi) * s))


def checked_grid(grid: ArrayLike) -> Floats:
    """Rising finite numbers; ParameterError for what is none."""
    points = _numbers(grid, "grid", "rising numbers, such as numpy.linspace(0, 3, 301)")
    wrong = points.ndim != 1 or len(points) < 2
    refuse_if(wrong, f"grid: expected two or more numbers in a row, got an array of shape {points.shape}")
    rule: Keywords = {"axes": ("point",), "error": ParameterError}
    refuse_where(~np.isfinite(points), points, "grid", "it must be finite", **rule)
    falls = np.diff(points, prepend=-np.inf) <= 0.0
    refuse_where(falls, points, "grid", "the points must rise: sort them, and leave out equal ones", **rule)
    return points


def checked_levels(q: ArrayLike) -> tuple[Floats, bool]:
    """Shares between 0 and 1, and whether it is a single one."""
    levels = _numbers(q, "q", "a share between 0 and 1, or a list of them")
    wrong = levels.ndim > 1 or not levels.size
    refuse_if(wrong, f"q: expected a number or a list of them, got an array of shape {levels.shape}")
    outside = ~((levels > 0.0) & (levels < 1.0))
    rule = "it must be between 0 and 1, such as 0.5"
    refuse_where(outside.ravel(), levels.ravel(), "q", rule, axes=("level",), error=ParameterError)
    return levels.ravel(), levels.ndim == 0


def _numbers(given: ArrayLike, name: str, wanted: str) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} = {given!r:.60}: must be {wanted}") from None
