"""Errors of the targets that rows share, in a `CurveRegressor`."""

import numpy as np
import pytest

from uncertain import GaussianArray, UncertainError
from uncertain.laws import CurveRegressor, LinearLaw


def straight(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] + p[1] * x[:, 0]


def growth(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] * np.exp(p[1] * x[:, 0])


def read(seed: int, n: int, k: int = 3) -> tuple[GaussianArray, np.ndarray, np.ndarray, np.ndarray]:
    """One feature with errors, the errors of y, a zero point for each survey, and true features."""
    rng = np.random.default_rng((seed, 5))
    z, s, t = rng.normal(size=n), rng.uniform(0.2, 0.5, n), rng.uniform(0.1, 0.3, n)
    modes = 0.4 * (rng.integers(k, size=n)[:, None] == np.arange(k))
    X = GaussianArray((z + s * rng.normal(size=n))[:, None], std=s[:, None])
    noise = modes @ rng.normal(size=k) + np.hypot(0.2, t) * rng.normal(size=n)
    return X, t, modes, np.column_stack([z, noise])


def test_a_straight_curve_is_the_line() -> None:
    X, t, modes, truth = read(0, 200)
    y = 1 + 2 * truth[:, 0] + truth[:, 1]
    line = LinearLaw().fit(X, y, y_std=t, modes=modes)
    curve = CurveRegressor(straight, {"a": 0.5, "b": 1.5}).fit(X, y, t, modes=modes)
    std = np.sqrt(np.diag(line.covariance_))
    # What the scatter owes to degrees of freedom is counted in two ways.
    assert np.all(np.abs(curve.params_ - [line.intercept_, line.coef_[0]]) < 0.1 * std)
    np.testing.assert_allclose(curve.std_, std, rtol=0.03)
    assert abs(curve.scatter_ - line.scatter_) < 0.1 * line.intrinsic_scatter_std_
    assert np.all(np.abs(curve.modes_ - line.modes_) < 0.03 * line.modes_std_)
    np.testing.assert_allclose(curve.modes_std_, line.modes_std_, rtol=0.03)
    assert "mode 2" in curve.summary()


