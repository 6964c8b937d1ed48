"""Lists of numbers with error bars, and columns that carry their error bars, in every library's tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import AsGaussians, Columns, GaussianArray, MixtureArray
from uncertain.exceptions import ColumnError, UncertainWarning

N = 40
FEATURES = ("flux[0]", "flux[1]", "flux[2]", "col[0]", "col[1]")
LISTS = pl.List(pl.Float64)


@pytest.fixture
def arrays(rng: np.random.Generator) -> dict[str, Any]:
    label = np.repeat(["a", "b"], N // 2)
    flux, col = rng.normal(size=(N, 3)) + 2.0 * (label == "a")[:, None], rng.normal(size=(N, 2))
    errors = rng.uniform(0.1, 0.2, size=(N, 3)), rng.uniform(0.1, 0.2, size=(N, 2))
    return {"flux": flux, "flux_err": errors[0], "col": col, "col_err": errors[1], "label": label}


def lists(arrays: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(arrays).with_columns(pl.exclude("label").cast(LISTS))


FORMS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "dict": lambda arrays, _: arrays,
    "Polars arrays": lambda arrays, _: pl.DataFrame(arrays),
    "Polars lists": lambda arrays, _: lists(arrays),
    "Polars, lazy": lambda arrays, _: lists(arrays).lazy(),
    "pyarrow": lambda arrays, _: lists(arrays).to_arrow(),
    "pandas": lambda arrays, _: lists(arrays).to_pandas(),
    "DuckDB": lambda arrays, _: duckdb.from_arrow(lists(arrays).to_arrow()),
    "Parquet": lambda arrays, folder: (
        lists(arrays).write_parquet(folder / "t.parquet") or folder / "t.parquet"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_lists_with_error_bars_become_features(form: str, arrays: dict[str, Any], tmp_path: Path) -> None:
    table = FORMS[form](arrays, tmp_path)
    with pytest.warns(UncertainWarning, match=r"\(flux, col\) were read as columns x\[0\], x\[1\]"):
        model = uncertain.fit(table, target="label", method="gsu")
    assert model.columns_.features == FEATURES
    rows = model.gaussians(table)
    variances = np.hstack([arrays["flux_err"], arrays["col_err"]]) ** 2
    assert np.allclose(rows.means, np.hstack([arrays["flux"], arrays["col"]]))
    assert np.allclose(np.diagonal(rows.covariances(), axis1=1, axis2=2), variances)
    assert len(np.asarray(model.predict(table))) == N


@pytest.mark.filterwarnings("ignore:.*lists of numbers with error bars")
def test_lists_beside_scalars_and_lists_that_are_asked_for(arrays: dict[str, Any]) -> None:
    few = {name: arrays[name] for name in ("flux", "flux_err", "label")}
    alone = uncertain.fit(few, target="label", method="gsu")
    assert (alone.columns_.mean, alone.columns_.std) == ("flux", "flux_err")  # one pair stays lists
    beside = uncertain.fit({**few, "g": np.arange(N), "g_err": np.ones(N)}, target="label", method="gsu")
    assert beside.columns_.features == (*FEATURES[:3], "g")
    asked = uncertain.fit(arrays, target="label", mean="col", std="col_err", method="gsu")
    assert asked.columns_.mean == "col"


def test_arms_and_variances_of_lists(arrays: dict[str, Any]) -> None:
    err = arrays["flux_err"]
    table = {"flux": arrays["flux"], "flux_err1": err, "flux_err2": -err, "label": arrays["label"]}
    table |= {"col": arrays["col"], "col_var": arrays["col_err"] ** 2}
    with pytest.warns(UncertainWarning, match="lists of numbers"):
        model = uncertain.fit(table, target="label", method="gsu")
    std = np.sqrt(np.diagonal(model.gaussians(table).covariances(), axis1=1, axis2=2))
    assert np.allclose(std, np.hstack([err, arrays["col_err"]]))


def test_lists_that_are_no_vectors(arrays: dict[str, Any]) -> None:
    wide = np.zeros((N, 65))
    table = {**arrays, "col": wide, "col_err": wide + 0.1, "flux_err": wide + 0.1}
    with pytest.raises(
        ColumnError, match=r"lists with error bars: flux \(flux_err\), col \(col_err\); .*mean='flux'"
    ):
        uncertain.fit(table, target="label", method="gsu")
    ragged = lists(arrays).with_columns(
        pl.when(pl.int_range(N) == 30)
        .then(pl.lit([1.0, 2.0, 3.0], dtype=LISTS))
        .otherwise("col")
        .alias("col")
    )
    with pytest.warns(UncertainWarning, match=r"\(flux\) were read"):
        assert uncertain.fit(ragged, target="label", method="gsu").columns_.features == FEATURES[:3]
    late = pl.concat([lists(arrays), lists(arrays), ragged[:30], ragged[30:]])
    with (
        pytest.warns(UncertainWarning, match=r"\(flux, col\) were read"),  # of a query first rows are known
        pytest.raises(ColumnError, match="column 'col' has lists of 2 numbers, and one of 3"),
    ):
        uncertain.fit(pl.concat([late, late]).lazy(), target="label", method="gsu")


N_CARRIED = 24
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=N_CARRIED) + 3.0
ERR = RANDOM.uniform(0.1, 0.2, N_CARRIED)
KIND = np.where(X > 3.0, "a", "b")


def read(table: Any, **options: Any) -> tuple[AsGaussians, GaussianArray]:
    steps = AsGaussians(**options)
    rows = steps.fit_transform(table)
    return steps, rows


def same(table: Any, unit: str | None = None, name: str = "x") -> None:
    """Is it the column x +- err in this unit?"""
    steps, rows = read(table)
    assert steps.get_feature_names_out().tolist() == [name]
    assert_allclose(rows.means[:, 0], X, rtol=1e-15)
    assert_allclose(rows.covariances()[:, 0, 0], ERR**2, rtol=1e-14)
    assert steps.units_ == ({} if unit is None else {name: unit})


# -- text

TEXTS = {
    "1.23(4)": (1.23, 0.04), "-0.5(12)": (-0.5, 1.2), "12(3)": (12.0, 3.0), "1.23(4)e-5": (1.23e-5, 4e-7),
    "1.2345(6)x10^3": (1234.5, 0.6), "4.5(1.2)": (4.5, 1.2), "1.23±0.04": (1.23, 0.04),
    " 1.23 ± 0.04 ": (1.23, 0.04), "1.23+/-0.04": (1.23, 0.04), "−1.23 +/- 0.04": (-1.23, 0.04),
    "1.23 +- .04": (1.23, 0.04), "(1.230+/-0.040)e+05": (1.23e5, 4e3), r"7 \pm 2": (7.0, 2.0),
    "1e3 ± 1e1": (1000.0, 10.0),
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text: str) -> None:
    _, rows = read({"x": [text, "0.1(1)"]})
    value, std = TEXTS[text]
    assert_allclose([rows.means[0, 0], rows.covariances()[0, 0, 0]], [value, std**2], rtol=1e-15)


@pytest.mark.parametrize(
    "library", ["dict", "numpy", "pandas", "polars", "pyarrow", "csv", "lazy frame of rows"]
)
def test_texts_of_every_library(library: str, tmp_path: Path) -> None:
    texts = [f"{x:.17g} ± {e:.17g}" for x, e in zip(X, ERR, strict=True)]
    frame = pl.DataFrame({"x": texts, "kind": KIND})
    frame.write_csv(tmp_path / "rows.csv")
    table = {
        "dict": {"x": texts}, "numpy": {"x": np.array(texts)}, "pandas": pd.DataFrame({"x": texts}),
        "polars": frame, "pyarrow": pa.table({"x": texts}), "csv": str(tmp_path / "rows.csv"),
        "lazy frame of rows": frame.lazy().collect(),
    }[library]  # fmt: skip
    if library != "csv":
        return same(table)
    model = uncertain.fit(table, "kind", method="gsu")
    assert model.columns_.error_bars["x"].columns == ("x_err",)
    assert model.predict(table).equals(model.predict(frame))


def test_what_is_unknown_and_what_is_wrong_in_texts() -> None:
    good = ["1.2(1)", "2.0(2)", "1.4(1)", "2.2(2)"]
    _, rows = read({"x": [*good, "--", "", None, "3.5"]}, on_missing="auto")
    assert rows.missing[:, 0].tolist() == [False] * 4 + [True] * 3 + [False]
    with pytest.raises(ColumnError, match=r"x: row 100 is '1\.2\(', not a number with an error bar"):
        read({"x": [*good * 25, "1.2("]})
    # Names are no numbers with error bars.
    assert read({"x": X, "x_err": ERR, "name": ["NGC 1(2)"] * N_CARRIED})[0].columns_.ignored == ("name",)


# -- astropy


def test_distributions_of_astropy() -> None:
    units = pytest.importorskip("astropy.units")
    from astropy.table import QTable
    from astropy.uncertainty import Distribution

    draws = X[:, None] + ERR[:, None] * RANDOM.normal(size=(N_CARRIED, 300))
    column = Distribution(draws * units.m)
    for table in ({"z": column}, QTable({"z": column})):
        steps, rows = read(table)
        assert steps.columns_.draws == ("z",) and steps.units_ == {"z": "m"}
        assert isinstance(rows, MixtureArray)
        assert_array_equal(rows.means, uncertain.uncertainty.from_draws(draws).means)
        centimetres = Distribution(draws * 100 * units.cm)
        assert_allclose(steps.transform({"z": centimetres}).means, rows.means, rtol=1e-6)
    # Beside columns with error bars, and of two features that were drawn together.
    both = Distribution(np.stack([draws, -draws], axis=1))
    steps, rows = read({"z": both, "x": X, "x_err": ERR})
    assert steps.get_feature_names_out().tolist() == ["z0", "z1", "x"]
    covariances = rows.covariances()
    assert (covariances[:, 0, 1] < -0.9 * covariances[:, 0, 0]).all()


def test_quantities_in_a_table_of_astropy() -> None:
    units = pytest.importorskip("astropy.units")
    from astropy.table import QTable

    same(QTable({"x": X * units.m, "x_err": ERR * 100 * units.cm, "kind": KIND}), "m")


# -- the same of every library


def test_a_name_that_is_taken_is_asked_about() -> None:
    with pytest.raises(ColumnError, match="carries its error bars, which become a column 'x_err'"):
        read({"x": ["1.2(1)", "2.0(2)"], "x_err": [0.1, 0.2]})


def test_answers_are_of_the_callers_kind() -> None:
    table = pd.DataFrame({"x": [f"{x:.3f}(20)" for x in X], "kind": KIND}, index=range(5, 5 + N_CARRIED))
    model = uncertain.fit(table, columns=Columns("kind"), method="gsu")
    appended = model.predict(table, append=True)
    assert list(appended.columns) == ["x", "kind", "kind_predicted"] and list(appended.index) == list(
        table.index
    )
    assert appended["x"].equals(table["x"])
