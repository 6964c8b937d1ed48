"""Histogram trees in model files: what comes back answers to the last bit as scikit-learn's learner."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import description, labelled, redescribed, written
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import uncertain
from uncertain import GaussianArray, Incomplete, RemeasuredClassifier, RemeasuredRegressor
from uncertain.cli import main
from uncertain.exceptions import ModelFileError, UncertainError

CLASSIFIER, REGRESSOR = HistGradientBoostingClassifier, HistGradientBoostingRegressor


def columns(n: int, seed: int) -> np.ndarray:
    """Plain numbers, repeated ones, some rounded to 32 bits, some missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [1.0, 1e-8, 1e9, 1.0, 1.0, 1.0]
    X[:, 3] = X[:, 3].round(1)
    X[:, 4] = X[:, 4].astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = np.where(rng.random(n) < 0.5, np.nan, 1.0)  # nothing to know but whether it is there
    return X


def noisy(n: int, d: int, seed: int, kind: str) -> GaussianArray | Incomplete:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) * 2.0
    std = rng.uniform(0.1, 1.0, (n, d))
    std[:, 0] *= rng.random(n) < 0.8  # some are exact
    rows = GaussianArray(z, std=std)
    if kind == "full":
        roots = rng.normal(size=(n, d, d)) * 0.3
        return GaussianArray(z, cov=roots @ roots.transpose(0, 2, 1))
    if kind == "gaps":
        missing = rng.random((n, d)) < 0.2
        return Incomplete(GaussianArray(np.where(missing, 0.0, z), std=np.where(missing, 0.0, std)), missing)
    return GaussianArray(z) if kind == "exact" else rows


def target_of(rows: GaussianArray | Incomplete) -> np.ndarray:
    means = rows.gaussians.means if isinstance(rows, Incomplete) else rows.means
    return np.sin(means[:, 0]) + means[:, 1]


def again(model: Any, tmp_path: Path, d: int) -> Any:
    """Saved and loaded as the last step of a model of arrays."""
    return uncertain.load(written(model, tmp_path / "m")).pipeline_[-1]


def gappy(n: int, seed: int = 0) -> pl.DataFrame:
    """Three classes, and every seventeenth row without `v`."""
    return labelled(n, 3, seed).with_columns(v=pl.when(pl.int_range(n) % 17 > 0).then("v"))


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("diagonal", "errors"), ("full", "correlations"), ("gaps", "errors"), ("exact", "correlations")],
)
def test_remeasured_learners_come_back(kind: str, wanted: Any, tmp_path: Path) -> None:
    rows, new = noisy(300, 3, 0, kind), noisy(1000, 3, 1, kind)
    y = target_of(rows)
    labels = np.digitize(y, [-1.0, 1.0])
    settings: dict[str, Any] = {"error_columns": wanted, "n_copies": 3, "random_state": 0}
    for model, target in (
        (RemeasuredClassifier(CLASSIFIER(max_iter=5), **settings), labels),
        (RemeasuredClassifier(CLASSIFIER(max_iter=5), **settings), labels > 0),
        (RemeasuredRegressor(REGRESSOR(max_iter=5), **settings), y),
    ):
        model.fit(rows, target)
        loaded = again(model, tmp_path, 3)
        assert type(loaded) is type(model) and "scikit-learn" in repr(loaded.estimator_)
        np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
        if isinstance(model, RemeasuredClassifier):
            np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
            np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
        assert loaded.factors_ == model.factors_
        assert loaded.error_columns_.columns == wanted
        np.testing.assert_array_equal(loaded.error_columns_.scale_, model.error_columns_.scale_)
        # The core makes the columns itself; its logarithm may round another way, next to a threshold.
        core = new.gaussians._core if isinstance(new, Incomplete) else new._core
        given = (core, new.missing) if isinstance(new, Incomplete) else core
        expected = model.estimator_._raw_predict(model.error_columns_.transform(new))
        assert np.mean((model._steps()[0].decision(given) != expected).any(axis=1)) <= 0.002


