"""Factors of the features' error bars: SciPy's maximum of the readings' likelihood, simulations, refusals."""

import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import uncertain
from uncertain import GaussianArray, Incomplete
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw

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


def readings_of_error_scale_of_laws(n: int, seed: int) -> tuple[GaussianArray, Floats, Floats]:
    """Two features whose true errors are 1.6 and .6 times their bars; true features, errors of y."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal([1.0, -3.0], [[1.0, 0.4], [0.4, 1.5]], size=n)
    s = np.exp(0.7 * rng.normal(size=(n, 2))) * [0.5, 1.0]
    return GaussianArray(z + s * FACTORS * rng.normal(size=(n, 2)), std=s), z, rng.uniform(0.1, 1.0, n)


def plane(x: Floats, p: Floats) -> Floats:
    return p[0] + x @ p[1:]


@pytest.mark.parametrize(
    ("error_scale", "outliers", "weights"),
    [("fit", None, False), ("features", None, True), ("both", None, False), ("both", "mixture", True)],
)
def test_a_plane_is_the_line_s_own_fit(error_scale: Any, outliers: Any, weights: bool) -> None:
    """Closed forms there, quadrature here; the density's part of errors by products, and differences."""
    X, z, t = readings_of_error_scale_of_laws(300, 3)
    rng = np.random.default_rng(4)
    y = 2 + z @ [1.0, -2.0] + 0.3 * rng.normal(size=300) + 1.5 * t * rng.normal(size=300)
    if outliers:
        y[:20] += 20 * rng.normal(size=20)
    known = {"y_std": t, "sample_weight": rng.uniform(0.5, 2.0, 300) if weights else None}
    line = LinearLaw(error_scale=error_scale, outliers=outliers, tol=1e-10).fit(X, y, **known)
    curve = CurveRegressor(plane, [0.0, 0.0, 0.0], error_scale=error_scale, outliers=outliers)
    curve.fit(X, y, **known)
    std = np.r_[line.intercept_std_, line.coef_std_]
    np.testing.assert_allclose(curve.params_, np.r_[line.intercept_, line.coef_], atol=1e-3 * std.min())
    np.testing.assert_allclose(curve.std_, std, rtol=0.12)
    np.testing.assert_allclose(curve.scatter_, line.scatter_, rtol=1e-3, atol=1e-4)
    for name in ("error_scale_", "error_scale_std_", "feature_error_scale_", "feature_error_scale_std_"):
        assert hasattr(curve, name) == hasattr(line, name)
        if hasattr(line, name):
            rtol = 0.12 if name.endswith("std_") else 1e-4
            np.testing.assert_allclose(getattr(curve, name), getattr(line, name), rtol=rtol)
    np.testing.assert_allclose(curve.predict(X), line.predict(X), atol=1e-3)


