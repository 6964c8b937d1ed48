"""`append=True`: the caller's own table with predictions behind its columns."""

from pathlib import Path

import catalogues
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from astropy.io import fits
from astropy.table import QTable, Table
from numpy.testing import assert_array_equal
from test_table_kinds import KINDS
from test_table_kinds import catalogue as numbered

import uncertain
from uncertain.exceptions import ColumnError, ParameterError

APPENDED: dict[str, type] = {
    "lazy": pl.DataFrame, "DuckDB": pa.Table, "batch": pa.Table, "reader": pa.Table, "dataset": pa.Table,
    "FITS_rec": Table, "HDU": Table, "HDUList": Table, "qtable": QTable, "narwhals": nw.DataFrame,
    "narwhals lazy": nw.DataFrame,
}  # fmt: skip
"""The type of the answer where it is not that of the table."""


def catalogue(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """With names for numbers, which nobody takes for features."""
    columns = numbered(rng)
    return columns | {"objid": np.asarray([f"J{k:03}" for k in columns["objid"]])}


@pytest.mark.parametrize("kind", KINDS)
def test_all_columns_come_back(kind: str, rng: np.random.Generator) -> None:
    columns = catalogue(rng)
    make = KINDS[kind]
    model = uncertain.fit(columns, target="kind", method="gsu")
    before = catalogues.lists(make(columns))
    table = make(columns)
    answer = model.predict(table, append=True)
    assert isinstance(answer, APPENDED.get(kind, type(table)))
    predicted = model.predict(pl.DataFrame(columns)).to_list()
    assert catalogues.lists(answer) == before | {"kind_predicted": predicted}
    assert list(catalogues.lists(answer)) == [*before, "kind_predicted"]

    probabilities = model.predict_proba(pl.DataFrame(columns)).to_dict(as_series=False)
    answer = model.predict_proba(make(columns), append=True)
    assert catalogues.lists(answer) == before | {f"p_{name}": p for name, p in probabilities.items()}
    if kind not in ("reader", "HDU", "HDUList"):
        assert catalogues.lists(table) == before  # the caller's is as it was


def test_regression(rng: np.random.Generator) -> None:
    frame = pl.DataFrame(catalogue(rng)).drop("kind").with_columns(z=pl.col("g") * 0.1 + pl.col("r") * 0.2)
    model = uncertain.fit(frame, target="z", method="gsu")
    alone = model.predict_distribution(frame)
    answer = model.predict_distribution(frame, append=True)
    assert answer.columns == [
        *frame.columns,
        *(name.replace("z", "z_predicted", 1) for name in alone.columns),
    ]
    assert answer.select(frame.columns).equals(frame)
    for name in alone.columns:
        assert answer[name.replace("z", "z_predicted", 1)].to_list() == alone[name].to_list()
    assert model.predict(frame, append=True).columns[-1] == "z_predicted"


def test_pandas_keeps_its_index_and_levels(rng: np.random.Generator) -> None:
    frame = pd.DataFrame(catalogue(rng))
    model = uncertain.fit(frame, target="kind", method="gsu")
    some = frame.iloc[::-3]
    answer = model.predict(some, append=True)
    assert answer.index.equals(some.index)
    assert_array_equal(answer["kind_predicted"], model.predict(some))
    assert_array_equal(model.predict(frame)[some.index], model.predict(some))
    answer = model.predict_proba(KINDS["multi-index"](catalogue(rng)), append=True)
    assert list(answer.columns)[-2:] == [("p_quasar", ""), ("p_star", "")]


def test_units_and_masks_are_kept(rng: np.random.Generator) -> None:
    table = QTable(catalogue(rng), units={"g": "mag", "g_err": "mag"})
    answer = uncertain.fit(table, target="kind", method="gsu").predict(table, append=True)
    assert type(answer) is QTable and answer["g"].unit == "mag" and answer["g"] is not table["g"]
    masked = Table(catalogue(rng), masked=True)
    masked["objid"].mask[3] = True
    for given in (masked, masked.as_array()):
        answer = uncertain.fit(given, target="kind", method="gsu").predict(given, append=True)
        assert catalogues.values(answer, "objid")[2:5] == ["J002", None, "J004"]


def test_paths_give_polars_frames(rng: np.random.Generator, tmp_path: Path) -> None:
    frame = pl.DataFrame(catalogue(rng))
    model = uncertain.fit(frame, target="kind", method="gsu")
    expected = frame.with_columns(model.predict(frame).alias("kind_predicted"))
    frame.write_parquet(tmp_path / "t.parquet")
    fits.BinTableHDU(Table(frame.to_dict(as_series=False))).writeto(tmp_path / "t.fits")
    for path in (tmp_path / "t.parquet", tmp_path / "t.fits", [tmp_path / "t.parquet"]):
        assert model.predict(path, append=True).equals(expected)
    assert model.predict(frame.lazy(), append=True).equals(expected)


def test_no_column_is_replaced(rng: np.random.Generator) -> None:
    frame = pl.DataFrame(catalogue(rng))
    model = uncertain.fit(frame, target="kind", method="gsu")
    once = model.predict(frame, append=True)
    assert model.predict_proba(once, append=True).width == frame.width + 3
    with pytest.raises(ColumnError, match="adds a column 'kind_predicted', but the table has one: rename"):
        model.predict(once, append=True)
    with pytest.raises(ColumnError, match="adds a column 'p_star'"):
        model.predict_proba(frame.with_columns(p_star=0.0), append=True)
    assert model.predict(once).equals(model.predict(frame))


def test_arrays_have_no_columns_to_append_to(rng: np.random.Generator) -> None:
    columns = catalogue(rng)
    X, y = np.stack([columns["g"], columns["r"]], axis=1), columns["kind"]
    model = uncertain.fit(X, y, method="gsu")
    with pytest.raises(ParameterError, match="adds columns to a table, but data of type ndarray has none"):
        model.predict(X, append=True)


def test_a_target_that_was_no_column(rng: np.random.Generator) -> None:
    frame = pl.DataFrame(catalogue(rng))
    model = uncertain.fit(frame.drop("kind"), frame["kind"], method="gsu")
    assert model.predict(frame, append=True).columns == [*frame.columns, "prediction"]
