"""Train with one survey, test with the other: their error bars differ, which is the point."""

from __future__ import annotations

from pathlib import Path

from arena.table import Table
from arena.task import Task

from . import kepler, tess

KEPLER = ("period", "duration", "depth", "prad", "srad", "steff", "slogg")
TESS = ("pl_orbper", "pl_trandurh", "pl_trandep", "pl_rade", "st_rad", "st_teff", "st_logg")


def both(folder: Path) -> tuple[Table, Table]:
    """The seven quantities that both catalogues have, in the same units."""
    return kepler.load(folder, KEPLER, ("insol", "teq")), tess.load(folder, TESS, ("pl_insol", "pl_eqt"))


COMMON = {
    "source": f"{kepler.TASKS[0].source}, and table `toi`",
    "licence": "public",
    "columns": "7 quantities with both arms, 2 without; gaps; groups are stars",
    "published": "nothing comparable",
    "needs": (kepler.FILE, tess.FILE),
}
TASKS = [
    Task("Kepler to TESS", both, **COMMON),
    Task("TESS to Kepler", lambda folder: both(folder)[::-1], **COMMON),
]
