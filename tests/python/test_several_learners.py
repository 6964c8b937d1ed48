"""`n_learners=`: boosted trees of several sets of copies, which answer with the mean of their scores."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import uncertain
from uncertain import GaussianArray, Incomplete, RemeasuredClassifier, RemeasuredRegressor
from uncertain.exceptions import ParameterError, UncertainError, UncertainWarning


def readings(n: int, seed: int, *, gaps: bool = False) -> tuple[Any, np.ndarray]:
    """Rows and their numbers, the classes of which are their signs or thirds."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 3))
    std = rng.uniform(0.2, 0.8, (n, 3))
    values = truth + std * rng.normal(size=(n, 3))
    y = truth[:, 0] + np.sin(2.0 * truth[:, 1])
    if gaps:
        return Incomplete.from_arrays(np.where(rng.random((n, 3)) < 0.1, np.nan, values), std=std), y
    return GaussianArray(values, std=std), y


def made(y: np.ndarray, n_classes: int) -> np.ndarray:
    return np.digitize(y, {2: [0.0], 3: [-0.7, 0.7]}[n_classes])


def fitted(X: Any, y: np.ndarray, **parameters: Any) -> Any:
    kind = RemeasuredRegressor if y.dtype == np.float64 else RemeasuredClassifier
    return kind(**{"n_trees": 20, "n_copies": 4, "random_state": 0} | parameters).fit(X, y)


@pytest.fixture
def learners(monkeypatch: pytest.MonkeyPatch) -> list[BaseEstimator]:
    """Those of the last fit."""
    kept: list[BaseEstimator] = []
    averaged = RemeasuredClassifier._averaged

    def keep(self: Any, some: list[BaseEstimator]) -> BaseEstimator:
        kept[:] = some
        return averaged(self, some)

    for kind in (RemeasuredClassifier, RemeasuredRegressor):
        monkeypatch.setattr(kind, "_averaged", keep)
    return kept


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_scores_are_the_mean_of_those_of_the_parts(n_classes: int, gaps: bool, learners: list[Any]) -> None:
    X, y = readings(200, 0, gaps=gaps)
    new = readings(300, 1, gaps=gaps)[0]
    y = made(y, n_classes) if n_classes else y
    model = fitted(X, y, n_learners=3)
    columns = model.error_columns_.transform(new)
    assert len(learners) == 3 and [one.n_iter_ for one in learners] == [20] * 3
    if n_classes:
        scores = np.mean([one.decision_function(columns) for one in learners], axis=0)
        p = softmax(scores, axis=1) if n_classes == 3 else expit(scores)
        found = model.predict_proba(new)
        np.testing.assert_allclose(found if n_classes == 3 else found[:, 1], p, rtol=1e-10)
        np.testing.assert_allclose(model.decision_function(new), scores, atol=1e-12)
        assert (model.predict(new) == model.classes_[found.argmax(axis=1)]).all()
    else:
        mean = np.mean([one.predict(columns) for one in learners], axis=0)
        np.testing.assert_allclose(model.predict(new), mean, rtol=1e-10)
    # Each has copies of its own, and the first is what one learner is.
    each = [one.predict(columns) for one in learners]
    assert not np.array_equal(each[0], each[1]) and not np.array_equal(each[1], each[2])
    np.testing.assert_array_equal(fitted(X, y, n_learners=1).predict(new), each[0])
    assert pickle.loads(pickle.dumps(model)).predict(new).tolist() == model.predict(new).tolist()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_file_answers_to_the_last_bit(n_classes: int, tmp_path: Path) -> None:
    X, y = readings(200, 2)
    y = made(y, n_classes) if n_classes else y
    model = uncertain.fit(X, y, method="remeasured", n_learners=3, n_trees=20, n_copies=4)
    model.save(tmp_path / "m")
    loaded = uncertain.load(tmp_path / "m")
    assert loaded.pipeline_[-1].n_learners == 3
    new = readings(300, 3)[0]
    answers = (m.predict_proba(new) if n_classes else m.predict(new) for m in (loaded, model))
    np.testing.assert_array_equal(*answers)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("n_classes", [0, 3])
def test_threads_change_no_bit(n_classes: int) -> None:
    X, y = readings(200, 4)
    y = made(y, n_classes) if n_classes else y
    answers = [fitted(X, y, n_learners=3, n_jobs=n).predict(X) for n in (None, 1, 2)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[1], answers[2])


def test_how_many_there_are(learners: list[Any]) -> None:
    X, y = readings(100, 6)
    for rows, parameters, expected in (
        (X, {}, 4),
        (X, {"n_learners": 2}, 2),
        (X, {"n_trees": 0}, 1),
        (X, {"n_copies": 1}, 1),
        (X.means, {}, 1),  # exact
        (X, {"estimator": LogisticRegression(), "n_trees": "auto"}, 1),
    ):
        fitted(rows, made(y, 2), **parameters)
        assert len(learners) == expected


@pytest.mark.parametrize(("n_classes", "trees"), [(0, 20), (2, 20), (3, 60)])
def test_many_trees_of_large_tables_have_fewer(
    n_classes: int, trees: int, learners: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = readings(100, 7)
    y = made(y, n_classes) if n_classes else y
    for work, expected in ((10**9, 4), (3 * 100 * 4 * 6 * trees, 3), (1_000, 1)):
        monkeypatch.setattr("uncertain._trees.remeasured.WORK", work)
        fitted(X, y)
        assert len(learners) == expected


def test_a_scikit_learn_that_is_not_understood_leaves_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = readings(100, 8)
    expected = fitted(X, y, n_learners=1).predict(X)
    monkeypatch.setattr("uncertain._trees.boosting.KNOWN", ((99, 0), (100, 0)))
    with pytest.warns(UncertainWarning, match=r"one learner answers instead of the mean of 3.*scikit-learn"):
        model = fitted(X, y, n_learners=3)
    np.testing.assert_array_equal(model.predict(X), expected)
    with pytest.raises(UncertainError, match="cannot be saved"):
        model._steps()


def test_a_density_is_around_the_mean() -> None:
    X, y = readings(300, 9)
    model = fitted(X, y, n_learners=3, density=True)
    weights, means, _ = model.predict_mixture(X)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), fitted(X, y, n_learners=3).predict(X))
    np.testing.assert_allclose((weights * means).sum(axis=1), model.predict(X), atol=y.std())


@pytest.mark.parametrize("number", [0, -1, 2.0, True, "two", 10**6])
def test_a_wrong_number(number: Any) -> None:
    X, y = readings(40, 10)
    with pytest.raises(ParameterError, match=r"n_learners = .*must be"):
        RemeasuredRegressor(n_learners=number).fit(X, y)
    with pytest.raises(ParameterError, match="default learner"):
        RemeasuredClassifier(LogisticRegression(), n_learners=2).fit(X, made(y, 2))
