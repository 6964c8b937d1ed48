"""Rows of several Gaussians with missing features and limits, against likelihoods by brute force;
`GaussianMixtureRegressor` from tables."""

import pickle
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal, norm
from test_mixture import fitted, given_readings, readings, same
from test_mixture_array import mixtures, rows_of

import uncertain
from uncertain import (
    AsGaussians,
    ErrorColumns,
    GaussianArray,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianImputer,
    GaussianMixtureRegressor,
    GaussianScaler,
    GSUClassifier,
    Incomplete,
    MinimaxProbabilityClassifier,
    MixtureArray,
    ProbabilisticKernelSVC,
    UncertainError,
)
from uncertain.exceptions import UncertainWarning
from uncertain.laws import CurveRegressor, GeneralizedLinearLaw, LinearLaw
from uncertain.uncertainty import from_draws

Array = np.ndarray
N = 90


def marks(n: int = N, d: int = 2) -> Array:
    """A gap in every fifth row, in the features by turns."""
    missing = np.zeros((n, d), dtype=bool)
    missing[::5, 0] = True
    missing[2::5, 1] = True
    return missing


def rows(kind: str = "gaps", full: bool = True) -> Incomplete:
    X = mixtures(n=N, full=full)
    if kind != "limits":
        return Incomplete(X, marks() & (kind == "gaps"))
    limits = np.zeros((N, 2), dtype=np.int8)
    limits[1::6, 0], limits[3::6, 1] = 1, -1
    return Incomplete(X, marks() & (limits == 0), limits)


def labels() -> Array:
    return np.arange(N) % 2


def pairs(X: Incomplete, weights: Array, means: Array, covs: Array) -> tuple[Array, Array]:
    """log p of every row, sum_c v_c sum_k pi_k p(x_c | k) over what was read and the sides of its limits, and
    the shares of its components."""
    own = X.gaussians
    assert isinstance(own, MixtureArray)
    x, S, of_row = own.components.means, own.components.covariances(), rows_of(own)
    limits = np.zeros(X.shape, dtype=int) if X.limits is None else X.limits
    logs = np.empty(len(x))
    for c, row in enumerate(of_row):
        read = np.flatnonzero(~X.missing[row])
        limited = np.flatnonzero(limits[row])
        assert len(limited) < 2
        terms = []
        for p, mu, T in zip(weights, means, covs, strict=True):
            V, r = T + S[c], x[c] - mu
            log = np.log(p)
            if len(read):
                log += multivariate_normal(np.zeros(len(read)), V[np.ix_(read, read)]).logpdf(r[read])
            if len(limited):
                j = limited[0]
                gain = np.linalg.solve(V[np.ix_(read, read)], V[read, j]) if len(read) else np.zeros(0)
                centre, size = gain @ r[read], np.sqrt(V[j, j] - gain @ V[read, j])
                log += norm.logcdf(-limits[row, j] * (r[j] - centre) / size)
            terms.append(log)
        logs[c] = logsumexp(terms) + np.log(own.weights[c])
    by_row = np.split(logs, own.offsets[1:-1])
    total = np.array([logsumexp(each) for each in by_row])
    return total, np.exp(logs - total[of_row])


KINDS = ("complete", "gaps", "limits")


