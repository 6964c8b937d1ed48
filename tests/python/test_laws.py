"""Laws between true values: exact features against oracles of generalised linear models, noisy ones against
brute-force integrals and the truth, and what is refused."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, gammaln, ndtri
from scipy.stats import norm

import uncertain
from uncertain import GaussianArray, UncertainError
from uncertain.exceptions import ConvergenceWarning, ParameterError
from uncertain.laws import GeneralizedLinearLaw, LinearLaw

Floats = NDArray[np.float64]
BETA = np.array([1.0, -0.7])
FAMILIES = ("binomial", "poisson", "negative_binomial", "gamma", "ordinal", "weibull", "lognormal")
THRESHOLDS = np.array([-1.0, 0.5, 2.0])


def drawn(family: str, eta: Floats, seed: int = 1) -> tuple[Floats, dict[str, Any]]:
    """Targets for linear predictors, and what else a fit takes; intercept 0.3, dispersion 0.5, scale 0.6."""
    rng = np.random.default_rng(seed)
    n, mu = len(eta), np.exp(0.3 + eta)
    if family == "binomial":
        return (rng.uniform(size=n) < expit(0.3 + eta)).astype(float), {}
    if family == "poisson":
        return rng.poisson(mu).astype(float), {}
    if family == "negative_binomial":
        return rng.poisson(mu * rng.gamma(2.0, 0.5, size=n)).astype(float), {}
    if family == "gamma":
        return mu * rng.gamma(2.0, 0.5, size=n), {}
    if family == "ordinal":
        return np.digitize(eta + rng.logistic(size=n), THRESHOLDS).astype(float), {}
    w = np.log(rng.exponential(size=n)) if family == "weibull" else rng.normal(size=n)
    times, ends = np.exp(0.3 + eta + 0.6 * w), np.exp(rng.normal(1.0, 1.0, size=n))
    return np.minimum(times, ends), {"event": (times <= ends).astype(int)}


def log_density(family: str, y: Any, event: Any, eta: Any, extra: Any) -> Any:
    """log p(y | eta), each formula as textbooks have it."""
    mu = np.exp(eta)
    if family == "binomial":
        return y * eta - np.logaddexp(0.0, eta)
    if family == "poisson":
        return y * eta - mu - gammaln(y + 1)
    if family == "negative_binomial":
        r = 1 / extra[0]
        return (
            gammaln(y + r)
            - gammaln(r)
            - gammaln(y + 1)
            + r * np.log(r / (r + mu))
            + y * np.log(mu / (r + mu))
        )
    if family == "gamma":
        nu = 1 / extra[0]
        return nu * np.log(nu / mu) + (nu - 1) * np.log(y) - nu * y / mu - gammaln(nu)
    if family == "ordinal":
        edges = np.concatenate([[-np.inf], extra, [np.inf]])
        code = np.asarray(y).astype(int)
        return np.log(expit(edges[code + 1] - eta) - expit(edges[code] - eta))
    w = (np.log(y) - eta) / extra[0]
    if family == "weibull":
        return np.where(event == 1, w - np.log(extra[0]) - np.log(y), 0.0) - np.exp(w)
    seen = -0.5 * w**2 - 0.5 * np.log(2 * np.pi) - np.log(extra[0]) - np.log(y)
    return np.where(event == 1, seen, norm.logsf(w))


def rows(n: int = 400, seed: int = 0) -> tuple[Floats, Floats]:
    """True features, correlated, and the sizes of their errors."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.4], [0.0, 0.9]])
    return z, np.exp(rng.normal(-0.7, 0.4, size=(n, 2)))


def estimates(law: GeneralizedLinearLaw) -> Floats:
    first = [] if law.family == "ordinal" else [law.intercept_]
    return np.concatenate([first, law.coef_, *law.extra_.values()])


def split(family: str, theta: Floats) -> tuple[float, Floats, Floats]:
    first = 0 if family == "ordinal" else 1
    return (0.0 if not first else theta[0]), theta[first : first + 2], theta[first + 2 :]


