"""Formulas in NumPy and SciPy, written from the definitions, for tests that compute an answer again."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtr

from uncertain import GaussianArray

Floats = NDArray[np.float64]
N, D = 24, 2


def problem(k: int = 2) -> tuple[GaussianArray, Floats, Floats]:
    """A few rows with correlated errors, some exact; class codes; weights, one of them 0."""
    rng = np.random.default_rng(5)
    codes = np.arange(N) % k
    means = rng.normal(size=(N, D)) + codes[:, None] * [1.0, -0.5]
    factor = 0.4 * rng.normal(size=(N, D, D)) * (np.arange(N) % 5 > 0)[:, None, None]
    weights = rng.uniform(0.5, 2.0, N)
    weights[7] = 0.0
    return GaussianArray(means, cov=factor @ factor.transpose(0, 2, 1)), codes, weights


def score(w: Floats, b: float, X: GaussianArray) -> tuple[Floats, Floats]:
    """Mean and standard deviation of w'x + b."""
    return X.means @ w + b, np.sqrt(np.maximum(np.einsum("i,nij,j->n", w, X.covariances(), w), 0.0))


def positive_part(d: Floats, s: Floats) -> Floats:
    """E max(0, d + s Z)."""
    safe = np.where(s > 0, s, 1.0)
    u = d / safe
    return np.where(s > 0, d * ndtr(u) + safe * np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi), np.maximum(d, 0))


def squared_positive_part(d: Floats, s: Floats) -> Floats:
    """E max(0, d + s Z)^2."""
    safe = np.where(s > 0, s, 1.0)
    u = d / safe
    smooth = (d**2 + s**2) * ndtr(u) + d * safe * np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(s > 0, smooth, np.maximum(d, 0) ** 2)


def least(f: Callable[[Floats], float], *starts: Floats) -> float:
    """The smallest value that SciPy finds, without derivatives: of a few unknowns, kinks allowed."""
    best = np.inf
    for start in starts:
        point = np.asarray(start, dtype=float)
        for _ in range(6):  # a simplex that has collapsed begins again
            options = {"xatol": 1e-12, "fatol": 1e-15, "maxfev": 4000, "maxiter": 4000}
            found = minimize(f, point, method="Nelder-Mead", options=options)
            if found.fun > best * (1 - 1e-13):
                break
            best, point = float(found.fun), found.x
    return best


def check_bound(objective: float, gap: float, minimum: float, within: float = 1e-12) -> None:
    """(objective - minimum) / objective <= gap, for any value that is not below the minimum."""
    assert gap >= 0 and objective * (1 - gap) <= minimum * (1 + within), (objective, gap, minimum)


def roots(cov: Floats) -> Floats:
    """Symmetric square roots."""
    values, vectors = np.linalg.eigh(cov)
    out: Floats = (vectors * np.sqrt(np.maximum(values, 0))[:, None, :]) @ vectors.transpose(0, 2, 1)
    return out


def expected_rbf(X: GaussianArray, Z: GaussianArray, sigma: float, coupling: str = "shared") -> Floats:
    """The kernel averaged over the rows' noise; MATH: |A|^-1/2 exp(-d'A^-1 d / (2 sigma^2))."""
    d = X.means.shape[1]
    if coupling == "shared":
        U = (roots(X.covariances())[:, None] - roots(Z.covariances())[None]) / sigma
        A = np.eye(d) + U @ U
    else:
        A = np.eye(d) + (X.covariances()[:, None] + Z.covariances()[None]) / sigma**2
    off = X.means[:, None] - Z.means[None]
    quad = np.einsum("nmi,nmi->nm", off, np.linalg.solve(A, off[..., None])[..., 0])
    out: Floats = np.exp(-quad / (2 * sigma**2)) / np.sqrt(np.linalg.det(A))
    return out


def log_density(x: Floats, mean: Floats, cov: Floats) -> Floats:
    """log N(x; mean, cov), row by row."""
    off = x - mean
    quad = np.einsum("ni,ni->n", off, np.linalg.solve(cov, off[..., None])[..., 0])
    out: Floats = -0.5 * (quad + np.linalg.slogdet(2 * np.pi * cov)[1])
    return out


def log_mixture(X: GaussianArray, weights: Floats, means: Floats, cov: Floats) -> Floats:
    """log pi_k N(x_i; mu_k, T_k + S_i) of rows and components."""
    S = X.covariances()
    parts = [np.log(p) + log_density(X.means, m, T + S) for p, m, T in zip(weights, means, cov, strict=True)]
    return np.stack(parts, axis=1)


def log_likelihood(X: GaussianArray, weights: Floats, means: Floats, cov: Floats) -> Floats:
    """Of every row under the mixture and its own noise."""
    return np.asarray(logsumexp(log_mixture(X, weights, means, cov), axis=1))


def posterior(X: GaussianArray, weights: Floats, means: Floats, cov: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of the true value of every row."""
    joint = log_mixture(X, weights, means, cov)
    share = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    S, first, second = X.covariances(), 0.0, 0.0
    for k, (m, T) in enumerate(zip(means, cov, strict=True)):
        G = T @ np.linalg.inv(T + S)
        at = m + np.einsum("nij,nj->ni", G, X.means - m)
        first = first + share[:, k, None] * at
        second = second + share[:, k, None, None] * (T - G @ T + at[:, :, None] * at[:, None, :])
    mean: Any = first
    return mean, second - mean[:, :, None] * mean[:, None, :]
