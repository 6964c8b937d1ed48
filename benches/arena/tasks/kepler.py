"""Kepler's objects of interest: planets, or not."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from arena.table import Table, armed
from arena.task import Task

FILE = "kepler_koi_cumulative.parquet"
NAMES = ("period", "duration", "depth", "impact", "prad", "srad", "steff", "slogg")


def load(folder: Path, names: tuple[str, ...] = NAMES, exact: tuple[str, ...] = ("insol", "teq")) -> Table:
    """Ten quantities of the rows that were decided."""
    frame = pl.read_parquet(folder / FILE).filter(pl.col("koi_disposition") != "CANDIDATE")
    y = (frame["koi_disposition"] == "CONFIRMED").to_numpy().astype(int)
    noisy, plain = ([f"koi_{name}" for name in some] for some in (names, exact))
    return armed("Kepler", frame, noisy, plain, "_err1", "_err2", y, frame["kepid"].to_numpy())


TASKS = [
    Task(
        "Kepler",
        load,
        source="NASA Exoplanet Archive, table `cumulative` (https://exoplanetarchive.ipac.caltech.edu)",
        licence="public",
        columns="8 quantities of transit, planet and star with both arms, 2 without; gaps; groups are stars",
        published="95 to 97 % with flags and scores of pipelines, which leak the answer; not used here",
        needs=(FILE,),
    )
]
