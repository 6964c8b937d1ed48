"""Arrow columns as rows: every list type, chunk, slice and null against plain Python; error bars as a column
type that other libraries keep."""

import decimal
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
from catalogues import Rows
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import uncertain
from uncertain import AsGaussians, GaussianArray, MixtureArray, UncertainError
from uncertain.exceptions import ColumnError, MissingErrorBarsError, NullError, RaggedError, ShapeError
from uncertain.uncertainty import from_arrow

FLOATS = st.floats(-1e6, 1e6, width=32)
VALUE_TYPES = [pa.float64(), pa.float32(), pa.int64(), pa.int8(), pa.uint16()]


def read(*columns: Any, missing: str = "refuse", names: list[str] | None = None) -> Rows:
    return Rows.from_arrow(list(columns), names or [f"c{j}" for j in range(len(columns))], missing)


def list_type(layout: str, value_type: pa.DataType, width: int) -> pa.DataType:
    return {
        "list": pa.list_(value_type),
        "large": pa.large_list(value_type),
        "fixed": pa.list_(value_type, width),
    }[layout]


@st.composite
def columns(draw: st.DrawFn, nulls: bool = False) -> tuple[pa.ChunkedArray, list[Any]]:
    """A column of lists in random chunks, each chunk a slice of something longer, and its rows."""
    width = draw(st.integers(1, 4))
    value_type = draw(st.sampled_from(VALUE_TYPES))
    kind = list_type(draw(st.sampled_from(["list", "large", "fixed"])), value_type, width)
    number: st.SearchStrategy[Any] = FLOATS if pa.types.is_floating(value_type) else st.integers(0, 100)
    if nulls:
        number = st.one_of(number, st.none())
    row: st.SearchStrategy[Any] = st.lists(number, min_size=width, max_size=width)
    if nulls:
        row = st.one_of(row, st.none())
    chunks, rows = [], []
    for _ in range(draw(st.integers(1, 3))):
        values = draw(st.lists(row, max_size=6))
        start = draw(st.integers(0, len(values)))
        stop = draw(st.integers(start, len(values)))
        chunks.append(pa.array(values, kind)[start:stop])
        rows += values[start:stop]
    return pa.chunked_array(chunks, type=kind), rows


@given(columns())
@settings(max_examples=200, deadline=None)
def test_sliced_and_chunked_columns(case: tuple[pa.ChunkedArray, list[Any]]) -> None:
    column, rows = case
    if not rows and not pa.types.is_fixed_size_list(column.type):
        with pytest.raises(ShapeError, match=r"c0: .*no rows"):
            read(column)
        return
    assert_array_equal(read(column).to_numpy().reshape(-1), np.asarray(rows, dtype=float).reshape(-1))
    through_polars = read(pl.Series(column))
    assert_array_equal(through_polars.to_numpy().reshape(-1), np.asarray(rows, dtype=float).reshape(-1))


@given(columns(nulls=True))
@settings(max_examples=300, deadline=None)
def test_nulls_are_named_or_zeros(case: tuple[pa.ChunkedArray, list[Any]]) -> None:
    column, rows = case
    bad = [i for i, row in enumerate(rows) if row is None or None in row]
    for missing, error in (("refuse", NullError), ("refuse-error-bars", MissingErrorBarsError)):
        if bad:
            with pytest.raises(error, match=r"^c0: ") as caught:
                read(column, missing=missing)
            # Within a chunk null rows are found before null elements; both are in the message with their row.
            assert int(str(caught.value).split("row ")[1].split(",")[0].split(" ")[0]) in bad
    width = next((len(row) for row in rows if row is not None), None)
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
    for missing in ("zero-elements", "zero-rows"):
        if width is None:
            with pytest.raises(ShapeError):
                read(column, missing=missing)
            continue
        empty = [row is None or (missing == "zero-rows" and None in row) for row in rows]
        whole = [[0.0] * width if e else [v or 0.0 for v in row] for e, row in zip(empty, rows, strict=True)]
        assert_array_equal(read(column, missing=missing).to_numpy().tolist(), whole)


@st.composite
def nested(draw: st.DrawFn) -> tuple[pa.ChunkedArray, list[Any], tuple[int, int]]:
    """As `columns`, each row a matrix in lists of lists of any two kinds, with or without nulls."""
    outer, inner = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    layouts = st.sampled_from(["list", "large", "fixed"])
    kind = list_type(draw(layouts), list_type(draw(layouts), pa.float64(), inner), outer)
    number: st.SearchStrategy[Any] = FLOATS
    row: st.SearchStrategy[Any] = st.lists(number, min_size=inner, max_size=inner)
    holes = draw(st.sampled_from(["none", "number", "inner", "outer"]))
    if holes == "number":
        row = st.lists(st.one_of(number, st.none()), min_size=inner, max_size=inner)
    if holes == "inner":
        row = st.one_of(row, st.none())
    matrix: st.SearchStrategy[Any] = st.lists(row, min_size=outer, max_size=outer)
    if holes == "outer":
        matrix = st.one_of(matrix, st.none())
    chunks, rows = [], []
    for _ in range(draw(st.integers(1, 2))):
        values = draw(st.lists(matrix, min_size=1, max_size=4))
        start = draw(st.integers(0, len(values) - 1))
        chunks.append(pa.array(values, kind)[start:])
        rows += values[start:]
    return pa.chunked_array(chunks, type=kind), rows, (outer, inner)


