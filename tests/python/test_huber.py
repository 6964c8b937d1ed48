"""Huber regression: golden minima, dropped and missing labels, kernels, views, graphs, units, files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import kneighbors_graph

import uncertain
from uncertain import (
    AdaptiveHuberClassifier,
    AdaptiveHuberRegressor,
    GaussianArray,
)
from uncertain.exceptions import ParameterError, UncertainError, UncertainWarning
from uncertain.huber import Refinement
from uncertain.kernels import probabilistic_rbf

pytestmark = pytest.mark.filterwarnings("ignore:features are divided by")

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "huber.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("problem", GOLDEN, ids=[problem["name"] for problem in GOLDEN])
def test_minima_are_those_of_a_convex_solver(problem: dict[str, Any]) -> None:
    x, new, views = np.array(problem["x"]), np.array(problem["new"]), problem["views"]
    unlabelled = len(x) - len(problem["y"])
    y = np.append(problem["y"], np.full(unlabelled, np.nan))
    weight = np.append(problem["weight"], np.ones(unlabelled))
    for case in problem["cases"]:
        xi = case["xi"]
        of_views = {"kernel": "kernel", "views": "columns", "view_weights": "c"}
        options: dict[str, Any] = {name: [view[key] for view in views] for name, key in of_views.items()}
        options["graph"] = [None if view["M"] is None else np.array(view["M"]) for view in views]
        options |= {"max_refinements": 0, "threshold": xi, "gamma": 0.5, "laplacian": None}
        model = AdaptiveHuberRegressor(problem["lambda"], problem["gamma"], **options).fit(x, y, weight)
        assert model.objective_ == pytest.approx(case["objective"], rel=1e-11)
        np.testing.assert_allclose(model.dual_coef_, case["w"], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.predict(x), case["f"], atol=1e-10)
        np.testing.assert_allclose(model.predict(new), case["new"], atol=1e-10)
        inside = np.abs(y - model.predict(x))[: len(problem["y"])] < (np.inf if xi is None else xi)
        assert inside.sum() == case["inside"]


def hard_kernel(kind: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Hardly apart, of any spectrum, smooth without end, rows twice."""
    small = 10.0 ** rng.uniform(-16.0, 0.0)
    if kind == 0:
        return np.eye(n) * small + (1.0 - small)
    if kind == 1:
        factor = rng.normal(size=(n, n)) * small ** (0.5 * np.linspace(0.0, 1.0, n))
        return factor @ factor.T
    x = rng.normal(size=n) if kind == 2 else np.floor(3.0 * rng.random(n))
    return np.exp(-(small if kind == 2 else 1.0) * (x[:, None] - x) ** 2)


@pytest.mark.parametrize("kind", range(4))
def test_every_answer_meets_the_conditions_of_a_solution(kind: int) -> None:
    rng = np.random.default_rng(kind)
    for _ in range(60):
        n = int(rng.integers(1, 9))
        kernel = hard_kernel(kind, n, rng)
        alpha, scale = 10.0 ** rng.uniform(-10.0, 3.0), 10.0 ** rng.uniform(-3.0, 3.0)
        y = scale * rng.choice([2.1, -1.9, 0.3], size=n)
        pair = 0.5 * abs(y[0] - y[-1])
        xi = max(1e-12, float(rng.choice([pair, 0.9975 * pair, 10.0 ** rng.uniform(-12.0, 6.0)])))
        model = AdaptiveHuberRegressor(
            alpha, graph=None, max_refinements=0, threshold=xi, kernel="precomputed"
        ).fit(kernel, y)
        # (7): 2 l alpha w = H'(y - K w), the sums in extended precision.
        w = model.dual_coef_[0].astype(np.longdouble)
        pull = 2.0 * n * alpha * w
        error = np.abs(pull - np.clip(y - kernel.astype(np.longdouble) @ w, -xi, xi))
        root = np.sqrt(np.diag(kernel))
        rounding = np.finfo(float).eps * (root * (root @ np.abs(w)) + np.abs(y) + np.abs(pull))
        # A kernel of low rank is worked with as a factor, exact to 1e-14 of its largest element.
        rounding += 1e-14 * root.max() ** 2 * np.abs(w).sum()
        assert np.all(error <= 16.0 * rounding + 2e-13 * min(xi, np.abs(y).max())), (n, alpha, xi)