@pytest.mark.parametrize("target", ["label", "value"])
def test_models_of_tables(target: str, tmp_path: Path) -> None:
    data, new = (
        gappy(n, seed).drop({"label": "value", "value": "label"}[target]) for n, seed in ((300, 0), (200, 1))
    )
    learner = {"label": CLASSIFIER(max_iter=5), "value": REGRESSOR(max_iter=5)}[target]
    settings: dict[str, Any] = {"estimator": learner, "n_copies": 3, "random_state": 0, "factors": (0.5, 3)}
    model = uncertain.fit(data, target, method="remeasured", on_missing="impute", **settings)
    path = tmp_path / "model.safetensors"
    model.save(path)
    for loaded in (uncertain.load(path), pickle.loads(pickle.dumps(model))):
        assert loaded.predict(new).equals(model.predict(new))
        if target == "label":
            assert loaded.predict_proba(new).equals(model.predict_proba(new))
            assert loaded.classes_.tolist() == ["a", "b", "c"]
        assert loaded.columns_ == model.columns_
        step, own = loaded.pipeline_[-1], model.pipeline_[-1]
        params, expected = step.get_params(), own.get_params()
        assert type(params.pop("estimator")) is type(expected.pop("estimator"))
        assert params == expected and step.factors == (0.5, 3)
        assert step.feature_names_in_.tolist() == ["u", "v"]
        assert step.error_columns_.get_feature_names_out().tolist() == [
            "u",
            "v",
            "log_error_u",
            "log_error_v",
        ]
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
        rows = model.pipeline_[:-1].transform(data)
        refitted = clone(step).fit(rows, data[target].to_numpy())
        np.testing.assert_array_equal(refitted.predict(rows), own.predict(rows))


def test_the_command_line_reads_it(tmp_path: Path) -> None:
    data = gappy(60).drop("value").filter(pl.col("label") != "c")
    data.write_csv(tmp_path / "t.csv")
    model = uncertain.fit(data, "label", method="remeasured", n_copies=2, on_missing="impute")
    model.save(tmp_path / "m")
    with pytest.raises(SystemExit) as end:
        main(["predict", str(tmp_path / "m"), str(tmp_path / "t.csv"), "-o", str(tmp_path / "p.csv")])
    assert end.value.code == 0
    assert pl.read_csv(tmp_path / "p.csv").to_series(0).to_list() == model.predict(data).to_list()


def test_a_given_learner_comes_back_with_its_parameters(tmp_path: Path) -> None:
    data = gappy(200).drop("value")
    learner = CLASSIFIER(max_iter=7, learning_rate=0.3, class_weight={0: 2.0, 1: 1.0, 2: 1.0})
    settings: dict[str, Any] = {"estimator": learner, "n_copies": 2}
    model = uncertain.fit(data, "label", method="remeasured", on_missing="impute", **settings)
    model.save(tmp_path / "m")
    loaded = uncertain.load(tmp_path / "m").pipeline_[-1].estimator
    assert type(loaded) is CLASSIFIER and loaded.get_params() == learner.get_params()

    about = description(tmp_path / "m")
    pairs = about["parameters"][-1]["estimator"]["pairs"]
    names = ("RandomForestClassifier", "os.system", "", None, ["a"])
    for altered in (*[{"pairs": [["learner", name], *pairs[1:]]} for name in names], type(learner).__name__):
        about["parameters"][-1]["estimator"] = altered
        with pytest.raises(ModelFileError, match="altered"):
            uncertain.load(redescribed(tmp_path / "m", about, tmp_path / "altered"))


@pytest.mark.parametrize(
    ("target", "learner"),
    [
        ("label", RandomForestClassifier(5, random_state=0)),
        ("value", RandomForestRegressor(5, random_state=0)),
    ],
)
def test_other_learners_are_refused_but_pickled(target: str, learner: Any, tmp_path: Path) -> None:
    data = gappy(100).drop({"label": "value", "value": "label"}[target])
    model = uncertain.fit(
        data, target, method="remeasured", estimator=learner, on_missing="impute", n_copies=2
    )
    with pytest.raises(
        UncertainError, match=rf"{type(learner).__name__} .*joblib.*skops or ONNX.*default learner"
    ):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.predict(data).equals(model.predict(data))
    assert repr(loaded) == repr(model)
