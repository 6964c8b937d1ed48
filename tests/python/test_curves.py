"""`CurveRegressor`: certified values, other programs, closed forms and brute force."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nist import REFERENCES
from scipy import integrate, optimize, stats
from sklearn.utils.estimator_checks import check_estimator

from uncertain import GaussianArray, UncertainError
from uncertain.exceptions import ConvergenceWarning
from uncertain.laws import CurveRegressor, LinearLaw

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


def growth(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] * np.exp(p[1] * x[:, 0])


def line(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + x @ p[1 : 1 + x.shape[1]]


def sigmoid(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] / (1 + np.exp(-p[1] * (x[:, 0] - p[2])))


def parabola(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + p[1] * x[:, 0] + p[2] * x[:, 0] ** 2


def any_width(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + p[1] * x[:, 0]


def readings(
    f: Function, params: list[float], n: int, seed: int, error: tuple[float, float] = (0.2, 0.6)
) -> tuple[GaussianArray, np.ndarray, np.ndarray]:
    """One feature with errors, targets with scatter 0.1 and errors of 0.05 to 0.2."""
    rng = np.random.default_rng(seed)
    z, s, t = rng.normal(size=(n, 1)), rng.uniform(*error, size=(n, 1)), rng.uniform(0.05, 0.2, size=n)
    y = f(z, np.array(params)) + 0.1 * rng.normal(size=n) + t * rng.normal(size=n)
    return GaussianArray(z + s * rng.normal(size=(n, 1)), std=s), y, t


FAR = {("MGH10", 0), ("BoxBOD", 0)}
"""Starts from which no minimum is found within 2,000 steps, which must be said."""


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", REFERENCES)
def test_certified_values_of_nist(name: str, start: int) -> None:
    reference = REFERENCES[name]
    law = CurveRegressor(
        lambda x, b: reference.curve(x[:, 0], b), reference.starts[start], truth="functional", max_iter=2000
    )
    X = np.array(reference.x, dtype=float)[:, None]
    with np.errstate(all="ignore"):
        if (name, start) in FAR:
            with pytest.raises((UncertainError, ConvergenceWarning)):
                law.fit(X, reference.y)
            return
        law.fit(X, reference.y)
    assert law.status_ == "converged"
    np.testing.assert_allclose(law.params_, reference.params, rtol=1e-6)
    np.testing.assert_allclose(law.std_, reference.stds, rtol=1e-6)


PEARSON = np.array(
    [
        [0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4],
        [5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5],
        [1000.0, 1000.0, 500.0, 800.0, 200.0, 80.0, 60.0, 20.0, 1.8, 1.0],
        [1.0, 1.8, 4.0, 8.0, 20.0, 20.0, 70.0, 70.0, 100.0, 500.0],
    ]
)
"""x, y, and York's weights of both."""


def pearson() -> tuple[GaussianArray, np.ndarray, np.ndarray]:
    x, y, wx, wy = PEARSON
    return GaussianArray(x[:, None], std=wx[:, None] ** -0.5), y, wy**-0.5


def test_pearson_with_yorks_weights() -> None:
    X, y, y_std = pearson()
    law = CurveRegressor(line, {"intercept": 5.0, "slope": -0.5}, truth="functional").fit(X, y, y_std)
    np.testing.assert_allclose(law.params_, [5.479910, -0.480533], atol=5e-7)
    # York et al., American Journal of Physics 72, 2004: errors at the adjusted points.
    (_, _, wx, wy), b = PEARSON, law.params_[1]
    w = wx * wy / (wx + b**2 * wy)
    x_bar, y_bar = np.average(X.means[:, 0], weights=w), np.average(y, weights=w)
    u, v = X.means[:, 0] - x_bar, y - y_bar
    adjusted = x_bar + w * (u / wy + b * v / wx)
    mean = np.average(adjusted, weights=w)
    slope = 1 / np.sqrt((w * (adjusted - mean) ** 2).sum())
    intercept = np.sqrt(1 / w.sum() + (mean * slope) ** 2)
    np.testing.assert_allclose(law.std_, [intercept, slope], rtol=1e-5)
    assert law.residual_variance_ * 8 == pytest.approx(11.866353, abs=1e-5)


