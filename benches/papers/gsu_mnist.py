"""MNIST 1 against 7 from 25 images a class, all images shifted at random: for docs/papers/gsu-mnist.md.

python benches/papers/gsu_mnist.py [--data FOLDER] [--quick]
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import page
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from uncertain import GaussianArray, GSUClassifier, uncertainty

Floats = NDArray[np.float64]

PER_CLASS = 25
ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
SIGMA = 2.0
"""Standard deviation of the shifts that the covariances stand for, in pixels; the same for all sets."""
METHODS = {"linear SVM (means only)": "zero", "isotropic covariances": "isotropic", "SVM-GSU": None}


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    path = options.data / "mnist.parquet"
    if not path.exists():
        raise SystemExit(
            f"{path} is not there. Original: LeCun, Cortes, Burges, MNIST; pixels as lists of 784."
        )
    frame = pl.read_parquet(path).filter(pl.col("label").is_in([1, 7]))
    train, test = (images(frame.filter(pl.col("split") == split)) for split in ("train", "test"))
    repeats, furthest = (1, 1) if options.quick else (8, 5)
    rows, fits = [], []
    for k in range(furthest + 1):
        scores = np.array([one(k, seed, train, test, fits) for seed in range(repeats)])
        difference = scores[:, -1] - scores[:, 0]
        cells = [f"{100 * s.mean():.1f} +- {100 * error(s):.1f}" for s in scores.T]
        rows.append(
            [
                f"D{k}: up to {k} px",
                *cells,
                f"{100 * difference.mean():+.1f} +- {100 * error(difference):.1f}",
            ]
        )
    table = page.table(["set", *METHODS, "GSU - linear SVM"], rows)
    seconds, gaps = np.array(fits).T
    note = (
        f"Fits of SVM-GSU: {len(fits)}, each certified to {gaps.max():.1e} or better; "
        f"median {1e3 * np.median(seconds):.0f} ms of processor time."
    )
    return page.update("gsu-mnist.md", {"mnist": f"{table}\n\n{note}"}, quick=options.quick)


def images(frame: pl.DataFrame) -> tuple[Floats, NDArray[np.int64]]:
    """Pixels in [0, 1] and labels."""
    return frame["pixels"].to_numpy().reshape(-1, 28, 28) / 255.0, frame["label"].to_numpy().astype(np.int64)


def shifted(x: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Every image moved by whole pixels, uniform in -k..k along each axis, zeros behind."""
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (k, k), (k, k))), (28, 28), axis=(1, 2)
    )
    row, col = rng.integers(0, 2 * k + 1, size=(2, len(x)))
    return windows[np.arange(len(x)), row, col]


def one(k: int, seed: int, train: Any, test: Any, fits: list[tuple[float, float]]) -> list[float]:
    """Test accuracy of every method for one draw, alpha by five folds of the training images."""
    rng = np.random.default_rng([seed, k])
    (pixels, labels), (test_pixels, truth) = train, test
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == c), PER_CLASS, replace=False) for c in (1, 7)])
    x, y = shifted(pixels[rows], k, rng), labels[rows]
    new = shifted(test_pixels, k, rng).reshape(len(truth), -1)
    data = uncertainty.translation(x, SIGMA)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(rows, y))
    accuracies = []
    for kind in METHODS.values():
        given = data if kind is None else data.collapse(kind)
        held_out = [np.mean([score(given, y, a, fold) for fold in folds]) for a in ALPHAS]
        start = time.process_time()
        model = GSUClassifier(ALPHAS[int(np.argmax(held_out))], n_jobs=1).fit(given, y)
        if kind is None:
            fits.append((time.process_time() - start, float(model.optimality_gap_)))
        accuracies.append(float(np.mean(model.predict(new) == truth)))
    return accuracies


def score(data: GaussianArray, y: NDArray[np.int64], alpha: float, fold: tuple[Any, Any]) -> float:
    model = GSUClassifier(alpha, n_jobs=1).fit(data[fold[0]], y[fold[0]])
    return float(np.mean(model.predict(data[fold[1]].means) == y[fold[1]]))


def error(values: Floats) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


if __name__ == "__main__":
    main()
