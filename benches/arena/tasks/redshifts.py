"""Photometric redshifts: numbers with several peaks, and ranges of them as classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from arena.table import Table
from arena.task import Task

FILE = "dc2_photoz_training.parquet"


def load(folder: Path) -> Table:
    """Six magnitudes; 99 is undetected."""
    frame = pl.read_parquet(folder / FILE)
    values, std = (
        frame.select(f"mag_{part}{band}_lsst" for band in "ugrizy").to_numpy() for part in ("", "err_")
    )
    gap = values > 90
    values, std = np.where(gap, np.nan, values), np.where(gap, np.nan, std)
    return Table("redshifts", values, std, std, frame["redshift"].to_numpy(), np.arange(len(frame)), True)


def ranges(folder: Path) -> Table:
    """Below .7, to 1.2, and beyond."""
    table = load(folder)
    return replace(
        table, name="ranges of redshift", y=np.digitize(table.y, [0.7, 1.2]), regression=False
    )  # fmt: skip


COMMON = {
    "source": "RAIL's examples (https://github.com/LSSTDESC/RAIL), from cosmoDC2",
    "licence": "BSD-3-Clause with RAIL",
    "columns": "6 magnitudes with error bars of ten years of LSST; gaps where undetected",
    "needs": (FILE,),
}
TASKS = [
    Task("redshifts", load, **COMMON, published="RAIL's FlexZBoost, BPZ and others on tables like it"),
    Task("ranges of redshift", ranges, **COMMON, published="made here, from the numbers"),
]
