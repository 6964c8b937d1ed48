"""Huber classifiers and regressions as models, and in `uncertain.fit`: labels that are missing, groups,
files, reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from catalogues import description, redescribed

import uncertain
from uncertain import AdaptiveHuberClassifier, AdaptiveHuberRegressor, GaussianArray
from uncertain.exceptions import UncertainError

N = 60


def table(seed: int = 0) -> pl.DataFrame:
    """Two features with error bars; a number, two and three classes, each with nulls; wrong labels."""
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(2, N))
    y = np.sin(u) + 0.3 * v + 3.0 * (np.arange(N) % 13 == 5)
    two = np.where(np.sin(u) + 0.3 * v > 0, "up", "down")
    three = np.digitize(u, [-0.5, 0.5])
    errors = {name: rng.uniform(0.01, 0.2, N) for name in ("u_err", "v_err")}
    labels = pl.DataFrame({"y": y, "two": two, "three": three})
    null = pl.Series(np.arange(N) % 6 == 5)
    return pl.DataFrame({"u": u, "v": v} | errors).hstack([column.set(null, None) for column in labels])


TARGETS = ("y", "two", "three")


def fitted(target: str, **params: Any) -> tuple[pl.DataFrame, uncertain.Model]:
    own = table().drop(t for t in TARGETS if t != target)
    return own, uncertain.fit(own, target, method="huber", alpha=1e-2, delta=0.3, **params)


def attributes(estimator: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(v) for v in value]
        return value.tolist() if isinstance(value, np.ndarray) else value

    return {k: plain(v) for k, v in vars(estimator).items() if k.endswith("_") and not k.startswith("_")}


def test_a_matrix_of_a_graph_stays_behind(tmp_path: Path) -> None:
    own, model = fitted("y", graph=np.ones((N, N)))
    model.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 8 * N * N / 2
    again = uncertain.load(tmp_path / "m")
    assert again.predict(own).equals(model.predict(own))
    assert again.pipeline_[-1].graph == "given"
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    X = np.arange(8.0)[:, None]
    with pytest.raises(UncertainError, match="no matrix of a graph"):
        again.pipeline_[-1].fit(X, X[:, 0])
    with pytest.raises(UncertainError, match="graph given as a matrix"):
        model.report(own)


def test_a_file_that_only_the_core_wrote(tmp_path: Path) -> None:
    # What Rust writes has no parameters of Python's: they come from the core's header.
    own, model = fitted("three", coupling="independent", n_neighbors=4, gamma=0.3)
    model.save(tmp_path / "model")
    whole = description(tmp_path / "model")
    about = {name: whole[name] for name in ("columns", "calibration")}
    pipeline = uncertain.load(redescribed(tmp_path / "model", about, tmp_path / "rust")).pipeline_
    last, known = pipeline[-1].get_params(), model.pipeline_[-1].get_params()
    assert isinstance(pipeline[-1], AdaptiveHuberClassifier)
    assert {k for k in known if known[k] != last[k]} == {"random_state"}
    assert attributes(pipeline[-1]) == attributes(model.pipeline_[-1])
    np.testing.assert_array_equal(pipeline.predict(own), model.predict(own).to_numpy())


def noisy_classes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """P(1 | x) = 1 / (1 + exp(-3 x)), exactly."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, n)
    return x[:, None], (rng.random(n) < 1 / (1 + np.exp(-3 * x))).astype(int)


