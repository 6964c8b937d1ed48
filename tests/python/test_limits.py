"""Limits ("flux < 3.2") in features and targets: the estimators, against SciPy and Monte Carlo. Limits in
tables: columns of flags, in `uncertain.fit` and what it makes."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from scipy.stats import multivariate_normal, norm, truncnorm
from sklearn.ensemble import HistGradientBoostingClassifier

import uncertain
from uncertain import (
    AsGaussians,
    GaussianArray,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianMixtureRegressor,
    Incomplete,
)
from uncertain.exceptions import ColumnError, NullError, ParameterError, UncertainError, UncertainWarning

TRUTH = np.array([[1.0, 0.6, -0.3], [0.6, 2.0, 0.2], [-0.3, 0.2, 0.7]])
CENTRE = np.array([0.5, -1.0, 2.0])


def denoiser(components: int = 1) -> GaussianDenoiser:
    """One that knows its mixture."""
    shares = np.full(components, 1.0 / components)
    means = CENTRE + 3.0 * np.arange(components)[:, None]
    return GaussianDenoiser()._set((shares, means, np.repeat(TRUTH[None], components, axis=0)))


def one_row(limits: list[int], std: tuple[float, ...] = (0.3, 0.5, 0.2)) -> Incomplete:
    return Incomplete.from_arrays([[0.9, -0.4, 1.2]], std=[std], limits=[limits])


def test_one_limit_is_the_truncated_normal_of_scipy() -> None:
    row = one_row([0, -1, 0])
    noise = np.diag([0.3, 0.5, 0.2]) ** 2
    total, x = TRUTH + noise, np.array([0.9, -0.4, 1.2])
    read = [0, 2]
    gain = total[1, read] @ np.linalg.inv(total[np.ix_(read, read)])
    centre = CENTRE[1] + gain @ (x[read] - CENTRE[read])
    std = np.sqrt(total[1, 1] - gain @ total[read, 1])
    below = truncnorm(-np.inf, (x[1] - centre) / std, loc=centre, scale=std)
    # E[z] is linear in the reading u, and Cov[z] has the variance of u on top.
    by_reading = TRUTH @ np.linalg.inv(total)
    expected = CENTRE + by_reading @ (np.array([x[0], below.mean(), x[2]]) - CENTRE)
    covariance = TRUTH - by_reading @ TRUTH + below.var() * np.outer(by_reading[:, 1], by_reading[:, 1])
    found = denoiser().transform(row)
    np.testing.assert_allclose(found.means[0], expected, rtol=1e-10)
    np.testing.assert_allclose(found.covariances()[0], covariance, rtol=1e-10)
    log = multivariate_normal(CENTRE[read], total[np.ix_(read, read)]).logpdf(x[read])
    log += norm.logcdf((x[1] - centre) / std)
    assert denoiser().score_samples(row)[0] == pytest.approx(log, rel=1e-12)


def drawn(limits: list[int], components: int, n: int = 1_500_000) -> tuple[np.ndarray, np.ndarray]:
    """True values whose readings are as the row says: weights for what was read, and the sides."""
    rng = np.random.default_rng(3)
    x, noise = np.array([0.9, -0.4, 1.2]), np.array([0.3, 0.5, 0.2])
    component = rng.integers(components, size=n)
    z = rng.multivariate_normal(CENTRE, TRUTH, size=n) + 3.0 * component[:, None]
    weight = np.ones(n)
    for j, limit in enumerate(limits):
        if limit:
            weight *= np.sign(z[:, j] + noise[j] * rng.normal(size=n) - x[j]) == limit
        else:
            weight *= norm.pdf(x[j], z[:, j], noise[j])
    return z, weight


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("limits", [[0, -1, 0], [1, 0, 0], [-1, 0, 1], [-1, -1, 1], [1, -1, 0]])
def test_posteriors_are_those_of_draws(limits: list[int], components: int) -> None:
    z, weight = drawn(limits, components)
    p, count = weight.mean(), weight.sum() ** 2 / (weight**2).sum()
    mean = weight @ z / weight.sum()
    covariance = (z - mean).T @ ((z - mean) * weight[:, None]) / weight.sum()
    model, row = denoiser(components), one_row(limits)
    found, std = model.transform(row), np.sqrt(np.diag(covariance))
    several = np.count_nonzero(limits) > 1  # by expectation propagation, which is not exact
    of_log = 0.02 if several else 5 / np.sqrt(count)
    assert model.score_samples(row)[0] == pytest.approx(np.log(p), abs=of_log)
    assert count > 2000
    np.testing.assert_allclose(
        (found.means[0] - mean) / std, 0.0, atol=0.03 if several else 5 / np.sqrt(count)
    )
    scale = np.outer(std, std)
    np.testing.assert_allclose(
        (found.covariances()[0] - covariance) / scale, 0.0, atol=0.05 if several else 8 / np.sqrt(count)
    )


def censored(n: int, limits_per_row: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x (n, 2) with noise, y = 2 x0 - x1 + 0.3 e, detection limits of both: values, stds, flags, y."""
    rng = np.random.default_rng(11)
    z = rng.multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 1.5]], size=n)
    y = 2.0 * z[:, 0] - z[:, 1] + 0.3 * rng.normal(size=n)
    std = rng.uniform(0.2, 0.5, size=z.shape)
    x = z + std * rng.normal(size=z.shape)
    least = np.array([0.0, 0.4])
    flags = np.where(x < least, -1, 0).astype(np.int8)
    if limits_per_row == 1:
        flags[flags.all(axis=1), 1] = 0
    return np.where(flags, least, x), std, flags, y


