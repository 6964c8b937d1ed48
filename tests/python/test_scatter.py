"""`predict_distribution`: the whole deviation of a predicted number, its coverage, and where it is kept."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import linear, redescribed
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import GaussianArray
from uncertain.exceptions import ModelFileError, ParameterError

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


def test_arrays_get_a_pair() -> None:
    table = linear(300, 4)
    X = GaussianArray(table["a", "b"].to_numpy(), std=table["a_err", "b_err"].to_numpy())
    model = uncertain.fit(X, target=table["y"].to_numpy(), scale=False, method="gsu")
    mean, std = model.predict_distribution(X)
    assert_array_equal(mean, model.predict(X))
    own = np.sqrt(X.covariances().diagonal(axis1=1, axis2=2) @ model.pipeline_[-1].coef_ ** 2)
    assert_allclose(std, np.sqrt(own**2 + model.residual_std_**2), rtol=1e-9)  # type: ignore[operator]


def test_groups_are_held_out_whole() -> None:
    """An offset per object: single held-out rows have siblings in training, new objects have none."""
    rng = np.random.default_rng(5)
    objects = np.repeat(np.arange(30), 20)
    place = rng.normal(size=(30, 25))[objects]  # enough features to tell the objects apart
    y = 3.0 * rng.normal(size=30)[objects] + 0.1 * rng.normal(size=600)
    X = GaussianArray(place + 0.01 * rng.normal(size=place.shape), std=0.01)
    apart = uncertain.fit(X, target=y, groups=objects, method="gsu").residual_std_
    mixed = uncertain.fit(X, target=y, method="gsu").residual_std_
    assert apart is not None and mixed is not None
    assert apart > 2 * mixed


def test_many_rows_are_split_once() -> None:
    table = linear(60_000, 6)
    model = uncertain.fit(table, target="y", meaning="measurement", method="gsu")
    assert_allclose(model.residual_std_, SIGMA, rtol=0.15)
    groups = np.arange(60_000) // 3
    again = uncertain.fit(table, target="y", meaning="measurement", groups=groups, method="gsu")
    assert_allclose(again.residual_std_, SIGMA, rtol=0.15)


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