def given(X: Incomplete) -> Any:
    """Rows as estimators get them."""
    return X if X.limits is not None or X.missing.any() else X.gaussians


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2])
def test_the_denoiser_climbs_the_likelihood_of_pairs_of_what_was_read(k: int, kind: str) -> None:
    whole = rows(kind)
    X = given(whole)
    denoiser = GaussianDenoiser(k, random_state=0).fit(X)
    logs, shares = pairs(whole, denoiser.weights_, denoiser.means_, denoiser.covariances_)
    np.testing.assert_allclose(denoiser.score_samples(X), logs, rtol=1e-12)
    # With the penalty of one component, as where rows are Gaussians.
    assert np.all(np.diff(denoiser.log_likelihoods_) > -1e-12)
    moved = denoiser.transform(X)
    assert isinstance(moved, MixtureArray)
    np.testing.assert_allclose(moved.weights, shares, rtol=1e-10)
    of_row = rows_of(whole.gaussians)  # type: ignore[arg-type]
    limits = None if whole.limits is None else whole.limits[of_row]
    alone = denoiser.transform(Incomplete(whole.gaussians.components, whole.missing[of_row], limits))  # type: ignore[attr-defined]
    np.testing.assert_allclose(moved.components.means, alone.means, rtol=1e-12)
    np.testing.assert_allclose(moved.components.covariances(), alone.covariances(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("kind", "k"), [("complete", 1), ("gaps", 2)])
def test_the_distribution_is_a_maximum(kind: str, k: int) -> None:
    whole = rows(kind)
    denoiser = GaussianDenoiser(k, random_state=0, tol=1e-9, max_iter=5000).fit(given(whole))
    known = denoiser.weights_, denoiser.means_, denoiser.covariances_
    best = pairs(whole, *known)[0].mean()
    assert denoiser.log_likelihoods_[-1] == pytest.approx(best, rel=1e-12)
    for step in np.eye(2 * k).reshape(2 * k, k, 2) * 2e-2:
        for sign in (-1, 1):
            assert pairs(whole, known[0], known[1] + sign * step, known[2])[0].mean() < best
    for scale in (0.97, 1.03):
        assert pairs(whole, known[0], known[1], known[2] * scale)[0].mean() < best


@pytest.mark.parametrize("kind", KINDS)
def test_the_discriminant_weighs_components_of_what_was_read(kind: str) -> None:
    whole, y = rows(kind), labels()
    X = given(whole)
    model = GaussianDiscriminant(shared_covariance=False).fit(X, y)
    logs = [pairs(whole, np.ones(1), model.means_[c], model.covariances_[c])[0] for c in range(2)]
    joint = np.stack(logs, axis=1) + np.log(model.priors_)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected, rtol=1e-9, atol=1e-12)


GAPS_TAKEN: dict[str, Any] = {
    "denoiser": lambda: GaussianDenoiser(2, random_state=0),
    "imputer": GaussianImputer,
    "scaler": GaussianScaler,
    "discriminant": GaussianDiscriminant,
    "regressor": lambda: GaussianMixtureRegressor(2, random_state=0),
    "line": LinearLaw,
    "law": lambda: GeneralizedLinearLaw("binomial"),
}


def answers(model: Any, X: Incomplete) -> Array:
    for method in ("predict_proba", "predict"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X))
    moved = model.transform(X)
    moved = moved.gaussians if isinstance(moved, Incomplete) else moved
    return np.where(X.missing, 0.0, moved.means) if isinstance(model, GaussianScaler) else moved.means


@pytest.mark.parametrize("case", GAPS_TAKEN)
def test_equal_components_with_gaps_are_one_and_nothing_is_read_in_a_gap(case: str) -> None:
    G = mixtures(n=N, full=True).collapse("gaussian")
    twice = G[np.repeat(np.arange(N), 2)]
    X = MixtureArray(np.tile([0.3, 0.7], N), twice, offsets=2 * np.arange(N + 1))
    random = np.random.default_rng(3)
    junk = np.where(np.repeat(marks(), 2, axis=0), random.normal(0, 50, (2 * N, 2)), twice.means)
    other = MixtureArray(X.weights, GaussianArray(junk, cov=twice.covariances()), offsets=X.offsets)
    y = labels() + (0.1 * np.arange(N) if case in ("regressor", "line") else 0)
    plain, mixed, changed = (GAPS_TAKEN[case]().fit(Incomplete(own, marks()), y) for own in (G, X, other))
    found = answers(mixed, Incomplete(X, marks()))
    np.testing.assert_array_equal(answers(changed, Incomplete(other, marks())), found)
    rtol = (
        2e-2 if case == "line" else 1e-4
    )  # of Gaussians alone a line has the degrees of freedom of its scatter
    np.testing.assert_allclose(found, answers(plain, Incomplete(G, marks())), rtol=rtol, atol=1e-6)


