"""The tables of any_learner.py: rows with error bars, catalogued or simulated, and what is predicted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import kepler_catalogue
import numpy as np
import page
import polars as pl
from kepler_models import some_stars
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_digits, load_wine

from uncertain import AsGaussians, GaussianArray
from uncertain.demo import wdbc
from uncertain.uncertainty import from_replicates

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """A table: Gaussian rows, the target, and which rows stay together."""

    X: GaussianArray
    y: NDArray[Any]
    groups: NDArray[Any]

    def at(self, index: NDArray[np.int64]) -> Rows:
        return Rows(self.X[index], self.y[index], self.groups[index])

    def inflated(self, factor: float, rng: np.random.Generator) -> GaussianArray:
        """As if measured with errors `factor` times as large."""
        noise = self.X.sample(1, int(rng.integers(2**31))).means - self.X.means
        means = self.X.means + np.sqrt(factor**2 - 1.0) * noise
        return GaussianArray(means, cov=factor**2 * self.X.covariances())


def read_with(z: Floats, y: NDArray[Any], size: float, seed: int) -> Rows:
    """Exact values read with known errors: log-normal, typically `size` times each feature's spread."""
    rng = np.random.default_rng(seed)
    spread = np.where(z.std(axis=0) > 0.0, z.std(axis=0), 1.0)
    rows, cells = rng.normal(size=(len(z), 1)), rng.normal(size=z.shape)
    std = size * spread * np.exp(0.6 * rows + 0.4 * cells)
    return Rows(GaussianArray(z + std * rng.normal(size=z.shape), std=std), y, np.arange(len(z)))


def read_thrice(z: Floats, y: NDArray[Any], size: float, seed: int) -> Rows:
    """Three readings of each value, of unknown errors that differ between rows: `from_replicates`."""
    rng = np.random.default_rng(seed)
    std = size * z.std(axis=0) * np.exp(0.6 * rng.normal(size=(len(z), 1)))
    readings = np.repeat(z, 3, axis=0) + np.repeat(std, 3, axis=0) * rng.normal(size=(3 * len(z), z.shape[1]))
    rows = from_replicates(readings, by=np.repeat(np.arange(len(z)), 3), of="mean", covariance="diagonal")
    return Rows(rows, y, np.arange(len(z)))


def kepler(folder: Path) -> Rows:
    """About 2,000 rows of all; kepler.md has the others."""
    rows = some_stars(kepler_catalogue.read(folder), 2000, seed=0)
    return Rows(rows.X, rows.planet, rows.star)


def biopsies(folder: Path) -> Rows:
    table = wdbc()
    X = AsGaussians(features=[c for c in table.columns if f"{c}_se" in table.columns], std="{}_se")
    rows = X.fit_transform(table)
    return Rows(rows, table["diagnosis"].to_numpy(), np.arange(len(rows)))


def news(folder: Path) -> Rows:
    """Every eighth complete BBC shot: nine features with their spread over the shot, which is no noise."""
    path = folder / "tv_news_commercials_bbc_ndtv.parquet"
    if not path.exists():
        raise SystemExit(f"{path} is not there. Original: UCI 326, TV News Channel Commercial Detection.")
    frame = pl.read_parquet(path).filter(pl.col("channel") == "BBC")
    names = [c.removesuffix("_Mean") for c in frame.columns if c.endswith("_Mean")]
    means = frame.select(f"{c}_Mean" for c in names).to_numpy()
    spread = frame.select(f"{c}_Variance" for c in names).to_numpy()
    complete = np.flatnonzero(np.abs(means[:, 1:]).sum(axis=1) > 0.0)[::8]
    runs = np.arange(len(complete)) // 25
    return Rows(
        GaussianArray(means[complete], std=spread[complete]), frame["label"].to_numpy()[complete], runs
    )


def from_file(name: str, target: str, size: float) -> Callable[[Path], Rows]:
    return lambda folder: read_with(*page.load(folder, name, target, "UCI"), size, 0)


def digits(folder: Path) -> Rows:
    pixels, label = load_digits(return_X_y=True)
    return read_with(pixels[:, pixels.std(axis=0) > 0.1], label, 0.6, 0)


TABLES: dict[str, tuple[Callable[[Path], Rows], str]] = {
    "Kepler": (kepler, "catalogued errors"),
    "biopsies (WDBC)": (biopsies, "catalogued standard errors of means"),
    "news (BBC)": (news, "catalogued spread of frames"),
    "digits": (digits, "simulated, typically 0.6 of a pixel's spread"),
    "wine cultivars": (
        lambda folder: read_thrice(*load_wine(return_X_y=True), 1.0, 0),
        "three simulated readings each, `from_replicates`",
    ),
    "diabetes": (
        lambda folder: read_with(*load_diabetes(return_X_y=True), 0.3, 0),
        "simulated, typically 0.3 of the spread",
    ),
    "airfoil noise": (
        from_file("airfoil_self_noise", "sound_pressure_level_db", 0.3),
        "simulated, typically 0.3 of the spread",
    ),
}
"""Where a table comes from, and where its errors."""
