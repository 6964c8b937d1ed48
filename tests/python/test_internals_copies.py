"""Rows of several Gaussians, read again with other errors: what re-measured learners are trained on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import skew
from test_mixture_array import mixtures

from uncertain import GaussianArray, MixtureArray
from uncertain.preprocessing._readings import Readings, TruthOfTargets, drawn_components
from uncertain.uncertainty import from_bounds

N_COPIED = 100_000


def skewed_readings(n: int = N_COPIED, d: int = 2) -> tuple[MixtureArray, np.ndarray]:
    """Readings whose errors have arms 1 : 3, and the true values."""
    random = np.random.default_rng(0)
    z = random.normal(size=(n, d))
    law = from_bounds(np.full((1, d), -0.3), np.full((1, d), 0.9), value=np.zeros((1, d)), rule="shape")
    own = law.components
    c = random.choice(len(own), p=law.weights, size=n)
    offsets = own.means - law.means  # of z about the reading, so that errors are mirrored
    noise = np.sqrt(np.diagonal(own.covariances(), axis1=1, axis2=2))
    x = z - offsets[c] - noise[c] * random.normal(size=(n, d))
    means = x[:, None] + offsets
    return MixtureArray(np.tile(law.weights, (n, 1)), means, std=np.broadcast_to(noise, means.shape)), z


def test_one_component_is_drawn_by_its_weight() -> None:
    X = mixtures(n=60, most=3)
    random = np.random.RandomState(0)
    drawn = np.array([drawn_components(X, random) for _ in range(4000)])
    assert (drawn >= X.offsets[:-1]).all() and (drawn < X.offsets[1:]).all()
    counts = np.bincount(drawn.ravel(), minlength=len(X.components)) / 4000
    np.testing.assert_allclose(counts, X.weights, atol=5 * np.sqrt(0.25 / 4000))


def third(x: np.ndarray) -> np.ndarray:
    """The third central moment of every column."""
    return ((x - x.mean(axis=0)) ** 3).mean(axis=0)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_copies_are_distributed_as_readings_with_other_errors(factor: float, full: bool) -> None:
    """Like z + f e: variances and third moments of true values and errors add up."""
    X, z = skewed_readings()
    if full:
        parts = GaussianArray(X.components.means, cov=X.components.covariances())
        X = MixtureArray(X.weights, parts, offsets=X.offsets)
    random = np.random.RandomState(1)
    nothing = np.random.default_rng(5).normal(size=N_COPIED)  # targets that say nothing
    truth = TruthOfTargets(X, nothing, None, 1, random).posterior(X, nothing)
    copy = Readings(X, random, truth).again(np.full((N_COPIED, 2), factor))
    assert isinstance(copy, MixtureArray)
    error = X.means - z
    assert (skew(error) < -0.6).all()
    np.testing.assert_allclose(copy.means.var(axis=0), 1 + factor**2 * error.var(axis=0), rtol=0.03)
    np.testing.assert_allclose(third(copy.means), factor**3 * third(error), rtol=0.12, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(copy.means.T)[0, 1], 0.0, atol=0.02)
    # What the copy says of itself.
    np.testing.assert_allclose(copy.weights, X.weights)
    std = [np.sqrt(np.diagonal(own[:50].covariances(), axis1=1, axis2=2)) for own in (X, copy)]
    np.testing.assert_allclose(std[1], factor * std[0], rtol=1e-9)
    np.testing.assert_allclose(copy[:50]._skewness(), X[:50]._skewness(), rtol=1e-9)


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_copies_go_with_their_targets(factor: float) -> None:
    """Where the target is the true value, x' - z has f times the errors, with their skewness."""
    X, z = skewed_readings(d=1)
    random = np.random.RandomState(1)
    truth = TruthOfTargets(X, z[:, 0], None, 1, random).posterior(X, z[:, 0])
    copy = Readings(X, random, truth).again(np.full((N_COPIED, 1), factor))
    before, after = X.means - z, copy.means - z
    np.testing.assert_allclose(after.std(axis=0), factor * before.std(axis=0), rtol=0.02)
    np.testing.assert_allclose(skew(after), skew(before), atol=0.05)
