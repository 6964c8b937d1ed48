"""Rows with gaps for several files of tests."""

from __future__ import annotations

import numpy as np

from uncertain import GaussianArray, Incomplete


def with_gaps(rng: np.random.Generator, X: GaussianArray, share: float = 0.3) -> Incomplete:
    return Incomplete(X, rng.random(X.shape) < share)


def hidden_truth(seed: int, n: int = 200, d: int = 3) -> tuple[np.ndarray, np.ndarray, Incomplete]:
    """True values, their covariance, at times nearly singular, and readings whose noise hides that."""
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(d, d))
    z = rng.normal(size=(n, d)) @ mix.T
    std = np.exp(0.7 * rng.normal(size=(n, d)))
    return z, mix @ mix.T, with_gaps(rng, GaussianArray(z + std * rng.normal(size=(n, d)), std=std))
