"""Distributions of true values: GaussianDiscriminant, GaussianDenoiser against NumPy, draws, scikit-learn."""

from typing import Any

import numpy as np
import pytest
from catalogues import KINDS, of_kind
from conftest import random_covariances
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import uncertain
from uncertain import (
    GaussianArray,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianImputer,
    Incomplete,
)
from uncertain.exceptions import ParameterError, UncertainError

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


N_OF_DENOISER, D_OF_DENOISER = 120, 3


@pytest.mark.parametrize("k", [1, 2])
def test_extrapolation_climbs_as_high_in_fewer_iterations(k: int) -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)) + 2 * rng.integers(0, 2, size=(400, 1))
    std = 4 * rng.uniform(0.3, 1.5, size=z.shape)
    X = GaussianArray(z + std * rng.normal(size=z.shape), std=std)
    plain = GaussianDenoiser(k, tol=1e-8, max_iter=20_000, acceleration=None, random_state=0).fit(X)
    fast = GaussianDenoiser(k, tol=1e-8, max_iter=20_000, random_state=0).fit(X)
    assert plain.status_ == fast.status_ == "converged"
    assert np.all(np.diff(fast.log_likelihoods_) >= 0)
    assert fast.log_likelihoods_[-1] >= plain.log_likelihoods_[-1] - 1e-7
    assert fast.n_iter_ < plain.n_iter_ / 2
    assert len(fast.log_likelihoods_) <= fast.n_iter_ + 1
    assert len(plain.log_likelihoods_) == plain.n_iter_ + 1


def test_few_columns_stay_few() -> None:
    rng = np.random.default_rng(3)
    x, factor = rng.normal(size=(50, 12)), rng.normal(size=(50, 12, 2))
    thin, full = GaussianArray(x, factor=factor), GaussianArray(x, cov=factor @ factor.swapaxes(1, 2))
    model = GaussianDenoiser(random_state=0).fit(full)
    again = GaussianDenoiser(random_state=0).fit(thin)
    assert_allclose(again.log_likelihoods_, model.log_likelihoods_, rtol=1e-9)
    out, expected = model.transform(thin), model.transform(full)
    assert out.kind == "low-rank" and expected.kind == "full"
    assert_allclose(out.means, expected.means, rtol=1e-10, atol=1e-10)
    assert_allclose(out.covariances(), expected.covariances(), rtol=1e-10, atol=1e-10)


def test_kinds_and_exact_points(rng: np.random.Generator) -> None:
    x = rng.normal(size=(N_OF_DENOISER, D_OF_DENOISER))
    exact = GaussianDenoiser().fit_transform(GaussianArray(x))
    assert exact.kind == "zero"
    assert_array_equal(exact.means, x)
    assert GaussianDenoiser().fit_transform(x) == exact
    shared = GaussianArray(x, cov=random_covariances(rng, 1, D_OF_DENOISER)[0])
    assert GaussianDenoiser().fit_transform(shared).kind == "shared"


def test_number_of_components_by_held_out_likelihood() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(600, 2)) + 6 * rng.integers(0, 2, size=(600, 1))
    X = GaussianArray(z + 0.5 * rng.normal(size=z.shape), std=0.5)
    model = GaussianDenoiser("auto", tol=1e-4, random_state=0).fit(X)
    held_out = model.held_out_log_likelihoods_
    assert model.n_components_ == 2 == 1 + np.argmax(held_out) and len(held_out) == 4
    again = clone(model).fit(X)
    assert_array_equal(again.means_, model.means_)