def test_a_law_integrates_over_what_was_read() -> None:
    """The likelihood of a logistic law of two features, one of them missing in some rows, on a grid."""
    X, y = rows(full=False), labels()
    law = GeneralizedLinearLaw("binomial", bias_correction=None).fit(X, y)
    assert isinstance(X.gaussians, MixtureArray)
    mu, T = law.means_[0], law.covariances_[0]
    grid = np.linspace(-80, 80, 40001)
    expected = 0.0
    for row in range(N):
        own = X.gaussians[row]
        read = ~X.missing[row]
        density, total = 0.0, 0.0
        for v, x, S in zip(own.weights, own.components.means, own.components.covariances(), strict=True):
            V = (T + S)[np.ix_(read, read)]
            gain = T[:, read] @ np.linalg.inv(V)
            m, P = mu + gain @ (x - mu)[read], T - gain @ T[read]
            weight = v * multivariate_normal(mu[read], V).pdf(x[read])
            size = np.sqrt(law.coef_ @ P @ law.coef_)
            density = density + weight * norm.pdf(grid, law.intercept_ + law.coef_ @ m, size)
            total += weight
        expected += np.log(np.trapezoid(density / total * expit(grid if y[row] else -grid), grid))
    np.testing.assert_allclose(law.loglikelihood_, expected, rtol=1e-6)


def test_transforms_pass_gaps_on_and_moments_keep_them() -> None:
    X, y = rows(), labels()
    scaled = GaussianScaler().fit_transform(X)
    assert isinstance(scaled, Incomplete) and isinstance(scaled.gaussians, MixtureArray)
    np.testing.assert_array_equal(scaled.missing, X.missing)
    filled = GaussianImputer().fit_transform(X)
    assert isinstance(filled, MixtureArray)
    of_row = rows_of(filled)
    read = ~X.missing[of_row]
    np.testing.assert_array_equal(filled.components.means[read], X.gaussians.components.means[read])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(filled.weights, X.gaussians.weights)  # type: ignore[attr-defined]
    columns = ErrorColumns().fit_transform(X)
    np.testing.assert_array_equal(np.isnan(columns[:, :2]), X.missing)
    there = ~X.missing
    np.testing.assert_allclose(columns[:, :2][there], X.gaussians.means[there])
    for model in (GSUClassifier(), MinimaxProbabilityClassifier(), ProbabilisticKernelSVC()):
        with pytest.raises(UncertainError, match="row 0, feature 0 is missing"):
            model.fit(X, y)
    with pytest.raises(UncertainError, match="feature"):
        CurveRegressor(lambda x, p: p[0] * x[:, 0], p0=[1.0]).fit(X, y)


def test_rows_are_indexed_joined_and_collapsed() -> None:
    X = rows("limits")
    part = X[10:20]
    assert isinstance(part.gaussians, MixtureArray) and part.gaussians == X.gaussians[10:20]
    np.testing.assert_array_equal(part.missing, X.missing[10:20])
    assert not isinstance(X.collapse("gaussian").gaussians, MixtureArray)
    assert X[:, [1]].shape == (N, 1)
    assert np.isinf(X.trace()[0]) and np.isfinite(X.trace()[4])
    assert X.sample(3, 0).shape == (3 * N, 2)


# -- tables


def table(n: int = 160) -> pl.DataFrame:
    random = np.random.default_rng(1)
    z = random.normal(size=(n, 2))
    arms = random.uniform(0.1, 0.4, (2, n))
    kind = (z.sum(axis=1) + random.normal(size=n) > 0).astype(int)
    frame = {"a": z[:, 0] + 0.1, "a_err1": 2.5 * arms[0], "a_err2": -arms[0],
             "b": z[:, 1], "b_err": arms[1], "kind": kind}  # fmt: skip
    return pl.DataFrame(frame)


