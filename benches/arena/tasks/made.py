"""Tables that are made here: replicates, gaps with limits and categories, and one that is large."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn import datasets

from arena.table import Table, read
from arena.task import Task


def replicates(folder: Path) -> Table:
    """Three classes; each value is the mean of 3 to 5 readings, its error bar their standard error."""
    random = np.random.default_rng(5)
    truth, y = datasets.make_blobs(4_000, 6, centers=6, cluster_std=2.5, random_state=13)
    noise = 2.5 * np.exp(0.6 * random.normal(size=(len(y), 1, 1)) + 0.3 * random.normal(size=(len(y), 6, 1)))
    readings = truth[:, :, None] + noise * random.normal(size=(len(y), 6, 5))
    count = random.integers(3, 6, size=(len(y), 1, 1))
    readings = np.where(np.arange(5) < count, readings, np.nan)
    values = np.nanmean(readings, axis=2)
    std = np.nanstd(readings, axis=2, ddof=1) / np.sqrt(count[:, :, 0])
    return Table("replicates", values, std, std, y % 3, np.arange(len(y)), truth=truth)


def survey(folder: Path) -> Table:
    """Three classes of sources, five fluxes by three instruments: gaps, upper limits, categories."""
    random = np.random.default_rng(6)
    n, d = 6_000, 5
    y = random.choice(3, n, p=[0.6, 0.3, 0.1])
    centers = np.array([[3.0, 3.0, 3.0, 3.0, 3.0], [2.0, 3.0, 4.0, 3.0, 1.5], [4.0, 2.0, 2.0, 3.5, 4.5]])
    common = random.normal(size=(n, 1))
    truth = np.exp(0.5 * (centers[y] + common + 0.6 * random.normal(size=(n, d))))
    instrument = random.integers(0, 3, n)
    std = np.array([0.4, 1.0, 2.5])[instrument][:, None] * np.exp(0.3 * random.normal(size=(n, d)))
    values = truth + std * random.normal(size=(n, d))
    limit = values < 2.0 * std
    values = np.where(limit, 2.0 * std, values)
    gap = (random.random((n, d)) < 0.1) | ((instrument == 1)[:, None] & (np.arange(d) == 4))
    values, known = np.where(gap, np.nan, values), np.where(gap, np.nan, std)
    return Table(
        "survey", values, known, known, y, np.arange(n), limits=-(limit & ~gap).astype(np.int8),
        categories=np.array(["alpha", "beta", "gamma"])[instrument][:, None],
    )  # fmt: skip


def friedman(folder: Path) -> Table:
    """A curved target of five features, and three that say nothing."""
    truth, y = datasets.make_friedman1(6_000, 8, noise=1.0, random_state=16)
    return read("Friedman", truth, y, 0.3, regression=True)


def large(folder: Path) -> Table:
    """Two classes, ten features, half a million rows to train with."""
    truth, y = datasets.make_classification(
        800_000, 10, n_informative=6, n_redundant=2, n_clusters_per_class=3, random_state=17
    )
    return read("large", truth, y, 0.4, regression=False)


COMMON = {"source": "made here", "licence": "Apache-2.0", "published": "made here"}
TASKS = [
    Task("replicates", replicates, columns="6 means of 3 to 5 readings with standard errors", **COMMON),
    Task(
        "survey", survey, **COMMON,
        columns="5 fluxes with error bars, 10 % gaps, upper limits below two sigma; the instrument",
    ),
    Task("Friedman", friedman, columns="8 quantities, read with errors of typically .3 spreads", **COMMON),
    Task(
        "500,000 rows", large, train=500_000, test=20_000, splits=1, large=True, **COMMON,
        columns="10 quantities, read with errors of typically .4 spreads",
    ),
]  # fmt: skip