@pytest.mark.parametrize("most", [1, 2])
def test_slopes_on_censored_features_are_unbiased(most: int) -> None:
    x, std, flags, y = censored(8000, most)
    assert 0.3 < np.mean(flags.any(axis=1)) < 0.7
    model = GaussianMixtureRegressor().fit(Incomplete.from_arrays(x, std=std, limits=flags), y, y_std=0.0)
    truth = np.array([2.0, -1.0])
    assert np.all(np.abs(model.coef_ - truth) < 3.5 * model.coef_std_), (model.coef_, model.coef_std_)
    assert abs(model.intercept_) < 3.5 * model.intercept_std_
    assert model.intrinsic_scatter_ == pytest.approx(0.3, abs=4 * model.intrinsic_scatter_std_)
    assert np.all(model.coef_std_ < 0.05)
    assert all(b >= a for a, b in pairwise(model.log_likelihoods_))
    as_values = GaussianMixtureRegressor().fit(GaussianArray(x, std=std), y, y_std=0.0)
    assert np.max(np.abs(as_values.coef_ - truth)) > 0.1
    gaps = GaussianMixtureRegressor().fit(
        Incomplete.from_arrays(np.where(flags, np.nan, x), std=std), y, y_std=0.0
    )
    assert np.max(np.abs(gaps.coef_ - truth)) > 0.05  # what is below a limit is not missing at random


def test_predictions_given_a_limit_are_those_of_draws() -> None:
    x, std, flags, y = censored(8000)
    model = GaussianMixtureRegressor().fit(Incomplete.from_arrays(x, std=std, limits=flags), y, y_std=0.0)
    row = Incomplete.from_arrays([[0.3, 0.8]], std=[[0.4, 0.3]], limits=[[-1, 0]])
    rng = np.random.default_rng(5)
    joint = rng.multivariate_normal(model.means_[0], model.covariances_[0], size=3_000_000)
    side = joint[:, 0] + 0.4 * rng.normal(size=len(joint)) < 0.3
    weight = side * norm.pdf(0.8, joint[:, 1], 0.3)
    mean = np.average(joint[:, 2], weights=weight)
    spread = np.sqrt(np.average((joint[:, 2] - mean) ** 2, weights=weight))
    found, found_std = model.predict(row, return_std=True)
    assert found[0] == pytest.approx(mean, abs=0.006)
    assert found_std[0] == pytest.approx(spread, rel=0.005)
    # A limit far above everything says nothing: a gap.
    nothing = Incomplete.from_arrays([[1e3, 0.8]], std=[[0.4, 0.3]], limits=[[-1, 0]])
    gap = Incomplete.from_arrays([[np.nan, 0.8]], std=[[0.4, 0.3]])
    np.testing.assert_allclose(
        model.predict(nothing, return_std=True), model.predict(gap, return_std=True), rtol=1e-9
    )