def with_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    gone = pl.int_range(frame.height)
    return frame.with_columns(
        a=pl.when(gone % 8 == 0).then(None).otherwise(pl.col("a")),
        b=pl.when(gone % 8 == 3).then(None).otherwise(pl.col("b")),
    )


@pytest.mark.parametrize("method", ["law", "discriminant", "gsu", "remeasured", "auto"])
def test_asymmetric_errors_keep_their_shape_beside_gaps(method: str) -> None:
    frame = with_gaps(table())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UncertainWarning)
        model = uncertain.fit(frame, target="kind", method=method, arms="shape")
    rows = model.pipeline_[0].transform(frame)
    assert isinstance(rows, Incomplete) and isinstance(rows.gaussians, MixtureArray)
    rows = rows[:, :2]  # others say what is missing
    there = np.arange(frame.height) % 8 != 0
    whole = AsGaussians(arms="shape").fit(table().drop("kind")).transform(table().drop("kind"))
    assert isinstance(whole, MixtureArray)
    np.testing.assert_array_equal(np.diff(rows.gaussians.offsets)[there], np.diff(whole.offsets)[there])
    assert (np.diff(rows.gaussians.offsets)[~there] == 1).all()
    np.testing.assert_allclose(rows.gaussians.means[~rows.missing], whole.means[~rows.missing])
    assert np.isfinite(np.asarray(model.predict_proba(frame))).all()


def test_draws_may_be_missing() -> None:
    random = np.random.default_rng(4)
    n, m = 120, 40
    kind = random.integers(0, 2, n)
    z = random.normal(2.0 * kind, 0.7)
    chains = z[:, None] + random.normal(0, 0.3, (n, m))
    chains[::4, : m // 3] += 4.0
    other = random.normal(kind, 1)[:, None] + random.normal(0, 0.5, (n, m))
    lists = {"z": chains.tolist(), "w": other.tolist()}
    lists["z"][3], lists["w"][5], lists["w"][6] = None, None, None
    frame = pl.DataFrame(lists | {"kind": kind})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertainWarning)
        model = uncertain.fit(frame, target="kind", method="discriminant", draws=["z", "w"])
    rows = model.pipeline_[0].transform(frame)
    assert isinstance(rows, Incomplete) and isinstance(rows.gaussians, MixtureArray)
    np.testing.assert_array_equal(np.argwhere(rows.missing), [[3, 0], [5, 1], [6, 1]])
    whole = from_draws(np.stack([chains, other], axis=2))
    complete = ~rows.missing.any(axis=1)
    np.testing.assert_allclose(rows.gaussians.means[complete], whole.means[complete])
    assert model.score(frame) > 0.8
    with pytest.raises(UncertainError, match="z: row 3"):
        AsGaussians(draws=["z", "w"]).fit(frame.drop("kind"))


def test_limits_beside_asymmetric_errors() -> None:
    frame = table().with_columns(
        l_a=pl.when(pl.int_range(160) % 9 == 0).then(pl.lit("<")).otherwise(pl.lit("")),
        a_err1=pl.when(pl.int_range(160) % 18 == 0).then(None).otherwise(pl.col("a_err1")),
    )
    model = uncertain.fit(
        frame, target="kind", method="discriminant", arms="shape", limits={"a": "l_a"},
        features=["a", "b"], std={"a": ("a_err1", "a_err2"), "b": "b_err"},
    )  # fmt: skip
    rows = model.pipeline_[0].transform(frame)
    assert isinstance(rows, Incomplete) and isinstance(rows.gaussians, MixtureArray)
    assert rows.limits is not None and (rows.limits[:, 0] == -1).sum() == 18
    np.testing.assert_allclose(rows.gaussians.means[::18, 0], frame["a"].to_numpy()[::18])
    assert model.score(frame) > 0.7


def test_equal_rows_with_gaps_are_held_out_together_and_inspected() -> None:
    frame = with_gaps(pl.concat([table(60)] * 2))
    with pytest.warns(UncertainWarning, match="rows repeat the readings of others .*groups="):
        model = uncertain.fit(frame, target="kind", method="law", arms="shape")
    assert np.isfinite(np.asarray(model.predict_proba(frame))).all()
    found = uncertain.inspection.partial_dependence(model, frame, ["a"], grid_resolution=3)
    assert np.isfinite(found.average).all()
    assert GaussianArray([[0.0]]) != MixtureArray([[0.5, 0.5]], [[[0.0], [1.0]]])


