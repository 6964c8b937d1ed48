"""Rows of several Gaussians that are read again with other errors, and their skewness as columns."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import skew
from test_mixture_array import fold, mixtures, rows_of

import uncertain
from uncertain import (
    ErrorColumns,
    GaussianArray,
    Incomplete,
    MixtureArray,
    RemeasuredClassifier,
    RemeasuredRegressor,
)
from uncertain.preprocessing._readings import Readings, TruthOfTargets, drawn_components
from uncertain.uncertainty import from_bounds


def test_skewness_is_that_of_sums_over_components() -> None:
    X = mixtures(n=40, d=3)
    of_row = rows_of(X)
    s2 = np.diagonal(X.components.covariances(), axis1=1, axis2=2)
    off = X.components.means - X.means[of_row]
    variance = fold(X, s2 + off**2)
    expected = fold(X, off**3 + 3 * off * s2) / variance**1.5
    columns = ErrorColumns("skewness").fit(X)
    np.testing.assert_allclose(columns.transform(X)[:, 6:], expected, rtol=1e-12, atol=1e-15)
    assert list(columns.get_feature_names_out()[6:]) == ["skewness_x0", "skewness_x1", "skewness_x2"]
    moments = X.collapse("gaussian")
    np.testing.assert_array_equal(columns.transform(moments)[:, 6:], 0.0)
    np.testing.assert_array_equal(columns.transform(moments)[:, :6], columns.transform(X)[:, :6])
    missing = np.zeros(X.shape, dtype=bool)
    missing[0, 1] = True
    found = columns.transform(Incomplete(X, missing))
    np.testing.assert_array_equal(np.argwhere(np.isnan(found)), [[0, 1], [0, 4], [0, 7]])
    points = MixtureArray(X.weights, X.components.means, offsets=X.offsets)  # draws as they are
    assert (ErrorColumns().fit_transform(points)[2, 3:] > -2).all()


@pytest.mark.usefixtures("few_trees")
def test_trees_see_skewness_and_files_keep_it(tmp_path: Path) -> None:
    """Two classes whose rows differ in nothing but which of their arms is the longer one."""
    random = np.random.default_rng(2)
    n = 240
    y = np.arange(n) % 2
    long = np.where(y == 1, 1.2, 0.3)[:, None]
    short = np.where(y == 1, 0.3, 1.2)[:, None]
    x = random.normal(size=(n, 1)) + (short - long) * np.sqrt(2 / np.pi)  # the means are alike
    X = from_bounds(x - short, x + long, value=x, rule="shape")
    model = RemeasuredClassifier(n_copies=2, n_trees=20, n_learners=2, random_state=0).fit(X, y)
    assert model.error_columns_.columns == "skewness"
    assert (model.predict(X) == y).mean() > 0.95
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    whole = uncertain.fit(X, y, method="remeasured", meaning="measurement")
    whole.save(tmp_path / "model")
    loaded = uncertain.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(model._steps()[0].predict_proba(X._core), model.predict_proba(X), rtol=1e-10)
    gaps = np.zeros((n, 1), dtype=bool)
    gaps[::9] = True
    some = Incomplete(X, gaps)
    np.testing.assert_allclose(
        model._steps()[0].predict_proba((X._core, gaps)), model.predict_proba(some), rtol=1e-10
    )
    regressor = RemeasuredRegressor(n_copies=2, n_trees=5, n_learners=1, random_state=0).fit(X, x[:, 0])
    assert np.corrcoef(regressor.predict(X), x[:, 0])[0, 1] > 0.7


def test_draws_as_they_are_have_error_bars() -> None:
    """Components without covariances: what is uncertain is which one is true."""
    random = np.random.default_rng(4)
    y = np.arange(80) % 2
    draws = (y + random.normal(0, 0.4, 80))[:, None, None] + random.normal(0, 0.5, (80, 5, 1))
    X = MixtureArray(np.full((80, 5), 0.2), draws)
    assert X.kind == "zero"
    trees = RemeasuredClassifier(n_copies=3, n_trees=5, n_learners=1, random_state=0).fit(X, y)
    assert trees.factors_[1] > 1.0


def test_trees_of_a_file_tell_tiny_errors_apart() -> None:
    """As those of scikit-learn do, down to 1e-9 of the spread of a feature."""
    random = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = GaussianArray(random.normal(size=(200, 1)), std=np.where(y == 1, 1e-7, 1e-5)[:, None])
    model = RemeasuredClassifier(n_copies=2, n_trees=10, n_learners=1, factors=(1, 2), random_state=0).fit(
        X, y
    )
    assert (model.predict(X) == y).all()
    np.testing.assert_allclose(model._steps()[0].predict_proba(X._core), model.predict_proba(X), rtol=1e-10)


N_COPIED = 100_000


def skewed_readings(n: int = N_COPIED, d: int = 2) -> tuple[MixtureArray, np.ndarray]:
    """Readings whose errors have arms 1 : 3, and the true values."""
    random = np.random.default_rng(0)
    z = random.normal(size=(n, d))
    law = from_bounds(np.full((1, d), -0.3), np.full((1, d), 0.9), value=np.zeros((1, d)), rule="shape")
    own = law.components
    c = random.choice(len(own), p=law.weights, size=n)
    offsets = own.means - law.means  # of z about the reading, so that errors are mirrored
    noise = np.sqrt(np.diagonal(own.covariances(), axis1=1, axis2=2))
    x = z - offsets[c] - noise[c] * random.normal(size=(n, d))
    means = x[:, None] + offsets
    return MixtureArray(np.tile(law.weights, (n, 1)), means, std=np.broadcast_to(noise, means.shape)), z


def test_one_component_is_drawn_by_its_weight() -> None:
    X = mixtures(n=60, most=3)
    random = np.random.RandomState(0)
    drawn = np.array([drawn_components(X, random) for _ in range(4000)])
    assert (drawn >= X.offsets[:-1]).all() and (drawn < X.offsets[1:]).all()
    counts = np.bincount(drawn.ravel(), minlength=len(X.components)) / 4000
    np.testing.assert_allclose(counts, X.weights, atol=5 * np.sqrt(0.25 / 4000))


def third(x: np.ndarray) -> np.ndarray:
    """The third central moment of every column."""
    return ((x - x.mean(axis=0)) ** 3).mean(axis=0)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_copies_are_distributed_as_readings_with_other_errors(factor: float, full: bool) -> None:
    """Like z + f e: variances and third moments of true values and errors add up."""
    X, z = skewed_readings()
    if full:
        parts = GaussianArray(X.components.means, cov=X.components.covariances())
        X = MixtureArray(X.weights, parts, offsets=X.offsets)
    random = np.random.RandomState(1)
    nothing = np.random.default_rng(5).normal(size=N_COPIED)  # targets that say nothing
    truth = TruthOfTargets(X, nothing, None, 1, random).posterior(X, nothing)
    copy = Readings(X, random, truth).again(np.full((N_COPIED, 2), factor))
    assert isinstance(copy, MixtureArray)
    error = X.means - z
    assert (skew(error) < -0.6).all()
    np.testing.assert_allclose(copy.means.var(axis=0), 1 + factor**2 * error.var(axis=0), rtol=0.03)
    np.testing.assert_allclose(third(copy.means), factor**3 * third(error), rtol=0.12, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(copy.means.T)[0, 1], 0.0, atol=0.02)
    # What the copy says of itself.
    np.testing.assert_allclose(copy.weights, X.weights)
    std = [np.sqrt(np.diagonal(own[:50].covariances(), axis1=1, axis2=2)) for own in (X, copy)]
    np.testing.assert_allclose(std[1], factor * std[0], rtol=1e-9)
    np.testing.assert_allclose(copy[:50]._skewness(), X[:50]._skewness(), rtol=1e-9)


@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_copies_go_with_their_targets(factor: float) -> None:
    """Where the target is the true value, x' - z has f times the errors, with their skewness."""
    X, z = skewed_readings(d=1)
    random = np.random.RandomState(1)
    truth = TruthOfTargets(X, z[:, 0], None, 1, random).posterior(X, z[:, 0])
    copy = Readings(X, random, truth).again(np.full((N_COPIED, 1), factor))
    before, after = X.means - z, copy.means - z
    np.testing.assert_allclose(after.std(axis=0), factor * before.std(axis=0), rtol=0.02)
    np.testing.assert_allclose(skew(after), skew(before), atol=0.05)
