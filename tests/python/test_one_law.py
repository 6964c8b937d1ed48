"""One law: every face of a line gives the same numbers, without errors of x those of least squares."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import curve_fit

from uncertain import GaussianArray
from uncertain.laws import CurveRegressor, LinearLaw, shared_modes

Floats = Any


def line(x: Floats, p: Floats) -> Floats:
    return p[0] + p[1] * x[:, 0]


def estimates(law: Any) -> Floats:
    """Intercept and slope, their standard errors and covariance, the scatter."""
    curve = hasattr(law, "params_")
    values = law.params_ if curve else np.append(law.intercept_, law.coef_)
    std = law.std_ if curve else np.append(law.intercept_std_, law.coef_std_)
    return np.r_[values, std, law.covariance_[0, 1], law.scatter_]


def readings(noise: float, n: int = 120) -> tuple[GaussianArray, Floats, Floats]:
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
    X, y, t = readings(noise)
    np.testing.assert_allclose(
        estimates(FACES[face](X, y, t)), estimates(LinearLaw().fit(X, y, t)), rtol=1e-6
    )


def test_a_factor_of_one_changes_no_coefficient() -> None:
    X, y, t = readings(1.0)
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