@pytest.mark.parametrize(
    ("f", "params"), [(growth, [1.0, 0.7]), (sigmoid, [2.0, 1.5, 0.2]), (parabola, [0.5, 1.0, 0.4])]
)
def test_functional_fits_are_those_of_odrpack(f: Function, params: list[float]) -> None:
    odrpack = pytest.importorskip("odrpack")
    X, y, _ = readings(f, params, 60, 3)
    y_std = np.full(60, 0.2)
    law = CurveRegressor(f, params, truth="functional").fit(X, y, y_std)
    x, s = X.means[:, 0], np.sqrt(X.covariances()[:, 0, 0])
    weights = {"weight_x": s**-2, "weight_y": y_std**-2}
    stop = {"maxit": 2000, "sstol": 1e-15, "partol": 1e-15, "diff_scheme": "central"}
    theirs = odrpack.odr_fit(lambda x, b: f(x[:, None], b), x, y, np.array(params), **weights, **stop)
    # Theirs stops where differences from one side let it: 1e-5 of a standard error above the minimum.
    assert np.all(np.abs(law.params_ - theirs.beta) < 2e-5 * law.std_)
    np.testing.assert_allclose(law.covariance_, theirs.cov_beta, rtol=1e-3)
    assert law.residual_variance_ == pytest.approx(theirs.res_var, rel=1e-7)