def test_probabilities_are_calibrated() -> None:
    X, y = noisy_classes(800)
    keywords: dict[str, Any] = {"alpha": 1e-2, "probability": True, "random_state": 0}
    model = AdaptiveHuberClassifier(max_refinements=0, **keywords).fit(X, y)
    at = np.linspace(-1.5, 1.5, 13)
    p = model.predict_proba(at[:, None])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-3 * at)), atol=0.08)
    np.testing.assert_allclose(model.predict_log_proba(at[:, None]), np.log(p))
    # The same seed gives the same folds; the scores do not depend on them.
    again = AdaptiveHuberClassifier(max_refinements=0, **keywords).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(at[:, None]), p)
    np.testing.assert_array_equal(
        AdaptiveHuberClassifier(1e-2, max_refinements=0).fit(X, y).decision_function(at[:, None]),
        model.decision_function(at[:, None]),
    )
    # Of three classes, one of them without labels for some rows.
    three = np.digitize(X[:, 0], [-0.7, 0.7])
    three[::7] = -1
    model = AdaptiveHuberClassifier(**keywords).fit(X, three)
    p = model.predict_proba(X)
    assert p.shape == (800, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(p.argmax(axis=1) == np.digitize(X[:, 0], [-0.7, 0.7])) > 0.95


def test_weights_of_labels_reach_the_sigmoids() -> None:
    X, y = noisy_classes(120)
    keywords: dict[str, Any] = {"alpha": 1e-2, "probability": True, "random_state": 0, "graph": None}
    plain = AdaptiveHuberClassifier(**keywords).fit(X, y).predict_proba(X)
    tenfold = AdaptiveHuberClassifier(**keywords).fit(X, y, np.where(y == 1, 10.0, 1.0)).predict_proba(X)
    assert np.all(tenfold[:, 1] > plain[:, 1])


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_scores_of_rows_with_error_bars(kernel: Any) -> None:
    X, y = noisy_classes(60)
    X = np.c_[X, np.cos(7 * X)]
    model = AdaptiveHuberClassifier(1e-2, kernel=kernel, coupling="independent", gamma=None).fit(X, y)
    cov = np.array([[0.2, 0.05], [0.05, 0.1]])
    rows = GaussianArray(X[:4], cov=cov)
    mean, std = model.decision_distribution(rows)
    np.testing.assert_array_equal(mean, model.decision_function(rows))
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(2), cov, size=100_000)
    for i in range(4):
        scores = model.decision_function(X[i] + draws)
        assert mean[i] == pytest.approx(scores.mean(), abs=5 * scores.std() / 300)
        assert std[i] == pytest.approx(scores.std(), rel=0.02)
    mean, std = model.decision_distribution(X)
    np.testing.assert_array_equal(std, 0.0)
    # A regression says the same of its predictions.
    regressor = AdaptiveHuberRegressor(1e-2, kernel=kernel, coupling="independent").fit(X, y)
    mean, std = regressor.predict(rows, return_std=True)
    np.testing.assert_array_equal(mean, regressor.predict(rows))
    scores = regressor.predict(X[0] + draws)
    assert std[0] == pytest.approx(scores.std(), rel=0.02)


def test_scores_of_several_views() -> None:
    X, y = noisy_classes(60)
    X = np.c_[X, np.cos(7 * X), X**2]
    views: dict[str, Any] = {"views": [[0], [1], [2]], "kernel": ["rbf", "linear", "linear"], "alpha": 1e-2}
    model = AdaptiveHuberRegressor(coupling="independent", **views).fit(X, y)
    std = np.array([0.3, 0.2, 0.1])
    rows = GaussianArray(X[:3], std=np.tile(std, (3, 1)))
    found = model.predict(rows, return_std=True)[1]
    draws = std * np.random.default_rng(0).normal(size=(100_000, 3))
    for i in range(3):
        assert found[i] == pytest.approx(model.predict(X[i] + draws).std(), rel=0.02)
    with pytest.raises(UncertainError, match="off the diagonal"):
        model.predict(GaussianArray(X[:3], cov=np.eye(3)), return_std=True)
    overlapping = AdaptiveHuberRegressor(views=[[0, 1], [1, 2]]).fit(X, y)
    with pytest.raises(UncertainError, match="feature 1 is in two views"):
        overlapping.predict(rows, return_std=True)
    cubic = AdaptiveHuberClassifier(kernel="polynomial").fit(X, y)
    np.testing.assert_array_equal(cubic.decision_distribution(X)[1], 0.0)
    with pytest.raises(UncertainError, match="polynomial kernel knows no error bars"):
        cubic.decision_distribution(rows)


