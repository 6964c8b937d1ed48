"""Rows with gaps: against the observed features alone and infinite noise, honest error bars, tables, files,
the command line."""

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import KINDS, hidden_truth, of_kind, with_gaps
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.preprocessing import StandardScaler

import uncertain
from uncertain import (
    GaussianArray,
    GaussianCollapser,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianImputer,
    GaussianLogScaler,
    GaussianScaler,
    GSUClassifier,
    Incomplete,
    LinearMap,
)
from uncertain.exceptions import UncertainError

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = json.loads((FOLDER / "gaps.json").read_text(encoding="utf-8"))


def mixture(parts: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    weights, means = np.array(parts["weights"]), np.array(parts["means"])
    k, d = means.shape
    return weights, means, np.array(parts["covariances"]).reshape(k, d, d)


def golden_rows() -> Incomplete:
    x = np.array(GOLDEN["x"], dtype=float)
    n, d = x.shape
    missing = np.isnan(x)
    cov = np.array(GOLDEN["cov"]).reshape(n, d, d)
    return Incomplete(GaussianArray(np.where(missing, 0.0, x), cov=cov), missing)


def golden_discriminant() -> GaussianDiscriminant:
    """A fitted model with the golden components."""
    parts = [mixture(m) for m in GOLDEN["mixtures"]]
    joint = np.concatenate([p * w for p, (w, _, _) in zip(GOLDEN["priors"], parts, strict=True)])
    model = GaussianDiscriminant(n_components=2)
    model.classes_ = np.array(["a", "b"])
    model._set((joint, np.concatenate([m for _, m, _ in parts]), np.concatenate([t for _, _, t in parts])))
    model.n_features_in_ = 3
    return model


def golden_denoiser() -> GaussianDenoiser:
    model = GaussianDenoiser(2)
    model._set(mixture(GOLDEN["mixtures"][0]))
    model.n_features_in_ = 3
    return model


def correlated(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 1


def test_posteriors_and_log_odds_are_those_of_the_observed_block() -> None:
    rows, denoiser, discriminant = golden_rows(), golden_denoiser(), golden_discriminant()
    Z = denoiser.transform(rows)
    n, d = rows.shape
    assert_allclose(Z.means, GOLDEN["posterior_means"], rtol=1e-10, atol=1e-10)
    expected = np.array(GOLDEN["posterior_covariances"]).reshape(n, d, d)
    assert_allclose(Z.covariances(), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(denoiser.score_samples(rows), GOLDEN["log_likelihoods"], rtol=1e-10, atol=1e-10)
    assert_allclose(discriminant.decision_function(rows), GOLDEN["log_odds"], rtol=1e-10, atol=1e-10)
    assert_array_equal(discriminant.predict(rows), np.where(np.array(GOLDEN["log_odds"]) > 0, "b", "a"))


def test_a_row_of_gaps_alone_gets_the_prior() -> None:
    weights, means, covariances = mixture(GOLDEN["mixtures"][0])
    nothing = np.full((1, 3), np.nan)
    Z = golden_denoiser().transform(nothing)
    mean = weights @ means
    between = np.einsum("k,ki,kj->ij", weights, means - mean, means - mean)
    assert_allclose(Z.means[0], mean, rtol=1e-12)
    assert_allclose(Z.covariances()[0], np.einsum("k,kij->ij", weights, covariances) + between, rtol=1e-12)
    assert_allclose(golden_denoiser().score_samples(nothing), 0, atol=1e-12)
    discriminant = golden_discriminant()
    assert_allclose(discriminant.predict_proba(nothing), [GOLDEN["priors"]], rtol=1e-12)
    assert discriminant.predict(nothing).tolist() == ["b"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_gap_is_infinite_noise(kind: str, rng: np.random.Generator) -> None:
    """Variance 1e12 where a feature is missing: posteriors and log odds agree to 1e-8, all of T / 1e12."""
    n, d = 60, 4
    rows = with_gaps(rng, of_kind(kind, correlated(rng, n, d), rng))
    y = rng.integers(0, 2, size=n)
    huge = rows.gaussians.covariances() + 1e12 * rows.missing[:, :, None] * np.eye(d)
    noisy = GaussianArray(rows.gaussians.means, cov=huge)
    for k in (1, 2):
        denoiser = GaussianDenoiser(k, max_iter=20, random_state=0).fit(rows)
        Z, limit = denoiser.transform(rows), denoiser.transform(noisy)
        assert_allclose(Z.means, limit.means, rtol=1e-8, atol=1e-8)
        assert_allclose(Z.covariances(), limit.covariances(), rtol=1e-8, atol=1e-8)
        discriminant = GaussianDiscriminant(False, k, max_iter=20, random_state=0).fit(rows, y)
        # The 1e12 themselves cost digits in the log densities.
        assert_allclose(
            discriminant.decision_function(rows), discriminant.decision_function(noisy), rtol=1e-8, atol=1e-8
        )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("kind", "k"), [(GaussianDenoiser, 1), (GaussianDenoiser, 2), (GaussianImputer, 1)])
def test_em_with_gaps_is_numpys(kind: Any, k: int) -> None:
    """Eight steps from where the second one is; a single T is divided by n - d - 1."""
    step = runpy.run_path(str(FOLDER / "gaps.py"))["step"]
    rows = golden_rows()
    x = np.where(rows.missing, np.nan, rows.gaussians.means)
    s = rows.gaussians.covariances()

    def fit(steps: int) -> Any:
        return kind(k, tol=0, max_iter=steps, acceleration=None, random_state=1).fit(rows)

    first, last = fit(2), fit(10)
    expected = (first.weights_, first.means_, first.covariances_)
    n, d = x.shape
    for _ in range(8):
        weights, means, covariances = step(x, s, expected)
        expected = (weights, means, covariances * (n / (n - d - 1) if k == 1 else 1.0))
    for ours, theirs in zip((last.weights_, last.means_, last.covariances_), expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
    assert np.all(np.diff(last.log_likelihoods_) >= 0)


def class_step(x: Any, s: Any, y: Any, means: Any, t: Any) -> Any:
    """EM of the linear discriminant: a mean per class, one T, with gaps."""
    n, d = x.shape
    b, c = np.empty((n, d)), np.empty((n, d, d))
    for i in range(n):
        o = ~np.isnan(x[i])
        gain = t[:, o] @ np.linalg.inv((t + s[i])[np.ix_(o, o)])
        b[i] = means[y[i]] + gain @ (x[i, o] - means[y[i]][o])
        c[i] = t - gain @ t[o]
    means = np.stack([b[y == k].mean(axis=0) for k in np.unique(y)])
    off = b - means[y]
    return means, off.T @ off / n + c.mean(axis=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_discriminant_fit_with_gaps_is_numpys(rng: np.random.Generator) -> None:
    n, d = 90, 3
    y = np.arange(n) % 3
    X = of_kind("diagonal", correlated(rng, n, d), rng)
    rows = with_gaps(rng, GaussianArray(X.means + y[:, None], cov=X.covariances()), 0.25)
    x = np.where(rows.missing, np.nan, rows.gaussians.means)

    def fit(steps: int) -> GaussianDiscriminant:
        return GaussianDiscriminant(tol=0, max_iter=steps, acceleration=None).fit(rows, y)

    first, last = fit(2), fit(12)
    means, t = first.means_[:, 0], first.covariances_[0, 0]
    for _ in range(10):
        means, t = class_step(x, X.covariances(), y, means, t)
    assert_allclose(last.means_[:, 0], means, rtol=1e-9, atol=1e-9)
    assert_allclose(last.covariances_[1, 0], t, rtol=1e-9, atol=1e-9)
    # And the log odds of what each row has.
    joint = np.empty((n, 3))
    for i in range(n):
        o = ~np.isnan(x[i])
        m = (t + X.covariances()[i])[np.ix_(o, o)]
        for k in range(3):
            joint[i, k] = multivariate_normal.logpdf(x[i, o], means[k][o], m) if o.any() else 0.0
    joint -= np.logaddexp.reduce(joint, axis=1)[:, None]
    assert_allclose(last.predict_log_proba(rows), joint, rtol=1e-7, atol=1e-7)


def test_exact_points_with_gaps_are_imputed_and_otherwise_stay(rng: np.random.Generator) -> None:
    x = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    gappy = np.where(rng.random(x.shape) < 0.2, np.nan, x)
    denoiser = GaussianDenoiser().fit(gappy)
    Z = denoiser.transform(gappy)
    known = ~np.isnan(gappy)
    assert_array_equal(Z.means[known], x[known])
    assert np.all(np.diagonal(Z.covariances(), axis1=1, axis2=2)[known] == 0)
    assert denoiser.transform(x).kind == "zero"
    assert GaussianImputer().fit_transform(gappy) == Z
    # Marks that mark nothing change nothing, not even the kind.
    shared = GaussianArray(x, cov=np.eye(3))
    assert denoiser.transform(Incomplete(shared, np.zeros(x.shape, dtype=bool))) == denoiser.transform(shared)


def test_what_nobody_can_learn_is_refused(rng: np.random.Generator) -> None:
    x = rng.normal(size=(40, 3))
    y = np.where(np.arange(40) % 2, "b", "a")
    never = x.copy()
    never[:, 2] = np.nan
    for fit in (
        lambda: GaussianDenoiser().fit(never),
        lambda: GaussianDiscriminant().fit(never, y),
        lambda: GaussianScaler().fit(never),
        lambda: GaussianDenoiser().fit(never, sample_weight=np.ones(40)),
    ):
        with pytest.raises(UncertainError, match="feature 2 is missing in every row; leave it out"):
            fit()
    lonely = x.copy()
    lonely[y == "b", 1] = np.nan
    with pytest.raises(UncertainError, match="feature 1 is missing in every row of class 'b'"):
        GaussianDiscriminant().fit(lonely, y)
    # Rows without weight know nothing.
    lonely[1, 1] = 0.0
    with pytest.raises(UncertainError, match="class 'b'"):
        GaussianDiscriminant().fit(lonely, y, sample_weight=np.where(np.arange(40) == 1, 0.0, 1.0))
    with pytest.raises(ValueError, match="infinity"):
        GaussianDenoiser().fit(np.where(np.isnan(never), np.inf, x))
    gappy = pierced(x)
    with pytest.raises(UncertainError, match="row 3, feature 1 is missing, and GSUClassifier takes no gaps"):
        GSUClassifier().fit(gappy, y)


def pierced(x: np.ndarray) -> Incomplete:
    hole = x.copy()
    hole[3, 1] = np.nan
    return Incomplete.from_arrays(hole)


def test_the_number_of_components_needs_every_feature_in_every_fold() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(600, 2)) + 6 * rng.integers(0, 2, size=(600, 1))
    X = GaussianArray(z + 0.5 * rng.normal(size=z.shape), std=0.5)
    model = GaussianDenoiser("auto", tol=1e-4, random_state=0).fit(with_gaps(rng, X, 0.3))
    assert model.n_components_ == 2
    missing = np.zeros(X.shape, dtype=bool)
    missing[1:, 1] = True
    with pytest.raises(UncertainError, match=r"feature 1 .* pass a number"):
        GaussianDenoiser("auto", random_state=0).fit(Incomplete(X, missing))


def test_the_scaler_passes_gaps_as_scikit_learns_does(rng: np.random.Generator) -> None:
    x = rng.normal(size=(80, 3)) * [1, 10, 0.1] + [0, 100, 5]
    x[rng.random(x.shape) < 0.3] = np.nan
    weights = rng.uniform(0, 2, size=80)
    ours, theirs = GaussianScaler().fit(x, sample_weight=weights), StandardScaler()
    theirs.fit(x, sample_weight=weights)
    assert_allclose(ours.mean_, theirs.mean_)
    assert_allclose(ours.scale_, theirs.scale_)
    assert_allclose(ours.transform(x), theirs.transform(x))
    rows = Incomplete(GaussianArray(np.nan_to_num(x), std=0.5), np.isnan(x))
    moved = ours.transform(rows)
    assert isinstance(moved, Incomplete)
    assert_array_equal(moved.missing, rows.missing)
    assert_allclose(moved.gaussians.means[~rows.missing], ours.transform(x)[~rows.missing])
    total = GaussianScaler(spread="total").fit(rows)
    assert_allclose(total.scale_**2, np.nanvar(x, axis=0) + 0.25)


COVARIANCES = {
    "std": lambda s: {"std": s},
    "cov": lambda s: {"cov": s[:, :, None] * s[:, None, :]},
    "factor": lambda s: {"factor": s[:, :, None]},
}


@pytest.mark.parametrize("form", COVARIANCES)
@pytest.mark.parametrize(
    "step",
    [
        GaussianScaler(spread="total"),
        GaussianLogScaler(softening=[1.0, 0.0, 2.0]),
        GaussianCollapser("isotropic"),
        LinearMap([[0, 1], [0, 0], [2, 0]]),
    ],
    ids=lambda step: type(step).__name__,
)
def test_what_stands_under_gaps_moves_nowhere(step: Any, form: str, rng: np.random.Generator) -> None:
    """Not even where it would overflow; an isotropic error bar is the mean variance of what is there."""
    x, s = np.abs(rng.normal(1e-3, 1e-3, size=(2, 30, 3)))
    missing = rng.random(x.shape) < 0.3
    one, other = (
        Incomplete(
            GaussianArray(np.where(missing, under, x), **COVARIANCES[form](np.where(missing, e, s))), missing
        )
        for under, e in ((0.0, 0.0), (1e307, 1e150))
    )
    moved, again = (step.fit_transform(rows) for rows in (one, other))
    assert_array_equal(again.missing, moved.missing)
    assert_array_equal(again.gaussians.means, moved.gaussians.means)
    assert_array_equal(again.gaussians.covariances(), moved.gaussians.covariances())
    known = np.ma.masked_array(s**2, missing).mean(axis=1).filled(0.0)
    assert_allclose(other.collapse("isotropic").gaussians.trace(), 3 * known, rtol=1e-12)


def test_scaling_changes_no_discriminant_with_gaps(rng: np.random.Generator) -> None:
    rows = with_gaps(rng, of_kind("diagonal", correlated(rng, 120, 3), rng))
    y = np.arange(120) % 2
    plain = GaussianDiscriminant(tol=1e-10).fit(rows, y)
    scaler = GaussianScaler().fit(rows)
    scaled = GaussianDiscriminant(tol=1e-10).fit(scaler.transform(rows), y)
    assert_allclose(
        scaled.decision_function(scaler.transform(rows)), plain.decision_function(rows), atol=1e-3
    )


def test_rows_with_gaps_from_arrays() -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(60, 3))
    std = rng.uniform(0.1, 0.3, (60, 3))
    cov = std[:, :, None] * np.eye(3)
    gap = rng.uniform(size=means.shape) < 0.2
    gap[0] = [True, False, False]
    values = np.where(gap, np.nan, means)
    whole = Incomplete(GaussianArray(means, std=std), gap)
    expected = GaussianDenoiser().fit_transform(whole)
    given = Incomplete.from_arrays(values, std=np.where(gap, np.nan, std), feature_names=["a", "b", "c"])
    np.testing.assert_array_equal(GaussianDenoiser().fit_transform(given).means, expected.means)
    assert given.feature_names == ("a", "b", "c") and np.isnan(values[0, 0])
    hidden = gap[:, :, None] | gap[:, None, :]
    full = Incomplete.from_arrays(values, cov=np.where(hidden, np.nan, cov * std[:, None, :]))
    np.testing.assert_allclose(GaussianDenoiser().fit_transform(full).means, expected.means, rtol=1e-9)
    with pytest.raises(UncertainError, match=r"missing: must be True or False for each of 60 x 3"):
        Incomplete(GaussianArray(means), gap[:, :2])
    std[3, 1] = np.nan
    gap[3] = False
    with pytest.raises(UncertainError, match="row 3"):
        Incomplete.from_arrays(np.where(gap, np.nan, means), std=std)


@pytest.mark.parametrize("kind", [GaussianDenoiser, GaussianImputer])
def test_error_bars_of_gaps_are_honest_on_average_with_few_rows(kind: Any) -> None:
    """Where noise hides a nearly singular T, of which maximum likelihood alone would be too sure: as good as
    under the true distribution."""
    learned, known = [], []
    for seed in range(40):
        z, truth, rows = hidden_truth(seed)
        model = kind().fit(rows)
        for spreads in (learned, known):
            Z = model.transform(rows)
            variances = np.diagonal(Z.covariances(), axis1=1, axis2=2)
            spreads.append(np.mean((z - Z.means)[rows.missing] ** 2 / variances[rows.missing]))
            model._set((np.ones(1), np.zeros((1, len(truth))), truth[None]))
    assert abs(np.mean(known) - 1) < 0.05
    assert abs(np.mean(learned) - np.mean(known)) < 0.05


def catalogue(n: int, seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Readings of two classes; a fifth of the values are null, some error bars, and a row has nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    common = rng.normal(size=(n, 1))
    z = common + 0.7 * rng.normal(size=(n, 3)) + 2.5 * y[:, None]
    std = np.exp(0.7 * rng.normal(size=(n, 3)))
    x = np.where(rng.random((n, 3)) < 0.2, np.nan, z + std * rng.normal(size=(n, 3)))
    std = np.where(rng.random((n, 3)) < 0.05, np.nan, std)
    x[5] = np.nan
    columns = {f"f{j}": pl.Series(x[:, j]).fill_nan(None) for j in range(3)}
    columns |= {f"f{j}_err": pl.Series(std[:, j]).fill_nan(None) for j in range(3)}
    return pl.DataFrame(columns | {"label": np.where(y, "b", "a")}), np.isnan(x) | np.isnan(std)


WAYS: list[dict[str, Any]] = [
    {"meaning": "measurement"},
    {"method": "discriminant"},
    {"method": "discriminant", "shared_covariance": False, "n_components": 2, "scale": False},
    {"method": "kernel", "meaning": "measurement"},
]
STEPS = [
    ["gaussians", "denoise", "scale", "classify"],
    ["gaussians", "scale", "classify"],
    ["gaussians", "classify"],
    ["gaussians", "denoise", "scale", "classify"],
]


@pytest.mark.parametrize(("way", "steps"), list(zip(WAYS, STEPS, strict=True)))
def test_tables_through_fit_report_and_file(way: dict[str, Any], steps: list[str], tmp_path: Path) -> None:
    table, missing = catalogue(160, 3)
    with pytest.raises(UncertainError, match="f0: row 0 is null"):
        uncertain.fit(table, **{"method": "gsu", "on_missing": "error"} | way)
    model = uncertain.fit(table, on_missing="impute", **{"method": "gsu"} | way)
    assert [name for name, _ in model.pipeline_.steps] == steps
    assert model.score(table) > 0.7
    nothing = model.predict_proba(table[5:6]).to_numpy()
    assert np.all(np.isfinite(nothing)) and 0.2 < nothing[0, 0] < 0.8
    # Gaps filled, what is there as it is.
    rows = model.gaussians(table)
    assert isinstance(rows, GaussianArray)
    values = table.select("f0", "f1", "f2").to_numpy()
    assert_array_equal(rows.means[~missing], values[~missing])
    variances = np.diagonal(rows.covariances(), axis1=1, axis2=2)
    assert np.all(variances[missing] > 0)
    errors = table.select("f0_err", "f1_err", "f2_err").to_numpy()
    assert_allclose(variances[~missing], errors[~missing] ** 2)
    report = model.report(table, folds=2, repeats=1, listed=3)
    assert report.n_rows == 160 and report.lead is not None
    assert report.rows["change"].is_finite().all()
    path = tmp_path / "m.safetensors"
    model.save(path)
    again = uncertain.load(path)
    assert [name for name, _ in again.pipeline_.steps] == steps
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert_array_equal(again.gaussians(table).means, rows.means)


def test_the_order_of_gaps_and_spread_in_the_other_meaning() -> None:
    """Spread still imputes; its report compares meanings without counting the prior twice."""
    table, _ = catalogue(160, 4)
    spread = uncertain.fit(table, on_missing="impute", meaning="spread", method="gsu")
    assert [n for n, _ in spread.pipeline_.steps] == ["gaussians", "impute", "scale", "classify"]
    measured = uncertain.fit(table, on_missing="impute", meaning="measurement", method="gsu")
    a, b = (m.report(table, folds=3, repeats=2) for m in (spread, measured))
    assert_allclose(a.lead, b.lead, atol=0.02)


def test_arrays_may_have_gaps_only_where_the_caller_says_so(tmp_path: Path) -> None:
    table, _ = catalogue(160, 6)
    x, y = table.select("f0", "f1", "f2").to_numpy(), table["label"].to_list()
    full = np.nan_to_num(x)
    for way in WAYS[:2]:
        with pytest.raises(UncertainError, match="row 1, "):
            uncertain.fit(np.where(np.arange(160)[:, None] == 1, np.nan, full), y, **{"method": "gsu"} | way)
        careful = uncertain.fit(full, y, **{"method": "gsu"} | way)
        model = uncertain.fit(x, y, on_missing="impute", **{"method": "gsu"} | way)
        assert model.score(x, y) > 0.6
        assert model.report(x, y, folds=2, repeats=1).n_rows == 160
        for which, fitted in enumerate((careful, model)):
            path = tmp_path / f"{which}.safetensors"
            fitted.save(path)
            again = uncertain.load(path)
            assert_array_equal(again.predict_proba(full), fitted.predict_proba(full))
            if which:
                assert_array_equal(again.predict_proba(x), fitted.predict_proba(x))
            else:
                with pytest.raises(UncertainError, match="NaN"):
                    again.predict(x)


def test_a_class_without_some_feature() -> None:
    table, _ = catalogue(160, 9)
    only_one = table.with_columns(f2=pl.when(pl.col("label") == "a").then(pl.col("f2")))
    report = uncertain.fit(only_one, on_missing="impute", method="gsu").report(only_one, folds=2, repeats=1)
    assert report.lead is not None
    with pytest.raises(UncertainError, match="feature 2 is missing in every row of class 'b'"):
        uncertain.fit(only_one, on_missing="impute", method="discriminant")


def test_regression_with_gaps() -> None:
    table, _ = catalogue(160, 7)
    table = table.drop("label").with_columns(height=np.random.default_rng(0).normal(size=160))
    model = uncertain.fit(table, target="height", on_missing="impute", meaning="measurement", method="gsu")
    assert [n for n, _ in model.pipeline_.steps] == ["gaussians", "denoise", "scale", "collapse", "regress"]
    assert np.all(np.isfinite(model.predict(table).to_numpy()))
    assert model.report(table, folds=2, repeats=1).n_rows == 160
