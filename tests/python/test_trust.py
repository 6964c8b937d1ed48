"""Finite or refused: magnitudes from 1e-300 to 1e308, extreme rows, odd arguments; exact rows that are wide,
against LIBSVM."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars
import pytest
from catalogues import METHODS, quick
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC
from test_sklearn import ESTIMATORS, OF_TABLES, VARIANTS

import uncertain
from uncertain import (
    AdaptiveHuberRegressor,
    GaussianArray,
    GaussianDenoiser,
    GSUClassifier,
    RemeasuredClassifier,
    RemeasuredRegressor,
)
from uncertain.exceptions import ParameterError, UncertainError

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(200, 2))
RAW = Z * [1e4, 3e5] + [6e4, 2e6]
Y = 8.0 + Z[:, 0] - 0.5 * Z[:, 1]


@pytest.mark.filterwarnings("ignore:features are divided by")
@pytest.mark.parametrize("graph", [None, "knn"])
@pytest.mark.parametrize("kernel", ["linear", "quadratic", "polynomial", "rbf"])
def test_huber_predicts_what_its_objective_says_or_refuses(kernel: str, graph: str | None) -> None:
    model = AdaptiveHuberRegressor(kernel=kernel, graph=graph, max_refinements=0)
    try:
        model.fit(RAW, Y)
    except UncertainError as error:
        assert "lost in rounding" in str(error) or "positive definite" in str(error), error
        return
    # Without refinement the objective is half the mean square and two penalties >= 0.
    residuals = Y - model.predict(RAW)
    assert 0.5 * np.mean(residuals**2) <= model.objective_ * (1 + 1e-6) + 1e-9


def test_huber_refuses_kernels_without_a_digit_left() -> None:
    with pytest.raises(UncertainError, match=r"lost in rounding: .* scale the features"):
        AdaptiveHuberRegressor(kernel="quadratic", graph=None, scale_features=False).fit(RAW, Y)
    centred = Z - Z.mean(axis=0)
    scaled = AdaptiveHuberRegressor(kernel="linear", graph=None, fit_intercept=True, alpha=1e-8)
    expected = LinearRegression().fit(centred, Y).predict(centred)
    np.testing.assert_allclose(scaled.fit(centred, Y).predict(centred), expected, atol=1e-4)


def test_huber_keeps_half_of_the_labels() -> None:
    # Without an intercept all residuals are about 8: a threshold below them would drop every label.
    model = AdaptiveHuberRegressor(kernel="linear", graph=None).fit(Z, Y)
    assert len(model.removed_) <= 100 and model.status_ == "no_label_left"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_huber_on_a_table_has_an_intercept(kernel: str) -> None:
    table = polars.DataFrame(
        {"a": RAW[:, 0], "a_err": [1e3] * 200, "b": RAW[:, 1], "b_err": [1e4] * 200, "y": Y}
    )
    model = uncertain.fit(table, "y", method="huber", kernel=kernel)
    assert model.pipeline_[-1].fit_intercept
    assert model.score(table) > 0.9
    without = uncertain.fit(table, "y", method="huber", kernel="linear", fit_intercept=False)
    assert without.score(table) < 0.0


@pytest.mark.parametrize("dtype", [polars.Int64, polars.UInt64])
@pytest.mark.parametrize("gap", [False, True])
def test_integers_that_are_no_float64_are_refused(dtype: Any, gap: bool) -> None:
    whole = [1, 2, None if gap else 3, 2**53, 2**60 + 1, 5]
    table = polars.DataFrame(
        {"n": polars.Series(whole, dtype=dtype), "n_err": [0.1] * 6, "k": ["a", "b"] * 3}
    )
    with pytest.raises(UncertainError, match=r"n: row 4 is 1152921504606846977, .* 2\^53"):
        uncertain.fit(table, "k", method="gsu", on_missing="impute" if gap else "error")
    good = table.with_columns(n=polars.Series([1, 2, 4, 2**53, 3, 5], dtype=dtype))
    assert uncertain.AsGaussians().fit_transform(good).means[3, 0] == 2.0**53


@pytest.mark.parametrize("n_jobs", [10**19, -(10**19), "a", 1.5])
def test_strange_numbers_of_threads(n_jobs: Any) -> None:
    X, y = Z, (Z[:, 0] > 0).astype(int)
    with pytest.raises(ParameterError, match="n_jobs = "):
        GSUClassifier(n_jobs=n_jobs).fit(X, y)
    with pytest.raises(ParameterError, match=r"n_jobs = .*: must be a number of threads"):
        GaussianDenoiser().fit(X).set_params(n_jobs=n_jobs).transform(GaussianArray(X, std=0.1))


@pytest.mark.parametrize("name", ["alpha", "max_iter", "tol"])
def test_huge_numbers_are_named(name: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{name}: an integer of 1329 bits; must be below 2\^64"):
        GSUClassifier(**{name: 10**400}).fit(Z, Z[:, 0] > 0)


def test_folds_have_an_end() -> None:
    table = polars.DataFrame({"a": Z[:, 0], "a_err": [0.1] * 200, "k": np.where(Z[:, 0] > 0, "u", "v")})
    model = uncertain.fit(table, "k", method="gsu")
    with pytest.raises(ParameterError, match=r"folds=100000, repeats=2: at most 10,000"):
        model.report(table, folds=100_000)


TREES: dict[type, Any] = {
    RemeasuredClassifier: HistGradientBoostingClassifier(max_iter=5),
    RemeasuredRegressor: HistGradientBoostingRegressor(max_iter=5),
}
CASES = [
    (kind, parameters)
    for kind in ESTIMATORS
    if kind not in OF_TABLES
    for parameters in (
        [{"estimator": TREES[kind], "n_copies": 2}] if kind in TREES else VARIANTS.get(kind, [{}])
    )
]
QUESTIONS = ("decision_function", "predict", "predict_proba", "decision_distribution", "transform")
DIRECTIONS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0]])


def rows(scale: float = 1.0, errors: float = 1.0) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    means = rng.normal(size=(60, 3)) + y[:, None]
    return GaussianArray(scale * means, std=errors * rng.uniform(0.1, 0.5, (60, 3))), y


def fitted(kind: type, parameters: dict[str, Any], X: GaussianArray, y: np.ndarray, unit: float = 1.0) -> Any:
    model = clone(kind(**parameters))
    if "probability" in model.get_params():
        model.set_params(probability=True)
    target = unit * np.sin(np.arange(60.0)) if is_regressor(model) else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        return model.fit(X, target)


def numbers(answer: Any) -> Iterator[np.ndarray]:
    """All numbers of an answer."""
    if isinstance(answer, tuple):
        for part in answer:
            yield from numbers(part)
    elif isinstance(answer, GaussianArray):
        yield answer.means
        cov = answer.covariances()
        yield cov
        yield np.sqrt(np.diagonal(cov, axis1=1, axis2=2))  # NaN of a negative variance
    elif np.asarray(answer).dtype.kind == "f":
        yield np.asarray(answer)


def check_answers(model: Any, X: GaussianArray) -> None:
    for name in QUESTIONS:
        if not hasattr(model, name):
            continue
        with contextlib.suppress(UncertainError), np.errstate(invalid="ignore"):
            answer = getattr(model, name)(X)
            assert all(np.isfinite(values).all() for values in numbers(answer)), name
            if name == "predict_proba":
                np.testing.assert_allclose(answer.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize(("kind", "parameters"), CASES, ids=str)
def test_answers_about_far_rows(kind: type, parameters: dict[str, Any]) -> None:
    X, y = rows()
    model = fitted(kind, parameters, X, y)
    for size in (1e8, 1e60, 1e100, 1e154, 1e160, 1e300, 1.7e308):
        for std in (0.0, 0.1, 1e-3 * size, size):
            for direction in DIRECTIONS:
                with contextlib.suppress(UncertainError):  # a variance that is no number
                    check_answers(model, GaussianArray(size * direction[None], std=std))


@pytest.mark.parametrize(("kind", "parameters"), CASES, ids=str)
def test_fits_of_large_and_small_numbers(kind: type, parameters: dict[str, Any]) -> None:
    # Hundreds of iterations where rounding is all there is.
    slow = parameters.get("method") in ("ausvc", "mpsvc")
    for power in (160,) if slow else (-300, -160, -100, 100, 150, 154, 160, 300):
        for errors in (1.0, 10.0**power):
            with contextlib.suppress(UncertainError):
                X, y = rows(10.0**power, errors)
                model = fitted(kind, parameters, X, y)
                check_answers(model, X)
    if is_regressor(kind()):
        X, y = rows()
        for power in (-300, -160, 150, 300):
            with contextlib.suppress(UncertainError):
                model = fitted(kind, parameters, X, y, 10.0**power)
                check_answers(model, X)
                assert np.isfinite(getattr(model, "objective_", 0.0)).all()


def extreme_rows(k: int) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.arange(90) % k
    means = rng.normal(size=(90, 3)) + 1.5 * codes[:, None] * [1.0, -1.0, 0.5]
    return GaussianArray(means, std=rng.uniform(0.1, 0.8, (90, 3))), np.array(["a", "b", "c"])[codes]


def extremes(size: float) -> GaussianArray:
    """Outliers in several directions, exact, vague or vaguer than far; and huge error bars in the middle."""
    directions = np.array([[1.0, 1, 1], [-1, -1, -1], [1, -1, 1], [0, 0, 0], [0, 1, 0]])
    means = np.repeat(size * directions, 4, axis=0)
    std = np.tile(size * np.array([0.0, 1e-6, 1.0, 1e3]), 5)
    return GaussianArray(means, std=np.broadcast_to(std[:, None], means.shape))


@pytest.mark.parametrize(
    ("method", "options", "k"),
    [(method, options, 2 if method == "law" else k)  # a law is of two classes, or of ordered ones
     for method in METHODS for options, k in (({}, 3), ({"meaning": "measurement"}, 2))]
    + [(method, {"kernel": "quadratic"}, 3) for method in ("gsu", "usvc")],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::uncertain.exceptions.ErrorSizesWarning")  # as they should
def test_probabilities_are_probabilities(method: str, options: dict[str, Any], k: int) -> None:
    X, y = extreme_rows(k)
    model = uncertain.fit(X, y, **quick(method), **options)
    for size in (1e2, 1e5, 1e8, 1e16, 1e30):
        prob = model.predict_proba(extremes(size))
        assert np.isfinite(prob).all() and (prob >= 0).all() and (prob <= 1).all()
        np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    try:
        prob = model.predict_proba(extremes(1e120))
    except UncertainError:
        return  # beyond what squares of doubles can hold: said, not guessed
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_far_rows_are_not_on_the_wrong_side(method: str) -> None:
    """A row a hundred deviations into a class, and exact, is not given to the other one."""
    X, y = extreme_rows(2)
    model = uncertain.fit(X, y, **quick(method))
    direction = np.array([1.0, -1.0, 0.5])
    far = GaussianArray(np.array([-100.0 * direction, 100.0 * direction]))
    prob = model.predict_proba(far)
    if method in ("kernel", "huber"):  # local: far from all rows they know nothing
        assert prob[1, 1] >= prob[0, 1] - 1e-12
    else:
        assert prob[0, 0] > 0.5 and prob[1, 1] > 0.5


@pytest.mark.parametrize(
    "method", [name for name in METHODS if name not in ("discriminant", "mixture", "law", "remeasured")]
)
@pytest.mark.filterwarnings("ignore:.*no plane is better")
def test_a_class_that_cannot_be_held_out_is_named(method: str) -> None:
    X, _ = extreme_rows(2)
    y = np.array(["star"] * 89 + ["quasar"])
    with pytest.raises(UncertainError, match=r"class 'quasar' has a single row .* probability=False"):
        uncertain.fit(X, y, method=method)  # type: ignore[arg-type]
    alone = uncertain.fit(X, y, method=method, probability=False)  # type: ignore[arg-type]
    assert alone.classes_.tolist() == ["quasar", "star"]


Floats = NDArray[np.float64]
SHAPES = [(240, 80), (60, 300), (30, 30), (12, 3)]


def exact_rows(n: int, d: int, classes: int = 2) -> tuple[Floats, NDArray[np.int64]]:
    """Features of unequal size, away from zero."""
    rng = np.random.default_rng(n + d)
    y = rng.integers(0, classes, size=n)
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y] / np.sqrt(d)
    return X * rng.uniform(0.3, 3.0, size=d) + 5.0, y


def svm_objective(w: Floats, b: float, X: Floats, y: Floats, alpha: float, c: Floats | None = None) -> float:
    """alpha / 2 |w|^2 and the mean hinge."""
    return 0.5 * alpha * float(w @ w) + float(np.average(np.maximum(0.0, 1.0 - y * (X @ w + b)), weights=c))


@pytest.mark.parametrize("loss", ["hinge", "expected_hinge"])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_the_optimum_is_libsvms(n: int, d: int, loss: str) -> None:
    X, labels = exact_rows(n, d)
    y = 2.0 * labels - 1.0
    weights = np.random.default_rng(1).uniform(0.2, 3.0, size=n)
    for alpha in (1e-1, 1e-3):
        for c in (None, weights):
            model = GSUClassifier(alpha, loss=loss, tol=1e-8).fit(X, labels, sample_weight=c)
            share = np.ones(n) if c is None else c / c.mean()
            svc = SVC(kernel="linear", C=1.0 / (alpha * n), tol=1e-5).fit(X, labels, sample_weight=share)
            ours = svm_objective(model.coef_.ravel(), model.intercept_[0], X, y, alpha, c)
            theirs = svm_objective(svc.coef_.ravel(), svc.intercept_[0], X, y, alpha, c)
            assert model.status_ == "converged"
            assert_allclose(model.objective_, ours, rtol=1e-9)
            # Above the least value by the certified gap at most.
            assert ours <= theirs * (1.0 + 1e-8) + 1e-12
            assert theirs >= ours * (1.0 - float(model.optimality_gap_)) - 1e-12
