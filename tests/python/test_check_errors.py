"""Factors of error bars and their intervals on rows whose true errors are known; models warn of rows with
other errors."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from catalogues import quick
from numpy.typing import NDArray
from scipy.stats import chi2

import uncertain
from uncertain import GaussianArray, UncertainError, check_errors
from uncertain.exceptions import ColumnError, ErrorSizesWarning, ParameterError, UncertainWarning

Floats = NDArray[np.float64]


def readings(n: int, factor: Floats, seed: int, corr: float = 0.0) -> GaussianArray:
    """Correlated true values, and errors `factor` times as large as the error bars."""
    rng = np.random.default_rng(seed)
    d = len(factor)
    z = rng.normal(size=(n, d)) @ np.linalg.cholesky(0.6 + 0.4 * np.eye(d)).T
    std = 0.5 * np.exp(0.6 * rng.normal(size=(n, d)))
    noise = corr + (1.0 - corr) * np.eye(d)
    x = z + factor * std * (rng.normal(size=(n, d)) @ np.linalg.cholesky(noise).T)
    if corr:
        return GaussianArray(x, cov=std[:, :, None] * noise * std[:, None, :])
    return GaussianArray(x, std=std)


@pytest.mark.parametrize("corr", [0.0, 0.5])
def test_factors_are_found(corr: float) -> None:
    factor = np.array([1.0, 2.0, 0.5])
    check = check_errors(readings(3000, factor, 0, corr), n_components=1)
    assert np.all(np.abs(check.factor - factor) < 0.15)
    half = (check.interval_95[:, 1] - check.interval_95[:, 0]) / 2
    assert np.all(np.abs(check.factor - factor) < 2 * half) and np.all(half < 0.2)
    assert np.all(check.interval_68[:, 0] >= check.interval_95[:, 0])
    assert check.off == ("x1", "x2")
    assert check.by == ("model",) * 3
    assert "x1 too small (errors are 2" in check.verdict and "x0" not in check.verdict


def test_equal_error_bars_tell_nothing() -> None:
    rng = np.random.default_rng(0)
    X = GaussianArray(rng.normal(size=(500, 2)), std=[[0.3, 0.5]] * 500)
    check = check_errors(X)
    assert np.isnan(check.factor).all()
    assert check.by == ("", "") and check.off == ()
    assert "same error bar" in check.notes[0]
    assert "cannot show" in check.verdict
    assert np.isinf(check.interval_95[:, 1]).all()


def test_replicates_need_no_model() -> None:
    rng = np.random.default_rng(1)
    objects = np.repeat(np.arange(150), 3)
    std = rng.uniform(0.2, 1.0, (450, 1))
    x = 5.0 * rng.normal(size=(150, 1))[objects] + 2.0 * std * rng.normal(size=(450, 1))
    table = pl.DataFrame({"star": objects, "flux": x[:, 0], "flux_err": std[:, 0]})
    check = check_errors(table, groups="star")
    weights = 1.0 / std[:, 0] ** 2
    squares = 0.0
    for star in range(150):
        mine = objects == star
        mean = np.average(x[mine, 0], weights=weights[mine])
        squares += float(weights[mine] @ (x[mine, 0] - mean) ** 2)
    assert check.factor[0] == pytest.approx(np.sqrt(squares / 300))
    ends = np.sqrt(squares / chi2.ppf([0.975, 0.025], 300))
    assert check.interval_95[0] == pytest.approx(ends)
    assert check.off == ("flux",) and check.by == ("replicates",)
    # Equal error bars, too.
    equal = check_errors(GaussianArray(x, std=0.6), groups=objects)
    assert equal.by == ("replicates",)


def test_gaps_do_not_bias() -> None:
    X = readings(2500, np.array([1.0, 2.0]), 8)
    rng = np.random.default_rng(0)
    columns = {}
    std = np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
    for j, name in enumerate("ab"):
        x = X.means[:, j].copy()
        x[rng.uniform(size=len(x)) < 0.2] = np.nan
        columns |= {name: x, f"{name}_err": std[:, j]}
    table = pl.DataFrame(columns).with_columns(depth=1.0)
    with pytest.warns(UncertainWarning, match="^left out: depth .no error column; exact=.'depth'. takes it"):
        check = check_errors(table, on_missing="impute", n_components=1)
    assert check.off == ("b",)
    assert check.interval_95[1, 0] < 2.0 < check.interval_95[1, 1]
    assert check.interval_95[0, 0] < 1.0 < check.interval_95[0, 1]


def test_true_values_that_differ_with_errors_put_the_factor_in_doubt() -> None:
    rng = np.random.default_rng(4)
    z = np.exp(rng.normal(size=3000))
    std = 0.1 * z  # ten percent of the value
    X = GaussianArray((z + std * rng.normal(size=3000))[:, None], std=std[:, None])
    check = check_errors(X)
    assert "doubtful" in check.notes[0]
    assert check.off == ()


def test_weights_and_units_do_not_change_factors() -> None:
    X = readings(600, np.array([1.0, 2.0]), 9)
    std = np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
    scale = [1e-9, 1e7]
    moved = GaussianArray(X.means * scale + 3.0 * np.array(scale), std=std * scale)
    base = check_errors(X, n_components=1).factor
    assert check_errors(moved, n_components=1).factor == pytest.approx(base, rel=1e-2)
    weights = np.ones(700)
    weights[600:] = 0.0
    more = GaussianArray.concat([X, GaussianArray(rng_rows(100), std=0.1)])
    assert check_errors(more, sample_weight=weights, n_components=1).factor == pytest.approx(base, rel=1e-2)


def rng_rows(n: int) -> Floats:
    return 50.0 * np.random.default_rng(0).normal(size=(n, 2))


def test_columns_without_error_bars_and_few_rows() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.normal(size=8), "a_err": rng.uniform(0.1, 1, 8), "kind": ["x"] * 8})
    check = check_errors(table)
    assert check.feature_names == ("a",) and "too few" in check.notes[0]
    assert list(check.to_dict()) == [
        "feature", "factor", "lower_68", "upper_68", "lower_95", "upper_95", "by", "note",
    ]  # fmt: skip
    assert pl.DataFrame(check.to_dict()).height == 1
    assert "too few" in str(check)


def test_refused() -> None:
    with pytest.raises(UncertainError, match="no error bars"):
        check_errors(np.ones((10, 2)))
    with pytest.raises(ParameterError, match="n_components"):
        check_errors(GaussianArray(np.ones((3, 1)), std=1.0), n_components=0)
    with pytest.raises(ParameterError, match="groups= names a column"):
        check_errors(GaussianArray(np.ones((3, 1)), std=1.0), groups="star")
    with pytest.raises(ColumnError, match="no column 'star'"):
        check_errors(pl.DataFrame({"a": [1.0], "a_err": [0.1]}), groups="star")


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_the_report_warns(factor: float) -> None:
    X = readings(600, np.array([factor, 1.0]), 11)
    std = np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
    table = pl.DataFrame(
        {"a": X.means[:, 0], "a_err": std[:, 0], "b": X.means[:, 1], "b_err": std[:, 1]}
    ).with_columns(kind=pl.when(pl.col("a") > 0).then(pl.lit("x")).otherwise(pl.lit("y")))
    model = uncertain.fit(table, target="kind", method="gsu")
    if factor == 1.0:
        model.report(table, repeats=1, folds=2, meanings=False)
        return
    with pytest.warns(UncertainWarning, match=r"a too small .errors are 2.*check_errors"):
        model.report(table, repeats=1, folds=2, meanings=False)


def stars(n: int, seed: int, factor: float = 1.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    errors = factor * np.exp(rng.normal(-1.5, 0.5, size=(n, 2)))
    x = 2.0 * kind[:, None] + rng.normal(size=(n, 2)) + errors * rng.normal(size=(n, 2))
    columns = {"u": x[:, 0], "u_err": errors[:, 0], "g": x[:, 1], "g_err": errors[:, 1]}
    return pl.DataFrame(columns | {"kind": np.array(["star", "quasar"])[kind]})


@pytest.mark.parametrize("method", ["gsu", "kernel", "discriminant", "remeasured"])
def test_rows_like_those_of_the_fit_are_no_surprise(method: str) -> None:
    model = uncertain.fit(stars(300, 0), target="kind", method=method, meaning="spread")  # type: ignore[arg-type]
    for seed in range(5):
        model.predict(stars(400, 1 + seed))
    model.predict(stars(1, 99, 20.0))  # chance, for all that can be known
    model.predict(stars(3, 98, 20.0))


def test_a_method_that_minds_warns_once_with_numbers() -> None:
    model = uncertain.fit(stars(500, 0), target="kind", method="gsu", meaning="spread")
    new = stars(200, 1, 4.0)
    middle = new["u_err"].median()
    with pytest.warns(ErrorSizesWarning) as caught:
        model.predict_proba(new)
    text = str(caught[0].message)
    assert caught[0].filename == __file__
    assert f"median {middle:.3g}, in training 0.2" in text and "overconfident" in text
    assert "u (" in text and "g (" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(new)  # once is enough


@pytest.mark.parametrize("method", ["gsu", "discriminant", "remeasured"])
def test_a_method_that_does_not_mind_is_silent_in_its_range(method: str) -> None:
    model = uncertain.fit(stars(500, 0), target="kind", meaning="measurement", **quick(method))
    if method == "remeasured":
        ends = model.pipeline_[-1].factors_
        model.predict(stars(200, 1, 0.9 * ends[1]))
        model.predict(stars(200, 1, 1.1 * ends[0]))
        beyond, words = 4.0 * ends[1], f"{ends[1]:.3g} times the errors of the fit"
    else:
        model.predict(stars(200, 1, 8.0))
        beyond, words = 60.0, "extrapolates"
    with pytest.warns(ErrorSizesWarning, match=words):
        model.predict(stars(200, 2, beyond))


def test_smaller_errors_and_exact_features() -> None:
    table = stars(500, 0).with_columns(hour=pl.Series(np.arange(500.0)), hour_err=pl.lit(0.0))
    with pytest.warns(UncertainWarning, match="the error bars of hour are zero in every row"):
        model = uncertain.fit(table, target="kind", method="gsu", meaning="spread")
    with pytest.warns(ErrorSizesWarning, match="hour .median 0.5, in training 0; 100 %"):
        model.predict(table.with_columns(hour_err=pl.lit(0.5)))
    with pytest.warns(UncertainWarning, match="zero"):
        again = uncertain.fit(table, target="kind", method="gsu", meaning="spread")
    with pytest.warns(ErrorSizesWarning, match="outside"):
        again.predict(table.with_columns(pl.col("u_err", "g_err") / 100))


def test_in_model_files(tmp_path: Path) -> None:
    model = uncertain.fit(stars(500, 0), target="kind", method="gsu", meaning="spread")
    model.save(tmp_path / "model.safetensors")
    loaded = uncertain.load(tmp_path / "model.safetensors")
    with pytest.warns(ErrorSizesWarning):
        loaded.predict(stars(200, 1, 4.0))
    sizes = model._calibration.sizes
    assert sizes is not None and loaded._calibration.sizes is not None
    np.testing.assert_array_equal(loaded._calibration.sizes.upper, sizes.upper)
