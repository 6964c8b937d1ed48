"""Shots of television news: commercials, or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from arena.table import Table
from arena.task import Task

FILE = "tv_news_commercials_bbc_ndtv.parquet"
TOGETHER = 50
"""Neighbouring shots are alike."""


def load(folder: Path) -> Table:
    """Nine quantities over the frames of a shot, their means and standard deviations."""
    frame = pl.read_parquet(folder / FILE)
    names = [name.removesuffix("_Mean") for name in frame.columns if name.endswith("_Mean")]
    means = frame.select(f"{name}_Mean" for name in names).to_numpy()
    std = np.sqrt(np.maximum(frame.select(f"{name}_Variance" for name in names).to_numpy(), 0.0))
    absent = ~means.any(axis=1, keepdims=True)  # all zero is missing
    exact = frame.select("Shot_Length").to_numpy()
    values, std = np.hstack([np.where(absent, np.nan, means), exact]), np.hstack([std, 0 * exact])
    y = (frame["label"] > 0).to_numpy().astype(int)
    return Table("news", values, std, std, y, np.arange(len(y)) // TOGETHER)


TASKS = [
    Task(
        "news", load, licence="CC BY 4.0", needs=(FILE,),
        source="UCI 326, TV News Channel Commercial Detection, two channels",
        columns="9 means over a shot with their deviations, which are spread and not error; shot length",
        published="F1 of .93 with SVM-GSU (Tzelepis et al. 2018), on single channels and all features",
    )
]  # fmt: skip
