"""GaussianDiscriminant: the classical methods without noise, exact probabilities with it.
GaussianDiscriminant.decision_distribution: the score of an exact point z ~ N(x, S), against draws of z."""

from __future__ import annotations

import numpy as np
import pytest
from catalogues import KINDS, of_kind
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from uncertain import GaussianArray, GaussianDiscriminant, Incomplete, metrics
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


def simulated(n: int, by_class: float, seed: int) -> tuple[GaussianArray, np.ndarray]:
    """Two classes 0.8 apart in 4 features; class 1 has noise `by_class` times as large."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    std = np.where(y[:, None] == 1, by_class, 1.0) * np.exp(0.7 * rng.normal(size=(n, 4)))
    z = rng.normal(size=(n, 4)) + 0.8 * y[:, None]
    return GaussianArray(z + std * rng.normal(size=(n, 4)), std=std), y


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


DRAWS = 100_000


def fitted(
    n_classes: int, rng: np.random.Generator, *, shared: bool, components: int = 1, d: int = 3
) -> GaussianDiscriminant:
    y = np.arange(240) % n_classes
    centres = rng.normal(size=(n_classes, d))
    scale = 1 + 0.4 * y[:, None] * (not shared)
    x = scale * (rng.normal(size=(240, d)) @ (rng.normal(size=(d, d)) + np.eye(d))) + 1.5 * centres[y]
    if components > 1:
        x[::3] += 2.5
    return GaussianDiscriminant(shared, components, priors=1 + np.arange(n_classes), random_state=0).fit(x, y)


def drawn(model: GaussianDiscriminant, row: GaussianArray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    scores = model.decision_function(row.sample(DRAWS, seed))
    return scores.mean(axis=0), scores.std(axis=0)


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("shared", [True, False])
def test_two_classes_in_closed_form(kind: str, shared: bool, rng: np.random.Generator) -> None:
    """No tolerance for a rule: a quadratic form's moments by dense formulas, and by draws."""
    model = fitted(2, rng, shared=shared)
    X = of_kind(kind, 2 * rng.normal(size=(5, 3)), rng)
    mean, std = model.decision_distribution(X)
    assert mean.shape == std.shape == (5,)
    p = np.linalg.inv(model.covariances_[:, 0])
    a = 0.5 * (p[0] - p[1])
    for i, s in enumerate(X.covariances()):
        off = X.means[i] - model.means_[:, 0]
        gradient = p[0] @ off[0] - p[1] @ off[1]
        exact = model.decision_function(X.means[i : i + 1])[0]
        assert mean[i] == pytest.approx(exact + np.trace(a @ s), rel=1e-10, abs=1e-10)
        variance = gradient @ s @ gradient + 2 * np.trace(a @ s @ a @ s)
        assert std[i] == pytest.approx(np.sqrt(variance), rel=1e-9)
        centre, spread = drawn(model, X[i : i + 1], i)
        assert abs(mean[i] - centre) < 5 * std[i] / np.sqrt(DRAWS)
        assert std[i] == pytest.approx(spread, rel=0.02)


@pytest.mark.parametrize("kind", ["diagonal", "low-rank and diagonal", "full", "shared"])
@pytest.mark.parametrize(("n_classes", "components"), [(3, 1), (2, 2), (4, 2)])
@pytest.mark.parametrize("shared", [True, False])
def test_points_agree_with_draws(
    kind: str, n_classes: int, components: int, shared: bool, rng: np.random.Generator
) -> None:
    """To 2 % of the largest deviation among a row's scores; draws themselves are right to 0.3 % or so.

    Of the largest: log P of a class that is all but certain is 0 but for a few draws, which then make up its
    deviation, small as it is.
    """
    model = fitted(n_classes, rng, shared=shared, components=components)
    X = of_kind(kind, 2 * rng.normal(size=(4, 3)), rng)
    mean, std = model.decision_distribution(X)
    assert mean.shape == std.shape == ((4,) if n_classes == 2 else (4, n_classes))
    for i in range(4):
        centre, spread = drawn(model, X[i : i + 1], i)
        assert np.all(np.abs(mean[i] - centre) < 0.02 * np.max(spread))
        assert np.all(np.abs(std[i] - spread) < 0.02 * np.max(spread))
    again = model.decision_distribution(X[2:])
    assert_array_equal(again[0], mean[2:])
    assert_array_equal(again[1], std[2:])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("n_classes", "components"), [(2, 1), (3, 1), (2, 3)])
