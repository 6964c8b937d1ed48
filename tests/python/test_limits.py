"""Limits ("flux < 3.2") in features and targets: the estimators, against SciPy and Monte Carlo."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, truncnorm

import uncertain
from uncertain import (
    GaussianArray,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianMixtureRegressor,
    Incomplete,
)
from uncertain.exceptions import UncertainError

TRUTH = np.array([[1.0, 0.6, -0.3], [0.6, 2.0, 0.2], [-0.3, 0.2, 0.7]])
CENTRE = np.array([0.5, -1.0, 2.0])


def denoiser(components: int = 1) -> GaussianDenoiser:
    """One that knows its mixture."""
    shares = np.full(components, 1.0 / components)
    means = CENTRE + 3.0 * np.arange(components)[:, None]
    return GaussianDenoiser()._set((shares, means, np.repeat(TRUTH[None], components, axis=0)))


def one_row(limits: list[int], std: tuple[float, ...] = (0.3, 0.5, 0.2)) -> Incomplete:
    return Incomplete.from_arrays([[0.9, -0.4, 1.2]], std=[std], limits=[limits])


def test_one_limit_is_the_truncated_normal_of_scipy() -> None:
    row = one_row([0, -1, 0])
    noise = np.diag([0.3, 0.5, 0.2]) ** 2
    total, x = TRUTH + noise, np.array([0.9, -0.4, 1.2])
    read = [0, 2]
    gain = total[1, read] @ np.linalg.inv(total[np.ix_(read, read)])
    centre = CENTRE[1] + gain @ (x[read] - CENTRE[read])
    std = np.sqrt(total[1, 1] - gain @ total[read, 1])
    below = truncnorm(-np.inf, (x[1] - centre) / std, loc=centre, scale=std)
    # E[z] is linear in the reading u, and Cov[z] has the variance of u on top.
    by_reading = TRUTH @ np.linalg.inv(total)
    expected = CENTRE + by_reading @ (np.array([x[0], below.mean(), x[2]]) - CENTRE)
    covariance = TRUTH - by_reading @ TRUTH + below.var() * np.outer(by_reading[:, 1], by_reading[:, 1])
    found = denoiser().transform(row)
    np.testing.assert_allclose(found.means[0], expected, rtol=1e-10)
    np.testing.assert_allclose(found.covariances()[0], covariance, rtol=1e-10)
    log = multivariate_normal(CENTRE[read], total[np.ix_(read, read)]).logpdf(x[read])
    log += norm.logcdf((x[1] - centre) / std)
    assert denoiser().score_samples(row)[0] == pytest.approx(log, rel=1e-12)


def drawn(limits: list[int], components: int, n: int = 1_500_000) -> tuple[np.ndarray, np.ndarray]:
    """True values whose readings are as the row says: weights for what was read, and the sides."""
    rng = np.random.default_rng(3)
    x, noise = np.array([0.9, -0.4, 1.2]), np.array([0.3, 0.5, 0.2])
    component = rng.integers(components, size=n)
    z = rng.multivariate_normal(CENTRE, TRUTH, size=n) + 3.0 * component[:, None]
    weight = np.ones(n)
    for j, limit in enumerate(limits):
        if limit:
            weight *= np.sign(z[:, j] + noise[j] * rng.normal(size=n) - x[j]) == limit
        else:
            weight *= norm.pdf(x[j], z[:, j], noise[j])
    return z, weight


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("limits", [[0, -1, 0], [1, 0, 0], [-1, 0, 1], [-1, -1, 1], [1, -1, 0]])
def test_posteriors_are_those_of_draws(limits: list[int], components: int) -> None:
    z, weight = drawn(limits, components)
    p, count = weight.mean(), weight.sum() ** 2 / (weight**2).sum()
    mean = weight @ z / weight.sum()
    covariance = (z - mean).T @ ((z - mean) * weight[:, None]) / weight.sum()
    model, row = denoiser(components), one_row(limits)
    found, std = model.transform(row), np.sqrt(np.diag(covariance))
    several = np.count_nonzero(limits) > 1  # by expectation propagation, which is not exact
    of_log = 0.02 if several else 5 / np.sqrt(count)
    assert model.score_samples(row)[0] == pytest.approx(np.log(p), abs=of_log)
    assert count > 2000
    np.testing.assert_allclose(
        (found.means[0] - mean) / std, 0.0, atol=0.03 if several else 5 / np.sqrt(count)
    )
    scale = np.outer(std, std)
    np.testing.assert_allclose(
        (found.covariances()[0] - covariance) / scale, 0.0, atol=0.05 if several else 8 / np.sqrt(count)
    )


def censored(n: int, limits_per_row: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x (n, 2) with noise, y = 2 x0 - x1 + 0.3 e, detection limits of both: values, stds, flags, y."""
    rng = np.random.default_rng(11)
    z = rng.multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 1.5]], size=n)
    y = 2.0 * z[:, 0] - z[:, 1] + 0.3 * rng.normal(size=n)
    std = rng.uniform(0.2, 0.5, size=z.shape)
    x = z + std * rng.normal(size=z.shape)
    least = np.array([0.0, 0.4])
    flags = np.where(x < least, -1, 0).astype(np.int8)
    if limits_per_row == 1:
        flags[flags.all(axis=1), 1] = 0
    return np.where(flags, least, x), std, flags, y


