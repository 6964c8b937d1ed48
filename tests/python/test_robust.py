"""The uncertainty-SVC family, the minimax probability machine and the measures by their Python names."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogues import clusters
from scipy.optimize import minimize
from sklearn.svm import SVC

from uncertain import GaussianArray, MinimaxProbabilityClassifier, RobustSVC, UncertainError, metrics

METHODS = ["usvc", "tsvc", "ausvc", "mpsvc", "psvm"]
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "robust.json").read_text())
RADIUS = [case for case in GOLDEN["usvc"] if case["radius"] != "rows"]


def golden(kind: str) -> tuple[GaussianArray, Any]:
    x, y = np.array(GOLDEN["x"]), np.array(GOLDEN["y"])
    n, d = x.shape
    full = np.reshape(GOLDEN["full"], (n, d, d))
    uncertainty: dict[str, Any] = {
        "zero": {}, "isotropic": {"var": GOLDEN["isotropic"]}, "diagonal": {"var": GOLDEN["diagonal"]},
        "low-rank": {"factor": np.reshape(GOLDEN["low-rank"], (n, d, 1))}, "full": {"cov": full},
        "shared": {"cov": full[0]},
    }[kind]  # fmt: skip
    return GaussianArray(x, **uncertainty), y


@pytest.mark.filterwarnings("ignore:.*no plane is better")
@pytest.mark.parametrize("kind", ["zero", "isotropic", "diagonal", "low-rank", "full", "shared"])
def test_usvc_reaches_the_cone_programs_optimum(kind: str) -> None:
    X, y = golden(kind)
    for case in [case for case in RADIUS if case["kind"] == kind]:
        model = RobustSVC(C=case["C"], radius=float(case["radius"])).fit(X, y)
        assert model.objective_ == pytest.approx(case["objective"], rel=1.1e-6)
        assert model.optimality_gap_ <= 1e-6 and model.status_ == "converged"
        margins = y * model.decision_function(X)
        std = model.decision_distribution(X)[1]
        loss = np.maximum(0.0, 1.0 - margins + float(case["radius"]) * std)
        assert model.objective_ == pytest.approx(0.5 * np.sum(model.coef_**2) + case["C"] * loss.sum())


@pytest.mark.parametrize("kernel", ["quadratic", "rbf"])
def test_kernels_reach_the_optimum_of_the_extended_gram_matrix(kernel: Any) -> None:
    golden = json.loads((Path(__file__).parents[1] / "golden" / "kernel_map.json").read_text())
    X, y = GaussianArray(golden["means"], std=golden["std"]), golden["labels"]
    gamma = golden["gamma"] if kernel == "rbf" else "median"
    model = RobustSVC(C=golden["C"], radius=golden["radius"], kernel=kernel, gamma=gamma, rank_tol=1e-9).fit(
        X, y
    )
    assert model.objective_ == pytest.approx(golden["kernels"][kernel]["usvc"], rel=1e-4)
    assert model.optimality_gap_ <= 1e-6


def test_total_support_vectors_converge_on_wide_ellipsoids() -> None:
    """Moved points of size 300, nearly separable: once the end of the interior-point method's patience."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        means = rng.uniform(-5.0, 5.0, size=(100, 2))
        y = np.where(means[:, 0] ** 2 - means[:, 1] ** 2 > 0.0, 1, -1)
        X = GaussianArray(means + 3.0 * rng.normal(size=(100, 2)), std=rng.uniform(0.5, 5.0, size=(100, 2)))
        model = RobustSVC(method="tsvc", kernel="quadratic").fit(X, y)
        assert model.status_ == "converged"
        assert model.n_iter_ < 400


