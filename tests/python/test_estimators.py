"""Promises that all estimators make in the same words, beside scikit-learn's own (test_sklearn.py)."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from uncertain import (
    AdaptiveHuberClassifier,
    AdaptiveHuberRegressor,
    GaussianArray,
    GaussianCollapser,
    GaussianDenoiser,
    GaussianDiscriminant,
    GaussianMixtureRegressor,
    GSUClassifier,
    GSURegressor,
    MinimaxProbabilityClassifier,
    ProbabilisticKernelFeatures,
    ProbabilisticKernelSVC,
    ProbabilisticKernelSVR,
    RobustSVC,
    UncertainError,
)
from uncertain.kernels import probabilistic_rbf

METHODS = ("usvc", "tsvc", "ausvc", "mpsvc", "psvm")
ESTIMATORS = {
    "gsu": GSUClassifier(0.01, tol=1e-9),
    "gsu, kernel": GSUClassifier(0.01, kernel="rbf", gamma=0.5, tol=1e-9),
    "gsu, sgd": GSUClassifier(0.01, solver="sgd", random_state=0),
    **{name: RobustSVC(method=name, tol=1e-9) for name in METHODS},  # type: ignore[arg-type]
    "minimax": MinimaxProbabilityClassifier(),
    "kernel": ProbabilisticKernelSVC(tol=1e-10),
    "random features": ProbabilisticKernelSVC(n_components=20, random_state=0),
    "huber classes": AdaptiveHuberClassifier(),
    "discriminant": GaussianDiscriminant(tol=1e-10),
    "gsu regression": GSURegressor(tol=1e-9),
    "tube": GSURegressor(loss="epsilon_insensitive", tol=1e-9),
    "squares": GSURegressor(loss="squared", tol=1e-9),
    "kernel regression": ProbabilisticKernelSVR(tol=1e-10),
    "huber": AdaptiveHuberRegressor(delta=0.2),
    "mixture": GaussianMixtureRegressor(tol=1e-10),
}


def problem(estimator: Any, n: int = 90, d: int = 2) -> tuple[GaussianArray, np.ndarray]:
    """Three classes, or numbers."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    means = rng.normal(size=(n, d))
    means[:, :2] += 1.8 * np.array([[1, 0], [-1, 0.5], [0, -1]])[y]
    X = GaussianArray(means, std=rng.uniform(0.05, 0.6, size=(n, d)))
    numbers = means[:, :2] @ [1.0, -0.5] + 0.1 * y
    return X, np.array(["a", "b", "c"])[y] if is_classifier(estimator) else numbers


def answers(model: Any, X: GaussianArray) -> np.ndarray:
    return np.asarray(model.decision_function(X) if is_classifier(model) else model.predict(X))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_threads_change_no_bit_and_pickles_answer_alike(name: str) -> None:
    """With rows for several threads, where a fit is not quadratic in them."""
    X, y = problem(ESTIMATORS[name], *((1_500, 6) if name in ("gsu", "gsu regression", *METHODS) else (90,)))
    model = clone(ESTIMATORS[name]).set_params(n_jobs=1).fit(X, y)
    expected = answers(model, X)
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params() and np.all(again.status_ == model.status_)
    np.testing.assert_array_equal(answers(again, X), expected)
    other = clone(model).set_params(n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(answers(other, X), expected)


@pytest.mark.parametrize("name", [n for n, e in ESTIMATORS.items() if "probability" in e.get_params()])
def test_probabilities_of_several_classes_must_be_asked_for(name: str) -> None:
    plain = clone(ESTIMATORS[name])
    X, y = problem(plain, 150)
    plain.fit(X, y)
    for method in ("predict_proba", "predict_log_proba"):
        assert not hasattr(plain, method)
    with pytest.raises(AttributeError, match="predict_proba"):
        plain.predict_proba(X)
    with pytest.raises(UncertainError, match="no probabilities"):
        plain.set_params(probability=True).predict_proba(X)
    model = clone(plain).set_params(random_state=0).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(p))
    assert np.mean(model.classes_[p.argmax(axis=1)] == y) > 0.7
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)


@pytest.mark.parametrize("name", [n for n, e in ESTIMATORS.items() if "callback" in e.get_params()])
def test_callbacks_hear_of_every_iteration_and_their_exceptions_end_the_fit(name: str) -> None:
    X, y = problem(ESTIMATORS[name])
    seen: list[Any] = []
    clone(ESTIMATORS[name]).set_params(callback=seen.append).fit(X, y)
    assert seen and all(progress.iteration >= 0 for progress in seen)

    def enough(progress: Any) -> None:
        raise LookupError(f"iteration {progress.iteration}")

    with pytest.raises(LookupError, match="iteration"):
        clone(ESTIMATORS[name]).set_params(callback=enough).fit(X, y)
    with pytest.raises(TypeError, match="callback"):
        clone(ESTIMATORS[name]).set_params(callback=3).fit(X, y)


