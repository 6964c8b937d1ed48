"""Features of zeros and ones that say which values and error bars are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier

import uncertain
from uncertain import AsGaussians, GaussianArray
from uncertain.exceptions import ParameterError

READING: dict[str, Any] = {"features": ["flux", "color"], "exact": ["mass"], "std": "{}_err"}
NAMES = ["flux_error_missing", "color_missing", "mass_missing"]


def observed(n: int = 400, seed: int = 0) -> pl.DataFrame:
    """Two classes of the same fluxes; followed-up objects have error bars more often."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    columns: dict[str, Any] = {"kind": np.array(["alarm", "planet"])[kind]}
    for name in ("flux", "color"):
        columns[name] = rng.normal(size=n)
        columns[f"{name}_err"] = np.exp(rng.normal(-1.5, 0.4, n))
    columns["mass"] = rng.normal(size=n)
    unstudied = rng.random(n) < np.where(kind == 1, 0.1, 0.6)
    columns["flux_err"][unstudied] = np.nan
    columns["color"][rng.random(n) < 0.1] = np.nan
    columns["color_err"][3] = np.nan  # once is no feature
    columns["mass"][rng.random(n) < 0.05] = np.nan
    return pl.DataFrame(columns)


def test_indicators_are_exact_features_behind_all_others() -> None:
    table = observed()
    plain = AsGaussians(**READING, on_missing="auto").fit_transform(table)
    reading = AsGaussians(**READING, on_missing="auto", indicators=True)
    rows = reading.fit_transform(table)
    assert reading.get_feature_names_out().tolist() == ["flux", "color", "mass", *NAMES]
    assert rows.feature_names == ("flux", "color", "mass", *NAMES)
    assert_array_equal(rows.gaussians.means[:, :3], plain.gaussians.means)
    S = rows.gaussians.covariances()
    assert_array_equal(S[:, :3, :3], plain.gaussians.covariances())
    assert not S[:, 3:].any() and not S[:, :, 3:].any() and not rows.missing[:, 3:].any()
    expected = np.stack([table[name].is_nan().to_numpy() for name in ("flux_err", "color", "mass")], axis=1)
    assert_array_equal(rows.gaussians.means[:, 3:], expected)
    assert str(reading.unknown_).endswith("3 indicators of zeros and ones")
    # New rows, of which nothing is missing, or all error bars.
    whole = observed(50, 1).fill_nan(0.3)
    assert not reading.transform(whole).means[:, 3:].any()
    bare = reading.transform(whole.with_columns(flux_err=pl.lit(None, dtype=pl.Float64)))
    assert_array_equal(bare.means[:, 3:], np.tile([1.0, 0.0, 0.0], (50, 1)))


def test_nothing_missing_and_other_policies_have_none() -> None:
    whole = observed().fill_nan(0.3)
    for table, policy in ((whole, "auto"), (whole, "error"), (observed(), "impute")):
        reading = AsGaussians(**READING, on_missing=policy, indicators=True).fit(table)
        assert reading.get_feature_names_out().tolist() == ["flux", "color", "mass"]


def test_equal_indicators_are_one_and_taken_names_stay() -> None:
    table = observed().with_columns(pl.when(pl.col("mass").is_nan()).then(None).otherwise(1.5).alias("age"))
    table = table.with_columns(color_missing=pl.lit(0.5))
    reading = AsGaussians(
        features=["flux", "color"], std="{}_err", exact=["mass", "age", "color_missing"], on_missing="auto",
        indicators=True,
    ).fit(table)  # fmt: skip
    assert reading.get_feature_names_out().tolist()[5:] == ["flux_error_missing", "mass_missing"]


@pytest.mark.parametrize("method", ["remeasured", "gsu", "discriminant"])
def test_a_model_knows_them_and_keeps_them(method: Any, tmp_path: Path) -> None:
    table, new = observed(), observed(300, 1)
    model = uncertain.fit(table, "kind", exact=["mass"], method=method, indicators=True)
    assert model.feature_names_[3:] == NAMES
    without = uncertain.fit(table, "kind", exact=["mass"], method=method, indicators=False)
    assert model.score(new) > 0.68
    assert method == "remeasured" or without.score(new) < 0.6  # trees know sizes that a model has made
    model.save(tmp_path / "model.safetensors")
    again = uncertain.load(tmp_path / "model.safetensors")
    assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert again.pipeline_[0].get_params() == model.pipeline_[0].get_params() | {
        name: again.pipeline_[0].get_params()[name] for name in ("columns", *READING)
    }
    assert again.pipeline_[0].unknown_ == model.pipeline_[0].unknown_
    # Rows without error columns are taken as if they had all of them.
    bare = new.drop("flux_err", "color_err")
    some = new.with_columns(pl.col("flux_err", "color_err").fill_nan(0.2))
    assert_allclose(
        model.predict_proba(bare, errors="typical").mean(), model.predict_proba(some).mean(), atol=0.1
    )
    assert model.predict_proba(bare, errors="typical")["planet"].mean() > 0.6


