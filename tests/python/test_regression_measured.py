"""Regression with ``meaning="measurement"``: denoised, then the posterior means alone."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import GaussianArray, GaussianCollapser
from uncertain.exceptions import ParameterError

NOISE = 0.5


def readings(n: int, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """(table, true values, targets): y = 2 z and a reading x of z with noise."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    y = 2 * z + 0.1 * rng.normal(size=n)
    x = z + NOISE * rng.normal(size=n)
    return pl.DataFrame({"x": x, "x_err": np.full(n, NOISE), "y": y}), z, y


def slope(model: uncertain.Model) -> float:
    """Of the law between true values: between two readings without errors."""
    ends = pl.DataFrame({"x": [-1.0, 1.0], "x_err": [1e-9, 1e-9]})
    low, high = model.predict(ends).to_list()
    return float(high - low) / 2


@pytest.mark.parametrize(
    ("method", "params", "n"),
    [
        ("gsu", {"loss": "squared"}, 20_000),
        ("gsu", {"loss": "huber"}, 20_000),
        ("gsu", {"loss": "epsilon_insensitive"}, 20_000),
        ("huber", {"kernel": "linear"}, 2_000),
        ("kernel", {"C": 10.0, "sigma": 3.0}, 2_000),
    ],
)
def test_the_law_is_found_and_predictions_are_as_good_as_least_squares(
    method: Any, params: dict[str, Any], n: int
) -> None:
    table, _, _ = readings(n)
    model = uncertain.fit(table, target="y", method=method, meaning="measurement", **params)
    assert [type(step).__name__ for step in model.pipeline_][-2] == "GaussianCollapser"
    assert_allclose(slope(model), 2.0, rtol=0.03)
    fresh, _, truth = readings(5_000, seed=1)
    x, y = table["x"].to_numpy(), table["y"].to_numpy()
    line = np.polyfit(x, y, 1)
    least_squares = np.mean((truth - np.polyval(line, fresh["x"].to_numpy())) ** 2)
    assert np.mean((truth - model.predict(fresh).to_numpy()) ** 2) < 1.01 * least_squares


def test_spread_is_as_it_was() -> None:
    table, _, _ = readings(20_000)
    model = uncertain.fit(table, target="y", loss="squared", meaning="spread", scale=False, method="gsu")
    assert_allclose(model.pipeline_[-1].coef_[0], 2 / (1 + 2 * NOISE**2), rtol=0.03)


def test_features_that_are_measured_unequally_well() -> None:
    """Two features, correlated, with errors of any size per row: both coefficients of the law."""
    rng = np.random.default_rng(4)
    n = 20_000
    z = rng.multivariate_normal([0, 5], [[1, 0.6], [0.6, 2]], size=n)
    errors = rng.uniform(0.1, 1.0, size=(n, 2))
    X = GaussianArray(z + errors * rng.normal(size=z.shape), std=errors)
    y = z @ [2.0, -1.0] + 3 + 0.1 * rng.normal(size=n)
    model = uncertain.fit(
        X, target=y, meaning="measurement", scale=False, loss="squared", alpha=1e-9, method="gsu"
    )
    assert_allclose(model.pipeline_[-1].coef_, [2.0, -1.0], rtol=0.03)
    assert_allclose(model.pipeline_[-1].intercept_, 3.0, atol=0.1)


@pytest.mark.parametrize("method", ["gsu", "huber", "kernel"])
def test_files_and_pickles_hold_the_collapser(method: Any, tmp_path: Path) -> None:
    table, _, _ = readings(200)
    model = uncertain.fit(table, target="y", method=method, meaning="measurement")
    model.save(tmp_path / "model")
    for again in (uncertain.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert [type(s) for s in again.pipeline_] == [type(s) for s in model.pipeline_]
        assert_array_equal(again.predict(table), model.predict(table))
        if model.has_distribution_:
            assert again.predict_distribution(table).equals(model.predict_distribution(table))


def test_what_a_collapser_leaves() -> None:
    rng = np.random.default_rng(6)
    root = rng.normal(size=(7, 3, 3))
    cov = root @ root.mT
    X = GaussianArray(rng.normal(size=(7, 3)), cov=cov)
    diagonal = np.einsum("nii->ni", cov)
    wanted = {
        "zero": np.zeros_like(cov),
        "isotropic": diagonal.mean(axis=1)[:, None, None] * np.eye(3),
        "diagonal": diagonal[:, :, None] * np.eye(3),
    }
    for to, expected in wanted.items():
        out = GaussianCollapser(to).fit_transform(X)  # type: ignore[arg-type]
        assert_array_equal(out.means, X.means)
        assert_allclose(out.covariances(), expected, rtol=1e-12)
    with pytest.raises(ParameterError, match=r"nothing.*one of zero, isotropic, diagonal"):
        GaussianCollapser("nothing").fit(X)  # type: ignore[arg-type]


def test_a_collapser_passes_gaps_on() -> None:
    points = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert_array_equal(GaussianCollapser().fit_transform(points), points)
    table = pl.DataFrame(
        {"a": [1.0, None, 3.0], "a_err": [0.1, 0.1, 0.1], "b": [1.0, 2.0, 4.0], "b_err": [0.1] * 3}
    )
    rows = uncertain.AsGaussians(features=["a", "b"], std="{}_err", on_missing="impute").fit_transform(table)
    out = GaussianCollapser().fit(rows).transform(rows)
    assert_array_equal(out.missing, rows.missing)
    assert_array_equal(out.gaussians.covariances(), np.zeros((3, 2, 2)))