def wave(n: int = 200, flips: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points on a wave; a part of the labels is wrong by 2."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, n))[:, None]
    wrong = rng.random(n) < flips
    return X, np.sin(X[:, 0]) + 0.05 * rng.normal(size=n) + 2.0 * wrong, wrong


def test_wrong_labels_are_dropped_and_told() -> None:
    X, y, wrong = wave(flips=0.1)
    plain = AdaptiveHuberRegressor(1e-3, max_refinements=0).fit(X, y)
    model = AdaptiveHuberRegressor(1e-3, delta=0.3, max_refinements=10).fit(X, y)
    truth = np.sin(X[:, 0])
    assert np.abs(model.predict(X) - truth).mean() < 0.2 * np.abs(plain.predict(X) - truth).mean()
    assert set(np.flatnonzero(wrong)) <= set(model.removed_.tolist())
    assert len(model.removed_) == len(np.unique(model.removed_)) == len(model.removed_residuals_)
    steps = np.diff(model.thresholds_)
    assert len(steps) == model.n_refinements_ == len(model.history_) > 1
    assert np.all(steps < 0)
    last = model.history_[-1]
    assert isinstance(last, Refinement)
    assert last.threshold == model.threshold_
    assert last.objective == model.objective_
    assert last.n_labels == model.n_labels_ - len(model.removed_)
    # Residuals at removal lie beyond the threshold that was tried then.
    first = model.history_[0]
    assert np.all(np.abs(model.removed_residuals_[: first.n_dropped]) >= first.tried)
    # What is left is exactly the squared-loss fit to it.
    kept = y.copy()
    kept[model.removed_] = np.nan
    again = AdaptiveHuberRegressor(1e-3, max_refinements=0).fit(X, kept)
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-9)
    assert again.threshold_ == pytest.approx(model.threshold_, rel=1e-8)


def test_unlabelled_rows_carry_the_graph() -> None:
    rng = np.random.default_rng(3)
    t = rng.uniform(0, np.pi, 300)
    moon = np.arange(300) % 2
    X = np.c_[np.cos(t), np.sin(t)] * np.where(moon, -1, 1)[:, None] + moon[:, None] * [1.0, 0.4]
    X += 0.05 * rng.normal(size=X.shape)
    y = np.full(300, None, dtype=object)
    y[[5, 100, 6, 101]] = np.array(["low", "up"])[moon[[5, 100, 6, 101]]]
    truth = np.array(["low", "up"])[moon]
    accuracy = [
        AdaptiveHuberClassifier(1e-4, manifold, max_refinements=0, gamma=2.0, n_neighbors=6)
        .fit(X, y)
        .score(X, truth)
        for manifold in (0.0, 0.1)
    ]
    assert accuracy[1] > 0.97 > accuracy[0]


def test_how_labels_are_marked_as_missing() -> None:
    X, _, _ = wave(90)
    kind = (X[:, 0] // 2).astype(int)
    expected = AdaptiveHuberClassifier().fit(X[::2], kind[::2])
    for missing, dtype in ((-1, int), (np.nan, float), (None, object)):
        y = np.full(90, missing, dtype=dtype)
        y[::2] = kind[::2]
        model = AdaptiveHuberClassifier(gamma=1.0, graph=None).fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.n_labels_ == 45
    same = AdaptiveHuberClassifier(gamma=1.0, graph=None).fit(X[::2], kind[::2])
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-9)
    # Among -1 and +1 alone, -1 is a class; and whatever is said to be one.
    signs = np.where(kind > 0, 1, -1)
    assert AdaptiveHuberClassifier().fit(X, signs).classes_.tolist() == [-1, 1]
    named = AdaptiveHuberClassifier(unlabeled=None).fit(X, kind - 1)
    assert named.classes_.tolist() == [-1, 0, 1]
    assert AdaptiveHuberClassifier(unlabeled=2).fit(X, kind).classes_.tolist() == [0, 1]
    assert expected.dual_coef_.shape == (3, 1, 45)
    assert len(expected.removed_) == len(expected.status_) == 3
    assert expected.decision_function(X).shape == (90, 3)
    assert expected.score(X, kind) > 0.9


