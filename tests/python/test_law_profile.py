"""Laws: profile intervals, the bias that errors of features add and that is taken off, errors that rows
share, and directions that rows do not determine."""

import pickle
import re
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit, ndtri
from scipy.stats import multivariate_normal, norm

import uncertain
from uncertain import GaussianArray, GaussianMixtureRegressor, UncertainError
from uncertain.exceptions import ParameterError, UncertainWarning
from uncertain.laws import GeneralizedLinearLaw, LinearLaw

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


BETA = np.array([1.0, -1.5])


def read(family: str, n: int, seed: int, size: float = 0.6) -> tuple[GaussianArray, np.ndarray, np.ndarray]:
    """Readings of two features, targets, and the true features."""
    rng = np.random.default_rng((seed, n))
    z = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 0.89]], size=n)
    std = size * np.exp(rng.normal(0.0, 0.5, size=(n, 2)))
    eta = z @ BETA
    if family == "ordinal":
        y = np.digitize(eta + rng.logistic(size=n), [-1.0, 0.5, 2.0])
    elif family == "binomial":
        y = (eta + rng.logistic(size=n) > 0).astype(int)
    else:
        y = np.exp(eta) * rng.gamma(2.0, 0.5, size=n)
    return GaussianArray(z + std * rng.normal(size=(n, 2)), std=std), y, z


@pytest.mark.parametrize("family", ["binomial", "ordinal"])
def test_the_correction_is_what_the_jackknife_finds_beyond_exact_features(family: str) -> None:
    taken, expected = [], []
    for seed in range(30):
        X, y, z = read(family, 400, seed)
        plain, corrected = (GeneralizedLinearLaw(family, bias_correction=by) for by in (None, "errors"))
        taken.append(plain.fit(X, y).coef_ - corrected.fit(X, y).coef_)
        jack = GeneralizedLinearLaw(family, bias_correction="jackknife")
        of_errors = plain.coef_ - jack.fit(X, y).coef_
        exact = GeneralizedLinearLaw(family).fit(z, y)
        expected.append(of_errors - (exact.coef_ - jack.fit(z, y).coef_))
    taken, expected = np.mean(taken, axis=0), np.mean(expected, axis=0)
    # The jackknife's error over 30 sets is some 20 %.
    np.testing.assert_allclose(taken, expected, rtol=0.5)
    assert taken[0] > 0.01 and taken[1] < -0.015


@pytest.mark.parametrize("family", ["binomial", "ordinal", "gamma"])
def test_exact_features_are_left_alone_and_small_errors_nearly(family: str) -> None:
    _, y, z = read(family, 200, 3)
    plain = GeneralizedLinearLaw(family, bias_correction=None).fit(z, y)
    np.testing.assert_array_equal(GeneralizedLinearLaw(family).fit(z, y).coef_, plain.coef_)
    for size, near in ((1e-5, 1e-6), (0.05, 0.02)):
        found = GeneralizedLinearLaw(family).fit(GaussianArray(z, std=size), y)
        uncorrected = GeneralizedLinearLaw(family, bias_correction=None).fit(GaussianArray(z, std=size), y)
        assert np.all(np.abs(found.coef_ - uncorrected.coef_) < near * plain.std_)


def test_the_correction_knows_neither_the_order_of_rows_nor_units() -> None:
    X, y, _ = read("ordinal", 150, 1)
    law = GeneralizedLinearLaw("ordinal").fit(X, y)
    order = np.random.default_rng(0).permutation(150)
    again = GeneralizedLinearLaw("ordinal").fit(X[order], y[order])
    np.testing.assert_allclose(again.coef_, law.coef_, rtol=1e-7)
    unit = np.array([1e3, 1e-2])
    scaled = GaussianArray(X.means * unit + 5 * unit, std=X._deviations() * unit)
    other = GeneralizedLinearLaw("ordinal").fit(scaled, y)
    np.testing.assert_allclose(other.coef_ * unit, law.coef_, rtol=1e-5)
    assert np.all(np.diff(law.extra_["thresholds"]) > 0)


def test_laws_with_a_penalty_are_not_corrected() -> None:
    X, y, _ = read("binomial", 150, 1)
    held = GeneralizedLinearLaw(alpha=0.05).fit(X, y)
    np.testing.assert_array_equal(
        held.coef_, GeneralizedLinearLaw(alpha=0.05, bias_correction=None).fit(X, y).coef_
    )


