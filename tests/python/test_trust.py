"""What an attack broke: solutions lost in rounding, numbers that are no float64, memory, odd arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars
import pytest
from sklearn.linear_model import LinearRegression

import uncertain
from uncertain import AdaptiveHuberRegressor, GaussianArray, GaussianDenoiser, GSUClassifier
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
    with pytest.raises(ParameterError, match=r"folds=100000, repeats=4: .* at most 10000"):
        model.report(table, folds=100_000)
