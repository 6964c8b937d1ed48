"""GaussianDenoiser and GaussianImputer: EM against NumPy, posteriors, gaps, certificates, searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from catalogues import KINDS, of_kind
from conftest import random_covariances
from numpy.testing import assert_allclose, assert_array_equal
from oracles import log_likelihood, log_mixture
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.impute import SimpleImputer

import uncertain
from uncertain import GaussianArray, GaussianDenoiser, GaussianImputer, Incomplete
from uncertain.exceptions import ParameterError, UncertainError

N, D = 120, 3


def numpy_em(X: GaussianArray, mixture: Any, steps: int) -> Any:
    """EM as Bovy, Hogg and Roweis write it, on stacks of matrices."""
    x, s = X.means, X.covariances()
    for _ in range(steps):
        logs, posts = log_mixture(X, *mixture), []
        for m, t in zip(*mixture[1:], strict=True):
            gain = t @ np.linalg.inv(t + s)
            posts.append((m + np.einsum("nij,nj->ni", gain, x - m), t - gain @ t))
        q = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        means = [np.average(b, axis=0, weights=p) for (b, _), p in zip(posts, q.T, strict=True)]
        squares = [(b - m)[:, :, None] * (b - m)[:, None] + c for (b, c), m in zip(posts, means, strict=True)]
        covariances = [np.average(each, axis=0, weights=p) for each, p in zip(squares, q.T, strict=True)]
        mixture = q.mean(axis=0), np.stack(means), np.stack(covariances)
    return mixture


@pytest.fixture(params=KINDS)
def readings(request: pytest.FixtureRequest, rng: np.random.Generator) -> GaussianArray:
    x = rng.normal(size=(N, D)) * [1, 10, 0.1] + [0, 100, 5] * rng.integers(0, 2, size=(N, 1))
    return of_kind(request.param, x, rng)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("k", [1, 2])
def test_agrees_with_numpy(readings: GaussianArray, k: int) -> None:
    def fit(steps: int) -> GaussianDenoiser:
        return GaussianDenoiser(k, tol=0, max_iter=steps, acceleration=None, random_state=3).fit(readings)

    first, last = fit(2), fit(8)
    if last.n_iter_ < 8:
        assert last.status_ == "converged"  # exact rows under one Gaussian: nothing left to do
    start = (first.weights_, first.means_, first.covariances_)
    weights, means, covariances = numpy_em(readings, start, 6)
    assert_allclose(last.weights_, weights, rtol=1e-8)
    assert_allclose(last.means_, means, rtol=1e-8, atol=1e-8)
    scale = np.sqrt(np.einsum("kii,kjj->kij", covariances, covariances))
    assert np.max(np.abs(last.covariances_ - covariances) / scale) < 1e-8
    assert np.all(np.diff(last.log_likelihoods_) >= 0)
    logs = log_likelihood(readings, last.weights_, last.means_, last.covariances_)
    assert_allclose(last.score_samples(readings), logs, rtol=1e-10)
    assert_allclose(last.score(readings), last.log_likelihoods_[-1], rtol=1e-12)


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


def test_posteriors_are_honest() -> None:
    """True values lie where the posterior says: standardised errors are standard normal."""
    rng = np.random.default_rng(5)
    n, d = 4000, 3
    root = rng.normal(size=(d, d))
    centre = np.where(rng.random((n, 1)) < 0.3, 3.0, -1.0)
    z = rng.normal(size=(n, d)) @ root.T + centre
    std = np.exp(rng.normal(size=(n, d)))
    X = GaussianArray(z + std * rng.normal(size=(n, d)), std=std)
    true = (np.array([0.3, 0.7]), np.array([[3.0] * d, [-1.0] * d]), np.stack([root @ root.T] * 2))
    # Under the true mixture only the luck of the draw is left; then what estimating it costs; then one
    # Gaussian instead of two, which is right on average only.
    for k, mixture, tolerance in ((2, true, 0.07), (2, None, 0.15), (1, None, 0.15)):
        model = GaussianDenoiser(k, tol=1e-5, random_state=0).fit(X)
        if mixture is not None:
            model._set(mixture)
        Z = model.transform(X)
        assert Z.kind == "full" and np.mean((Z.means - z) ** 2) < 0.5 * np.mean((X.means - z) ** 2)
        roots = np.linalg.cholesky(Z.covariances())
        errors = np.linalg.solve(roots, (z - Z.means)[..., None])[..., 0]
        assert_allclose(errors.T @ errors / n, np.eye(d), atol=tolerance)
        assert_allclose(errors.mean(axis=0), 0, atol=tolerance)


def test_kinds_and_exact_points(rng: np.random.Generator) -> None:
    x = rng.normal(size=(N, D))
    exact = GaussianDenoiser().fit_transform(GaussianArray(x))
    assert exact.kind == "zero"
    assert_array_equal(exact.means, x)
    assert GaussianDenoiser().fit_transform(x) == exact
    shared = GaussianArray(x, cov=random_covariances(rng, 1, D)[0])
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


def gaps(rng: np.random.Generator, x: np.ndarray, share: float = 0.3) -> np.ndarray:
    return np.where(rng.random(x.shape) < share, np.nan, x)


def test_standardised_errors_have_unit_variance_and_beat_column_means() -> None:
    rng = np.random.default_rng(3)
    n, d = 4000, 4
    z = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3
    x = gaps(rng, z, 0.25)
    missing = np.isnan(x)
    filled = GaussianImputer().fit_transform(x)
    variances = np.diagonal(filled.covariances(), axis1=1, axis2=2)
    assert_array_equal(filled.means[~missing], x[~missing])
    assert np.all(variances[~missing] == 0)
    errors = (z - filled.means)[missing] / np.sqrt(variances[missing])
    assert abs(errors.var() - 1) < 0.07 and abs(errors.mean()) < 0.05
    by_mean = SimpleImputer().fit_transform(x)
    assert np.mean((filled.means - z)[missing] ** 2) < 0.5 * np.mean((by_mean - z)[missing] ** 2)


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
