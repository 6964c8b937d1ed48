"""Tables and arrays with gaps through `uncertain.fit`, reports, model files and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import GaussianArray
from uncertain.cli import main
from uncertain.exceptions import UncertainError


def catalogue(n: int, seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Readings of two classes; a fifth of the values are null, some error bars, and a row has nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    common = rng.normal(size=(n, 1))
    z = common + 0.7 * rng.normal(size=(n, 3)) + 2.5 * y[:, None]
    std = np.exp(0.7 * rng.normal(size=(n, 3)))
    x = np.where(rng.random((n, 3)) < 0.2, np.nan, z + std * rng.normal(size=(n, 3)))
    std = np.where(rng.random((n, 3)) < 0.05, np.nan, std)
    x[5] = np.nan
    columns = {f"f{j}": pl.Series(x[:, j]).fill_nan(None) for j in range(3)}
    columns |= {f"f{j}_err": pl.Series(std[:, j]).fill_nan(None) for j in range(3)}
    return pl.DataFrame(columns | {"label": np.where(y, "b", "a")}), np.isnan(x) | np.isnan(std)


WAYS: list[dict[str, Any]] = [
    {"meaning": "measurement"},
    {"method": "discriminant"},
    {"method": "discriminant", "shared_covariance": False, "n_components": 2, "scale": False},
    {"method": "kernel", "meaning": "measurement"},
]
STEPS = [
    ["gaussians", "denoise", "scale", "classify"],
    ["gaussians", "scale", "classify"],
    ["gaussians", "classify"],
    ["gaussians", "denoise", "scale", "classify"],
]


@pytest.mark.parametrize(("way", "steps"), list(zip(WAYS, STEPS, strict=True)))
def test_tables_through_fit_report_file_and_command_line(
    way: dict[str, Any], steps: list[str], tmp_path: Path
) -> None:
    table, missing = catalogue(160, 3)
    with pytest.raises(UncertainError, match="f0: row 0 is null"):
        uncertain.fit(table, **{"method": "gsu", "on_missing": "error"} | way)
    model = uncertain.fit(table, on_missing="impute", **{"method": "gsu"} | way)
    assert [name for name, _ in model.pipeline_.steps] == steps
    assert model.score(table) > 0.7
    nothing = model.predict_proba(table[5:6]).to_numpy()
    assert np.all(np.isfinite(nothing)) and 0.2 < nothing[0, 0] < 0.8
    # Gaps filled, what is there as it is.
    rows = model.gaussians(table)
    assert isinstance(rows, GaussianArray)
    values = table.select("f0", "f1", "f2").to_numpy()
    assert_array_equal(rows.means[~missing], values[~missing])
    variances = np.diagonal(rows.covariances(), axis1=1, axis2=2)
    assert np.all(variances[missing] > 0)
    errors = table.select("f0_err", "f1_err", "f2_err").to_numpy()
    assert_allclose(variances[~missing], errors[~missing] ** 2)
    report = model.report(table, folds=2, repeats=1, listed=3)
    assert report.n_rows == 160 and report.meanings is not None
    assert {m.name for m in report.meanings.ranking} == {
        "means only",
        "spread",
        "measurement",
        "discriminant",
    }
    assert len(report.doubtful_rows) == 3 and np.all(np.isfinite(report.probability_change))
    path, data, out = tmp_path / "m.safetensors", tmp_path / "t.parquet", tmp_path / "p.parquet"
    model.save(path)
    again = uncertain.load(path)
    assert [name for name, _ in again.pipeline_.steps] == steps
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert_array_equal(again.gaussians(table).means, rows.means)
    table.write_parquet(data)
    ran = CliRunner().invoke(main, ["predict", str(path), str(data), "-o", str(out)])
    assert ran.exit_code == 0, ran.output
    written = pl.read_parquet(out)
    assert_array_equal(written["p_b"].to_numpy(), model.predict_proba(table)["b"].to_numpy())
    assert written["prediction"].to_list() == model.predict(table).to_list()


def test_the_order_of_gaps_and_spread_in_the_other_meaning() -> None:
    """Spread still imputes; its report compares meanings without counting the prior twice."""
    table, _ = catalogue(160, 4)
    spread = uncertain.fit(table, on_missing="impute", meaning="spread", method="gsu")
    assert [n for n, _ in spread.pipeline_.steps] == ["gaussians", "impute", "scale", "classify"]
    measured = uncertain.fit(table, on_missing="impute", meaning="measurement", method="gsu")
    a, b = (m.report(table, folds=3, repeats=2).meanings for m in (spread, measured))
    scores = [{m.name: m.scores for m in meanings.ranking} for meanings in (a, b)]
    for name in ("means only", "spread", "measurement", "discriminant"):
        assert_allclose(scores[0][name], scores[1][name], atol=0.02)


def test_arrays_may_have_gaps_only_where_the_caller_says_so(tmp_path: Path) -> None:
    table, _ = catalogue(160, 6)
    x, y = table.select("f0", "f1", "f2").to_numpy(), table["label"].to_list()
    full = np.nan_to_num(x)
    for way in WAYS[:2]:
        with pytest.raises(UncertainError, match="row 1, "):
            uncertain.fit(np.where(np.arange(160)[:, None] == 1, np.nan, full), y, **{"method": "gsu"} | way)
        careful = uncertain.fit(full, y, **{"method": "gsu"} | way)
        model = uncertain.fit(x, y, on_missing="impute", **{"method": "gsu"} | way)
        assert model.score(x, y) > 0.6
        assert model.report(x, y, folds=2, repeats=1).n_rows == 160
        for which, fitted in enumerate((careful, model)):
            path = tmp_path / f"{which}.safetensors"
            fitted.save(path)
            again = uncertain.load(path)
            assert_array_equal(again.predict_proba(full), fitted.predict_proba(full))
            if which:
                assert_array_equal(again.predict_proba(x), fitted.predict_proba(x))
            else:
                with pytest.raises(UncertainError, match="NaN"):
                    again.predict(x)


def test_a_report_says_nothing_of_a_meaning_that_gaps_make_impossible() -> None:
    table, _ = catalogue(160, 9)
    only_one = table.with_columns(f2=pl.when(pl.col("label") == "a").then(pl.col("f2")))
    report = uncertain.fit(only_one, on_missing="impute", method="gsu").report(only_one, folds=2, repeats=1)
    assert report.meanings is not None
    assert {m.name for m in report.meanings.ranking} == {"means only", "spread", "measurement"}
    with pytest.raises(UncertainError, match="feature 2 is missing in every row of class 'b'"):
        uncertain.fit(only_one, on_missing="impute", method="discriminant")


def test_regression_with_gaps() -> None:
    table, _ = catalogue(160, 7)
    table = table.drop("label").with_columns(height=np.random.default_rng(0).normal(size=160))
    model = uncertain.fit(table, target="height", on_missing="impute", meaning="measurement", method="gsu")
    assert [n for n, _ in model.pipeline_.steps] == ["gaussians", "denoise", "scale", "collapse", "regress"]
    assert np.all(np.isfinite(model.predict(table).to_numpy()))
    assert model.report(table, folds=2, repeats=1).n_rows == 160
