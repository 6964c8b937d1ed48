"""Exact rows that are wide: the coordinate method against LIBSVM, and other ways of saying the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.svm import SVC, SVR

from uncertain import GaussianArray, GSUClassifier, GSURegressor

Floats = NDArray[np.float64]
SHAPES = [(240, 80), (60, 300), (30, 30)]


def rows(n: int, d: int, classes: int = 2) -> tuple[Floats, NDArray[np.int64]]:
    """Features of unequal size, away from zero."""
    rng = np.random.default_rng(n + d)
    y = rng.integers(0, classes, size=n)
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y] / np.sqrt(d)
    return X * rng.uniform(0.3, 3.0, size=d) + 5.0, y


def svm_objective(w: Floats, b: float, X: Floats, y: Floats, alpha: float, c: Floats | None = None) -> float:
    """alpha / 2 |w|^2 and the mean hinge."""
    return 0.5 * alpha * float(w @ w) + float(np.average(np.maximum(0.0, 1.0 - y * (X @ w + b)), weights=c))


@pytest.mark.parametrize("loss", ["hinge", "expected_hinge"])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_the_optimum_is_libsvms(n: int, d: int, loss: str) -> None:
    X, labels = rows(n, d)
    y = 2.0 * labels - 1.0
    weights = np.random.default_rng(1).uniform(0.2, 3.0, size=n)
    for alpha in (1e-1, 1e-3):
        for c in (None, weights):
            model = GSUClassifier(alpha, loss=loss, tol=1e-8).fit(X, labels, sample_weight=c)
            share = np.ones(n) if c is None else c / c.mean()
            svc = SVC(kernel="linear", C=1.0 / (alpha * n), tol=1e-5).fit(X, labels, sample_weight=share)
            ours = svm_objective(model.coef_.ravel(), model.intercept_[0], X, y, alpha, c)
            theirs = svm_objective(svc.coef_.ravel(), svc.intercept_[0], X, y, alpha, c)
            assert model.status_ == "converged"
            assert_allclose(model.objective_, ours, rtol=1e-9)
            # Above the least value by the certified gap at most.
            assert ours <= theirs * (1.0 + 1e-8) + 1e-12
            assert theirs >= ours * (1.0 - float(model.optimality_gap_)) - 1e-12


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_a_tubes_optimum_is_libsvms(n: int, d: int) -> None:
    X, _ = rows(n, d)
    t = X @ np.random.default_rng(2).normal(size=d) / d + 3.0
    for alpha, epsilon in ((1e-1, 0.1), (1e-3, 0.02)):
        model = GSURegressor(alpha, loss="epsilon_insensitive", epsilon=epsilon, tol=1e-8).fit(X, t)
        svr = SVR(kernel="linear", C=1.0 / (alpha * n), epsilon=epsilon, tol=1e-5).fit(X, t)

        def objective(w: Floats, b: float) -> float:
            outside = np.maximum(0.0, np.abs(t - X @ w - b) - epsilon)  # noqa: B023
            return 0.5 * alpha * float(w @ w) + float(outside.mean())  # noqa: B023

        ours = objective(model.coef_, float(model.intercept_))
        theirs = objective(svr.coef_.ravel(), float(svr.intercept_[0]))
        assert model.status_ == "converged"
        assert_allclose(model.objective_, ours, rtol=1e-8)
        assert ours <= theirs * (1.0 + 1e-7) + 1e-12


def test_rows_without_spread_of_any_kind_have_one_optimum() -> None:
    X, y = rows(120, 70)
    zero = np.zeros_like(X)
    kinds: list[Any] = [
        GaussianArray(X),
        GaussianArray(X, std=0.0),
        GaussianArray(X, std=zero),
        GaussianArray(X, factor=zero[:, :, None]),
        GaussianArray(X, cov=np.zeros((70, 70))),
    ]
    values = [GSUClassifier(1e-2, tol=1e-7).fit(kind, y).objective_ for kind in kinds]
    assert_allclose(values, values[0], rtol=2e-7)


def test_weights_count_rows_and_classes_their_own() -> None:
    X, y = rows(150, 70, classes=3)
    twice = np.r_[0:150, 0:50]
    weights = np.where(np.arange(150) < 50, 2.0, 1.0)
    one = GSUClassifier(1e-2, loss="hinge", tol=1e-8).fit(X, y, sample_weight=weights)
    other = GSUClassifier(1e-2, loss="hinge", tol=1e-8).fit(X[twice], y[twice])
    assert one.coef_.shape == (3, 70)
    assert_allclose(one.objective_, other.objective_, rtol=2e-8)
    assert_allclose(one.coef_, other.coef_, atol=1e-3)
    for k in range(3):
        alone = GSUClassifier(1e-2, loss="hinge", tol=1e-8).fit(X, y == k, sample_weight=weights)
        assert_array_equal(alone.coef_.ravel(), one.coef_[k])
    # Without weight a row is not there.
    some = np.where(np.arange(150) < 100, 1.0, 0.0)
    left = GSUClassifier(1e-2, loss="hinge", tol=1e-8).fit(X, y, sample_weight=some)
    assert_allclose(
        left.objective_, GSUClassifier(1e-2, loss="hinge", tol=1e-8).fit(X[:100], y[:100]).objective_
    )


def test_nothing_but_the_problem_changes_the_answer() -> None:
    X, y = rows(200, 90)
    models = [
        GSUClassifier(1e-3, random_state=seed, n_jobs=jobs).fit(X, y)
        for seed, jobs in ((0, 1), (7, 2), (None, 1))
    ]
    for model in models[1:]:
        assert_array_equal(model.coef_, models[0].coef_)
    through_zero = GSUClassifier(1e-3, fit_intercept=False, tol=1e-8).fit(X, y)
    assert through_zero.intercept_[0] == 0.0 and through_zero.status_ == "converged"
    assert through_zero.objective_ >= models[0].objective_ * (1.0 - 1e-6)