def test_without_error_bars_it_is_the_ordinary_svm() -> None:
    X, y = clusters(80)
    ours = RobustSVC(C=2.0, tol=1e-10).fit(X.means, y)
    theirs = SVC(C=2.0, kernel="linear", tol=1e-10).fit(X.means, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    none = RobustSVC(C=2.0, tol=1e-10, radius=0.0).fit(X, y)
    np.testing.assert_allclose(none.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize(("bound", "radius"), [("gaussian", 1.2815515655446004), ("chebyshev", 3.0)])
def test_a_confidence_sets_the_radius_and_is_kept(bound: Any, radius: float) -> None:
    wide, y = clusters(80)
    X = GaussianArray(5.0 * wide.means, cov=wide.covariances())
    model = RobustSVC(C=10.0, confidence=0.9, bound=bound).fit(X, y)
    assert model.radius_ == pytest.approx(radius, rel=1e-12)
    assert np.all(model.radii_ == model.radius_)
    # Rows without loss keep their margin with at least this probability under their own Gaussian.
    mean, std = model.decision_distribution(X)
    sign = np.where(y == "b", 1.0, -1.0)
    kept = 1.0 - sign * mean + radius * std <= 0.0
    draws = X.sample(400, random_state=0).means.reshape(len(y), 400, 2)
    inside = np.mean(sign[:, None] * (draws @ model.coef_[0] + model.intercept_[0]) >= 1.0, axis=1)
    assert kept.sum() > 5 and np.all(inside[kept] > 0.85)


@pytest.mark.filterwarnings("ignore:.*no plane is better")
@pytest.mark.parametrize("method", METHODS)
def test_histories_fall_and_end_at_the_objective(method: Any) -> None:
    X, y = clusters(80)
    model = RobustSVC(method=method).fit(X, y)
    assert np.all(np.diff(model.history_) <= 1e-6 * model.history_[0])
    assert model.history_[-1] == pytest.approx(model.objective_)
    assert model.radii_.shape == (len(y),)
    if method == "mpsvc":
        assert model.objective_ == pytest.approx(metrics.mpe(model, X, y))
    assert np.isnan(model.optimality_gap_) == (method in ("tsvc", "mpsvc", "psvm"))
    weights = np.arange(80) // 3 % 3
    three = RobustSVC(method=method).fit(X, np.arange(80) % 3, sample_weight=weights)
    assert three.radii_.shape == (3, 80) and len(three.history_) == 3 and three.objective_.shape == (3,)
    assert np.array_equal(np.isnan(three.radii_[0]), weights == 0)


def test_the_polished_measure_is_a_local_minimum() -> None:
    X, y = clusters(80)
    sign = np.where(y == "b", 1.0, -1.0)
    model = RobustSVC(method="mpsvc").fit(X, y)

    def measure(x: Any) -> float:
        m = sign * (X.means @ x[:2] + x[2])
        v = np.einsum("i,nij,j->n", x[:2], X.covariances(), x[:2])
        return float(np.sum(np.where(m > 0, v / (v + m**2), 1.0)))

    start = np.append(model.coef_[0], model.intercept_[0])
    found = minimize(measure, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9})
    assert measure(start) == pytest.approx(model.objective_)
    assert found.fun > measure(start) * (1 - 2e-3)
    for other in ("usvc", "ausvc", "tsvc"):
        assert model.objective_ <= metrics.mpe(RobustSVC(method=other).fit(X, y), X, y) * (1 + 1e-9)


def test_rows_that_all_lie_next_to_their_borders_are_no_overflow() -> None:
    """Many features for few rows: slacks fall below rounding before the last barrier is reached."""
    rng = np.random.default_rng(0)
    n, d = 300, 64
    y = rng.integers(0, 2, n)
    means, std = rng.normal(size=(n, d)), rng.uniform(0.1, 1.0, (n, d))
    means[:, 0] += 2.0 * y
    X = GaussianArray(means, std=std)

    def measure(model: RobustSVC) -> float:
        w, b = model.coef_[0], model.intercept_[0]
        margin = np.maximum((2 * y - 1) * (means @ w + b), 0.0)
        v = np.sum((std * w) ** 2, axis=1)
        return float(np.sum(v / (v + margin**2)))

    found = RobustSVC(method="mpsvc").fit(X, y)
    assert measure(found) == pytest.approx(found.objective_)
    assert found.objective_ < 0.95 * measure(RobustSVC(method="ausvc").fit(X, y))


def test_minimax_accuracies_are_those_of_the_cone_program_and_hold() -> None:
    for kind, expected in GOLDEN["minimax"].items():
        X, y = golden(kind)
        model = MinimaxProbabilityClassifier(ridge=0.0).fit(X, y)
        assert model.worst_case_accuracy_ == pytest.approx(expected, abs=1e-7)
    # Of a draw from a random row of either class at least this share is on its side.
    draws = X.sample(200, random_state=1).means.reshape(len(y), 200, 3)
    right = (draws @ model.coef_[0] + model.intercept_[0]) * y[:, None] > 0
    assert min(right[y > 0].mean(), right[y < 0].mean()) > model.worst_case_accuracy_
    ridged = MinimaxProbabilityClassifier(ridge=1.0).fit(X, y)
    assert ridged.worst_case_accuracy_ < model.worst_case_accuracy_
    three = MinimaxProbabilityClassifier(probability=True, random_state=0).fit(X, np.arange(len(y)) % 3)
    assert three.worst_case_accuracy_.shape == (3,)
    assert three.decision_distribution(X)[1].shape == three.decision_function(X).shape == (len(y), 3)


def test_minimax_refuses_equal_means() -> None:
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    with pytest.raises(UncertainError, match="equal means"):
        MinimaxProbabilityClassifier().fit(X, [0, 0, 1, 1])


def test_measures_against_their_definitions() -> None:
    X, y = clusters(80)
    model = RobustSVC().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    m = np.where(y == "b", 1.0, -1.0) * (X.means @ w + b)
    s = np.sqrt(np.einsum("i,nij,j->n", w, X.covariances(), w))
    assert metrics.nmc(model, X, y) == np.sum(m <= 0)
    assert metrics.nme(model, X, y) == np.sum(m - s <= 0)
    distance = np.where(m > 0, m / s, 0.0)
    assert metrics.mpe(model, X, y) == pytest.approx(np.sum(1.0 / (1.0 + distance**2)), rel=1e-12)
    assert metrics.mpe(model, X.means, y) == metrics.nmc(model, X.means, y)


def test_measures_refuse_what_they_cannot_count() -> None:
    X, y = clusters(80)
    model = RobustSVC().fit(X, y)
    with pytest.raises(UncertainError, match="row 1 is 'maybe'"):
        metrics.nmc(model, X, np.where(np.arange(len(y)) == 1, "maybe", y))
    with pytest.raises(UncertainError, match="80 labels"):
        metrics.nme(model, X, y[1:])
    with pytest.raises(UncertainError, match="two classes"):
        metrics.mpe(RobustSVC().fit(X, np.arange(len(y)) % 3), X, y)
