"""Stacks of pipelines in model files: members come back, and answer together as before."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import core_steps, description, labelled, redescribed
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import uncertain
from uncertain import (
    GaussianArray,
    GaussianCollapser,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianImputer,
    GaussianScaler,
    GSUClassifier,
    GSURegressor,
    Model,
    ProbabilisticKernelSVC,
    ProbabilisticKernelSVR,
    RemeasuredClassifier,
    RemeasuredRegressor,
)
from uncertain._choice.stack import StackedClassifier, StackedRegressor
from uncertain._uncertain import average, members_of
from uncertain.exceptions import ModelFileError, UncertainError

WEIGHTS = [0.3, 0.1, 0.2, 0.4]
BY_LEVEL = [WEIGHTS, [0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def classifiers() -> list[Pipeline]:
    trees = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    return [
        Pipeline(
            [("scale", GaussianScaler()), ("classify", GSUClassifier(probability=True, random_state=0))]
        ),
        Pipeline([("classify", GaussianDiscriminant(n_components=2, random_state=0))]),
        Pipeline(
            [
                ("denoise", GaussianDenoiser(random_state=0)),
                ("scale", GaussianScaler(spread="total")),
                ("classify", GSUClassifier(kernel="rbf", gamma=0.3, probability=True, random_state=0)),
            ]
        ),
        Pipeline([("classify", RemeasuredClassifier(trees, n_copies=2, random_state=0))]),
    ]


def regressors() -> list[Pipeline]:
    trees = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5)
    return [
        Pipeline([("scale", GaussianScaler()), ("regress", GSURegressor())]),
        Pipeline(
            [
                ("denoise", GaussianDenoiser(random_state=0)),
                ("collapse", GaussianCollapser()),
                ("regress", GSURegressor()),
            ]
        ),
        Pipeline([("regress", ProbabilisticKernelSVR(sigma="median"))]),
        Pipeline([("regress", RemeasuredRegressor(trees, n_copies=2, random_state=0))]),
    ]


def averaged(data: pl.DataFrame, target: str, average: Any, **options: Any) -> Model:
    """A model of the table whose last step is the average."""
    other = {"label": "value", "value": "label"}[target]
    model = uncertain.fit(data.drop(other), target, method="gsu", meaning="spread", **options)
    reading = model.pipeline_[0]
    average.fit(reading.transform(data), data[target].to_numpy())
    return Model(Pipeline([("gaussians", reading), ("average", average)]), model.columns_)


def same(model: Model, path: Path, new: pl.DataFrame) -> None:
    model.save(path)
    for loaded in (uncertain.load(path), pickle.loads(pickle.dumps(model))):
        assert loaded.predict(new).equals(model.predict(new))
        assert loaded.columns_ == model.columns_
        own, step = model.pipeline_[-1], loaded.pipeline_[-1]
        assert type(step) is type(own) and loaded.pipeline_.steps[-1][0] == "average"
        assert step.weights_.tolist() == own.weights_.tolist() and step.sizes_.tolist() == own.sizes_.tolist()
        assert [[name for name, _ in m.steps] for m in step.members_] == [
            [name for name, _ in m.steps] for m in own.members_
        ]
        for a, b in zip(step.members_, own.members_, strict=True):
            for (_, x), (_, y) in zip(a.steps, b.steps, strict=True):
                assert type(x) is type(y)
                assert repr(x.get_params()) == repr(y.get_params())
                assert list(x.feature_names_in_) == list(y.feature_names_in_)
        if not model.is_regression_:
            assert loaded.predict_proba(new).equals(model.predict_proba(new))
            rows = model.pipeline_[0].transform(new)
            np.testing.assert_array_equal(step.decision_function(rows), own.decision_function(rows))
        loaded.save(path.with_name("again"))
        assert path.with_name("again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("by_level", [False, True])
def test_stacks_of_classifiers(n_classes: int, by_level: bool, tmp_path: Path) -> None:
    data, new = labelled(90, n_classes), labelled(50, n_classes, seed=1)
    how = (BY_LEVEL, [0.05, 0.1]) if by_level else (WEIGHTS,)
    model = averaged(data, "label", StackedClassifier(classifiers(), *how))
    same(model, tmp_path / "m", new)
    # The core adds up the same.
    steps = core_steps(tmp_path / "m")
    rows = model.pipeline_[0].transform(new)
    expected = model.pipeline_[-1].predict_proba(rows)
    np.testing.assert_allclose(steps[0].predict_proba(rows._core), expected, rtol=1e-12)
    odds = steps[0].decision(rows._core)
    np.testing.assert_allclose(
        odds[:, 0] if n_classes == 2 else odds,
        model.pipeline_[-1].decision_function(rows),
        rtol=1e-9,
        atol=1e-12,
    )


def test_stacks_of_regressions(tmp_path: Path) -> None:
    data, new = labelled(90), labelled(50, seed=1)
    model = averaged(data, "value", StackedRegressor(regressors(), BY_LEVEL, [0.05, 0.0]))
    same(model, tmp_path / "m", new)
    steps = core_steps(tmp_path / "m")
    rows = model.pipeline_[0].transform(new)
    np.testing.assert_allclose(
        steps[0].decision(rows._core)[:, 0], model.pipeline_[-1].predict(rows), rtol=1e-12
    )


def test_gaps(tmp_path: Path) -> None:
    data = labelled(90).with_columns(
        pl.when(pl.int_range(90) % 7 == 0).then(None).otherwise(pl.col("v")).alias("v")
    )
    members = classifiers()[1:]
    members.append(Pipeline([("impute", GaussianImputer(random_state=0)), *classifiers()[0].steps]))
    model = averaged(data, "label", StackedClassifier(members, WEIGHTS), on_missing="impute")
    same(model, tmp_path / "m", data)


def test_models_of_arrays(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = GaussianArray(rng.normal(size=(60, 2)) + y[:, None], std=0.3, feature_names=["u", "v"])
    members = [*classifiers()[:2], Pipeline([("k", ProbabilisticKernelSVC(probability=True, sigma=1.0))])]
    model = Model(
        Pipeline([("average", StackedClassifier(members, [1.0, 2.0, 1.0]).fit(X, y))]),
        uncertain.fit(X, y, method="gsu").columns_,
    )
    model.save(tmp_path / "m")
    loaded = uncertain.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.pipeline_[-1].members_[0][0].feature_names_in_.tolist() == ["u", "v"]
    # A file from Rust says nothing about names and parameters.
    redescribed(tmp_path / "m", {}, tmp_path / "rust")
    np.testing.assert_array_equal(uncertain.load(tmp_path / "rust").predict_proba(X), model.predict_proba(X))
    assert uncertain.load(tmp_path / "rust").pipeline_[-1].classes_.tolist() == [0, 1]


def test_another_learner_inside_is_refused_but_pickled(tmp_path: Path) -> None:
    data = labelled(60)
    own = Pipeline([("classify", RemeasuredClassifier(LogisticRegression(), n_copies=2, random_state=0))])
    model = averaged(data, "label", StackedClassifier([classifiers()[1], own], [1, 1]))
    with pytest.raises(UncertainError, match=r"LogisticRegression.*joblib"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
    assert pickle.loads(pickle.dumps(model)).predict_proba(data).equals(model.predict_proba(data))


def test_altered_descriptions_are_refused(tmp_path: Path) -> None:
    data = labelled(60)
    model = averaged(data, "label", StackedClassifier(classifiers()[:2], [1, 1]))
    model.save(tmp_path / "m")

    def refused(change: Any) -> None:
        about = description(tmp_path / "m")
        about["parameters"][-1] = change(about["parameters"][-1])
        with pytest.raises(ModelFileError, match="altered"):
            uncertain.load(redescribed(tmp_path / "m", about, tmp_path / "n"))

    refused(lambda own: {"members": own["members"][:1]})
    refused(lambda own: {"members": "both"})
    refused(lambda own: {"members": [own["members"][0], 1]})
    refused(lambda own: {"members": [own["members"][0], {"steps": [1], "parameters": [{}]}]})
    refused(lambda own: {"members": [own["members"][0], own["members"][0]]})
    refused(lambda own: {"members": [{"steps": ["x"], "parameters": [{}, {}]}, own["members"][1]]})
    refused(lambda own: {"members": [own["members"][0], {"steps": ["x"], "parameters": [{"no": 1}]}]})


def test_the_core_refuses_what_does_not_go_together() -> None:
    data = labelled(60)
    model = averaged(data, "label", StackedClassifier(classifiers()[:2], [1, 3]))
    lists = [
        [s for _, step in member.steps for s in step._steps()] for member in model.pipeline_[-1].members_
    ]
    whole = average(lists, np.array([[0.25, 0.75], [1.0, 0.0]]), [1.0, 0.0])
    members, weights, sizes = members_of(pickle.loads(pickle.dumps(whole)))
    assert weights.tolist() == [[0.25, 0.75], [1.0, 0.0]] and sizes == [1.0, 0.0]
    assert [[s.kind for s in m] for m in members] == [
        ["scaler", "gsu"],
        ["discriminant"],
    ]
    with pytest.raises(UncertainError, match="an average itself"):
        average([[whole]], np.ones((1, 1)), [])
    with pytest.raises(UncertainError, match="sum to 1"):
        average(lists, np.ones((1, 2)), [])
    with pytest.raises(UncertainError, match="0 members"):
        average([], np.ones((1, 0)), [])
    with pytest.raises(UncertainError, match="a gsu has no members"):
        members_of(lists[0][-1])


@pytest.mark.usefixtures("few_trees")
def test_names_of_features(tmp_path: Path) -> None:
    """An average of named arrays knows their names, also from its file."""
    X, y = named(120)
    members = [member.fit(X, y) for member in classifiers()[:2]]
    fitted = StackedClassifier.from_fitted(members, [0.5, 0.5])
    assert fitted.feature_names_in_.tolist() == ["u", "v"]
    model = uncertain.fit(
        X[:60], y[:60], estimator=HistGradientBoostingClassifier(max_iter=5), meaning="measurement"
    )
    assert isinstance(model.pipeline_[-1], StackedClassifier)
    model.save(tmp_path / "model.safetensors")
    for each in (model, uncertain.load(tmp_path / "model.safetensors")):
        assert each.feature_names_ == ["u", "v"]


def named(n: int) -> tuple[GaussianArray, np.ndarray]:
    rows = labelled(n)
    means, std = rows.select("u", "v").to_numpy(), rows.select("u_err", "v_err").to_numpy()
    return GaussianArray(means, std=std, feature_names=["u", "v"]), rows["label"].to_numpy()