def exponential_without_scatter(law: CurveRegressor, X: GaussianArray, y: np.ndarray, M: np.ndarray) -> tuple:
    """Covariance of params and modes of y = a exp(b z) + M u, and how far the maximum is, in closed form.

    Without scatter a reading tells z = log((y - M u) / a) / b, which has the density N(m, P) given x.
    """
    x, S, k = X.means[:, 0], X.covariances().ravel(), M.shape[1]

    def rows(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (a, b), (mu, T), own = at[:2], at[2 + k :], y - M @ at[2 : 2 + k]
        P, away = T * S / (T + S), np.log(own / a) / b - mu - T / (T + S) * (x - mu)
        given_x = 0.5 * (away**2 / P + np.log(P)) + np.log(own * b)
        return given_x, 0.5 * ((x - mu) ** 2 / (T + S) + np.log(T + S))

    def loss(at: np.ndarray) -> float:
        return float(rows(at)[0].sum() + 0.5 * np.sum(at[2 : 2 + k] ** 2))

    density = [law.means_[0, 0], law.covariances_[0, 0, 0]]
    at, steps = np.concatenate([law.params_, law.modes_, density]), 1e-3 * np.eye(4 + k)
    pairs = [
        [loss(at + e + f) - loss(at + e - f) - loss(at - e + f) + loss(at - e - f) for f in steps]
        for e in steps
    ]
    H = np.array(pairs) / 4e-6
    gradient = np.array([loss(at + e) - loss(at - e) for e in steps[:-2]]) / 2e-3
    scores = np.array([rows(at + e)[1] - rows(at - e)[1] for e in steps[-2:]]) / 2e-3
    of_targets = np.array([rows(at + e)[0] - rows(at - e)[0] for e in steps]) / 2e-3
    inside = np.linalg.inv(H[:-2, :-2])
    carried = inside @ of_targets[:-2] @ of_targets[-2:].T
    return inside + carried @ np.linalg.solve(scores @ scores.T, carried.T), inside @ gradient


def test_without_scatter_errors_are_those_of_the_closed_form() -> None:
    at_zero = 0
    for seed in range(10):
        X, _, modes, truth = read(seed, 60)
        u = np.random.default_rng((seed, 6)).normal(size=3)
        y = np.exp(0.7 * truth[:, 0]) + modes @ u
        law = CurveRegressor(growth, [1.0, 0.5]).fit(X, y, modes=modes)
        assert np.all(law.modes_std_ > 0) and law.status_ == "converged"
        if law.scatter_ == 0:
            at_zero += 1
            covariance, away = exponential_without_scatter(law, X, y, modes)
            std = np.sqrt(np.diag(covariance))
            assert np.all(np.abs(away) < 1e-3 * std)
            np.testing.assert_allclose(np.concatenate([law.std_, law.modes_std_]), std, rtol=1e-3)
    assert at_zero > 2


def test_a_curve_that_turns_is_refused_without_scatter() -> None:
    """Where a row is near the turn: not so in every set."""
    rng = np.random.default_rng((0, 100, 0))
    z, s = rng.normal(size=100), rng.uniform(0.2, 0.5, 100)
    X = GaussianArray((z + s * rng.normal(size=100))[:, None], std=s[:, None])
    y = 2 * np.sin(z)
    law = CurveRegressor(lambda x, p: p[0] * np.sin(p[1] * x[:, 0]), [2.2, 1.1])
    with pytest.raises(UncertainError, match=r"scatter is 0.*turns.*give y_std"):
        law.fit(X, y)
    noise = 0.01 * np.random.default_rng(0).normal(size=100)
    law.fit(X, y + noise, np.full(100, 0.01))
    assert np.all(np.abs(law.params_ - [2.0, 1.0]) < 5 * law.std_)


def test_a_straight_curve_without_scatter_has_the_errors_of_the_line() -> None:
    for seed in range(8):
        X, _, modes, truth = read(seed, 100)
        y = 1 + 2 * truth[:, 0] + modes @ np.random.default_rng((seed, 6)).normal(size=3)
        line = LinearLaw().fit(X, y, modes=modes)
        curve = CurveRegressor(straight, [1.2, 2.4]).fit(X, y, modes=modes)
        np.testing.assert_allclose(curve.modes_std_, line.modes_std_, rtol=0.02)
        np.testing.assert_allclose(curve.std_, np.sqrt(np.diag(line.covariance_)), rtol=0.1)
        assert np.all(np.abs(curve.modes_ - line.modes_) < 0.1 * line.modes_std_)


def test_exact_features_are_generalised_least_squares() -> None:
    rng = np.random.default_rng(3)
    n, k = 150, 4
    x, M = rng.normal(size=(n, 1)), rng.normal(size=(n, k))
    y = 1 + 2 * x[:, 0] + M @ rng.normal(size=k) + 0.5 * rng.normal(size=n)
    law = CurveRegressor(straight, [1.0, 1.0], jac=lambda x, p: np.column_stack([np.ones(len(x)), x]))
    law.fit(x, y, modes=M)
    C = law.scatter_**2 * np.eye(n) + M @ M.T
    A = np.column_stack([np.ones(n), x])
    inside = np.linalg.inv(A.T @ np.linalg.solve(C, A))
    beta = inside @ A.T @ np.linalg.solve(C, y)
    np.testing.assert_allclose(law.params_, beta, rtol=1e-6)
    np.testing.assert_allclose(law.covariance_, inside, rtol=0.02, atol=1e-6)
    np.testing.assert_allclose(law.modes_, M.T @ np.linalg.solve(C, y - A @ beta), rtol=1e-5, atol=1e-7)
    left = y - A @ beta
    dense = -0.5 * (left @ np.linalg.solve(C, left) + np.linalg.slogdet(2 * np.pi * C)[1])
    assert law.loglikelihood_ == pytest.approx(dense, abs=1e-4)
    # A scatter that counts the degrees of freedom of the curve: the restricted likelihood's.
    W = np.linalg.inv(C)
    P = W - W @ A @ inside @ A.T @ W
    score = -0.5 * np.trace(P) + 0.5 * y @ P @ P @ y
    assert abs(score) < 0.03 * 0.5 * np.trace(P)


def test_intervals_are_as_wide_as_they_miss_where_rows_share_errors() -> None:
    """(estimate - truth)^2 / std^2 is 1 to sqrt(2 / 12) in 12 sets: the bound is four of these."""
    known, ignored = [], []
    for seed in range(12):
        X, t, modes, truth = read(seed, 150)
        y = np.exp(0.7 * truth[:, 0]) + truth[:, 1]
        for pulls, given in ((known, modes), (ignored, None)):
            low, high = CurveRegressor(growth, [1.0, 0.5]).fit(X, y, t, modes=given).conf_int().T
            pulls.append(1.96 * (low + high - 2 * np.array([1.0, 0.7])) / (high - low))
    assert np.all(np.square(known).mean(axis=0) < 1 + 4 * np.sqrt(2 / 12)), known
    assert np.square(ignored).mean(axis=0)[0] > 1 + 4 * np.sqrt(2 / 12), ignored