def test_limits_of_features_and_of_the_target_together_with_gaps() -> None:
    x, std, flags, y = censored(6000)
    rng = np.random.default_rng(1)
    gone = rng.uniform(size=x.shape) < 0.1
    y_read = y + 0.2 * rng.normal(size=len(y))
    y_limit = np.where(y_read > 1.5, 1, 0)
    rows = Incomplete.from_arrays(np.where(gone, np.nan, x), std=std, limits=flags)
    assert rows.missing.sum() == np.count_nonzero(gone | (flags != 0))
    model = GaussianMixtureRegressor().fit(rows, np.minimum(y_read, 1.5), y_std=0.2, y_limit=y_limit)
    assert np.all(np.abs(model.coef_ - [2.0, -1.0]) < 3.5 * model.coef_std_)
    assert abs(model.intercept_) < 3.5 * model.intercept_std_
    chosen = GaussianMixtureRegressor("auto", max_components=2, tol=1e-4)
    chosen.fit(rows[:1500], np.minimum(y_read, 1.5)[:1500], y_std=0.2, y_limit=y_limit[:1500])
    assert chosen.n_components_ in (1, 2) and np.isfinite(chosen.held_out_log_likelihoods_).all()
    with pytest.raises(UncertainError, match="every target is a limit"):
        GaussianMixtureRegressor().fit(rows, y, y_std=0.2, y_limit=np.ones(len(y)))


def test_the_denoiser_learns_the_distribution_behind_limits() -> None:
    x, std, flags, _ = censored(20_000, 2)
    model = GaussianDenoiser().fit(Incomplete.from_arrays(x, std=std, limits=flags))
    np.testing.assert_allclose(model.means_[0], [0.0, 1.0], atol=0.05)
    np.testing.assert_allclose(model.covariances_[0], [[1.0, 0.5], [0.5, 1.5]], atol=0.08)
    assert all(b >= a for a, b in pairwise(model.log_likelihoods_))
    naive = GaussianDenoiser().fit(GaussianArray(x, std=std))
    assert abs(naive.covariances_[0, 0, 0] - 1.0) > 0.3


def test_exact_readings_beside_a_limit_stay_exact() -> None:
    model = denoiser()
    row = Incomplete.from_arrays([[0.9, -0.4, 1.2]], limits=[[0, -1, 0]])
    found = model.transform(row)
    assert found.means[0, 0] == 0.9 and found.means[0, 2] == 1.2 and found.means[0, 1] < -0.4
    assert not found.covariances()[0, [0, 2]].any() and found.covariances()[0, 1, 1] > 0


@pytest.mark.parametrize("shared", [True, False])
def test_classes_given_a_limit(shared: bool) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=6000)
    z = rng.normal(size=(6000, 2)) + np.where(y[:, None] == 1, [1.5, 1.0], 0.0)
    x = z + 0.4 * rng.normal(size=z.shape)
    flags = np.where(x < [0.2, -5.0], -1, 0)
    rows = Incomplete.from_arrays(np.where(flags, 0.2, x), std=np.full(x.shape, 0.4), limits=flags)
    model = GaussianDiscriminant(shared_covariance=shared).fit(rows, y)
    np.testing.assert_allclose(model.means_[:, 0], [[0.0, 0.0], [1.5, 1.0]], atol=0.1)
    new = Incomplete.from_arrays([[0.2, 0.5]], std=[[0.4, 0.4]], limits=[[-1, 0]])
    joint = []
    for share, mean, cov in zip(model.priors_, model.means_[:, 0], model.covariances_[:, 0], strict=True):
        total = cov + 0.16 * np.eye(2)
        centre = mean[0] + total[0, 1] / total[1, 1] * (0.5 - mean[1])
        std = np.sqrt(total[0, 0] - total[0, 1] ** 2 / total[1, 1])
        joint.append(share * norm.pdf(0.5, mean[1], np.sqrt(total[1, 1])) * norm.cdf((0.2 - centre) / std))
    np.testing.assert_allclose(model.predict_proba(new)[0], np.array(joint) / sum(joint), rtol=1e-9)
    with pytest.raises(UncertainError, match="row 0 has a limit"):
        model.decision_distribution(new)


