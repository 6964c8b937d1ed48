"""Sets and intervals hold the truth as often as they promise, at every noise level; `predict_distribution`:
the whole deviation of a number, its coverage, and where it is kept."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from catalogues import linear, redescribed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ColumnError, ModelFileError, ParameterError


def covered(model: uncertain.Model, table: pl.DataFrame, coverage: float = 0.9) -> float:
    if model.is_regression_:
        ends = model.predict_interval(table, coverage=coverage)
        return float(((ends["y_lower"] <= table["y"]) & (table["y"] <= ends["y_upper"])).mean())  # type: ignore[arg-type]
    sets = model.predict_set(table, coverage=coverage).to_list()
    return float(np.mean([truth in found for truth, found in zip(table["y"].to_list(), sets, strict=True)]))


@pytest.mark.parametrize("method", ["gsu", "kernel", "huber"])
def test_intervals_cover_at_the_noise_of_the_fit_and_at_twice_that(method: Any) -> None:
    found = []
    for seed in range(4):
        model = uncertain.fit(linear(900, seed), target="y", method=method)
        found.append([covered(model, linear(2000, 100 + seed, factor)) for factor in (1.0, 2.0)])
    assert_allclose(np.mean(found, axis=0), 0.9, atol=0.02)


@pytest.mark.parametrize("method", ["gsu", "discriminant", "minimax"])
def test_sets_cover_at_the_noise_of_the_fit_and_at_twice_that(method: Any) -> None:
    found = []
    for seed in range(4):
        model = uncertain.fit(linear(900, seed, classes=True), target="y", method=method)
        found.append([covered(model, linear(2000, 100 + seed, f, classes=True)) for f in (1.0, 2.0)])
    assert_allclose(np.mean(found, axis=0), 0.9, atol=0.025)  # sigmoids of folds differ: gsu has .917


@pytest.mark.parametrize("method", ["discriminant", "remeasured"])
def test_sets_cover_where_errors_are_up_to_eight_times_as_large(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With copies up to eight times, whose noisiest are less noisy than such rows, trees covered .85."""
    monkeypatch.setattr("uncertain._trees.number_of_trees.MOST", 20)  # five would cover .875 with such copies
    found = []
    for seed in range(3):  # a set covers .9 to .0125 (600 rows) and .0055 (3,000): the mean to .008
        random = np.random.default_rng(seed)
        z, std = np.exp(1.2 * random.normal(size=(3600, 3))), random.uniform(0.05, 1.0, (3600, 3))
        noise, std = 0.6 * random.normal(size=3600), 0.5 * std * z + 0.02
        y = np.where(2.0 * np.log(z[:, 0]) - np.log(z[:, 1]) + noise > 0.0, "yes", "no")
        read = GaussianArray(z + std * random.normal(size=z.shape), std=std)
        model = uncertain.fit(read[:600], y[:600], method=method, random_state=0)
        row = []
        for factor in (1.0, 2.0, 4.0, 8.0):
            X = GaussianArray(z + factor * std * random.normal(size=z.shape), std=factor * std)[600:]
            sets = model.predict_set(X, coverage=0.9)
            row.append(np.mean([truth in some for truth, some in zip(y[600:], sets, strict=True)]))
        found.append(row)
    covered = np.mean(found, axis=0)
    assert (covered > 0.87).all() and (covered < 0.95).all(), covered


