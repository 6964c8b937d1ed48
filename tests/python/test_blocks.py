"""Files in blocks of rows, by pyarrow or Polars; and codes for missing values told part by part."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uncertain import UncertainError
from uncertain.tables._blocks import blocks_of
from uncertain.tables._files import open_files
from uncertain.tables._sentinels import Ends, Sentinel, _is_nines
from uncertain.tables._table import BatchSize

N = 5000


def _frame(seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=N)
    return pl.DataFrame(
        {
            "a": pl.Series([None if v > 2 else v for v in numbers.tolist()], dtype=pl.Float64),
            "b": rng.normal(size=N).astype(np.float32),
            "small": rng.integers(0, 100, N).astype(np.uint8),
            "label": rng.choice(["no", "yes"], N),
            "flag": rng.random(N) < 0.5,
            "list": pl.Series(rng.normal(size=(N, 3)).tolist(), dtype=pl.List(pl.Float64)),
            "array": pl.Series(rng.normal(size=(N, 2)), dtype=pl.Array(pl.Float32, 2)),
            "when": pl.datetime_range(pl.datetime(2020, 1, 1), pl.datetime(2021, 1, 1), "1h", eager=True)[:N],
            "kind": pl.Series(rng.choice(["x", "y"], N), dtype=pl.Categorical),
        }
    )


COLUMNS = (
    ["a"],
    ["b", "a"],
    ["small", "label", "flag"],
    ["list", "array"],
    ["when", "a"],
    ["kind"],
)


@pytest.mark.parametrize("with_pyarrow", [True, False])
@pytest.mark.parametrize("names", COLUMNS, ids=lambda names: names[0])
@pytest.mark.parametrize("rows", [333, 1700, 10_000])
def test_blocks_are_the_rows_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], rows: int, with_pyarrow: bool
) -> None:
    if with_pyarrow:
        pytest.importorskip("pyarrow")
    else:
        monkeypatch.setattr("uncertain.tables._blocks.find_spec", lambda name: None)
    path = tmp_path / "t.parquet"
    frame = _frame()
    frame.write_parquet(path, row_group_size=1500)
    scan = pl.scan_parquet(path).select(names)
    blocks = list(blocks_of(str(path), scan, BatchSize(rows), parquet=True))
    assert all(0 < block.height <= rows for block in blocks)
    assert pl.concat(blocks).equals(frame.select(names), null_equal=True)
    assert blocks[0].schema == scan.collect_schema()


def test_pyarrow_reads_parquet_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    frame = _frame()
    frame.write_parquet(path, row_group_size=1500)
    monkeypatch.setattr("uncertain.tables._blocks._by_polars", lambda *_: pytest.fail("not by pyarrow"))
    scan = pl.scan_parquet(path).select("a", "label")
    assert pl.concat(blocks_of(str(path), scan, BatchSize(1000), parquet=True)).height == N


def test_blocks_follow_the_size_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    _frame().write_parquet(path)
    size = BatchSize(1000)
    heights = []
    for block in blocks_of(str(path), pl.scan_parquet(path).select("a"), size, parquet=True):
        heights.append(block.height)
        size.rows = 400
    assert heights[0] == 1000 and max(heights[1:]) == 400 and sum(heights) == N


@pytest.mark.parametrize("with_pyarrow", [True, False])
def test_folders_of_files_of_other_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_pyarrow: bool
) -> None:
    """A column named by the folder, and one that is float32 in one file."""
    if not with_pyarrow:
        monkeypatch.setattr("uncertain.tables._blocks.find_spec", lambda name: None)
    for survey, kind in (("one", pl.Float64), ("two", pl.Float32)):
        folder = tmp_path / "all" / f"survey={survey}"
        folder.mkdir(parents=True)
        _frame().select(pl.col("b").cast(kind), "label").write_parquet(folder / "t.parquet")
    table = open_files(tmp_path / "all")
    blocks = [block.native for block in table.batches(["b", "label", "survey"], BatchSize(3000))]
    found = pl.concat(blocks)
    assert found.height == 2 * N and found.schema["b"] == pl.Float64
    assert found["survey"].to_list() == ["one"] * N + ["two"] * N
    assert found["b"][:N].equals(found["b"][N:])


def test_a_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    _frame().write_parquet(path, row_group_size=1000)
    data = bytearray(path.read_bytes())
    data[200:3000] = b"\0" * 2800
    path.write_bytes(data)
    table = open_files(path)
    with pytest.raises(UncertainError, match=r"t\.parquet: not a readable parquet file"):
        list(table.batches(["a", "label"], BatchSize(500)))


def _by_definition(values: np.ndarray) -> list[Sentinel]:
    """Codes as they are defined, of all values at once."""
    found, known = [], values[np.isfinite(values)]
    for end in (np.min, np.max):
        if known.size < 4:
            break
        code = float(end(known))
        others = known[known != code]
        if known.size - others.size < 2 or others.size < 2:
            continue
        low, high = float(others.min()), float(others.max())
        distance = low - code if code < low else code - high
        if distance > (0.5 if _is_nines(code) else 5.0) * (high - low) > 0:
            found.append(Sentinel("c", code, known.size - others.size, low, high))
            known = others
    return found


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([-9999.0, -99.0, 99.0, 1e6, -1e6, np.nan, np.inf]),
            st.floats(-3, 3, allow_nan=False),
            st.integers(0, 3).map(float),
        ),
        max_size=40,
    ),
    st.lists(st.integers(0, 40), max_size=4),
)
def test_codes_are_the_same_however_a_column_is_cut(values: list[float], cuts: list[int]) -> None:
    column = np.asarray(values, dtype=float)
    ends = Ends("c")
    for part in np.split(column, sorted(cuts)):
        ends.add(part)
    assert ends.codes() == _by_definition(column)


def test_codes_at_both_ends_of_a_column_in_parts() -> None:
    column = np.r_[np.linspace(0, 1, 20), [-9999.0] * 3, [99.0] * 2]
    ends = Ends("c")
    for part in np.split(column, [7, 21, 24]):
        ends.add(part)
    assert [(code.value, code.n_rows) for code in ends.codes()] == [(-9999.0, 3), (99.0, 2)]
