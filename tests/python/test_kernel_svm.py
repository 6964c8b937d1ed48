"""Kernels: machines against SVC and SVR on one matrix, Gram matrices and maps against their definitions."""

import json
import pickle
import sys
from pathlib import Path
from typing import Any, Literal, TypeAlias

import children
import numpy as np
import pytest
from catalogues import as_model, clusters, of_kind
from conftest import random_covariances
from numpy.testing import assert_allclose
from oracles import check_bound, expected_rbf
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

import uncertain
from uncertain import (
    GaussianArray,
    GaussianScaler,
    GSUClassifier,
    KernelMap,
    ProbabilisticKernelFeatures,
    ProbabilisticKernelSVC,
    ProbabilisticKernelSVR,
    kernels,
)
from uncertain.exceptions import (
    ConvergenceWarning,
    NotFiniteError,
    ParameterError,
    ShapeError,
    UncertainError,
    UncertainWarning,
)
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
    with pytest.warns(ConvergenceWarning):
        cut = ProbabilisticKernelSVC(C=3.0, sigma=1.2, max_iter=9).fit(X, y)
    for bounded in zip(
        *map(np.atleast_1d, (cut.objective_, cut.optimality_gap_, ours.objective_)), strict=True
    ):
        check_bound(*bounded, within=1e-9)


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
    with pytest.warns(ConvergenceWarning):
        cut = ProbabilisticKernelSVR(C=5.0, sigma=1.2, max_iter=9).fit(X, target, weight)
    check_bound(cut.objective_, cut.optimality_gap_, ours.objective_, within=1e-9)


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