CUT_SHORT = [
    GSUClassifier(solver="newton", max_iter=1), GSURegressor(max_iter=1), RobustSVC(max_iter=2),
    ProbabilisticKernelSVC(max_iter=3), ProbabilisticKernelSVR(max_iter=3),
    ProbabilisticKernelSVC(n_components=30, max_iter=2, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("estimator", CUT_SHORT, ids=str)
def test_not_converging_is_told_with_the_certified_gap(estimator: Any) -> None:
    X, y = problem(estimator)
    with pytest.warns(ConvergenceWarning, match="certified.*relative.*max_iter"):
        model = estimator.fit(X, y)
    assert np.all(model.status_ == "max_iter") and np.all(model.optimality_gap_ > model.tol)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS.values() if is_classifier(e)], ids=str)
def test_one_class_is_refused(estimator: Any) -> None:
    X, y = problem(estimator)
    with pytest.raises(UncertainError, match="one class"):
        clone(estimator).fit(X, np.zeros(len(y)))


REFUSED: list[tuple[type, dict[str, Any], str]] = [
    *((GSUClassifier, {"alpha": alpha}, "alpha") for alpha in (0.0, -1.0, np.nan, np.inf)),
    (GSUClassifier, {"kernel": "sigmoid"}, "'sigmoid'.*linear.*quadratic.*polynomial.*rbf"),
    (GSUClassifier, {"kernel": "rbf", "gamma": "scale"}, "gamma = 'scale'"),
    (GSUClassifier, {"kernel": "rbf", "gamma": 0.0}, "gamma = 0"),
    (GSUClassifier, {"kernel": "polynomial", "degree": 0}, "degree = 0"),
    (GSUClassifier, {"kernel": "polynomial", "coef0": -1.0}, "coef0 = -1"),
    (GSUClassifier, {"kernel": "rbf", "max_rank": 0}, "max_rank = 0"),
    (GSUClassifier, {"kernel": "rbf", "rank_tol": 0.0}, "tol = 0"),
    (GSUClassifier, {"solver": "adam"}, "adam"),
    (GSUClassifier, {"loss": "huber"}, "loss = .*expected_hinge, hinge, squared_hinge"),
    (GSUClassifier, {"tol": 0.0}, "tol"),
    (GSUClassifier, {"max_iter": 0}, "max_iter"),
    (GSUClassifier, {"batch_size": 0}, "batch_size"),
    (GSUClassifier, {"n_jobs": 0}, "n_jobs"),
    (GSUClassifier, {"class_weight": "even"}, "even"),
    (GSUClassifier, {"class_weight": {"a": -1.0, "b": 1.0, "c": 1.0}}, ">= 0"),
    (GSUClassifier, {"class_weight": {"d": 1.0}}, "not in class_weight"),
    (GSURegressor, {"alpha": 0.0}, "alpha"),
    (GSURegressor, {"loss": "absolute"}, "absolute.*huber"),
    (GSURegressor, {"loss": "epsilon_insensitive", "epsilon": -1.0}, "epsilon"),
    (GSURegressor, {"loss": "huber", "delta": 0.0}, "delta"),
    (GSURegressor, {"solver": "sgd"}, "sgd"),
    (GSURegressor, {"kernel": "cubic"}, "cubic"),
    (GSURegressor, {"tol": 0.0}, "tol"),
    (RobustSVC, {"C": 0.0}, "C = 0"),
    (RobustSVC, {"method": "svm"}, "usvc, tsvc, ausvc, mpsvc, psvm"),
    (RobustSVC, {"radius": -0.5}, "radius = -0.5"),
    (RobustSVC, {"confidence": 0.3}, "confidence = 0.3"),
    (RobustSVC, {"confidence": 1.0, "bound": "chebyshev"}, "confidence = 1"),
    (RobustSVC, {"bound": "markov"}, "gaussian, chebyshev"),
    (RobustSVC, {"max_iter": 0}, "max_iter = 0"),
    (MinimaxProbabilityClassifier, {"ridge": -1.0}, "ridge = -1"),
    (GaussianDiscriminant, {"priors": [1.0]}, "priors"),
    (GaussianDiscriminant, {"priors": [1.0, -1.0, 1.0]}, "priors"),
    (GaussianDiscriminant, {"n_components": "auto"}, "auto"),
    (GaussianCollapser, {"to": "nothing"}, "nothing.*one of zero, isotropic, diagonal"),
    *((GaussianDenoiser, {"n_components": n}, "n_components") for n in (0, "two", 1.5)),
    (GaussianDenoiser, {"n_components": 91}, "91 components"),
    (GaussianDenoiser, {"tol": -1.0}, "tol"),
    (GaussianDenoiser, {"reg_covar": 0.0}, "reg_covar"),
    (GaussianDenoiser, {"max_iter": 0}, "max_iter"),
    (GaussianDenoiser, {"acceleration": "fast"}, "acceleration"),
    (ProbabilisticKernelSVC, {"C": 0.0}, "C"),
    (ProbabilisticKernelSVC, {"tol": -1.0}, "tol"),
    *((ProbabilisticKernelSVC, {"sigma": s}, "sigma") for s in (-1.0, "large", None, float("nan"))),
    (ProbabilisticKernelSVC, {"kernel": "rbf"}, "kernel"),
    (ProbabilisticKernelSVC, {"kernel": lambda a, b: np.ones((2, 2))}, "kernel"),
    (ProbabilisticKernelSVC, {"max_iter": 0}, "max_iter"),
    (ProbabilisticKernelSVC, {"cache_size": -1.0}, "cache_size"),
    (ProbabilisticKernelSVC, {"coupling": "none"}, "coupling"),
    (ProbabilisticKernelSVC, {"n_components": 0}, "n_components"),
    (ProbabilisticKernelSVC, {"n_components": 5, "kernel": "precomputed"}, "probabilistic"),
    (ProbabilisticKernelSVC, {"n_components": 5, "C": 0.0}, "C"),
    *((ProbabilisticKernelFeatures, {"n_components": n}, "n_components") for n in (0, -3)),
    (ProbabilisticKernelFeatures, {"sigma": 0.0}, "sigma"),
    (ProbabilisticKernelFeatures, {"sigma": "mean"}, "median"),
    (ProbabilisticKernelFeatures, {"coupling": "none"}, "coupling"),
    (AdaptiveHuberRegressor, {"alpha": 0.0}, "alpha"),
    (AdaptiveHuberRegressor, {"manifold_alpha": -1.0}, "manifold_alpha"),
    (AdaptiveHuberRegressor, {"between_alpha": np.nan}, "between_alpha"),
    (AdaptiveHuberRegressor, {"delta": 0.0}, "delta"),
    (AdaptiveHuberRegressor, {"threshold": 0.0}, "threshold"),
    *((AdaptiveHuberRegressor, {"kernel": kernel}, "kernel") for kernel in ("cubic", ["rbf", "rbf"])),
    (AdaptiveHuberRegressor, {"gamma": -1.0}, "gamma"),
    (AdaptiveHuberRegressor, {"coupling": "none"}, "coupling"),
    *((AdaptiveHuberRegressor, {"views": views}, "views") for views in ([], [[2]], [["a"]])),
    *((AdaptiveHuberRegressor, {"view_weights": w}, "view_weights") for w in ([1.0, 2.0], [-1.0])),
    *(
        (AdaptiveHuberRegressor, {"graph": graph}, "graph")
        for graph in ("nearest", np.ones((2, 3)), np.ones((2, 2)))
    ),
    (AdaptiveHuberRegressor, {"n_neighbors": 0}, "n_neighbors"),
    (AdaptiveHuberRegressor, {"graph_gamma": 0.0}, "graph"),
    (AdaptiveHuberRegressor, {"laplacian": "random"}, "laplacian"),
    (AdaptiveHuberRegressor, {"max_bytes": 1000}, "bytes"),
]


@pytest.mark.parametrize(("kind", "parameters", "words"), REFUSED)
def test_parameters_out_of_range_are_refused(kind: Any, parameters: dict[str, Any], words: str) -> None:
    X, y = problem(kind())
    with pytest.raises(UncertainError, match=words):
        kind(**parameters).fit(X, y)


@pytest.mark.parametrize("kernel", ["precomputed", probabilistic_rbf])
@pytest.mark.parametrize("kind", [ProbabilisticKernelSVC, ProbabilisticKernelSVR])
def test_kernel_machines_with_a_kernel_of_the_caller_are_pickled(kind: Any, kernel: Any) -> None:
    X, y = problem(kind())
    rows = probabilistic_rbf(X) if kernel == "precomputed" else X
    model = kind(kernel=kernel).fit(rows, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    assert again.fit(rows, y).support_.size > 0
