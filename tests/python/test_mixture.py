"""`GaussianMixtureRegressor` against the likelihood maximised by SciPy, dense formulas and simulations."""

import pickle
from typing import Any

import numpy as np
import pytest
from catalogues import KINDS, of_kind
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from uncertain import GaussianArray, GaussianMixtureRegressor, Incomplete, UncertainError
from uncertain.exceptions import ConvergenceWarning

Array = Any


def readings(
    seed: int, n: int, d: int = 2, scatter: float = 0.5, noise: float = 0.4, shift: float = 2.0
) -> tuple[Array, Array, Array, Array]:
    """Means, targets, (d + 1) x (d + 1) error covariances, and the slopes of the law; the intercept is 1."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal(np.zeros(d), 0.3 + 0.7 * np.eye(d), size=n) + shift
    beta = np.array([2.0, -1.0, 0.5][:d])
    y = 1.0 + z @ beta + scatter * rng.normal(size=n)
    sizes = np.exp(0.4 * rng.normal(size=(n, d + 1))) * np.r_[np.full(d, noise), 0.3]
    C = sizes[:, :, None] * (0.4 + 0.6 * np.eye(d + 1)) * sizes[:, None, :]
    e = np.einsum("nij,nj->ni", np.linalg.cholesky(C), rng.normal(size=(n, d + 1)))
    return z + e[:, :d], y + e[:, d], C, beta


def fitted(x: Array, y: Array, C: Array, **parameters: Any) -> GaussianMixtureRegressor:
    d = x.shape[1]
    X = GaussianArray(x, cov=C[:, :d, :d])
    return GaussianMixtureRegressor(**parameters).fit(X, y, np.sqrt(C[:, d, d]), C[:, :d, d])


def given_readings(x: Array, C: Array, known: Array, mean: Array, T: Array) -> tuple[Array, ...]:
    """Means and covariances of true features; c'A^-1 (x - mu), T A^-1 c, c'A^-1 c of errors."""
    n, d = x.shape
    m, P, turn = np.tile(mean, (n, 1)), np.tile(T, (n, 1, 1)), np.zeros((n, d))
    shift, taken = np.zeros((2, n))
    for i in range(n):
        o = np.flatnonzero(known[i, :d])
        inverse, c, away = np.linalg.inv((T + C[i, :d, :d])[np.ix_(o, o)]), C[i][o, d], (x[i] - mean)[o]
        m[i] += T[:, o] @ inverse @ away
        P[i] -= T[:, o] @ inverse @ T[o]
        turn[i], shift[i], taken[i] = T[:, o] @ inverse @ c, away @ inverse @ c, c @ inverse @ c
    return m, P, shift, turn, taken


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("edge", [False, True])
def test_the_law_maximises_the_likelihood_of_targets_given_readings(gaps: bool, edge: bool) -> None:
    n, d = 400, 2
    x, y, C, _ = readings(1, n, d)
    if edge:  # error bars of the target that are too large
        C = C.copy()
        C[:, d, d] *= 9
    known = np.ones((n, d + 1), dtype=bool)
    X: Any = GaussianArray(x, cov=C[:, :d, :d])
    crossed = C[:, :d, d].copy()
    if gaps:
        known[:150, 0] = False
        known[100:200, 1] = False
        crossed[~known[:, :d]] = np.nan
        X = Incomplete(X, ~known[:, :d])
    model = GaussianMixtureRegressor().fit(X, y, np.sqrt(C[:, d, d]), crossed)
    assert (model.intrinsic_scatter_ == 0.0) == edge == np.isnan(model.intrinsic_scatter_std_)
    again = pickle.loads(pickle.dumps(model))
    assert (again.intrinsic_scatter_ == 0.0) == edge == np.isnan(again.intrinsic_scatter_std_)
    mean, T = model.means_[0, :d], model.covariances_[0, :d, :d]
    m, P, shift, turn, taken = given_readings(x, C, known, mean, T)

    def variance(p: Array) -> Array:
        """Of y given x."""
        return p[3] + C[:, d, d] - taken + np.einsum("i,nij,j->n", p[1:3], P, p[1:3]) - 2 * turn @ p[1:3]

    there = np.r_[model.intercept_, model.coef_, model.intrinsic_scatter_**2]
    spread = variance(there) - there[3]

    def loss(p: Array) -> float:
        """Minus the log-likelihood, with the degrees of freedom of the line."""
        V, r = variance(p), y - p[0] - m @ p[1:3] - shift
        return float(0.5 * np.sum(np.log(V) + r**2 / V) + (d + 1) / 2 * np.log((1 / (p[3] + spread)).sum()))

    bounds = [(None, None)] * 3 + [(0.0, None)]
    found = minimize(
        loss, there, method="L-BFGS-B", jac="3-point", bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9}
    )
    np.testing.assert_allclose(there, found.x, rtol=1e-5, atol=1e-7)


def test_without_errors_it_is_least_squares() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3)) * [1.0, 100.0, 0.01] + [5.0, 0.0, 1.0]
    y = x @ [1.0, 0.02, 300.0] + rng.normal(size=30)
    model = GaussianMixtureRegressor(reg_covar=1e-12).fit(x, y)
    A = np.c_[x, np.ones(30)]
    beta, rss, *_ = np.linalg.lstsq(A, y, rcond=None)
    np.testing.assert_allclose(np.r_[model.coef_, model.intercept_], beta, rtol=1e-7)
    variance = rss[0] / (30 - 4)
    assert model.intrinsic_scatter_ == pytest.approx(np.sqrt(variance), rel=1e-7)
    errors = np.sqrt(np.diag(variance * np.linalg.inv(A.T @ A)))
    np.testing.assert_allclose(np.r_[model.coef_std_, model.intercept_std_], errors, rtol=1e-6)
    np.testing.assert_allclose(model.predict(x), A @ beta, rtol=1e-7)
    np.testing.assert_allclose(model.predict(x, return_std=True)[1], np.sqrt(variance), rtol=1e-7)


def same(a: GaussianMixtureRegressor, b: GaussianMixtureRegressor, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=rtol)
    np.testing.assert_allclose(a.coef_std_, b.coef_std_, rtol=rtol)
    assert a.intercept_ == pytest.approx(b.intercept_, rel=rtol)
    assert a.intrinsic_scatter_ == pytest.approx(b.intrinsic_scatter_, rel=rtol)


@pytest.mark.parametrize("y_std", [None, 0.3, "each"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_covariance_is_its_matrices(kind: str, y_std: Any) -> None:
    rng = np.random.default_rng(5)
    n, d = 300, 4
    x, y, C, _ = readings(2, n, 3)
    x = np.c_[x, rng.normal(size=n)]
    X = of_kind(kind, x, rng, size=0.4)
    if y_std == "each":
        y_std = np.sqrt(C[:, 3, 3])
    dense = GaussianArray(x, cov=X.covariances())
    model, other = (GaussianMixtureRegressor(tol=1e-10).fit(rows, y, y_std) for rows in (X, dense))
    same(model, other)
    np.testing.assert_allclose(model.predict(X), other.predict(dense), rtol=1e-7)
    crossed = np.zeros((n, d))
    if y_std is not None:
        same(GaussianMixtureRegressor(tol=1e-10).fit(X, y, y_std, crossed), other)


@pytest.mark.parametrize("k", [1, 3])
def test_predictions_are_the_mixture_given_the_reading(k: int) -> None:
    d = 2
    x, y, C, _ = readings(4, 500, d)
    y = y + np.sin(2 * x[:, 0])
    model = fitted(x, y, C, n_components=k, random_state=0)
    X = GaussianArray(x[:40], cov=C[:40, :d, :d])
    weights, means, stds = model.predict_mixture(X)  # computed again in test_recomputed.py
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, (weights * means).sum(1))
    np.testing.assert_allclose(std**2, (weights * (stds**2 + means**2)).sum(1) - mean**2, rtol=1e-9)
    levels = np.array([1e-6, 0.05, 0.5, 0.9, 1 - 1e-9])
    q = model.predict_quantiles(X, levels)
    below = (weights[:, None] * norm.cdf((q[:, :, None] - means[:, None]) / stds[:, None])).sum(2)
    np.testing.assert_allclose(below, np.broadcast_to(levels, below.shape), rtol=1e-9)
    np.testing.assert_array_equal(model.predict_quantiles(X, 0.5), q[:, 2])
    ends = model.predict_quantiles(X, [0.0, 1.0])
    assert np.isneginf(ends[:, 0]).all() and np.isposinf(ends[:, 1]).all()
    draws = model.sample_y(X, 20_000, random_state=1)
    np.testing.assert_allclose(draws.mean(1), mean, atol=5 * std.max() / np.sqrt(20_000))
    np.testing.assert_allclose((draws < q[:, 1:2]).mean(1), 0.05, atol=0.008)
    np.testing.assert_array_equal(draws, model.sample_y(X, 20_000, random_state=1))


def test_a_gap_is_infinite_noise() -> None:
    d = 3
    x, y, C, _ = readings(6, 300, d)
    model = fitted(x, y, C, n_components=2, random_state=0)
    gone = np.zeros((5, d), dtype=bool)
    gone[0, 1] = gone[1, :2] = gone[2] = True
    some = GaussianArray(x[:5], cov=C[:5, :d, :d])
    vague = C[:5, :d, :d] * np.where(gone[:, :, None] | gone[:, None, :], 0.0, 1.0)
    vague[:, range(d), range(d)] += np.where(gone, 1e12, 0.0)
    for a, b in zip(
        model.predict(Incomplete(some, gone), return_std=True),
        model.predict(GaussianArray(np.where(gone, 0.0, x[:5]), cov=vague), return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    alone = model.weights_ @ model.means_[:, d]
    assert model.predict(Incomplete(some, gone))[2] == pytest.approx(alone)
    points = np.where(gone, np.nan, x[:5])
    exact = model.predict(points)
    assert exact[2] == pytest.approx(alone) and exact[3] == pytest.approx(model.predict(x[3:4])[0])


def test_exact_rows_on_a_line_have_no_scatter() -> None:
    x = np.linspace(0.0, 1.0, 20)[:, None]
    model = GaussianMixtureRegressor().fit(x, 3 * x[:, 0] - 1)
    assert model.coef_[0] == pytest.approx(3.0, rel=1e-4) and model.intrinsic_scatter_ < 1e-3


def test_a_target_that_does_not_vary_has_no_slope() -> None:
    x = np.random.default_rng(0).normal(size=(50, 2))
    model = GaussianMixtureRegressor().fit(x, np.ones(50))
    np.testing.assert_allclose(
        [*model.coef_, model.intercept_, model.intrinsic_scatter_], [0, 0, 1, 0], atol=1e-6
    )


def test_weights_count_rows() -> None:
    x, y, C, _ = readings(8, 120)
    weight = np.arange(120) % 3.0
    rows = np.repeat(np.arange(120), weight.astype(int))
    X, std, crossed = GaussianArray(x, cov=C[:, :2, :2]), np.sqrt(C[:, 2, 2]), C[:, :2, 2]
    weighted = GaussianMixtureRegressor(tol=1e-10).fit(X, y, std, crossed, sample_weight=weight)
    repeated = GaussianMixtureRegressor(tol=1e-10).fit(X[rows], y[rows], std[rows], crossed[rows])
    # 40 rows of weight 1 and 40 of weight 2 are worth 120^2 / 200 = 72 rows, of which the line takes three.
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=5e-3)
    scaled = GaussianMixtureRegressor(tol=1e-10).fit(X, y, std, crossed, sample_weight=7 * weight)
    same(weighted, scaled)


def test_several_components_have_no_line() -> None:
    x, y, C, _ = readings(9, 200)
    model = fitted(x, y, C, n_components=2, random_state=0)
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="scatter_: a line belongs to one component, but there are 2"):
        _ = model.intrinsic_scatter_
    model.set_params(n_components=1).fit(GaussianArray(x, std=0.4), y)
    assert hasattr(model, "coef_std_")
    with pytest.raises(AttributeError, match="no attribute 'coefs'"):
        _ = model.coefs
    assert not hasattr(GaussianMixtureRegressor(), "coef_")
    chosen = GaussianMixtureRegressor("auto", max_components=3, random_state=0).fit(
        GaussianArray(x, std=0.4), y
    )
    assert 1 <= chosen.n_components_ <= 3 and len(chosen.held_out_log_likelihoods_) <= 3


def test_what_cannot_be_is_refused() -> None:
    x, y, C, _ = readings(10, 20)
    X, std, model = GaussianArray(x, cov=C[:, :2, :2]), np.sqrt(C[:, 2, 2]), GaussianMixtureRegressor()
    crossed = [
        np.where(np.arange(40).reshape(20, 2) == 9, value, C[:, :2, 2]) for value in (0.0, np.nan, 30.0)
    ]
    for arguments, words in (
        ((np.where(np.arange(20) == 3, -1.0, std),), r"y_std: row 3 is -1.0"),
        ((None, crossed[0]), "Pass y_std="),
        ((std, crossed[0][:, 0]), r"xy_cov: expected the shape \(20, 2\), got \(20,\)"),
        ((std, crossed[1]), "xy_cov: row 4, feature 1 is nan"),
        ((std, crossed[2]), "row 4: errors of X, y_std and xy_cov are no covariance matrix together"),
    ):
        with pytest.raises(UncertainError, match=words):
            model.fit(X, y, *arguments)
    model.fit(X, y, std)
    for levels, words in ((1.5, "quantiles = 1.5"), ([[0.5]], "quantiles: expected a number or a list")):
        with pytest.raises(UncertainError, match=words):
            model.predict_quantiles(X, levels)
    assert model.predict_quantiles(X, []).shape == (20, 0)


def test_an_em_that_ends_early_says_so() -> None:
    x, y, C, _ = readings(12, 200)
    with pytest.warns(ConvergenceWarning, match="GaussianMixtureRegressor did not converge"):
        fitted(x, y, C, n_components=5, max_iter=2, random_state=0)


@pytest.mark.parametrize("correlated", [False, True])
def test_likelihood_of_the_line_and_least_squares_beside_it(correlated: bool) -> None:
    rng = np.random.default_rng(5)
    n = 80
    z, s, t = rng.normal(size=(n, 2)), rng.uniform(0.2, 0.6, (n, 2)), rng.uniform(0.1, 0.4, n)
    x, y = z + s * rng.normal(size=(n, 2)), 1 + z @ [1.0, -2.0] + np.hypot(t, 0.5) * rng.normal(size=n)
    c, weights = 0.3 * s * t[:, None] * correlated, rng.uniform(0.5, 2.0, n)
    known = {"y_std": t, "xy_cov": c if correlated else None, "sample_weight": weights}
    law = GaussianMixtureRegressor().fit(GaussianArray(x, std=s), y, **known)
    T, mean, log = law.covariances_[0], law.means_[0], 0.0
    for i in range(n):
        noise = np.diag(np.append(s[i], t[i]) ** 2)
        noise[2, :2] = noise[:2, 2] = c[i]
        both = multivariate_normal(mean, T + noise).logpdf(np.append(x[i], y[i]))
        log += weights[i] * (both - multivariate_normal(mean[:2], (T + noise)[:2, :2]).logpdf(x[i]))
    assert law.loglikelihood_ == pytest.approx(log, abs=1e-8)
    A, w = np.column_stack([np.ones(n), x]), weights
    least = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * y))
    np.testing.assert_allclose(law.naive_coef_, least[1:], rtol=1e-10)
    worth = w.sum() ** 2 / (w**2).sum()
    variance = (w * (y - A @ least) ** 2).sum() / w.sum() * worth / (worth - 3)
    std = np.sqrt(variance * np.diag(np.linalg.inv(A.T @ (w[:, None] * A))) * w.sum() / worth)
    np.testing.assert_allclose(law.naive_std_, std[1:], rtol=1e-8)
    text = law.summary()
    assert f"log-likelihood {log:.6g}" in text and f"{std[0]:.4g}" in text and f"{least[1]:.4g}" in text
    again = GaussianMixtureRegressor()._loaded(pickle.loads(pickle.dumps(law._model)))
    assert again.summary() == text and again.loglikelihood_ == law.loglikelihood_