@pytest.mark.parametrize("method", ["gsu", "kernel", "minimax"])
@pytest.mark.filterwarnings("ignore:.*no plane is better")
def test_sets_hold_on_each_table_where_labels_are_nearly_noise(method: Any) -> None:
    """Thresholds of other models than those that use them covered from .49 to all of the rows."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x, std = rng.normal(size=(3000, 3)), rng.uniform(0.05, 1.0, (3000, 3))
        y = np.where(0.15 * x[:, 0] + rng.normal(size=3000) > 0, "yes", "no")
        X = GaussianArray(x + std * rng.normal(size=x.shape), std=std)
        model = uncertain.fit(X[:500], y[:500], method=method)
        sets = model.predict_set(X[500:], coverage=0.9)
        found.append(np.mean([truth in some for truth, some in zip(y[500:], sets, strict=True)]))
    assert min(found) > 0.83 and np.mean(found) > 0.88
    assert np.std(found, ddof=1) < 0.06


def test_the_sets_of_rows_are_their_own() -> None:
    table = linear(300, 0, classes=True)
    rows = GaussianArray(table.select("a", "b").to_numpy())
    model = uncertain.fit(rows, table["y"].to_numpy(), method="discriminant")
    sets = model.predict_set(rows)
    before = sets.tolist()[1:]
    sets[0].append("mine")
    assert sets.tolist()[1:] == before


def test_precise_and_poor_rows_are_covered_alike() -> None:
    found = []
    for seed in range(4):
        model = uncertain.fit(linear(2000, seed), target="y", method="gsu")
        test = linear(6000, 100 + seed)
        size = test["a_err"] ** 2 * 4 + test["b_err"] ** 2
        parts = test.filter(size < size.quantile(0.3)), test.filter(size > size.quantile(0.7))
        found.append([covered(model, part, share) for part in parts for share in (0.9, 0.5)])
    assert_allclose(np.mean(found, axis=0), [0.9, 0.5, 0.9, 0.5], atol=0.03)


@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("method", ["kernel", "huber", "remeasured"])
def test_learners_without_a_density_have_a_distribution(method: Any) -> None:
    model = uncertain.fit(linear(600, 0), target="y", method=method)
    assert model.has_distribution_ and model.residual_std_ is None
    for factor in (1.0, 2.0):
        test = linear(3000, 1, factor)
        found = model.predict_distribution(test)
        assert found.columns == ["y", "y_std", "y_std_from_errors"]
        assert (found["y_std"] > found["y_std_from_errors"]).all()
        off = (test["y"] - found["y"]).abs() / found["y_std"]
        assert (off < 1.0).mean() == pytest.approx(0.683, abs=0.05)
        assert (off < 1.96).mean() == pytest.approx(0.95, abs=0.03)


def test_exact_rows_have_one_noise_level() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = x @ [1.0, 2.0] + 0.3 * rng.standard_t(3, size=400)
    model = uncertain.fit(x, y, method="kernel")
    lower, upper = model.predict_interval(x)
    assert ((lower < y) & (y < upper)).mean() > 0.85
    kinds = uncertain.fit(x, np.where(y > 0, "p", "n"), method="gsu")
    sets = kinds.predict_set(x, coverage=0.99)
    assert sets.dtype == object and isinstance(sets[0], list)


def test_groups_are_held_out_whole() -> None:
    """Rows of one object that are all but equal: single rows held out would promise far too much."""
    rng = np.random.default_rng(0)
    star = np.repeat(np.arange(200), 5)
    z = rng.normal(size=(200, 2))[star] + 0.01 * rng.normal(size=(1000, 2))
    y = rng.normal(size=200)[star]
    trees = HistGradientBoostingRegressor(max_iter=40)
    widths = []
    for groups in (star, None):
        model = uncertain.fit(GaussianArray(z), y, method="remeasured", estimator=trees, groups=groups)
        widths.append(np.mean(np.diff(model.predict_interval(GaussianArray(z)), axis=0)))
    assert widths[0] > 0.9 * 2 * 1.645  # other stars tell nothing
    assert widths[1] < 0.7 * widths[0]


def test_answers_in_the_callers_kind() -> None:
    table = linear(300, 0, classes=True)
    model = uncertain.fit(table, target="y", method="discriminant")
    want = model.predict_set(table)
    assert want.name == "y" and want[0][0] == model.predict(table)[0]  # the most probable first
    assert model.predict_set(table.to_pandas()).tolist() == want.to_list()
    assert isinstance(model.predict_set(table.to_arrow()), pa.ChunkedArray)
    assert model.predict_set(table.to_dict(as_series=False)).tolist() == want.to_list()
    appended = model.predict_set(table, append=True)
    assert (
        appended.columns[-1] == "y_predicted_set" and appended["y_predicted_set"].to_list() == want.to_list()
    )
    with pytest.raises(ColumnError, match="y_predicted_set"):
        model.predict_set(appended, append=True)
    numbers = linear(300, 0)
    regression = uncertain.fit(numbers, target="y", method="gsu")
    frame = regression.predict_interval(numbers.to_pandas(), append=True)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns[-2:]) == ["y_predicted_lower", "y_predicted_upper"]
    array = regression.gaussians(numbers)
    lower, upper = uncertain.fit(array, numbers["y"].to_numpy(), method="gsu").predict_interval(array)
    assert lower.shape == upper.shape == (300,) and np.all(lower < upper)


def test_refused() -> None:
    table = linear(300, 0, classes=True)
    model = uncertain.fit(table, target="y", method="discriminant")
    for coverage in (0.0, 1.0, 90, "0.9"):
        with pytest.raises(ParameterError, match="share between 0 and 1"):
            model.predict_set(table, coverage=coverage)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="predict_set"):
        model.predict_interval(table)
    with pytest.raises(ParameterError, match="predict_proba"):
        model.predict_distribution(table)
    numbers = linear(300, 0)
    with pytest.raises(ParameterError, match="predict_interval"):
        uncertain.fit(numbers, target="y", method="gsu").predict_set(numbers)
    few = uncertain.fit(linear(6, 1), target="y", method="kernel")
    with pytest.raises(ParameterError, match="too few rows"):
        few.predict_interval(numbers)
    with pytest.raises(ParameterError, match="too few rows"):
        few.predict_distribution(numbers)


SIGMA = 0.4


def coverage(predicted: pl.DataFrame, truth: pl.Series, k: float) -> float:
    off = np.abs(truth.to_numpy() - predicted["y"].to_numpy())
    return float(np.mean(off < k * predicted["y_std"].to_numpy()))


@pytest.mark.parametrize("meaning", ["spread", "measurement"])
def test_coverage_is_what_a_gaussian_promises(meaning: Any) -> None:
    model = uncertain.fit(linear(2_000, 0), target="y", meaning=meaning, method="gsu")
    fresh = linear(20_000, 1)
    predicted = model.predict_distribution(fresh)
    assert predicted.columns == ["y", "y_std", "y_std_from_errors"]
    assert_allclose(coverage(predicted, fresh["y"], 1.0), 0.683, atol=0.025)
    assert_allclose(coverage(predicted, fresh["y"], 1.96), 0.95, atol=0.015)
    whole, part = predicted["y_std"].to_numpy(), predicted["y_std_from_errors"].to_numpy()
    assert_allclose(whole, np.sqrt(part**2 + model.residual_std_**2), rtol=1e-12)  # type: ignore[operator]
    if meaning == "measurement":
        assert_allclose(model.residual_std_, SIGMA, rtol=0.1)


def test_error_bars_of_targets_are_not_scatter() -> None:
    """sigma is that of true targets; without their error bars it is that of measured ones."""
    table, fresh = linear(5_000, 2, target_error=0.8), linear(20_000, 3, target_error=0.8)
    known = uncertain.fit(table.drop("y_true"), target="y", meaning="measurement", method="gsu")
    assert known.columns_.target_std == "y_err"
    assert_allclose(known.residual_std_, SIGMA, rtol=0.15)
    assert_allclose(coverage(known.predict_distribution(fresh), fresh["y_true"], 1.0), 0.683, atol=0.025)
    unknown = uncertain.fit(table.drop("y_true", "y_err"), target="y", meaning="measurement", method="gsu")
    assert_allclose(unknown.residual_std_, np.sqrt(SIGMA**2 + 0.8**2 * 4 / 3), rtol=0.1)
    assert_allclose(coverage(unknown.predict_distribution(fresh), fresh["y"], 1.0), 0.69, atol=0.03)


def test_nothing_left_over_is_no_scatter() -> None:
    x = np.linspace(0.0, 1.0, 50)[:, None]
    model = uncertain.fit(
        GaussianArray(x), target=3.0 * x[:, 0] + 0.5, loss="squared", alpha=1e-12, method="gsu"
    )
    assert model.residual_std_ is not None
    assert 0.0 <= model.residual_std_ < 1e-6


def test_targets_that_their_error_bars_explain_leave_predictions_a_width() -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(200, 2))
    truth = x @ [1.0, 2.0]
    y = truth + 0.3 * rng.normal(size=200)
    model = uncertain.fit(
        GaussianArray(x), target=y, target_std=np.full(200, 0.5), loss="squared", alpha=1e-6, method="gsu"
    )
    assert model.residual_std_ is not None
    assert 0.02 < model.residual_std_ < 0.2  # the error bars are too large, so no scatter is more likely
    std = model.predict_distribution(GaussianArray(x))[1]
    assert np.mean(np.abs(model.predict(GaussianArray(x)) - truth) < 1.96 * std) > 0.9


def test_too_few_rows_or_groups_know_no_scatter() -> None:
    table = linear(30, 8)
    model = uncertain.fit(table, target="y", groups=[1] * 30, method="gsu")
    assert model.residual_std_ is None
    assert not model.has_distribution_
    with pytest.raises(ParameterError, match="too few rows or groups"):
        model.predict_distribution(table)
    assert "scatter" not in repr(model)
    model = uncertain.fit(table, target="y", method="gsu")
    assert "scatter" in repr(model)


def test_files_keep_it_and_say_where_there_is_none(tmp_path: Path) -> None:
    table = linear(200, 9)
    model = uncertain.fit(table, target="y", meaning="measurement", method="gsu")
    model.save(tmp_path / "model")
    for again in (uncertain.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.residual_std_ == model.residual_std_
        assert again.predict_distribution(table).equals(model.predict_distribution(table))
    last = model.pipeline_[-1]

    def described(about: dict[str, Any]) -> uncertain.Model:
        return uncertain.load(redescribed(tmp_path / "model", about, tmp_path / "rust"))

    of_rust = described({})
    assert_array_equal(of_rust.pipeline_[-1].coef_, last.coef_)
    with pytest.raises(ParameterError, match="written in Rust"):
        of_rust.predict_distribution(model.gaussians(table))
    for wrong in (-1.0, "much", True):
        with pytest.raises(ModelFileError, match=r"Expected .float.* at `\$.calibration.residual_std`"):
            described({"calibration": {"residual_std": wrong}})


def test_a_fold_in_which_no_row_has_a_feature_is_fitted_without_it() -> None:
    """Where the only group that has the feature is held out."""
    table = linear(60, 10).with_columns(b=pl.when(pl.int_range(60) < 10).then("b"))
    model = uncertain.fit(
        table,
        target="y",
        on_missing="impute",
        groups=np.where(np.arange(60) < 10, 0, np.arange(60)),
        method="gsu",
    )
    alone = uncertain.fit(table.drop("b", "b_err"), target="y", method="gsu")
    assert model.residual_std_ is not None and alone.residual_std_ is not None
    assert SIGMA < model.residual_std_ < alone.residual_std_  # an imputed value explains some of the scatter
    assert np.isfinite(model.predict(table).to_numpy()).all()