def test_report_of_a_regression() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 6, 150)
    wrong = np.arange(150) % 10 == 3
    y = np.sin(x) + 0.05 * rng.normal(size=150) + 4.0 * wrong
    y[100:] = np.nan
    data = GaussianArray(x[:, None], std=0.1)
    model = uncertain.fit(data, y, method="huber", alpha=1e-3, delta=1.0, max_refinements=4)
    report = model.report(data, y, repeats=2, listed=4)
    assert report.n_compared == 100 and "100 labels of 150 rows" in str(report)
    assert set(report.removed["row"]) >= set(np.flatnonzero(wrong[:100]))
    assert report.removed["residual"].abs().is_sorted(descending=True)
    # Dropping the wrong labels is worth more than the squared loss can make of them.
    assert report.verdict.startswith("Dropping labels lowers the mean absolute error by")
    assert f"Labels dropped by the fit: {len(report.removed)}" in str(report)
    json.dumps(report.to_dict(), allow_nan=False)
    exact = uncertain.fit(data.means, y, method="huber", max_refinements=0).report(data.means, y)
    assert exact.verdict == "No row has error bars."


def test_report_of_classes() -> None:
    own, model = fitted("three")
    report = model.report(own, folds=3, repeats=1)
    assert 0.5 < report.score <= 1.0
    assert report.removed["row"].is_unique().all()
    assert report.n_compared == N - N // 6
    with pytest.raises(UncertainError, match="row 0 is 7"):
        model.report(own.with_columns(three=pl.Series([7, *own["three"][1:]])))
    with pytest.raises(UncertainError, match="folds"):
        model.report(own, folds=1)


N_FIT = 80


def columns() -> dict[str, Any]:
    """A target with nulls and one gross error."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, N_FIT)
    y = [None if i % 5 == 4 else float(np.sin(x[i])) + 8.0 * (i == 10) for i in range(N_FIT)]
    return {"x": x.tolist(), "x_err": rng.uniform(0.01, 0.1, N_FIT).tolist(), "y": y}


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_null_targets_are_unlabelled_rows(make: Any) -> None:
    table = make(columns())
    model = uncertain.fit(table, "y", method="huber", alpha=1e-3, delta=2.0, max_refinements=1)
    last = model.pipeline_[-1]
    assert isinstance(last, AdaptiveHuberRegressor)
    assert last.n_labels_ == N_FIT - N_FIT // 5
    assert last.removed_.tolist() == [10]
    weighted = uncertain.fit(
        table,
        "y",
        method="huber",
        alpha=1e-3,
        delta=2.0,
        max_refinements=1,
        sample_weight=1.0 * (np.arange(N_FIT) % 4 != 1),
    )  # rows keep their numbers in the table
    assert weighted.pipeline_[-1].removed_.tolist() == [10]
    predicted = model.predict(table)
    assert isinstance(predicted, {pl.DataFrame: pl.Series, pa.table: pa.ChunkedArray}.get(make, pd.Series))
    truth = np.sin(np.array(columns()["x"]))
    assert np.abs(np.asarray(predicted.to_numpy()) - truth).max() < 0.2
    assert model.classes_ is None
    assert model.score(table) < model.score(table, truth)
    assert model.score(table, truth) > 0.99
    assert "AdaptiveHuberRegressor" in repr(model)
    assert "refinements_done" in repr(model)


def test_what_cannot_be_used_is_refused() -> None:
    x = np.arange(6.0)[:, None]
    for target, task, match in (
        ([None] * 6, "auto", "no row has a label"),
        (["a", None, "b", "c", "d", "e"], "regression", "row 0 is 'a'"),
        ([1.0, 2.0], "auto", "expected 6"),
        ([0, 1] * 3, "ranking", "task"),
    ):
        with pytest.raises(UncertainError, match=match):
            uncertain.fit(x, target, method="huber", task=task)
    with pytest.raises(UncertainError, match="unknown parameter 'C'"):
        uncertain.fit(x, [0, 1] * 3, method="huber", C=1.0)
    model = uncertain.fit(x, [0.5, 1.5] * 3, method="huber")
    for name in ("unlabeled", "probability"):
        with pytest.raises(UncertainError, match=f"{name}= is for classes"):
            uncertain.fit(x, [0.5, 1.5] * 3, method="huber", **{name: 1})
    with pytest.raises(UncertainError, match=r"class .b. has a single row"):
        uncertain.fit(x, ["a", "b", None, None, "a", None], method="huber")
    with pytest.raises(UncertainError, match="pass the numbers"):
        model.score(x)