def test_a_pickled_model_answers_rows_with_limits() -> None:
    import pickle

    x, std, flags, y = censored(500)
    rows = Incomplete.from_arrays(x, std=std, limits=flags)
    model = GaussianMixtureRegressor(2).fit(rows, y, y_std=0.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(rows), model.predict(rows))


def test_who_cannot_use_limits_says_who_can() -> None:
    x, std, flags, y = censored(50)
    rows = Incomplete.from_arrays(x, std=std, limits=flags)
    for estimator in (
        uncertain.GSURegressor(),
        uncertain.GaussianImputer(),
        uncertain.ErrorColumns(),
        uncertain.RemeasuredRegressor(),
    ):
        with pytest.raises(UncertainError, match="GaussianMixtureRegressor"):
            estimator.fit(rows, y)
    with pytest.raises(UncertainError, match="limits: row 0, feature 1 is 2"):
        Incomplete.from_arrays([[0.0, 1.0]], limits=[[0, 2]])
    with pytest.raises(UncertainError, match="limits: expected 1 x 2"):
        Incomplete.from_arrays([[0.0, 1.0]], limits=[0])
    all_limits = Incomplete.from_arrays([[0.0, 1.0]] * 5, limits=[[0, 1]] * 5)
    with pytest.raises(UncertainError, match="feature 1 is missing or a limit in every row"):
        GaussianDenoiser().fit(all_limits)


def test_rows_keep_their_limits_on_their_way() -> None:
    x, std, flags, _ = censored(20)
    rows = Incomplete.from_arrays(x, std=std, limits=flags)
    np.testing.assert_array_equal(rows[3:9].limits, flags[3:9])
    np.testing.assert_array_equal(rows[:, [1]].limits, flags[:, [1]])
    np.testing.assert_array_equal(rows.collapse("zero").limits, flags)
    scaled = uncertain.GaussianScaler().fit_transform(rows)
    np.testing.assert_array_equal(scaled.limits, flags)
    read = np.where(flags, np.nan, x)
    np.testing.assert_allclose(
        scaled.gaussians.means, (x - np.nanmean(read, axis=0)) / np.nanstd(read, axis=0)
    )
    assert f"{np.count_nonzero(flags)} limits" in repr(rows)