def test_kernels_views_and_graphs() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 4))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 2] ** 2
    # A view of all columns is no view; names are numbers; slices are groups.
    one = AdaptiveHuberRegressor(gamma=0.3).fit(X, y).predict(X)
    assert np.array_equal(AdaptiveHuberRegressor(gamma=0.3, views=[[0, 1, 2, 3]]).fit(X, y).predict(X), one)
    two = AdaptiveHuberRegressor(views=[slice(0, 2), [2, 3]], kernel=["rbf", "quadratic"]).fit(X, y)
    assert two.dual_coef_.shape == (2, 120)
    assert two.gamma_[1] is None
    assert two.score(X, y) > 0.99
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    named = AdaptiveHuberRegressor(views=[["a", "b"], ["c", "d"]], kernel=["rbf", "quadratic"]).fit(frame, y)
    np.testing.assert_array_equal(named.predict(frame), two.predict(X))
    # The between-view penalty draws the views together.
    apart = AdaptiveHuberRegressor(1e-3, views=[[0, 1], [2, 3]], between_alpha=0.0).fit(X, y)
    close = AdaptiveHuberRegressor(1e-3, views=[[0, 1], [2, 3]], between_alpha=10.0).fit(X, y)

    def difference(model: AdaptiveHuberRegressor) -> float:
        f = [
            np.exp(-g * ((X[:, None, c] - X[None, :, c]) ** 2).sum(axis=2)) @ w
            for g, c, w in zip(model.gamma_, ([0, 1], [2, 3]), model.dual_coef_, strict=True)
        ]
        return float(np.linalg.norm(f[0] - f[1]))

    assert difference(close) < 0.05 * difference(apart)
    # A precomputed kernel is the kernel; dense and sparse graphs are one.
    weights = kneighbors_graph(X, 5)
    weights = weights.maximum(weights.T)
    keywords: dict[str, Any] = {"manifold_alpha": 1e-2, "delta": 0.1}
    sparse = AdaptiveHuberRegressor(gamma=0.3, graph=weights, **keywords).fit(X, y)
    dense = AdaptiveHuberRegressor(gamma=0.3, graph=weights.toarray(), **keywords).fit(X, y)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), atol=1e-10)
    gram = probabilistic_rbf(X, sigma=np.sqrt(0.5 / 0.3))
    matrix = AdaptiveHuberRegressor(kernel="precomputed", graph=weights, **keywords).fit(gram, y)
    np.testing.assert_allclose(matrix.predict(gram), dense.predict(X), atol=1e-9)
    assert matrix.X_fit_ is None
    for graph in ("rbf", None):
        assert AdaptiveHuberRegressor(graph=graph).fit(X, y).score(X, y) > 0.9


def test_error_bars_count() -> None:
    X, y, _ = wave(80)
    rows = GaussianArray(X, std=np.where(np.arange(80) % 2, 0.01, 1.0)[:, None])
    model = AdaptiveHuberRegressor(1e-3, gamma=1.0).fit(rows, y)
    assert not np.allclose(model.predict(rows), AdaptiveHuberRegressor(1e-3, gamma=1.0).fit(X, y).predict(X))
    assert np.all(np.isfinite(model.predict(GaussianArray(X[:5], cov=np.eye(1)))))
    for kernel in ("quadratic", "polynomial"):
        with pytest.raises(UncertainError, match="error bars"):
            AdaptiveHuberRegressor(kernel=kernel).fit(rows, y)
    means = AdaptiveHuberRegressor(kernel="linear", graph=None).fit(rows, y)
    np.testing.assert_allclose(
        means.predict(rows), AdaptiveHuberRegressor(kernel="linear", graph=None).fit(X, y).predict(X)
    )
    assert cross_val_score(AdaptiveHuberRegressor(), rows, y, cv=3).shape == (3,)


