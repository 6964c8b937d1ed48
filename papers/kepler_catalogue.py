"""The Kepler objects of interest as rows with error bars: what kepler.py fits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from uncertain import GaussianArray
from uncertain.uncertainty import from_bounds, propagate

QUANTITIES = ("period", "duration", "depth", "impact", "prad", "srad", "steff", "slogg")
"""Without koi_insol and koi_teq, which are computed from these, and the date koi_time0bk."""
WIDEST = 2.0
"""An error bar of more than so many standard deviations of the quantity over all rows is cut to that."""


@dataclass(frozen=True)
class Catalogue:
    """Rows with all quantities and errors: logs with covariances, label, star."""

    X: GaussianArray
    planet: NDArray[np.bool_]
    star: NDArray[np.int64]

    def __getitem__(self, rows: Any) -> Catalogue:
        return Catalogue(self.X[rows], self.planet[rows], self.star[rows])

    def __len__(self) -> int:
        return len(self.star)

    def inflated(self, factor: float | NDArray[np.float64], rng: np.random.Generator) -> Catalogue:
        """As if measured with errors `factor` times as large (of all features, or one factor for each): noise
        is added, and the error bars say so."""
        S = self.X.covariances()
        values, vectors = np.linalg.eigh(S)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        noise = (roots @ rng.normal(size=self.X.shape)[..., None])[..., 0]
        more = np.broadcast_to(np.sqrt(np.square(factor) - 1.0), self.X.shape[1])
        return Catalogue(
            GaussianArray(self.X.means + more * noise, cov=S + more[:, None] * S * more),
            self.planet,
            self.star,
        )


def read(
    folder: Path, *, rule: Literal["average", "moments"] = "average", correlated: bool = True
) -> Catalogue:
    """The rows that are CONFIRMED or FALSE POSITIVE and have every quantity with both its errors."""
    path = folder / "kepler_koi_cumulative.parquet"
    if not path.exists():
        raise SystemExit(
            f"{path} is not there. Original: NASA Exoplanet Archive, table `cumulative` (Kepler objects of "
            "interest); as Parquet under its own column names."
        )
    names = [f"koi_{q}{end}" for q in QUANTITIES for end in ("", "_err1", "_err2")]
    frame = pl.read_parquet(path, columns=["kepid", "koi_disposition", *names])
    frame = frame.filter(pl.col("koi_disposition") != "CANDIDATE").drop_nulls()
    value, above, below = (
        frame.select(f"koi_{q}{end}" for q in QUANTITIES).to_numpy() for end in ("", "_err1", "_err2")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # most arms differ: the page says what becomes of them
        measured = from_bounds(value + below, value + above, value=value, rule=rule)
    planet = (frame["koi_disposition"] == "CONFIRMED").to_numpy()
    return Catalogue(logarithms(measured, correlated), planet, frame["kepid"].to_numpy())


def logarithms(measured: GaussianArray, correlated: bool) -> GaussianArray:
    """Logs by the delta method, with the error that planet radius and star radius have in common.

    Of the impact parameter, which may be 0, log(1 + b); slogg is a logarithm already. The planet radius is
    (radius ratio) x (star radius), and the catalogue gives it the star's relative error: log prad =
    log ratio + log srad has the variance of log srad, and so has the covariance of the two.
    """
    x, d = measured.means, len(QUANTITIES)
    impact, gravity = (QUANTITIES.index(name) for name in ("impact", "slogg"))
    shifted = x + (np.arange(d) == impact)
    logs, slope = np.log(shifted), 1.0 / shifted
    logs[:, gravity], slope[:, gravity] = x[:, gravity], 1.0
    moved = propagate(slope[:, :, None] * np.eye(d), measured, means=logs)
    std = np.sqrt(np.diagonal(moved.covariances(), axis1=1, axis2=2))
    std = np.minimum(std, WIDEST * logs.std(axis=0))
    if not correlated:
        return GaussianArray(logs, std=std)
    planet, star = (QUANTITIES.index(name) for name in ("prad", "srad"))
    own = std.copy()
    own[:, planet] = np.sqrt(np.maximum(std[:, planet] ** 2 - std[:, star] ** 2, 0.0))
    sums = np.eye(d)
    sums[planet, star] = 1.0
    return propagate(sums, GaussianArray(logs, std=own), means=logs)
