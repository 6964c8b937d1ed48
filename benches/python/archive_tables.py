"""The arena's tables, under the names that the benches here use."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from arena.table import Table, Values, cut, noise, read
from arena.tasks.fermi import load as fermi
from arena.tasks.kepler import load as kepler
from arena.tasks.packages import biopsies as wdbc
from arena.tasks.redshifts import load as redshifts
from arena.tasks.redshifts import ranges
from arena.tasks.supernovae import frame as supernovae
from arena.tasks.tess import load as tess
from arena.tasks.tess import six

__all__ = [
    "Table", "Values", "cut", "fermi", "kepler", "noise", "ranges", "read", "redshifts", "six", "supernovae",
    "tess", "wdbc",
]  # fmt: skip
