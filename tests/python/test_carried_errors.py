"""Columns that carry their error bars, as other libraries write them: what `uncertain.fit` reads of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import uncertain
from uncertain import AsGaussians, Columns, GaussianArray, MixtureArray
from uncertain.exceptions import ColumnError

N = 24
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=N) + 3.0
ERR = RANDOM.uniform(0.1, 0.2, N)
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
    "1.23(4)": (1.23, 0.04),
    "-0.5(12)": (-0.5, 1.2),
    "12(3)": (12.0, 3.0),
    "1.23(4)e-5": (1.23e-5, 4e-7),
    "1.2345(6)x10^3": (1234.5, 0.6),
    "4.5(1.2)": (4.5, 1.2),
    "1.23±0.04": (1.23, 0.04),
    " 1.23 ± 0.04 ": (1.23, 0.04),
    "1.23+/-0.04": (1.23, 0.04),
    "−1.23 +/- 0.04": (-1.23, 0.04),
    "1.23 +- .04": (1.23, 0.04),
    "(1.230+/-0.040)e+05": (1.23e5, 4e3),
    r"7 \pm 2": (7.0, 2.0),
    "1e3 ± 1e1": (1000.0, 10.0),
}


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
    with pytest.raises(ColumnError, match=r"x: row 100 is '1\.2\(', which is no number with an error bar"):
        read({"x": [*good * 25, "1.2("]})
    # Names are no numbers with error bars.
    assert read({"x": X, "x_err": ERR, "name": ["NGC 1(2)"] * N})[0].columns_.ignored == ("name",)


# -- astropy


def test_distributions_of_astropy() -> None:
    units = pytest.importorskip("astropy.units")
    from astropy.table import QTable
    from astropy.uncertainty import Distribution

    draws = X[:, None] + ERR[:, None] * RANDOM.normal(size=(N, 300))
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
    table = pd.DataFrame({"x": [f"{x:.3f}(20)" for x in X], "kind": KIND}, index=range(5, 5 + N))
    model = uncertain.fit(table, columns=Columns("kind"), method="gsu")
    appended = model.predict(table, append=True)
    assert list(appended.columns) == ["x", "kind", "kind_predicted"] and list(appended.index) == list(
        table.index
    )
    assert appended["x"].equals(table["x"])
