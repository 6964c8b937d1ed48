"""Huber regression: golden minima, what is dropped, labels that are missing, kernels, views, graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline

from uncertain import (
    AdaptiveHuberClassifier,
    AdaptiveHuberRegressor,
    GaussianArray,
    ProbabilisticKernelFeatures,
    UncertainError,
)
from uncertain.huber import Refinement
from uncertain.kernels import probabilistic_rbf

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


@pytest.mark.parametrize("threshold", [1.99, 1.99002, 1.995, 1.9999])
def test_error_bars_of_a_million_make_a_nearly_singular_kernel_and_a_solution(threshold: float) -> None:
    x = GaussianArray([[1.0], [-1.0]], var=1e12)
    model = AdaptiveHuberRegressor(graph=None, max_refinements=0, threshold=threshold)
    model.fit(x, [2.1, -1.9])
    # The first row is beyond the threshold, the second is not: one equation is left, for the second.
    kernel = probabilistic_rbf(x, sigma=float(np.sqrt(0.5 / model.gamma_[0])))
    assert 0.0 < 1.0 - kernel[0, 1] < 1e-11
    w = np.array([threshold / (4.0 * model.alpha), 0.0])
    w[1] = (-1.9 - kernel[1, 0] * w[0]) / (1.0 + 4.0 * model.alpha)
    np.testing.assert_allclose(model.dual_coef_[0], w, rtol=1e-13)
    np.testing.assert_allclose(model.predict(x), kernel @ w, rtol=1e-9)
    assert model.predict(x)[0] < 2.1 - threshold and model.predict(x)[1] < -1.9 + threshold


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


def test_features_of_a_map_approach_the_exact_solution() -> None:
    rng = np.random.default_rng(6)
    X = GaussianArray(rng.normal(size=(300, 2)), std=rng.uniform(0.0, 0.3, size=(300, 2)))
    y = np.sin(X.means[:, 0]) + 0.2 * rng.normal(size=300)
    keywords: dict[str, Any] = {"max_refinements": 0, "threshold": 0.1, "graph": None}
    exact = AdaptiveHuberRegressor(1e-3, gamma=0.5, **keywords).fit(X, y).predict(X)
    errors = []
    for n_components in (50, 5000):
        features = ProbabilisticKernelFeatures(sigma=1.0, n_components=n_components, random_state=0)
        linear = AdaptiveHuberRegressor(1e-3, kernel="linear", scale_features=False, **keywords)
        errors.append(float(np.abs(make_pipeline(features, linear).fit(X, y).predict(X) - exact).max()))
    assert errors[1] < 0.05 < errors[0]


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
