"""GSUClassifier as scikit-learn's tools use it: labels, weights, probabilities, batches, errors."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

from uncertain import GaussianArray, GSUClassifier
from uncertain.exceptions import ParameterError, UncertainError

TOY = Path(__file__).parents[3] / "shared" / "data" / "svmgsu_toy_small.parquet"


def rows(n_classes: int = 2, n: int = 150, seed: int = 3) -> tuple[GaussianArray, NDArray[np.int64]]:
    """Classes around the corners of a polygon, with diagonal covariances."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    angle = 2 * np.pi * y / n_classes
    means = rng.normal(size=(n, 3))
    means[:, :2] += 2 * np.column_stack([np.cos(angle), np.sin(angle)])
    return GaussianArray(means, std=rng.uniform(0.1, 0.9, size=(n, 3))), y


# ---- labels


@pytest.mark.parametrize(
    "names",
    [["no", "yes"], [False, True], [-1, 1], [10, 3], [0.0, 1.0], np.array(["b", "a"], dtype=object)],
    ids=str,
)
def test_labels_of_any_type(names: Any) -> None:
    X, y = rows()
    labels = np.asarray(names)[y]
    model = GSUClassifier().fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert set(model.predict(X).tolist()) == set(np.asarray(names).tolist())
    assert model.predict(X).dtype == labels.dtype
    positive = model.decision_function(X) > 0
    np.testing.assert_array_equal(model.predict(X), model.classes_[positive.astype(int)])
    assert model.score(X, labels) > 0.9


def test_labels_in_series() -> None:
    X, y = rows()
    names = np.array(["cat", "dog"])[y]
    expected = GSUClassifier().fit(X, names).coef_
    for labels in (pl.Series(names), pd.Series(names), names.tolist(), pd.Series(names, dtype="category")):
        np.testing.assert_array_equal(GSUClassifier().fit(X, labels).coef_, expected)


def test_one_against_the_rest() -> None:
    X, y = rows(4)
    model = GSUClassifier().fit(X, y)
    assert model.coef_.shape == (4, 3)
    assert model.intercept_.shape == (4,)
    assert model.objective_.shape == model.optimality_gap_.shape == model.n_iter_.shape == (4,)
    assert model.status_.tolist() == ["converged"] * 4
    for k in range(4):
        alone = GSUClassifier().fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-9, atol=1e-12)
    scores = model.decision_function(X)
    assert scores.shape == (150, 4)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    mean, std = model.decision_distribution(X)
    assert mean.shape == std.shape == (150, 4)


# ---- weights


def test_class_weight() -> None:
    X, y = rows()
    y = (y > 0) & (X.means[:, 2] > 0.5)
    share = y.mean()
    by_hand = GSUClassifier().fit(X, y, sample_weight=np.where(y, 0.5 / share, 0.5 / (1 - share)))
    balanced = GSUClassifier(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-6)
    named = GSUClassifier(class_weight={True: 0.5 / share, False: 0.5 / (1 - share)}).fit(X, y)
    np.testing.assert_allclose(named.coef_, by_hand.coef_, rtol=1e-6)
    both = GSUClassifier(class_weight={True: 2.0, False: 1.0}).fit(X, y, sample_weight=np.where(y, 1.0, 2.0))
    np.testing.assert_allclose(both.coef_, GSUClassifier().fit(X, y).coef_, rtol=1e-6)


# ---- probabilities


