"""Kernel machines: scikit-learn's SVC and SVR on one kernel matrix, error bars, the estimator contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from uncertain import GaussianArray, ProbabilisticKernelSVC, ProbabilisticKernelSVR, UncertainError
from uncertain.kernels import median_distance, probabilistic_rbf


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
    ours = ProbabilisticKernelSVC(C=3.0, sigma=1.2, tol=1e-12).fit(X, y)
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


def test_probabilities_and_progress() -> None:
    X, y = data()
    seen: list[Any] = []
    model = ProbabilisticKernelSVC(probability=True, random_state=0, callback=seen.append).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).mean() > 0.9
    assert {report.task for report in seen} >= {"pair 1 of 3", "pair 3 of 3, fold 5 of 5"}


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
    ours = ProbabilisticKernelSVR(C=5.0, sigma=1.2, tol=1e-12).fit(X, target, weight)
    gram = probabilistic_rbf(X, sigma=1.2)
    theirs = SVR(C=5.0, kernel="precomputed", tol=1e-8).fit(gram, target, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(gram), atol=1e-4)
    assert ours.score(X, target) > 0.9
    assert ours.optimality_gap_ < 1e-6


@pytest.mark.parametrize("coupling", ["shared", "independent"])
def test_scores_have_a_distribution(coupling: Any) -> None:
    X, y = data()
    new, _ = data(8, seed=1)
    model = ProbabilisticKernelSVC(sigma=1.2, coupling=coupling).fit(X, y == 0)
    mean, std = model.decision_distribution(new)
    np.testing.assert_allclose(mean, model.decision_function(new), atol=1e-14)
    rng = np.random.default_rng(0)
    e = rng.normal(size=(100_000, 2))
    support = model.support_rows_
    assert support is not None
    for k in range(3):
        z = new.means[k] + e * np.sqrt(np.diagonal(new.covariances()[k]))
        if coupling == "shared":
            x = (
                support.means[:, None]
                + e * np.sqrt(np.diagonal(support.covariances(), axis1=1, axis2=2))[:, None]
            )
            values = np.exp(-0.5 * np.sum((x - z) ** 2, axis=-1) / 1.2**2)
        else:
            values = probabilistic_rbf(support, z, sigma=1.2, coupling="independent")
        scores = model.dual_coef_[0] @ values + model.intercept_[0]
        assert scores.mean() == pytest.approx(mean[k], abs=5 * std[k] / np.sqrt(len(e)))
        assert scores.std() == pytest.approx(std[k], rel=0.02)
    assert (
        not model.set_params(coupling=coupling).fit(X.means, y == 0).decision_distribution(X.means)[1].any()
    )
    pairs = ProbabilisticKernelSVC(sigma=1.2, coupling=coupling).fit(X, y).decision_distribution(new)
    assert pairs[0].shape == pairs[1].shape == (8, 3)
    assert not hasattr(ProbabilisticKernelSVC(kernel="precomputed"), "decision_distribution")


def test_a_matrix_that_does_not_fit_changes_nothing() -> None:
    X, y = data(200)
    whole = ProbabilisticKernelSVC(probability=True, random_state=0).fit(X, y)
    rows = ProbabilisticKernelSVC(probability=True, random_state=0, cache_size=0.05, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(rows.dual_coef_, whole.dual_coef_)
    np.testing.assert_array_equal(rows.predict_proba(X), whole.predict_proba(X))
    target = X.means[:, 0] ** 2
    machines = [ProbabilisticKernelSVR(cache_size=size).fit(X, target) for size in (1024, 0.05)]
    np.testing.assert_array_equal(machines[0].predict(X), machines[1].predict(X))


def test_the_median_bandwidth_is_that_of_rows_with_weight() -> None:
    X, y = data(60)
    weight = np.r_[np.ones(40), np.zeros(20)]
    model = ProbabilisticKernelSVC(sigma="median").fit(X, y, weight)
    assert model.sigma_ == ProbabilisticKernelSVC(sigma="median").fit(X[:40], y[:40]).sigma_
    assert model.sigma_ == pytest.approx(median_distance(X[:40]), rel=1e-12)
    assert ProbabilisticKernelSVC().fit(X, y).sigma_ == 1.0


def test_what_cannot_be_used_is_refused() -> None:
    _, y = data(30)
    with pytest.raises(ValueError, match="square"):
        ProbabilisticKernelSVC(kernel="precomputed").fit(np.ones((30, 2)), y)
    with pytest.raises(UncertainError, match="row 0 with itself is -1"):
        ProbabilisticKernelSVC(kernel="precomputed").fit(-np.eye(30), y)
    distances = np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0)))
    with pytest.raises(UncertainError, match=r"rows 1 and 0 is 1, .* not positive semi-definite"):
        ProbabilisticKernelSVC(kernel="precomputed").fit(distances, y)
