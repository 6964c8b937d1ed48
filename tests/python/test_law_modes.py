"""Errors that rows share, in a `GeneralizedLinearLaw`: of its linear predictor, and of its features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal

import uncertain
from uncertain import GaussianArray
from uncertain.laws import GeneralizedLinearLaw, LinearLaw

SLOPES = np.array([1.0, -1.5])


def read_by_surveys(seed: int, n: int, k: int = 4) -> tuple[GaussianArray, np.ndarray, np.ndarray]:
    """Two features whose readings in a survey share a calibration error, modes (n, 3, k), and the predictor.

    The predictor has a part of each error, too: the last of the modes.
    """
    rng = np.random.default_rng((seed, 78))
    z = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 0.89]], size=n)
    survey, s = rng.integers(k, size=n), rng.uniform(0.2, 0.5, (n, 2))
    inside = survey[:, None] == np.arange(k)
    modes = np.stack([0.6 * inside, -0.3 * inside * (np.arange(k) % 2), 0.4 * inside], axis=1)
    a = rng.normal(size=k)
    X = GaussianArray(z + s * rng.normal(size=(n, 2)) + modes[:, :2] @ a, std=s)
    return X, modes, 1.0 + z @ SLOPES + modes[:, 2] @ a


def test_lognormal_times_are_generalised_least_squares() -> None:
    rng = np.random.default_rng(0)
    n, k = 120, 5
    z, M = rng.normal(size=(n, 2)), rng.normal(size=(n, k)) * [1.0, 0.5, 0.3, 0.1, 2.0]
    y = 0.5 + z @ SLOPES + M @ rng.normal(size=k) + 0.6 * rng.normal(size=n)
    law = GeneralizedLinearLaw("lognormal").fit(z, np.exp(y), modes=M)
    A = np.column_stack([np.ones(n), z])
    C = law.extra_["scale"][0] ** 2 * np.eye(n) + M @ M.T
    inside = np.linalg.inv(A.T @ np.linalg.solve(C, A))
    beta = inside @ A.T @ np.linalg.solve(C, y)
    np.testing.assert_allclose(np.r_[law.intercept_, law.coef_], beta, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(law.covariance_[:3, :3], inside, rtol=0.02, atol=1e-5)
    a = M.T @ np.linalg.solve(C, y - A @ beta)
    np.testing.assert_allclose(law.modes_, a, rtol=1e-8)
    likelihood = multivariate_normal(A @ beta, C).logpdf(y) - y.sum()
    assert law.loglikelihood_ == pytest.approx(likelihood, abs=1e-6)
    assert "mode 4" in law.summary()
    # A combination of modes is the same errors.
    turn = np.linalg.qr(rng.normal(size=(k, k)))[0]
    again = GeneralizedLinearLaw("lognormal").fit(z, np.exp(y), modes=M @ turn)
    np.testing.assert_allclose(again.coef_, law.coef_, rtol=1e-8)
    np.testing.assert_allclose(turn @ again.modes_, law.modes_, rtol=1e-6)


def test_errors_of_features_are_those_of_the_line() -> None:
    X, modes, eta = read_by_surveys(1, 200)
    y = eta + 0.3 * np.random.default_rng(2).normal(size=200)
    line = LinearLaw().fit(X, y, modes=modes)
    law = GeneralizedLinearLaw("lognormal", bias_correction=None).fit(X, np.exp(y), modes=modes)
    # The line's scatter counts degrees of freedom.
    assert np.all(np.abs(law.coef_ - line.coef_) < 0.1 * line.coef_std_)
    np.testing.assert_allclose(law.std_, line.coef_std_, rtol=0.06)
    assert np.all(np.abs(law.modes_ - line.modes_) < 0.1 * line.modes_std_)
    np.testing.assert_allclose(law.modes_std_, line.modes_std_, rtol=0.05)
    # Without the target's part.
    alone = GeneralizedLinearLaw("lognormal", bias_correction=None).fit(X, np.exp(y), modes=modes[:, :2])
    beside = LinearLaw().fit(X, y, modes=modes[:, :2])
    assert np.all(np.abs(alone.coef_ - beside.coef_) < 0.1 * beside.coef_std_)


def test_intervals_of_classes_and_counts_are_as_wide_as_they_miss_where_rows_share_errors() -> None:
    """(estimate - truth)^2 / std^2 is 1 to sqrt(2 / 30) in 30 sets: the bound is four of these."""
    for family in ("binomial", "poisson"):
        known, ignored = [], []
        for seed in range(30):
            X, modes, eta = read_by_surveys(seed, 400)
            rng = np.random.default_rng(seed)
            y = rng.uniform(size=400) < expit(eta) if family == "binomial" else rng.poisson(np.exp(eta - 1))
            for pulls, given in ((known, modes), (ignored, None)):
                low, high = GeneralizedLinearLaw(family).fit(X, y, modes=given).conf_int().T
                pulls.append(1.96 * (low + high - 2 * SLOPES) / (high - low))
        assert np.all(np.square(known).mean(axis=0) < 1 + 4 * np.sqrt(2 / 30)), (family, known)
        assert np.square(ignored).mean(axis=0)[0] > 1 + 4 * np.sqrt(2 / 30), (family, ignored)


def test_tables_and_files_hold_modes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    X, modes, eta = read_by_surveys(3, 300)
    y = np.random.default_rng(0).poisson(np.exp(eta - 1))
    law = GeneralizedLinearLaw("poisson").fit(X, y, modes=modes[:, 2])
    table = {"u": X.means[:, 0], "v": X.means[:, 1], "count": y.astype(float)}
    table |= {f"{name}_err": X._deviations()[:, j] for j, name in enumerate("uv")}
    table |= {f"mode_{k}": modes[:, 2, k] for k in range(4)}
    names = [f"mode_{k}" for k in range(4)]
    model = uncertain.fit(
        table, target="count", method="law", family="poisson", features=["u", "v"], modes=names
    )
    np.testing.assert_allclose(model.coef_[0], law.coef_, rtol=1e-9)
    model.save(tmp_path / "law.uncertain")
    again = uncertain.load(tmp_path / "law.uncertain").pipeline_[-1]
    np.testing.assert_array_equal(again.modes_, model.pipeline_[-1].modes_)
    assert again.modes_std_.shape == (4,)
    both = uncertain.fit(
        table, target="count", method="law", family="poisson", features=["u", "v"], modes=modes
    )
    expected = GeneralizedLinearLaw("poisson").fit(X, y, modes=modes)
    np.testing.assert_allclose(both.coef_[0], expected.coef_, rtol=1e-9)