@given(nested())
@settings(max_examples=300, deadline=None)
def test_matrices_in_nested_lists(case: tuple[pa.ChunkedArray, list[Any], tuple[int, int]]) -> None:
    column, rows, (outer, inner) = case

    def elements(row: list[Any] | None) -> list[float | None]:
        whole = [[None] * inner] * outer if row is None else row
        return [value for line in whole for value in (line if line is not None else [None] * inner)]

    flat = [elements(row) for row in rows]
    bad = [i for i, row in enumerate(flat) if None in row]
    if bad:
        with pytest.raises(NullError) as caught:
            read(column)
        assert int(str(caught.value).split("row ")[1].split(",")[0].split(" ")[0]) in bad
        if len(bad) == len(rows):
            return  # lists may then leave the width open
        got = read(column, missing="zero-rows").to_numpy()
        assert_array_equal(got, [[0.0] * outer * inner if None in row else row for row in flat])
    else:
        assert_array_equal(read(column).to_numpy(), flat)


def test_memory_is_shared_where_the_layout_allows() -> None:
    x = np.arange(12.0).reshape(6, 2)
    series = pl.Series(x, dtype=pl.Array(pl.Float64, 2))
    fixed, large = pa.chunked_array([series.to_arrow()]), pa.chunked_array([series.to_list()])
    for column in (fixed, fixed[2:5], large, large[1:]):
        base = column.chunk(0).flatten().to_numpy()
        assert np.shares_memory(read(column).to_numpy(), base)
    assert np.shares_memory(read(series).to_numpy(), series.explode().to_numpy())
    numbers = pa.chunked_array([np.arange(3.0)])
    assert np.shares_memory(read(numbers).to_numpy(), numbers.chunk(0).to_numpy())


def test_rows_outlive_the_column() -> None:
    rows = read(pl.Series(np.arange(2e5).reshape(-1, 2), dtype=pl.Array(pl.Float64, 2)))
    view = rows.to_numpy()
    del rows
    assert_array_equal(view.ravel(), np.arange(2e5))


def test_nested_lists_and_tensors() -> None:
    x = np.arange(12.0).reshape(3, 2, 2)
    tensor = pa.FixedShapeTensorArray.from_numpy_ndarray(x)
    nested = pl.Series(x, dtype=pl.Array(pl.Float64, (2, 2)))
    for column in (tensor, tensor[1:], nested, nested[1:], pl.Series(x.tolist())):
        got = read(column)
        assert got.width == 4
        assert_array_equal(got.to_numpy(), x.reshape(3, 4)[-got.n_rows :])
    permuted = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float64(), [2, 2], permutation=[1, 0]), tensor.storage
    )
    with pytest.raises(ColumnError, match="permuted"):
        read(permuted)


def test_scalar_columns_side_by_side() -> None:
    a, b = pl.Series([1.0, 2.0, 3.0]), pl.Series([4, 5, 6])
    chunked = pl.concat([a[:1], a[1:]], rechunk=False)
    assert_array_equal(
        read(chunked, b, np.array([7.0, 8.0, 9.0])).to_numpy(), [[1, 4, 7], [2, 5, 8], [3, 6, 9]]
    )
    assert read(a).width == 1
    many = [np.arange(5000.0) + j for j in range(3)]
    assert_array_equal(read(*many).to_numpy(), np.stack(many, axis=1))
    with pytest.raises(ShapeError, match="c1: expected 3 rows as in c0, got 2"):
        read(a, b[:2])
    with pytest.raises(ShapeError, match="c1: expected one number per row"):
        read(a, pl.Series([[1.0, 2.0]] * 3))
    with pytest.raises(NullError, match="c1: row 2 is null"):
        read(a, pl.Series([1.0, 2.0, None]))
    with pytest.raises(MissingErrorBarsError, match="c0: row 1 is NaN"):
        read(pl.Series([1.0, float("nan")]), b[:2], missing="refuse-error-bars")


