"""What each kind of table knows beyond plain columns: units, masks, names of several levels, laziness."""

from typing import Any

import astropy.units as u
import duckdb
import narwhals as nw
import narwhals.stable.v1 as nw1
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import MaskedColumn, QTable, Table
from astropy.time import Time
from astropy.utils.masked import Masked
from catalogues import as_table, open_table
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from test_arrow import read

import uncertain
from uncertain.exceptions import ColumnError, NullError, ParameterError, ShapeError
from uncertain.preprocessing import AsGaussians

# The tables have an identifier, which is left out.
pytestmark = pytest.mark.filterwarnings("ignore:left out:uncertain.exceptions.UncertainWarning")

N = 40


def catalogue(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Scalar columns whose classes their fluxes tell apart."""
    kind = np.repeat(["star", "quasar"], N // 2)
    return {
        "objid": np.arange(N), "g": rng.normal(20.0, 1.0, size=N) + 3.0 * (kind == "star"),
        "g_err": rng.uniform(0.01, 0.5, size=N), "r": rng.normal(19.0, 1.0, size=N),
        "r_err": rng.uniform(0.01, 0.5, size=N), "kind": kind,
    }  # fmt: skip


def numbers(table: Any, name: str, unit: str | None = None, power: int = 1) -> np.ndarray:
    """The column as the extension reads it, with NaN for nulls."""
    (column,) = open_table(table).numbers([name], [unit], power)
    return read(column, missing="nan", names=[name]).to_numpy()


def fits_rows(columns: dict[str, np.ndarray]) -> fits.FITS_rec:
    """Rows as they come out of a file: big-endian, text in bytes."""
    hdu = fits.BinTableHDU(Table(columns))
    return fits.BinTableHDU.from_columns(hdu.columns).data


# Answers in every kind


KINDS = {
    "lazy": pl.LazyFrame,
    "DuckDB": lambda columns: duckdb.from_arrow(pa.table(columns)),
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "batch": lambda columns: pa.table(columns).to_batches()[0],
    "reader": lambda columns: pa.table(columns).to_reader(),
    "dataset": lambda columns: pa.dataset.dataset(pa.table(columns)),
    "astropy": Table,
    "qtable": QTable,
    "dict": dict,
    "dict of lists": lambda columns: {name: list(values) for name, values in columns.items()},
    "dict of series": lambda columns: {name: pl.Series(values) for name, values in columns.items()},
    "dict of pandas": lambda columns: {name: pd.Series(values) for name, values in columns.items()},
    "structured": lambda columns: Table(columns).as_array(),
    "recarray": lambda columns: Table(columns).as_array().view(np.recarray),
    "FITS_rec": fits_rows,
    "HDU": lambda columns: fits.BinTableHDU(Table(columns)),
    "HDUList": lambda columns: fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU(Table(columns))]),
    "narwhals": lambda columns: nw.from_native(pd.DataFrame(columns)),
    "narwhals lazy": lambda columns: nw.from_native(pl.LazyFrame(columns)),
    "narwhals v1": lambda columns: nw1.from_native(pa.table(columns)),
    "multi-index": lambda columns: pd.DataFrame(
        {(name.partition("_")[0], name.partition("_")[2]): values for name, values in columns.items()}
    ),
}

ANSWERS: dict[str, tuple[type, type]] = {
    "lazy": (pl.Series, pl.DataFrame), "DuckDB": (pa.ChunkedArray, pa.Table),
    "pandas": (pd.Series, pd.DataFrame), "pyarrow": (pa.ChunkedArray, pa.Table),
    "batch": (pa.ChunkedArray, pa.Table), "reader": (pa.ChunkedArray, pa.Table),
    "dataset": (pa.ChunkedArray, pa.Table), "astropy": (Table.Column, Table),
    "qtable": (QTable.Column, QTable), "dict": (np.ndarray, dict), "dict of lists": (np.ndarray, dict),
    "dict of series": (np.ndarray, dict), "dict of pandas": (np.ndarray, dict),
    "structured": (np.ndarray, np.ndarray), "recarray": (np.ndarray, np.ndarray),
    "FITS_rec": (Table.Column, Table), "HDU": (Table.Column, Table), "HDUList": (Table.Column, Table),
    "narwhals": (nw.Series, nw.DataFrame), "narwhals lazy": (nw.Series, nw.DataFrame),
    "narwhals v1": (nw1.Series, nw1.DataFrame), "multi-index": (pd.Series, pd.DataFrame),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_fit_and_predict_as_from_polars(kind: str, rng: np.random.Generator) -> None:
    columns, new = catalogue(rng), catalogue(rng)
    make = KINDS[kind]
    reference = uncertain.fit(pl.DataFrame(columns), target="kind", method="gsu")
    model = uncertain.fit(make(columns), target="kind", method="gsu")
    assert model.columns_ == reference.columns_
    assert model.pipeline_[-1].coef_.tobytes() == reference.pipeline_[-1].coef_.tobytes()
    assert list(model.classes_) == ["quasar", "star"]

    predicted, probabilities = model.predict(make(new)), model.predict_proba(make(new))
    one, many = ANSWERS[kind]
    assert type(predicted) is one and isinstance(probabilities, many)
    assert_array_equal(np.asarray(predicted), reference.predict(pl.DataFrame(new)))
    expected = reference.predict_proba(pl.DataFrame(new))
    assert open_table(probabilities).names == expected.columns
    for name in expected.columns:
        assert_array_equal(numbers(probabilities, name), numbers(expected, name))
    assert model.score(make(new)) == reference.score(pl.DataFrame(new))


def test_numbers_stand_in_this_machines_byte_order() -> None:
    values = np.array([1.5, -2.0, 3e300])
    for dtype in (">f8", ">f4", ">i2", "<f8", ">f2", "longdouble"):
        small = values.clip(-9, 9).astype(dtype)
        frame = pd.DataFrame({"a": small}) if dtype != ">f2" else {"a": small}
        for table in (frame, {"a": small}, Table({"a": small})):
            assert_array_equal(numbers(table, "a")[:, 0], small.astype(float))


# Units


def test_error_bars_are_converted_to_the_unit_of_the_values() -> None:
    table = QTable(
        {"g": [20.0, 21.0] * u.mag, "g_err": [50.0, 70.0] * u.mmag, "g_var": [4.0, 9.0] * u.mmag**2}
    )
    opened = open_table(table)
    assert [opened.unit(name) for name in opened.names] == ["mag", "mmag", "mmag2"]
    assert_array_equal(numbers(table, "g_err", opened.units(["g"])["g"]), np.array([[50.0], [70.0]]) * 0.001)
    np.testing.assert_allclose(numbers(table, "g_var", "mag", 2), [[4e-6], [9e-6]], rtol=1e-15)
    assert_array_equal(numbers(table, "g_err"), [[50.0], [70.0]])
    assert_array_equal(numbers(table, "g", "mag"), [[20.0], [21.0]])
    table = QTable({"m": [20.0] * u.ABmag, "m_err": [50.0] * u.mmag})  # a logarithmic unit
    assert numbers(table, "m_err", open_table(table).units(["m"])["m"]) == 50.0 * 0.001


def test_units_of_every_kind_of_column() -> None:
    columns = {"a": [1.0, 2.0], "b": [0.1, 0.2]}
    table = Table(columns, units={"a": "km / s"})
    assert open_table(table).unit("a") == "km / s" and open_table(table).unit("b") is None
    assert_array_equal(numbers(table, "b", "km / s"), [[0.1], [0.2]])  # no unit: that of the values
    assert_array_equal(numbers(table, "a", "m / s"), [[1000.0], [2000.0]])
    arrays = {"a": [1.0, 2.0] * u.km, "b": Masked([1.0, 2.0] * u.m, mask=[False, True]), "c": np.ones(2)}
    assert [open_table(arrays).unit(name) for name in arrays] == ["km", "m", None]
    assert_array_equal(numbers(arrays, "b", "km"), [[0.001], [np.nan]])
    hdu = fits.BinTableHDU(QTable({"a": [1.0, 2.0] * u.Jy}))
    assert open_table(hdu).unit("a") == open_table(hdu.data).unit("a") == "Jy"
    for plain in (
        pl.DataFrame(columns),
        pd.DataFrame(columns),
        pa.table(columns),
        nw.from_native(pl.LazyFrame(columns)),
    ):
        assert open_table(plain).unit("a") is None
        assert_array_equal(numbers(plain, "a", "km"), [[1.0], [2.0]])
        with pytest.raises(ColumnError, match="no column 'c'"):
            open_table(plain).unit("c")


def test_units_that_no_factor_converts_are_refused_with_both_names() -> None:
    table = QTable(
        {"v_err": [1.0] * u.s, "T": [20.0] * u.deg_C, "m": [20.0] * u.ABmag, "share": [5.0] * u.percent}
    )
    table["odd"] = Table.Column([1.0], unit=u.Unit("foo", parse_strict="silent"))
    for name, wanted in (
        ("v_err", "km / s"),
        ("T", "K"),
        ("m", "Jy"),
        ("m", "mag(ST)"),
        ("share", "mag"),
        ("odd", "mag"),
    ):
        own = open_table(table).unit(name)
        with pytest.raises(ColumnError) as error:
            open_table(table).numbers([name], [wanted])
        assert all(word in str(error.value) for word in (repr(name), f"is in {own}", f"needed in {wanted}"))
    with pytest.raises(ColumnError, match="is in s, but is needed in km2 / s2"):
        open_table(table).numbers(["v_err"], ["km / s"], 2)
    assert numbers(table, "odd", "foo") == numbers(table, "m", "mag(AB)") / 20.0 == 1.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_conversion_is_astropys(values: list[float]) -> None:
    column = np.asarray(values) * u.km / u.h
    ours = numbers({"v": column}, "v", "m / s")[:, 0]
    np.testing.assert_allclose(ours, column.to_value(u.m / u.s), rtol=1e-15)


# Masks and gaps


def test_masked_values_are_null() -> None:
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    lists = np.ma.array(np.arange(6.0).reshape(3, 2), mask=[[0, 0], [0, 1], [0, 0]])
    text = np.ma.array(["x", "y", "z"], mask=[False, True, False])
    tables = [
        Table({"a": MaskedColumn(masked), "l": MaskedColumn(lists), "t": MaskedColumn(text)}),
        {"a": masked, "l": lists, "t": text},
        {"a": Masked(masked.data, mask=masked.mask), "l": Masked(lists.data, mask=lists.mask), "t": text},
        Table({"a": masked, "l": lists, "t": text}).as_array(),
    ]
    for table in tables:
        opened = open_table(table)
        assert_array_equal(numbers(table, "a"), [[1.0], [np.nan], [3.0]])
        assert_array_equal(numbers(table, "l"), [[0.0, 1.0], [2.0, np.nan], [4.0, 5.0]])
        assert opened.values("t") == ["x", None, "z"] and opened.values("a") == [1.0, None, 3.0]
        with pytest.raises(NullError, match="a: row 1"):
            AsGaussians(features=["a"], std="a").fit(table)
        assert opened.types == {"a": "number", "l": "list", "t": "other"}
    assert_array_equal(masked.data, [1.0, 2.0, 3.0])


def test_gaps_of_fits_files(tmp_path: Any) -> None:
    table = Table({"a": np.ma.array([1, 2, 3], mask=[0, 1, 0]), "b": [1.0, np.nan, 2.0], "t": ["u", "", "w"]})
    table.write(tmp_path / "t.fits")
    with fits.open(tmp_path / "t.fits") as hdus:
        for source in (hdus, hdus[1], hdus[1].data):
            assert open_table(source).values("t") == ["u", None, "w"]
            assert_array_equal(numbers(source, "b"), [[1.0], [np.nan], [2.0]])
        assert_array_equal(numbers(hdus, "a"), [[1.0], [np.nan], [3.0]])


def test_of_an_open_fits_file_the_first_table_is_read() -> None:
    sizes = {"STARS": 1, "GALAXIES": 2}
    hdus = [fits.BinTableHDU(Table({"a": np.arange(1.0 + n)}), name=name) for name, n in sizes.items()]
    table = open_table(fits.HDUList([fits.PrimaryHDU(), *hdus]))
    assert table.n_rows == 2
    assert table.notes == (
        "its first table, HDU 1 (STARS), was read: Table.read(path, hdu=...) reads 2 (GALAXIES)",
    )
    with pytest.raises(ColumnError, match="holds no table"):
        open_table(fits.HDUList([fits.PrimaryHDU(np.zeros((2, 2)))]))


def test_pandas_masked_types(rng: np.random.Generator) -> None:
    columns = catalogue(rng)
    reference = uncertain.fit(pl.DataFrame(columns), target="kind", method="gsu")
    table = pd.DataFrame(columns).convert_dtypes()
    assert str(table["g"].dtype) == "Float64"
    model = uncertain.fit(table, target="kind", method="gsu")
    assert model.pipeline_[-1].coef_.tobytes() == reference.pipeline_[-1].coef_.tobytes()
    table.loc[3, "g"] = pd.NA
    with pytest.raises(NullError, match="g: row 3"):
        uncertain.fit(table, target="kind", method="gsu", on_missing="error")
    assert "1 value (g 1)" in str(uncertain.fit(table, target="kind", method="gsu"))


# Columns that are no numbers, names that are no strings


def test_columns_that_are_no_numbers_are_refused_only_if_asked_for(rng: np.random.Generator) -> None:
    table = Table(catalogue(rng))
    table["time"] = Time(np.arange(N) + 2460000.5, format="jd")
    table["sky"] = SkyCoord(np.arange(N), np.zeros(N), unit="deg")
    opened = open_table(table)
    assert opened.types["time"] == opened.types["sky"] == "other"
    assert uncertain.fit(table, target="kind", method="gsu").score(table) > 0.9
    with pytest.raises(
        ColumnError, match=r"'time' is of type Time, not numbers: .* such as table\['time'\]\.jd"
    ):
        AsGaussians(features=["time"], std="{}").fit(table)
    with pytest.raises(ColumnError, match=r"'sky' is of type SkyCoord, .*table\['sky'\]\.ra\.deg"):
        opened.values("sky")
    with pytest.raises(ColumnError, match=r"t: expected real numbers .* got Date32; cast the column"):
        AsGaussians(features=["t"], exact=[]).fit({"t": np.array(["2026-01-01"], dtype="M8[D]")})
    with pytest.raises(ColumnError, match=r"'t' is of type array of .*, not numbers"):
        AsGaussians(features=["t"], exact=[]).fit({"t": np.zeros(1, dtype=[("a", float)])})


def test_pandas_names_of_several_levels_and_numbers() -> None:
    columns = pd.MultiIndex.from_tuples([("flux", "g"), ("flux", "r"), ("kind", "")])
    table = pd.DataFrame([[1.0, 2.0, "x"], [3.0, 4.0, "y"]], columns=columns)
    assert open_table(table).names == ["flux_g", "flux_r", "kind"]
    assert_array_equal(numbers(table, "flux_r"), [[2.0], [4.0]])
    assert open_table(table).values("kind") == ["x", "y"]
    tuples = pd.DataFrame({("flux", "g"): [1.0], "r": [2.0], 7: [3.0]})
    tuples.columns = pd.Index([("flux", "g"), "r", 7], tupleize_cols=False)
    assert open_table(tuples).names == ["flux_g", "r", "7"] and numbers(tuples, "7") == 3.0
    same = pd.DataFrame([[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a_b", "")]))
    with pytest.raises(ColumnError, match="2 columns 'a_b'"):
        open_table(same).numbers(["a_b"])


def test_columns_of_different_lengths_are_refused() -> None:
    table = {"a": [1.0, 2.0, 3.0], "a_err": [1.0, 2.0], "label": [1, 2, 1]}
    with pytest.raises(ShapeError, match="'a' has 3 values and 'a_err' 2"):
        uncertain.fit(table, method="gsu")
    with pytest.raises(ColumnError, match="one value per row"):
        open_table({"a": "x", "b": [1]}).numbers(["a"])
    with pytest.raises(ShapeError, match="one dimension"):
        open_table(np.zeros((2, 2), dtype=[("a", "f8")]))


def test_lists_of_different_types_and_lengths() -> None:
    with pytest.raises(ColumnError, match=r"^a: cannot be read as numbers"):
        open_table({"a": [[1.0], "x"]}).numbers(["a"])
    (ragged,) = open_table({"a": [[1.0], [1.0, 2.0]]}).numbers(["a"])
    assert ragged.to_list() == [[1.0], [1.0, 2.0]]


# Lazy kinds


def test_only_the_needed_columns_are_collected(rng: np.random.Generator) -> None:
    columns = catalogue(rng)
    read: list[str] = []

    def noted(name: str) -> pl.Expr:
        return pl.col(name).map_batches(lambda s: (read.append(name), s)[1], return_dtype=pl.self_dtype())

    query = pl.LazyFrame(columns).with_columns(noted(name) for name in columns)
    model = uncertain.fit(query, target="kind", method="gsu")
    assert sorted(read) == ["g", "g_err", "kind", "r", "r_err"]  # each once, and no objid
    read.clear()
    assert isinstance(model.predict(query), pl.Series)
    assert sorted(read) == ["g", "g_err", "r", "r_err"]
    read.clear()
    model.score(query)
    assert sorted(read) == ["g", "g_err", "kind", "r", "r_err"]


def test_a_query_whose_rows_change_is_refused() -> None:
    counts = iter([3, 4])
    frame = pl.LazyFrame({"a": [1.0], "b": [2.0]}).map_batches(lambda df: pl.concat([df] * next(counts)))
    opened = open_table(frame).load(["a"])
    with pytest.raises(ShapeError, match="3 rows and then 4"):
        opened.numbers(["b"])


# narwhals


class Plugin:
    """A frame of a library that only narwhals knows, by narwhals' own protocol."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._compliant = nw.from_native(frame)._compliant_frame
        self.columns = frame.columns

    def __narwhals_dataframe__(self) -> Any:
        return self._compliant


def test_frames_that_narwhals_converts(rng: np.random.Generator) -> None:
    columns = catalogue(rng)
    table = Plugin(pl.DataFrame(columns))
    model = uncertain.fit(table, target="kind", method="gsu")
    assert isinstance(model.predict(table), pa.ChunkedArray)
    assert model.columns_ == uncertain.fit(columns, target="kind", method="gsu").columns_


def test_what_has_columns_but_is_not_read_is_named() -> None:
    class Frame:
        columns = ("a", "a_err", "label")

    with pytest.raises(ParameterError, match=r"\.Frame is no table that is read here: .*to_pandas"):
        uncertain.fit(Frame(), target="label", method="gsu")
    with pytest.raises(ParameterError, match=r"list is no table: pass a table of its dictionaries"):
        uncertain.fit([{"a": 1.0, "a_err": 0.1, "label": 0}], target="label", method="gsu")
    with pytest.raises(ParameterError, match="a dict with a key of type int is no table"):
        uncertain.fit({0: [1.0, 2.0]}, target="label", method="gsu")
    with pytest.raises(ParameterError, match="an empty dict is no table"):
        uncertain.fit({}, target="label", method="gsu")


def test_what_is_no_table_is_named() -> None:
    class Unknown:
        pass

    with pytest.raises(TypeError, match=r"Polars, pandas, .* astropy .* dict of columns.*got .*Unknown"):
        open_table(Unknown())
    columns = {"a": [1.0]}
    series = (pa.table(columns)["a"], pl.Series([1.0]), np.ones((2, 2)), [[1.0]])
    for wrong in (*series, {}, {1: [1.0]}, "table.parquet", None):
        assert as_table(wrong) is None
        with pytest.raises(TypeError, match="table"):
            open_table(wrong)