@pytest.mark.parametrize("method", ["mixture", "auto"])
def test_intervals_sets_and_reports_of_rows_with_gaps(method: str) -> None:
    frame = with_gaps(table(200))
    number = frame.with_columns(size=pl.col("b").fill_null(0.0) + pl.col("b_err")).drop("kind")
    given = {"effort": "fast"} if method == "auto" else {}
    model = uncertain.fit(number, target="size", method=method, arms="shape", **given)
    bounds = model.predict_interval(number)
    inside = (bounds["size_lower"] <= number["size"]) & (number["size"] <= bounds["size_upper"])
    assert inside.mean() > 0.8
    report = model.report(number, folds=2, repeats=1)
    assert report.n_rows == 200
    if method == "auto":
        classes = uncertain.fit(frame, target="kind", arms="shape", effort="fast")
        assert len(classes.predict_set(frame)) == 200


def table_of(x: Array, y: Array, C: Array, **more: Array) -> pl.DataFrame:
    std = np.sqrt(C[:, range(3), range(3)])
    columns = {"c": x[:, 0], "c_err": std[:, 0], "s": x[:, 1], "s_err": std[:, 1]}
    return pl.DataFrame(columns | {"mag": y, "mag_err": std[:, 2], "cov_c_s": C[:, 0, 1]} | more)


def test_tables_name_the_covariances_with_the_target(tmp_path: Any) -> None:
    x, y, C, _ = readings(20, 300)
    direct = fitted(x, y, C)
    std = np.sqrt(C[:, range(3), range(3)])
    table = table_of(x, y, C, COV_mag_c=C[:, 0, 2], cov_s_mag=C[:, 1, 2])
    model = uncertain.fit(table, target="mag", method="mixture")
    last = model.pipeline_[-1]
    same(last, direct, rtol=1e-9)
    assert [type(step).__name__ for _, step in model.pipeline_.steps] == [
        "AsGaussians",
        "GaussianMixtureRegressor",
    ]
    assert model.columns_.ignored == () and model.columns_.target_std == "mag_err"
    np.testing.assert_allclose(model.coef_[0], direct.coef_)
    assert "measurement" in repr(model) and "slope" not in repr(model)

    given = {"std": "{}_err", "target_std": "mag_err", "method": "mixture"}
    pairs = {("c", "s"): "cov_c_s", ("mag", "c"): "q", ("s", "mag"): "r"}
    named = table.rename({"COV_mag_c": "q", "cov_s_mag": "r"})
    same(
        uncertain.fit(named, "mag", features=["c", "s"], cov=pairs, **given).pipeline_[-1], direct, rtol=1e-9
    )  # type: ignore[arg-type]
    rho = (
        table_of(x, y, C)
        .with_columns(
            c_mag_corr=C[:, 0, 2] / std[:, 0] / std[:, 2],
            mag_s_corr=C[:, 1, 2] / std[:, 1] / std[:, 2],
            c_s_corr=C[:, 0, 1] / std[:, 0] / std[:, 1],
        )
        .drop("cov_c_s")
    )
    same(uncertain.fit(rho, "mag", method="mixture").pipeline_[-1], direct, rtol=1e-9)
    pattern = uncertain.fit(rho, "mag", features=["c", "s"], corr="{}_{}_corr", **given)  # type: ignore[arg-type]
    same(pattern.pipeline_[-1], direct, rtol=1e-9)

    distribution = model.predict_distribution(table)
    mean, whole = direct.predict(GaussianArray(x, cov=C[:, :2, :2]), return_std=True)
    np.testing.assert_allclose(distribution["mag"], mean)
    np.testing.assert_allclose(distribution["mag_std"], whole)
    from_errors = np.sqrt(whole**2 - direct.intrinsic_scatter_**2)
    np.testing.assert_allclose(distribution["mag_std_from_errors"], from_errors, rtol=1e-6)
    model.save(tmp_path / "model")
    again = uncertain.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_distribution(table)["mag_std"], distribution["mag_std"])
    same(again.pipeline_[-1], direct, rtol=1e-9)
    report = model.report(table, folds=3, repeats=1)
    assert report.n_rows == 300 and report.meaning == "measurement"


