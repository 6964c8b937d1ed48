"""What `n_trees="auto"` costs and finds: processor time of the count, and the loss of such a fit on new rows.

    OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 python benches/python/count_trees.py [--tables 60x10x2 200x3x0 ...]

Tables are rows x features x classes (0: numbers). To compare two versions, run it in turns with
PYTHONPATH set to the `python` folder of each.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from default_fit import made

from uncertain import GaussianArray, RemeasuredClassifier, RemeasuredRegressor

TABLES = ["60x10x2", "200x3x0", "300x10x2", "1000x10x2", "1000x10x0", "1000x10x6", "10000x10x2"]
FEW = 5_000
"""Rows below which there are three tables of a size."""


def table(n: int, d: int, classes: int, seed: int) -> tuple[GaussianArray, np.ndarray]:
    """A made table, its numbers cut into classes of equal sizes."""
    rows, y = made(n, d, classes=False, seed=seed)
    if classes == 0:
        return rows, y
    return rows, np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y)


def main() -> None:
    """Print one line a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    for name in parser.parse_args().tables:
        n, d, classes = map(int, name.split("x"))
        new, truth = table(4_000, d, classes, 99)
        for seed in range(3 if n < FEW else 1):
            rows, y = table(n, d, classes, seed)
            kind = RemeasuredClassifier if classes else RemeasuredRegressor
            start = time.process_time()
            trees = kind(random_state=0)._count_trees(rows, y)
            seconds = time.process_time() - start
            model = kind(n_trees=trees, random_state=0).fit(rows, y)
            if classes:
                loss = -np.log(model.predict_proba(new)[np.arange(len(truth)), truth]).mean()
            else:
                loss = np.sqrt(np.mean((model.predict(new) - truth) ** 2))
            print(f"{name}, seed {seed}: {seconds:.2f} s, {trees} trees, {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
