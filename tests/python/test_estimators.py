"""Promises that all estimators make in the same words, beside scikit-learn's own (test_sklearn.py)."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

import uncertain
from uncertain.kernels import probabilistic_rbf

METHODS = ("usvc", "tsvc", "ausvc", "mpsvc", "psvm")
ESTIMATORS = {
    "gsu": uncertain.GSUClassifier(0.01, tol=1e-9),
    "gsu, kernel": uncertain.GSUClassifier(0.01, kernel="rbf", gamma=0.5, tol=1e-9),
    "gsu, sgd": uncertain.GSUClassifier(0.01, solver="sgd", random_state=0),
    **{name: uncertain.RobustSVC(method=name, tol=1e-9) for name in METHODS},  # type: ignore[arg-type]
    "minimax": uncertain.MinimaxProbabilityClassifier(),
    "kernel": uncertain.ProbabilisticKernelSVC(tol=1e-10),
    "random features": uncertain.ProbabilisticKernelSVC(n_components=20, random_state=0),
    "huber classes": uncertain.AdaptiveHuberClassifier(),
    "discriminant": uncertain.GaussianDiscriminant(tol=1e-10),
    "gsu regression": uncertain.GSURegressor(tol=1e-9),
    "tube": uncertain.GSURegressor(loss="epsilon_insensitive", tol=1e-9),
    "squares": uncertain.GSURegressor(loss="squared", tol=1e-9),
    "kernel regression": uncertain.ProbabilisticKernelSVR(tol=1e-10),
    "huber": uncertain.AdaptiveHuberRegressor(delta=0.2),
    "mixture": uncertain.GaussianMixtureRegressor(tol=1e-10),
}


def problem(estimator: Any, n: int = 90, d: int = 2) -> tuple[uncertain.GaussianArray, np.ndarray]:
    """Three classes, or numbers."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    means = rng.normal(size=(n, d))
    means[:, :2] += 1.8 * np.array([[1, 0], [-1, 0.5], [0, -1]])[y]
    X = uncertain.GaussianArray(means, std=rng.uniform(0.05, 0.6, size=(n, d)))
    numbers = means[:, :2] @ [1.0, -0.5] + 0.1 * y
    return X, np.array(["a", "b", "c"])[y] if is_classifier(estimator) else numbers


def answers(model: Any, X: uncertain.GaussianArray) -> np.ndarray:
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
    with pytest.raises(uncertain.UncertainError, match="no probabilities"):
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
    uncertain.GSUClassifier(solver="newton", max_iter=1), uncertain.GSURegressor(max_iter=1),
    uncertain.RobustSVC(max_iter=2), uncertain.ProbabilisticKernelSVC(max_iter=3),
    uncertain.ProbabilisticKernelSVR(max_iter=3),
    uncertain.ProbabilisticKernelSVC(n_components=30, max_iter=2, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("estimator", CUT_SHORT, ids=str)
def test_not_converging_is_told_with_the_certified_gap(estimator: Any) -> None:
    X, y = problem(estimator)
    with pytest.warns(ConvergenceWarning, match="relative.*max_iter"):
        model = estimator.fit(X, y)
    assert np.all(model.status_ == "max_iter") and np.all(model.optimality_gap_ > model.tol)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS.values() if is_classifier(e)], ids=str)
def test_one_class_is_refused(estimator: Any) -> None:
    X, y = problem(estimator)
    with pytest.raises(uncertain.UncertainError, match="one class"):
        clone(estimator).fit(X, np.zeros(len(y)))


