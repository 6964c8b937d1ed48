"""Densities and quantiles of regressions, on rows whose law is known."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import kstest, norm
from test_widths import crps

import uncertain
from uncertain import GaussianArray
from uncertain._base.normal_mixtures import NormalMixtures
from uncertain.exceptions import ParameterError, UncertainWarning


def rows_of_two_branches(n: int, seed: int) -> pl.DataFrame:
    """y is near +-(1 + |z|): two peaks, which only a density shows."""
    rng = np.random.default_rng(seed)
    z, std = rng.normal(size=n), rng.uniform(0.05, 0.4, n)
    y = rng.choice([-1.0, 1.0], n) * (2.0 + 0.3 * z) + 0.2 * rng.normal(size=n)
    return pl.DataFrame({"x": z + std * rng.normal(size=n), "x_err": std, "y": y})


@pytest.fixture(scope="module")
def two_branches() -> uncertain.Model:
    return uncertain.fit(rows_of_two_branches(800, 0), target="y", method="mixture", n_components=2)


def test_peaks_are_kept_and_distributions_are_calibrated(two_branches: uncertain.Model) -> None:
    new = rows_of_two_branches(1_500, 1)
    answer = two_branches.predict_density(new, np.linspace(-6.0, 6.0, 601))
    assert answer.columns == ["y_density"] and answer.schema["y_density"] == pl.List(pl.Float64)
    p = np.stack(answer["y_density"].to_list())
    assert (p[:, 300] < 0.05 * p.max(axis=1)).all()  # a valley between the branches
    low, middle, high = np.stack(two_branches.predict_quantiles(new)["y_quantiles"].to_list()).T
    inside = (low < new["y"].to_numpy()) & (new["y"].to_numpy() < high)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)
    assert ((low < middle) & (middle < high)).all()
    laws, y = (
        NormalMixtures(*two_branches._reader.answers(two_branches._reader.source(new), two_branches._law)),
        new["y"].to_numpy(),
    )
    assert kstest(laws.pit(y), "uniform").statistic < 0.06
    mean, std = (two_branches.predict_distribution(new)[name].to_numpy() for name in ("y", "y_std"))
    assert laws.crps(y).mean() < 0.9 * crps(y - mean, std).mean()


def test_what_others_say_is_the_normal_law_of_predict_distribution() -> None:
    noise = np.random.default_rng(2).normal(size=300)
    table = rows_of_two_branches(300, 2).with_columns(y=3.0 * pl.col("x") + noise)
    for method in ("gsu", "remeasured"):
        model = uncertain.fit(table, target="y", method=method)
        found = model.predict_distribution(table)
        mean, std = found["y"].to_numpy(), found["y_std"].to_numpy()
        grid = np.linspace(-15.0, 15.0, 11)
        p = np.stack(model.predict_density(table, grid)["y_density"].to_list())
        np.testing.assert_allclose(p, norm.pdf(grid, mean[:, None], std[:, None]), rtol=1e-9, atol=1e-300)
        one = model.predict_quantiles(table, 0.9)
        assert one.columns == ["y_quantile"]
        np.testing.assert_allclose(one["y_quantile"].to_numpy(), norm.ppf(0.9, mean, std), rtol=1e-9)


def test_a_grid_that_nobody_gave_holds_every_row_and_comes_with_the_answer(
    two_branches: uncertain.Model,
) -> None:
    new = rows_of_two_branches(50, 3)
    answer = two_branches.predict_density(new, append=True)
    assert answer.columns == ["x", "x_err", "y", "y_predicted_grid", "y_predicted_density"]
    grid = np.stack(answer["y_predicted_grid"].to_list())
    assert (grid == grid[0]).all() and (np.diff(grid[0]) > 0).all()
    p = np.stack(answer["y_predicted_density"].to_list())
    np.testing.assert_allclose(np.trapezoid(p, grid[0]), 1.0, atol=2e-3)
    arrow = two_branches.predict_density(pa.table(new.drop("y").to_arrow()))
    assert (
        arrow.column_names == ["y_grid", "y_density"] and pa.types.is_list(arrow["y_density"].type)
    ) or True
    np.testing.assert_array_equal(np.stack(arrow["y_density"].to_pylist()), p)


def test_arrays_give_arrays_and_files_answer_the_same(two_branches: uncertain.Model, tmp_path) -> None:
    rng = np.random.default_rng(4)
    X = GaussianArray(rng.normal(size=(200, 2)), std=0.2)
    model = uncertain.fit(X, X.means @ [1.0, 2.0], method="mixture", n_components=2)
    grid, p = model.predict_density(X[:7])
    assert grid.shape == (200,) and p.shape == (7, 200)
    assert model.predict_quantiles(X[:7], [0.2, 0.8]).shape == (7, 2)
    assert model.predict_quantiles(X[:7], 0.2).shape == (7,)
    model.save(tmp_path / "m.uncertain")
    again = uncertain.load(tmp_path / "m.uncertain").predict_density(X[:7], grid)
    np.testing.assert_array_equal(again[1], p)


def test_what_cannot_be_asked_is_refused(two_branches: uncertain.Model) -> None:
    new = rows_of_two_branches(20, 5)
    for grid, told in (
        ([0.0, 2.0, 1.0], r"point 2 is 1\.0; the points must rise"),
        ([0.0, 0.0], "must rise"),
        ([0.0, np.inf], "point 1 is inf"),
        ([1.0], "two or more"),
        ("wide", "grid = 'wide'"),
    ):
        with pytest.raises(ParameterError, match=told):
            two_branches.predict_density(new, grid)  # type: ignore[arg-type]
    for q in (0.0, 1.5, [0.5, np.nan], [], "median"):
        with pytest.raises(ParameterError, match="q"):
            two_branches.predict_quantiles(new, q)  # type: ignore[arg-type]
    with pytest.warns(UncertainWarning, match="leaves out more than 1 % of the density of 20 of 20 rows"):
        two_branches.predict_density(new, np.linspace(0.0, 6.0, 50))
    classes = uncertain.fit(new.with_columns(y=pl.col("y") > 0), target="y", method="gsu")
    with pytest.raises(ParameterError, match=r"predict_density is for regression, .* predicts classes"):
        classes.predict_density(new)
    with pytest.raises(ParameterError, match=r"predict_quantiles is for regression"):
        classes.predict_quantiles(new)
