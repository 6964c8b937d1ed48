"""Finite or refused, at every magnitude: what every public estimator answers and keeps, from 1e-300 to 1e308.

Squares of doubles end at 1e154 and begin at 1e-160. An answer beyond that is a number or an `UncertainError`
that says why; neither NaN nor infinity, nor another exception.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from test_sklearn import ESTIMATORS, OF_TABLES, VARIANTS

from uncertain import GaussianArray, RemeasuredClassifier, RemeasuredRegressor
from uncertain.exceptions import UncertainError

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