def test_functional_fit_with_correlated_errors_by_brute_force() -> None:
    rng = np.random.default_rng(5)
    n = 12
    z = rng.normal(size=(n, 2))
    root = 0.3 * rng.normal(size=(n, 3, 3))
    C = root @ root.transpose(0, 2, 1) + 0.01 * np.eye(3)
    noise = np.einsum("nij,nj->ni", np.linalg.cholesky(C), rng.normal(size=(n, 3)))

    def f(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p[0] * np.exp(0.3 * x[:, 0]) + p[1] * np.sin(x[:, 1])

    x, y = z + noise[:, :2], f(z, np.array([1.0, 2.0])) + noise[:, 2]
    law = CurveRegressor(f, [1.0, 2.0], truth="functional")
    law.fit(GaussianArray(x, cov=C[:, :2, :2]), y, np.sqrt(C[:, 2, 2]), C[:, :2, 2])
    white = np.linalg.inv(np.linalg.cholesky(C))

    def residuals(v: np.ndarray) -> np.ndarray:
        t = v[2:].reshape(n, 2)
        e = np.column_stack([x - t, y - f(t, v[:2])])
        return np.einsum("nij,nj->ni", white, e).ravel()

    start = np.concatenate([[1.0, 2.0], x.ravel()])
    brute = optimize.least_squares(residuals, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    np.testing.assert_allclose(law.params_, brute.x[:2], rtol=1e-6)
    assert law.residual_variance_ * (n - 2) == pytest.approx(2 * brute.cost, rel=1e-9)
    exact = np.linalg.inv(brute.jac.T @ brute.jac)[:2, :2]
    np.testing.assert_allclose(law.covariance_, exact, rtol=1e-5)


def test_functional_fit_of_rows_with_and_without_errors_by_brute_force() -> None:
    rng = np.random.default_rng(4)
    n, s = 30, np.repeat([0.0, 0.3, 0.6], 10)
    z = rng.normal(size=n)
    x, y = z + s * rng.normal(size=n), growth(z[:, None], np.array([1.0, 0.7])) + 0.2 * rng.normal(size=n)
    law = CurveRegressor(growth, [1.0, 0.5], truth="functional").fit(
        GaussianArray(x[:, None], std=s[:, None]), y, 0.2
    )

    def residuals(v: np.ndarray) -> np.ndarray:
        return np.concatenate([v[2:], (y - growth((x - s * v[2:])[:, None], v[:2])) / 0.2])

    brute = optimize.least_squares(
        residuals, np.r_[1.0, 0.5, np.zeros(n)], xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    np.testing.assert_allclose(law.params_, brute.x[:2], rtol=1e-7)
    np.testing.assert_allclose(law.covariance_, np.linalg.inv(brute.jac.T @ brute.jac)[:2, :2], rtol=1e-5)
    # The true values are fitted where all parameters are fixed, too.
    fixed = CurveRegressor(growth, law.params_, fixed=[0, 1], truth="functional")
    fixed.fit(GaussianArray(x[:, None], std=s[:, None]), y, 0.2)
    assert fixed.loglikelihood_ == pytest.approx(law.loglikelihood_, abs=1e-10)


def test_a_functional_fit_does_not_depend_on_an_offset() -> None:
    X, y, y_std = readings(growth, [1.0, 0.7], 60, 3)
    plain = CurveRegressor(growth, [1.0, 0.5], truth="functional").fit(X, y, y_std)

    def lifted(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return growth(x, p) + 1e6

    high = CurveRegressor(lifted, [1.0, 0.5], truth="functional").fit(X, y + 1e6, y_std)
    assert high.status_ == "converged"
    assert np.all(np.abs(high.params_ - plain.params_) < 1e-3 * plain.std_)


def flat(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.exp(-np.clip(p[0] * x[:, 0], -700, 700))


def rounded(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return 1e16 + p[0] * x[:, 0] + p[1]


@pytest.mark.parametrize(
    ("truth", "f", "p0", "x_std", "scatter"),
    [
        ("functional", flat, [400.0], 0.0, True),
        ("functional", flat, [400.0], 0.05, True),
        ("functional", rounded, [1.0, -1e16], 0.0, True),
        ("structural", flat, [400.0], 0.0, True),
        ("structural", flat, [400.0], 0.0, False),
        ("structural", rounded, [1.0, -1e16], 0.0, False),
    ],
)
def test_where_nothing_moves_or_derivatives_are_rounding_a_fit_has_not_converged(
    truth: Any, f: Function, p0: list[float], x_std: float, scatter: bool
) -> None:
    x = np.linspace(0.1, 3.0, 40)
    X, y = GaussianArray(x[:, None], std=x_std), 2 * x + 1 + 0.1 * np.sin(9 * x)
    with pytest.warns(ConvergenceWarning, match="no_progress"):
        CurveRegressor(f, p0, truth=truth, scatter=scatter).fit(X, y, 0.1)


def test_what_interrupts_a_functional_fit_is_raised_as_it_came() -> None:
    calls = []

    def interrupted(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        calls.append(len(x))
        if len(calls) == 5:
            raise KeyboardInterrupt
        return growth(x, p)

    X, y, y_std = readings(growth, [1.0, 0.7], 30, 3)
    with pytest.raises(KeyboardInterrupt):
        CurveRegressor(interrupted, [1.0, 0.5], truth="functional").fit(X, y, y_std)
    assert len(calls) == 5

    def stop(progress: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        CurveRegressor(growth, [1.0, 0.5], truth="functional", callback=stop).fit(X, y, y_std)


@pytest.mark.parametrize("truth", ["structural", "functional"])
def test_exact_x_is_least_squares(truth: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(40, 1))
    y = growth(x, np.array([1.0, 0.7])) + 0.1 * rng.normal(size=40)
    law = CurveRegressor(growth, [1.0, 0.5], truth=truth).fit(x, y)  # type: ignore[arg-type]
    theirs, cov = optimize.curve_fit(lambda x, a, b: a * np.exp(b * x), x[:, 0], y, [1.0, 0.5])
    np.testing.assert_allclose(law.params_, theirs, rtol=1e-6)
    scatter = np.sqrt(((y - growth(x, theirs)) ** 2).sum() / 38)
    if truth == "structural":
        assert law.scatter_ == pytest.approx(scatter, rel=1e-6)
        # The information of the likelihood has the second derivatives of the curve, too.
        np.testing.assert_allclose(law.std_, np.sqrt(np.diag(cov)), rtol=0.02)
    else:
        np.testing.assert_allclose(law.covariance_, cov, rtol=1e-5)
    np.testing.assert_allclose(law.naive_params_, theirs, rtol=1e-6)


def brute_force(law: CurveRegressor, X: GaussianArray, y: np.ndarray, t: np.ndarray) -> float:
    """The sum of log p(y | x) for one feature, by adaptive integration on many short intervals."""
    total = 0.0
    for x, s, y_i, t_i in zip(X.means[:, 0], np.sqrt(X.covariances()[:, 0, 0]), y, t, strict=True):
        V = law.covariances_[:, 0, 0] + s**2
        w = law.weights_ * stats.norm.pdf(x, law.means_[:, 0], np.sqrt(V))
        m = law.means_[:, 0] + law.covariances_[:, 0, 0] / V * (x - law.means_[:, 0])
        P = np.sqrt(law.covariances_[:, 0, 0] * s**2 / V)
        deviation = np.hypot(law.scatter_, t_i)

        edges = np.linspace((m - 12 * P).min(), (m + 12 * P).max(), 400)
        nodes, weights = np.polynomial.legendre.leggauss(20)
        half = np.diff(edges)[:, None] / 2
        z = ((edges[:-1, None] + half) + half * nodes).reshape(-1, 1)
        prior = (w / w.sum() * stats.norm.pdf(z, m, P)).sum(axis=1)
        density = prior * stats.norm.pdf(y_i, law.curve(z, law.params_), deviation)
        total += np.log((density * (weights * half).ravel()).sum())
    return total


@pytest.mark.parametrize(
    ("f", "params", "n_components"),
    [
        (growth, [1.0, 0.7], 1),
        (sigmoid, [2.0, 6.0, 0.2], 1),
        (parabola, [0.0, 0.0, 1.0], 1),
        (growth, [1.0, 0.7], 2),
        (lambda x, p: p[0] * np.sin(3 * p[1] * x[:, 0]), [2.0, 1.0], 1),
    ],
    ids=["spike", "shoulder", "two modes", "two components", "many modes"],
)
def test_likelihood_is_that_of_brute_force(f: Function, params: list[float], n_components: int) -> None:
    X, y, t = readings(f, params, 30, 8)
    law = CurveRegressor(f, params, n_components=n_components).fit(X, y, t)
    assert law.status_ == "converged"
    assert law.loglikelihood_ == pytest.approx(brute_force(law, X, y, t), abs=1e-8 * 30)
    assert law.integration_error_ < 1e-8


@pytest.mark.parametrize(("seed", "f"), [(1, parabola), (3, lambda x, p: 2 * np.sin(x[:, 0]) + 0 * p[0])])
def test_both_spikes_beside_a_turn_count(seed: int, f: Function) -> None:
    """With so small errors of y its readings are met in two places that are closer than the first look."""
    params, error, n = np.array([1.0, -0.9, 1.5]), 0.003, 60
    rng = np.random.default_rng(seed)
    z, s = rng.normal(size=(n, 1)), rng.uniform(0.2, 0.5, size=(n, 1))
    y = f(z, params) + error * rng.normal(size=n)
    X = GaussianArray(z + s * rng.normal(size=(n, 1)), std=s)
    law = CurveRegressor(f, params, scatter=False, fixed=[0, 1, 2]).fit(X, y, error)
    T, S = law.covariances_[0, 0, 0], s[:, 0] ** 2
    m, P = law.means_[0, 0] + T / (T + S) * (X.means[:, 0] - law.means_[0, 0]), T * S / (T + S)
    total, v = 0.0, np.linspace(-9, 9, 200_001)
    for i in range(n):
        places = m[i] + np.sqrt(P[i]) * v
        density = stats.norm.pdf(v) * stats.norm.pdf(y[i], f(places[:, None], params), error)
        total += np.log(np.trapezoid(density, v))
    assert law.loglikelihood_ == pytest.approx(total, abs=1e-7)


def test_a_line_with_errors_that_go_together_is_the_law_of_lines() -> None:
    rng = np.random.default_rng(2)
    n = 80
    z = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.5], [0.0, 0.8]])
    root = 0.4 * rng.normal(size=(n, 3, 3))
    C, noise = root @ root.transpose(0, 2, 1), np.einsum("nij,nj->ni", root, rng.normal(size=(n, 3)))
    y = 1.0 + z @ [2.0, -1.0] + 0.2 * rng.normal(size=n) + noise[:, 2]
    rows = GaussianArray(z + noise[:, :2], cov=C[:, :2, :2]), y, np.sqrt(C[:, 2, 2]), C[:, :2, 2]
    curve, law = CurveRegressor(line, [0.0, 1.0, 0.0]).fit(*rows), LinearLaw().fit(*rows)
    assert np.all(np.abs(curve.params_ - [law.intercept_, *law.coef_]) < 1e-2 * curve.std_)
    assert curve.loglikelihood_ == pytest.approx(law.loglikelihood_, abs=1e-3)


def test_two_noisy_features_by_brute_force() -> None:
    rng = np.random.default_rng(4)
    n = 12
    z = rng.normal(size=(n, 2))

    def f(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p[0] * np.exp(0.5 * x[:, 0]) + p[1] * x[:, 1] ** 2

    y = f(z, np.array([1.0, 0.5])) + 0.2 * rng.normal(size=n)
    X = GaussianArray(z + 0.3 * rng.normal(size=(n, 2)), std=0.3)
    law = CurveRegressor(f, [1.0, 0.5]).fit(X, y, 0.1)
    mu, T = law.means_[0], law.covariances_[0]
    P = T - T @ np.linalg.solve(T + 0.09 * np.eye(2), T)
    root = np.linalg.cholesky(P)
    t = np.linspace(-8, 8, 401)
    grid = np.stack(np.meshgrid(t, t), axis=-1).reshape(-1, 2)
    prior = stats.norm.pdf(grid).prod(axis=1) * (t[1] - t[0]) ** 2
    total = 0.0
    for x, y_i in zip(X.means, y, strict=True):
        m = mu + T @ np.linalg.solve(T + 0.09 * np.eye(2), x - mu)
        values = law.curve(m + grid @ root.T, law.params_)
        total += np.log((prior * stats.norm.pdf(y_i, values, np.hypot(law.scatter_, 0.1))).sum())
    # Several modes in two dimensions: what is left is said.
    assert law.loglikelihood_ == pytest.approx(total, abs=max(1e-7, law.integration_error_))
    assert law.integration_error_ < 1e-4


def test_predictions_average_over_what_the_reading_leaves() -> None:
    X, y, t = readings(growth, [1.0, 0.7], 100, 0)
    law = CurveRegressor(growth, [1.0, 0.7]).fit(X, y, t)
    s2 = X.covariances()[:, 0, 0]
    T, mu = law.covariances_[0, 0, 0], law.means_[0, 0]
    m, P = mu + T / (T + s2) * (X.means[:, 0] - mu), T * s2 / (T + s2)
    a, b = law.params_
    mean = a * np.exp(b * m + b**2 * P / 2)  # of a log-normal variable
    found, std = law.predict_distribution(X)
    np.testing.assert_allclose(found, mean, rtol=1e-9)
    np.testing.assert_allclose(std, np.sqrt(mean**2 * np.expm1(b**2 * P) + law.scatter_**2), rtol=1e-7)
    np.testing.assert_allclose(law.predict(X), mean, rtol=1e-9)
    exact = GaussianArray(X.means)
    np.testing.assert_allclose(law.predict(exact), growth(X.means, law.params_), rtol=1e-12)
    functional = CurveRegressor(growth, [1.0, 0.7], truth="functional").fit(X, y, t)
    found, std = functional.predict(X, return_std=True)
    a, b = functional.params_
    np.testing.assert_allclose(found, a * np.exp(b * X.means[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(std, a * b * np.exp(b * X.means[:, 0]) * np.sqrt(s2), rtol=1e-6)


def test_several_outputs_with_covariance() -> None:
    rng = np.random.default_rng(6)
    n = 200
    z = rng.normal(size=(n, 1))
    cov = np.array([[0.04, 0.03], [0.03, 0.09]])

    def f(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.column_stack([p[0] + p[1] * x[:, 0], p[0] * np.exp(p[1] * x[:, 0])])

    y = f(z, np.array([1.0, 0.7])) + rng.multivariate_normal([0, 0], cov, size=n)
    y += rng.normal(size=(n, 2)) * [0.1, 0.3]
    X = GaussianArray(z + 0.3 * rng.normal(size=(n, 1)), std=0.3)
    law = CurveRegressor(f, [1.0, 0.5]).fit(X, y, y_cov=cov)
    assert np.all(np.abs(law.params_ - [1.0, 0.7]) < 4 * law.std_)
    assert np.shape(law.scatter_) == (2,)
    np.testing.assert_allclose(law.scatter_, [0.1, 0.3], atol=0.1)
    mean, std = law.predict_distribution(X)
    assert mean.shape == std.shape == (n, 2)
    mu, T = law.means_[0, 0], law.covariances_[0, 0, 0]
    M = cov + np.diag(np.asarray(law.scatter_) ** 2)
    v = np.linspace(-9, 9, 3001)
    total = 0.0
    for x, y_i in zip(X.means[:, 0], y, strict=True):
        z_i = mu + T / (T + 0.09) * (x - mu) + np.sqrt(T * 0.09 / (T + 0.09)) * v
        density = stats.multivariate_normal.pdf(y_i - f(z_i[:, None], law.params_), [0, 0], M)
        total += np.log(integrate.simpson(density * stats.norm.pdf(v), x=v))
    assert law.loglikelihood_ == pytest.approx(total, abs=1e-6)


def test_bounds_fixed_parameters_and_derivatives() -> None:
    X, y, t = readings(growth, [1.0, 0.7], 80, 2)
    free = CurveRegressor(growth, [1.0, 0.5]).fit(X, y, t)

    def jac(x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        e = np.exp(p[1] * x[:, 0])
        return np.column_stack([e, p[0] * x[:, 0] * e]), (p[0] * p[1] * e)[:, None]

    for answer in (jac, lambda x, p: jac(x, p)[0]):
        exact = CurveRegressor(growth, [1.0, 0.5], jac=answer).fit(X, y, t)
        np.testing.assert_allclose(exact.params_, free.params_, rtol=1e-6)
        np.testing.assert_allclose(exact.std_, free.std_, rtol=1e-4)
    held = CurveRegressor(growth, {"a": 1.0, "b": 0.5}, bounds={"b": (0.0, 0.6)}).fit(X, y, t)
    assert held.params_[1] == 0.6 and np.isnan(held.std_[1]) and held.std_[0] > 0
    assert held.loglikelihood_ < free.loglikelihood_
    fixed = CurveRegressor(growth, {"a": 1.0, "b": 0.6}, fixed=["b"]).fit(X, y, t)
    assert fixed.params_[1] == 0.6 and fixed.std_[1] == 0.0
    # Their scatters differ by a degree of freedom.
    np.testing.assert_allclose(fixed.params_[0], held.params_[0], rtol=1e-3)
    np.testing.assert_allclose(fixed.std_[0], held.std_[0], rtol=0.02)
    without = CurveRegressor(growth, [1.0, 0.5], scatter=False).fit(X, y, t)
    assert without.scatter_ == 0.0 and without.loglikelihood_ < free.loglikelihood_


def test_whole_weights_are_rows_and_groups_widen_errors() -> None:
    X, y, t = readings(growth, [1.0, 0.7], 60, 9)
    times = np.arange(60) % 3
    rows = np.repeat(np.arange(60), times)
    weighted = CurveRegressor(growth, [1.0, 0.5]).fit(X, y, t, sample_weight=times)
    repeated = CurveRegressor(growth, [1.0, 0.5]).fit(X[rows], y[rows], t[rows])
    np.testing.assert_allclose(weighted.params_, repeated.params_, rtol=2e-3)
    functional = [
        CurveRegressor(growth, [1.0, 0.5], truth="functional").fit(*of, sample_weight=w).params_
        for of, w in (((X, y, t), times), ((X[rows], y[rows], t[rows]), None))
    ]
    np.testing.assert_allclose(*functional, rtol=1e-7)
    # Each row four times: groups know that these are no new rows.
    four = np.repeat(np.arange(60), 4)
    for truth in ("structural", "functional"):
        fits = [
            CurveRegressor(growth, [1.0, 0.5], truth=truth).fit(X[four], y[four], t[four], groups=g)  # type: ignore[arg-type]
            for g in (None, four, np.arange(240))
        ]
        ratio = fits[1].std_ / fits[2].std_
        np.testing.assert_allclose(ratio, 2.0, rtol=0.02)


def test_order_of_rows_and_units_change_nothing() -> None:
    X, y, t = readings(growth, [1.0, 0.7], 80, 12)
    law = CurveRegressor(growth, [1.0, 0.5]).fit(X, y, t)
    order = np.random.default_rng(0).permutation(80)
    other = CurveRegressor(growth, [1.0, 0.5]).fit(X[order], y[order], t[order])
    np.testing.assert_allclose(other.params_, law.params_, rtol=1e-7)
    small = GaussianArray(1e-8 * X.means, cov=1e-16 * X.covariances())
    scaled = CurveRegressor(growth, [1e6, 0.5e8]).fit(small, 1e6 * y, 1e6 * t)
    np.testing.assert_allclose(scaled.params_ / [1e6, 1e8], law.params_, rtol=1e-6)
    np.testing.assert_allclose(scaled.std_ / [1e6, 1e8], law.std_, rtol=1e-4)
    # Errors of nothing are no errors.
    exact = CurveRegressor(growth, [1.0, 0.5]).fit(X.means, y, t)
    tiny = CurveRegressor(growth, [1.0, 0.5]).fit(GaussianArray(X.means, std=1e-7), y, t)
    np.testing.assert_allclose(tiny.params_, exact.params_, rtol=1e-6)
    np.testing.assert_allclose(tiny.std_, exact.std_, rtol=1e-4)


def test_intervals_summary_and_pickle() -> None:
    X, y, t = readings(growth, [1.0, 0.7], 60, 1)
    law = CurveRegressor(growth, {"a": 1.0, "b": 0.5}).fit(X, y, t)
    low, high = law.conf_int(0.9).T
    np.testing.assert_allclose((high - low) / 2, 1.6448536269514722 * law.std_)
    text = law.summary()
    assert all(word in text for word in ("a ", "b ", "scatter", "without errors", "structural"))
    again = pickle.loads(pickle.dumps(law))
    np.testing.assert_array_equal(again.predict(X), law.predict(X))
    draws = law.sample_posterior(4000, random_state=1)
    np.testing.assert_allclose(np.cov(draws.T), law.covariance_, rtol=0.15)
    np.testing.assert_array_equal(law.coef_std_, law.std_)
    assert law.intrinsic_scatter_ == law.scatter_
    unknown = CurveRegressor(growth, [1.0, 0.5], truth="functional").fit(X.means, y)
    copied = pickle.loads(pickle.dumps(unknown))
    np.testing.assert_array_equal(copied.naive_params_, unknown.naive_params_)
    assert np.isfinite(unknown.conf_int(method="profile")).all()  # still knows its readings
    t_quantile = stats.t.ppf(0.975, 58)
    np.testing.assert_allclose(unknown.conf_int()[:, 1], unknown.params_ + t_quantile * unknown.std_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("truth", ["structural", "functional"])
def test_conventions_of_scikit_learn(truth: str) -> None:
    check_estimator(CurveRegressor(any_width, [0.0, 1.0], truth=truth))  # type: ignore[arg-type]


def bad(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    if p[0] > 0:
        raise ZeroDivisionError("no")
    return x[:, 0]


def nan_slopes(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    slopes = np.ones((len(x), len(p)))
    slopes[4, 1] = np.nan
    return slopes


def nan_slopes_by_x(x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    slopes = np.ones((len(x), 1))
    slopes[2] = np.inf
    return np.ones((len(x), len(p))), slopes


@pytest.mark.parametrize(
    ("curve", "p0", "options", "data", "words"),
    [
        (bad, [1.0], {}, {}, ["ZeroDivisionError", "params = [1.0]", "x = ["]),
        (lambda x, p: x[:3, 0], [1.0], {}, {}, ["the shape (3,)", "expected (20,)", "params = [1.0]"]),
        (lambda x, p: "text", [1.0], {}, {}, ["returned a str"]),
        (lambda x, p: np.float32(x[:, 0] + p[0]), [1.0], {}, {}, ["returned float32", "Compute in float64"]),
        (lambda x, p: p[0] * np.log(x[:, 0] - 4), [1.0], {}, {}, ["NaN for row 0", "x = [0", "p0 = [1"]),
        (lambda x, p: p[0] * p[1] * x[:, 0], {"a": 1.0, "b": 2.0}, {}, {}, ["do not determine", "a", "b"]),
        (lambda x, p: p[0] + 0 * p[1] + x[:, 0], {"a": 1.0, "b": 2.0}, {}, {}, ["does not change", "b"]),
        (any_width, [1.0, 1.0], {"bounds": (2.0, 3.0)}, {}, ["params[0] = 1", "within its bounds, 2 to 3"]),
        (any_width, [1.0, 1.0], {"bounds": (3.0, 2.0)}, {}, ["lower < upper"]),
        (any_width, [1.0, 1.0], {"bounds": 3}, {}, ["bounds = 3"]),
        (any_width, [np.nan, 1.0], {}, {}, ["p0", "finite"]),
        (any_width, [], {}, {}, ["p0"]),
        (any_width, [1.0, 1.0], {"fixed": ["a"]}, {}, ["'a' is no parameter", "params[0]"]),
        (any_width, [1.0, 1.0], {"truth": "true"}, {}, ["truth", "structural, functional"]),
        (any_width, [1.0, 1.0], {"truth": "functional"}, {"noisy": True}, ["y_std", "row 0"]),
        (any_width, [1.0, 1.0], {}, {"y_std": -1.0}, ["y_std", "row 0", ">= 0"]),
        (any_width, [1.0, 1.0], {}, {"y_std": 1.0, "noisy": True, "xy_cov": np.full(20, 0.9)}, ["row 0"]),
        (any_width, [1.0, 1.0], {}, {"y_std": 1.0, "xy_cov": np.full(20, 0.1)}, ["row 0", "feature 0"]),
        (any_width, [1.0, 1.0], {"scatter": False}, {"y_std": 0.0}, ["row 0", "error is 0"]),
        (any_width, [1.0, 1.0], {}, {"y_std": 1.0, "y_cov": [[1.0]]}, ["one of them"]),
        (any_width, [1.0, 1.0], {}, {"y_cov": [[-1.0]]}, ["y_cov", "row 0"]),
        (3, [1.0], {}, {}, ["curve = 3"]),
        (any_width, [1.0, 1.0], {"jac": nan_slopes}, {}, ["jac", "parameters: it returned NaN for row 4"]),
        (any_width, [1.0, 1.0], {"jac": nan_slopes_by_x}, {}, ["jac", "by x: it returned inf for row 2"]),
    ],
)
def test_bad_input_is_refused_in_words(
    curve: object, p0: object, options: dict, data: dict, words: list[str]
) -> None:
    x = np.linspace(0, 3, 20)[:, None]
    X = GaussianArray(x, std=0.5) if data.pop("noisy", False) else x
    law = CurveRegressor(curve, p0, **options)  # type: ignore[arg-type]
    with np.errstate(all="ignore"), pytest.raises(UncertainError) as refused:
        law.fit(X, x[:, 0] + 0.1 * np.sin(9 * x[:, 0]), **data)
    assert all(word in str(refused.value) for word in words), refused.value


def test_curves_that_are_not_defined_near_a_reading_are_refused_with_its_row() -> None:
    X = GaussianArray(np.linspace(0.5, 3, 20)[:, None], std=0.5)
    y = np.sqrt(X.means[:, 0])
    with np.errstate(all="ignore"), pytest.raises(UncertainError, match=r"row \d+.*which was read as"):
        CurveRegressor(lambda x, p: p[0] * np.sqrt(x[:, 0]), [1.0]).fit(X, y, 0.1)


def test_too_many_noisy_features_and_too_few_steps() -> None:
    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(50, 4)), std=0.1)
    y = X.means.sum(axis=1)
    with pytest.raises(UncertainError, match="4 features with errors"):
        CurveRegressor(line, np.zeros(5)).fit(X, y)
    X, y, t = readings(growth, [1.0, 0.7], 60, 1)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        CurveRegressor(growth, [1.0, 0.1], max_iter=1, truth="functional").fit(X, y, t)


def test_what_the_curve_raises_is_the_cause_and_data_are_not_changed() -> None:
    x = np.linspace(0, 3, 20)[:, None]

    def writes(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        x += 1
        p *= 2
        return p[0] + 0.5 * p[1] * x[:, 0]

    before = x.copy()
    CurveRegressor(writes, [1.0, 1.0]).fit(x, x[:, 0] + np.sin(9 * x[:, 0]))
    np.testing.assert_array_equal(x, before)
    with pytest.raises(UncertainError) as refused:
        CurveRegressor(bad, [1.0]).fit(x, x[:, 0])
    assert isinstance(refused.value.__cause__, ZeroDivisionError)


def test_profile_intervals() -> None:
    rng = np.random.default_rng(11)
    x = rng.uniform(0, 3, size=(40, 1))
    y = 2 * np.exp(-0.8 * x[:, 0]) + 0.1 * rng.normal(size=40)
    # Where the curve is linear in its parameters both are the same.
    for known in (None, np.full(40, 0.1)):
        law = CurveRegressor(parabola, [0.0, 0.0, 0.0], truth="functional").fit(x, y, y_std=known)
        np.testing.assert_allclose(law.conf_int(method="profile"), law.conf_int(), rtol=2e-3, atol=1e-4)
    law = CurveRegressor(growth, [1.0, -0.5], truth="functional").fit(x, y, y_std=np.full(40, 0.1))
    low, high = law.conf_int(0.9, "profile")[1]

    def fall(b: float) -> float:
        e = np.exp(b * x[:, 0])
        left = y - e * (e @ y) / (e @ e)
        return float(((left / 0.1) ** 2).sum() + 2 * law.loglikelihood_)

    least = fall(law.params_[1])
    for end in (low, high):
        assert fall(end) - least == pytest.approx(stats.norm.ppf(0.95) ** 2, rel=1e-2)
    assert low < law.params_[1] < high and not np.isclose(
        high - law.params_[1], law.params_[1] - low, rtol=0.02
    )
    X, y, t = readings(growth, [1.0, 0.7], 240, 5)
    law = CurveRegressor(growth, {"a": 1.0, "b": 0.5}, bounds={"a": (0.9, 5.0)}, fixed=["a"]).fit(
        X, y, y_std=t
    )
    ends = law.conf_int(method="profile")
    assert np.isnan(ends[0]).all()
    np.testing.assert_allclose(ends[1], law.conf_int()[1], atol=0.5 * law.std_[1])
    with pytest.raises(UncertainError, match="readings of the fit"):
        pickle.loads(pickle.dumps(law)).conf_int(method="profile")
    with pytest.raises(UncertainError, match="wald"):
        law.conf_int(method="both")