def test_one_factor_of_two_outputs_is_where_their_likelihood_is_largest() -> None:
    """Exact x, errors of y that go together: the maximum with the degrees of freedom counted, by SciPy."""
    n = 120
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 3.0, n)
    size = rng.uniform(0.2, 1.0, (n, 2))
    C = size[:, :, None] * np.array([[1.0, 0.6], [0.6, 1.0]]) * size[:, None, :]
    e = np.einsum("nij,nj->ni", np.linalg.cholesky(C), rng.normal(size=(n, 2)))
    y = np.c_[1 + 2 * x, 3 - x] + 1.4 * e + rng.normal(size=(n, 2)) * [0.2, 0.5]

    def lines(x: Floats, p: Floats) -> Floats:
        return np.c_[p[0] + p[1] * x[:, 0], p[2] + p[3] * x[:, 0]]

    def minus(theta: Floats) -> float:
        V = np.exp(theta[6]) * C + np.eye(2) * np.exp(theta[4:6])
        r = y - lines(x[:, None], theta)
        quad = np.einsum("ni,nij,nj->n", r, np.linalg.inv(V), r)
        degrees = np.log((1 / np.einsum("njj->nj", V)).sum(axis=0)).sum()  # (p / 2) / 2 outputs of it
        return float(0.5 * (np.linalg.slogdet(V)[1] + quad).sum() + degrees)

    law = CurveRegressor(lines, np.ones(4), error_scale="fit").fit(x[:, None], y, y_cov=C)
    mine = np.r_[law.params_, 2 * np.log(law.scatter_), 2 * np.log(law.error_scale_)]
    found = minimize(minus, mine + 0.05, method="BFGS", jac="3-point", options={"gtol": 1e-6})
    np.testing.assert_allclose(mine, found.x, atol=1e-4)
    hessian = np.array(
        [
            [
                sum(a * b * minus(mine + 1e-3 * (a * i + b * j)) for a in (1, -1) for b in (1, -1)) / 4e-6
                for j in np.eye(7)
            ]
            for i in np.eye(7)
        ]
    )
    std = np.sqrt(np.diag(np.linalg.inv(hessian)))
    np.testing.assert_allclose(law.std_, std[:4], rtol=1e-3)
    np.testing.assert_allclose(law.error_scale_std_, std[6] * law.error_scale_ / 2, rtol=1e-3)


def test_without_scatter_the_factor_is_that_of_the_residuals() -> None:
    """Equal error bars tell it then: chi squared over n - p."""
    rng = np.random.default_rng(2)
    x = rng.uniform(size=(40, 2))
    y = 1 + x @ [2.0, 3.0] + 0.3 * rng.normal(size=40)
    law = CurveRegressor(plane, np.zeros(3), scatter=False, error_scale="fit").fit(x, y, y_std=0.1)
    design = np.c_[np.ones(40), x]
    squares = np.linalg.lstsq(design, y)[1][0] / 0.01
    np.testing.assert_allclose(law.error_scale_, np.sqrt(squares / 37), rtol=1e-6)
    std = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * 0.01 * squares / 37)
    np.testing.assert_allclose(law.std_, std, rtol=1e-4)


SETS = 24


def pulls_of(fits: list[tuple[Floats, Floats, Floats]]) -> Floats:
    estimates, stds, truth = (np.array(values) for values in zip(*fits, strict=True))
    return (estimates - truth) / stds


def targets_of(family: str, eta: Floats, rng: np.random.Generator) -> Floats:
    if family == "binomial":
        return rng.uniform(size=len(eta)) < 1 / (1 + np.exp(-eta))
    if family == "poisson":
        return rng.poisson(np.exp(eta))
    if family == "ordinal":
        return np.digitize(eta + rng.logistic(size=len(eta)), [-1.0, 1.0])
    return np.exp(eta + 0.5 * rng.normal(size=len(eta)))


@pytest.mark.parametrize(
    ("family", "groups"), [("binomial", False), ("poisson", True), ("ordinal", False), ("lognormal", True)]
)
def test_slopes_of_simulated_sets(family: Any, groups: bool) -> None:
    slopes = np.array([0.5, -0.5])
    fits, plain = [], []
    for seed in range(SETS):
        X, z, _ = readings_of_error_scale_of_laws(500, seed)
        y = targets_of(family, (z - [1.0, -3.0]) @ slopes, np.random.default_rng(1000 + seed))
        more = {"groups": np.arange(500)} if groups else {}
        law = GeneralizedLinearLaw(family, error_scale="features").fit(X, y, **more)
        fits.append((law.coef_, law.std_, slopes))
        plain.append(GeneralizedLinearLaw(family).fit(X, y).coef_)
    pulls = pulls_of(fits)
    assert (np.abs(pulls.mean(axis=0)) < 4 / np.sqrt(SETS) + 0.2).all()
    np.testing.assert_allclose(pulls.std(axis=0, ddof=1), 1.0, atol=0.45)
    # With the error bars as they are, the first is flattened.
    assert np.mean(plain, axis=0)[0] < np.mean([law for law, *_ in fits], axis=0)[0] - 0.05


