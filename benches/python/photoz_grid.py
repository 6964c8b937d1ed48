"""Photometric redshifts as densities on a grid: what do their peaks tell beside their mean and variance?

    python benches/python/photoz_grid.py [--data ../shared/data] [--bands gri]

Galaxies of the DC2 simulation, whose redshifts are known. Magnitudes of few bands leave several redshifts
possible: from 5,000 galaxies each of the others gets p(z) on a grid (the redshifts of those with magnitudes
like its own, smoothed) and, divided by the density of all redshifts, its likelihood. Of 4,000 galaxies half
are learned from: is z > 1, or .6 < z < 1? Log loss of the other half with the mixtures of `from_pdf`, with
their moments, and "truth's own": the share of p(z) itself in the class. The goal is a third of the way from
moments to there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from uncertain import GaussianDiscriminant, GSUClassifier
from uncertain.uncertainty import from_pdf

GRID, WIDTH = np.linspace(0, 3.2, 321), 0.03
REFERENCE, LEARNED, ALL = 5_000, 2_000, 4_000
MAGNITUDES = 0.1
"""Galaxies differ by so much more than their errors where redshifts are alike."""


def read(data: Path, bands: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Magnitudes, their errors and redshifts of galaxies that all bands see, in random order."""
    table = pl.read_parquet(data / "dc2_photoz_training.parquet")
    magnitudes = table.select([f"mag_{band}_lsst" for band in bands]).to_numpy()
    errors = table.select([f"mag_err_{band}_lsst" for band in bands]).to_numpy()
    seen = np.flatnonzero((magnitudes < 40).all(axis=1))
    order = np.random.default_rng(0).permutation(seen)
    return magnitudes[order], errors[order], table["redshift"].to_numpy()[order]


def densities(x: np.ndarray, error: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p(z) of the galaxies behind the reference on the grid, and p(z) of all."""
    known, others = slice(0, REFERENCE), range(REFERENCE, REFERENCE + ALL)
    bumps = np.exp(-(((GRID[:, None] - z[known]) / WIDTH) ** 2) / 2)
    found = []
    for i in others:
        logs = -((x[i] - x[known]) ** 2 / (error[i] ** 2 + MAGNITUDES**2)).sum(axis=1) / 2
        found.append(bumps @ np.exp(logs - logs.max()))
    p = np.array(found)
    return p / p.sum(axis=1, keepdims=True), bumps.mean(axis=1)


def loss(p: np.ndarray, right: np.ndarray) -> np.ndarray:
    return -np.log(np.clip(np.where(right, p, 1 - p), 1e-3, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--bands", default="gri")
    options = parser.parse_args()
    x, error, z = read(options.data, options.bands)
    p, population = densities(x, error, z)
    z = z[REFERENCE : REFERENCE + ALL]
    likelihood = from_pdf(GRID, p / np.maximum(population, 1e-3 * population.max()))
    posterior = from_pdf(GRID, p)
    print(f"components per row: {np.diff(posterior.offsets).mean():.1f}")
    learned, held = slice(0, LEARNED), slice(LEARNED, None)
    models = {
        "discriminant": (GaussianDiscriminant(shared_covariance=False), likelihood),
        "discriminant, 2 components": (
            GaussianDiscriminant(n_components=2, shared_covariance=False),
            likelihood,
        ),
        "GSU (spread)": (GSUClassifier(probability=True, random_state=0), posterior),
    }
    for question, low, high in (("z > 1", 1.0, np.inf), (".6 < z < 1", 0.6, 1.0)):
        right = (z > low) & (z < high)
        truth = loss(p[held][:, (low < GRID) & (high > GRID)].sum(axis=1), right[held])
        print(f"{question}: {right.mean():.0%} of the galaxies, truth's own log loss {truth.mean():.3f}")
        for name, (model, rows) in models.items():
            if "GSU" in name and np.isfinite(high):
                continue  # no hyperplane bounds both sides
            moments, shape = (
                loss(model.fit(r[learned], right[learned]).predict_proba(r[held])[:, 1], right[held])
                for r in (rows.collapse("gaussian"), rows)
            )
            gain = moments - shape
            share = gain.mean() / (moments - truth).mean()
            print(
                f"  {name:28} moments {moments.mean():.3f}, shape {shape.mean():.3f}: "
                f"better by {gain.mean():.4f} +- {gain.std() / len(gain) ** 0.5:.4f}, {share:.2f} of the way"
            )


if __name__ == "__main__":
    main()
