"""The digits 1 and 7 of MNIST, and the noise of the SVM-GSU paper."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Digits = tuple[Floats, NDArray[np.int64]]

SHIFTS = (0, 3, 5, 7, 9, 11)
"""t of the sets D0 to D5: images are translated uniformly in [-t, t]^2 pixels; D0 is left as it is."""
DEGREES = 15.0
"""Images of D1 to D5 are rotated uniformly by up to so much."""
SIGMA = 5.0 / 3.0
"""Standard deviation of the translations that the covariances stand for, in pixels; the same for all sets."""
PER_CLASS = 25


def digits(folder: Path) -> tuple[Digits, Digits]:
    """Images in [0, 1] and labels 1 or 7: training, test."""
    path = folder / "mnist.parquet"
    if not path.exists():
        raise SystemExit(
            f"{path} is not there. Original: LeCun, Cortes, Burges, MNIST; pixels as lists of 784."
        )
    frame = pl.read_parquet(path).filter(pl.col("label").is_in([1, 7]))
    parts = (frame.filter(pl.col("split") == split) for split in ("train", "test"))
    train, test = (
        (p["pixels"].to_numpy().reshape(-1, 28, 28) / 255.0, p["label"].to_numpy().astype(np.int64))
        for p in parts
    )
    return train, test


def polluted(
    x: Floats, k: int, rng: np.random.Generator, *, scale: float = 1.0, nearest: bool = False
) -> Floats:
    """Images of set Dk: rotated about the middle, then translated; bilinear, zeros outside.

    scale: of the translations; nearest: pixels are moved, not interpolated.
    """
    if k == 0:
        return x
    n, size, _ = x.shape
    angle = np.radians(rng.uniform(-DEGREES, DEGREES, n))[:, None, None]
    down, right = scale * rng.uniform(-SHIFTS[k], SHIFTS[k], (2, n))[:, :, None, None]
    middle = (size - 1) / 2
    row, col = np.meshgrid(np.arange(size) - middle, np.arange(size) - middle, indexing="ij")
    # Where the pixel at (row, col) comes from: translate back, rotate back.
    row, col = row - down, col - right
    here = np.cos(angle) * row + np.sin(angle) * col + middle
    there = -np.sin(angle) * row + np.cos(angle) * col + middle
    if nearest:
        here, there = np.rint(here), np.rint(there)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    here, there = np.clip(here, -1, size) + 1, np.clip(there, -1, size) + 1
    top, left = (np.minimum(np.floor(a), size).astype(np.int64) for a in (here, there))
    low, far = here - top, there - left
    each = np.arange(n)[:, None, None]
    return np.asarray(
        (1 - low) * ((1 - far) * padded[each, top, left] + far * padded[each, top, left + 1])
        + low * ((1 - far) * padded[each, top + 1, left] + far * padded[each, top + 1, left + 1])
    )


def draw(
    k: int, seed: int, train: Digits, test: Digits, per_class: int = PER_CLASS, *, nearest: bool = False
) -> tuple[Digits, Digits]:
    """Training images of set Dk, and all test images; flat ones for the test."""
    rng = np.random.default_rng([seed, k])
    (pixels, labels), (test_pixels, truth) = train, test
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == c), per_class, replace=False) for c in (1, 7)])
    x = polluted(pixels[rows], k, rng, nearest=nearest)
    return (x, labels[rows]), (polluted(test_pixels, k, rng, nearest=nearest).reshape(len(truth), -1), truth)