def test_lognormal_times_are_the_line_of_their_logarithms() -> None:
    X, z, _ = readings_of_error_scale_of_laws(400, 11)
    log = 1 + z @ [0.5, -0.5] + 0.5 * np.random.default_rng(0).normal(size=400)
    law = GeneralizedLinearLaw("lognormal", error_scale="features", bias_correction=None, tol=1e-10)
    law.fit(X, np.exp(log))
    line = LinearLaw(error_scale="features", tol=1e-10).fit(X, log)
    np.testing.assert_allclose(law.feature_error_scale_, line.feature_error_scale_, rtol=1e-6)
    np.testing.assert_allclose(law.feature_error_scale_std_, line.feature_error_scale_std_, rtol=1e-6)
    # The line counts degrees of freedom in its scatter.
    np.testing.assert_allclose(law.coef_, line.coef_, atol=0.1 * line.std_.min())
    np.testing.assert_allclose(law.std_, line.coef_std_, rtol=0.05)


def test_predictions_read_rows_with_the_factors_of_error_scale_of_laws(tmp_path: Any) -> None:
    X, z, t = readings_of_error_scale_of_laws(400, 5)
    y = targets_of("poisson", (z - [1.0, -3.0]) @ [0.5, -0.5], np.random.default_rng(0))
    law = GeneralizedLinearLaw("poisson", error_scale="features").fit(X, y)
    f, mu, T = law.feature_error_scale_, law.means_[0], law.covariances_[0]
    gain = T @ np.linalg.inv(T + f[:, None] * X.covariances() * f)
    m, P = mu + np.einsum("nij,nj->ni", gain, X.means - mu), T - gain @ T
    variance = np.einsum("i,nij,j->n", law.coef_, P, law.coef_)
    np.testing.assert_allclose(
        law.predict(X), np.exp(law.intercept_ + m @ law.coef_ + variance / 2), rtol=1e-8
    )
    assert "factor of x0's errors" in law.summary()
    pipeline = uncertain.fit(X, target=y, method="law", family="poisson", error_scale="features")
    pipeline.save(tmp_path / "law.safetensors")
    again = uncertain.load(tmp_path / "law.safetensors")
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))
    own = again.pipeline_[-1]
    np.testing.assert_array_equal(own.feature_error_scale_, pipeline.pipeline_[-1].feature_error_scale_)

    curve = CurveRegressor(plane, [0.0, 0.0, 0.0], error_scale="both").fit(X, z @ [1.0, 2.0] + t, y_std=t)
    f = curve.feature_error_scale_
    scaled = GaussianArray(X.means, cov=f[:, None] * X.covariances() * f)
    plain = pickle.loads(pickle.dumps(curve))
    del plain.feature_error_scale_
    np.testing.assert_allclose(curve.predict(X), plain.predict(scaled), rtol=1e-10)
    assert np.abs(curve.predict(X) - plain.predict(X)).max() > 0.1
    text = curve.summary()
    assert "factor of y's errors" in text and "factor of x1's errors" in text


@pytest.mark.filterwarnings("ignore:Stated error bars are wrong")
@pytest.mark.parametrize(
    "asked", [{"error_scale": "both"}, {"error_scale": "both", "curve": plane, "p0": np.ones(3)}]
)
def test_reports_compare_with_rows_that_have_no_error_bars(asked: Any) -> None:
    X, z, t = readings_of_error_scale_of_laws(200, 8)
    y = z @ [1.0, 2.0] + t * np.random.default_rng(0).normal(size=200)
    table = pl.DataFrame({"a": X.means[:, 0], "b": X.means[:, 1], "y": y, "y_err": t})
    s = np.sqrt(np.einsum("njj->nj", X.covariances()))
    table = table.with_columns(a_err=s[:, 0], b_err=s[:, 1])
    model = uncertain.fit(table, target="y", method="law", **asked)
    report = model.report(table, folds=2, repeats=1)
    assert report.score < report.score_means_only
