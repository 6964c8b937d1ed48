"""Errors that rows share, and error bars wrong by a factor: dense least squares, and the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from uncertain import GaussianArray, UncertainError
from uncertain.laws import LinearLaw, shared_modes


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


def test_intervals_cover_where_ignoring_modes_does_not() -> None:
    inside, ignoring = 0, 0
    for seed in range(150):
        x, y, t, modes = surveys(150, 100 + seed)
        for shared in (modes, None):
            low, high = LinearLaw().fit(x, y, y_std=t, modes=shared).conf_int()[0]
            covered = low <= 1.0 <= high
            inside, ignoring = (
                inside + (covered and shared is not None),
                ignoring + (covered and shared is None),
            )
    assert 0.90 < inside / 150 < 0.99
    assert ignoring / 150 < 0.7


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
    x, y, t, modes = surveys(200, 3)
    C = np.diag(t**2) + modes @ modes.T
    found = shared_modes(C, t)
    assert found.modes.shape == (200, 3) and found.loss < 1e-12
    np.testing.assert_allclose(found.std, t)
    one = LinearLaw().fit(x, y, y_std=found.std, modes=found.modes)
    other = LinearLaw().fit(x, y, y_std=t, modes=modes)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(one.coef_std_, other.coef_std_, rtol=1e-7)
    # Long tails of eigenvalues: the loss is stated, and no variance changes.
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


def test_modes_that_cannot_be_are_refused() -> None:
    x, y, t, modes = surveys(60, 4)
    for bad, words in (
        (modes[:5], "shape"),
        (modes[:, 0], "shape"),
        (np.where(modes == 0, np.nan, modes), "modes.*finite"),
        (np.column_stack([modes, modes[:, 0] - modes[:, 1]]), "combinations of one another.*column 3"),
        (np.column_stack([modes, np.zeros(60)]), "column 3 is 0"),
    ):
        with pytest.raises(UncertainError, match=words):
            LinearLaw().fit(x, y, y_std=t, modes=bad)
    law = LinearLaw().fit(x, y, y_std=t)
    with pytest.raises(UncertainError, match="without modes"):
        law.predict(x, modes=modes)
    with pytest.raises(UncertainError, match="3 columns"):
        law.fit(x, y, y_std=t, modes=modes).predict(x, modes=modes[:, :2])


def test_factor_of_error_bars_is_found_where_it_can_be() -> None:
    rng = np.random.default_rng(5)
    n, factors, stds = 1000, [], []
    for _ in range(20):
        x, t = rng.normal(size=(n, 1)), np.exp(rng.normal(-1.5, 0.7, size=n))
        y = 1 + 2 * x[:, 0] + 0.1 * rng.normal(size=n) + 1.5 * t * rng.normal(size=n)
        law = LinearLaw(error_scale="fit").fit(x, y, y_std=t)
        factors.append(law.error_scale_)
        stds.append(law.error_scale_std_)
    assert abs(np.mean(factors) - 1.5) < 3 * np.std(factors) / np.sqrt(20)
    assert np.mean(stds) == pytest.approx(np.std(factors), rel=0.5)
    with pytest.raises(UncertainError, match=r"about equal.*from_replicates"):
        LinearLaw(error_scale="fit").fit(x, y, y_std=0.3)
    with pytest.raises(UncertainError, match="no error bars"):
        LinearLaw(error_scale="fit").fit(x, y)
    with pytest.raises(UncertainError, match="error_scale"):
        LinearLaw(error_scale="both").fit(x, y, y_std=t)