@pytest.mark.parametrize("family", FAMILIES)
def test_exact_features_are_the_ordinary_model(family: str) -> None:
    z, _ = rows()
    y, known = drawn(family, z @ BETA)
    law = GeneralizedLinearLaw(family).fit(z, y, **known)
    event = known.get("event", np.ones(len(y)))

    def misfit(theta: Floats) -> float:
        b, beta, extra = split(family, theta)
        return -float(np.sum(log_density(family, y, event, b + z @ beta, extra)))

    best = minimize(misfit, estimates(law), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11})
    np.testing.assert_allclose(estimates(law), best.x, rtol=1e-5, atol=1e-6)
    assert law.loglikelihood_ == pytest.approx(-best.fun, abs=1e-7)
    # The information by differences of the oracle.
    theta, h = estimates(law), 1e-4
    p = len(theta)
    shifts = h * np.eye(p)
    hessian = np.array(
        [
            [
                misfit(theta + a + c) - misfit(theta + a - c) - misfit(theta - a + c) + misfit(theta - a - c)
                for c in shifts
            ]
            for a in shifts
        ]
    ) / (4 * h**2)
    np.testing.assert_allclose(law.covariance_, np.linalg.inv(hessian), rtol=2e-3, atol=1e-6)
    np.testing.assert_allclose(law.coef_, law.naive_coef_, rtol=1e-9)
    assert law.status_ == "converged"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_likelihood_is_the_integral_over_true_features(family: str) -> None:
    z, s = rows(40)
    y, known = drawn(family, z @ BETA)
    x = z + s * np.random.default_rng(5).normal(size=z.shape)
    law = GeneralizedLinearLaw(family, n_components=2, bias_correction=None, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        law.fit(GaussianArray(x, std=s), y, **known)
    event = known.get("event", np.ones(len(y)))
    _, extra = law.intercept_, next(iter(law.extra_.values()), np.array([]))
    total = 0.0
    for i in range(len(y)):
        logs, parts = [], []
        for share, mu, T in zip(law.weights_, law.means_, law.covariances_, strict=True):
            V = T + np.diag(s[i] ** 2)
            gain = np.linalg.solve(V, T).T
            r = x[i] - mu
            logs.append(np.log(share) - 0.5 * r @ np.linalg.solve(V, r) - 0.5 * np.linalg.slogdet(V)[1])
            m = law.intercept_ + law.coef_ @ (mu + gain @ r)
            parts.append((m, np.sqrt(law.coef_ @ (T - gain @ T) @ law.coef_)))
        shares = np.exp(np.array(logs) - np.logaddexp.reduce(logs))

        def integrand(eta: float, m: float, sd: float, i: int = i) -> float:
            return float(np.exp(log_density(family, y[i], event[i], eta, extra)) * norm.pdf(eta, m, sd))

        total += np.log(
            sum(
                w * quad(integrand, m - 9 * sd, m + 9 * sd, args=(m, sd), limit=200, epsabs=1e-13)[0]
                for w, (m, sd) in zip(shares, parts, strict=True)
            )
        )
    assert law.loglikelihood_ == pytest.approx(total, abs=1e-6)


def test_predictions_average_over_the_reading() -> None:
    z, s = rows(2000)
    x = z + s * np.random.default_rng(5).normal(size=z.shape)
    X = GaussianArray(x, std=s)
    law = GeneralizedLinearLaw().fit(X, drawn("binomial", z @ BETA)[0])
    mean, std = law.decision_distribution(X)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    p = expit(mean[:, None] + std[:, None] * nodes) @ weights / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(law.predict_proba(X)[:, 1], p, atol=1e-7)
    np.testing.assert_array_equal(law.predict(X), law.classes_[(p > 0.5).astype(int)])
    counts = GeneralizedLinearLaw("poisson").fit(X, drawn("poisson", z @ BETA)[0])
    m = np.log(counts.predict(X))
    exact = counts.intercept_ + z @ counts.coef_
    np.testing.assert_allclose(np.log(counts.predict(z)), exact, rtol=1e-9)
    assert np.std(m) < np.std(exact)
    mean, std = counts.predict_distribution(z)
    np.testing.assert_allclose(std**2, mean)
    np.testing.assert_allclose(counts.predict(z, exposure=np.full(2000, 3.0)), 3 * mean)


@pytest.mark.parametrize("family", ["weibull", "lognormal"])
def test_times_are_predicted_by_their_median(family: str) -> None:
    z, _ = rows(1000)
    y, known = drawn(family, z @ BETA)
    law = GeneralizedLinearLaw(family).fit(z, y, **known)
    eta = law.intercept_ + z @ law.coef_
    by = law.extra_["scale"][0] * (np.log(np.log(2)) if family == "weibull" else 0.0)
    np.testing.assert_allclose(law.predict(z), np.exp(eta + by), rtol=1e-8)
    with pytest.raises(UncertainError, match="median"):
        law.predict_distribution(z)


def test_offset_exposure_and_weights() -> None:
    z, _ = rows(500)
    rng = np.random.default_rng(2)
    size = rng.uniform(0.5, 4.0, size=500)
    y = rng.poisson(size * np.exp(0.3 + z @ BETA))
    law = GeneralizedLinearLaw("poisson")
    a, b = law.fit(z, y, exposure=size).coef_, law.fit(z, y, offset=np.log(size)).coef_
    np.testing.assert_allclose(a, b, rtol=1e-12)
    twice = np.arange(500) % 3 == 0
    repeated = np.concatenate([np.arange(500), np.flatnonzero(twice)])
    weighted = GeneralizedLinearLaw("poisson").fit(z, y, 1.0 + twice)
    again = GeneralizedLinearLaw("poisson").fit(z[repeated], y[repeated])
    np.testing.assert_allclose(weighted.coef_, again.coef_, rtol=1e-7)
    assert weighted.loglikelihood_ == pytest.approx(again.loglikelihood_)


def test_intervals() -> None:
    z, s = rows(300)
    y, _ = drawn("binomial", z @ BETA)
    law = GeneralizedLinearLaw().fit(z, y)
    np.testing.assert_allclose(
        law.conf_int(0.9), law.coef_[:, None] + ndtri(0.95) * law.std_[:, None] * [-1, 1]
    )
    ends = law.conf_int(0.9, method="profile")
    for j, k in ((0, 0), (0, 1), (1, 0), (1, 1)):

        def misfit(rest: Floats, j: int = j, k: int = k) -> float:
            beta = np.insert(rest[1:], j, ends[j, k])
            return -float(np.sum(log_density("binomial", y, None, rest[0] + z @ beta, ())))

        start = np.array([law.intercept_, law.coef_[1 - j]])
        best = minimize(misfit, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11})
        assert 2 * (law.loglikelihood_ + best.fun) == pytest.approx(ndtri(0.95) ** 2, rel=1e-4)
    noisy = GeneralizedLinearLaw().fit(GaussianArray(z + s, std=s), y)
    wald, profile = noisy.conf_int(), noisy.conf_int(method="profile")
    assert np.abs(profile - wald).max() < 0.3 * np.diff(wald).max()
    assert "without errors" in noisy.summary() and "x1" in noisy.summary()
    copy = pickle.loads(pickle.dumps(noisy))
    np.testing.assert_array_equal(copy.coef_, noisy.coef_)
    with pytest.raises(UncertainError, match="readings of the fit"):
        copy.conf_int(method="profile")
    for level in (0.0, 1.0, -1):
        with pytest.raises(ParameterError, match="level"):
            law.conf_int(level)


