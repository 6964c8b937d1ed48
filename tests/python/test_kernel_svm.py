"""Kernel machines: scikit-learn's SVC and SVR on one kernel matrix, error bars, the estimator contract."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from uncertain import GaussianArray, ProbabilisticKernelSVC, ProbabilisticKernelSVR, UncertainError
from uncertain.kernels import probabilistic_rbf


@parametrize_with_checks([ProbabilisticKernelSVC(), ProbabilisticKernelSVR()])
def test_estimator_check(estimator: Any, check: Any) -> None:
    check(estimator)


def data(n: int = 90, seed: int = 0) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    means = rng.normal(size=(n, 2)) + 1.5 * np.array([[1, 0], [-1, 0.5], [0, -1]])[y]
    return GaussianArray(means, std=rng.uniform(0.05, 0.8, size=(n, 2))), y


@pytest.mark.parametrize("classes", [2, 3])
def test_numbers_are_those_of_svc_on_the_same_matrix(classes: int) -> None:
    X, y = data()
    new, _ = data(20, seed=1)
    y = np.array(["a", "b", "c"])[y % classes]
    ours = ProbabilisticKernelSVC(C=3.0, sigma=1.2, tol=1e-8).fit(X, y)
    gram = probabilistic_rbf(X, sigma=1.2)
    theirs = SVC(C=3.0, kernel="precomputed", tol=1e-8).fit(gram, y)
    assert ours.support_.tolist() == theirs.support_.tolist()
    assert ours.n_support_.tolist() == theirs.n_support_.tolist()
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    across = probabilistic_rbf(new, X, sigma=1.2)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(across), atol=1e-4)
    assert np.all(np.asarray(ours.optimality_gap_) < 1e-7)
    assert len(ours.support_rows_) == len(ours.support_) < len(X)


def test_every_kernel_is_the_same_machine() -> None:
    X, y = data()
    new, _ = data(20, seed=1)
    expected = ProbabilisticKernelSVC(sigma=1.2).fit(X, y).decision_function(new)
    by_hand = ProbabilisticKernelSVC(kernel=lambda a, b: probabilistic_rbf(a, b, sigma=1.2)).fit(X, y)
    np.testing.assert_allclose(by_hand.decision_function(new), expected, atol=1e-12)
    matrix = ProbabilisticKernelSVC(kernel="precomputed").fit(probabilistic_rbf(X, sigma=1.2), y)
    assert matrix.support_rows_ is None
    scores = matrix.decision_function(probabilistic_rbf(new, X, sigma=1.2))
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_probabilities_pickles_and_progress() -> None:
    X, y = data()
    seen: list[Any] = []
    model = ProbabilisticKernelSVC(probability=True, random_state=0, callback=seen.append).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).mean() > 0.9
    assert {report.task for report in seen} >= {"pair 1 of 3", "pair 3 of 3, fold 5 of 5"}
    model.set_params(callback=None)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), p)


def test_wide_error_bars_pull_the_score_to_the_intercept() -> None:
    X, y = data()
    model = ProbabilisticKernelSVC(sigma=1.0, C=10.0).fit(X, y == 0)
    point = [[1.5, 0.0]]
    scores = [float(model.decision_function(GaussianArray(point, std=[std]))[0]) for std in (0.1, 3.0, 100.0)]
    distance = np.abs(np.array(scores) - model.intercept_[0])
    assert distance[2] < 0.01 * distance[:2].min()


def test_regression_is_svr_on_the_same_matrix() -> None:
    X, _ = data()
    target = np.sin(X.means[:, 0]) + X.means[:, 1]
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    ours = ProbabilisticKernelSVR(C=5.0, sigma=1.2, tol=1e-8).fit(X, target, weight)
    gram = probabilistic_rbf(X, sigma=1.2)
    theirs = SVR(C=5.0, kernel="precomputed", tol=1e-8).fit(gram, target, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(gram), atol=1e-4)
    assert ours.score(X, target) > 0.9
    assert ours.optimality_gap_ < 1e-6


def test_what_cannot_be_used_is_refused() -> None:
    X, y = data(30)
    for wrong in (
        {"C": 0.0},
        {"tol": -1.0},
        {"sigma": -1.0},
        {"sigma": "large"},
        {"kernel": "rbf"},
        {"max_iter": 0},
        {"cache_size": -1.0},
        {"coupling": "none"},
        {"kernel": lambda a, b: np.ones((2, 2))},
    ):
        with pytest.raises(UncertainError, match=next(iter(wrong))):
            ProbabilisticKernelSVC(**wrong).fit(X, y)
    with pytest.raises(UncertainError, match="one class"):
        ProbabilisticKernelSVC().fit(X, np.zeros(30))
    with pytest.raises(ValueError, match="square"):
        ProbabilisticKernelSVC(kernel="precomputed").fit(np.ones((30, 2)), y)
    with pytest.raises(UncertainError, match="without probabilities"):
        ProbabilisticKernelSVC().fit(X, y).set_params(probability=True).predict_proba(X)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        ProbabilisticKernelSVC(max_iter=3).fit(X, y)
