"""Damaged files of every format: a `TableError` that names the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from catalogues import open_files, read_table, write_table

import uncertain
from uncertain.exceptions import TableError

ENDINGS = ("parquet", "arrow", "fits", "csv.gz", "ndjson", "json", "ecsv", "vot", "tbl")


def frame(n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    label = np.repeat(["star", "quasar"], n // 2)
    x = rng.normal(size=n) + 3.0 * (label == "star")
    return pl.DataFrame({"x": x, "x_err": rng.uniform(0.1, 0.5, n), "n": np.arange(n), "label": label})


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_cut_short_or_something_else(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    write_table(frame(), tmp_path / ("t.ecsv" if ending == "tbl" else path.name))
    whole = (tmp_path / "t.ecsv").read_bytes() if ending == "tbl" else path.read_bytes()
    cuts = [b"", whole[:11], whole[: len(whole) // 2 + 1]]
    for damaged in (*(cuts[:2] if ending in ("ecsv", "tbl") else cuts), b"\x00\xff" * 300):
        path.write_bytes(damaged)
        for act in (read_table, lambda path: uncertain.fit(path, method="gsu")):
            with pytest.raises(TableError, match=rf"t\.{ending}: not a readable"):
                act(path)


def test_a_page_that_is_damaged_is_found_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame(20_000).write_parquet(path, row_group_size=1_000)
    data = bytearray(path.read_bytes())
    data[200:3000] = b"\0" * 2800
    path.write_bytes(data)
    table = open_files(path)
    with pytest.raises(TableError, match=r"t\.parquet: not a readable parquet file"):
        table.load(["x"])
    with pytest.raises(TableError, match=r"t\.parquet: not a readable parquet file"):
        uncertain.fit(path, method="gsu", memory="200MB")


def test_what_is_not_the_files_fault_is_not_called_so() -> None:
    with pytest.raises(FileNotFoundError):
        uncertain.fit("absent.parquet")
