"""Penalties of six classes chosen on few rows: time of the path, and the loss of 3,000 rows with them.

    OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 python benches/python/path_rows.py [--rows 500 1000 3000]

Clouds of Gaussians at two distances, and bands of one number, two tables of each.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from default_fit import made

from uncertain import GaussianArray, GSUClassifier

CLASSES, FITTED, NEW = 6, 3_000, 4_001


def clouds(n: int, place: int, distance: float) -> tuple[GaussianArray, np.ndarray]:
    """Readings of points around six places."""
    places = distance * np.random.default_rng(7 + place).normal(size=(CLASSES, 10))
    random, y = np.random.default_rng(place * 1_000 + n), np.arange(n) % CLASSES
    truth, std = random.normal(size=(n, 10)) + places[y], np.exp(random.normal(-0.7, 0.5, (n, 10)))
    return GaussianArray(truth + std * random.normal(size=(n, 10)), std=std), y


def table(kind: str, n: int, place: int, seed: int) -> tuple[GaussianArray, np.ndarray]:
    """Rows and codes of classes."""
    if kind == "bands":
        return made(n, 10, classes=True, seed=seed, n_classes=CLASSES)
    return clouds(n, place, float(kind))


def main() -> None:
    """Print one line a path."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1_000, 3_000])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for kind in ("0.7", "0.3", "bands"):
        for seed in (0, 1):
            X, y = table(kind, FITTED, seed, seed)
            new, truth = table(kind, NEW, seed, seed + 50)
            for rows in given.rows:
                start = time.process_time()
                alpha = GSUClassifier(alpha="auto").fit(X[:rows], y[:rows]).alpha_
                seconds = time.process_time() - start
                model = GSUClassifier(alpha=alpha, probability=True, random_state=0).fit(X, y)
                loss = -np.log(model.predict_proba(new)[np.arange(NEW), truth]).mean()
                print(f"{kind} {seed}, {rows} rows: {seconds:.1f} s, alpha {alpha:.3g}, loss {loss:.4f}",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
