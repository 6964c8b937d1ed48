"""Sets and intervals hold the truth as often as they promise, at every noise level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from catalogues import linear
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ColumnError, ParameterError


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


@pytest.mark.parametrize("method", ["gsu", "kernel", "huber"])
def test_in_model_files(method: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    for classes in (False, True):
        table = linear(500, 0, classes=classes)
        model = uncertain.fit(table, target="y", method=method)
        model.save(path)
        loaded = uncertain.load(path)
        if classes:
            assert loaded.predict_set(table).to_list() == model.predict_set(table).to_list()
        else:
            assert_allclose(loaded.predict_interval(table), model.predict_interval(table), rtol=1e-12)
            assert_allclose(loaded.predict_distribution(table), model.predict_distribution(table))
