"""Features of the kernel between Gaussians: their definition, the kernel, the habits of scikit-learn."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from catalogues import KINDS, of_kind
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from uncertain import GaussianArray, ProbabilisticKernelFeatures, UncertainError, kernels

COUPLINGS = ["shared", "independent"]


def rows(kind: str = "diagonal", n: int = 60, d: int = 4) -> GaussianArray:
    rng = np.random.default_rng(3)
    return of_kind(kind, rng.normal(size=(n, d)), rng)


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_random_features_are_what_the_docstring_says(kind: str, coupling: Any) -> None:
    X = rows(kind=kind)
    model = ProbabilisticKernelFeatures(30, sigma=1.5, coupling=coupling, random_state=0).fit(X)
    covariances = X.covariances()
    w = model.frequencies_
    if coupling == "shared":
        values, vectors = np.linalg.eigh(covariances)
        roots = (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.transpose(0, 2, 1)
        phase = X.means @ w.T + np.einsum("rj,njk,rk->nr", w, roots, model.noise_)
        amplitude = np.ones_like(phase)
    else:
        assert model.noise_ is None
        phase = X.means @ w.T
        amplitude = np.exp(-0.5 * np.einsum("rj,njk,rk->nr", w, covariances, w))
    expected = np.hstack([amplitude * np.cos(phase), amplitude * np.sin(phase)]) / np.sqrt(30)
    # Zero eigenvalues are zero here; NumPy's roots of them are noise of 1e-8.
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-7)
    if coupling == "shared":
        np.testing.assert_allclose((model.transform(X) ** 2).sum(axis=1), 1.0, rtol=1e-13)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_more_features_are_closer_to_the_kernel(coupling: Any) -> None:
    X = rows()
    exact = kernels.probabilistic_rbf(X, sigma=1.5, coupling=coupling)

    def error(size: int) -> float:
        model = ProbabilisticKernelFeatures(size, sigma=1.5, coupling=coupling, random_state=1)
        z = model.fit_transform(X)
        return float(np.abs(z @ z.T - exact).max())

    assert error(20_000) < 0.05 < error(50)


def test_other_kinds_of_rows_see_the_same_kernel() -> None:
    X, Z = rows(kind="full"), rows(kind="isotropic")
    model = ProbabilisticKernelFeatures(4000, random_state=0).fit(X)
    exact = kernels.probabilistic_rbf(X, Z)
    assert np.abs(model.transform(X) @ model.transform(Z).T - exact).max() < 0.08


def test_habits_of_scikit_learn() -> None:
    X = rows()
    model = ProbabilisticKernelFeatures(10, sigma="median", random_state=0)
    z = model.fit_transform(X)
    assert z.shape == (60, 20) and model.sigma_ == kernels.median_distance(X)
    names = model.get_feature_names_out()
    assert len(names) == 20 and names[0] == "probabilistickernelfeatures0"
    np.testing.assert_array_equal(clone(model).fit_transform(X), z)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), z)
    np.testing.assert_array_equal(clone(model).set_params(n_jobs=2).fit_transform(X), z)
    assert not np.array_equal(clone(model).set_params(random_state=1).fit_transform(X), z)
    target = X.means[:, 0] ** 2
    pipeline = make_pipeline(ProbabilisticKernelFeatures(200, random_state=0), Ridge(1e-2)).fit(X, target)
    assert pipeline.score(X, target) > 0.9


@pytest.mark.parametrize(("sigma", "std"), [(1e-170, 1e-297), (1e-160, 1e-160)])
def test_a_bandwidth_without_a_square_is_refused_of_rows_with_error_bars(sigma: float, std: float) -> None:
    """w'S w is infinity times zero, or infinite where it should be near one."""
    features = ProbabilisticKernelFeatures(5, sigma=sigma, coupling="independent", random_state=0)
    features.fit([[0.0], [1.0]])
    with pytest.raises(UncertainError, match="bandwidth is so small"):
        features.transform(GaussianArray([[0.0], [1.0]], std=std))


def test_features_that_overflow_are_refused_with_their_row() -> None:
    model = ProbabilisticKernelFeatures(5, sigma=1e-200, random_state=0).fit([[0.0], [1.0]])
    with pytest.raises(UncertainError, match="row 1 is so many bandwidths away"):
        model.transform([[0.0], [1e200]])
