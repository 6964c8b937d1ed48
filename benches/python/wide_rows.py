"""SVM-GSU on wide rows that are uncertain in a few directions, beside what needs no such care.

    python benches/python/wide_rows.py [--rows 2000 12000] [--features 784] [--rank 2] [--alpha 1e-3]
    python benches/python/wide_rows.py --data FOLDER
    python benches/python/wide_rows.py --exact --rows 2000 12000 [--data FOLDER]
    python benches/python/wide_rows.py --rbf

Each row has a factor of its own, F_i of normal numbers, S_i = F_i F_i'; the same rows without errors, with
diagonal ones, and scikit-learn's LinearSVC(hinge) on the means are the yardsticks. --data FOLDER takes digits
of mnist.parquet instead, with their shifts down and right as the two directions. --exact: only the means, and
how far the objective of LinearSVC (C = 1 / (alpha n), its own stop) is above ours. --rbf: 2000 rows of 10
features with standard deviations, RBF kernel, and the same without. Times are of the fit alone, from arrays
that have been checked; seconds on the clock and of the processor. `tips`: rows that the optimum leaves almost
without spread.
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
Rows = tuple[Floats, Floats, Signs]


def random_rows(n: int, d: int, rank: int) -> Rows:
    """Two overlapping classes, and factors whose size differs by row."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, -1, 1)
    means = rng.normal(size=(n, d)) + 1.5 * y[:, None] * rng.normal(size=d) / np.sqrt(d)
    return means, rng.normal(size=(n, d, rank)) * rng.uniform(0.2, 1.0, size=(n, 1, 1)), y


def digits(folder: Path, pair: tuple[int, int], n: int) -> Rows:
    """Images in [0, 1] with their derivatives down and right, times 5/3 pixels."""
    import polars as pl

    frame = pl.read_parquet(folder / "mnist.parquet").filter(
        pl.col("label").is_in(pair) & (pl.col("split") == "train")
    )
    rows = np.random.default_rng(0).choice(frame.height, min(n, frame.height), replace=False)
    images = frame["pixels"].to_numpy().reshape(-1, 28, 28)[rows] / 255.0
    shifts = [np.gradient(images, axis=axis).reshape(len(rows), -1) for axis in (1, 2)]
    y = np.where(frame["label"].to_numpy()[rows] == pair[0], -1, 1)
    return images.reshape(len(rows), -1), 5.0 / 3.0 * np.stack(shifts, axis=2), y


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
    means, _, y = rows
    data, ours = GaussianArray(means), GSUClassifier(alpha=alpha)
    line(f"{name}, exact", alpha, fitted(ours, data, y), ours)
    svc = LinearSVC(loss="hinge", C=1.0 / (alpha * len(y)))
    seconds = fitted(svc, means, y)
    above = objective(svc, means, y, alpha) / objective(ours, means, y, alpha) - 1.0
    line(f"{name}, LinearSVC", alpha, seconds, svc, f"{above:.1e} above ours, {svc.n_iter_} iterations")


def compare(name: str, rows: Rows, alpha: float) -> None:
    """Low rank, none, diagonal, LinearSVC."""
    means, factor, y = rows
    kinds = {
        "low rank": GaussianArray(means, factor=factor),
        "none": GaussianArray(means),
        "diagonal": GaussianArray(means, var=(factor**2).sum(axis=2)),
    }
    for kind, data in kinds.items():
        model = GSUClassifier(alpha=alpha)
        seconds, note = fitted(model, data, y), ""
        if kind == "low rank":
            spread = np.linalg.norm(np.einsum("ndr,d->nr", factor, model.coef_.ravel()), axis=1)
            note = f", {(spread < 1e-3).sum()} tips, median spread {np.median(spread):.2f}"
        line(f"{name}, {kind}", alpha, seconds, model, note)
    model = LinearSVC(loss="hinge", C=1.0 / (alpha * len(y)))
    line(f"{name}, LinearSVC", alpha, fitted(model, means, y), model)


def rbf(alpha: float, repeats: int = 3) -> None:
    """2000 x 10 rows with standard deviations, and without."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2000) < 0.5, -1, 1)
    means = rng.normal(size=(2000, 10))
    means[:, 0] += y * (1.0 + 0.3 * means[:, 1])
    std = rng.uniform(0.1, 0.5, size=means.shape)
    for name, data in [("none", GaussianArray(means)), ("diagonal", GaussianArray(means, std=std))]:
        model = GSUClassifier(kernel="rbf", alpha=alpha)
        line(f"2000 x 10, RBF, {name}", alpha, min(fitted(model, data, y) for _ in range(repeats)), model)


def main() -> None:
    """A table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[2000])
    parser.add_argument("--features", type=int, default=784)
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--alpha", type=float, nargs="+", default=[1e-3])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rbf", action="store_true")
    parser.add_argument("--exact", action="store_true")
    options = parser.parse_args()
    print("| rows, errors | alpha | seconds | of the processor | note |\n|---|---:|---:|---:|---|")
    for alpha in options.alpha:
        if options.rbf:
            rbf(alpha)
            continue
        measured = exact if options.exact else compare
        for n in options.rows:
            if options.data:
                for pair in ((1, 7), (4, 9)):
                    measured(f"{n:,} digits {pair[0]}, {pair[1]}", digits(options.data, pair, n), alpha)
            else:
                rows = random_rows(n, options.features, options.rank)
                measured(f"{n:,} x {options.features}, rank {options.rank}", rows, alpha)


if __name__ == "__main__":
    main()