@pytest.mark.parametrize("most", [1, 2])
def test_slopes_on_censored_features_are_unbiased(most: int) -> None:
    x, std, flags, y = censored(8000, most)
    assert 0.3 < np.mean(flags.any(axis=1)) < 0.7
    model = GaussianMixtureRegressor().fit(Incomplete.from_arrays(x, std=std, limits=flags), y, y_std=0.0)
    truth = np.array([2.0, -1.0])
    assert np.all(np.abs(model.coef_ - truth) < 3.5 * model.coef_std_), (model.coef_, model.coef_std_)
    assert abs(model.intercept_) < 3.5 * model.intercept_std_
    assert model.intrinsic_scatter_ == pytest.approx(0.3, abs=4 * model.intrinsic_scatter_std_)
    assert np.all(model.coef_std_ < 0.05)
    assert all(b >= a for a, b in pairwise(model.log_likelihoods_))
    as_values = GaussianMixtureRegressor().fit(GaussianArray(x, std=std), y, y_std=0.0)
    assert np.max(np.abs(as_values.coef_ - truth)) > 0.1
    gaps = GaussianMixtureRegressor().fit(
        Incomplete.from_arrays(np.where(flags, np.nan, x), std=std), y, y_std=0.0
    )
    assert np.max(np.abs(gaps.coef_ - truth)) > 0.05  # what is below a limit is not missing at random


def test_predictions_given_a_limit_are_those_of_draws() -> None:
    x, std, flags, y = censored(8000)
    model = GaussianMixtureRegressor().fit(Incomplete.from_arrays(x, std=std, limits=flags), y, y_std=0.0)
    row = Incomplete.from_arrays([[0.3, 0.8]], std=[[0.4, 0.3]], limits=[[-1, 0]])
    rng = np.random.default_rng(5)
    joint = rng.multivariate_normal(model.means_[0], model.covariances_[0], size=3_000_000)
    side = joint[:, 0] + 0.4 * rng.normal(size=len(joint)) < 0.3
    weight = side * norm.pdf(0.8, joint[:, 1], 0.3)
    mean = np.average(joint[:, 2], weights=weight)
    spread = np.sqrt(np.average((joint[:, 2] - mean) ** 2, weights=weight))
    found, found_std = model.predict(row, return_std=True)
    assert found[0] == pytest.approx(mean, abs=0.006)
    assert found_std[0] == pytest.approx(spread, rel=0.005)
    # A limit far above everything says nothing: a gap.
    nothing = Incomplete.from_arrays([[1e3, 0.8]], std=[[0.4, 0.3]], limits=[[-1, 0]])
    gap = Incomplete.from_arrays([[np.nan, 0.8]], std=[[0.4, 0.3]])
    np.testing.assert_allclose(
        model.predict(nothing, return_std=True), model.predict(gap, return_std=True), rtol=1e-9
    )


def test_limits_of_features_and_of_the_target_together_with_gaps() -> None:
    x, std, flags, y = censored(6000)
    rng = np.random.default_rng(1)
    gone = rng.uniform(size=x.shape) < 0.1
    y_read = y + 0.2 * rng.normal(size=len(y))
    y_limit = np.where(y_read > 1.5, 1, 0)
    rows = Incomplete.from_arrays(np.where(gone, np.nan, x), std=std, limits=flags)
    assert rows.missing.sum() == np.count_nonzero(gone | (flags != 0))
    model = GaussianMixtureRegressor().fit(rows, np.minimum(y_read, 1.5), y_std=0.2, y_limit=y_limit)
    assert np.all(np.abs(model.coef_ - [2.0, -1.0]) < 3.5 * model.coef_std_)
    assert abs(model.intercept_) < 3.5 * model.intercept_std_
    chosen = GaussianMixtureRegressor("auto", max_components=2, tol=1e-4)
    chosen.fit(rows[:1500], np.minimum(y_read, 1.5)[:1500], y_std=0.2, y_limit=y_limit[:1500])
    assert chosen.n_components_ in (1, 2) and np.isfinite(chosen.held_out_log_likelihoods_).all()
    with pytest.raises(UncertainError, match="every target is a limit"):
        GaussianMixtureRegressor().fit(rows, y, y_std=0.2, y_limit=np.ones(len(y)))