def test_without_noise_it_is_the_score(
    shared: bool, n_classes: int, components: int, rng: np.random.Generator
) -> None:
    model = fitted(n_classes, rng, shared=shared, components=components)
    x = 3 * rng.normal(size=(6, 3))
    for exact in (x, GaussianArray(x), GaussianArray(x, std=np.zeros(6))):
        mean, std = model.decision_distribution(exact)
        assert_array_equal(mean, model.decision_function(x))
        assert not std.any()
    # And nearly so with little of it: the deviation falls with the noise, the mean with its square.
    tiny = model.decision_distribution(GaussianArray(x, std=1e-6))
    small = model.decision_distribution(GaussianArray(x, std=1e-5))
    assert_allclose(small[1], 10 * tiny[1], rtol=1e-4)
    assert_allclose(small[0], model.decision_function(x), atol=1e-8)


def test_it_differs_from_the_integrated_score(rng: np.random.Generator) -> None:
    """A vague row: the score that integrates is the priors', the mean of the exact score stays where x is."""
    x = np.array([[2.0, 0.0]])
    y = np.arange(200) % 2
    model = GaussianDiscriminant().fit(rng.normal(size=(200, 2)) + 2 * y[:, None], y)
    vague = GaussianArray(x, std=1e3)
    mean, std = model.decision_distribution(vague)
    assert abs(model.decision_function(vague)[0]) < 1e-3
    assert mean[0] == pytest.approx(model.decision_function(x)[0]) and std[0] > 1e3
    # A linear score is Gaussian, so that its mean and deviation give the probability of the other class.
    row = GaussianArray(x, std=1.0)
    mean, std = model.decision_distribution(row)
    wrong = (model.predict(row.sample(DRAWS, 0)) != 1).mean()
    assert ndtr(-mean[0] / std[0]) == pytest.approx(wrong, abs=0.005)
    assert metrics.mpe(model, row, [1]) >= wrong


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("n_classes", "components"), [(2, 1), (3, 1), (2, 2)])
def test_gaps_stay_gaps(shared: bool, n_classes: int, components: int, rng: np.random.Generator) -> None:
    model = fitted(n_classes, rng, shared=shared, components=components)
    X = of_kind("full", 2 * rng.normal(size=(8, 3)), rng)
    missing = np.zeros(X.shape, dtype=bool)
    missing[0, 1] = missing[1, 0] = missing[2, :2] = missing[3, 1] = True
    missing[4] = True
    mean, std = model.decision_distribution(Incomplete(X, missing))
    # The same model on the features that are there.
    for i in range(8):
        known = np.flatnonzero(~missing[i])
        gappy = Incomplete(X[i : i + 1].collapse("zero"), missing[i : i + 1])
        if known.size == 0:
            assert_array_equal(mean[i], model.decision_function(gappy)[0])
            assert not np.any(std[i])
            continue
        smaller = GaussianDiscriminant(shared, components)
        smaller.classes_, smaller.n_features_in_ = model.classes_, known.size
        joint, means, covariances = model._mixture()
        smaller._set((joint, means[:, known], covariances[:, known[:, None], known]))
        row = GaussianArray(X.means[i : i + 1, known], cov=X.covariances()[i : i + 1, known[:, None], known])
        centre, spread = drawn(smaller, row, i)
        assert np.all(np.abs(mean[i] - centre) < 0.02 * spread)
        assert_allclose(std[i], spread, rtol=0.03)


def test_many_features_and_few_classes_are_cheap_and_right() -> None:
    """One T for all: points are needed in as many dimensions as there are other classes."""
    rng = np.random.default_rng(3)
    d = 120
    y = np.arange(600) % 3
    x = rng.normal(size=(600, d)) + 0.15 * rng.normal(size=(3, d))[y]
    model = GaussianDiscriminant().fit(x, y)
    X = GaussianArray(x[:2], std=rng.uniform(0.2, 1, size=(2, d)))
    mean, std = model.decision_distribution(X)
    for i in range(2):
        scores = model.decision_function(X[i : i + 1].sample(20_000, i))
        assert np.all(np.abs(mean[i] - scores.mean(axis=0)) < 0.04 * scores.std(axis=0))
        assert_allclose(std[i], scores.std(axis=0), rtol=0.04)
