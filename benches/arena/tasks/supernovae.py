"""Pantheon+ supernovae: what stretch and colour say of the magnitude that the redshift does not explain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from arena.table import Table
from arena.task import Task

FILE = "pantheon_plus_supernovae.parquet"


def frame(folder: Path) -> pl.DataFrame:
    """Magnitude without the distance modulus, stretch and colour, with their error bars."""
    table = pl.read_parquet(folder / FILE).filter(pl.col("zHD") > 0.01)
    z = table["zHD"].to_numpy()
    grid = np.linspace(0.0, z.max(), 20_000)
    per_hubble = np.cumsum(1 / np.sqrt(0.33 * (1 + grid) ** 3 + 0.67)) * grid[1]
    distance = 5 * np.log10((1 + z) * np.interp(z, grid, per_hubble))
    # The redshift's own error moves the distance modulus by about 5 / ln 10 dz / z.
    error = np.hypot(table["mBERR"].to_numpy(), 5 / np.log(10) * table["zHDERR"].to_numpy() / z)
    names = {"CID": "CID", "x1": "x1", "x1ERR": "x1_err", "c": "c", "cERR": "c_err"}
    left = table.select(pl.col(name).alias(alias) for name, alias in names.items())
    return left.with_columns(pl.Series("m", table["mB"].to_numpy() - distance), pl.Series("m_err", error))


def load(folder: Path) -> Table:
    """As a table of the arena."""
    left = frame(folder)
    values, std = left.select("x1", "c").to_numpy(), left.select("x1_err", "c_err").to_numpy()
    groups, y, y_std = (left[name].to_numpy() for name in ("CID", "m", "m_err"))
    return Table("supernovae", values, std, std, y, groups, True, y_std=y_std)


TASKS = [
    Task(
        "supernovae", load, needs=(FILE,), licence="public",
        source="Pantheon+SH0ES, Scolnic et al. 2022, Brout et al. 2022 "
        "(https://github.com/PantheonPlusSH0ES/DataRelease)",
        columns="stretch and colour with error bars; the target has error bars, too; groups are supernovae",
        published="slopes of .15 and 3.1, an intrinsic scatter of about .1 mag",
    )
]  # fmt: skip