def test_tables_with_gaps_and_wrong_columns() -> None:
    x, y, C, _ = readings(21, 200)
    gone = np.arange(200) < 30
    table = table_of(x, y, C, cov_c_mag=C[:, 0, 2], cov_s_mag=C[:, 1, 2])
    table = table.with_columns(pl.when(pl.Series(gone)).then(None).otherwise(pl.col("c")).alias("c"))
    model = uncertain.fit(table, "mag", method="mixture", on_missing="impute")
    marks = np.zeros((200, 2), dtype=bool)
    marks[:30, 0] = True
    crossed = np.where(marks, np.nan, C[:, :2, 2])
    X = Incomplete(GaussianArray(x, cov=C[:, :2, :2]), marks)
    same(model.pipeline_[-1], GaussianMixtureRegressor().fit(X, y, np.sqrt(C[:, 2, 2]), crossed), rtol=1e-8)
    assert model.gaussians(table).means[:30, 0].std() > 0  # filled from the distribution of the features

    bad = table_of(x, y, C).with_columns(c_mag_corr=pl.Series(np.where(gone, 1.5, 0.1)))
    with pytest.raises(UncertainError, match=r"c_mag_corr: row 0 is 1.5"):
        uncertain.fit(bad, "mag", method="mixture")
    pairs = {("c", "mag"): "cov_c_mag"}
    with pytest.raises(UncertainError, match=r'cov_c_mag is given for the target .*method="mixture"'):
        uncertain.fit(table, "mag", cov=pairs, std="{}_err", features=["c", "s"], method="gsu")  # type: ignore[arg-type]
    with pytest.raises(UncertainError, match="cov_c_mag needs the error bars of 'mag'"):
        uncertain.fit(table.drop("mag_err"), "mag", cov=pairs, std="{}_err", features=["s"], method="mixture")  # type: ignore[arg-type]
    with pytest.warns(UncertainWarning, match="left out"):
        uncertain.fit(table_of(x, y, C, extra=x[:, 0]), "mag", method="mixture")