def test_progress_is_one_report_per_refinement() -> None:
    X, y, _ = wave(flips=0.1)
    seen: list[Any] = []
    model = AdaptiveHuberRegressor(delta=0.2, callback=seen.append, n_jobs=1).fit(X, y)
    assert [report.iteration for report in seen] == list(range(model.n_refinements_ + 1))
    assert seen[-1].objective == model.objective_


def test_what_cannot_be_used_is_refused() -> None:
    X, y, _ = wave(30)
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({"graph": -np.eye(30), "laplacian": None}, y, "semi-definite"),
        ({"graph": np.eye(30, k=1)}, y, "not symmetric"),
        ({}, np.full(30, np.nan), "label"),
        ({"kernel": "precomputed"}, y, "square"),
    ]
    for parameters, labels, words in cases:
        with pytest.raises(ValueError, match=words):
            AdaptiveHuberRegressor(**parameters).fit(X, labels)


def test_units_of_the_targets_do_not_make_it_endless() -> None:
    """delta is absolute: beside residuals of 1e8 the way to a smaller largest residual is long."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(12, 2))
    y = 1e8 * rng.normal(size=12)
    model = AdaptiveHuberRegressor(max_refinements=3).fit(x, y)
    assert (np.diff(model.thresholds_) < 0).all()
    assert max(step.n_attempts for step in model.history_) < 60


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
    unsure = (plain[:, 1] > 0.05) & (plain[:, 1] < 0.95)
    assert unsure.sum() > 20
    assert np.all(tenfold[unsure, 1] > plain[unsure, 1])


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


def test_what_cannot_be_used_is_refused_of_huber_model() -> None:
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


RNG = np.random.default_rng(3)
Z, NEW = RNG.normal(size=(120, 3)), RNG.normal(size=(50, 3))
TRUTHS = {
    "linear": lambda z: z @ [1.0, -0.5, 0.3],
    "quadratic": lambda z: (z @ [1.0, -0.5, 0.3]) ** 2,
    "polynomial": lambda z: (z @ [0.5, -0.25, 0.2] + 1.0) ** 3,
    "rbf": lambda z: np.sin(z[:, 0]) + 0.5 * z[:, 1],
}
UNITS = [(1.0, 1.0, 1e6), (1e-6, 1.0, 1.0), (1e3, 1.0, 1.0), (1e6, 1e-6, 1.0), (1e4, 1e4, 5e-4)]


def made(kernel: str, **parameters: Any) -> AdaptiveHuberRegressor:
    return AdaptiveHuberRegressor(kernel=kernel, max_refinements=2, delta=0.05, **parameters)


@pytest.mark.parametrize("graph", ["knn", None])
@pytest.mark.parametrize("kernel", TRUTHS)
def test_units_are_nothing(kernel: str, graph: Any) -> None:
    y = TRUTHS[kernel](Z) + 0.05 * RNG.normal(size=len(Z))
    expected = made(kernel, graph=graph, scale_features=True).fit(Z, y)
    assert r2_score(TRUTHS[kernel](NEW), expected.predict(NEW)) > 0.9
    for units in UNITS:
        model = made(kernel, graph=graph).fit(Z * units, y)
        np.testing.assert_allclose(model.predict(NEW * units), expected.predict(NEW), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(model.scales_[0], Z.std(axis=0) * units, rtol=1e-12)
        assert model.removed_.tolist() == expected.removed_.tolist()


@pytest.mark.parametrize("kernel", TRUTHS)
def test_it_is_the_published_model_of_scaled_features(kernel: str) -> None:
    """To the last coefficient; and rows that are scaled already are taken as they are."""
    y, units = TRUTHS[kernel](Z), np.array([1e5, 1.0, 1e-3])
    raw = made(kernel).fit(Z * units, y)
    scaled = made(kernel, scale_features=False).fit(Z * units / raw.scales_[0], y)
    np.testing.assert_array_equal(raw.dual_coef_, scaled.dual_coef_)
    assert raw.objective_ == scaled.objective_ and raw.gamma_ == scaled.gamma_
    for some in (Z, Z * [0.5, 1.0, 1.9]):
        found, plain = made(kernel).fit(some, y), made(kernel, scale_features=False).fit(some, y)
        assert found.scales_ == [None]
        np.testing.assert_array_equal(found.dual_coef_, plain.dual_coef_)


@pytest.mark.filterwarnings("error")
def test_it_is_said_unless_it_was_asked_for() -> None:
    X, y = Z * [1e3, 1.0, 1.0], TRUTHS["linear"](Z)
    with pytest.warns(UncertainWarning, match=r"divided by their standard .*scale_features=False"):
        made("linear").fit(X, y)
    for asked in (True, False):
        made("linear", scale_features=asked).fit(X, y)
    assert made("rbf").fit(X, y).scales_[0] is not None  # no map's features are given to it


def test_who_gives_a_gamma_has_chosen_units() -> None:
    X, y = Z * [1e3, 1.0, 1.0], TRUTHS["rbf"](Z)
    assert made("rbf", gamma=0.1).fit(X, y).scales_ == [None]
    assert made("rbf", graph_gamma=1e-6).fit(X, y).scales_ == [None]
    assert made("rbf", gamma=0.1, scale_features=True).fit(X, y).scales_[0] is not None


def test_views_have_units_of_their_own(tmp_path: Path) -> None:
    X, y = Z * [1e3, 1e-3, 1.0], np.where(TRUTHS["linear"](Z) > 0.0, "p", "q")
    model = AdaptiveHuberClassifier(views=[[0, 1], [2]], kernel=["linear", "rbf"]).fit(X, y)
    assert model.scales_[0] is not None and model.scales_[1] is None
    assert (
        np.mean(model.predict(NEW * [1e3, 1e-3, 1.0]) == np.where(TRUTHS["linear"](NEW) > 0.0, "p", "q"))
        > 0.85
    )


def test_constant_features() -> None:
    y = TRUTHS["linear"](Z)
    X = np.column_stack([1e6 * Z, np.full(len(Z), 3e6), np.zeros(len(Z))])
    model = made("linear", graph=None).fit(X, y + 2.0)
    np.testing.assert_allclose(model.scales_[0][3:], [3e6, 1.0])
    assert r2_score(y + 2.0, model.predict(X)) > 0.99


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_error_bars_and_files(kernel: str, tmp_path: Path) -> None:
    y, std = TRUTHS[kernel](Z), RNG.uniform(0.1, 0.4, Z.shape)
    units = np.array([1e4, 1e-4, 1.0])
    rows, new = GaussianArray(Z * units, std=std * units), GaussianArray(NEW * units, std=std[:50] * units)
    model = uncertain.fit(rows, y, method="huber", kernel=kernel, scale=False)
    assert model.pipeline_[-1].scales_[0] is not None
    plain = GaussianArray(Z, std=std), GaussianArray(NEW, std=std[:50])
    options = {"scale_features": True, "fit_intercept": True, "delta": model.pipeline_[-1].delta}
    expected = AdaptiveHuberRegressor(kernel=kernel, **options).fit(plain[0], y)
    mean, spread = expected.predict(plain[1], return_std=True)
    model.save(tmp_path / "model")
    for one in (model, uncertain.load(tmp_path / "model")):
        found = one.pipeline_[-1].predict(new, return_std=True)
        np.testing.assert_allclose(found[0], mean, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found[1], spread, rtol=1e-6, atol=1e-6)


def test_a_kernel_matrix_has_no_features() -> None:
    with pytest.raises(ParameterError, match="scale_features"):
        AdaptiveHuberRegressor(kernel="precomputed", scale_features=True).fit(Z @ Z.T, Z[:, 0])
