"""Profile intervals of lines: closed forms, SciPy's maxima of the same likelihoods, and simulated truths."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import norm

import uncertain
from uncertain import GaussianArray, GaussianMixtureRegressor, UncertainError
from uncertain.exceptions import ParameterError, UncertainWarning
from uncertain.laws import LinearLaw

Floats = Any
Bounds = list[tuple[float | None, float | None]]
Z = float(ndtri(0.975))


def readings(
    n: int, seed: int, size: float = 0.5, scatter: float = 0.4
) -> tuple[GaussianArray, Floats, Floats]:
    """Two features with errors of different sizes, y = 1 + 2 z_0 - z_1, scatter and errors of .1 to .4."""
    rng = np.random.default_rng(seed)
    z, t = rng.normal(size=(n, 2)), rng.uniform(0.1, 0.4, size=n)
    s = rng.uniform(0.5, 1.5, size=(n, 2)) * size
    y = 1 + z @ [2.0, -1.0] + np.hypot(scatter, t) * rng.normal(size=n)
    return GaussianArray(z + s * rng.normal(size=(n, 2)), std=s), y, t


def least(minus: Any, start: Floats, bounds: Bounds, held: int | None = None, at: float = 0.0) -> float:
    """The smallest value of a function of the parameters, one of them held."""
    free = [k for k in range(len(start)) if k != held]

    def rest(q: Floats) -> float:
        p = start.copy()
        p[free] = q
        if held is not None:
            p[held] = at
        return float(minus(p))

    own, q, options = [bounds[k] for k in free], start[free], {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10}
    for _ in range(4):
        q = minimize(rest, q, method="L-BFGS-B", jac="3-point", bounds=own, options=options).x
    return rest(q)


@pytest.mark.parametrize("n", [8, 30])
def test_between_exact_features_ends_have_a_formula(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 2))
    y = x @ [1.0, 3.0] + rng.normal(size=n)
    law = LinearLaw().fit(x, y)
    free = n - 3
    # (n - d - 1) log(RSS(c) / RSS) = z^2, and RSS(c) / RSS = 1 + t^2 / (n - d - 1).
    least = np.linalg.lstsq(np.c_[np.ones(n), x], y, rcond=None)
    cov = np.linalg.inv(np.c_[np.ones(n), x].T @ np.c_[np.ones(n), x]) * least[1][0] / free
    half = np.sqrt(free * np.expm1(Z**2 / free) * np.diag(cov)[1:])
    ends = least[0][1:, None] + half[:, None] * [-1, 1]
    np.testing.assert_allclose(law.conf_int(method="profile"), ends, rtol=1e-5)
    # Weights say how much a row is worth, not how often it was seen.
    heavy = LinearLaw().fit(x, y, sample_weight=np.full(n, 7.0))
    np.testing.assert_allclose(heavy.conf_int(method="profile"), ends, rtol=1e-5)
    given = LinearLaw().fit(x, y, modes=np.full((n, 1), 1e-9))
    np.testing.assert_allclose(given.conf_int(method="profile"), ends, rtol=1e-4)


def test_groups_widen_a_profile_as_they_do_the_standard_error() -> None:
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(25), 4)
    x = rng.normal(size=25)[groups][:, None] + 0.3 * rng.normal(size=(100, 1))
    y = x[:, 0] + rng.normal(size=25)[groups] + 0.3 * rng.normal(size=100)
    law, alone = LinearLaw().fit(x, y, groups=groups), LinearLaw().fit(x, y)
    assert law.coef_std_[0] > 1.3 * alone.coef_std_[0]
    wider = (law.coef_std_ / alone.coef_std_)[0]
    half = np.sqrt(98 * np.expm1((Z * wider) ** 2 / 98)) * alone.coef_std_[0]
    np.testing.assert_allclose(
        law.conf_int(method="profile")[0], law.coef_[0] + half * np.array([-1, 1]), rtol=1e-4
    )


def test_ends_given_the_readings_are_where_the_likelihood_has_fallen() -> None:
    n = 60
    X, y, t = readings(n, 5, scatter=0.8)
    y[:5] += 9.0
    law = LinearLaw(outliers="mixture").fit(X, y, y_std=t)
    assert law.scatter_ > 0.1
    mu, T = law.means_[0, :2], law.covariances_[0, :2, :2]
    gain = np.array([T @ np.linalg.inv(T + s) for s in X.covariances()])
    m, P = mu + np.einsum("nij,nj->ni", gain, X.means - mu), T - gain @ T
    spread = np.einsum("i,nij,j->n", law.coef_, P, law.coef_)

    def minus(p: Floats) -> float:
        r, own, other = y - p[0] - m @ p[1:3], p[3] + t**2, np.einsum("i,nij,j->n", p[1:3], P, p[1:3])
        narrow = norm.logpdf(r, scale=np.sqrt(own + other)) + np.log1p(-p[4])
        wide = norm.logpdf(r, scale=np.sqrt(own + other + p[5] ** 2)) + np.log(p[4])
        return float(1.5 * np.log((1 / (own + spread)).sum()) - np.logaddexp(narrow, wide).sum())

    best = np.array(
        [law.intercept_, *law.coef_, law.scatter_**2, *[value for value, _ in law.outlier_law_.values()]]
    )
    steps = 1e-4 * np.maximum(np.abs(best), 0.1) * np.eye(6)

    def bend(a: Floats, b: Floats) -> float:
        ends = minus(best + a + b) - minus(best + a - b) - minus(best - a + b) + minus(best - a - b)
        return ends / (4 * a.max() * b.max())

    H = np.array([[bend(a, b) for b in steps] for a in steps])
    alone = np.diag(np.linalg.inv(H))[1:3]
    ends = law.conf_int(method="profile")
    for j in range(2):
        for end in ends[j]:
            bounds: Bounds = [(None, None)] * 3 + [(1e-6, None), (1e-4, 0.9), (0.5, None)]
            fallen = 2 * (least(minus, best, bounds, 1 + j, end) - minus(best))
            fallen *= alone[j] / law.coef_std_[j] ** 2
            assert fallen == pytest.approx(Z**2, rel=5e-3)


def test_profiles_cover_where_standard_errors_are_too_short() -> None:
    covered, sets = np.zeros(2), 0
    for seed in range(500):
        X, y, t = readings(8, seed, size=0.1, scatter=0.6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertainWarning)
            law = LinearLaw().fit(X, y, y_std=t)
        if not hasattr(law, "coef_std_"):
            continue
        sets += 1
        for k, method in enumerate(("wald", "profile")):
            low, high = law.conf_int(method=method)[0]
            covered[k] += low < 2.0 < high
    covered /= sets
    assert sets > 450
    assert covered[0] + 0.01 < covered[1] and 0.92 < covered[1] < 0.98


def test_models_have_profiles_and_files_do_not(tmp_path: Any) -> None:
    X, y, t = readings(80, 1)
    table = pl.DataFrame({"a": X.means[:, 0], "b": X.means[:, 1], "y": y, "y_err": t})
    std = pl.DataFrame(np.sqrt(np.einsum("njj->nj", X.covariances())), schema=["a_err", "b_err"])
    table = pl.concat([table, std], how="horizontal")
    for method in ("law", "mixture"):
        model = uncertain.fit(table, target="y", method=method)
        ends = LinearLaw().fit(X, y, y_std=t).conf_int(0.9, method="profile")
        np.testing.assert_allclose(model.conf_int(0.9, method="profile"), ends, rtol=1e-6)
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(UncertainError, match="readings of the fit"):
        uncertain.load(tmp_path / "model.safetensors").conf_int(method="profile")
    for law in (LinearLaw().fit(X, y, y_std=t), LinearLaw(outliers="student").fit(X, y, y_std=t)):
        assert np.isfinite(law.conf_int(method="profile")).all()
        copy = pickle.loads(pickle.dumps(law))
        np.testing.assert_array_equal(copy.conf_int(), law.conf_int())
        with pytest.raises(UncertainError, match="readings of the fit"):
            copy.conf_int(method="profile")


def test_profiles_that_cannot_be_are_refused() -> None:
    X, y, _ = readings(60, 1)
    with pytest.raises(ParameterError, match='must be "wald" or "profile"'):
        LinearLaw().fit(X, y).conf_int(method="likelihood")
    with pytest.raises(AttributeError, match="2"):
        GaussianMixtureRegressor(2, random_state=0).fit(X, y).conf_int(method="profile")
