"""Histogram trees: their number, and files that answer to the last bit as scikit-learn's learner."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from catalogues import description, labelled, redescribed, written
from sklearn import ensemble
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import uncertain
from uncertain import GaussianArray, Incomplete, RemeasuredClassifier, RemeasuredRegressor
from uncertain._trees import number_of_trees as counting
from uncertain._trees.number_of_trees import Curve
from uncertain.exceptions import ModelFileError, ParameterError, UncertainError

CLASSIFIER, REGRESSOR = ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor


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
        names = step.error_columns_.get_feature_names_out().tolist()
        assert names == ["u", "v", "log_error_u", "log_error_v"]
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
        rows = model.pipeline_[:-1].transform(data)
        refitted = clone(step).fit(rows, data[target].to_numpy())
        np.testing.assert_array_equal(refitted.predict(rows), own.predict(rows))


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
        ("label", ensemble.RandomForestClassifier(5, random_state=0)),
        ("value", ensemble.RandomForestRegressor(5, random_state=0)),
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


def noise(n: int, rng: np.random.Generator, *, gaps: bool) -> GaussianArray | Incomplete:
    """Readings and sizes of errors that say nothing."""
    std = np.exp(0.5 * rng.normal(size=(n, 4)))
    values = rng.normal(size=(n, 4)) + std * rng.normal(size=(n, 4))
    if not gaps:
        return GaussianArray(values, std=std)
    return Incomplete.from_arrays(np.where(rng.random((n, 4)) < 0.2, np.nan, values), std=std)


def log_loss_of(model: Any, rows: Any, y: np.ndarray) -> float:
    return float(-np.log(model.predict_proba(rows)[np.arange(len(y)), y]).mean())


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n", [60, 300, 3_000])
def test_pure_noise_gives_the_prior(n: int, gaps: bool) -> None:
    rng = np.random.default_rng(n)
    y, truth = np.arange(n) % 2, np.arange(4_000) % 2
    model = RemeasuredClassifier(random_state=0).fit(noise(n, rng, gaps=gaps), y)
    assert log_loss_of(model, noise(4_000, rng, gaps=gaps), truth) < np.log(2) + 0.02


def test_rare_classes_keep_the_prior() -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(3_000) % 500 == 0).astype(int)
    model = RemeasuredClassifier(random_state=0).fit(noise(3_000, rng, gaps=False), y)
    prior = -(0.002 * np.log(0.002) + 0.998 * np.log(0.998))
    assert log_loss_of(model, noise(3_000, rng, gaps=False), y) < prior + 1e-3


def test_labels_of_objects_are_not_learned_by_heart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty objects, ten readings each, labels at random: without groups any learner knows the objects."""
    monkeypatch.setattr(counting, "MOST", 100)
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    truth = rng.normal(size=(40, 3))[groups]
    y = rng.permutation(40)[groups] % 2

    def read() -> GaussianArray:
        return GaussianArray(truth + 0.05 * rng.normal(size=truth.shape), std=0.05)

    rows, again = read(), read()
    model = RemeasuredClassifier(n_copies=4, random_state=0).fit(rows, y, groups=groups)
    assert model.score(again, y) < 0.75
    assert RemeasuredClassifier(n_copies=4, random_state=0).fit(rows, y).score(again, y) > 0.9


def test_weights_of_any_size_and_of_zero() -> None:
    rng = np.random.default_rng(0)
    rows = noise(60, rng, gaps=False)
    y = np.asarray(rows.means[:, 0])
    weights = np.where(np.arange(60) < 30, 1e300, 1e-300)
    model = RemeasuredRegressor(random_state=0).fit(rows, y, sample_weight=weights)
    assert np.isfinite(model.predict(rows)).all()
    with pytest.raises(UncertainError, match="all are 0"):
        RemeasuredRegressor().fit(rows, y, sample_weight=np.zeros(60))
    empty = Incomplete.from_arrays(np.where([True, False, False, False], np.nan, rows.means), std=0.1)
    with pytest.raises(UncertainError, match="feature 0 is missing in every row"):
        RemeasuredClassifier(factors=(1.0, 4.0)).fit(empty, np.arange(60) % 2)


def test_a_number_of_trees_may_be_said() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    rows = GaussianArray(rng.normal(size=(120, 2)) + y[:, None], std=0.3)
    chosen = RemeasuredClassifier(n_copies=4, n_learners=1, random_state=0).fit(rows, y)
    assert chosen.n_trees_ == chosen.estimator_.n_iter_ > 0
    same = RemeasuredClassifier(n_copies=4, n_trees=7, n_learners=1, random_state=0).fit(rows, y)
    assert same.n_trees_ == same.estimator_.n_iter_ == 7
    constant = RemeasuredClassifier(n_copies=4, n_trees=0, random_state=0).fit(rows, y)
    assert np.ptp(constant.predict_proba(rows)[:, 1]) == 0.0
    with pytest.raises(ParameterError, match="n_trees = -1"):
        RemeasuredClassifier(n_trees=-1).fit(rows, y)
    with pytest.raises(ParameterError, match="default learner"):
        RemeasuredClassifier(LogisticRegression(), n_trees=5).fit(rows, y)


@pytest.mark.parametrize(
    ("task", "gaps", "n"),
    [("two classes", False, 1_200), ("three classes", True, 1_200), ("numbers", True, 150)],
)  # all rows of 150 are held out
def test_a_fit_that_is_watched_finds_what_warm_starts_find(
    task: str, gaps: bool, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scikit-learn's own staged predictions, in place of sums of trees by the core, also with weights."""
    monkeypatch.setattr(counting, "MOST", 100)
    rng = np.random.default_rng(8)
    rows = noise(n, rng, gaps=gaps)
    score = np.nan_to_num(np.asarray(rows.means if not gaps else rows.gaussians.means)).sum(axis=1)
    score = score + rng.normal(size=n)
    y = score if task == "numbers" else np.digitize(score, [0.0] if task[:3] == "two" else [-1.0, 1.0])
    kind = RemeasuredRegressor if task == "numbers" else RemeasuredClassifier
    weights = rng.uniform(0.5, 2.0, n)
    losses: list[Any] = []

    def seen(*arguments: Any) -> Any:
        losses.append(Curve(*arguments))
        return losses[-1]

    def refused(*arguments: Any) -> Any:
        raise UncertainError("a scikit-learn that is yet to come")

    monkeypatch.setattr(counting, "Curve", seen)
    watched = kind(random_state=0, n_copies=3).fit(rows, y, weights).n_trees_
    count = len(losses)
    monkeypatch.setattr(counting, "flat_trees", refused)
    # In larger steps, which may find a later least.
    assert kind(random_state=0, n_copies=3).fit(rows, y, weights).n_trees_ >= watched > 0
    assert len(losses) == 2 * count
    for one, other in zip(losses[:count], losses[count:], strict=True):
        known = min(len(one.losses), len(other.losses))
        np.testing.assert_allclose(one.losses[:known], other.losses[:known], rtol=1e-9, atol=1e-12)
