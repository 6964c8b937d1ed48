"""Errors that rows share, and error bars wrong by a factor: dense least squares, and the truth."""

import pickle

import numpy as np
import pytest
from scipy import optimize

import uncertain
from uncertain import GaussianArray, UncertainError
from uncertain.exceptions import ParameterError
from uncertain.laws import CurveRegressor, LinearLaw, shared_modes


def surveys(n: int, seed: int, sizes: tuple[float, ...] = (0.5, 0.3, 0.4)) -> tuple[np.ndarray, ...]:
    """Exact features, targets with a zero point for each survey, their errors, and the modes."""
    rng = np.random.default_rng(seed)
    survey = np.sort(rng.integers(len(sizes), size=n))
    modes = np.array(sizes) * (survey[:, None] == np.arange(len(sizes)))
    x = np.column_stack([survey + rng.normal(size=n), rng.normal(size=n)])
    t = rng.uniform(0.1, 0.3, size=n)
    y = 1 + x @ [1.0, -2.0] + np.hypot(0.2, t) * rng.normal(size=n) + modes @ rng.normal(size=len(sizes))
    return x, y, t, modes


def test_equal_to_dense_generalised_least_squares() -> None:
    x, y, t, modes = surveys(500, 0)
    law = LinearLaw().fit(x, y, y_std=t, modes=modes)
    C = np.diag(law.scatter_**2 + t**2) + modes @ modes.T
    A = np.column_stack([np.ones(500), x])
    W = np.linalg.inv(C)
    covariance = np.linalg.inv(A.T @ W @ A)
    estimate = covariance @ A.T @ W @ y
    np.testing.assert_allclose(np.r_[law.intercept_, law.coef_], estimate, rtol=1e-10)
    # s is estimated, too, but does not go with the line.
    np.testing.assert_allclose(law.covariance_, covariance, rtol=2e-2)
    left = y - A @ estimate
    np.testing.assert_allclose(law.modes_, modes.T @ W @ left, rtol=1e-9)
    sign, size = np.linalg.slogdet(C)
    dense = -0.5 * (left @ W @ left + size + 500 * np.log(2 * np.pi))
    assert sign > 0 and law.loglikelihood_ == pytest.approx(dense, abs=1e-7)
    # New readings of the surveys share the errors that the fit has seen.
    mean, std = law.predict(x[:5], return_std=True, modes=modes[:5])
    np.testing.assert_allclose(mean, law.predict(x[:5]) + modes[:5] @ law.modes_)
    assert np.all(std > law.predict(x[:5], return_std=True)[1])
    assert "mode 2" in law.summary()


def test_scatter_is_where_the_marginal_likelihood_is_largest() -> None:
    x, y, t, modes = surveys(120, 1)
    law = LinearLaw().fit(x, y, y_std=t, modes=modes)
    A = np.column_stack([np.ones(120), x])

    def minus(s: float) -> float:
        C = np.diag(s**2 + t**2) + modes @ modes.T
        W = np.linalg.inv(C)
        left = y - A @ np.linalg.solve(A.T @ W @ A, A.T @ W @ y)
        value = -0.5 * (left @ W @ left + np.linalg.slogdet(C)[1])
        return float(1.5 * np.log((1 / (s**2 + t**2)).sum()) - value)

    best = optimize.minimize_scalar(minus, (law.scatter_ - 0.01, law.scatter_ + 0.01), tol=1e-10)
    assert best.x == pytest.approx(law.scatter_, rel=1e-5)


