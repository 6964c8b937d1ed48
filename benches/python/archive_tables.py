"""Tables with error bars as archives hand them out: values, two arms, gaps, groups. What benches read.

A gap is a NaN value, an unknown error bar a NaN arm, an exact value has arms of zero. Public originals: NASA
Exoplanet Archive (TESS objects of interest, Kepler cumulative), Fermi 3FGL, RAIL's dc2 examples, UCI.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from uncertain import GaussianArray, Incomplete

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """n rows: values, lower and upper arms (n, d), target, groups."""

    name: str
    values: Values
    below: Values
    above: Values
    y: NDArray[Any]
    groups: NDArray[Any]
    regression: bool = False

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Table:
        parts = (part[rows] for part in (self.values, self.below, self.above, self.y, self.groups))
        return Table(self.name, *parts, self.regression)

    def worse(self, factor: float, seed: int) -> Table:
        """As read with errors so many times as large; an unknown error bar stays unknown."""
        noise = np.random.default_rng(seed).normal(size=self.values.shape)
        std = np.nan_to_num((self.below + self.above) / 2)
        values = self.values + np.sqrt(factor**2 - 1) * std * noise
        return replace(self, values=values, below=factor * self.below, above=factor * self.above)

    def flagged(self) -> Table:
        """With an exact column of zeros and ones for every quantity that has values without error bars."""
        unknown = (np.isnan(self.below) | np.isnan(self.above)) & ~np.isnan(self.values)
        flags = unknown[:, unknown.mean(axis=0) > 0.01].astype(float)
        blocks = (np.hstack([own, more]) for own, more in (
            (self.values, flags), (self.below, 0 * flags), (self.above, 0 * flags)
        ))  # fmt: skip
        return Table(self.name, *blocks, self.y, self.groups, self.regression)

    def folds(self, n: int = 5, seed: int = 0) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Whole groups are held out."""
        splitter = GroupKFold(n, shuffle=True, random_state=seed)
        return list(splitter.split(self.values, groups=self.groups))

    def rows(self, like: Table | None = None) -> GaussianArray | Incomplete:
        """Gaussians: the mean arm as standard deviation; an unknown one is that of `like`'s median."""
        std = (self.below + self.above) / 2
        other = self if like is None else like
        known = (other.below + other.above) / 2
        typical = [np.median(s[~np.isnan(s)]) if (~np.isnan(s)).any() else 0.0 for s in known.T]
        std = np.where(np.isnan(std), typical, std)
        missing = np.isnan(self.values)
        means = np.where(missing, 0.0, self.values)
        rows = GaussianArray(means, std=np.where(missing, 0.0, std))
        return Incomplete(rows, missing) if missing.any() else rows


def tess(folder: Path, *, six: bool = False) -> Table:
    """Planets or not; or all six dispositions, with the time of transit, too."""
    frame = pl.read_csv(
        gzip.decompress((folder / "tess_toi.csv.gz").read_bytes()),
        comment_prefix="#",
        infer_schema_length=None,
    )
    kinds = ["CP", "KP", "FP", "FA", "PC", "APC"] if six else ["CP", "KP", "FP", "FA"]
    frame = frame.filter(pl.col("tfopwg_disp").is_in(kinds))
    names = ["pl_orbper", "pl_trandurh", "pl_trandep", "pl_rade", "st_pmra", "st_pmdec", "st_tmag", "st_dist"]
    names += ["st_teff", "st_logg", "st_rad"] + (["pl_tranmid"] if six else [])
    exact = [] if six else ["pl_insol", "pl_eqt"]
    y = frame["tfopwg_disp"].to_numpy()
    return _armed("TESS, six classes" if six else "TESS", frame, names, exact, "err1", "err2",
                  y if six else np.isin(y, ["CP", "KP"]).astype(int), frame["tid"].to_numpy())  # fmt: skip


def kepler(folder: Path) -> Table:
    """Planets or not, ten quantities."""
    frame = pl.read_parquet(folder / "kepler_koi_cumulative.parquet")
    frame = frame.filter(pl.col("koi_disposition") != "CANDIDATE")
    names = [f"koi_{q}" for q in ("period", "duration", "depth", "impact", "prad", "srad", "steff", "slogg")]
    return _armed("Kepler", frame, names, ["koi_insol", "koi_teq"], "_err1", "_err2",
                  (frame["koi_disposition"] == "CONFIRMED").to_numpy().astype(int),
                  frame["kepid"].to_numpy())  # fmt: skip


