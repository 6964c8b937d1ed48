"""Tables that come with scikit-learn: biopsies with standard errors, and others with simulated errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn import datasets

from arena.table import Table, read
from arena.task import Task


def biopsies(folder: Path) -> Table:
    """Means over the nuclei of a biopsy, with their standard errors."""
    values, y = datasets.load_breast_cancer(return_X_y=True)
    return Table("biopsies", values[:, :10], values[:, 10:20], values[:, 10:20], y, np.arange(len(y)))


def digits(folder: Path) -> Table:
    """Mean brightness of 4 x 4 blocks."""
    pixels, y = datasets.load_digits(return_X_y=True)
    blocks = pixels.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    return read("digits", blocks, y, 0.3, regression=False)


def wine(folder: Path) -> Table:
    return read("wine", *datasets.load_wine(return_X_y=True), 0.5, regression=False)


def diabetes(folder: Path) -> Table:
    return read("diabetes", *datasets.load_diabetes(return_X_y=True), 0.4, regression=True)


SIMULATED = "known values, read with log-normal errors of typically {} spreads"
COMMON = {"licence": "CC BY 4.0 (UCI)", "published": "with exact values only"}
TASKS = [
    Task(
        "biopsies", biopsies, licence="CC BY 4.0", columns="10 means with standard errors",
        source="UCI 17 (WDBC), as scikit-learn's load_breast_cancer",
        published="about 95 % with means, standard errors and extremes",
    ),
    Task("digits", digits, source="UCI 80, load_digits", columns=SIMULATED.format(0.3), **COMMON),
    Task("wine", wine, source="UCI 109, load_wine", columns=SIMULATED.format(0.5), **COMMON),
    Task("diabetes", diabetes, source="Efron et al. 2004, load_diabetes", licence="as published",
         columns=SIMULATED.format(0.4), published="R2 of about .5 with exact values"),
]  # fmt: skip
