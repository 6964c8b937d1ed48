"""Factors of the features' error bars: SciPy's maximum of the readings' likelihood, simulations, refusals."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import uncertain
from uncertain import GaussianArray, Incomplete
from uncertain.laws import LinearLaw

Floats = Any
FACTORS = np.array([1.6, 0.6])


def readings(n: int, seed: int, correlation: float = 0.0) -> tuple[GaussianArray, Floats, Floats]:
    """Two features whose true errors are 1.6 and .6 times their bars, of about .5 and 1; slopes 1 and -2."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal([1.0, -3.0], [[1.0, 0.4], [0.4, 1.5]], size=n)
    s = np.exp(0.7 * rng.normal(size=(n, 2))) * [0.5, 1.0]
    C = s[:, :, None] * np.array([[1.0, correlation], [correlation, 1.0]]) * s[:, None, :]
    e = np.einsum("nij,nj->ni", np.linalg.cholesky(C), rng.normal(size=(n, 2))) * FACTORS
    t = rng.uniform(0.1, 1.0, n)
    y = 2 + z @ [1.0, -2.0] + 0.3 * rng.normal(size=n) + 1.5 * t * rng.normal(size=n)
    X = GaussianArray(z + e, cov=C) if correlation else GaussianArray(z + e, std=s)
    return X, y, t


def minus(theta: Floats, x: Floats, S: Floats, known: Floats) -> float:
    """Minus the log-likelihood of readings by mu, L and log f, gaps left out."""
    mu, f = theta[:2], np.exp(theta[5:])
    L = np.array([[theta[2], 0.0], [theta[3], theta[4]]])
    V = L @ L.T + f[:, None] * S * f
    total = 0.0
    for pattern in np.unique(known, axis=0):
        rows, o = (known == pattern).all(axis=1), np.flatnonzero(pattern)
        own, r = V[rows][:, o[:, None], o], (x - mu)[rows][:, o]
        quad = np.einsum("ni,ni->n", r, np.linalg.solve(own, r[..., None])[..., 0])
        total += 0.5 * float(np.sum(np.linalg.slogdet(own)[1] + quad))
    return total


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("gaps", [False, True])
def test_factors_are_where_the_likelihood_of_readings_is_largest(correlation: float, gaps: bool) -> None:
    X, y, t = readings(500, 0, correlation)
    known = np.ones((500, 2), dtype=bool)
    if gaps:
        known[:60, 0] = known[60:150, 1] = False
    rows: Any = Incomplete(X, ~known) if gaps else X
    law = LinearLaw(error_scale="features").fit(rows, y, y_std=1.5 * t)
    T = np.linalg.cholesky(law.covariances_[0, :2, :2])
    start = np.r_[law.means_[0, :2], T[0, 0], T[1], np.log(law.feature_error_scale_)]
    problem = np.where(known, X.means, 0.0), X.covariances(), known
    found = minimize(minus, start + 0.01, args=problem, method="BFGS", jac="3-point", options={"gtol": 1e-6})
    np.testing.assert_allclose(found.x, start, atol=2e-4)
    assert minus(start, *problem) - found.fun < 1e-4
    std = np.sqrt(np.diag(found.hess_inv))[5:] * law.feature_error_scale_
    np.testing.assert_allclose(law.feature_error_scale_std_, std, rtol=0.3)
    assert not hasattr(law, "error_scale_")
    assert "factor of x1's errors" in law.summary()
    # The line is that of readings with these error bars.
    f = law.feature_error_scale_
    scaled = GaussianArray(X.means, cov=f[:, None] * X.covariances() * f)
    plain = LinearLaw(outliers="student", degrees_of_freedom=200).fit(
        Incomplete(scaled, ~known) if gaps else scaled, y, y_std=1.5 * t
    )
    np.testing.assert_allclose(law.coef_, plain.coef_, atol=0.15 * plain.coef_std_.min())


def gradients(log: Any, p: Floats) -> Floats:
    """(n, p) derivatives of each row's number."""
    ends = [(log(p + h), log(p - h)) for h in 1e-5 * np.maximum(np.abs(p), 1.0) * np.eye(len(p))]
    return np.array([(a - b) / (2e-5 * max(abs(x), 1.0)) for (a, b), x in zip(ends, p, strict=True)]).T