def test_the_denoiser_learns_the_distribution_behind_limits() -> None:
    x, std, flags, _ = censored(20_000, 2)
    model = GaussianDenoiser().fit(Incomplete.from_arrays(x, std=std, limits=flags))
    np.testing.assert_allclose(model.means_[0], [0.0, 1.0], atol=0.05)
    np.testing.assert_allclose(model.covariances_[0], [[1.0, 0.5], [0.5, 1.5]], atol=0.08)
    assert all(b >= a for a, b in pairwise(model.log_likelihoods_))
    naive = GaussianDenoiser().fit(GaussianArray(x, std=std))
    assert abs(naive.covariances_[0, 0, 0] - 1.0) > 0.3


def test_exact_readings_beside_a_limit_stay_exact() -> None:
    model = denoiser()
    row = Incomplete.from_arrays([[0.9, -0.4, 1.2]], limits=[[0, -1, 0]])
    found = model.transform(row)
    assert found.means[0, 0] == 0.9 and found.means[0, 2] == 1.2 and found.means[0, 1] < -0.4
    assert not found.covariances()[0, [0, 2]].any() and found.covariances()[0, 1, 1] > 0


@pytest.mark.parametrize("shared", [True, False])
def test_classes_given_a_limit(shared: bool) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=6000)
    z = rng.normal(size=(6000, 2)) + np.where(y[:, None] == 1, [1.5, 1.0], 0.0)
    x = z + 0.4 * rng.normal(size=z.shape)
    flags = np.where(x < [0.2, -5.0], -1, 0)
    rows = Incomplete.from_arrays(np.where(flags, 0.2, x), std=np.full(x.shape, 0.4), limits=flags)
    model = GaussianDiscriminant(shared_covariance=shared).fit(rows, y)
    np.testing.assert_allclose(model.means_[:, 0], [[0.0, 0.0], [1.5, 1.0]], atol=0.1)
    new = Incomplete.from_arrays([[0.2, 0.5]], std=[[0.4, 0.4]], limits=[[-1, 0]])
    joint = []
    for share, mean, cov in zip(model.priors_, model.means_[:, 0], model.covariances_[:, 0], strict=True):
        total = cov + 0.16 * np.eye(2)
        centre = mean[0] + total[0, 1] / total[1, 1] * (0.5 - mean[1])
        std = np.sqrt(total[0, 0] - total[0, 1] ** 2 / total[1, 1])
        joint.append(share * norm.pdf(0.5, mean[1], np.sqrt(total[1, 1])) * norm.cdf((0.2 - centre) / std))
    np.testing.assert_allclose(model.predict_proba(new)[0], np.array(joint) / sum(joint), rtol=1e-9)
    with pytest.raises(UncertainError, match="row 0 has a limit"):
        model.decision_distribution(new)


def test_a_pickled_model_answers_rows_with_limits() -> None:
    import pickle

    x, std, flags, y = censored(500)
    rows = Incomplete.from_arrays(x, std=std, limits=flags)
    model = GaussianMixtureRegressor(2).fit(rows, y, y_std=0.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(rows), model.predict(rows))


def test_who_cannot_use_limits_says_who_can() -> None:
    x, std, flags, y = censored(50)
    rows = Incomplete.from_arrays(x, std=std, limits=flags)
    for estimator in (
        uncertain.GSURegressor(),
        uncertain.GaussianImputer(),
        uncertain.ErrorColumns(),
        uncertain.RemeasuredRegressor(),
    ):
        with pytest.raises(UncertainError, match="GaussianMixtureRegressor"):
            estimator.fit(rows, y)
    with pytest.raises(UncertainError, match="limits: row 0, feature 1 is 2"):
        Incomplete.from_arrays([[0.0, 1.0]], limits=[[0, 2]])
    with pytest.raises(UncertainError, match="limits: expected 1 x 2"):
        Incomplete.from_arrays([[0.0, 1.0]], limits=[0])
    all_limits = Incomplete.from_arrays([[0.0, 1.0]] * 5, limits=[[0, 1]] * 5)
    with pytest.raises(UncertainError, match="feature 1 is missing or a limit in every row"):
        GaussianDenoiser().fit(all_limits)


def test_rows_keep_their_limits_on_their_way() -> None:
    x, std, flags, _ = censored(20)
    rows = Incomplete.from_arrays(x, std=std, limits=flags)
    np.testing.assert_array_equal(rows[3:9].limits, flags[3:9])
    np.testing.assert_array_equal(rows[:, [1]].limits, flags[:, [1]])
    np.testing.assert_array_equal(rows.collapse("zero").limits, flags)
    scaled = uncertain.GaussianScaler().fit_transform(rows)
    np.testing.assert_array_equal(scaled.limits, flags)
    read = np.where(flags, np.nan, x)
    np.testing.assert_allclose(
        scaled.gaussians.means, (x - np.nanmean(read, axis=0)) / np.nanstd(read, axis=0)
    )
    assert f"{np.count_nonzero(flags)} limits" in repr(rows)
