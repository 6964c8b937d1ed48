"""What a transformer makes of rows, computed again from its definition in NumPy: every public one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from oracles import D, N, log_likelihood, posterior, problem, roots
from sklearn.preprocessing import StandardScaler
from test_sklearn import ESTIMATORS

from uncertain import (
    AsGaussians,
    ErrorColumns,
    GaussianArray,
    GaussianCollapser,
    GaussianColumnTransformer,
    GaussianDenoiser,
    GaussianImputer,
    GaussianLogScaler,
    GaussianScaler,
    Incomplete,
    KernelMap,
    LinearMap,
    ProbabilisticKernelFeatures,
    SubspaceProjector,
)

COVERED: set[type] = set()
X, _, WEIGHTS = problem()
COV = X.covariances()
SHARES = WEIGHTS / WEIGHTS.sum()


def covers(*kinds: type) -> Callable[[Any], Any]:
    """Marks a test as the one of these classes."""
    COVERED.update(kinds)
    return lambda test: test


def check(found: GaussianArray, means: Any, cov: Any, within: float = 1e-12) -> None:
    np.testing.assert_allclose(found.means, means, rtol=0, atol=within)
    np.testing.assert_allclose(found.covariances(), cov, rtol=0, atol=within)


def test_every_transformer_is_computed_again() -> None:
    transform = {kind for kind in ESTIMATORS if hasattr(kind, "transform")}
    left = sorted(kind.__name__ for kind in transform - COVERED)
    assert not left, f"write a test marked @covers({', '.join(left)}) with the formulas of their docstrings"


@covers(GaussianLogScaler)
def test_log_scaler() -> None:
    b = np.array([0.7, 0.0, 0.2])[: X.means.shape[1]]
    found = GaussianLogScaler(softening=b).fit(X).transform(X)
    d = np.where(b > 0.0, 2.0 * b, 1.0)
    g = lambda x: np.where(b > 0.0, np.arcsinh(x / d), x)  # noqa: E731
    s = np.sqrt(np.diagonal(COV, axis1=1, axis2=2))
    slope = np.where(b > 0.0, 1.0 / np.hypot(X.means, d), 1.0)
    factors = np.where(s > 0.0, (g(X.means + s) - g(X.means - s)) / np.where(s > 0.0, 2.0 * s, 1.0), slope)
    np.testing.assert_allclose(found.means, g(X.means), rtol=1e-12, atol=1e-14)
    expected = COV * factors[:, :, None] * factors[:, None, :]
    np.testing.assert_allclose(found.covariances(), expected, rtol=1e-9, atol=1e-13)


@covers(GaussianScaler)
@pytest.mark.parametrize("spread", ["means", "total"])
def test_scaler(spread: Any) -> None:
    m = SHARES @ X.means
    variance = SHARES @ (X.means - m) ** 2
    if spread == "total":
        variance = variance + SHARES @ np.diagonal(COV, axis1=1, axis2=2)
    s = np.sqrt(variance)
    found = GaussianScaler(spread=spread).fit(X, sample_weight=WEIGHTS).transform(X)
    check(found, (X.means - m) / s, COV / s[:, None] / s)


@covers(GaussianCollapser)
def test_collapser() -> None:
    check(GaussianCollapser().fit_transform(X), X.means, 0 * COV)
    sizes = np.trace(COV, axis1=1, axis2=2) / D
    check(GaussianCollapser("isotropic").fit_transform(X), X.means, sizes[:, None, None] * np.eye(D))
    check(GaussianCollapser("diagonal").fit_transform(X), X.means, COV * np.eye(D))


@covers(LinearMap)
def test_linear_map() -> None:
    A = np.array([[1.0, 0.5, 0.0], [-1.0, 2.0, 3.0]])
    check(LinearMap(A).fit_transform(X), X.means @ A, A.T @ COV @ A)


@covers(SubspaceProjector)
@pytest.mark.parametrize("project", ["covariance", "both"])
def test_subspaces(project: Any) -> None:
    share = 0.8
    values, vectors = np.linalg.eigh(COV)
    means, cov = X.means.copy(), np.zeros_like(COV)
    for i in range(N):
        order = np.argsort(-values[i])
        reached = np.cumsum(values[i][order]) / max(values[i].sum(), 1e-300)
        keep = order[: 1 + int(np.sum(reached <= share))] if values[i].sum() > 0 else order[:0]
        U = vectors[i][:, keep]
        cov[i] = U * values[i][keep] @ U.T
        if project == "both":
            means[i] = U @ U.T @ means[i]
    check(SubspaceProjector(share, project=project).fit_transform(X), means, cov)


@covers(GaussianDenoiser, GaussianImputer)
@pytest.mark.parametrize("components", [1, 2])
def test_denoiser(components: int) -> None:
    model = GaussianDenoiser(components, random_state=0).fit(X, sample_weight=WEIGHTS)
    mixture = (model.weights_, model.means_, model.covariances_)
    likelihoods = log_likelihood(X, *mixture)
    np.testing.assert_allclose(model.score_samples(X), likelihoods, rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihoods_[-1], SHARES @ likelihoods, rtol=1e-10)
    check(model.transform(X), *posterior(X, *mixture), within=1e-10)


def test_one_step_of_em_changes_nothing() -> None:
    """mu and T at the end are the means over posteriors (docstring of `GaussianDenoiser`)."""
    model = GaussianDenoiser(tol=1e-12, max_iter=10_000, reg_covar=1e-12).fit(X, sample_weight=WEIGHTS)
    means, cov = posterior(X, model.weights_, model.means_, model.covariances_)
    mu = SHARES @ means
    off = means - mu
    T = np.einsum("n,nij->ij", SHARES, off[:, :, None] * off[:, None, :] + cov)
    np.testing.assert_allclose(model.means_[0], mu, atol=1e-5)
    np.testing.assert_allclose(model.covariances_[0], T, atol=1e-5)


def test_imputer() -> None:
    missing = np.zeros((N, D), dtype=bool)
    missing[::4, 1] = missing[1::6, 0] = True
    rows = Incomplete(X, missing)
    model = GaussianImputer().fit(rows)
    mu, T = model.means_[0], model.covariances_[0]
    means, cov = X.means.copy(), COV.copy()
    for i in range(N):
        m, o = np.flatnonzero(missing[i]), np.flatnonzero(~missing[i])
        if not m.size:
            continue
        gain = T[np.ix_(m, o)] @ np.linalg.inv(T[np.ix_(o, o)] + COV[i][np.ix_(o, o)])
        means[i, m] = mu[m] + gain @ (X.means[i, o] - mu[o])
        cov[i, m, :] = cov[i, :, m] = 0.0
        cov[i][np.ix_(m, m)] = T[np.ix_(m, m)] - gain @ T[np.ix_(o, m)]
    check(model.transform(rows), means, cov)


@covers(KernelMap)
@pytest.mark.parametrize("kernel", ["rbf", "quadratic", "polynomial", "linear"])
def test_kernel_map(kernel: Any) -> None:
    """Inner products of means and of J S^(1/2), as kernel and derivatives give them (MATH: extended Gram)."""
    gamma, coef0 = 0.3, 0.5
    model = KernelMap(kernel, gamma=gamma, degree=2, coef0=coef0, tol=1e-12, max_rank=None).fit(X)
    x, half = X.means, roots(COV)
    dot = x @ x.T
    if kernel == "rbf":
        off = x[:, None] - x[None]
        K = np.exp(-gamma * (off**2).sum(axis=-1))
        second = (2 * gamma * np.eye(D) - 4 * gamma**2 * off[..., :, None] * off[..., None, :]) * K[
            ..., None, None
        ]
    else:
        scale = {"quadratic": 1.0, "polynomial": gamma, "linear": 1.0}[kernel]
        if kernel == "linear":
            K, one, two = dot, np.ones((N, N)), np.zeros((N, N))
        else:
            inner = scale * dot + (coef0 if kernel == "polynomial" else 0.0)
            K, one, two = inner**2, 2 * inner, np.full((N, N), 2.0)
        # K = h(s x'z): d2 K / dx dz' = s h' I + s^2 h'' z x'
        outer = x[None, :, :, None] * x[:, None, None, :]
        second = scale * one[..., None, None] * np.eye(D) + scale**2 * two[..., None, None] * outer
    found = model.transform(X)
    np.testing.assert_allclose(found.means @ found.means.T, K, atol=1e-5)
    # tr(C_i C_j) of covariances C = J S J' is the squared norm of S_i^(1/2) d2K S_j^(1/2).
    blocks = half[:, None] @ second @ half[None]
    np.testing.assert_allclose(
        np.einsum("nij,mji->nm", found.covariances(), found.covariances()),
        (blocks**2).sum(axis=(-2, -1)),
        atol=1e-4,
    )


@covers(ProbabilisticKernelFeatures)
@pytest.mark.parametrize("coupling", ["shared", "independent"])
def test_features(coupling: Any) -> None:
    sigma = 0.8
    model = ProbabilisticKernelFeatures(7, sigma=sigma, coupling=coupling, random_state=0).fit(X)
    w = model.frequencies_
    phase, size = X.means @ w.T, np.ones((N, 7))
    if coupling == "shared":
        phase = phase + np.einsum("rd,nde,re->nr", w, roots(COV), model.noise_)
    else:
        size = np.exp(-np.einsum("rd,nde,re->nr", w, COV, w) / 2)
    waves = np.sqrt(1 / 7) * np.stack([np.cos(phase), np.sin(phase)]) * size
    found = np.sort(model.transform(X), axis=1)
    np.testing.assert_allclose(found, np.sort(np.concatenate(list(waves), axis=1), axis=1), atol=1e-12)


@covers(ErrorColumns)
def test_error_columns() -> None:
    s = np.sqrt(np.diagonal(COV, axis1=1, axis2=2))
    sizes = np.log10(np.maximum(s / X.means.std(axis=0), 1e-3))
    product = s[:, 0] * s[:, 1]
    corr = np.divide(COV[:, 0, 1], product, out=np.zeros(N), where=product > 0)
    found = ErrorColumns("correlations").fit_transform(X)
    np.testing.assert_allclose(found, np.column_stack([X.means, sizes, corr]), atol=1e-12)


@covers(AsGaussians, GaussianColumnTransformer)
def test_columns_of_a_table() -> None:
    s = 0.1 + np.arange(N) / N
    table = pl.DataFrame({"u": X.means[:, 0], "v": X.means[:, 1], "u_err": s, "v_err": 2 * s})
    found = AsGaussians(features=["u", "v"], std="{}_err").fit_transform(table)
    check(found, X.means, np.stack([s**2, 4 * s**2], axis=1)[:, :, None] * np.eye(D))
    beside = GaussianColumnTransformer(
        [
            ("measured", AsGaussians(features=["u"], std="{}_err"), ["u", "u_err"]),
            ("exact", StandardScaler(), ["v"]),
        ]
    ).fit_transform(table)
    means = np.column_stack([X.means[:, 0], StandardScaler().fit_transform(X.means[:, 1:])])
    cov = np.zeros((N, D, D))
    cov[:, 0, 0] = s**2
    check(beside, means, cov)
