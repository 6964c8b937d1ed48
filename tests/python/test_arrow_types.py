"""Error bars as a column type: written by us, kept by other libraries, read again without any argument."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import children
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import uncertain
from uncertain import AsGaussians, GaussianArray, MixtureArray, UncertainError
from uncertain.exceptions import ColumnError, NullError
from uncertain.uncertainty import from_arrow

N = 40
RANDOM = np.random.default_rng(7)
MEANS = RANDOM.normal(size=(N, 3))
FACTORS = RANDOM.normal(size=(N, 3, 3)) * 0.3
COV = FACTORS @ FACTORS.transpose(0, 2, 1)
NAMES = ["u", "g", "r"]
LABELS = np.where(MEANS[:, 0] > 0, "a", "b")
PHOTOMETRY = GaussianArray(MEANS, cov=COV, feature_names=NAMES)
REDSHIFT = GaussianArray(MEANS[:, :1] + 1.0, std=np.abs(MEANS[:, :1]) + 0.1)
PEAKS = MixtureArray(
    np.tile([0.7, 0.3], N), np.repeat(MEANS[:, :2], 2, axis=0) + np.tile([[0.0], [1.0]], (N, 1)),
    std=0.2, offsets=np.arange(0, 2 * N + 1, 2), feature_names=["z", "age"],
)  # fmt: skip

KINDS = {
    "zero": GaussianArray(MEANS, feature_names=NAMES),
    "isotropic": GaussianArray(MEANS, std=0.1),
    "diagonal": GaussianArray(MEANS, var=MEANS**2, feature_names=NAMES),
    "full": PHOTOMETRY,
    "shared": GaussianArray(MEANS, cov=COV[0]),
    "low-rank": GaussianArray(MEANS, factor=FACTORS[:, :, :1], var=MEANS**2, feature_names=NAMES),
    "mixture": PEAKS,
    "in pieces": GaussianArray.concat([PHOTOMETRY[20:], PHOTOMETRY[:20]]),
}


def table() -> pa.Table:
    """Three correlated magnitudes in one column, a redshift, two features with two peaks, and labels."""
    made = PHOTOMETRY.to_arrow("magnitude")
    for name, rows in (("redshift", REDSHIFT), ("peaks", PEAKS)):
        made = made.append_column(name, rows.to_arrow(name)[name])
    return made.append_column("kind", pa.array(LABELS))


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_is_the_array_again(kind: str) -> None:
    rows = KINDS[kind]
    column = rows.to_arrow("x")["x"]
    name = "uncertain.mixture" if kind == "mixture" else "uncertain.gaussian"
    assert column.type.extension_name == name
    names = None if rows.feature_names is None else list(rows.feature_names)
    said = json.loads(column.type.__arrow_ext_serialize__())
    assert said == {"kind": rows.kind, "names": names, "unit": None}
    assert from_arrow(column) == rows
    assert from_arrow(column.slice(3, 9)) == rows[3:12]
    assert from_arrow(pl.DataFrame(rows.to_arrow("x"))["x"]) == rows
    assert from_arrow(pickle.loads(pickle.dumps(column))) == rows


def test_equal_matrices_alone_are_shared_again() -> None:
    """A table that was put together of two, each with a matrix of its own."""
    one, other = (GaussianArray(MEANS[:5], cov=cov) for cov in COV[:2])
    frames = [pl.DataFrame(rows.to_arrow("x")) for rows in (one, other)]
    np.testing.assert_array_equal(
        from_arrow(pl.concat(frames)).covariances(), np.concatenate([one.covariances(), other.covariances()])
    )


KEEPERS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "pyarrow": lambda t, path: pq.read_table(path),
    "pyarrow's IPC": lambda t, path: pa.ipc.open_stream(_ipc(t)).read_all(),
    "pyarrow, sorted and cut": lambda t, path: t.take(list(range(N))).filter(pc.is_valid(t["kind"])).slice(0),
    "Polars": lambda t, path: pl.read_parquet(path),
    "Polars, lazy": lambda t, path: pl.scan_parquet(path),
    "Polars' IPC": lambda t, path: _through_ipc(pl.DataFrame(t), path),
    "Polars, joined": lambda t, path: _joined(pl.DataFrame(t)),
    "Polars, written": lambda t, path: _written(pl.DataFrame(t), path),
    "pandas": lambda t, path: pd.read_parquet(path),
    "pandas, joined and written": lambda t, path: _written(_merged(t.to_pandas()), path),
    "DuckDB": lambda t, path: duckdb.sql(f"select * from '{path}'"),
    "DuckDB of a table": lambda t, path: duckdb.sql("select * from t"),
    "a dict": lambda t, path: {
        "magnitude": PHOTOMETRY, "redshift": REDSHIFT, "peaks": PEAKS, "kind": LABELS,
    },
}  # fmt: skip


@pytest.mark.parametrize("library", KEEPERS)
def test_libraries_keep_it(library: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(table(), path)
    kept = KEEPERS[library](table(), path)
    steps = AsGaussians(columns=uncertain.Columns("kind"))
    rows = steps.fit_transform(kept)
    expected = GaussianArray.hstack({"magnitude": PHOTOMETRY, "peaks": PEAKS, "redshift": REDSHIFT})
    np.testing.assert_array_equal(rows.means, expected.means)
    np.testing.assert_allclose(rows.covariances(), expected.covariances(), rtol=1e-14)
    if "DuckDB" in library:  # which drops what it does not know
        expected_names = ["magnitude0", "magnitude1", "magnitude2", "peaks0", "peaks1", "redshift"]
    else:
        expected_names = ["magnitude_u", "magnitude_g", "magnitude_r", "peaks_z", "peaks_age", "redshift"]
    assert steps.get_feature_names_out().tolist() == expected_names


def _ipc(t: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, t.schema) as stream:
        stream.write_table(t)
    return sink.getvalue()


def _through_ipc(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    frame.write_ipc(path.with_suffix(".arrow"))
    return pl.read_ipc(path.with_suffix(".arrow"))


def _joined(frame: pl.DataFrame) -> pl.DataFrame:
    numbered = frame.with_row_index()
    right = numbered.select("index", "peaks", "redshift")
    return numbered.drop("peaks", "redshift").join(right, on="index", maintain_order="left").drop("index")


def _merged(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.reset_index()
    left = frame[["index", "magnitude", "kind"]]
    return left.merge(frame[["index", "peaks", "redshift"]], on="index").drop(columns="index")


def _written(frame: Any, path: Path) -> pa.Table:
    if isinstance(frame, pd.DataFrame):
        frame.to_parquet(path)
    else:
        frame.write_parquet(path)
    return pq.read_table(path)


def test_a_file_is_read_where_the_types_are_not_registered(tmp_path: Path) -> None:
    """pyarrow then has structs, whose metadata stand in the schema."""
    path = tmp_path / "rows.parquet"
    pq.write_table(table(), path)
    code = """
