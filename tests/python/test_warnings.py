"""Warnings point at the line of the user's program, whatever the path to them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import uncertain
from uncertain import GaussianArray, GaussianScaler, GSUClassifier
from uncertain.exceptions import ConvergenceWarning, UncertainWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)


def stopped_early() -> GSUClassifier:
    return GSUClassifier(max_iter=1, tol=1e-12, solver="lbfgs")


FITS: dict[str, Callable[[], object]] = {
    "alone": lambda: stopped_early().fit(X, LABELS),
    "in a pipeline": lambda: make_pipeline(GaussianScaler(), stopped_early()).fit(X, LABELS),
    "in a search": lambda: GridSearchCV(stopped_early(), {"alpha": [1e-3, 1e-2]}, cv=2).fit(X, LABELS),
    "in uncertain.fit": lambda: uncertain.fit(
        GaussianArray(X, std=0.1), target=LABELS, method="gsu", max_iter=1, tol=1e-12, solver="lbfgs"
    ),
}


@pytest.mark.parametrize("path", FITS)
def test_the_warning_points_here(path: str) -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        FITS[path]()
    assert {warning.filename for warning in caught} == {__file__}


def test_a_warning_of_data_points_here() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        uncertain.uncertainty.from_bounds([[0.0]], [[4.0]], value=[[1.0]])
    assert [(warning.filename, warning.category) for warning in caught] == [(__file__, UncertainWarning)]