def test_standard_errors_count_the_factors() -> None:
    """H^-1 (H + C A^-1 C') H^-1 with the density's parameters and log f, by differences."""
    X, y, t = readings(400, 100)
    law = LinearLaw(error_scale="features").fit(X, y, y_std=1.5 * t)
    x, S, f, T = X.means, X.covariances(), law.feature_error_scale_, law.covariances_[0]
    density = np.r_[law.means_[0, :2], T[0, 0], T[1, 0], T[1, 1], np.log(f)]
    psi = np.r_[law.intercept_, law.coef_, law.scatter_**2]

    def readings_given(d: Floats) -> tuple[Floats, Floats, Floats]:
        T, f = np.array([[d[2], d[3]], [d[3], d[4]]]), np.exp(d[5:])
        return x - d[:2], T, T + f[:, None] * S * f

    def first(d: Floats) -> Floats:
        r, _, V = readings_given(d)
        return -0.5 * (np.linalg.slogdet(V)[1] + np.einsum("ni,nij,nj->n", r, np.linalg.inv(V), r))

    def second(p: Floats, d: Floats) -> Floats:
        r, T, V = readings_given(d)
        gain = T @ np.linalg.inv(V)
        m, P = d[:2] + np.einsum("nij,nj->ni", gain, r), T - gain @ T
        v = p[3] + (1.5 * t) ** 2 + np.einsum("i,nij,j->n", p[1:3], P, p[1:3])
        return -0.5 * (np.log(v) + (y - p[0] - m @ p[1:3]) ** 2 / v)

    def score(p: Floats) -> Floats:
        return gradients(lambda p: second(p, density), p).sum(axis=0)

    H = np.array([(score(psi - h) - score(psi + h)) / 2e-4 for h in 1e-4 * np.eye(4)])
    s1, s2 = gradients(first, density), gradients(lambda p: second(p, density), psi)
    r = gradients(lambda d: second(psi, d), density)
    A, C, inverse = s1.T @ s1, s2.T @ r, np.linalg.inv(H)
    std = np.sqrt(np.diag(inverse @ (H + C @ np.linalg.inv(A) @ C.T) @ inverse))
    np.testing.assert_allclose(law.coef_std_, std[1:3], rtol=0.02)
    alone = np.sqrt(np.diag(inverse))[1:3]
    assert (std[1:3] > 1.2 * alone).all()


def test_slopes_and_factors_of_simulated_sets() -> None:
    sets, found = 60, {"factors": [], "std": [], "slopes": [], "errors": [], "as they are": [], "y": []}
    for seed in range(sets):
        X, y, t = readings(400, 100 + seed)
        law = LinearLaw(error_scale="both").fit(X, y, y_std=t)
        found["factors"].append(law.feature_error_scale_)
        found["std"].append(law.feature_error_scale_std_)
        found["slopes"].append(law.coef_)
        found["errors"].append(law.coef_std_)
        found["y"].append((law.error_scale_ - 1.5) / law.error_scale_std_)
        found["as they are"].append(LinearLaw(error_scale="fit").fit(X, y, y_std=t).coef_)
    means = {name: np.mean(values, axis=0) for name, values in found.items()}
    spread = {name: np.std(values, axis=0, ddof=1) for name, values in found.items()}
    assert (np.abs(means["factors"] - FACTORS) < 4 * spread["factors"] / np.sqrt(sets) + 0.02).all()
    pulls = np.log(np.array(found["factors"]) / FACTORS) * found["factors"] / np.array(found["std"])
    np.testing.assert_allclose(pulls.std(axis=0, ddof=1), 1.0, atol=0.3)
    truth = np.array([1.0, -2.0])
    assert (np.abs(means["slopes"] - truth) < 4 * spread["slopes"] / np.sqrt(sets) + 0.02).all()
    pulls = (np.array(found["slopes"]) - truth) / np.array(found["errors"])
    np.testing.assert_allclose(pulls.std(axis=0, ddof=1), 1.0, atol=0.3)
    assert ((np.abs(pulls) < 1.96).mean(axis=0) > 0.89).all()
    # Error bars as they are: too small for the first feature, too large for the second.
    assert (np.abs(means["as they are"] - truth) > 0.1).all()
    assert abs(np.mean(found["y"])) < 0.5 and 0.7 < np.std(found["y"]) < 1.35


def test_predictions_read_rows_with_the_factors(tmp_path: Any) -> None:
    X, y, t = readings(300, 5)
    law = LinearLaw(error_scale="both").fit(X, y, y_std=t)
    f, mean, T = law.feature_error_scale_, law.means_[0], law.covariances_[0]
    V = T[:2, :2] + f[:, None] * X.covariances() * f
    by_hand = mean[2] + np.einsum("i,nij,nj->n", T[2, :2], np.linalg.inv(V), X.means - mean[:2])
    np.testing.assert_allclose(law.predict(X), by_hand, rtol=1e-10)
    std = pl.DataFrame(np.sqrt(np.einsum("njj->nj", X.covariances())), schema=["a_err", "b_err"])
    table = pl.DataFrame({"a": X.means[:, 0], "b": X.means[:, 1], "y": y, "y_err": t})
    table = pl.concat([table, std], how="horizontal")
    model = uncertain.fit(table, target="y", method="law", error_scale="both")
    np.testing.assert_allclose(model.coef_[0], law.coef_, rtol=1e-6)
    assert "factor of a's errors" in model.pipeline_[-1].summary()
    model.save(tmp_path / "model.safetensors")
    again = uncertain.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    np.testing.assert_array_equal(
        again.pipeline_[-1].feature_error_scale_, model.pipeline_[-1].feature_error_scale_
    )
