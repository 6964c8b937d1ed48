"""`NormalMixtures`: a distribution of a number for every row, and what it is worth once the number is known.

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
from scipy.special import ndtr, ndtri

from .._data.typing import Floats

TINY = 1e-150
"""The least standard deviation: of an exact prediction."""
BLOCK = 4_000_000
"""Numbers that are computed with at a time."""
HALVINGS = 60
"""Of a bracket of ten standard deviations on either side, to the last bits of a quantile."""


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

    def crps(self, y: Floats) -> Floats:
        """Of each row."""
        near = (self.weights * _mean_absolute(y[:, None] - self.means, self.stds)).sum(axis=1)
        return np.asarray(near - self._pairs(_mean_absolute) / 2.0)

    def cde_loss(self, y: Floats) -> Floats:
        """Of each row."""
        at = (self.weights * _normal(y[:, None] - self.means, self.stds)).sum(axis=1)
        return np.asarray(self._pairs(_normal) - 2.0 * at)

    def _pairs(self, of: Kernel) -> Floats:
        """sum_kl w_k w_l of(m_k - m_l, sqrt(s_k^2 + s_l^2))."""
        total = np.zeros(len(self.weights))
        for w, m, s in zip(self.weights.T, self.means.T, self.stds.T, strict=True):
            terms = of(m[:, None] - self.means, np.hypot(s[:, None], self.stds))
            total += w * (self.weights * terms).sum(axis=1)
        return total


def _mean_absolute(m: Floats, s: Floats) -> Floats:
    s = np.maximum(s, TINY)
    z = m / s
    return np.asarray(2.0 * s * np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi) + m * (2.0 * ndtr(z) - 1.0))


def _normal(m: Floats, s: Floats) -> Floats:
    s = np.maximum(s, TINY)
    return np.asarray(np.exp(-((m / s) ** 2) / 2.0) / (np.sqrt(2.0 * np.pi) * s))