@pytest.mark.parametrize("kind", ["mixture", "student"])
def test_modes_and_outliers_together(kind: str) -> None:
    x, y, t, modes = surveys(400, 2)
    rng = np.random.default_rng(2)
    bad = rng.uniform(size=400) < 0.1
    clean = LinearLaw().fit(x, y, y_std=t, modes=modes)
    moved = y + bad * rng.choice([-1, 1], 400) * rng.uniform(3, 8, 400)
    s = rng.uniform(0.05, 0.2, size=x.shape)
    noisy = GaussianArray(x + s * rng.normal(size=x.shape), std=s)
    for X in (x, noisy):
        law = LinearLaw(outliers=kind).fit(X, moved, y_std=t, modes=modes)
        assert np.all(np.abs(law.coef_ - [1, -2]) < 4 * law.coef_std_)
        assert np.abs(law.modes_ - clean.modes_).max() < 4 * law.modes_std_.max()
        assert law.outlier_probability_[bad].mean() > 0.9


def test_dense_covariances_become_modes() -> None:
    """Long tails of eigenvalues: the loss is stated, and no variance changes."""
    far = np.abs(np.subtract.outer(np.arange(200), np.arange(200)))
    smooth = np.exp(-((far / 30) ** 2)) + 0.01 * np.eye(200)
    some = shared_modes(smooth, loss=0.01)
    assert 0 < some.loss <= 0.01 and 3 < some.modes.shape[1] < 20
    np.testing.assert_allclose((some.modes**2).sum(axis=1) + some.std**2, np.diag(smooth))
    assert shared_modes(smooth, n_modes=2).loss > some.loss
    with pytest.raises(UncertainError, match="symmetric"):
        shared_modes(np.triu(np.ones((3, 3))))
    with pytest.raises(UncertainError, match="eigenvalue"):
        shared_modes(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(UncertainError, match="std: row 0"):
        shared_modes(np.eye(2), [2.0, 1.0])


def test_dense_covariance_is_generalised_least_squares() -> None:
    n, new = 500, 20
    x, y, t, modes = surveys(n + new, 8)
    whole = np.diag(t**2) + modes @ modes.T
    C = whole[:n, :n]
    one = LinearLaw().fit(x[:n], y[:n], y_cov=C)
    assert one.y_cov_loss_ < 1e-12 and one.y_modes_.shape == (n, 3)
    S = whole + one.scatter_**2 * np.eye(n + new)
    A = np.column_stack([np.ones(n + new), x])
    W = np.linalg.inv(S[:n, :n])
    covariance = np.linalg.inv(A[:n].T @ W @ A[:n])
    estimate = covariance @ A[:n].T @ W @ y[:n]
    np.testing.assert_allclose(np.r_[one.intercept_, one.coef_], estimate, rtol=1e-10)
    np.testing.assert_allclose(one.covariance_, covariance, rtol=2e-2)
    told = LinearLaw().fit(x[:n], y[:n], t[:n], y_cov=C)
    np.testing.assert_allclose(told.coef_, one.coef_, rtol=1e-10)
    assert "3 modes and a diagonal, which leave out" in one.summary()
    again = LinearLaw()._loaded(pickle.loads(pickle.dumps(one._model)))
    assert again.y_cov_loss_ == one.y_cov_loss_
    np.testing.assert_array_equal(again.y_modes_, one.y_modes_)
    np.testing.assert_array_equal(again.covariance_, one.covariance_)
    # New rows of the same surveys: a Gaussian given the others, the line unknown before.
    law = LinearLaw().fit(x[:n], y[:n], t[:n], modes=modes[:n])
    mean, cov = law.predict(x[n:], modes=modes[n:], return_cov=True)
    K = modes[n:] @ modes[:n].T
    np.testing.assert_allclose(mean, A[n:] @ estimate + K @ W @ (y[:n] - A[:n] @ estimate), rtol=1e-9)
    turn = A[n:] - K @ W @ A[:n]
    own = law.scatter_**2 * np.eye(new) + modes[n:] @ modes[n:].T
    dense = own - K @ W @ K.T + turn @ covariance @ turn.T
    np.testing.assert_allclose(cov, dense, atol=1e-4 * dense.max())
    std = law.predict(x[n:], modes=modes[n:], return_std=True)[1]
    np.testing.assert_allclose(std**2, np.diag(cov))
    alone = law.predict(x[n:], return_cov=True)[1]
    np.testing.assert_allclose(alone, np.diag(law.predict(x[n:], return_std=True)[1] ** 2))
    with pytest.raises(ParameterError, match="one of them"):
        law.predict(x, return_std=True, return_cov=True)


def test_joint_predictions_know_errors_of_features() -> None:
    # The true features stand in for their readings by the means that are left of them.
    x, y, t, modes = surveys(300, 9)
    rng = np.random.default_rng(9)
    X = GaussianArray(x + 0.3 * rng.normal(size=x.shape), std=np.full(x.shape, 0.3))
    law = LinearLaw().fit(X, y, t, modes=modes)
    mean, cov = law.predict(X[:4], modes=modes[:4], return_cov=True)
    _, std = law.predict(X[:4], return_std=True)
    T, mu = law.covariances_[0, :2, :2], law.means_[0, :2]
    true = mu + (X.means[:4] - mu) @ np.linalg.solve(T + 0.09 * np.eye(2), T)
    np.testing.assert_allclose(mean, law.intercept_ + true @ law.coef_ + modes[:4] @ law.modes_, rtol=1e-7)
    by = np.column_stack([np.ones(4), true])
    assert np.all(np.linalg.eigvalsh(cov) > 0)
    # With the shared errors known (all but), what is left is that of the law.
    rest = cov - np.diag(std**2)
    assert np.linalg.matrix_rank(rest, tol=1e-10) <= 6
    one = law.predict(X[:4], modes=np.zeros((4, 3)), return_cov=True)[1] - np.diag(std**2)
    np.testing.assert_allclose(one, by @ law.covariance_ @ by.T, atol=1e-12)


SLOPES = np.array([1.0, -1.5])


def read_by_surveys(
    seed: int, n: int, k: int = 3
) -> tuple[GaussianArray, np.ndarray, np.ndarray, np.ndarray]:
    """Two features, whose readings in a survey share a calibration error; of odd surveys both do.

    Modes have the target last, which has a part of them, too.
    """
    rng = np.random.default_rng((seed, 77))
    z = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 0.89]], size=n)
    survey, s, t = rng.integers(k, size=n), rng.uniform(0.2, 0.5, (n, 2)), rng.uniform(0.1, 0.3, n)
    inside = survey[:, None] == np.arange(k)
    modes = np.stack([0.6 * inside, -0.3 * inside * (np.arange(k) % 2), 0.4 * inside], axis=1)
    b = rng.normal(size=k)
    X = GaussianArray(z + s * rng.normal(size=(n, 2)) + modes[:, :2] @ b, std=s)
    y = 1 + z @ SLOPES + modes[:, 2] @ b + np.hypot(0.2, t) * rng.normal(size=n)
    return X, y, t, modes


