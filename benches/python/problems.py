"""Data from a fixed seed, and SVM-GSU's objective written in NumPy for SciPy's optimisers."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Rows N(x_i, S_i) with labels -1 and +1; S_i = diag(spread_i^2), or the matrix spread_i."""

    name: str
    means: Array
    spread: Array
    y: Array
    alpha: float

    @property
    def keywords(self) -> dict[str, Array]:
        """The spread as an argument of GaussianArray."""
        return {"std" if self.spread.ndim == 2 else "cov": self.spread}


def diagonal(n: int, d: int, alpha: float = 1e-3, seed: int = 0) -> Problem:
    """Overlapping classes; standard deviations that differ by row and by feature."""
    rng = np.random.default_rng(seed)
    means, y = _classes(rng, n, d)
    std = rng.uniform(0.2, 1.0, size=(n, 1)) * rng.uniform(0.2, 1.0, size=(n, d))
    return Problem(f"diagonal {n:,} x {d}", means, std, y, alpha)


def full(n: int, d: int, alpha: float = 1e-3, seed: int = 0) -> Problem:
    """The same with S_i = F_i F_i' / d, F_i a random d x d matrix scaled by row."""
    rng = np.random.default_rng(seed)
    means, y = _classes(rng, n, d)
    factor = rng.uniform(0.2, 1.0, size=(n, 1, 1)) * rng.normal(size=(n, d, d))
    cov = np.matmul(factor, factor.transpose(0, 2, 1)) / d
    return Problem(f"full {n:,} x {d}", means, cov, y, alpha)


def _classes(rng: np.random.Generator, n: int, d: int) -> tuple[Array, Array]:
    """Features whose neighbours correlate by 0.7, as columns of real tables do; classes one spread apart."""
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    direction = rng.normal(size=d) / np.sqrt(d)
    root = np.linalg.cholesky(0.7 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))))
    return np.ascontiguousarray(rng.normal(size=(n, d)) @ root.T + y[:, None] * direction), y


def objective(problem: Problem) -> Callable[[Array], tuple[float, Array]]:
    """x = (w, b) -> J and its gradient, vectorised over rows, BLAS where there is a product."""
    n, d = problem.means.shape
    means, y, alpha = problem.means, problem.y, problem.alpha
    is_diagonal = problem.spread.ndim == 2
    var = problem.spread**2 if is_diagonal else problem.spread.reshape(n * d, d)

    def evaluate(x: Array) -> tuple[float, Array]:
        w, b = x[:d], x[d]
        if is_diagonal:
            v = var @ (w * w)
        else:
            images = (var @ w).reshape(n, d)
            v = images @ w
        s = np.sqrt(np.maximum(v, 1e-300))
        deficit = 1.0 - y * (means @ w + b)
        u = deficit / s
        p, q = ndtr(u), np.exp(-0.5 * u * u) / np.sqrt(2.0 * np.pi)
        value = 0.5 * alpha * (w @ w) + np.mean(deficit * p + s * q)
        along = q / s / n
        spread_part = w * (along @ var) if is_diagonal else along @ images
        slope = -y * p / n
        return float(value), np.append(alpha * w + slope @ means + spread_part, slope.sum())

    return evaluate


class _Reached(Exception):
    """The optimiser is where it should be."""


def scipy_lbfgs(problem: Problem, optimum: float, accuracy: float) -> tuple[float, int]:
    """Seconds and passes until L-BFGS-B is within `accuracy` of the optimum, which it is told: kinder to it
    than the certificate that our own time includes. NaN if it stops before."""
    evaluate = objective(problem)
    passes = 0
    start = perf_counter()

    def counted(x: Array) -> tuple[float, Array]:
        nonlocal passes
        passes += 1
        value, gradient = evaluate(x)
        if value <= optimum * (1.0 + accuracy):
            raise _Reached
        return value, gradient

    x0 = np.full(problem.means.shape[1] + 1, 1e-3)
    options: dict[str, Any] = {"maxiter": 2000, "maxfun": 2000, "ftol": 0.0, "gtol": 0.0}
    try:
        minimize(counted, x0, jac=True, method="L-BFGS-B", options=options)
    except _Reached:
        return perf_counter() - start, passes
    return float("nan"), passes
