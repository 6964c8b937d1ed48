"""The factor of one feature's error bars: the maximum of a profile likelihood over held-out rows.

Rows that a denoiser has not seen have the predictive law of feature j given the others,

    x_ij ~ sum_c w_ic N(m_ic, a v_ic + k^2 s_ij^2)

where v_ic is the variance of the true value and s_ij the stated error. Both k and a, which takes up what k
was wrong about when the denoiser was fitted, are free; k alone is of interest: L(k) = max_a sum_i log p_i(a,
k).

Interval: {k: 2 q (max L - L(k)) <= chi2_1(level)}. With Gaussian rows q = 1. With other tails, and with rows
that belong together, the variance G of the efficient score is not the curvature H, and q = H / G restores the
level (Varin, Reid, Firth, An overview of composite likelihood methods, Statistica Sinica 21, 2011, section
2.3). It is not let above 1: an interval is never narrower than that of Gaussian rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2

from .._data.typing import Floats, Ints
from .conditionals import Conditional

LARGEST = 30.0
"""Beyond this factor nothing is looked for."""
GRID = np.concatenate([[0.0], np.geomspace(0.03, LARGEST, 16)])
STEP = 1e-2
BINS = 5
"""Of rows by their error bars, in which residuals are looked at."""


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
        """How likely bins of rows with alike error bars are off as much as they are, were the model right.

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
