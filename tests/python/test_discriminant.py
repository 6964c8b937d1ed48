"""GaussianDiscriminant: the classical methods without noise, exact probabilities with it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from uncertain import GaussianArray, GaussianDiscriminant
from uncertain.exceptions import UncertainError

N, D = 300, 3


@pytest.fixture
def labels(rng: np.random.Generator) -> np.ndarray:
    return rng.choice(["a", "b", "c"], size=N, p=[0.5, 0.3, 0.2])


@pytest.fixture
def truth(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    shift = {"a": [0, 0, 0], "b": [2, 0, 1], "c": [0, 3, 0]}
    return rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + np.array([shift[label] for label in labels])


def test_without_noise_it_is_lda(truth: np.ndarray, labels: np.ndarray) -> None:
    ours = GaussianDiscriminant().fit(truth, labels)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(truth, labels)
    assert_allclose(ours.predict_proba(truth), theirs.predict_proba(truth), rtol=1e-7, atol=1e-12)
    assert_allclose(ours.means_[:, 0], theirs.means_)
    assert_allclose(ours.priors_, theirs.priors_)


def test_without_noise_it_is_qda_with_maximum_likelihood(truth: np.ndarray, labels: np.ndarray) -> None:
    ours = GaussianDiscriminant(shared_covariance=False).fit(truth, labels)
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(truth, labels)
    for k, label in enumerate(ours.classes_):
        own = truth[labels == label]
        assert_allclose(ours.covariances_[k, 0], np.cov(own.T, ddof=0), rtol=1e-9)
    # scikit-learn has divided by n or by n - 1, depending on the version.
    assert_allclose(ours.predict_proba(truth), theirs.predict_proba(truth), atol=0.03)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("components", [1, 2])
def test_probabilities_are_those_of_the_model(
    truth: np.ndarray, labels: np.ndarray, rng: np.random.Generator, shared: bool, components: int
) -> None:
    std = rng.uniform(0.1, 3, size=(N, D))
    X = GaussianArray(truth + std * rng.normal(size=(N, D)), std=std)
    model = GaussianDiscriminant(shared, components, priors=[1, 2, 1], tol=1e-4, random_state=0).fit(
        X, labels
    )
    joint = np.array(
        [
            [
                prior
                * sum(
                    w * multivariate_normal.pdf(x, m, t + np.diag(s**2))
                    for w, m, t in zip(*parts, strict=True)
                )
                for prior, *parts in zip(
                    model.priors_, model.weights_, model.means_, model.covariances_, strict=True
                )
            ]
            for x, s in zip(X.means[:40], std[:40], strict=True)
        ]
    )
    assert_allclose(model.priors_, [0.25, 0.5, 0.25])
    assert_allclose(model.predict_proba(X[:40]), joint / joint.sum(axis=1, keepdims=True), atol=1e-10)
    assert_array_equal(model.predict(X[:40]), model.classes_[joint.argmax(axis=1)])
    assert np.all(np.diff(model.log_likelihoods_) >= 0)
    assert_allclose(model.decision_function(X), model.predict_log_proba(X))


def simulated(n: int, by_class: float, seed: int) -> tuple[GaussianArray, np.ndarray]:
    """Two classes 0.8 apart in 4 features; class 1 has noise `by_class` times as large."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    std = np.where(y[:, None] == 1, by_class, 1.0) * np.exp(0.7 * rng.normal(size=(n, 4)))
    z = rng.normal(size=(n, 4)) + 0.8 * y[:, None]
    return GaussianArray(z + std * rng.normal(size=(n, 4)), std=std), y


def test_probabilities_are_calibrated() -> None:
    """Of the rows given p, a share p is of class 1, whatever their noise."""
    (X, y), (new, truth) = simulated(2000, 1.0, 1), simulated(8000, 1.0, 2)
    probabilities = GaussianDiscriminant().fit(X, y).predict_proba(new)[:, 1]
    for low, high in ((0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1.0)):
        inside = (probabilities >= low) & (probabilities < high)
        share, error = truth[inside].mean(), 0.5 / np.sqrt(inside.sum())
        assert abs(share - probabilities[inside].mean()) < 3 * error + 0.02


def test_finds_the_true_values_where_the_noise_depends_on_the_class() -> None:
    X, y = simulated(4000, 4.0, 3)
    model = GaussianDiscriminant().fit(X, y)
    assert_allclose(model.covariances_[0, 0], np.eye(4), atol=0.15)
    assert_allclose(model.means_[:, 0], [[0.0] * 4, [0.8] * 4], atol=0.25)
    exact = GaussianArray([[0.0] * 4, [0.8] * 4])
    assert_array_equal(model.predict(exact), [0, 1])


def test_binary_scores_and_far_rows(truth: np.ndarray, labels: np.ndarray) -> None:
    y = labels == "a"
    model = GaussianDiscriminant().fit(truth, y)
    log = model.predict_log_proba(truth)
    assert_allclose(model.decision_function(truth), log[:, 1] - log[:, 0])
    far = model.predict_log_proba(truth * 1e3)
    assert np.all(np.isfinite(far)) and np.min(far) < -1e3


def test_weights_without_a_share_are_refused(truth: np.ndarray, labels: np.ndarray) -> None:
    weights = np.where(labels == "b", 1e-300, 1e300)
    with pytest.raises(UncertainError, match=r"class 1 .* no number; pass priors"):
        GaussianDiscriminant().fit(truth, labels, sample_weight=weights)
    weights = np.where(np.arange(N) % 2, 1e-300, 1e300)
    model = GaussianDiscriminant().fit(GaussianArray(truth, std=0.3), labels, sample_weight=weights)
    assert np.isfinite(model.decision_function(truth)).all()
