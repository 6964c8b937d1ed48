"""Few rows of many features: held-out log loss and accuracy of `method="gsu"`.

    python benches/python/few_directions.py [--draws 12]

Its denoiser has few directions there. Tables of scikit-learn with simulated errors of .2 to 1.5 standard
deviations of each feature: four digits in two classes (52 pixels that vary), and the biopsies (30 features,
logarithms). Tested on 400 other rows.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

import uncertain

ROWS = {"digits": (24, 30, 50), "biopsies": (24, 30)}


def digits() -> tuple[np.ndarray, np.ndarray]:
    """3 and 5 against 8 and 9."""
    found = load_digits()
    some = np.isin(found.target, (3, 5, 8, 9))
    return found.data[some][:, found.data.std(axis=0) > 0.5], np.isin(found.target[some], (3, 5))


def biopsies() -> tuple[np.ndarray, np.ndarray]:
    found = load_breast_cancer()
    return np.log(found.data + 1e-3), found.target == 1


def frame(x: np.ndarray, std: np.ndarray, y: np.ndarray) -> pl.DataFrame:
    columns = {f"x{j}": x[:, j] for j in range(x.shape[1])}
    errors = {f"x{j}_err": std[:, j] for j in range(x.shape[1])}
    return pl.DataFrame(columns | errors | {"label": np.where(y, "yes", "no")})


def one(z: np.ndarray, y: np.ndarray, n: int, seed: int) -> tuple[float, float]:
    """Log loss and accuracy after a fit to n rows."""
    random = np.random.default_rng(seed)
    std = random.uniform(0.2, 1.5, z.shape)
    x = z + std * random.normal(size=z.shape)
    order = random.permutation(len(y))
    train, test = order[:n], order[n : n + 400]
    model = uncertain.fit(frame(x[train], std[train], y[train]), target="label", method="gsu")
    shares = model.predict_proba(frame(x[test], std[test], y[test])).to_numpy()
    right = shares[np.arange(len(test)), y[test].astype(int)]
    return -float(np.log(np.maximum(right, 1e-15)).mean()), float((right > 0.5).mean())


def main() -> None:
    """Print one line a table and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=12)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | rows x features | log loss | accuracy | s of the processor |\n|---|---|---|---|---|")
    for name, (x, y) in {"digits": digits(), "biopsies": biopsies()}.items():
        for n in ROWS[name]:
            start = time.process_time()
            found = np.array([one(scale(x), y, n, seed) for seed in range(given.draws)])
            mean, se = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(given.draws)
            seconds = (time.process_time() - start) / given.draws
            print(
                f"| {name} | {n} x {x.shape[1]} | {mean[0]:.3f} +- {se[0]:.3f} | "
                f"{100 * mean[1]:.1f} +- {100 * se[1]:.1f} | {seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