def test_ragged_lists_are_named() -> None:
    with pytest.raises(RaggedError, match="c0: row 2 has 1 elements but row 0 has 2"):
        read(pl.Series([[1, 2], [3, 4], [5]]))
    later = pa.chunked_array([[[1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0, 3.0]]])
    with pytest.raises(RaggedError, match="c0: row 2 has 3 elements but row 0 has 2"):
        read(later)
    with pytest.raises(RaggedError, match="c0: row 1 has 1"):
        read(pl.Series([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0]]]))
    with pytest.raises(RaggedError, match="row 2"):
        read(pl.Series([None, [1.0, 2.0], [1.0]]), missing="zero-rows")


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (pa.array([decimal.Decimal("1.5")]), "Decimal128"), (pa.array([np.float16(1)]), "Float16"),
        (pa.array(["1.5"]), "strings"), (pa.array([["1.5"]]), r"List\("), (pa.array([True]), "booleans"),
        (pa.array([{"a": 1.0}]), "Struct"), (pa.array(["a"]).dictionary_encode(), "Dictionary"),
        (pa.array([None]), "Null"), (pl.Series(["a"]), "strings"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_a_number_is_refused(column: Any, found: str) -> None:
    with pytest.raises(ColumnError, match=f"c0: expected real numbers .*, got .*{found}.*cast"):
        read(column)
    for other in (np.array([1 + 2j]), np.array(["a"]), np.array([True]), 3.0):
        with pytest.raises(ColumnError, match=r"c0: cannot be read as numbers"):
            read(other)


def test_empty_columns() -> None:
    assert read(pl.Series([], dtype=pl.Array(pl.Float64, 3))).to_numpy().shape == (0, 3)
    assert read(pl.Series([], dtype=pl.Float64), pl.Series([], dtype=pl.Int8)).to_numpy().shape == (0, 2)
    with pytest.raises(ShapeError, match="no rows"):
        read(pl.Series([], dtype=pl.List(pl.Float64)))
    with pytest.raises(ShapeError, match="empty lists"):
        read(pl.Series([[], []], dtype=pl.List(pl.Float64)))


IMPORT = """
    import numpy as np, polars as pl
    from uncertain import AsGaussians

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    n, d = {n}, 15
    means = pl.Series("mean", np.zeros((n, d)), dtype=pl.Array(pl.Float64, d))
    covs = np.zeros((n, d, d)); covs[:] = np.eye(d)
    covs = pl.Series("cov", covs, dtype=pl.Array(pl.Float64, (d, d)))
    frame = pl.DataFrame([means, covs])
    cut = n // 3
    frame = pl.concat([frame[:cut], frame[cut:]], rechunk=False)
    AsGaussians(mean="mean", cov="cov").fit_transform(frame[:2000])  # threads and their stacks
    before = resident()
    gaussians = AsGaussians(mean="mean", cov="cov").fit_transform(frame)
    added = resident() - before
    assert len(gaussians) == n and frame.n_chunks() == 2
    print(n * (d + d * d) * 8, added)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_importing_256_megabytes_adds_less_than_32() -> None:
    size, added = map(int, children.printed(IMPORT.format(n=134_000)).split())
    assert size > 256e6
    assert added < 32e6, f"{added / 1e6:.0f} MB more"


class Exporter:
    """An object that hands over one capsule, however often it is asked."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.capsule


def test_a_stream_can_be_read_once() -> None:
    once = Exporter(pa.chunked_array([[1.0], [2.0]]).__arrow_c_stream__())
    assert_array_equal(read(once).to_numpy(), [[1.0], [2.0]])
    with pytest.raises(ColumnError, match=r"c0: .*released before"):
        read(once)
    with pytest.raises(ColumnError, match=r"c0: "):
        read(Exporter("no capsule"))


def test_a_stream_that_breaks_off_says_why() -> None:
    schema = pa.schema({"x": pa.float64()})

    def batches() -> Any:
        yield pa.record_batch([pa.array([1.0])], schema=schema)
        raise ValueError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(ColumnError, match=r"c0: .*the disk is gone"):
        read(Exporter(reader.__arrow_c_stream__()))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"])
def test_numpy_columns(dtype: str) -> None:
    matrix = np.arange(24.0).reshape(6, 4).astype(dtype)
    assert_array_equal(read(matrix).to_numpy(), matrix)
    assert_array_equal(read(matrix[::2, 1]).to_numpy(), matrix[::2, 1:2])
    assert_array_equal(read(matrix.reshape(2, 3, 4)).to_numpy(), matrix.reshape(2, 12))
    records = np.zeros(3, dtype=[("flag", "u1"), ("x", dtype)])  # not aligned
    records["x"] = [3, 1, 2]
    assert_array_equal(read(records["x"]).to_numpy(), [[3.0], [1.0], [2.0]])


def test_numpy_memory_is_shared() -> None:
    column = np.arange(5.0)
    rows = read(column)
    assert np.shares_memory(rows.to_numpy(), column)
    assert_array_equal(read(np.zeros((0, 3))[:, 0], np.ones(0), names=["a", "b"]).to_numpy().shape, (0, 2))


def test_views_of_lists_keep_their_last_row() -> None:
    means = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], pa.list_view(pa.float64()))
    matrices = pa.array([[[1.0, 0.5], [0.5, 2.0]]] * 3, pa.large_list_view(pa.list_view(pa.float64())))
    rows = AsGaussians(mean="m", cov="S").fit_transform(pa.table({"m": means, "S": matrices}))
    assert rows.means.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
    assert rows.covariances()[2].tolist() == [[1.0, 0.5], [0.5, 2.0]]


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
    assert "draws         magnitude, peaks" in str(model.columns_)
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