def test_which_methods_have_them() -> None:
    table = observed(200)
    options: dict[str, Any] = {"exact": ["mass"]}
    assert len(uncertain.fit(table, "kind", method="gsu", **options).feature_names_) == 3
    assert len(uncertain.fit(table, "kind", effort="fast", **options).feature_names_) == 3
    with pytest.raises(ParameterError, match="indicators='yes': must be"):
        uncertain.fit(table, "kind", indicators="yes")  # type: ignore[arg-type]


def chosen(seed: int, slope: float, **options: Any) -> uncertain.Model:
    """A choice among cheap candidates, of 100 rows whose class depends on a flux and on its error bar."""
    trees = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=3, random_state=0)
    options = {"exact": ["mass"], "meaning": "measurement", "estimator": trees} | options
    return uncertain.fit(labelled(100, seed, slope), "kind", **options)


def labelled(n: int, seed: int, slope: float) -> pl.DataFrame:
    table = observed(n, seed)
    scores = slope * table["flux"].to_numpy() + 2.0 * table["flux_err"].is_nan().to_numpy() - 0.7
    noise = 0.7 * np.random.default_rng(seed).logistic(size=n)
    return table.with_columns(kind=pl.Series(np.where(scores + noise > 0.0, "planet", "alarm")))


def test_of_an_average_only_trees_learn_from_them(tmp_path: Path) -> None:
    new, model = labelled(60, 9, 2.0), chosen(1, 2.0)
    names = ["flux", "color", "mass", "flux_error_missing"]
    assert model.feature_names_ == names
    read = {type(member[-1]).__name__: member[-1].n_features_in_ for member in model.pipeline_[-1].members_}
    assert read == {"RemeasuredClassifier": 4, "GaussianDiscriminant": 3}
    model.save(tmp_path / "model.safetensors")
    again = uncertain.load(tmp_path / "model.safetensors")
    assert again.feature_names_ == names
    assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert again.predict_set(new).to_list() == model.predict_set(new).to_list()
    onnxruntime = pytest.importorskip("onnxruntime")
    model.to_onnx(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    fed = {tensor.name: new[tensor.name].to_numpy() for tensor in session.get_inputs()}
    found = session.run(["probabilities"], fed)[0]
    assert_allclose(found, model.predict_proba(new).to_numpy(), atol=1e-9)


def test_a_model_that_learns_nothing_from_them_has_none() -> None:
    new, model, without = labelled(60, 9, 3.0), chosen(1, 3.0), chosen(1, 3.0, indicators=False)
    assert model.feature_names_ == without.feature_names_ == ["flux", "color", "mass"]
    assert {name for member in model.pipeline_[-1].members_ for name, _ in member.steps}.isdisjoint(
        {"select"}
    )
    assert_array_equal(model.predict_proba(new), without.predict_proba(new))
    assert model.predict_set(new).to_list() == without.predict_set(new).to_list()


def test_a_table_in_a_file_has_the_same(tmp_path: Path) -> None:
    table = observed(5_000)
    table.write_parquet(tmp_path / "t.parquet", row_group_size=700)
    options: dict[str, Any] = {
        "method": "gsu", "meaning": "spread", "probability": False, "indicators": True, "exact": ["mass"],
    }  # fmt: skip
    here = uncertain.fit(table, "kind", **options)
    there = uncertain.fit(tmp_path / "t.parquet", "kind", memory="100MB", **options)
    assert there.pipeline_[0].unknown_ == here.pipeline_[0].unknown_
    assert there.feature_names_ == here.feature_names_ and there.feature_names_[3:] == NAMES
    assert_allclose(there.coef_, here.coef_, rtol=1e-6)


def test_gaussians_need_them_too() -> None:
    table = observed()
    model = uncertain.fit(table, "kind", method="remeasured", exact=["mass"])
    rows = model.pipeline_[0].transform(table)
    assert_array_equal(model.predict_proba(rows), model.predict_proba(table).to_numpy())
    with pytest.raises(uncertain.UncertainError, match="6 features"):
        model.predict(GaussianArray(np.zeros((2, 3)), std=0.1))
