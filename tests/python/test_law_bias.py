"""What errors of features add to the bias of a `GeneralizedLinearLaw` in few rows, and what is taken off."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from uncertain import GaussianArray
from uncertain.laws import GeneralizedLinearLaw

BETA = np.array([1.0, -1.5])


def read(family: str, n: int, seed: int, size: float = 0.6) -> tuple[GaussianArray, np.ndarray, np.ndarray]:
    """Readings of two features, targets, and the true features."""
    rng = np.random.default_rng((seed, n))
    z = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 0.89]], size=n)
    std = size * np.exp(rng.normal(0.0, 0.5, size=(n, 2)))
    eta = z @ BETA
    if family == "ordinal":
        y = np.digitize(eta + rng.logistic(size=n), [-1.0, 0.5, 2.0])
    elif family == "binomial":
        y = (eta + rng.logistic(size=n) > 0).astype(int)
    else:
        y = np.exp(eta) * rng.gamma(2.0, 0.5, size=n)
    return GaussianArray(z + std * rng.normal(size=(n, 2)), std=std), y, z


@pytest.mark.parametrize("family", ["binomial", "ordinal"])
def test_the_correction_is_what_the_jackknife_finds_beyond_exact_features(family: str) -> None:
    taken, expected = [], []
    for seed in range(30):
        X, y, z = read(family, 400, seed)
        plain, corrected = (GeneralizedLinearLaw(family, bias_correction=by) for by in (None, "errors"))
        taken.append(plain.fit(X, y).coef_ - corrected.fit(X, y).coef_)
        jack = GeneralizedLinearLaw(family, bias_correction="jackknife")
        of_errors = plain.coef_ - jack.fit(X, y).coef_
        exact = GeneralizedLinearLaw(family).fit(z, y)
        expected.append(of_errors - (exact.coef_ - jack.fit(z, y).coef_))
    taken, expected = np.mean(taken, axis=0), np.mean(expected, axis=0)
    # The jackknife's error over 30 sets is some 20 %.
    np.testing.assert_allclose(taken, expected, rtol=0.5)
    assert taken[0] > 0.01 and taken[1] < -0.015


@pytest.mark.parametrize("family", ["binomial", "ordinal", "gamma"])
def test_exact_features_are_left_alone_and_small_errors_nearly(family: str) -> None:
    _, y, z = read(family, 200, 3)
    plain = GeneralizedLinearLaw(family, bias_correction=None).fit(z, y)
    np.testing.assert_array_equal(GeneralizedLinearLaw(family).fit(z, y).coef_, plain.coef_)
    for size, near in ((1e-5, 1e-6), (0.05, 0.02)):
        found = GeneralizedLinearLaw(family).fit(GaussianArray(z, std=size), y)
        uncorrected = GeneralizedLinearLaw(family, bias_correction=None).fit(GaussianArray(z, std=size), y)
        assert np.all(np.abs(found.coef_ - uncorrected.coef_) < near * plain.std_)


def test_the_correction_knows_neither_the_order_of_rows_nor_units() -> None:
    X, y, _ = read("ordinal", 150, 1)
    law = GeneralizedLinearLaw("ordinal").fit(X, y)
    order = np.random.default_rng(0).permutation(150)
    again = GeneralizedLinearLaw("ordinal").fit(X[order], y[order])
    np.testing.assert_allclose(again.coef_, law.coef_, rtol=1e-7)
    unit = np.array([1e3, 1e-2])
    scaled = GaussianArray(X.means * unit + 5 * unit, std=X._deviations() * unit)
    other = GeneralizedLinearLaw("ordinal").fit(scaled, y)
    np.testing.assert_allclose(other.coef_ * unit, law.coef_, rtol=1e-5)
    assert np.all(np.diff(law.extra_["thresholds"]) > 0)


def test_laws_with_a_penalty_are_not_corrected() -> None:
    X, y, _ = read("binomial", 150, 1)
    held = GeneralizedLinearLaw(alpha=0.05).fit(X, y)
    np.testing.assert_array_equal(
        held.coef_, GeneralizedLinearLaw(alpha=0.05, bias_correction=None).fit(X, y).coef_
    )


def test_where_true_classes_are_nearly_apart_little_is_taken_off() -> None:
    # Standard errors are as large as the coefficients, and the expansion says many times what there is.
    rng = np.random.default_rng(0)
    z, std = rng.normal(size=(300, 2)), rng.uniform(0.2, 0.5, size=(300, 2))
    X = GaussianArray(z + std * rng.normal(size=(300, 2)), std=std)
    y = z @ BETA + 0.3 * rng.normal(size=300) > 0
    with warnings.catch_warnings(action="ignore"):
        law = GeneralizedLinearLaw().fit(X, y)
        plain = GeneralizedLinearLaw(bias_correction=None).fit(X, y)
        few = [GeneralizedLinearLaw().fit(*read("binomial", 25, seed, 1.0)[:2]) for seed in range(5)]
    assert np.all(np.abs(law.coef_ - plain.coef_) < 0.3 * plain.std_)
    assert np.all(np.abs(law.coef_) > np.abs(law.naive_coef_))
    assert all(np.all(np.isfinite(one.coef_)) for one in few)


def test_intervals_by_the_profile_move_with_the_estimate() -> None:
    X, y, _ = read("binomial", 200, 2)
    law = GeneralizedLinearLaw().fit(X, y)
    ends = law.conf_int(method="profile")
    assert np.all((ends[:, 0] < law.coef_) & (law.coef_ < ends[:, 1]))
    width = ends[:, 1] - ends[:, 0]
    assert np.all(np.abs(width / (4 * law.std_) - 1) < 0.3)