import sys, pyarrow.parquet, uncertain
table = pyarrow.parquet.read_table(sys.argv[1])
assert str(table.schema.field("magnitude").type).startswith("struct<")
steps = uncertain.AsGaussians(columns=uncertain.Columns("kind")).fit(table)
assert steps.get_feature_names_out()[0] == "magnitude_u", steps.get_feature_names_out()
frame = table.to_pandas()
assert type(frame["magnitude"][0]) is dict
print(steps.transform(table).covariances().sum(), steps.transform(frame).covariances().sum())
uncertain.uncertainty.register_arrow_types()
# A process that ends as soon as threads have read Python types may abort (pyarrow 26): the schema is enough.
assert "uncertain.gaussian" in str(pyarrow.parquet.read_schema(sys.argv[1]).field("magnitude").type)
"""
    sums = children.printed(code, path).split()
    expected = GaussianArray.hstack([PHOTOMETRY, PEAKS, REDSHIFT]).covariances().sum()
    np.testing.assert_allclose([float(x) for x in sums], expected, rtol=1e-13)


def test_fit_takes_such_columns_without_any_argument(tmp_path: Path) -> None:
    frame = pl.DataFrame(table())
    model = uncertain.fit(frame, "kind", method="gsu")
    assert model.columns_.draws == ("magnitude", "peaks") and model.columns_.features == ("redshift",)
    assert "rows       magnitude, peaks" in str(model.columns_)
    model.save(tmp_path / "model.uncertain")
    again = uncertain.load(tmp_path / "model.uncertain")
    assert again.columns_ == model.columns_
    assert again.columns_.distributions["peaks"] == ("peaks_z", "peaks_age")
    frame.write_parquet(tmp_path / "rows.parquet")
    for same in (frame.lazy(), str(tmp_path / "rows.parquet")):
        assert again.predict(same).equals(model.predict(frame))
    appended = model.predict(frame, append=True)
    assert appended.schema["magnitude"] == frame.schema["magnitude"] and appended.width == frame.width + 1


def test_the_target_may_be_such_a_column() -> None:
    target = GaussianArray(2 * REDSHIFT.means + RANDOM.normal(0, 0.1, (N, 1)), std=0.1)
    frame = pl.DataFrame(REDSHIFT.to_arrow("z")).hstack(pl.DataFrame(target.to_arrow("y")))
    model = uncertain.fit(frame, "y", method="gsu")
    assert model.columns_.target == "y" and model.columns_.features == ("z",)
    law = uncertain.fit(frame, "y", method="law")
    assert law.columns_.target_std == "y_std"


def test_features_pick_some_of_them() -> None:
    model = uncertain.fit(table(), "kind", method="gsu", features=["magnitude"])
    assert model.columns_.draws == ("magnitude",) and model.columns_.features == ()
    assert uncertain.fit(table(), "kind", method="gsu", mean="magnitude").columns_.draws == ("magnitude",)


def test_check_errors_reads_the_scalar_ones() -> None:
    rows = GaussianArray(np.repeat(MEANS[:, :1], 2, axis=0) + RANDOM.normal(0, 0.1, (2 * N, 1)), std=0.1)
    made = rows.to_arrow("z").append_column("star", pa.array(np.repeat(np.arange(N), 2)))
    check = uncertain.check_errors(made, groups="star")
    assert "z" in str(check)


def test_rows_that_are_missing_are_gaps() -> None:
    frame = pl.DataFrame(table()).drop("peaks")
    holed = pl.concat([frame[:5].with_columns(magnitude=frame["magnitude"].clear(5)), frame[5:]])
    with pytest.raises(NullError, match="magnitude: row 0 is null"):
        AsGaussians(columns=uncertain.Columns("kind")).fit(holed)
    rows = AsGaussians(columns=uncertain.Columns("kind"), on_missing="auto").fit_transform(holed)
    assert rows.missing[:5, :3].all() and not rows.missing[5:].any() and not rows.missing[:, 3].any()
    model = uncertain.fit(holed, "kind", method="discriminant")
    assert len(model.predict(holed)) == N


def test_units_travel() -> None:
    units = pytest.importorskip("astropy.units")
    metres = GaussianArray(MEANS * 1000 * units.m, cov=COV * 1e6 * units.m**2, feature_names=NAMES)
    kilometres = GaussianArray(MEANS * units.km, cov=COV * units.km**2, feature_names=NAMES)
    height = GaussianArray(MEANS[:, :1] * 100 * units.cm, std=10 * units.cm)
    assert from_arrow(metres.to_arrow("x")).unit == "m"
    made = metres.to_arrow("x").append_column("h", height.to_arrow("h")["h"])
    steps = AsGaussians().fit(made.append_column("kind", pa.array(LABELS)))
    assert steps.units_ == {"x": "m", "h": "cm"}
    other = kilometres.to_arrow("x").append_column("h", (height @ [[1.0]]).to_arrow("h")["h"])
    np.testing.assert_allclose(steps.transform(other).means, steps.transform(made).means)
    np.testing.assert_allclose(steps.transform(other).covariances(), steps.transform(made).covariances())


def test_other_features_than_those_of_the_fit_are_refused() -> None:
    model = uncertain.fit(
        PHOTOMETRY.to_arrow("x").append_column("kind", pa.array(LABELS)), "kind", method="gsu"
    )
    with pytest.raises(
        ColumnError, match="its features are x_g, x_u, x_r, but those of the fit are x_u, x_g, x_r"
    ):
        model.predict(PHOTOMETRY[:, ["g", "u", "r"]].to_arrow("x"))


def test_what_a_model_of_mixtures_can_do() -> None:
    """The choice among methods, sets of classes, the report: with rows of two peaks."""
    frame = pl.DataFrame(PEAKS.to_arrow("peaks")).with_columns(kind=pl.Series(LABELS))
    model = uncertain.fit(frame, "kind", effort="fast")
    assert len(model.predict_set(frame)) == N
    report = model.report(frame, folds=2, repeats=1)
    assert 0.4 < report.score <= 1.0 and report.n_rows == N
    with pytest.raises(UncertainError, match=r'mixtures of several Gaussians.*collapse\("gaussian"\)'):
        uncertain.fit(frame.with_columns(kind=pl.Series(MEANS[:, 0])), "kind", method="huber")


def test_the_command_line_takes_draws(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from uncertain.cli import main

    draws = MEANS[:, :1] + RANDOM.normal(0, 0.2, (N, 30))
    pl.DataFrame({"z": draws, "kind": LABELS}).write_parquet(tmp_path / "rows.parquet")
    run = CliRunner().invoke(
        main,
        ["fit", f"{tmp_path / 'rows.parquet'}", "-t", "kind", "--draws", "z", "--method", "gsu",
         "-o", f"{tmp_path / 'model.safetensors'}"],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    assert uncertain.load(tmp_path / "model.safetensors").columns_.draws == ("z",)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"mean": [[0.0]], "weight": [1.0]}, {"mean": [], "weight": []}], "row 1 has no components"),
        ([{"mean": [[0.0]], "std": [[1.0], [2.0]], "weight": [1.0]}], "row 0 has 1 weights"),
        ([{"mean": [0.0, 1.0], "std": [-1.0, 1.0]}], "row 0"),
        ([{"mean": [0.0], "std": [1.0]}, {"mean": [0.0], "std": [None]}], "x.std: row 1"),
        ([{"a": 1.0}], "expected structs of mean and std"),
    ],
)
def test_structs_that_are_no_rows_are_refused(rows: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(UncertainError, match=words):
        from_arrow(pl.Series("x", rows))


def test_polars_reads_it_without_pyarrow() -> None:
    code = """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "pyarrow" else real(name, *a)
import polars, uncertain
rows = uncertain.GaussianArray([[1.0, 2.0]], std=0.1, feature_names=["u", "g"])
assert uncertain.uncertainty.from_arrow(polars.DataFrame(rows.to_arrow("x"))) == rows
"""
    subprocess.run([sys.executable, "-c", code], check=True)