def test_separation_is_said_and_a_penalty_ends_it() -> None:
    z, _ = rows(60)
    y = z[:, 0] > 0
    with pytest.warns(ConvergenceWarning, match="alpha > 0"):
        law = GeneralizedLinearLaw().fit(z, y)
    assert law.status_ == "separated"
    held = GeneralizedLinearLaw(alpha=0.1).fit(z, y)
    assert held.status_ == "converged" and np.abs(held.coef_).max() < 10

    def misfit(theta: Floats) -> float:
        loss = -log_density("binomial", y.astype(float), None, theta[0] + z @ theta[1:], ())
        return float(np.mean(loss) + 0.05 * np.sum((theta[1:] * z.std(axis=0)) ** 2))

    best = minimize(misfit, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    np.testing.assert_allclose([held.intercept_, *held.coef_], best.x, atol=1e-5)


def test_directions_that_rows_do_not_determine_are_named() -> None:
    z, _ = rows(200)
    y, _ = drawn("binomial", z @ BETA)
    doubled = np.column_stack([z, z[:, 0] + z[:, 1]])
    with pytest.raises(UncertainError, match=r"feature 2.*alpha"):
        GeneralizedLinearLaw().fit(doubled, y)
    with pytest.raises(UncertainError, match=r"1\.00 of feature 1"):
        GeneralizedLinearLaw().fit(np.column_stack([z[:, 0], np.ones(200)]), y)
    assert GeneralizedLinearLaw(alpha=0.01).fit(doubled, y).coef_.shape == (3,)


def test_bad_input_is_refused_with_its_row() -> None:
    z, _ = rows(20)
    y = np.arange(20.0) + 1
    for family, bad, words in [
        ("poisson", -1.0, "row 3 is -1; a count must be >= 0"),
        ("negative_binomial", 0.5, "row 3 is 0.5; a count must be a whole number"),
        ("gamma", 0.0, "row 3 is 0; it must be > 0"),
        ("weibull", -2.0, "row 3 is -2; it must be > 0"),
    ]:
        changed = y.copy()
        changed[3] = bad
        with pytest.raises(UncertainError, match=words):
            GeneralizedLinearLaw(family).fit(z, changed)
    with pytest.raises(UncertainError, match="event: row 2 is 3"):
        GeneralizedLinearLaw("weibull").fit(z, y, event=[1, 0, 3] + [1] * 17)
    with pytest.raises(UncertainError, match="no event was seen"):
        GeneralizedLinearLaw("weibull").fit(z, y, event=np.zeros(20))
    with pytest.raises(UncertainError, match="has no times"):
        GeneralizedLinearLaw("poisson").fit(z, y, event=np.ones(20))
    with pytest.raises(UncertainError, match="exposure"):
        GeneralizedLinearLaw("poisson").fit(z, y, exposure=np.zeros(20))
    with pytest.raises(UncertainError, match="offset"):
        GeneralizedLinearLaw("poisson").fit(z, y, offset=np.full(20, np.nan))
    with pytest.raises(UncertainError, match='family="ordinal"'):
        GeneralizedLinearLaw().fit(z, y)
    with pytest.raises(ParameterError, match="one of binomial"):
        GeneralizedLinearLaw("probit").fit(z, y)
    with pytest.raises(ParameterError, match="alpha"):
        GeneralizedLinearLaw(alpha=-1.0).fit(z, y > 3)
    errors: Any
    for errors in ({"y_std": 0.1}, {"xy_cov": np.zeros((20, 2))}):
        with pytest.raises(UncertainError, match=r"'poisson' has no error bars of the target.*LinearLaw"):
            GeneralizedLinearLaw("poisson").fit(z, y, **errors)
    with pytest.raises(TypeError, match="unexpected keyword argument 'y_sdt'"):
        GeneralizedLinearLaw("poisson").fit(z, y, y_sdt=0.1)
    with pytest.raises(UncertainError, match="predict_proba"):
        GeneralizedLinearLaw().fit(z, np.arange(20) % 2).predict_distribution(z)


def table(family: str, n: int = 600) -> pl.DataFrame:
    z, s = rows(n)
    x = z + s * np.random.default_rng(5).normal(size=z.shape)
    y, known = drawn(family, z @ BETA)
    columns = {"a": x[:, 0], "a_err": s[:, 0], "b": 100 * x[:, 1], "b_err": 100 * s[:, 1], "y": y}
    if known:
        columns["l_y"] = np.where(known["event"] == 1, "", ">")
    return pl.DataFrame(columns)


@pytest.mark.parametrize("family", ["poisson", "gamma", "weibull"])
def test_laws_of_tables(family: str, tmp_path: Path) -> None:
    data = table(family)
    if family == "poisson":
        data = data.with_columns(pl.col("y").cast(pl.Int64))
    known = {"limits": {"y": "l_y"}} if family == "weibull" else {}
    model = uncertain.fit(data, target="y", method="law", family=family, **known)
    z, s = data.select("a", "b").to_numpy(), data.select("a_err", "b_err").to_numpy()
    event = {"event": (data["l_y"] == "").to_numpy()} if family == "weibull" else {}
    law = GeneralizedLinearLaw(family, random_state=0).fit(
        GaussianArray(z, std=s), data["y"].to_numpy(), **event
    )
    np.testing.assert_allclose(model.coef_[0], law.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.coef_std_[0], law.coef_std_, rtol=1e-5)
    np.testing.assert_allclose(model.conf_int(), law.conf_int(), rtol=1e-5)
    assert "standard error" in str(model.summary())
    model.save(tmp_path / "law.safetensors")
    loaded = uncertain.load(tmp_path / "law.safetensors")
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
    np.testing.assert_array_equal(loaded.coef_std_, model.coef_std_)


def test_classes_and_lines_of_tables() -> None:
    model = uncertain.fit(table("binomial"), target="y", method="law")
    assert (
        isinstance(model.pipeline_[-1], GeneralizedLinearLaw)
        and model.predict_proba(table("binomial")).shape[1] == 2
    )
    noise = np.random.default_rng(8).normal(size=600)
    data = table("gamma").with_columns(y=2 * pl.col("a") + 0.5 * noise)
    line = uncertain.fit(data, target="y", method="law")
    assert isinstance(line.pipeline_[-1], LinearLaw) and line.coef_std_.shape == (1, 2)
    assert line.intrinsic_scatter_ == line.pipeline_[-1].intrinsic_scatter_
    gsu = uncertain.fit(data, target="y", method="gsu")
    with pytest.raises(AttributeError, match="standard errors"):
        _ = gsu.coef_std_


def test_jackknife_by_its_formula() -> None:
    rng = np.random.default_rng(3)
    z, n = rng.normal(size=(200, 2)), 200
    y = np.exp(0.3 + z @ [0.5, -1.0]) * rng.gamma(3.0, 1 / 3, size=n)
    groups = np.arange(n) // 2
    law = GeneralizedLinearLaw("gamma", bias_correction="jackknife").fit(z, y, groups=groups)
    whole = GeneralizedLinearLaw("gamma").fit(z, y, groups=groups)
    part = np.random.default_rng(0).permutation(np.arange(100) % 10)[groups]
    left = [GeneralizedLinearLaw("gamma").fit(z[part != g], y[part != g]) for g in range(10)]
    np.testing.assert_allclose(law.coef_, 10 * whole.coef_ - 9 * np.mean([one.coef_ for one in left], axis=0))
    log = np.log([one.extra_["dispersion"][0] for one in left])
    expected = 10 * np.log(whole.extra_["dispersion"][0]) - 9 * log.mean()
    assert law.extra_["dispersion"][0] == pytest.approx(np.exp(expected))
    np.testing.assert_array_equal(law.std_, whole.std_)
    with pytest.raises(UncertainError, match="bias_correction"):
        GeneralizedLinearLaw("gamma", bias_correction="firth").fit(z, y)
