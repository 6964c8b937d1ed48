"""What tables are read with: files in blocks of rows, codes for missing values, names of columns, files that
are replaced as a whole, targets and groups from arrays as from Python objects."""

import os
import stat
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import children
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from uncertain._data.groups import groups_from
from uncertain._data.replacing import replacing
from uncertain._data.targets import numbers_from, targets_from, weights_from
from uncertain._tables.files import open_files
from uncertain._tables.frame import BatchSize
from uncertain._tables.statistics import Code, Ends, _is_nines, ends_of
from uncertain._tables.writing import write_table
from uncertain.exceptions import UncertainError, UncertainWarning

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


def test_folders_of_files_of_other_types(tmp_path: Path) -> None:
    """A column named by the folder, and one that is float32 in one file."""
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


def _by_definition(values: np.ndarray) -> list[Code]:
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
            found.append(Code("c", code, known.size - others.size, low, high))
            known = others
    return found


def _ends(parts: list[np.ndarray]) -> Ends:
    """Ends of a column in parts."""
    ends = Ends()
    for part in parts:
        ends = ends.merged(ends_of({"c": part}, {}).get("c", Ends()))
    return ends


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
    assert _ends(np.split(column, sorted(cuts))).codes("c") == _by_definition(column)


NARROW = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from uncertain.cli import main
for path in sys.argv[1:]:
    try:
        main(["convert", path, path])
    except SystemExit as left:
        print(left.code)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are those of Unix")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [k * 0.1234567 for k in range(4000)]})
    before = {}
    for ending in ("csv", "parquet", "arrow", "fits", "csv.gz"):
        path = tmp_path / f"table.{ending}"
        write_table(frame, path)
        before[path] = path.read_bytes()
    done = children.run(NARROW, *before)
    assert done.returncode == 0 and done.stdout.split() == ["2"] * len(before), done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    for path, line in zip(before, done.stderr.splitlines(), strict=True):
        assert str(path) in line


def test_what_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    with replacing(link) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert link.is_symlink() and path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(KeyboardInterrupt), replacing(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "new" and sorted(os.listdir(tmp_path)) == ["link.csv", "table.csv"]
    with replacing(tmp_path / "fresh.csv") as draft:
        draft.write_text("first")
    usual = tmp_path / "usual"
    usual.touch()
    assert (tmp_path / "fresh.csv").stat().st_mode == usual.stat().st_mode
    with replacing(os.devnull) as draft:
        draft.write_text("gone")
    assert not os.path.isfile(os.devnull)


VALUES = st.one_of(
    st.lists(st.booleans(), min_size=1),
    st.lists(st.integers(-3, 3), min_size=1),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1),
    st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0, 0.5]), min_size=1),
    st.lists(st.floats(), min_size=1),
)


def outcome(work: Callable[[], Any]) -> Any:
    """What it gives, with types, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertainWarning)
            result = work()
    except UncertainError as error:
        return type(error), str(error)
    parts = result if isinstance(result, tuple) else (result,)
    # Of strings the longest says how wide an array must be, not how wide it is.
    return [
        (p.dtype if p.dtype.kind != "U" else str, p.tolist()) if isinstance(p, np.ndarray) else p
        for p in parts
    ]


def same(first: Any, second: Any) -> bool:
    return repr(first) == repr(second)  # NaN is itself


@given(
    values=VALUES,
    task=st.sampled_from(["auto", "classification", "regression"]),
    partial=st.booleans(),
    more=st.booleans(),
)
def test_arrays_are_read_like_lists(values: list[Any], task: str, partial: bool, more: bool) -> None:
    array, n = np.asarray(values), len(values) + more
    assert same(
        outcome(lambda: targets_from(array, "y", task, n, partial=partial)),
        outcome(lambda: targets_from(array.tolist(), "y", task, n, partial=partial)),
    )
    for read in (
        lambda y: weights_from(y, "w", n),
        lambda y: numbers_from(y, "e", n, "standard deviations"),
        lambda y: numbers_from(y, "e", n, "standard deviations", missing=0.0),
        lambda y: groups_from(y, "g", n),
    ):
        assert same(outcome(lambda read=read: read(array)), outcome(lambda read=read: read(array.tolist())))


@pytest.mark.parametrize("dtype", ["u1", "u8", ">i4", ">f4", "f2", "U3", "S3", "?"])
def test_every_type_of_number(dtype: str) -> None:
    array = np.asarray([1, 0, 1, 1]).astype(dtype)
    for task in ("auto", "classification", "regression"):
        assert same(
            outcome(lambda task=task: targets_from(array, "y", task, 4)),
            outcome(lambda task=task: targets_from(array.tolist(), "y", task, 4)),
        )
    big = np.asarray([2**63, 1], dtype="u8")
    with pytest.raises(UncertainError, match="64 bits"):
        targets_from(big, "y", "classification", 2)


def test_the_callers_labels_are_not_written_to() -> None:
    y = np.asarray([True, False, True])
    y.flags.writeable = False
    targets, _ = targets_from(y, "y", "auto", 3)
    assert_array_equal(targets, y)


def test_whole_floats_beyond_64_bits_are_no_labels() -> None:
    for values in ([2.0**63, 1.0], [-(2.0**70), 1.0]):
        with pytest.raises(UncertainError, match="fit into 64 bits"):
            targets_from(values, "y", "classification", 2)


@pytest.mark.parametrize("name", ["n" * 251 + ".csv", "é" * 120 + ".csv.gz", "n" * 100 + "." + "e" * 150])
def test_long_names_are_written(name: str, tmp_path: Path) -> None:
    with replacing(tmp_path / name) as draft:
        draft.write_bytes(b"1")
    assert [path.name for path in tmp_path.iterdir()] == [name]
