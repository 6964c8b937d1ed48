"""Damaged files of other libraries' formats: a table or a `TableError`, in a process that lives on.

They are read in a child process with limits of memory and time: what a broken reader does may be anything.
Flipped bytes may leave a readable file; what is read is then a table, and nothing more is asked.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import children
import numpy as np
import polars as pl
import pytest
from catalogues import BatchSize, open_files, read_table, write_table

import uncertain
from uncertain.exceptions import OutOfMemoryError, TableError

ENDINGS = ("parquet", "arrow", "fits", "csv", "csv.gz", "ndjson", "json", "ecsv")
FLIPS, CUTS = 24, 8

LIMITS = """
import ctypes, json, random, resource, sys, traceback, warnings
ctypes.CDLL(None).mallopt(-8, 2)  # M_ARENA_MAX: eight a core would be the address space
import uncertain
from pathlib import Path
from uncertain._tables import BatchSize
from uncertain._files.read import open_files
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
warnings.simplefilter("ignore")
"""
CHILD = """
def place(rng, size):  # anywhere, and more often where headers and footers are
    where = rng.choice(("anywhere", "start", "end"))
    near = size if where == "anywhere" else min(400, size)
    return size - 1 - rng.randrange(near) if where == "end" else rng.randrange(near)

def damaged(whole, rng, cut):
    data = bytearray(whole)
    if cut:
        del data[rng.choice((0, 1, 11, len(whole) - 1, *rng.choices(range(len(whole)), k=3))):]
    for _ in range(0 if cut else rng.choice((1, 1, 2, 8))):
        data[place(rng, len(data))] ^= 1 << rng.randrange(8)
    return data

def outcome(path, memory):
    try:
        if memory:
            uncertain.fit(path, method="gsu", memory=memory)
        else:
            table = open_files(path)
            table.load(table.names)
    except uncertain.exceptions.UncertainError as error:
        if isinstance(error, uncertain.exceptions.TableError) and str(path) not in str(error):
            return "no path", str(error)
        return type(error).__name__, ""
    except BaseException as error:
        return "wrong", traceback.format_exc()[-900:]
    return "table", ""

flips, cuts, memory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
said = {}
for name in sys.argv[4:]:
    path = Path(name)
    whole, rng = path.read_bytes(), random.Random(0)
    for k in range(flips + cuts):
        path.write_bytes(damaged(whole, rng, cut=k >= flips))
        kind, words = outcome(path, memory)
        counts = said.setdefault(path.name, {})
        counts[kind] = counts.get(kind, 0) + 1
        if words:
            said.setdefault("words", []).append(f"{name} {k}: {words}")
print(json.dumps(said))
"""


def frame(n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    label = np.repeat(["star", "quasar"], n // 2)
    x = rng.normal(size=n) + 3.0 * (label == "star")
    return pl.DataFrame({"x": x, "x_err": rng.uniform(0.1, 0.5, n), "n": np.arange(n), "label": label})


def in_child(code: str, *arguments: object) -> Any:
    return json.loads(children.printed(LIMITS + code, *arguments))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process are those of Linux")
@pytest.mark.parametrize(("memory", "endings"), [("", ENDINGS), ("200MB", ("parquet", "arrow"))])
def test_flipped_bytes_and_truncations(memory: str, endings: tuple[str, ...], tmp_path: Path) -> None:
    paths = [tmp_path / f"t.{ending}" for ending in endings]
    for path in paths:
        write_table(frame(), path)
    outcomes = in_child(CHILD, FLIPS, CUTS, memory, *paths)
    assert "words" not in outcomes, outcomes["words"][:3]
    for path in paths:
        assert outcomes[path.name]["TableError"] > 0, outcomes


BOMB = """
path, memory = sys.argv[1], sys.argv[2] or None
try:
    uncertain.fit(path, method="gsu", memory=memory)
    print(json.dumps("a model"))
except uncertain.exceptions.OutOfMemoryError as error:
    print(json.dumps(str(error)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process are those of Linux")
def test_a_small_file_of_many_rows_is_refused_with_what_it_needs(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    n, parts = 1 << 20, 120
    rows = pyarrow.table({"x": np.ones(n), "x_err": np.ones(n), "label": np.ones(n, dtype=np.int64)})
    path = tmp_path / "bomb.parquet"
    with parquet.ParquetWriter(path, rows.schema) as writer:
        for _ in range(parts):
            writer.write_table(rows)
    assert path.stat().st_size < 3 << 20
    said = in_child(BOMB, path, "")
    assert "bomb.parquet: 125,829,120 rows x" in said and "are free" in said and "memory=" in said


def test_text_that_unpacks_to_more_than_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv.gz"
    write_table(frame(), path)
    monkeypatch.setattr("uncertain._files.text.free_bytes", lambda: 1000)
    with pytest.raises(OutOfMemoryError, match=r"t\.csv\.gz: unpacks to 2\.\d KB, .* and 1000 B are free"):
        read_table(path)


def test_footers_that_name_more_than_the_file_has(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame().write_parquet(path)
    data = path.read_bytes()
    path.write_bytes(data[:4] + data[-1000:])  # the footer is whole, the pages are gone
    with pytest.raises(TableError, match=r"t\.parquet: not a readable parquet file \(column .* ends at byte"):
        open_files(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_file_that_changes_while_it_is_read(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    write_table(frame(), path)
    batches = open_files(path).batches(["x"], BatchSize(10))
    next(batches)
    write_table(frame(40), path)
    with pytest.raises(TableError, match=r"was changed while it was read|not a readable"):
        list(batches)


@pytest.mark.skipif(sys.platform != "linux", reason="mapped files end other systems' processes otherwise")
def test_a_file_that_is_emptied_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame(20_000).write_parquet(path, compression="uncompressed", row_group_size=2_000)
    code = """
batches = open_files(sys.argv[1]).batches(["x", "n"], BatchSize(1000))
next(batches)
open(sys.argv[1], "w").close()
try:
    print(json.dumps(len(list(batches))))
except uncertain.exceptions.TableError as error:
    print(json.dumps(str(error)))
"""
    assert "t.parquet: " in in_child(code, path)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process are those of Linux")
def test_more_files_than_may_be_open(tmp_path: Path) -> None:
    for k in range(100):
        for ending in ("parquet", "arrow", "csv"):
            write_table(frame(4 + 2 * (k % 2)), tmp_path / f"t{k:03}.{ending}")
    code = """
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
patterns = [f"{sys.argv[1]}/*.{ending}" for ending in ("parquet", "arrow", "csv")]
models = [uncertain.fit(pattern, method="gsu") for pattern in patterns]
models += [uncertain.fit(pattern, method="gsu", memory="200MB") for pattern in patterns[:2]]
print(json.dumps([str(model).partition(" rows")[0].split()[-1] for model in models]))
"""
    assert in_child(code, tmp_path) == ["500"] * 5


def test_what_is_not_the_files_fault_is_not_called_so() -> None:
    with pytest.raises(FileNotFoundError):
        uncertain.fit("absent.parquet")
