"""Features of the kernel between Gaussians, KernelMap and kernel=: definition, golden minima, scikit-learn's
SVC on exact points, files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogues import as_model, of_kind
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import uncertain
from uncertain import (
    GaussianArray,
    GaussianScaler,
    GSUClassifier,
    KernelMap,
    ProbabilisticKernelFeatures,
    UncertainError,
    kernels,
)
from uncertain.exceptions import ParameterError, UncertainWarning

COUPLINGS = ["shared", "independent"]


def rows(kind: str = "diagonal", n: int = 60, d: int = 4) -> GaussianArray:
    rng = np.random.default_rng(3)
    return of_kind(kind, rng.normal(size=(n, d)), rng)


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


GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "kernel_map.json").read_text())


def golden_rows() -> tuple[GaussianArray, np.ndarray]:
    return GaussianArray(np.array(GOLDEN["means"]), std=np.array(GOLDEN["std"])), np.array(GOLDEN["labels"])


def ring(n: int = 120, seed: int = 0) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    r = 1 + 1.5 * y + 0.2 * rng.normal(size=n)
    return GaussianArray(np.c_[r * np.cos(angle), r * np.sin(angle)], std=rng.uniform(0.05, 0.3, (n, 2))), y


@pytest.mark.parametrize("kernel", ["quadratic", "rbf"])
def test_the_kernel_machine_reaches_the_golden_minimum(kernel: str) -> None:
    X, y = golden_rows()
    expected = GOLDEN["kernels"][kernel]
    model = GSUClassifier(
        alpha=GOLDEN["alpha"], kernel=kernel, gamma=GOLDEN["gamma"], tol=1e-8, rank_tol=1e-12
    ).fit(X, y)
    assert_allclose(model.objective_, expected["gsu"], rtol=1e-6)
    assert model.coef_.shape == (1, model.kernel_map_.rank_)
    assert model.n_features_in_ == 2
    mean, std = model.decision_distribution(X)
    assert_allclose(mean, model.decision_function(X))
    exact = (np.array(GOLDEN["std"]) == 0).all(axis=1)
    assert (std[exact] == 0).all()
    assert (std[~exact] > 0).all()


def test_exact_points_give_the_ordinary_kernel_svm() -> None:
    X, y = ring()
    alpha = 0.01
    svc = SVC(C=1 / (alpha * len(y)), kernel="rbf", gamma=0.8, tol=1e-8).fit(X.means, y)
    model = GSUClassifier(alpha, kernel="rbf", gamma=0.8, tol=1e-9, rank_tol=1e-12).fit(X.means, y)
    assert_allclose(model.decision_function(X.means), svc.decision_function(X.means), atol=1e-3)


def test_mapped_points_have_the_kernel_as_inner_product() -> None:
    X, _ = ring()
    kernels = {
        "rbf": rbf_kernel(X.means, gamma=0.5),
        "polynomial": polynomial_kernel(X.means, degree=3, gamma=0.5, coef0=1.0),
        "quadratic": (X.means @ X.means.T) ** 2,
        "linear": X.means @ X.means.T,
    }
    for name, gram in kernels.items():
        map_ = KernelMap(name, gamma=0.5, tol=1e-10, max_rank=None).fit(X)  # type: ignore[arg-type]
        mapped = map_.transform(X)
        assert_allclose(mapped.means @ mapped.means.T, gram, atol=1e-8 * gram.max())
        points = map_.transform(X.means)
        assert isinstance(points, np.ndarray)
        assert_allclose(points, mapped.means, rtol=1e-12, atol=1e-12)
        assert map_.error_ <= 1e-10
        assert points.shape[1] == map_.rank_ == len(map_.get_feature_names_out())
    small = KernelMap("rbf", gamma=0.5, max_rank=7).fit(X)
    assert small.rank_ == 7
    assert 1e-6 < small.error_ < 1


def test_median_gamma_ignores_repeated_rows() -> None:
    X, _ = ring(40)
    trace = X.trace()
    i, j = np.triu_indices(40, 1)
    m = np.median(np.sqrt(((X.means[i] - X.means[j]) ** 2).sum(axis=1) + trace[i] + trace[j]))
    for rows in (X, GaussianArray.concat([X, X[:20]])):
        assert_allclose(KernelMap().fit(rows).gamma_, 0.5 / m**2)


@pytest.mark.parametrize("kernel", ["quadratic", "polynomial", "rbf"])
def test_pipelines_pickles_and_files(kernel: Any, tmp_path: Path) -> None:
    X, y = ring()
    inside = uncertain.fit(X, y, kernel=kernel, max_rank=20, alpha=0.01, method="gsu")
    assert inside.score(X, y) > 0.9
    with pytest.warns(UncertainWarning, match="no plane is better"):
        assert uncertain.fit(X, y, alpha=0.01, method="gsu").score(X, y) < 0.8
    path = tmp_path / "model.safetensors"
    inside.save(path)
    for again in (uncertain.load(path), pickle.loads(pickle.dumps(inside))):
        np.testing.assert_array_equal(again.predict_proba(X), inside.predict_proba(X))
        last = again.pipeline_[-1]
        assert last.kernel == kernel
        assert last.n_features_in_ == 2
        assert last.kernel_map_.rank_ == inside.pipeline_[-1].kernel_map_.rank_
        assert len(again.pipeline_) == 2
    step = make_pipeline(GaussianScaler(), KernelMap(kernel, max_rank=20), GSUClassifier(0.01)).fit(X, y)
    assert_allclose(step.decision_function(X), inside.pipeline_.decision_function(X), rtol=1e-6, atol=1e-6)
    as_model(step).save(path)
    loaded = uncertain.load(path).pipeline_
    np.testing.assert_array_equal(loaded.decision_function(X), step.decision_function(X))
    assert loaded[1].kernel == kernel
    model = GSUClassifier(kernel=kernel, max_rank=20).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_several_classes_weights_and_probabilities() -> None:
    X, y = ring()
    labels = y + (X.means[:, 0] > 0)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    model = GSUClassifier(0.01, kernel="rbf", gamma=0.5, probability=True, random_state=0)
    model.fit(X, labels, sample_weight=weights)
    assert model.predict_proba(X).shape == (120, 3)
    assert model.score(X, labels, sample_weight=weights) > 0.85
    repeated = clone(model).fit(X[np.repeat(np.arange(120), weights)], np.repeat(labels, weights))
    assert_allclose(repeated.decision_function(X), model.decision_function(X), rtol=1e-5, atol=1e-6)


def test_rows_of_the_fit_are_those_of_the_map() -> None:
    X, y = ring(300)
    map_ = KernelMap("rbf", gamma=0.5)
    mapped = map_.fit_transform(X)
    assert isinstance(mapped, GaussianArray)
    after = map_.transform(X)
    assert_allclose(mapped.means, after.means, atol=1e-8)
    assert_allclose(mapped.covariances(), after.covariances(), atol=1e-8)
    points = map_.fit_transform(X.means)
    assert isinstance(points, np.ndarray)
    assert_allclose(points, map_.transform(X.means), atol=1e-8)
    machine = GSUClassifier(kernel="rbf", gamma=0.5, tol=1e-8).fit(X, y)
    apart = GSUClassifier(tol=1e-8).fit(KernelMap("rbf", gamma=0.5).fit(X).transform(X), y)
    assert_allclose(machine.objective_, apart.objective_, rtol=1e-7)
    # Rows without weight have no part in the map.
    weights = np.arange(300) % 3
    weighted = GSUClassifier(kernel="rbf", gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    counted = GSUClassifier(kernel="rbf", gamma=0.5, tol=1e-8).fit(
        X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0]
    )
    assert weighted.kernel_map_.rank_ == counted.kernel_map_.rank_
    assert_allclose(weighted.objective_, counted.objective_, rtol=1e-7)


def test_refusals() -> None:
    X, y = ring()
    with pytest.raises(AttributeError, match="partial_fit") as refusal:
        GSUClassifier(kernel="rbf").partial_fit(X, y, classes=[0, 1])
    assert "KernelMap" in str(refusal.value.__cause__)
    with pytest.raises(ParameterError, match="kernel='sigmoid'"):
        KernelMap("sigmoid").fit(X)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="n_samples = 1"):
        KernelMap().fit(X[:1])
    with pytest.raises(ParameterError, match="tol = 2"):
        KernelMap(tol=2.0).fit(X)
