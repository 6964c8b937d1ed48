"""Huber regression in units of the features' spreads, where nobody chose units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import r2_score

import uncertain
from uncertain import AdaptiveHuberClassifier, AdaptiveHuberRegressor, GaussianArray
from uncertain.exceptions import ParameterError, UncertainWarning

pytestmark = pytest.mark.filterwarnings("ignore:features are divided by")
RNG = np.random.default_rng(3)
Z, NEW = RNG.normal(size=(120, 3)), RNG.normal(size=(50, 3))
TRUTHS = {
    "linear": lambda z: z @ [1.0, -0.5, 0.3],
    "quadratic": lambda z: (z @ [1.0, -0.5, 0.3]) ** 2,
    "polynomial": lambda z: (z @ [0.5, -0.25, 0.2] + 1.0) ** 3,
    "rbf": lambda z: np.sin(z[:, 0]) + 0.5 * z[:, 1],
}
UNITS = [(1.0, 1.0, 1e6), (1e-6, 1.0, 1.0), (1e3, 1.0, 1.0), (1e6, 1e-6, 1.0), (1e4, 1e4, 5e-4)]


def made(kernel: str, **parameters: Any) -> AdaptiveHuberRegressor:
    return AdaptiveHuberRegressor(kernel=kernel, max_refinements=2, delta=0.05, **parameters)


@pytest.mark.parametrize("graph", ["knn", None])
@pytest.mark.parametrize("kernel", TRUTHS)
def test_units_are_nothing(kernel: str, graph: Any) -> None:
    y = TRUTHS[kernel](Z) + 0.05 * RNG.normal(size=len(Z))
    expected = made(kernel, graph=graph, scale_features=True).fit(Z, y)
    assert r2_score(TRUTHS[kernel](NEW), expected.predict(NEW)) > 0.9
    for units in UNITS:
        model = made(kernel, graph=graph).fit(Z * units, y)
        np.testing.assert_allclose(model.predict(NEW * units), expected.predict(NEW), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(model.scales_[0], Z.std(axis=0) * units, rtol=1e-12)
        assert model.removed_.tolist() == expected.removed_.tolist()


@pytest.mark.parametrize("kernel", TRUTHS)
def test_it_is_the_published_model_of_scaled_features(kernel: str) -> None:
    """To the last coefficient; and rows that are scaled already are taken as they are."""
    y, units = TRUTHS[kernel](Z), np.array([1e5, 1.0, 1e-3])
    raw = made(kernel).fit(Z * units, y)
    scaled = made(kernel, scale_features=False).fit(Z * units / raw.scales_[0], y)
    np.testing.assert_array_equal(raw.dual_coef_, scaled.dual_coef_)
    assert raw.objective_ == scaled.objective_ and raw.gamma_ == scaled.gamma_
    for some in (Z, Z * [0.5, 1.0, 1.9]):
        found, plain = made(kernel).fit(some, y), made(kernel, scale_features=False).fit(some, y)
        assert found.scales_ == [None]
        np.testing.assert_array_equal(found.dual_coef_, plain.dual_coef_)


@pytest.mark.filterwarnings("error")
def test_it_is_said_unless_it_was_asked_for() -> None:
    X, y = Z * [1e3, 1.0, 1.0], TRUTHS["linear"](Z)
    with pytest.warns(UncertainWarning, match=r"divided by their standard .*scale_features=False"):
        made("linear").fit(X, y)
    for asked in (True, False):
        made("linear", scale_features=asked).fit(X, y)
    assert made("rbf").fit(X, y).scales_[0] is not None  # no map's features are given to it


def test_who_gives_a_gamma_has_chosen_units() -> None:
    X, y = Z * [1e3, 1.0, 1.0], TRUTHS["rbf"](Z)
    assert made("rbf", gamma=0.1).fit(X, y).scales_ == [None]
    assert made("rbf", graph_gamma=1e-6).fit(X, y).scales_ == [None]
    assert made("rbf", gamma=0.1, scale_features=True).fit(X, y).scales_[0] is not None


def test_views_have_units_of_their_own(tmp_path: Path) -> None:
    X, y = Z * [1e3, 1e-3, 1.0], np.where(TRUTHS["linear"](Z) > 0.0, "p", "q")
    model = AdaptiveHuberClassifier(views=[[0, 1], [2]], kernel=["linear", "rbf"]).fit(X, y)
    assert model.scales_[0] is not None and model.scales_[1] is None
    assert (
        np.mean(model.predict(NEW * [1e3, 1e-3, 1.0]) == np.where(TRUTHS["linear"](NEW) > 0.0, "p", "q"))
        > 0.85
    )


def test_constant_features() -> None:
    y = TRUTHS["linear"](Z)
    X = np.column_stack([1e6 * Z, np.full(len(Z), 3e6), np.zeros(len(Z))])
    model = made("linear", graph=None).fit(X, y + 2.0)
    np.testing.assert_allclose(model.scales_[0][3:], [3e6, 1.0])
    assert r2_score(y + 2.0, model.predict(X)) > 0.99


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_error_bars_and_files(kernel: str, tmp_path: Path) -> None:
    y, std = TRUTHS[kernel](Z), RNG.uniform(0.1, 0.4, Z.shape)
    units = np.array([1e4, 1e-4, 1.0])
    rows, new = GaussianArray(Z * units, std=std * units), GaussianArray(NEW * units, std=std[:50] * units)
    model = uncertain.fit(rows, y, method="huber", kernel=kernel, scale=False)
    assert model.pipeline_[-1].scales_[0] is not None
    plain = GaussianArray(Z, std=std), GaussianArray(NEW, std=std[:50])
    options = {"scale_features": True, "fit_intercept": True, "delta": model.pipeline_[-1].delta}
    expected = AdaptiveHuberRegressor(kernel=kernel, **options).fit(plain[0], y)
    mean, spread = expected.predict(plain[1], return_std=True)
    model.save(tmp_path / "model")
    for one in (model, uncertain.load(tmp_path / "model")):
        found = one.pipeline_[-1].predict(new, return_std=True)
        np.testing.assert_allclose(found[0], mean, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found[1], spread, rtol=1e-6, atol=1e-6)


def test_a_kernel_matrix_has_no_features() -> None:
    with pytest.raises(ParameterError, match="scale_features"):
        AdaptiveHuberRegressor(kernel="precomputed", scale_features=True).fit(Z @ Z.T, Z[:, 0])