@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_svm_of_scikit_learn_on_the_features(k: int) -> None:
    X, y = clusters(150, k)
    weights = np.arange(len(y)) // 4 % 3.0
    model = ProbabilisticKernelSVC(2.0, n_components=40, random_state=0, class_weight={"a": 2.0})
    model.fit(X, y, weights)
    kept = weights > 0
    features = ProbabilisticKernelFeatures(40, random_state=0)
    z = features.fit(X[kept]).transform(X)
    theirs = SVC(C=2.0, kernel="linear", tol=1e-8, class_weight={"a": 2.0}).fit(z, y, weights)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(z), atol=5e-3)
    assert model.coef_.shape == theirs.coef_.shape == (k * (k - 1) // 2, z.shape[1])
    assert model.intercept_.shape == theirs.intercept_.shape
    sign = np.sign(theirs.coef_ * model.coef_).sum(axis=1)
    assert (sign > 0).all()
    assert np.all(np.asarray(model.optimality_gap_) <= 1e-6)
    assert (model.predict(X) == theirs.predict(z)).mean() > 0.99


def test_fits_repeat_and_pickle_and_leave_nothing_behind() -> None:
    X, y = clusters(150)
    model = ProbabilisticKernelSVC(n_components=30, sigma="median", random_state=1, probability=True).fit(
        X, y
    )
    assert model.sigma_ == ProbabilisticKernelSVC(sigma="median").fit(X, y).sigma_
    scores = model.decision_function(X)
    np.testing.assert_array_equal(clone(model).set_params(n_jobs=2).fit(X, y).decision_function(X), scores)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.memory_ == model.memory_ > 0 and again.sigma_ == model.sigma_
    assert not hasattr(model, "decision_distribution") and not hasattr(model, "support_")
    model.set_params(n_components=None, probability=False).fit(X, y)
    for name in ("coef_", "frequencies_", "memory_"):
        assert not hasattr(model, name)
    assert len(model.support_) > 0 and model.decision_distribution(X)[1].shape == (150,)
    model.set_params(n_components=20).fit(X, y)
    assert model.frequencies_.shape == (20, 2) and not hasattr(model, "dual_coef_")


MEMORY = """
import resource, numpy as np
from uncertain import GaussianArray, ProbabilisticKernelSVC
rng = np.random.default_rng(0)
n, d, size = 100_000, 10, 100
X = rng.normal(size=(n, d))
y = ((X**2).sum(axis=1) + rng.normal(size=n) > 10.0).astype(int)
rows = GaussianArray(X, std=np.full((n, d), 0.3))
peak = lambda: 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
model = ProbabilisticKernelSVC(n_components=size, sigma=3.0, tol=1e-2, random_state=0).fit(rows, y)
accuracy = model.score(rows[:5000], y[:5000])
print(peak() - before, model.memory_, 8 * n * 2 * size, model.optimality_gap_, accuracy)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_the_features_are_never_held_and_the_memory_is_as_reported() -> None:
    """100,000 rows with 200 features would be 160 MB."""
    said = children.printed(MEMORY)
    taken, reported, matrix, gap, accuracy = map(float, said.split())
    assert taken <= reported < 0.85 * matrix, said
    assert gap <= 1e-2 and accuracy > 0.8


Coupling: TypeAlias = Literal["shared", "independent"]
COUPLINGS: tuple[Coupling, ...] = ("shared", "independent")


def arrays(rng: np.random.Generator, n: int, d: int) -> dict[str, GaussianArray]:
    means = rng.normal(size=(n, d)) / np.sqrt(d)
    spread = random_covariances(rng, n, d) / d
    return {
        "points": GaussianArray(means),
        "isotropic": GaussianArray(means, std=rng.uniform(0, 1, n)),
        "diagonal": GaussianArray(means, var=rng.uniform(0, 1, (n, d))),
        "low-rank": GaussianArray(means, factor=rng.normal(size=(n, d, 2)), var=rng.uniform(0.1, 1, (n, d))),
        "full": GaussianArray(means, cov=spread),
        "shared": GaussianArray(means, cov=spread[0]),
    }


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_every_pair_of_kinds(rng: np.random.Generator, coupling: Coupling) -> None:
    left, right = arrays(rng, 13, 4), arrays(rng, 9, 4)
    for name, x in left.items():
        symmetric = kernels.probabilistic_rbf(x, sigma=0.8, coupling=coupling)
        np.testing.assert_allclose(
            symmetric, expected_rbf(x, x, 0.8, coupling), atol=1e-12, rtol=0, err_msg=name
        )
        np.testing.assert_array_equal(symmetric, symmetric.T)
        assert np.linalg.eigvalsh(symmetric).min() > -1e-12
        if coupling == "shared":
            np.testing.assert_array_equal(np.diag(symmetric), 1.0)
        for other, z in right.items():
            found = kernels.probabilistic_rbf(x, z, sigma=0.8, coupling=coupling)
            expected = expected_rbf(x, z, 0.8, coupling)
            np.testing.assert_allclose(found, expected, atol=1e-12, rtol=0, err_msg=f"{name}, {other}")


def test_median_bandwidth(rng: np.random.Generator) -> None:
    x = arrays(rng, 30, 2)["full"]
    traces = np.trace(x.covariances(), axis1=1, axis2=2)
    squares = np.sum((x.means[:, None] - x.means[None]) ** 2, axis=-1) + traces[:, None] + traces[None]
    median = np.median(np.sqrt(squares[np.triu_indices(30, 1)]))
    assert kernels.median_distance(x) == pytest.approx(median, rel=1e-14)
    found = kernels.probabilistic_rbf(x, sigma="median")
    np.testing.assert_allclose(found, kernels.probabilistic_rbf(x, sigma=float(median)), rtol=1e-12)
    many = rng.normal(size=(2000, 2))
    assert kernels.median_distance(many, random_state=1) == kernels.median_distance(many, random_state=1)
    assert kernels.median_distance(many, random_state=1) == pytest.approx(2 * np.sqrt(np.log(2)), rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"sigma": 0.0}, ParameterError, "sigma = 0"),
        ({"sigma": -1}, ParameterError, "sigma = -1"),
        ({"sigma": "mean"}, ParameterError, '"median"'),
        ({"sigma": None}, ParameterError, '"median"'),
        ({"coupling": "both"}, ParameterError, "one of shared, independent"),
        ({"Z": [[1.0]]}, ShapeError, "2 features"),
        ({"Z": [1.0, 2.0]}, ShapeError, "Z: expected"),
        ({"Z": [[1.0, np.nan]]}, NotFiniteError, "Z: row 0"),
        ({"max_bytes": 10}, UncertainError, "10 are allowed"),
        ({"max_bytes": -1}, ParameterError, "max_bytes"),
        ({"n_jobs": 0}, ParameterError, "n_jobs"),
    ],
)
def test_bad_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        kernels.probabilistic_rbf([[0.0, 1.0], [2.0, 3.0]], **arguments)
    with pytest.raises(UncertainError, match="pass a number"):
        kernels.probabilistic_rbf([[1.0, 2.0]] * 3, sigma="median")


def test_a_matrix_that_does_not_fit_is_refused_at_once() -> None:
    with pytest.raises(UncertainError, match=r"takes \d+ bytes .* slices"):
        kernels.probabilistic_rbf(np.zeros((3_000_000, 1)))


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


def test_the_map_keeps_what_its_tolerance_says() -> None:
    X, _ = ring()
    gram = rbf_kernel(X.means, gamma=0.5)
    map_ = KernelMap("rbf", gamma=0.5, tol=1e-10, max_rank=None).fit(X)
    points = map_.transform(X.means)
    assert isinstance(points, np.ndarray)
    assert_allclose(points @ points.T, gram, atol=1e-8)
    assert_allclose(points, map_.transform(X).means, rtol=1e-12, atol=1e-12)
    assert map_.error_ <= 1e-10 and points.shape[1] == map_.rank_ == len(map_.get_feature_names_out())
    small = KernelMap("rbf", gamma=0.5, max_rank=7).fit(X)
    assert small.rank_ == 7 and 1e-6 < small.error_ < 1


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
