"""Gamma-ray sources of Fermi's third catalogue: two kinds of blazars, and pulsars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from arena.table import Table, Values
from arena.task import Task

FILE = "fermi_3fgl.fit.gz"
NOISY = ("Flux_Density", "Flux1000", "Energy_Flux100", "Spectral_Index")
EXACT = ("GLAT", "Signif_Avg", "Pivot_Energy", "Signif_Curve", "Variability_Index")


def load(folder: Path) -> Table:
    """Sources of these three classes."""
    from astropy.io import fits

    data = fits.open(folder / FILE)[1].data
    kinds = np.char.lower(np.char.strip(np.asarray(data["CLASS1"], dtype=str)))
    kept = np.isin(kinds, ["bll", "fsrq", "psr"])

    def columns(names: Sequence[str]) -> Values:
        block = np.column_stack([np.asarray(data[name], dtype=np.float64) for name in names])[kept]
        return np.where(np.isfinite(block), block, np.nan)

    std = np.hstack([columns([f"Unc_{name}" for name in NOISY]), np.zeros((kept.sum(), len(EXACT)))])
    return Table("Fermi", columns([*NOISY, *EXACT]), std, std, kinds[kept], np.arange(kept.sum()))


TASKS = [
    Task(
        "Fermi", load, licence="public", needs=(FILE,),
        source="Fermi LAT 3FGL, gll_psc_v16.fit (https://fermi.gsfc.nasa.gov/ssc/data/access/lat/4yr_catalog)",
        columns="4 quantities with error bars, 5 without; gaps; classes bll, fsrq and psr (rare)",
        published="90 to 98 % for pulsars against blazars alone; nothing comparable for three classes",
    )
]  # fmt: skip
