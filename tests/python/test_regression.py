"""GSURegressor: scikit-learn's regressions on exact points, Monte Carlo on Gaussians, attenuation, errors.
Regression with ``meaning="measurement"``: denoised, then the posterior means alone."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import uncertain
from uncertain import GaussianArray, GaussianDenoiser, GSURegressor
from uncertain.exceptions import ParameterError, UncertainError

LOSSES = ("epsilon_insensitive", "huber", "squared")


def rows(n: int = 200, d: int = 3, seed: int = 0) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = x @ np.arange(1.0, d + 1) + 4 + 0.3 * rng.normal(size=n)
    return GaussianArray(x, std=rng.uniform(0.1, 0.6, (n, d))), y


def test_exact_points_give_ridge_regression() -> None:
    X, y = rows()
    n, alpha = len(y), 0.01
    ridge = Ridge(alpha=alpha * n).fit(X.means, y)
    ours = GSURegressor(alpha, loss="squared", tol=1e-10).fit(X.means, y)
    assert_allclose(ours.coef_, ridge.coef_, rtol=1e-6)
    assert_allclose(ours.intercept_, ridge.intercept_, rtol=1e-6)
    wide = GSURegressor(alpha, loss="huber", delta=1e6, tol=1e-10).fit(X.means, y)
    assert_allclose(wide.coef_, ridge.coef_, rtol=1e-5)
    assert (ours.predict(X.means, return_std=True)[1] == 0).all()


def test_kernels_fit_what_lines_cannot() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (150, 1))
    y = np.sin(2 * x[:, 0]) + 0.05 * rng.normal(size=150)
    ridge = KernelRidge(alpha=1e-3 * 150, kernel="rbf", gamma=1.0).fit(x, y - y.mean())
    ours = GSURegressor(1e-3, loss="squared", kernel="rbf", gamma=1.0, rank_tol=1e-10, tol=1e-10).fit(x, y)
    # Another intercept: the kernel's own, which is penalised, is not needed here.
    assert np.abs(ours.predict(x) - ridge.predict(x) - y.mean()).max() < 0.02
    for loss in LOSSES:
        fitted = GSURegressor(1e-3, loss=loss, kernel="rbf").fit(GaussianArray(x, std=0.1), y)  # type: ignore[arg-type]
        assert fitted.score(x, y) > 0.75
        _, std = fitted.predict(GaussianArray(x, std=0.1), return_std=True)
        steep = np.abs(np.cos(2 * x[:, 0])) > 0.9
        assert std[steep].mean() > 1.5 * std[~steep & (np.abs(np.cos(2 * x[:, 0])) < 0.2)].mean()
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(x), fitted.predict(x))


def test_attenuation_and_what_corrects_it() -> None:
    """y = 2 z, x = z + noise: the noise counts once in the means, and again in the error bars."""
    rng = np.random.default_rng(0)
    n, sigma = 20_000, 0.5
    z = rng.normal(size=(n, 1))
    y = 2 * z[:, 0] + 0.1 * rng.normal(size=n)
    X = GaussianArray(z + sigma * rng.normal(size=(n, 1)), std=sigma)
    means_only = GSURegressor(1e-9, loss="squared").fit(X.means, y).coef_[0]
    assert_allclose(means_only, 2 / (1 + sigma**2), rtol=0.02)
    spread = GSURegressor(1e-9, loss="squared").fit(X, y).coef_[0]
    assert_allclose(spread, 2 / (1 + 2 * sigma**2), rtol=0.02)
    denoised = GaussianDenoiser().fit(X).transform(X).collapse("zero")
    assert_allclose(GSURegressor(1e-9, loss="squared").fit(denoised, y).coef_[0], 2.0, rtol=0.03)


def test_error_bars_of_targets_lower_the_weight_of_outliers() -> None:
    X, y = rows(100)
    y = y.copy()
    y[:10] += 30
    y_std = np.where(np.arange(100) < 10, 30.0, 0.1)
    for loss in ("epsilon_insensitive", "huber"):
        plain = GSURegressor(loss=loss).fit(X, y)  # type: ignore[arg-type]
        aware = GSURegressor(loss=loss).fit(X, y, y_std=y_std)  # type: ignore[arg-type]
        truth = X.means @ np.arange(1.0, 4) + 4
        assert np.abs(aware.predict(X) - truth).mean() < np.abs(plain.predict(X) - truth).mean()


def test_bad_data() -> None:
    X, y = rows(20)
    with pytest.raises(UncertainError, match="y_std: expected one number or 20"):
        GSURegressor().fit(X, y, y_std=np.ones(7))
    with pytest.raises(ValueError, match="non-zero"):
        GSURegressor().fit(X, y, sample_weight=np.zeros(20))


# ---- uncertain.fit, Model, files, command line


def table(n: int = 120) -> pl.DataFrame:
    X, y = rows(n, 2)
    columns = {f"x{j}": X.means[:, j] for j in range(2)}
    return pl.DataFrame(columns | {"x0_err": np.full(n, 0.2), "x1_err": np.full(n, 0.3), "y": y})


@pytest.mark.parametrize(
    "params",
    [{}, {"loss": "epsilon_insensitive", "kernel": "rbf", "max_rank": 15}, {"loss": "squared"}],
    ids=str,
)
def test_fit_to_a_target_of_floats(params: dict[str, Any]) -> None:
    frame = table()
    model = uncertain.fit(frame, target="y", **{"method": "gsu"} | params)
    assert model.is_regression_
    assert model.score(frame) > 0.8
    predicted = model.predict(frame)
    assert (predicted.name, predicted.dtype) == ("y", pl.Float64)
    both = model.predict_distribution(frame)
    assert both.columns == ["y", "y_std", "y_std_from_errors"]
    assert_allclose(both["y"], predicted)
    assert (both["y_std"] >= both["y_std_from_errors"]).all()
    assert (both["y_std_from_errors"] > 0).all()
    with pytest.raises(UncertainError, match="predict_distribution"):
        model.predict_proba(frame)
    assert "GSURegressor" in repr(model)
    assert "classes" not in repr(model)


def test_the_task_is_chosen_by_the_target() -> None:
    frame = table()
    whole = frame.with_columns(pl.Series("y", range(120)))
    with pytest.raises(UncertainError, match='task="regression"'):
        uncertain.fit(whole, target="y", method="gsu")
    assert uncertain.fit(whole, target="y", task="regression", method="gsu").is_regression_
    assert uncertain.fit(frame.drop("y"), target=frame["y"].to_numpy(), method="gsu").is_regression_
    with pytest.raises(UncertainError, match="row 1 has no target"):
        holed = frame.with_columns(pl.Series("y", [1.5, None] * 60))
        uncertain.fit(holed, target="y", method="gsu", on_missing="error")
    with pytest.raises(ParameterError, match=r"probability.*GSURegressor"):
        uncertain.fit(frame, target="y", probability=True, method="gsu")
    with pytest.raises(UncertainError, match="predict_proba"):
        uncertain.fit(
            frame.with_columns(pl.Series("y", ["a", "b"] * 60)), target="y", method="gsu"
        ).predict_distribution(frame)


# ---- the tube on exact points, error bars of the target


def with_target_errors() -> tuple[pl.DataFrame, np.ndarray]:
    std = np.random.default_rng(4).gamma(2.0, 0.3, size=120)
    return table().with_columns(pl.Series("y_err", std)), std


def test_error_bars_of_the_target_are_used_and_are_no_feature(tmp_path: Path) -> None:
    frame, std = with_target_errors()
    plain = uncertain.fit(frame.drop("y_err"), target="y", method="gsu")
    named = uncertain.fit(frame.rename({"y_err": "dy"}), target="y", target_std="dy", method="gsu")
    found = uncertain.fit(frame, target="y", method="gsu")
    values = uncertain.fit(frame.drop("y_err"), target="y", target_std=std, method="gsu")
    data = found.gaussians(frame)
    by_hand = found.pipeline_[1:-1].transform(data)
    direct = GSURegressor(delta=found.pipeline_[-1].delta, random_state=0)
    direct.fit(by_hand, frame["y"].to_numpy(), y_std=std)
    for model in (named, found, values):
        np.testing.assert_array_equal(model.pipeline_[-1].coef_, direct.coef_)
        assert model.pipeline_[-1].n_features_in_ == 2
    assert np.abs(plain.pipeline_[-1].coef_ - direct.coef_).max() > 1e-4
    assert found.columns_.target_std == "y_err" and "y_err" not in found.columns_.ignored
    assert "known to ± y_err" in repr(found)
    path = tmp_path / "model.safetensors"
    found.save(path)
    again = uncertain.load(path)
    assert again.columns_ == found.columns_
    np.testing.assert_array_equal(again.predict(frame.drop("y", "y_err")), found.predict(frame))
    assert found.report(frame, repeats=1).score != plain.report(frame, repeats=1).score


def test_error_bars_of_the_target_never_become_features() -> None:
    frame, _ = with_target_errors()
    # An error bar of the error bar would make y_err a feature.
    traps = frame.with_columns(pl.Series("y_err_std", np.full(120, 0.1)), kind=pl.Series(["a", "b"] * 60))
    assert uncertain.fit(traps, target="y", exact=[], method="gsu").columns_.features == ("x0", "x1")
    labels = traps.rename({"kind": "k", "y_err": "k_err", "y_err_std": "k_err_err"})
    model = uncertain.fit(labels, target="k", exact=[], method="gsu")
    assert model.columns_.features == ("x0", "x1") and "k_err" in model.columns_.ignored


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({"y_err": [0.1, None] * 60}, {"on_missing": "error"}, "y_err: row 1 has no error bar"),
        ({"y_err": [0.1, -0.5] * 60}, {"on_missing": "error"}, "y_err: row 1 is -0.5"),
        ({"y_err": ["0.1"] * 120}, {}, "y_err: row 0 is '0.1'"),
        ({"y_error": [0.1] * 120}, {}, "several error columns"),
        ({}, {"target_std": "y_erg"}, "did you mean 'y_err'"),
        ({}, {"target_std": [0.1] * 3}, "expected 120 standard deviations"),
        ({}, {"target_std": "y_err", "method": "kernel"}, "Regressions that do are"),
        ({"y": ["a", "b"] * 60}, {"target_std": "y_err"}, "Regressions that do are"),
    ],
)
def test_bad_error_bars_of_the_target(change: Any, arguments: Any, words: str) -> None:
    frame, _ = with_target_errors()
    frame = frame.with_columns(**{name: pl.Series(values, strict=False) for name, values in change.items()})
    with pytest.raises(UncertainError, match=words):
        uncertain.fit(frame, target="y", **{"method": "gsu"} | arguments)
    with pytest.raises(ParameterError, match="target_std= names a column"):
        uncertain.fit(rows(20, 2)[0], target=np.linspace(0, 1.5, 20), target_std="y_err", method="gsu")


def test_a_missing_error_bar_may_mean_exact() -> None:
    frame, std = with_target_errors()
    gaps = frame.with_columns(pl.when(pl.col("y_err") > 0.5).then(pl.col("y_err")))
    filled = uncertain.fit(frame, target="y", target_std=np.where(std > 0.5, std, 0.0), method="gsu")
    model = uncertain.fit(gaps, target="y", on_missing="point", method="gsu")
    np.testing.assert_array_equal(model.pipeline_[-1].coef_, filled.pipeline_[-1].coef_)


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