REFUSED: list[tuple[type, dict[str, Any], str]] = [
    *((uncertain.GSUClassifier, {"alpha": alpha}, "alpha") for alpha in (0.0, -1.0, np.nan, np.inf)),
    (uncertain.GSUClassifier, {"kernel": "sigmoid"}, "'sigmoid'.*linear.*quadratic.*polynomial.*rbf"),
    (uncertain.GSUClassifier, {"kernel": "rbf", "gamma": "scale"}, "gamma = 'scale'"),
    (uncertain.GSUClassifier, {"kernel": "rbf", "gamma": 0.0}, "gamma = 0"),
    (uncertain.GSUClassifier, {"kernel": "polynomial", "degree": 0}, "degree = 0"),
    (uncertain.GSUClassifier, {"kernel": "polynomial", "coef0": -1.0}, "coef0 = -1"),
    (uncertain.GSUClassifier, {"kernel": "rbf", "max_rank": 0}, "max_rank = 0"),
    (uncertain.GSUClassifier, {"kernel": "rbf", "rank_tol": 0.0}, "tol = 0"),
    (uncertain.GSUClassifier, {"solver": "adam"}, "adam"),
    (uncertain.GSUClassifier, {"loss": "huber"}, "loss = .*expected_hinge, hinge, squared_hinge"),
    (uncertain.GSUClassifier, {"tol": 0.0}, "tol"),
    (uncertain.GSUClassifier, {"max_iter": 0}, "max_iter"),
    (uncertain.GSUClassifier, {"batch_size": 0}, "batch_size"),
    (uncertain.GSUClassifier, {"n_jobs": 0}, "n_jobs"),
    (uncertain.GSUClassifier, {"class_weight": "even"}, "even"),
    (uncertain.GSUClassifier, {"class_weight": {"a": -1.0, "b": 1.0, "c": 1.0}}, ">= 0"),
    (uncertain.GSUClassifier, {"class_weight": {"d": 1.0}}, "not in class_weight"),
    (uncertain.GSURegressor, {"alpha": 0.0}, "alpha"),
    (uncertain.GSURegressor, {"loss": "absolute"}, "absolute.*huber"),
    (uncertain.GSURegressor, {"loss": "epsilon_insensitive", "epsilon": -1.0}, "epsilon"),
    (uncertain.GSURegressor, {"loss": "huber", "delta": 0.0}, "delta"),
    (uncertain.GSURegressor, {"solver": "sgd"}, "sgd"),
    (uncertain.GSURegressor, {"kernel": "cubic"}, "cubic"),
    (uncertain.GSURegressor, {"tol": 0.0}, "tol"),
    (uncertain.RobustSVC, {"C": 0.0}, "C = 0"),
    (uncertain.RobustSVC, {"method": "svm"}, "usvc, tsvc, ausvc, mpsvc, psvm"),
    (uncertain.RobustSVC, {"radius": -0.5}, "radius = -0.5"),
    (uncertain.RobustSVC, {"confidence": 0.3}, "confidence = 0.3"),
    (uncertain.RobustSVC, {"confidence": 1.0, "bound": "chebyshev"}, "confidence = 1"),
    (uncertain.RobustSVC, {"bound": "markov"}, "gaussian, chebyshev"),
    (uncertain.RobustSVC, {"max_iter": 0}, "max_iter = 0"),
    (uncertain.MinimaxProbabilityClassifier, {"ridge": -1.0}, "ridge = -1"),
    (uncertain.GaussianDiscriminant, {"priors": [1.0]}, "priors"),
    (uncertain.GaussianDiscriminant, {"priors": [1.0, -1.0, 1.0]}, "priors"),
    (uncertain.GaussianDiscriminant, {"n_components": "auto"}, "auto"),
    (uncertain.GaussianCollapser, {"to": "nothing"}, "nothing.*one of zero, isotropic, diagonal"),
    *((uncertain.GaussianDenoiser, {"n_components": n}, "n_components") for n in (0, "two", 1.5)),
    (uncertain.GaussianDenoiser, {"n_components": 91}, "91 components"),
    (uncertain.GaussianDenoiser, {"tol": -1.0}, "tol"),
    (uncertain.GaussianDenoiser, {"reg_covar": 0.0}, "reg_covar"),
    (uncertain.GaussianDenoiser, {"max_iter": 0}, "max_iter"),
    (uncertain.GaussianDenoiser, {"acceleration": "fast"}, "acceleration"),
    (uncertain.ProbabilisticKernelSVC, {"C": 0.0}, "C"),
    (uncertain.ProbabilisticKernelSVC, {"tol": -1.0}, "tol"),
    *((uncertain.ProbabilisticKernelSVC, {"sigma": s}, "sigma") for s in (-1.0, "large", None, float("nan"))),
    (uncertain.ProbabilisticKernelSVC, {"kernel": "rbf"}, "kernel"),
    (uncertain.ProbabilisticKernelSVC, {"kernel": lambda a, b: np.ones((2, 2))}, "kernel"),
    (uncertain.ProbabilisticKernelSVC, {"max_iter": 0}, "max_iter"),
    (uncertain.ProbabilisticKernelSVC, {"cache_size": -1.0}, "cache_size"),
    (uncertain.ProbabilisticKernelSVC, {"coupling": "none"}, "coupling"),
    (uncertain.ProbabilisticKernelSVC, {"n_components": 0}, "n_components"),
    (uncertain.ProbabilisticKernelSVC, {"n_components": 5, "kernel": "precomputed"}, "probabilistic"),
    (uncertain.ProbabilisticKernelSVC, {"n_components": 5, "C": 0.0}, "C"),
    *((uncertain.ProbabilisticKernelFeatures, {"n_components": n}, "n_components") for n in (0, -3)),
    (uncertain.ProbabilisticKernelFeatures, {"sigma": 0.0}, "sigma"),
    (uncertain.ProbabilisticKernelFeatures, {"sigma": "mean"}, "median"),
    (uncertain.ProbabilisticKernelFeatures, {"coupling": "none"}, "coupling"),
    (uncertain.AdaptiveHuberRegressor, {"alpha": 0.0}, "alpha"),
    (uncertain.AdaptiveHuberRegressor, {"manifold_alpha": -1.0}, "manifold_alpha"),
    (uncertain.AdaptiveHuberRegressor, {"between_alpha": np.nan}, "between_alpha"),
    (uncertain.AdaptiveHuberRegressor, {"delta": 0.0}, "delta"),
    (uncertain.AdaptiveHuberRegressor, {"threshold": 0.0}, "threshold"),
    *(
        (uncertain.AdaptiveHuberRegressor, {"kernel": kernel}, "kernel")
        for kernel in ("cubic", ["rbf", "rbf"])
    ),
    (uncertain.AdaptiveHuberRegressor, {"gamma": -1.0}, "gamma"),
    (uncertain.AdaptiveHuberRegressor, {"coupling": "none"}, "coupling"),
    *((uncertain.AdaptiveHuberRegressor, {"views": views}, "views") for views in ([], [[2]], [["a"]])),
    *((uncertain.AdaptiveHuberRegressor, {"view_weights": w}, "view_weights") for w in ([1.0, 2.0], [-1.0])),
    *(
        (uncertain.AdaptiveHuberRegressor, {"graph": graph}, "graph")
        for graph in ("nearest", np.ones((2, 3)), np.ones((2, 2)))
    ),
    (uncertain.AdaptiveHuberRegressor, {"n_neighbors": 0}, "n_neighbors"),
    (uncertain.AdaptiveHuberRegressor, {"graph_gamma": 0.0}, "graph"),
    (uncertain.AdaptiveHuberRegressor, {"laplacian": "random"}, "laplacian"),
    (uncertain.AdaptiveHuberRegressor, {"max_bytes": 1000}, "bytes"),
]


@pytest.mark.parametrize(("kind", "parameters", "words"), REFUSED)
def test_parameters_out_of_range_are_refused(kind: Any, parameters: dict[str, Any], words: str) -> None:
    X, y = problem(kind())
    with pytest.raises(uncertain.UncertainError, match=words):
        kind(**parameters).fit(X, y)


@pytest.mark.parametrize("kernel", ["precomputed", probabilistic_rbf])
@pytest.mark.parametrize("kind", [uncertain.ProbabilisticKernelSVC, uncertain.ProbabilisticKernelSVR])
def test_kernel_machines_with_a_kernel_of_the_caller_are_pickled(kind: Any, kernel: Any) -> None:
    X, y = problem(kind())
    rows = probabilistic_rbf(X) if kernel == "precomputed" else X
    model = kind(kernel=kernel).fit(rows, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    assert again.fit(rows, y).support_.size > 0