def test_where_true_classes_are_nearly_apart_little_is_taken_off() -> None:
    # Standard errors are as large as the coefficients, and the expansion says many times what there is.
    rng = np.random.default_rng(0)
    z, std = rng.normal(size=(300, 2)), rng.uniform(0.2, 0.5, size=(300, 2))
    X = GaussianArray(z + std * rng.normal(size=(300, 2)), std=std)
    y = z @ BETA + 0.3 * rng.normal(size=300) > 0
    with warnings.catch_warnings(action="ignore"):
        law = GeneralizedLinearLaw().fit(X, y)
        plain = GeneralizedLinearLaw(bias_correction=None).fit(X, y)
        few = [GeneralizedLinearLaw().fit(*read("binomial", 25, seed, 1.0)[:2]) for seed in range(5)]
    assert np.all(np.abs(law.coef_ - plain.coef_) < 0.3 * plain.std_)
    assert np.all(np.abs(law.coef_) > np.abs(law.naive_coef_))
    assert all(np.all(np.isfinite(one.coef_)) for one in few)


def test_intervals_by_the_profile_move_with_the_estimate() -> None:
    X, y, _ = read("binomial", 200, 2)
    law = GeneralizedLinearLaw().fit(X, y)
    ends = law.conf_int(method="profile")
    assert np.all((ends[:, 0] < law.coef_) & (law.coef_ < ends[:, 1]))
    width = ends[:, 1] - ends[:, 0]
    assert np.all(np.abs(width / (4 * law.std_) - 1) < 0.3)


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


NAMES = ["mass", "age", "flux"]


def rows(case: str, noise: float) -> tuple[GaussianArray, Floats]:
    """Three features of which two directions are known, and targets."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(150, 3))
    if case == "sum":
        z[:, 2] = z[:, 0] + z[:, 1]
    elif case == "copy":
        z[:, 2] = 3 * z[:, 1] + 5
    elif case == "constant":
        z[:, 2] = 7.0
    y = z @ [1.0, -2.0, 0.0] + 0.3 * rng.normal(size=150)
    # Errors that respect the sum: readings of features that are exact combinations are combinations, too.
    e = noise * rng.normal(size=(150, 3))
    if case in ("sum", "copy"):
        e[:, 2] = e[:, 0] + e[:, 1] if case == "sum" else 3 * e[:, 1]
    if case == "constant":
        e[:, 2] = 0.0
    turn = {"sum": [1.0, 1.0, 0.0], "copy": [0.0, 3.0, 0.0], "constant": [0.0, 0.0, 0.0]}[case]
    root = np.array([[1.0, 0, 0], [0, 1, 0], turn]) * noise
    return GaussianArray(z + e, cov=np.broadcast_to(root @ root.T, (150, 3, 3)), feature_names=NAMES), y


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize(
    ("case", "names"), [("sum", {"mass", "age", "flux"}), ("copy", {"age", "flux"}), ("constant", {"flux"})]
)
def test_a_line_names_the_direction(case: str, names: set[str], noise: float) -> None:
    X, y = rows(case, noise)
    with pytest.warns(UncertainWarning, match="Leave out one of these features") as caught:
        law = LinearLaw().fit(X, y, y_std=0.1)
    told = str(caught[0].message)
    assert set(re.findall(r"of (\w+)", told.split("along")[1].split("(")[0])) == names
    shares = [abs(float(x)) for x in re.findall(r"(-?\d\.\d\d) of", told)]
    assert shares == sorted(shares, reverse=True) and np.sum(np.square(shares)) == pytest.approx(1, abs=0.02)
    if case == "copy":
        assert told.count("-0.71") == 1 and told.count("0.71") == 2
    for read in (lambda: law.coef_std_, law.conf_int, law.summary, lambda: law.conf_int(method="profile")):
        with pytest.raises(AttributeError, match="flux"):
            read()
    # Predictions need no slope by itself.
    assert np.corrcoef(law.predict(X), y)[0, 1] > 0.9
    with pytest.raises(UncertainError, match=r"of feature 2 \(flux\).*leave out a feature$"):
        LinearLaw(outliers="student").fit(X, y, y_std=0.1)
    with pytest.raises(UncertainError, match=r"of feature 2 \(flux\).*alpha > 0$"):
        GeneralizedLinearLaw().fit(X, y > 0)


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_more_features_than_rows(noise: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(8, 12)), rng.normal(size=8)
    X = GaussianArray(x, std=np.full(x.shape, noise)) if noise else x
    with pytest.warns(UncertainWarning, match="of feature"):
        law = LinearLaw().fit(X, y)
    with pytest.raises(AttributeError, match="do not determine all slopes"):
        law.summary()


def test_well_determined_lines_say_nothing() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(100, 2))
    x = np.c_[z, z[:, 0] + 0.05 * rng.normal(size=100)]  # nearly a copy, and known to be none
    law = LinearLaw().fit(x, z[:, 0] + 0.1 * rng.normal(size=100))
    assert np.isfinite(law.coef_std_).all() and law.coef_std_[2] > 5 * law.coef_std_[1]
