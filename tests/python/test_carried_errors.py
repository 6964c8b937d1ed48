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
from uncertain.exceptions import ColumnError, ShapeError

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


# -- uncertainties


def test_uncertainties_with_their_correlations() -> None:
    from uncertainties import covariance_matrix, unumpy

    a, b = unumpy.uarray(X, ERR), unumpy.uarray(X, ERR)
    same({"x": a})
    same({"x": list(a)})
    same(pd.DataFrame({"x": a}))
    steps, rows = read({"x": a, "sum": a + 2 * b, "other": unumpy.uarray(X, ERR), "kind": KIND})
    assert steps.columns_.features == ("x", "sum", "other")
    assert set(steps.columns_.corr) == {("x", "sum")}
    other = unumpy.uarray(X, ERR)
    expected = [covariance_matrix([p, p + 2 * q, r]) for p, q, r in zip(a, b, other, strict=True)]
    assert_allclose(rows.covariances(), expected, rtol=1e-12, atol=1e-16)


def test_a_target_of_uncertainties_brings_its_error_and_its_correlation() -> None:
    from uncertainties import unumpy

    x = unumpy.uarray(X, ERR)
    y = 2 * x + unumpy.uarray(RANDOM.normal(0, 0.1, N), 0.1)
    columns = uncertain.fit({"x": x, "y": y}, "y", method="law").columns_
    assert columns.target_std == "y_err" and columns.target_corr == {"x": "x_y_corr"}


def test_exact_and_missing_values_among_uncertainties() -> None:
    from uncertainties import ufloat

    values = [ufloat(1.0, 0.1), 2, None, ufloat(3.0, 0.3)]
    _, rows = read({"x": values}, on_missing="impute")
    assert rows.missing[:, 0].tolist() == [False, False, True, False]
    assert_allclose(rows.gaussians.covariances().ravel()[[0, 1, 3]], [0.01, 0.0, 0.09])
    with pytest.raises(ColumnError, match="x: row 1 is 'two', which is no number with an error bar"):
        read({"x": [ufloat(1.0, 0.1), "two"]})


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


@pytest.mark.parametrize("of", ["StdDevUncertainty", "VarianceUncertainty", "InverseVariance"])
def test_nddata(of: str) -> None:
    pytest.importorskip("astropy")
    import astropy.units as u
    from astropy import nddata

    given = {"StdDevUncertainty": ERR, "VarianceUncertainty": ERR**2, "InverseVariance": ERR**-2.0}[of]
    made = nddata.NDData(X, uncertainty=getattr(nddata, of)(given), unit=u.m)
    same({"x": made, "kind": KIND}, "m")
    centimetres = nddata.NDData(X, uncertainty=nddata.StdDevUncertainty(ERR * 100, unit=u.cm), unit=u.m)
    same({"x": centimetres}, "m")
    masked = nddata.NDData(X, uncertainty=nddata.StdDevUncertainty(ERR), mask=X[1] < X)
    assert read({"x": masked}, on_missing="auto")[1].missing[:, 0].tolist() == (X[1] < X).tolist()
    with pytest.raises(ColumnError, match="x: NDData of shape"):
        read({"x": nddata.NDData(X.reshape(2, -1))})


def test_quantities_in_a_table_of_astropy() -> None:
    units = pytest.importorskip("astropy.units")
    from astropy.table import QTable

    same(QTable({"x": X * units.m, "x_err": ERR * 100 * units.cm, "kind": KIND}), "m")


# -- pint


def test_pint() -> None:
    pint = pytest.importorskip("pint")
    pytest.importorskip("astropy")
    from uncertainties import unumpy

    unit = pint.UnitRegistry()
    same({"x": X * unit.m, "x_err": ERR * 100 * unit.cm}, "m")
    same({"x": unumpy.uarray(X, ERR) * unit.m}, "m")
    same({"x": [unit.Quantity(x, "m").plus_minus(e) for x, e in zip(X, ERR, strict=True)]}, "m")
    steps, rows = read({"v": X * unit("m/s**2"), "v_err": ERR * unit("m/s**2")})
    assert steps.units_ == {"v": "m / s2"}
    kilo = {"v": X / 1000 * unit("km/s**2"), "v_err": ERR / 1000 * unit("km/s**2")}
    assert_allclose(steps.transform(kilo).covariances(), rows.covariances())


def test_pint_in_pandas() -> None:
    pytest.importorskip("pint_pandas")
    columns = {"x": pd.Series(X, dtype="pint[m]"), "x_err": pd.Series(ERR * 100, dtype="pint[cm]")}
    same(pd.DataFrame(columns), "m")


# -- xarray, scipp


def test_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("astropy")
    table = xarray.Dataset({"x": ("row", X), "q": ("row", ERR)}, coords={"kind": ("row", KIND)})
    table["x"].attrs.update(units="m", ancillary_variables="q")
    table["q"].attrs.update(units="m", standard_name="height standard_error")
    same(table, "m")
    model = uncertain.fit(table, "kind", method="gsu")
    assert model.columns_.features == ("x",) and len(model.predict(table)) == N
    with pytest.raises(ShapeError, match="with the dimensions other, row is no table"):
        read(table.expand_dims(other=2))


def test_scipp() -> None:
    scipp = pytest.importorskip("scipp")
    pytest.importorskip("astropy")
    x = scipp.array(dims=["row"], values=X, variances=ERR**2, unit="m")
    same({"x": x}, "m")
    same(scipp.DataArray(x, coords={"kind": scipp.array(dims=["row"], values=list(KIND))}), "m", "data")
    table = scipp.Dataset({"x": x}, coords={"kind": scipp.array(dims=["row"], values=list(KIND))})
    same(table, "m")
    assert uncertain.fit(table, "kind", method="gsu").columns_.features == ("x",)
    holed = scipp.DataArray(x, masks={"bad": scipp.array(dims=["row"], values=X[1] < X)})
    assert read({"x": holed}, on_missing="auto")[1].missing[:, 0].tolist() == (X[1] < X).tolist()


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