def dense_law(X: GaussianArray, y: np.ndarray, t: np.ndarray, modes: np.ndarray, T: np.ndarray) -> np.ndarray:
    """The largest density of all targets given all readings, T known and the mean of z flat: n x n matrices.

    Intercept, slopes, the root of their covariance's diagonal, and the mean of the shared errors.
    """
    (n, d), k = X.shape, modes.shape[2]
    noise, N, M = np.diag((X._deviations() ** 2).ravel()), modes[:, :d].reshape(n * d, k), modes[:, d]
    truth, ones = np.kron(np.eye(n), T), np.kron(np.ones((n, 1)), np.eye(d))
    flat = 1e3 * ones @ ones.T  # the mean's
    W = np.linalg.inv(truth + noise + N @ N.T + flat)
    # Means and covariances of z and of b given x.
    prior = truth + flat
    of_z, of_b = prior @ W @ X.means.ravel(), N.T @ W @ X.means.ravel()
    zz, zb, bb = prior - prior @ W @ prior, -prior @ W @ N, np.eye(k) - N.T @ W @ N

    def parts(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = np.kron(np.eye(n), theta[1:3])
        C = turn @ zz @ turn.T + turn @ zb @ M.T + M @ zb.T @ turn.T + M @ bb @ M.T
        C += np.diag(t**2 + np.exp(2 * theta[3]))
        return y - theta[0] - of_z.reshape(n, d) @ theta[1:3] - M @ of_b, (C + C.T) / 2

    def minus(theta: np.ndarray) -> float:
        left, C = parts(theta)
        return float(0.5 * (left @ np.linalg.solve(C, left) + np.linalg.slogdet(C)[1]))

    start = np.array([1.0, *SLOPES, np.log(0.2)])
    best = optimize.minimize(minus, start, method="BFGS", options={"gtol": 1e-4}).x
    left, C = parts(best)
    A = np.column_stack([np.ones(n), of_z.reshape(n, d)])
    std = np.sqrt(np.diag(np.linalg.inv(A.T @ np.linalg.solve(C, A))))
    with_y = zb.T @ np.kron(np.eye(n), best[1:3]).T + bb @ M.T
    return np.concatenate([best[:3], std, of_b + with_y @ np.linalg.solve(C, left)])


def test_shared_errors_of_features_are_those_of_a_dense_covariance() -> None:
    X, y, t, modes = read_by_surveys(1, 100)
    law = LinearLaw().fit(X, y, y_std=t, modes=modes)
    dense = dense_law(X, y, t, modes, law.covariances_[0, :2, :2])
    own = np.r_[law.intercept_, law.coef_]
    std = np.sqrt(np.diag(law.covariance_))
    assert np.all(np.abs(own - dense[:3]) < 0.15 * std), (own, dense)
    # The law's count the uncertainty of T, too.
    assert np.all(std > 0.95 * dense[3:6]) and np.all(std < 1.25 * dense[3:6]), (std, dense)
    assert np.all(np.abs(law.modes_ - dense[6:]) < 0.2 * law.modes_std_)
    assert law.covariance_.shape == (3, 3) and "mode 2" in law.summary()
    # A table's are an array, too; rows without a target leave it.
    table = {
        "u": X.means[:, 0], "v": X.means[:, 1], "y": np.where(np.arange(100) == 7, np.nan, y), "y_err": t,
    }  # fmt: skip
    table |= {f"{name}_err": X._deviations()[:, j] for j, name in enumerate("uv")}
    rest = np.arange(100) != 7
    model = uncertain.fit(table, target="y", method="law", features=["u", "v"], modes=modes)
    fewer = LinearLaw().fit(X[rest], y[rest], y_std=t[rest], modes=modes[rest])
    np.testing.assert_allclose(model.coef_[0], fewer.coef_, rtol=1e-9)
    # Without any, and with one that all rows share, slopes stay.
    plain = LinearLaw().fit(X, y, y_std=t, modes=1e-9 * np.ones((100, 1)))
    one = LinearLaw().fit(X, y, y_std=t, modes=np.tile([[[0.5], [-0.2]]], (100, 1, 1)))
    assert np.all(np.abs(one.coef_ - plain.coef_) < 0.1 * plain.coef_std_)
    assert one.intercept_std_ > 2 * plain.intercept_std_


def test_predictions_take_shared_errors_of_features_off_the_readings() -> None:
    X, y, t, modes = read_by_surveys(0, 40)
    law = LinearLaw().fit(X, y, y_std=t, modes=modes)
    with pytest.raises(UncertainError, match="modes= of features is not for predict"):
        law.predict(X, modes=modes)
    rest = GaussianArray(X.means - modes[:, :2] @ law.modes_, std=X._deviations())
    true = y - modes[:, 2] @ law.modes_
    assert np.std(law.predict(rest) - true) < np.std(law.predict(X) - true)


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