def wide(n: int, d: int, seed: int) -> tuple[Any, Any, Any]:
    """True values that vary in five directions and each by itself, standard errors, and classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    loadings = np.random.default_rng(7).normal(size=(5, d))
    truth = 0.6 * rng.normal(size=(n, 5)) @ loadings + 0.5 * rng.normal(size=(n, d)) + 0.5 * y[:, None]
    return truth, rng.uniform(0.1, 1.5, (n, d)), y


def test_few_rows_get_few_directions_and_posteriors_by_definition(rng: np.random.Generator) -> None:
    truth, std, _ = wide(60, 80, 1)
    x = truth + std * rng.normal(size=std.shape)
    x[3, 5:9] = np.nan
    gappy = Incomplete(GaussianArray(np.nan_to_num(x), std=std), np.isnan(x))
    denoiser = GaussianDenoiser().fit(gappy)
    posterior = denoiser.transform(gappy)
    assert posterior.kind == "low-rank"
    mean, t = denoiser.means_[0], denoiser.covariances_[0]
    covariances = posterior.covariances()
    for i in (0, 3, 59):
        seen = ~np.isnan(x[i])
        gain = t[:, seen] @ np.linalg.inv(t[np.ix_(seen, seen)] + np.diag(std[i, seen] ** 2))
        assert_allclose(posterior.means[i], mean + gain @ (x[i, seen] - mean[seen]), rtol=1e-8, atol=1e-8)
        assert_allclose(covariances[i], t - gain @ t[seen], rtol=1e-8, atol=1e-8)
    logs = denoiser.score_samples(gappy)
    expected = multivariate_normal.logpdf(x[0], mean, t + np.diag(std[0] ** 2))
    assert_allclose(logs[0], expected, rtol=1e-9)


def test_few_directions_know_more_of_new_rows_than_all_of_them() -> None:
    truth, std, _ = wide(160, 80, 2)
    x = truth + std * np.random.default_rng(3).normal(size=std.shape)
    few = GaussianDenoiser().fit(GaussianArray(x[:75], std=std[:75]))
    # Full matrices keep the covariance of all features: that of plain EM.
    every = np.stack([np.diag(s**2) for s in std])
    full = GaussianDenoiser().fit(GaussianArray(x[:75], cov=every[:75]))
    assert few.n_iter_ < 150
    new = GaussianArray(x[75:], std=std[75:])
    assert few.score(new) > full.score(new) + 5.0
    off = [((d.transform(new).means - truth[75:]) ** 2).mean() for d in (few, full)]
    assert off[0] < 0.9 * off[1]


def test_many_features_end_with_a_certificate_in_few_passes() -> None:
    """60 rows of 400 features once took minutes; the work is counted, not the seconds."""
    truth, std, y = wide(60, 400, 4)
    X = GaussianArray(truth + std * np.random.default_rng(5).normal(size=std.shape), std=std)
    model = uncertain.fit(X, y, method="gsu", meaning="measurement", task="classification")
    denoiser, _, gsu = (step for _, step in model.pipeline_.steps[-3:])
    assert denoiser.n_iter_ < 150
    assert denoiser.transform(X).kind == "low-rank"
    assert gsu.n_iter_ < 50
    assert gsu.optimality_gap_ <= 1e-6
    again = uncertain.fit(X, y, method="gsu", meaning="measurement", task="classification")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_per_class(rng: np.random.Generator) -> None:
    y = rng.integers(0, 2, size=600)
    z = rng.normal(size=(600, 2)) + 8 * y[:, None]
    x = z.copy()
    x[::2, 1] = np.nan
    one = GaussianImputer().fit(x, y)
    two = GaussianImputer(per_class=True).fit(x, y)
    assert len(one.weights_) == 1 and len(two.weights_) == 2
    assert_allclose(two.means_, [[0, 0], [8, 8]], atol=0.4)
    assert two.log_likelihoods_[-1] > one.log_likelihoods_[-1]
    # The first feature tells the class, and the class the second; its own covariance is none.
    filled = two.transform(x)
    assert np.mean((filled.means - z)[::2, 1] ** 2) < 1.2
    assert filled.kind == "diagonal"
    with pytest.raises(ValueError, match="requires y"):
        GaussianImputer(per_class=True).fit(x)
    with pytest.raises(ParameterError, match="per_class"):
        GaussianImputer("auto", per_class=True).fit(x, y)


def test_nothing_missing_changes_nothing(rng: np.random.Generator) -> None:
    X = GaussianArray(rng.normal(size=(30, 2)), std=rng.uniform(0.1, 1, size=(30, 2)))
    assert GaussianImputer().fit_transform(X) == X
    with pytest.raises(UncertainError, match="feature 1 is missing in every row"):
        GaussianImputer().fit(np.column_stack([X.means[:, 0], np.full(30, np.nan)]))
