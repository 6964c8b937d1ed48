"""``GaussianColumnTransformer``: blocks with and without error bars beside each other."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from uncertain import (
    AsGaussians,
    GaussianArray,
    GaussianColumnTransformer,
    GaussianScaler,
    GSUClassifier,
    LinearMap,
)
from uncertain.exceptions import ShapeError

N = 60


def catalogue(library: Any) -> Any:
    rng = np.random.default_rng(0)
    side = np.arange(N) % 2
    return library(
        {
            "flux": rng.normal(side, 1.0),
            "flux_err": rng.uniform(0.1, 0.5, N),
            "airmass": rng.uniform(1.0, 2.0, N),
            "survey": (["SDSS", "2MASS", "WISE"] * N)[:N],
        }
    )


def columns() -> GaussianColumnTransformer:
    return GaussianColumnTransformer(
        [
            ("noisy", AsGaussians(), ["flux", "flux_err"]),
            ("exact", StandardScaler(), ["airmass"]),
            ("survey", OneHotEncoder(), ["survey"]),
        ],
        sparse_threshold=0,
    )


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_blocks_stand_beside_each_other(library: Any) -> None:
    table = catalogue(library)
    rows = columns().fit(table).transform(table)
    assert isinstance(rows, GaussianArray) and rows.kind == "diagonal" and rows.shape == (N, 5)
    flux, error, airmass = (np.asarray(table[name]) for name in ("flux", "flux_err", "airmass"))
    np.testing.assert_array_equal(rows.means[:, 0], flux)
    np.testing.assert_allclose(rows.means[:, 1], (airmass - airmass.mean()) / airmass.std())
    np.testing.assert_array_equal(rows.means[:, 2:].sum(axis=1), 1.0)
    covariances = rows.covariances()
    np.testing.assert_allclose(covariances[:, 0, 0], error**2)
    assert not covariances[:, 1:].any()
    assert columns().fit_transform(table) == rows


def test_it_is_a_step_of_scikit_learn() -> None:
    table, y = catalogue(pd.DataFrame), np.arange(N) % 2
    model = make_pipeline(columns(), GaussianScaler(), GSUClassifier())
    assert cross_val_score(model, table, y, cv=3).mean() > 0.5
    search = GridSearchCV(model, {"gsuclassifier__alpha": [1e-3, 1e-1]}, cv=3).fit(table, y)
    fitted = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(fitted.predict(table), search.predict(table))
    names = columns().fit(table).get_feature_names_out().tolist()
    assert names == [
        "noisy__flux",
        "exact__airmass",
        "survey__survey_2MASS",
        "survey__survey_SDSS",
        "survey__survey_WISE",
    ]
    assert list(columns().fit_transform(table).feature_names or ()) == names
    assert clone(columns()).get_params().keys() == columns().get_params().keys()


def test_parts_of_gaussians_and_arrays() -> None:
    rng = np.random.default_rng(1)
    X = GaussianArray(rng.normal(size=(N, 3)), cov=np.diag([1.0, 2.0, 3.0]) + 0.5)
    colors = GaussianColumnTransformer(
        [("color", LinearMap([[1.0], [-1.0]]), [0, 1]), ("rest", "passthrough", [2])]
    ).fit_transform(X)
    np.testing.assert_allclose(colors.means, np.column_stack([X.means[:, 0] - X.means[:, 1], X.means[:, 2]]))
    np.testing.assert_allclose(colors.covariances()[0], [[3.0, 0.0], [0.0, 3.5]])
    points = GaussianColumnTransformer([("a", "passthrough", [0])], remainder="drop").fit_transform(X.means)
    assert points.kind == "zero"
    np.testing.assert_array_equal(points.means, X.means[:, :1])
    thin = sparse.csr_array(X.means)
    whole = GaussianColumnTransformer([("a", FunctionTransformer(lambda Z: sparse.csr_array(Z)), [0, 1])])
    np.testing.assert_array_equal(whole.fit_transform(X.means).means, thin.toarray()[:, :2])
    with pytest.raises(ShapeError, match=r"t: expected real numbers, got strings|t: .*objects"):
        GaussianColumnTransformer([("t", "passthrough", ["survey"])]).fit_transform(catalogue(pl.DataFrame))