def columns(n: int = 1200, seed: int = 0) -> dict[str, Any]:
    """flux with upper limits (without error bars), colour, y = 2 flux - colour with lower limits, a class."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    y = 2.0 * z[:, 0] - z[:, 1] + 0.3 * rng.normal(size=n)
    std = rng.uniform(0.2, 0.4, size=(n, 2))
    x = z + std * rng.normal(size=(n, 2))
    y_read = y + 0.1 * rng.normal(size=n)
    upper, lower = z[:, 0] < -0.3, y_read > 1.5  # a limit without error bar is one of the true value
    return {
        "flux": np.where(upper, -0.3, x[:, 0]), "flux_err": np.where(upper, np.nan, std[:, 0]),
        "l_flux": np.where(upper, "<", ""), "colour": x[:, 1], "colour_err": std[:, 1],
        "y": np.minimum(y_read, 1.5), "y_err": np.full(n, 0.1),
        "l_y": np.where(lower, ">", None).astype(object), "kind": np.where(y > 0, "up", "down"),
    }  # fmt: skip


def polars_of(given: dict[str, Any]) -> polars.DataFrame:
    frame = polars.DataFrame({k: v.tolist() for k, v in given.items()})
    return frame.with_columns(polars.col("flux_err").fill_nan(None))


LIMITS = {"flux": "l_flux", "y": "l_y"}


def by_hand(given: dict[str, Any]) -> GaussianMixtureRegressor:
    flags = np.stack([np.where(given["l_flux"] == "<", -1, 0), np.zeros(len(given["flux"]), int)], axis=1)
    std = np.stack([np.where(flags[:, 0], 0.0, given["flux_err"]), given["colour_err"]], axis=1)
    X = Incomplete.from_arrays(np.stack([given["flux"], given["colour"]], axis=1), std=std, limits=flags)
    y_limit = np.where(given["l_y"] == ">", 1, 0)
    return GaussianMixtureRegressor(random_state=0).fit(X, given["y"], y_std=given["y_err"], y_limit=y_limit)


@pytest.mark.parametrize("library", ["polars", "pandas", "dict"])
def test_flags_of_features_and_of_the_target(library: str, tmp_path: Path) -> None:
    given = columns()
    table: Any = {"polars": polars_of, "pandas": pandas.DataFrame, "dict": dict}[library](given)
    if library == "dict":
        table = {name: values for name, values in given.items() if name not in ("l_y", "kind")}
        table["l_y"] = [None if v is None else str(v) for v in given["l_y"]]
    features = {"features": ["flux", "colour"]}
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS, target_std="y_err", **features)
    np.testing.assert_allclose(model.pipeline_[-1].coef_, by_hand(given).coef_, rtol=1e-10)
    assert np.all(np.abs(model.pipeline_[-1].coef_ - [2.0, -1.0]) < 4 * model.pipeline_[-1].coef_std_)
    assert model.columns_.limits == {"flux": "l_flux"} and model.columns_.target_limit == "l_y"
    assert "flux (l_flux)" in str(model.columns_) and "limits by l_y" in str(model.columns_)
    model.save(tmp_path / "m.safetensors")
    again = uncertain.load(tmp_path / "m.safetensors")
    assert again.columns_ == model.columns_
    predicted = np.asarray(model.predict(table))
    np.testing.assert_array_equal(np.asarray(again.predict(table)), predicted)
    interval = model.predict_interval(table, coverage=0.9)
    ends = [np.asarray(interval[name]) for name in ("y_lower", "y_upper")]
    assert np.all(ends[0] < predicted) and np.all(predicted < ends[1])
    with pytest.warns(UncertainWarning, match=r"^taken as limits: flux \(l_flux\), y \(l_y\)$"):
        found = uncertain.fit(table, "y", method="mixture", target_std="y_err", **features)
    assert found.columns_ == model.columns_
    with pytest.warns(UncertainWarning, match="l_flux, l_y looks like flags of limits, which are read as"):
        uncertain.fit(table, "y", method="kernel", meaning="spread", features=["colour"], exact=["flux"])


FLAGS: dict[str, tuple[str, Any]] = {
    "signs": ("l_Flux", np.array(["", "<"])), "booleans": ("Flux_lim", np.array([False, True])),
    "ones of an upper limit": ("flux_ul", np.array([0, 1])), "-1": ("flux_limit", np.array([0, -1])),
    "text": ("", None),
}  # fmt: skip


@pytest.mark.parametrize("kind", FLAGS)
def test_flags_are_recognised_by_name_and_content(kind: str) -> None:
    rng = np.random.default_rng(40)
    z = rng.normal(1.5, 1.0, 300)
    flux = z + 0.3 * rng.normal(size=300)
    limit = flux < 1.0
    known = {"Flux": np.where(limit, 1.0, flux), "e_Flux": np.where(limit, np.nan, 0.3), "y": 2.0 * z}
    name, marks = FLAGS[kind]
    table = polars.DataFrame(known | ({name: marks[limit.astype(int)]} if name else {})).fill_nan(None)
    expected = uncertain.fit(
        polars.DataFrame(known | {"l": np.where(limit, "<", "")}).fill_nan(None), "y", method="law",
        limits={"Flux": "l"},
    )  # fmt: skip
    if not name:
        text = polars.when(polars.Series(limit)).then(polars.lit("<LOD ")).otherwise(polars.lit(""))
        table = table.with_columns((text + polars.col("Flux").cast(polars.String)).alias("Flux"))
    with pytest.warns(UncertainWarning, match=rf"^taken as limits: Flux \({name or 'signs in its cells'}\)$"):
        model = uncertain.fit(table, "y", method="law")
    np.testing.assert_allclose(model.coef_, expected.coef_)
    rows = table.with_columns(polars.Series("Flux", known["Flux"]), l=polars.Series(np.where(limit, "<", "")))
    np.testing.assert_allclose(model.predict(table), expected.predict(rows))


@pytest.mark.filterwarnings("ignore:treated as missing")
@pytest.mark.parametrize("name", ["fluxlim", "is_upper_limit", "nondetect", "Qualifier"])
def test_flags_that_may_mean_either_limit_are_asked_about(name: str) -> None:
    table = polars_of(columns()).drop("kind", "l_y")
    flag = polars.col("l_flux") == "<"
    marks = {"fluxlim": flag.cast(int), "Qualifier": polars.when(flag).then(polars.lit("U")).otherwise(None)}
    table = table.select("flux", "flux_err", marks.get(name, flag).alias(name), "^(colour|y).*$")
    with pytest.warns(UncertainWarning, match=f"pass limits={{'flux': '{name}'}}"):
        uncertain.fit(table, "y", method="mixture")
    limits = {"flux": name}
    assert uncertain.fit(table, "y", method="mixture", limits=limits).columns_.limits == limits


def test_a_pattern_finds_the_flags() -> None:
    table = polars_of(columns()).drop("kind")
    named = uncertain.fit(table, "y", method="mixture", limits=LIMITS)
    found = uncertain.fit(table, "y", method="mixture", limits="l_{}")
    assert found.columns_ == named.columns_
    only_target = uncertain.fit(
        table.drop("l_flux", "flux", "flux_err"), "y", method="mixture", limits="l_{}", features=["colour"]
    )
    assert only_target.columns_.limits == {} and only_target.columns_.target_limit == "l_y"


def test_gaps_and_limits_together() -> None:
    table = polars_of(columns()).with_row_index("i")
    gone = polars.when(polars.col("i") % 7 == 3).then(None)
    table = table.with_columns(colour=gone.otherwise(polars.col("colour"))).drop("i")
    with pytest.raises(NullError, match=r"colour or its error bar \(colour_err\): row 3 is null"):
        uncertain.fit(
            table, "y", method="mixture", limits=LIMITS, features=["flux", "colour"], on_missing="error"
        )
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS, features=["flux", "colour"])
    assert np.all(np.abs(model.pipeline_[-1].coef_ - [2.0, -1.0]) < 4 * model.pipeline_[-1].coef_std_)
    rows = model.pipeline_[0].transform(table)
    flags = np.asarray(table["l_flux"].to_list()) == "<"
    np.testing.assert_array_equal(rows.limits[:, 0], np.where(flags, -1, 0))
    np.testing.assert_array_equal(rows.missing[:, 1], np.arange(len(flags)) % 7 == 3)


@pytest.mark.parametrize("method", ["discriminant", "gsu"])
def test_classes_and_what_comes_behind_the_denoiser(method: str) -> None:
    table = polars_of(columns(600)).drop("y", "y_err", "l_y")
    model = uncertain.fit(table, "kind", method=method, limits={"flux": "l_flux"})
    shares = model.predict_proba(table).to_numpy()
    assert np.isfinite(shares).all()
    assert model.score(table) > 0.85
    assert model.predict_set(table.head(5), coverage=0.9) is not None


@pytest.mark.usefixtures("few_trees")
def test_auto_chooses_among_those_that_can() -> None:
    table = polars_of(columns(300)).drop("kind")
    board = uncertain.fit(table, "y", limits=LIMITS, effort="normal").leaderboard_
    assert {name.split()[0] for name in board.filter(board["weight"] > 0)["model"]} == {"mixture"}
    table = polars_of(columns(300)).drop("y", "y_err", "l_y")
    trees = HistGradientBoostingClassifier(max_iter=10)
    board = uncertain.fit(table, "kind", limits={"flux": "l_flux"}, estimator=trees).leaderboard_
    assert {name.split()[0] for name in board.filter(board["weight"] > 0)["model"]} <= {
        "discriminant",
        "kernel",
    }


def test_the_report_compares_with_readings_only() -> None:
    table = polars_of(columns(400)).drop("kind")
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS)
    report = model.report(table, folds=3, repeats=1, meanings=False)
    read = table.filter(polars.col("l_y").is_null())
    assert 200 < len(read) < 400
    # All of them at once, without a fold: what is left out of the comparison is in the fit all the same.
    off = np.abs(read["y"].to_numpy() - np.asarray(model.predict(read)))
    assert report.score == pytest.approx(off.mean(), rel=0.1)
    assert report.score < report.score_means_only


@pytest.mark.parametrize(
    ("limits", "method", "error", "message"),
    [
        ({"flux": "l_flux"}, "kernel", ParameterError, 'Pass method="mixture"'),
        ({"flux": "l_flux"}, "remeasured", ParameterError, 'Pass method="mixture"'),
        ({"y": "l_y"}, "gsu", ParameterError, 'with method="mixture"'),
        ({"flux": "l_flix"}, "mixture", ColumnError, "did you mean 'l_flux'"),
        ({"fluxes": "l_flux"}, "mixture", ColumnError, "neither the target nor a scalar"),
        ("flux_limit", "mixture", ParameterError, "must be a pattern"),
        ({}, "mixture", ParameterError, "must be a pattern"),
        ("{}_lim", "mixture", ColumnError, "no column is called so"),
        ({"flux": "colour"}, "mixture", UncertainError, "colour: row 0 is"),
        ({"flux": "word"}, "mixture", UncertainError, "word: row 2 is 'maybe'"),
    ],
)
def test_what_is_refused(limits: Any, method: Any, error: type[Exception], message: str) -> None:
    table = polars_of(columns(60)).drop("kind")
    table = table.with_columns(word=polars.Series(["<", "", "maybe"] + [""] * 57))
    with pytest.raises(error, match=message):
        uncertain.fit(table, "y", limits=limits, method=method, features=["flux", "colour"], meaning="spread")


@pytest.mark.parametrize(
    "flags",
    [[-1, 0, 1, 0], [-1.0, np.nan, 1.0, 0.0], ["<", "=", ">", ""], ["<=", " ", ">=", None], [-1, None, 1, 0]],
)
def test_spellings_of_flags(flags: list[Any]) -> None:
    table = polars.DataFrame(
        {"x": [1.0, 2.0, 3.0, 4.0], "x_err": [0.1, 0.2, None, 0.4], "f": polars.Series(flags, strict=False)}
    )
    rows = AsGaussians(limits={"x": "f"}).fit_transform(table)
    assert isinstance(rows, Incomplete) and rows.limits is not None
    assert rows.limits[:, 0].tolist() == [-1, 0, 1, 0]
    np.testing.assert_array_equal(rows.gaussians.means[:, 0], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(rows.gaussians.covariances()[:, 0, 0], [0.01, 0.04, 0.0, 0.16])
    truth = polars.DataFrame({"x": [1.0, 2.0], "x_err": [0.1, 0.2], "f": [True, False]})
    assert AsGaussians(limits={"x": "f"}).fit_transform(truth).limits[:, 0].tolist() == [-1, 0]


def test_exact_columns_may_be_limits_too() -> None:
    table = polars_of(columns()).drop("kind", "l_y", "y_err", "flux_err")
    model = uncertain.fit(table, "y", method="mixture", exact=["flux"], limits={"flux": "l_flux"})
    assert model.pipeline_[0].roles_["limits"] == {"flux": "l_flux"}
    assert model.feature_names_ == ["colour", "flux"]


def test_a_table_without_its_flags_is_refused() -> None:
    table = polars_of(columns(200)).drop("kind")
    model = uncertain.fit(table, "y", method="mixture", limits=LIMITS)
    with pytest.raises(ColumnError, match="l_flux"):
        model.predict(table.drop("l_flux"))
    assert len(model.predict(table.drop("l_y", "y", "y_err"))) == 200
