"""Exact wide rows beside LinearSVC(hinge).

    python benches/python/wide_rows.py [--rows 2000 12000] [--data FOLDER]

--data FOLDER takes digits of mnist.parquet instead of random rows. Times are of the fit alone, seconds on the
clock and of the processor; the last column says how far the objective of LinearSVC (C = 1 / (alpha n),
stopped by its own rule) is above ours.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from uncertain import GaussianArray, GSUClassifier

Floats = NDArray[np.float64]
Signs = NDArray[np.int64]
Rows = tuple[Floats, Signs]


def random_rows(n: int, d: int) -> Rows:
    """Two overlapping classes."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, -1, 1)
    return rng.normal(size=(n, d)) + 1.5 * y[:, None] * rng.normal(size=d) / np.sqrt(d), y


def digits(folder: Path, pair: tuple[int, int], n: int) -> Rows:
    """Images in [0, 1]."""
    import polars as pl

    frame = pl.read_parquet(folder / "mnist.parquet").filter(
        pl.col("label").is_in(pair) & (pl.col("split") == "train")
    )
    rows = np.random.default_rng(0).choice(frame.height, min(n, frame.height), replace=False)
    images = frame["pixels"].to_numpy().reshape(-1, 784)[rows] / 255.0
    return images, np.where(frame["label"].to_numpy()[rows] == pair[0], -1, 1)


def fitted(model: Any, X: Any, y: Signs) -> tuple[float, float]:
    """Seconds on the clock, of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return time.perf_counter() - clock, time.process_time() - processor


def line(name: str, alpha: float, seconds: tuple[float, float], model: Any, note: str = "") -> None:
    """One line of the table."""
    if isinstance(model, GSUClassifier):
        note = f"gap {float(model.optimality_gap_):.1e}, {int(model.n_iter_)} iterations" + note
    print(f"| {name} | {alpha:g} | {seconds[0]:.2f} | {seconds[1]:.2f} | {note} |", flush=True)


def objective(model: Any, means: Floats, y: Signs, alpha: float) -> float:
    """alpha / 2 |w|^2 and the mean hinge."""
    w = model.coef_.ravel()
    hinges = np.maximum(0.0, 1.0 - y * (means @ w + float(np.ravel(model.intercept_)[0])))
    return 0.5 * alpha * float(w @ w) + float(hinges.mean())


def exact(name: str, rows: Rows, alpha: float) -> None:
    """The means alone, and LinearSVC."""
    means, y = rows
    data, ours = GaussianArray(means), GSUClassifier(alpha=alpha)
    line(name, alpha, fitted(ours, data, y), ours)
    svc = LinearSVC(loss="hinge", C=1.0 / (alpha * len(y)))
    seconds = fitted(svc, means, y)
    above = objective(svc, means, y, alpha) / objective(ours, means, y, alpha) - 1.0
    line(f"{name}, LinearSVC", alpha, seconds, svc, f"{above:.1e} above ours, {svc.n_iter_} iterations")


def main() -> None:
    """A table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[2000, 12000])
    parser.add_argument("--alpha", type=float, default=1e-3)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    print("| rows | alpha | seconds | of the processor | note |\n|---|---:|---:|---:|---|")
    for n in options.rows:
        if options.data:
            for pair in ((1, 7), (4, 9)):
                exact(f"{n:,} digits {pair[0]}, {pair[1]}", digits(options.data, pair, n), options.alpha)
        else:
            exact(f"{n:,} x 784", random_rows(n, 784), options.alpha)


if __name__ == "__main__":
    main()
