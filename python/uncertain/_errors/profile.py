"""Factor of the error bars of one feature: maximum of a held-out profile.

Rows that a denoiser has not seen have the predictive law of feature j given the others,

    x_ij ~ sum_c w_ic N(m_ic, a v_ic + k^2 s_ij^2)

where v_ic is the variance of the true value and s_ij the stated error. Both k and a, which takes up what k
was wrong about when the denoiser was fitted, are free; k alone is of interest: L(k) = max_a sum_i log p_i(a,
k).

Interval: {k: 2 q (max L - L(k)) <= chi2_1(level)}. With Gaussian rows q = 1. With other tails, and with rows
that belong together, the variance G of the efficient score is not the curvature H, and q = H / G restores the
level (Varin, Reid, Firth, An overview of composite likelihood methods, Statistica Sinica 21, 2011, section
2.3). It is not let above 1: an interval is never narrower than that of Gaussian rows.

The predictive law of a feature comes from a denoiser. With true values z ~ sum_c pi_c N(mu_c, T_c) and
readings x = z + K e, e ~ N(0, S_i), K = diag(k), the reading of feature j given those of the others is a
mixture of Gaussians. In component c, with o the other features, A the inverse of their (T_c + K S_i K)_oo,
and r = x - mu_c:

    mean      mu_j + (u + k_j w)'A r_o                      u = T_jo,  w = (S K)_jo
    variance  (T_jj - u'A u) - 2 k_j u'A w + k_j^2 (S_jj - w'A w)

All features share one inverse P of T_c + K S_i K: A is P_oo - P_oj P_jo / P_jj. A missing value is a reading
with so large an error that it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.typing import Booleans, Floats, Ints
from ..preprocessing import GaussianDenoiser

BLOCK = 1 << 22
"""Numbers of matrices at a time."""
UNKNOWN = 1e7
"""The variance of the error of a missing value, in units of the variance of the feature."""
LARGEST = 30.0
"""Beyond this factor nothing is looked for."""
GRID = np.concatenate([[0.0], np.geomspace(0.03, LARGEST, 16)])
STEP = 1e-2
BINS = 5
"""Of rows by their error bars, in which residuals are looked at."""


class Conditional(NamedTuple):
    """Predictive mixture of one feature: arrays (K, n), `reading` (n,)."""

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
        """log p(x_j | x_o) of every row; exp(log_a) scales the variance."""
        mean, variance = self._of_components(log_a, k)
        off = self.reading - mean
        terms = self.log_weights - 0.5 * (np.log(2.0 * np.pi * variance) + off**2 / variance)
        if len(terms) == 1:
            return np.asarray(terms[0])
        top = terms.max(axis=0)
        return np.asarray(top + np.log(np.exp(terms - top).sum(axis=0)))

    def take(self, rows: Booleans) -> Conditional:
        return Conditional(*(part[..., rows] for part in self))

    @staticmethod
    def concat(parts: Sequence[Conditional]) -> Conditional:
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
    """Profile of every feature; `factors`: k of the others, NaN: missing."""
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


class Interval(NamedTuple):
    """Ends of an interval of k; `upper` is infinite where the rows set no limit."""

    lower: float
    upper: float


class Profile:
    """L(k) of one feature over rows, `weights` of which sum up."""

    def __init__(self, rows: Conditional, weights: Floats | None, clusters: Ints | None) -> None:
        self.rows, self.clusters = rows, clusters
        self.weights = np.ones(len(rows.reading)) if weights is None else weights
        values = [self.at(k)[0] for k in GRID]
        best = int(np.argmax(values))
        ends = (GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)])
        k, top = _maximum(lambda k: self.at(k)[0], ends, 1e-4 * ends[1])
        self.factor = k if top >= values[best] else float(GRID[best])
        self.top = max(top, values[best])
        self.log_a = self.at(self.factor)[1]

    def at(self, k: float) -> tuple[float, float]:
        """L(k), and the log a that it is at."""
        log_densities = self.rows.log_densities
        log_a, top = _maximum(lambda a: float(self.weights @ log_densities(a, k)), (-9.0, 5.0), 1e-3)
        return top, log_a

    def adjustment(self) -> float:
        """q = H / G at the maximum, by differences, with k^2 in place of k; at most 1.

        Where the maximum is at 0, at half the upper end of the interval that q = 1 makes: there k^2 matters.
        """
        k2 = max(self.factor, 0.5 * min(self.interval(0.68, 1.0).upper, LARGEST)) ** 2
        a, h, step = self.at(np.sqrt(k2))[1], STEP, STEP * k2
        w = self.weights

        def f(i: int, j: int) -> Floats:
            return self.rows.log_densities(a + i * h, float(np.sqrt(k2 + j * step)))

        center, up_a, down_a, up_k, down_k = f(0, 0), f(1, 0), f(-1, 0), f(0, 1), f(0, -1)
        by_a, by_k = (up_a - down_a) / (2 * h), (up_k - down_k) / (2 * step)
        h_aa = -float(w @ (up_a - 2 * center + down_a)) / h**2
        h_kk = -float(w @ (up_k - 2 * center + down_k)) / step**2
        h_ak = -float(w @ (f(1, 1) - f(1, -1) - f(-1, 1) + f(-1, -1))) / (4 * h * step)
        if h_aa <= 0.0:
            return 1.0
        curvature = h_kk - h_ak**2 / h_aa
        scores = w * (by_k - h_ak / h_aa * by_a)
        if self.clusters is not None:
            scores = np.bincount(self.clusters, weights=scores).astype(np.float64)
        variance = float(scores @ scores)
        return min(curvature / variance, 1.0) if curvature > 0.0 and variance > 0.0 else 1.0

    def misfit(self, std: Floats) -> float:
        """Chance of bins of similar error bars being off this far.

        In each of `BINS` bins the mean of the standardised residuals and of their squares are 0 and 1; two
        numbers have been fitted.
        """
        mean, variance = self.rows.moments(self.log_a, self.factor)
        off = (self.rows.reading - mean) / np.sqrt(variance)
        bins = np.array_split(np.argsort(std, kind="stable"), BINS)
        squares = 0.0
        for values in (off, off**2 - 1.0):
            parts = [values[rows] for rows in bins]
            squares += sum(len(part) * part.mean() ** 2 / part.var() for part in parts)
        return float(chi2.sf(squares, 2 * BINS - 2))

    def interval(self, level: float, adjustment: float) -> Interval:
        """Factors that are not refuted at this level."""
        limit = self.top - 0.5 * float(chi2.ppf(level, 1)) / adjustment

        def above(k: float) -> float:
            return self.at(k)[0] - limit

        k = self.factor
        lower = 0.0 if k == 0.0 or above(0.0) >= 0.0 else float(brentq(above, 0.0, k, xtol=1e-4 * k))
        if above(LARGEST) >= 0.0:
            return Interval(lower, float("inf"))
        return Interval(lower, float(brentq(above, k, LARGEST, xtol=1e-4 * max(k, 1e-2))))


def _maximum(f: Callable[[float], float], ends: tuple[float, float], tolerance: float) -> tuple[float, float]:
    """Place and value of the largest f between `ends`."""
    options = {"xatol": tolerance}
    found = minimize_scalar(lambda x: -f(x), bounds=ends, method="bounded", options=options)
    return float(found.x), -float(found.fun)
