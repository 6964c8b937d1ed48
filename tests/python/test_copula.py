"""Correlated arms of different lengths: against the Gaussian copula by quadrature and by draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from uncertain import GaussianArray, MixtureArray
from uncertain.exceptions import NotFiniteError, ShapeError, UncertainError
from uncertain.uncertainty import from_bounds

ARMS = [(1.0, 3.0), (3.0, 1.0), (0.2, 1.0), (0.0, 2.0), (1.0, 1.0), (2.0, 3.0)]
"""Below, above."""


def shaped(below: Any, above: Any, corr: Any = None, rule: Any = "shape") -> MixtureArray:
    low, high = -np.atleast_2d(np.asarray(below, float)), np.atleast_2d(np.asarray(above, float))
    made = from_bounds(low, high, value=np.zeros(low.shape), rule=rule, corr=corr)
    assert isinstance(made, MixtureArray) or rule != "shape"
    return made  # type: ignore[return-value]


def marginal(rows: MixtureArray, j: int, x: np.ndarray, what: Any = norm.cdf) -> np.ndarray:
    """Of feature j of the first row."""
    own = slice(*rows.offsets[:2])
    std = np.sqrt(rows.components.covariances()[own, j, j])
    parts = what(x[:, None], rows.components.means[own, j], std)
    return np.asarray(parts @ rows.weights[own])


def correlation(rows: MixtureArray) -> np.ndarray:
    cov = rows.collapse("gaussian").covariances()[0]
    return cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov)))


@pytest.mark.parametrize("corr", [-0.9, -0.3, 0.5, 0.97])
def test_features_keep_their_distribution(corr: float) -> None:
    x = np.linspace(-12, 12, 501)
    for first in ARMS:
        for second in ARMS[:4]:
            below, above = zip(first, second, strict=True)
            rows, plain = shaped(below, above, corr), shaped(below, above)
            assert len(rows.weights) == len(plain.weights) <= 9
            assert rows.weights.min() >= 0 and abs(rows.weights.sum() - 1) < 1e-12
            for j in range(2):
                np.testing.assert_allclose(marginal(rows, j, x), marginal(plain, j, x), atol=1e-6)


@pytest.mark.parametrize("corr", [-0.6, 0.3, 0.6])
def test_correlations_are_those_of_the_copula(corr: float) -> None:
    z, share = np.polynomial.hermite_e.hermegauss(60)
    share = share / share.sum()
    grid = np.linspace(-40, 40, 100_001)
    cdf = {arms: marginal(shaped(*arms), 0, grid) for arms in ARMS}
    for first in ARMS:
        for second in ARMS[:4]:
            below, above = zip(first, second, strict=True)
            rows, pair = shaped(below, above, corr), (first, second)
            # x = g(z) on the nodes of two independent normal numbers
            one, two = np.meshgrid(z, z, indexing="ij")
            latent = (one, corr * one + np.sqrt(1 - corr**2) * two)
            x = [np.interp(norm.cdf(latent[j]), cdf[pair[j]], grid) for j in range(2)]
            weights = np.outer(share, share)
            mean = [(weights * of).sum() for of in x]
            cov = [[(weights * (a - m) * (b - k)).sum() for b, k in zip(x, mean, strict=True)]
                   for a, m in zip(x, mean, strict=True)]  # fmt: skip
            expected = cov[0][1] / np.sqrt(cov[0][0] * cov[1][1])
            assert abs(correlation(rows)[0, 1] - expected) < 0.003, pair


def test_the_density_is_close_to_that_of_the_copula() -> None:
    x = np.linspace(-6, 14, 401)
    cell = (x[1] - x[0]) ** 2
    plain = shaped([1, 1], [3, 3])
    z = norm.ppf(np.clip(marginal(plain, 0, x), 1e-15, 1 - 1e-15))
    density = marginal(plain, 0, x, norm.pdf)
    for corr, most in [(0.3, 0.01), (0.6, 0.035), (0.8, 0.085)]:
        both = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1)
        copula = multivariate_normal([0, 0], [[1, corr], [corr, 1]]).pdf(both)
        copula *= np.outer(density, density) / np.outer(norm.pdf(z), norm.pdf(z))
        rows = shaped([1, 1], [3, 3], corr)
        points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
        parts = zip(rows.weights, rows.components.means, rows.components.covariances(), strict=True)
        made = sum(w * multivariate_normal(m, c).pdf(points) for w, m, c in parts)
        one = multivariate_normal(rows.means[0], rows.collapse("gaussian").covariances()[0]).pdf(points)
        left, gaussian = (np.abs(of - copula).sum() * cell / 2 for of in (made, one))
        assert left < most < gaussian / 1.9, (corr, left, gaussian)


def test_more_features() -> None:
    d = 6
    corr = 0.6 + 0.4 * np.eye(d)
    above = np.arange(2.0, 2.0 + d)
    rows, plain = shaped(np.ones(d), above, corr), shaped(np.ones(d), above)
    assert len(rows.weights) == 64
    x = np.linspace(-8, 30, 301)
    for j in range(d):
        np.testing.assert_allclose(marginal(rows, j, x), marginal(plain, j, x), atol=1e-9)
    pairs = shaped(np.ones(2), above[:2], 0.6)
    assert abs(correlation(rows)[0, 1] - correlation(pairs)[0, 1]) < 0.01  # two components, not three
    three = shaped([1, 1, 1], [3, 2, 1], corr[:3, :3])
    assert len(three.weights) == 9
    two = shaped([1, 1], [3, 2], 0.6)
    np.testing.assert_allclose(correlation(three)[0, 1], correlation(two)[0, 1], atol=1e-4)


def test_without_correlation_nothing_changes() -> None:
    below, above = np.transpose([ARMS, ARMS[::-1]], (2, 1, 0))
    assert shaped(below, above, 0.0) == shaped(below, above)
    assert shaped(below, above, np.eye(2)) == shaped(below, above)
    # beside rows with correlations
    some = shaped(below, above, np.where(np.arange(6) == 2, 0.5, 0.0))
    np.testing.assert_allclose(some.means, shaped(below, above).means, atol=1e-12)
    cov = [of.collapse("gaussian").covariances() for of in (some, shaped(below, above))]
    np.testing.assert_allclose(cov[0][[0, 1, 3, 4, 5]], cov[1][[0, 1, 3, 4, 5]], atol=1e-12)
    assert cov[0][2, 0, 1] > 0.1


@pytest.mark.filterwarnings("ignore::uncertain.exceptions.UncertainWarning")
def test_gaussians_with_these_correlations() -> None:
    for rule in ("moments", "average"):
        rows, plain = shaped([1, 2], [3, 2], 0.5, rule), shaped([1, 2], [3, 2], rule=rule)
        std = np.sqrt(plain.covariances()[0].diagonal())
        np.testing.assert_allclose(rows.covariances()[0][0, 1], 0.5 * std.prod())
        assert np.array_equal(rows.means, plain.means)
    symmetric = from_bounds([[-1.0, -2.0]], [[1.0, 2.0]], corr=[-0.5])
    assert isinstance(symmetric, GaussianArray)
    np.testing.assert_allclose(symmetric.covariances(), [[[1, -1], [-1, 4]]])


@pytest.mark.parametrize("rule", ["shape", "moments"])
def test_bad_correlations_are_named(rule: Any) -> None:
    three = np.zeros((2, 3, 3)) + np.eye(3)
    ones = np.ones((2, 3))
    with pytest.raises(UncertainError, match=r"corr: row 1 is -1.2; .* \[-1, 1\]"):
        shaped(ones[:, :2], 3 * ones[:, :2], [0.1, -1.2], rule)
    with pytest.raises(NotFiniteError, match="corr: row 0 is nan"):
        shaped(ones[:, :2], 3 * ones[:, :2], [np.nan, 0.2], rule)
    with pytest.raises(ShapeError, match=r"corr: expected shape \(2, 3, 3\) or \(3, 3\), got \(2,\)"):
        shaped(ones, ones, [0.1, 0.2], rule)
    with pytest.raises(UncertainError, match=r"corr: row 1, feature 0, feature 2 is 0\.4; matrices"):
        shaped(ones, ones, three + [[[0]], [[1]]] * np.asarray([[0, 0, 0.4], [0, 0, 0], [0, 0, 0]]), rule)
    with pytest.raises(UncertainError, match=r"corr: row 0, feature 1, feature 1 is 0\.5; the diagonal"):
        shaped(ones, ones, three * np.asarray([1, 0.5, 1]), rule)
    with pytest.raises(UncertainError, match=r"corr: row 1 is -0\.8.*eigenvalue"):
        shaped(ones, ones, np.where(np.eye(3) == 1, 1.0, [[[0.5]], [[-0.9]]]), rule)