def test_probabilities_follow_the_covariance_of_the_row() -> None:
    X, y = rows()
    model = GSUClassifier(probability=True, random_state=0).fit(X, y)
    exact = model.predict_proba(X.collapse("zero"))
    spread = model.predict_proba(GaussianArray(X.means, std=3.0))
    np.testing.assert_allclose(exact.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(exact, model.predict_proba(np.asarray(X.means)))
    sure = np.abs(exact[:, 1] - 0.5) > 0.1
    assert np.all((np.abs(spread[:, 1] - 0.5) < np.abs(exact[:, 1] - 0.5))[sure])
    assert np.all((spread[:, 1] > 0.5) == (exact[:, 1] > 0.5), where=sure)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    error = np.abs(exact[:, 1].mean() - y.mean())
    assert error < 0.05, "Platt's sigmoid is calibrated on the average"


# ---- batches


def test_partial_fit() -> None:
    X, y = rows(n=600)
    best = GSUClassifier(0.05).fit(X, y)
    model = GSUClassifier(0.05, batch_size=20, random_state=0)
    for _ in range(30):
        for start in range(0, 600, 150):
            batch = slice(start, start + 150)
            model.partial_fit(X[batch], y[batch], classes=[0, 1])
    assert model.score(X, y) >= best.score(X, y) - 0.02
    cosine = (model.coef_ @ best.coef_.T) / np.linalg.norm(model.coef_) / np.linalg.norm(best.coef_)
    assert cosine > 0.98


def test_partial_fit_needs_to_know_the_classes() -> None:
    X, y = rows(3)
    with pytest.raises(ParameterError, match="classes"):
        GSUClassifier().partial_fit(X, y)
    model = GSUClassifier().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert model.coef_.shape == (3, 3)
    model.partial_fit(X, y)
    with pytest.raises(UncertainError, match="row 0 is 5"):
        model.partial_fit(X[:2], [5, 1])
    with pytest.raises(ParameterError, match="first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="2 features"):
        model.partial_fit(np.zeros((3, 2)), [0, 1, 2])
    assert not hasattr(GSUClassifier(probability=True), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        GSUClassifier(probability=True).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ParameterError, match="balanced"):
        GSUClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])


def test_batches_go_on_after_a_pickle() -> None:
    X, y = rows(3)
    batches = GSUClassifier(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    thawed = pickle.loads(pickle.dumps(batches))
    np.testing.assert_array_equal(thawed.partial_fit(X, y).coef_, batches.partial_fit(X, y).coef_)


def test_frames_of_numbers() -> None:
    X, y = rows()
    for frame in (pd.DataFrame, pl.DataFrame):
        model = GSUClassifier().fit(frame({name: X.means[:, j] for j, name in enumerate("abc")}), y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(model.coef_, GSUClassifier().fit(X.collapse("zero"), y).coef_)


# ---- telling


def test_callback_and_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = rows(3)
    seen: list[Any] = []
    model = GSUClassifier(solver="lbfgs", verbose=1, callback=seen.append).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(seen) >= model.n_iter_.sum()
    assert {progress.task for progress in seen} >= {f"class {k} of 3" for k in (1, 2, 3)}
    last = [progress for progress in seen if progress.task == "class 3 of 3"][-1]
    assert last.objective == pytest.approx(model.objective_[2], rel=1e-3)
    assert "class 1 of 3" in lines[0]
    assert "objective" in lines[0]
    quiet = GSUClassifier(solver="lbfgs").fit(X, y)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(quiet.coef_, model.coef_)


# ---- errors


def test_data_that_cannot_be_fitted() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match="class"):
        GSUClassifier().fit(X, y, sample_weight=(y == 0).astype(float))
    nan = np.full(150, np.nan)
    for weights, words in (
        (np.ones(3), "sample_weight"),
        (np.zeros(150), "non-zero"),
        (nan, "sample_weight"),
    ):
        with pytest.raises(ValueError, match=words):
            GSUClassifier().fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"y contains NaN in row \d+; leave out"):
        GSUClassifier().fit(X, np.where(y > 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="continuous"):
        GSUClassifier().fit(X, y + 0.5 * np.random.default_rng(0).random(len(y)))
    with pytest.raises(ValueError, match="X contains NaN"):
        GSUClassifier().fit(np.full((150, 3), np.nan), y)
    with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
        GSUClassifier().fit(X, y).predict(GaussianArray(np.zeros((4, 2)), std=1.0))


def test_tables_of_lists_are_shown_the_way() -> None:
    X, y = rows()
    means = np.asarray(X.means)
    table = pl.DataFrame({"mean": means, "label": y})
    for frame in (table, table.to_arrow(), pd.DataFrame({"mean": list(means)})):
        with pytest.raises(UncertainError, match=r"'mean'.*AsGaussians.*uncertain\.fit"):
            GSUClassifier().fit(frame, y)


# ---- the authors' toy


@pytest.mark.skipif(not TOY.exists(), reason="the authors' toy data are not here")
def test_the_toy_of_the_authors() -> None:
    table = pl.read_parquet(TOY)
    means = np.stack(table["mean"].to_list())
    full = np.stack(table["cov_full"].to_list()).reshape(-1, 16, 16)
    y = table["label"].to_numpy()
    with pytest.warns(match="eigenvalue"):  # -2.2e-8, from rounding in their text file
        X = GaussianArray(means, cov=full)
    model = GSUClassifier(1e-3).fit(X, y)
    assert model.optimality_gap_ <= 1e-6
    assert model.score(X, y) > 0.95
