"""TESS' objects of interest: planets or not, and all six dispositions, of which some are rare."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl

from arena.table import Table, armed
from arena.task import Task

FILE = "tess_toi.csv.gz"
SOURCE = "NASA Exoplanet Archive, table `toi` (https://exoplanetarchive.ipac.caltech.edu)"
NAMES = (
    *("pl_orbper", "pl_trandurh", "pl_trandep", "pl_rade", "st_pmra", "st_pmdec", "st_tmag", "st_dist"),
    *("st_teff", "st_logg", "st_rad"),
)


def load(
    folder: Path, names: tuple[str, ...] = NAMES, exact: tuple[str, ...] = ("pl_insol", "pl_eqt"), *,
    six: bool = False,
) -> Table:  # fmt: skip
    """Planets or not; or all six dispositions."""
    frame = pl.read_csv(
        gzip.decompress((folder / FILE).read_bytes()), comment_prefix="#", infer_schema_length=None
    )
    kinds = ["CP", "KP", "FP", "FA", "PC", "APC"] if six else ["CP", "KP", "FP", "FA"]
    frame = frame.filter(pl.col("tfopwg_disp").is_in(kinds))
    y = frame["tfopwg_disp"].to_numpy()
    y = y if six else np.isin(y, ["CP", "KP"]).astype(int)
    return armed("TESS", frame, names, exact, "err1", "err2", y, frame["tid"].to_numpy())


def six(folder: Path) -> Table:
    """With the time of transit, too."""
    return load(folder, (*NAMES, "pl_tranmid"), (), six=True)


TASKS = [
    Task(
        "TESS", load, source=SOURCE, licence="public", needs=(FILE,),
        columns="11 quantities with both arms, 2 without; many gaps and unknown error bars; groups are stars",
        published="nothing comparable: published accuracies use light curves",
    ),
    Task(
        "TESS, six classes", six, source=SOURCE, licence="public", needs=(FILE,),
        columns="12 quantities with both arms; six dispositions, of 98 to 4,679 rows; groups are stars",
        published="nothing comparable",
    ),
]  # fmt: skip