def test_limits_of_targets_count_by_the_probability_of_their_side() -> None:
    """Against the likelihood with Phi of targets given readings; and what leaving such rows out does."""
    n, d = 600, 2
    x, y, C, beta = readings(30, n, d)
    rng = np.random.default_rng(0)
    threshold = rng.normal(4.0, 1.0, n)
    limit = np.where(y < threshold, -1, np.where(y > 8.0, 1, 0))
    given = np.where(limit == -1, threshold, np.where(limit == 1, 8.0, y))
    assert 0.2 < (limit == -1).mean() < 0.8 and (limit == 1).any()
    X, std, crossed = GaussianArray(x, cov=C[:, :d, :d]), np.sqrt(C[:, d, d]), C[:, :d, d]
    model = GaussianMixtureRegressor(tol=1e-11, max_iter=5000).fit(X, given, std, crossed, y_limit=limit)

    mean, T = model.means_[0, :d], model.covariances_[0, :d, :d]
    m, P, shift, turn, taken = given_readings(x, C, np.ones((n, d), dtype=bool), mean, T)

    def residuals(p: Array) -> tuple[Array, Array]:
        """Variance of y given the readings, and residuals in units of its root."""
        V = p[3] + C[:, d, d] - taken + np.einsum("i,nij,j->n", p[1:3], P, p[1:3]) - 2 * turn @ p[1:3]
        return V, (given - p[0] - m @ p[1:3] - shift) / np.sqrt(V)

    there = np.r_[model.intercept_, model.coef_, model.intrinsic_scatter_**2]
    V, h = residuals(there)
    likely = np.where(limit == 0, norm.logpdf(h) - np.log(V) / 2, norm.logcdf(-limit * h))
    assert model.loglikelihood_ == pytest.approx(likely.sum(), abs=1e-6)
    u = -limit * h
    hazard = np.exp(norm.logpdf(u) - norm.logcdf(u))
    told = np.where(limit == 0, 1.0, hazard * (hazard + u))  # information on the mean, of that of a reading
    spread = V - there[3]

    def loss_of(p: Array) -> float:
        """Minus the log-likelihood of targets and sides, with the degrees of freedom of the line."""
        V, h = residuals(p)
        likely = np.where(limit == 0, norm.logpdf(h) - np.log(V) / 2, norm.logcdf(-limit * h))
        return -float(likely.sum()) + (d + 1) / 2 * float(np.log((told / (p[3] + spread)).sum()))

    options = {"ftol": 1e-15, "gtol": 1e-9}
    bounds = [(None, None)] * 3 + [(1e-6, None)]
    found = minimize(loss_of, there, method="L-BFGS-B", jac="3-point", bounds=bounds, options=options)
    np.testing.assert_allclose(there, found.x, rtol=1e-4)
    assert (np.abs(model.coef_ - beta) < 3 * model.coef_std_).all()
    read = limit == 0
    cut = fitted(x[read], y[read], C[read])
    assert abs(cut.coef_[0] - 2.0) > 2 * abs(model.coef_[0] - 2.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_limits_that_say_nothing_change_nothing() -> None:
    x, y, C, _ = readings(31, 300)
    X, std = GaussianArray(x, cov=C[:, :2, :2]), np.sqrt(C[:, 2, 2])
    model = GaussianMixtureRegressor().fit(X, y, std)
    same(GaussianMixtureRegressor().fit(X, y, std, y_limit=np.zeros(300)), model, rtol=1e-15)
    # Below a million: the row says what its features are, and no more.
    more = GaussianArray(np.r_[x, x[:50]], cov=np.r_[C, C[:50]][:, :2, :2])
    limit = np.r_[np.zeros(300), -np.ones(50)]
    vague = GaussianMixtureRegressor(2, random_state=0, tol=1e-10, max_iter=3000)
    vague.fit(more, np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], y_limit=limit)
    assert np.isfinite(vague.log_likelihoods_).all() and (np.diff(vague.log_likelihoods_) >= 0).all()
    line = GaussianMixtureRegressor(tol=1e-10).fit(
        more, np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], y_limit=limit
    )
    np.testing.assert_allclose(line.coef_, model.coef_, rtol=0.02)
    weight = np.r_[np.ones(300), np.zeros(50)]
    without = GaussianMixtureRegressor(tol=1e-10).fit(
        more, np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], sample_weight=weight, y_limit=limit
    )
    np.testing.assert_allclose(without.coef_, model.coef_, rtol=1e-4)
    gone = np.zeros((350, 2), dtype=bool)
    gone[300:, 0] = True
    gappy = GaussianMixtureRegressor(tol=1e-10).fit(
        Incomplete(more, gone), np.r_[y, np.full(50, 1e6)], np.r_[std, std[:50]], y_limit=limit
    )
    np.testing.assert_allclose(gappy.coef_, model.coef_, rtol=0.02)


def test_wrong_limits_are_refused() -> None:
    x, y, _, _ = readings(32, 20)
    model = GaussianMixtureRegressor()
    with pytest.raises(UncertainError, match=r"y_limit: expected 20 numbers, one per row, got shape \(3,\)"):
        model.fit(x, y, y_limit=[0, 1, 0])
    with pytest.raises(UncertainError, match=r"y_limit: row 2 is .*2.*; it must be -1 "):
        model.fit(x, y, y_limit=np.where(np.arange(20) == 2, 2, 0))
    with pytest.raises(UncertainError, match="every target is a limit"):
        model.fit(x, y, y_limit=np.ones(20))