def _armed(
    name: str, frame: pl.DataFrame, names: Sequence[str], exact: Sequence[str], up: str, down: str, y: Any,
    groups: Any,
) -> Table:  # fmt: skip
    numbers = [pl.col(f"{n}{end}").cast(pl.Float64) for end in ("", up, down) for n in names]
    block = frame.select(numbers).to_numpy().reshape(len(frame), 3, len(names))
    plain = frame.select(pl.col(exact).cast(pl.Float64)).to_numpy() if exact else np.empty((len(frame), 0))
    zero = np.zeros_like(plain)
    values = np.hstack([block[:, 0], plain])
    above, below = np.hstack([np.abs(block[:, 1]), zero]), np.hstack([np.abs(block[:, 2]), zero])
    return Table(name, values, below, above, y, groups)


def fermi(folder: Path) -> Table:
    """Blazars of two kinds and pulsars."""
    from astropy.io import fits

    data = fits.open(folder / "fermi_3fgl.fit.gz")[1].data
    kinds = np.char.strip(np.asarray(data["CLASS1"], dtype=str))
    kept = np.isin(kinds, ["bll", "fsrq", "psr"])
    noisy = ("Flux_Density", "Flux1000", "Energy_Flux100", "Spectral_Index")
    exact = ("GLAT", "Signif_Avg", "Pivot_Energy", "Signif_Curve", "Variability_Index")

    def columns(names: Sequence[str]) -> Values:
        block = np.column_stack([np.asarray(data[name], dtype=np.float64) for name in names])[kept]
        return np.where(np.isfinite(block), block, np.nan)

    std = np.hstack([columns([f"Unc_{name}" for name in noisy]), np.zeros((kept.sum(), len(exact)))])
    return Table("Fermi", columns([*noisy, *exact]), std, std, kinds[kept], np.arange(kept.sum()))


def redshifts(folder: Path) -> Table:
    """Simulated galaxies: six magnitudes; 99 is undetected."""
    frame = pl.read_parquet(folder / "dc2_photoz_training.parquet")
    values, std = (
        frame.select(f"mag_{part}{band}_lsst" for band in "ugrizy").to_numpy() for part in ("", "err_")
    )
    gap = values > 90
    values, std = np.where(gap, np.nan, values), np.where(gap, np.nan, std)
    return Table("redshifts", values, std, std, frame["redshift"].to_numpy(), np.arange(len(frame)), True)


def wdbc(folder: Path) -> Table:
    """Biopsies: ten means with their standard errors."""
    frame = pl.read_parquet(folder / "wdbc.parquet")
    values = frame.select(pl.selectors.starts_with("mean_")).to_numpy()
    std = frame.select(pl.selectors.ends_with("_error")).to_numpy()
    y = (frame["label"] > 0).to_numpy().astype(int)
    return Table("biopsies", values, std, std, y, np.arange(len(y)))


def read(name: str, truth: Values, y: NDArray[Any], size: float, *, regression: bool) -> Table:
    """True values read with log-normal errors of typically `size` spreads."""
    random = np.random.default_rng(0)
    factors = np.exp(0.5 * (random.normal(size=(len(truth), 1)) + random.normal(size=truth.shape)))
    std = size * truth.std(axis=0) * factors
    values = truth + std * random.normal(size=truth.shape)
    return Table(name, values, std, std, y, np.arange(len(y)), regression)


def noise(n: int, *, gaps: bool, rare: int = 2, seed: int = 0) -> Table:
    """Features and errors that say nothing; one row in `rare` is of the second class."""
    random = np.random.default_rng(seed)
    std = np.exp(0.5 * random.normal(size=(n, 6)))
    values = random.normal(size=(n, 6)) + std * random.normal(size=(n, 6))
    y = (random.permutation(n) % rare == 0).astype(int)
    values = np.where(random.random((n, 6)) < 0.2, np.nan, values) if gaps else values
    return Table(f"noise {n}{' gaps' if gaps else ''}", values, std, std, y, np.arange(n))


def cut(table: Table, n: int, seed: int = 0) -> Table:
    """Some of the rows."""
    some = np.random.default_rng(seed).permutation(len(table))[:n]
    return replace(table[some], name=f"{table.name}, {n} rows")
