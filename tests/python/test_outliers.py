"""Outliers in laws: likelihoods maximised by SciPy, a law as line and as curve, simulations, and refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats
from scipy.optimize import curve_fit

import uncertain
from uncertain import GaussianArray, UncertainError
from uncertain.laws import CurveRegressor, LinearLaw, shared_modes

Readings = tuple[GaussianArray, np.ndarray, np.ndarray, np.ndarray]


def readings(n: int, seed: int, share: float, noisy: bool = True) -> Readings:
    """Two features, errors of the target of .1 to .3, scatter .2, some targets 10 to 30 sigma away."""
    rng = np.random.default_rng(seed)
    z, t = rng.normal(size=(n, 2)), rng.uniform(0.1, 0.3, size=n)
    s = rng.uniform(0.2, 0.5, size=(n, 2)) if noisy else np.zeros((n, 2))
    y = 1 + z @ [1.0, 2.0] + np.hypot(0.2, t) * rng.normal(size=n)
    bad = rng.uniform(size=n) < share
    y += bad * np.hypot(0.2, t) * rng.uniform(10, 30, size=n) * rng.choice([-1, 1], size=n)
    return GaussianArray(z + s * rng.normal(size=(n, 2)), std=s), y, t, bad


def log_density(kind: str, r: np.ndarray, own: np.ndarray, other: np.ndarray, law: np.ndarray) -> np.ndarray:
    """Of residuals with their own variance and another: bad data, or Student noise by quadrature."""
    if kind == "mixture":
        narrow = stats.norm.logpdf(r, scale=np.sqrt(own + other)) + np.log1p(-law[0])
        wide = stats.norm.logpdf(r, scale=np.sqrt(own + other + law[1] ** 2)) + np.log(law[0])
        return np.logaddexp(narrow, wide)
    # y = Student + N(0, other), as the gamma mixture over its precision on a fine grid of log g.
    u = np.linspace(-25, 5, 601)[:, None]
    half = law[0] / 2
    weight = half * np.log(half) - special.gammaln(half) + half * (u - np.exp(u)) + np.log(u[1, 0] - u[0, 0])
    return special.logsumexp(weight + stats.norm.logpdf(r, scale=np.sqrt(own * np.exp(-u) + other)), axis=0)


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("kind", ["mixture", "student"])
def test_law_is_where_the_likelihood_is_largest(kind: str, noisy: bool) -> None:
    X, y, t, _ = readings(200, 3, 0.1, noisy)
    given = 3.0 if kind == "student" else None
    law = LinearLaw(outliers=kind, degrees_of_freedom=given).fit(X, y, y_std=t)
    mu, T = law.means_[0, :2], law.covariances_[0, :2, :2]
    S = X.covariances()
    gain = np.array([T @ np.linalg.inv(T + s) for s in S])
    m = mu + np.einsum("nij,nj->ni", gain, X.means - mu)
    P = T - gain @ T if noisy else np.zeros((200, 2, 2))
    m = m if noisy else X.means

    def parts(p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return y - p[0] - m @ p[1:3], p[3] ** 2 + t**2, np.einsum("i,nij,j->n", p[1:3], P, p[1:3])

    spread = parts(np.array([0.0, *law.coef_, 0.0]))[2]

    def minus(p: np.ndarray) -> float:
        r, own, other = parts(p)
        value = log_density(kind, r, own, other, p[4:] if given is None else np.array([given])).sum()
        # The degrees of freedom of the line, with what errors of x leave at the solution.
        return float(1.5 * np.log((1 / (own + spread)).sum()) - value)

    found = np.array([law.intercept_, *law.coef_, law.scatter_])
    if given is None:
        found = np.append(found, [value for value, _ in law.outlier_law_.values()])
    best = optimize.minimize(minus, found * 1.01, method="Nelder-Mead",
                             options={"xatol": 1e-7, "fatol": 1e-10, "maxfev": 6000})  # fmt: skip
    # Student's parts are a sum, whose density is within 1e-4 of Student's.
    close = 1e-4 if kind == "mixture" else 1e-3
    assert np.abs(best.x[:3] - found[:3]).max() < close * law.coef_std_.min()
    assert best.x[3] ** 2 == pytest.approx(found[3] ** 2, abs=close * 0.05)
    np.testing.assert_allclose(best.x[4:], found[4:], rtol=1e-3)
    r, own, other = parts(found)
    value = log_density(kind, r, own, other, found[4:] if given is None else np.array([given])).sum()
    assert law.loglikelihood_ == pytest.approx(value, abs=1e-7 if kind == "mixture" else 0.01)


@pytest.mark.parametrize("kind", ["mixture", "student"])
def test_line_and_curve_are_one_law(kind: str) -> None:
    X, y, t, bad = readings(150, 4, 0.1)
    X, y = X[:, [0]], y - 2 * X.means[:, 1]
    line = LinearLaw(outliers=kind, tol=1e-12).fit(X, y, y_std=t)
    curve = CurveRegressor(lambda x, p: p[0] + p[1] * x[:, 0], [0.0, 0.5], outliers=kind).fit(X, y, y_std=t)
    std = np.array([line.intercept_std_, *line.coef_std_])
    assert np.abs(curve.params_ - [line.intercept_, *line.coef_]).max() < 1e-2 * std.min()
    np.testing.assert_allclose(curve.std_, std, rtol=0.03)
    assert curve.scatter_ == pytest.approx(line.scatter_, rel=1e-2)
    for name, (value, _) in line.outlier_law_.items():
        assert curve.outlier_law_[name][0] == pytest.approx(value, rel=2e-2)
    np.testing.assert_allclose(curve.outlier_probability_, line.outlier_probability_, atol=0.02)
    assert "outliers" in curve.summary() and "outliers" in line.summary()
    assert line.outlier_probability_[bad].mean() > 0.8 > 0.2 > line.outlier_probability_[~bad].mean()


@pytest.mark.parametrize("kind", ["mixture", "student"])
def test_outliers_do_not_move_slopes_and_clean_data_lose_little(kind: str) -> None:
    slopes: dict[float, list[np.ndarray]] = {0.0: [], 0.1: []}
    stds: dict[float, list[np.ndarray]] = {0.0: [], 0.1: []}
    plain = []
    for seed in range(60):
        for share in slopes:
            X, y, t, _ = readings(200, seed, share)
            law = LinearLaw(outliers=kind).fit(X, y, y_std=t)
            slopes[share].append(law.coef_)
            stds[share].append(law.coef_std_)
        X, y, t, _ = readings(200, seed, 0.0)
        plain.append(LinearLaw().fit(X, y, y_std=t).coef_)
    for share, found in slopes.items():
        error = np.std(found, axis=0) / np.sqrt(60)
        assert np.all(np.abs(np.mean(found, axis=0) - [1, 2]) < 0.01 * np.array([1, 2]) + 3 * error)
        # Standard errors are those of the simulation, which knows its own to 9 %.
        np.testing.assert_allclose(np.median(stds[share], axis=0), np.std(found, axis=0), rtol=0.3)
    # The same data: what the law of outliers costs is known better than either error.
    assert np.all(np.std(slopes[0.0], axis=0) < 1.1 * np.std(plain, axis=0))


def test_limits_weights_gaps_and_groups_go_with_outliers() -> None:
    X, y, t, _ = readings(300, 5, 0.08)
    above = y > 3.5
    limit = np.where(above, 1, 0)
    cut = np.where(above, 3.5, y)
    law = LinearLaw(outliers="mixture").fit(X, cut, y_std=t, y_limit=limit)
    assert np.all(np.abs(law.coef_ - [1, 2]) < 4 * law.coef_std_)
    ignored = LinearLaw(outliers="mixture").fit(X, cut, y_std=t)
    assert ignored.coef_[1] < law.coef_[1] - 2 * law.coef_std_[1]
    # A row of weight 2 is two rows; one of weight 0 is none.
    weights = np.array([2.0, 0.0] + [1.0] * 298)
    copies = np.r_[0, 0, 2:300]
    weighted = LinearLaw(outliers="mixture").fit(X, y, y_std=t, sample_weight=weights)
    copied = LinearLaw(outliers="mixture").fit(X[copies], y[copies], y_std=t[copies])
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6)
    assert weighted.outlier_probability_.shape == (300,) and weighted.outlier_probability_[1] == 0
    means = X.means.copy()
    means[:30, 0] = np.nan
    stds = np.sqrt(np.stack([np.diag(c) for c in X.covariances()]))
    filled = GaussianArray(np.nan_to_num(means), std=stds)
    with_gaps = uncertain.Incomplete(filled, missing=np.isnan(means))
    law = LinearLaw(outliers="student").fit(with_gaps, y, y_std=t)
    assert np.all(np.abs(law.coef_ - [1, 2]) < 4 * law.coef_std_)
    # Every row twice, as groups of two: errors of half as many rows.
    twice = np.r_[:300, :300]
    single = LinearLaw(outliers="student").fit(X, y, y_std=t)
    grouped = LinearLaw(outliers="student").fit(X[twice], y[twice], y_std=t[twice], groups=twice)
    np.testing.assert_allclose(grouped.coef_, single.coef_, rtol=0.02)
    np.testing.assert_allclose(grouped.coef_std_, single.coef_std_, rtol=0.3)


def test_correlated_errors_are_those_of_the_joint_fit() -> None:
    rng = np.random.default_rng(6)
    n = 4000
    z = rng.normal(size=n)
    e = rng.multivariate_normal([0, 0], [[0.25, 0.1], [0.1, 0.09]], size=n)
    X, y = GaussianArray((z + e[:, 0])[:, None], std=0.5), 1 + 2 * z + 0.1 * rng.normal(size=n) + e[:, 1]
    plain = LinearLaw().fit(X, y, y_std=0.3, xy_cov=np.full(n, 0.1))
    law = LinearLaw(outliers="student", degrees_of_freedom=200).fit(X, y, y_std=0.3, xy_cov=np.full(n, 0.1))
    assert law.coef_[0] == pytest.approx(plain.coef_[0], abs=0.2 * plain.coef_std_[0])
    assert law.coef_std_[0] == pytest.approx(plain.coef_std_[0], rel=0.05)
    with pytest.raises(UncertainError, match=r"row 0.*no covariance matrix"):
        LinearLaw(outliers="student").fit(X, y, y_std=0.1, xy_cov=np.full(n, 0.1))


Floats = Any


def line(x: Floats, p: Floats) -> Floats:
    return p[0] + p[1] * x[:, 0]


def estimates(law: Any) -> Floats:
    """Intercept and slope, their standard errors and covariance, the scatter."""
    curve = hasattr(law, "params_")
    values = law.params_ if curve else np.append(law.intercept_, law.coef_)
    std = law.std_ if curve else np.append(law.intercept_std_, law.coef_std_)
    return np.r_[values, std, law.covariance_[0, 1], law.scatter_]


def readings_of_one_law(noise: float, n: int = 120) -> tuple[GaussianArray, Floats, Floats]:
    rng = np.random.default_rng(4)
    z, s, t = rng.normal(3, 1, n), noise * rng.uniform(0.2, 0.6, n), rng.uniform(0.1, 0.4, n)
    x = z + s * rng.normal(size=n)
    y = 2 * z - 1 + np.hypot(0.3, t) * rng.normal(size=n)
    return GaussianArray(x[:, None], std=s[:, None]) if noise else GaussianArray(x[:, None]), y, t


FACES: dict[str, Callable[[GaussianArray, Floats, Floats], Any]] = {
    "outliers": lambda X, y, t: LinearLaw(outliers="student", degrees_of_freedom=1e6).fit(X, y, t),
    "y_cov": lambda X, y, t: LinearLaw().fit(X, y, y_cov=np.diag(t**2)),
    "modes": lambda X, y, t: LinearLaw().fit(X, y, t, modes=np.full((len(y), 1), 1e-9)),
    "weights": lambda X, y, t: LinearLaw().fit(X, y, t, sample_weight=np.full(len(y), 3.0)),
    "units": lambda X, y, t: _in_units(LinearLaw().fit(X, 1e6 * y, 1e6 * t), 1e-6),
    "curve": lambda X, y, t: CurveRegressor(line, [0.0, 1.0]).fit(X, y, t),
}


def _in_units(law: Any, unit: float) -> Any:
    law.coef_, law.coef_std_ = unit * law.coef_, unit * law.coef_std_
    law.covariance_ = unit**2 * law.covariance_
    law.intercept_, law.intercept_std_ = unit * law.intercept_, unit * law.intercept_std_
    law.intrinsic_scatter_ *= unit
    return law


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("face", FACES)
def test_every_face_of_a_line_is_the_same(face: str, noise: float) -> None:
    X, y, t = readings_of_one_law(noise)
    np.testing.assert_allclose(
        estimates(FACES[face](X, y, t)), estimates(LinearLaw().fit(X, y, t)), rtol=1e-6
    )


def test_a_factor_of_one_changes_no_coefficient() -> None:
    X, y, t = readings_of_one_law(1.0)
    factor = LinearLaw(error_scale="fit").fit(X, y, t).error_scale_
    scaled, plain = LinearLaw(error_scale="fit").fit(X, y, factor * t), LinearLaw().fit(X, y, factor * t)
    assert scaled.error_scale_ == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose([*scaled.coef_, scaled.scatter_], [*plain.coef_, plain.scatter_], rtol=1e-6)


@pytest.mark.parametrize("ratio", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("origin", [0.0, 2459000.5])
def test_without_scatter_it_is_weighted_least_squares(ratio: float, origin: float) -> None:
    """Error bars are a part of the range, and too large, so that no scatter is left."""
    rng = np.random.default_rng(5)
    x, s = rng.uniform(0, 1000, 60), 1000 * ratio * rng.uniform(1, 3, 60)
    if origin and ratio < 1e-8:
        pytest.skip("less than the rounding of such times")
    y = 3.25 * x + 0.5 + 0.5 * s * rng.normal(size=60) + origin
    X, A = GaussianArray(x[:, None]), np.c_[np.ones(60), x - x.mean()] / s[:, None]
    q, r = np.linalg.qr(A)
    best = np.linalg.solve(r, q.T @ ((y - origin) / s))
    std = np.linalg.norm(np.linalg.inv(r), axis=1)[1]
    law = LinearLaw().fit(X, y, s)
    assert law.scatter_ == 0.0 and np.isnan(law.intrinsic_scatter_std_) and law.status_ == "converged"
    np.testing.assert_allclose([law.coef_[0], law.coef_std_[0]], [best[1], std], rtol=1e-10)
    assert law.predict(X, return_std=True)[1].max() == 0.0
    assert "scatter: 0, the bound of its range" in law.summary()
    curve = CurveRegressor(line, [origin, 3.0]).fit(X, y, s)
    assert curve.scatter_ == 0.0
    # Differences of the curve lose digits to the origin.
    rtol = 1e-5 if origin else 1e-6
    np.testing.assert_allclose([curve.params_[1], curve.std_[1]], [best[1], std], rtol=rtol)


@pytest.mark.parametrize("n", [4, 5, 6, 8, 20])
def test_residuals_over_degrees_of_freedom(n: int) -> None:
    rng = np.random.default_rng(n)
    x = np.arange(n) + 0.5
    y = 1 - 2 * x + rng.normal(size=n)
    X = GaussianArray(x[:, None])
    best, covariance = curve_fit(lambda x, a, b: a + b * x, x, y)
    for law in (LinearLaw().fit(X, y), CurveRegressor(line, [0.0, 1.0]).fit(X, y)):
        np.testing.assert_allclose(estimates(law)[:4], np.r_[best, np.sqrt(np.diag(covariance))], rtol=1e-6)
    if n > 4:
        best, covariance = curve_fit(lambda x, a, b, c: a + b * x + c * x * x, x, y)
        curve = CurveRegressor(lambda x, p: line(x, p) + p[2] * x[:, 0] ** 2, [0.0, 0.0, 0.0]).fit(X, y)
        std = np.sqrt(np.diag(covariance))
        np.testing.assert_allclose(np.r_[curve.params_, curve.std_], np.r_[best, std], rtol=1e-5)


@pytest.mark.parametrize("n", [5, 6, 10])
def test_a_line_of_few_points_has_standard_errors(n: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(40):
        x, s = np.arange(n) * 1.0, rng.uniform(0.3, 1, n)
        law = LinearLaw().fit(GaussianArray(x[:, None]), 1 + 2 * x + s * rng.normal(size=n), s)
        A, v = np.c_[np.ones(n), x], s**2 + law.scatter_**2
        assert 0.9 < law.coef_std_[0] / np.linalg.inv(A.T @ (A / v[:, None]))[1, 1] ** 0.5 < 2


@pytest.mark.parametrize("t", [None, 0.3])
def test_limits_count_the_degrees_of_freedom_that_readings_do(t: float | None) -> None:
    """Without limits as without `y_limit`; a limit that says nothing is a row that is not there."""
    rng = np.random.default_rng(2)
    x, far = rng.normal(size=20), np.r_[-np.ones(5), np.zeros(15)]
    y = 1 + 2 * x + rng.normal(size=20)
    rows = GaussianArray(x[:, None])
    expected = estimates(LinearLaw().fit(rows, y, t))
    np.testing.assert_allclose(estimates(LinearLaw().fit(rows, y, t, y_limit=0 * far)), expected, rtol=1e-6)
    limited = LinearLaw().fit(rows, np.where(far, 1e3, y), t, y_limit=far)
    fewer = LinearLaw().fit(rows[5:], y[5:], t)
    np.testing.assert_allclose(estimates(limited), estimates(fewer), rtol=1e-6)


@pytest.mark.parametrize("k", [0, 1, 2, 5])
@pytest.mark.parametrize("spread", [1.0, 10.0])
def test_a_diagonal_and_modes_are_found_again(k: int, spread: float) -> None:
    rng = np.random.default_rng(k)
    s, M = rng.uniform(0.05, 0.05 * (1 + spread), 60), 0.3 * rng.normal(size=(60, k))
    for loss in (1e-3, 1e-6):
        split = shared_modes(np.diag(s**2) + M @ M.T, loss=loss)
        assert split.modes.shape == (60, k) and split.loss <= loss
    np.testing.assert_allclose(split.modes @ split.modes.T, M @ M.T, atol=1e-4)
