"""Conditional distributions of a feature, given the other features of its row, by the scale of its errors.

With true values z ~ sum_c pi_c N(mu_c, T_c) and readings x = z + K e, e ~ N(0, S_i), K = diag(k), the reading
of feature j given those of the others is a mixture of Gaussians. In component c, with o the other features, A
the inverse of their (T_c + K S_i K)_oo, and r = x - mu_c:

    mean      mu_j + (u + k_j w)'A r_o                      u = T_jo,  w = (S K)_jo
    variance  (T_jj - u'A u) - 2 k_j u'A w + k_j^2 (S_jj - w'A w)

All features share one inverse P of T_c + K S_i K: A is P_oo - P_oj P_jo / P_jj. A missing value is a reading
with so large an error that it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.typing import Booleans, Floats
from ..preprocessing import GaussianDenoiser

BLOCK = 1 << 22
"""Numbers of matrices at a time."""
UNKNOWN = 1e7
"""The variance of the error of a missing value, in units of the variance of the feature."""


class Conditional(NamedTuple):
    """The predictive mixture of one feature in every row; all arrays of shape (K, n) but `reading`, (n,)."""

    reading: Floats
    """x_j."""
    log_weights: Floats
    """log pi_c p(x_o | c), up to a number per row."""
    mean: Floats
    slope: Floats
    """The mean is mean + k slope."""
    spread: Floats
    cross: Floats
    noise: Floats
    """The variance is spread + k cross + k^2 noise."""

    def log_densities(self, log_a: float, k: float) -> Floats:
        """log p(x_j | x_o) of every row, with true values whose conditional variance is exp(log_a) spread."""
        mean, variance = self._of_components(log_a, k)
        off = self.reading - mean
        terms = self.log_weights - 0.5 * (np.log(2.0 * np.pi * variance) + off**2 / variance)
        if len(terms) == 1:
            return np.asarray(terms[0])
        top = terms.max(axis=0)
        return np.asarray(top + np.log(np.exp(terms - top).sum(axis=0)))

    def take(self, rows: Booleans) -> Conditional:
        """Conditionals of some rows."""
        return Conditional(*(part[..., rows] for part in self))

    @staticmethod
    def concat(parts: Sequence[Conditional]) -> Conditional:
        """Of all rows of all parts."""
        return Conditional(*(np.concatenate(each, axis=-1) for each in zip(*parts, strict=True)))

    def moments(self, log_a: float, k: float) -> tuple[Floats, Floats]:
        """Mean and variance of that law in every row."""
        weights = np.exp(self.log_weights - self.log_weights.max(axis=0))
        weights /= weights.sum(axis=0)
        means, variances = self._of_components(log_a, k)
        mean = (weights * means).sum(axis=0)
        return mean, (weights * (variances + (means - mean) ** 2)).sum(axis=0)

    def _of_components(self, log_a: float, k: float) -> tuple[Floats, Floats]:
        variance = np.exp(log_a) * self.spread + k * self.cross + k**2 * self.noise
        return self.mean + k * self.slope, np.maximum(variance, 1e-12 * self.spread)


def conditionals(denoiser: GaussianDenoiser, rows: GaussianRows, factors: Floats) -> list[Conditional]:
    """Of every feature, for all rows (a missing reading is NaN); `factors` are the k of the others."""
    gaussians = filled_gaussians(rows)
    missing = missing_mask(rows)
    n, d = gaussians.shape
    size = max(1, BLOCK // (d * d * len(denoiser.weights_)))
    blocks = [
        _of_block(denoiser, gaussians[start : start + size], missing[start : start + size], factors)
        for start in range(0, n, size)
    ]
    return [Conditional.concat(parts) for parts in zip(*blocks, strict=True)]


def _of_block(
    denoiser: GaussianDenoiser, rows: GaussianArray, missing: Booleans, factors: Floats
) -> list[Conditional]:
    T, mu = denoiser.covariances_, denoiser.means_  # (K, d, d), (K, d)
    d = rows.n_features
    S = rows.covariances()
    if missing.any():
        S = np.where(missing[:, :, None] | missing[:, None, :], 0.0, S)
        typical = UNKNOWN * np.einsum("c,cj->j", denoiser.weights_, np.diagonal(T, axis1=1, axis2=2))
        S[:, np.arange(d), np.arange(d)] += np.where(missing, typical / factors**2, 0.0)
    V = T + (factors[:, None] * S * factors)[:, None]  # (n, K, d, d)
    P = np.linalg.inv(V)
    r = np.where(missing[:, None], 0.0, rows.means[:, None] - mu)  # (n, K, d)
    Pr = np.einsum("ncij,ncj->nci", P, r)
    log_joint = np.log(denoiser.weights_) - 0.5 * (np.linalg.slogdet(V)[1] + (r * Pr).sum(axis=2))
    diagonal = rows.kind in ("zero", "isotropic", "diagonal")
    found = []
    for j in range(d):
        precision = P[:, :, j, j]
        # log p(x_o | c) = log p(x | c) - log p(x_j | x_o, c), and x_j - m = Pr_j / precision.
        log_weights = log_joint - 0.5 * (np.log(precision) - Pr[:, :, j] ** 2 / precision)
        s = S[:, j, j][:, None]
        if diagonal:
            mean, slope = rows.means[:, [j]] - Pr[:, :, j] / precision, np.zeros_like(precision)
            spread, cross, noise = 1.0 / precision - factors[j] ** 2 * s, slope, s + slope
        else:
            o = np.arange(d) != j
            A = P[:, :, o][:, :, :, o]
            A = A - P[:, :, o, j][..., None] * P[:, :, None, j, o] / precision[..., None, None]
            u, w, ro = T[:, j, o], (S[:, j] * factors)[:, None, o], r[:, :, o]
            Au, Aw = (A @ u[..., None])[..., 0], (A @ w[..., None])[..., 0]
            mean, slope = mu[:, j] + (Au * ro).sum(axis=2), (Aw * ro).sum(axis=2)
            spread, cross = T[:, j, j] - (u * Au).sum(axis=2), -2.0 * (u * Aw).sum(axis=2)
            noise = np.maximum(s - (w * Aw).sum(axis=2), 0.0)
        reading = np.where(missing[:, j], np.nan, rows.means[:, j])
        spread = np.maximum(spread, 1e-9 * T[:, j, j])
        parts = (log_weights, mean, slope, spread, cross, noise)
        found.append(Conditional(reading, *(np.ascontiguousarray(part.T) for part in parts)))
    return found
