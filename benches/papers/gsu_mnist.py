"""Table I of the SVM-GSU paper: 25 shifted images of 1 and of 7: for docs/papers/gsu-mnist.md.

    python benches/papers/gsu_mnist.py [--data FOLDER] [--quick]

Set Dk: all images, training and test, are moved by whole pixels, uniform in -k..k along each axis.
Covariances are first-order shifts of SIGMA pixels (`uncertainty.translation`, rank 2). alpha, and p of the
subspaces, by five folds of the training images alone.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gsu_methods as methods
import numpy as np
import page
import polars as pl
from numpy.typing import NDArray
from significance import mcnemar, paired, percent

from uncertain import SubspaceProjector, uncertainty

Floats = NDArray[np.float64]
Digits = tuple[Floats, NDArray[np.int64]]

PER_CLASS = 25
ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
SHARES = (0.5, 0.999)
"""Of rank 2, one direction or both are left. (p = 1 keeps all 784: nothing is projected.)"""
SIGMA = 2.0
"""Standard deviation of the shifts that the covariances stand for, in pixels; the same for all sets."""
WIDTHS = (0.5, 1.0, 2.0, 3.0, 5.0)
ALL = (*methods.FOUR, methods.SUBSPACE)
PROTOTYPE = {0: (97.0, 97.8, 97.8), 3: (85.1, 87.5, 91.2), 5: (74.1, 75.9, 79.3)}
"""Linear SVM, isotropic, SVM-GSU of the prototype that these experiments were to confirm; 8 repeats."""


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    train, test = digits(options.data)
    repeats, sets = (1, (3,)) if options.quick else (10, range(6))
    found: dict[int, list[dict[str, Any]]] = {}
    for k, seed in page.progress([(k, seed) for k in sets for seed in range(repeats)], "MNIST"):
        found.setdefault(k, []).append(one(k, seed, train, test, ALL))
    rows, tests = [], []
    for k, draws in found.items():
        right = {m: np.array([d[m].mean() for d in draws]) for m in ALL}
        told = " / ".join(f"{x:.1f}" for x in PROTOTYPE[k]) if k in PROTOTYPE else ""
        rows.append([f"D{k}", *(percent(right[m]) for m in ALL), told, "not available here"])
        for m in (methods.POWER, methods.ISO, methods.GSU):
            against = str(paired(right[m], right[methods.LSVM])) if repeats > 1 else "one draw"
            singles = [mcnemar(d[m], d[methods.LSVM]) for d in draws]
            won = sum(s.p < 0.05 and s.only_a > s.only_b for s in singles)
            lost = sum(s.p < 0.05 and s.only_a < s.only_b for s in singles)
            tests.append([f"D{k}, {m}", against, f"{won}", f"{lost}", f"{len(singles)}"])
    head = ["set", *ALL, "prototype: linear, isotropic, GSU", "paper"]
    tables = {
        "mnist": f"{page.table(head, rows)}\n\n{note(found)}",
        "tests": page.table(
            ["against the linear SVM", "difference, t-test", "McNemar: better", "worse", "of draws"], tests
        ),
        "widths": widths(train, test, repeats),
        "literal": literal(train, test, (3,) if options.quick else (0, 3), 1 if options.quick else 3),
    }
    return page.update("gsu-mnist.md", tables, quick=options.quick)


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


def shifted(x: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Every image moved by whole pixels, uniform in -k..k along each axis, zeros behind."""
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (k, k), (k, k))), (28, 28), axis=(1, 2)
    )
    row, col = rng.integers(0, 2 * k + 1, size=(2, len(x)))
    return windows[np.arange(len(x)), row, col]


def draw(k: int, seed: int, train: Digits, test: Digits, per_class: int = PER_CLASS) -> tuple[Digits, Digits]:
    """Training images of set Dk, and all test images; flat ones for the test."""
    rng = np.random.default_rng([seed, k])
    (pixels, labels), (test_pixels, truth) = train, test
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == c), per_class, replace=False) for c in (1, 7)])
    x = shifted(pixels[rows], k, rng)
    return (x, labels[rows]), (shifted(test_pixels, k, rng).reshape(len(truth), -1), truth)


def one(k: int, seed: int, train: Digits, test: Digits, compared: Sequence[str]) -> dict[str, Any]:
    """Which test images each method has right, for one draw of training images and shifts."""
    (x, y), (new, truth) = draw(k, seed, train, test)
    data = uncertainty.translation(x, SIGMA)
    answers: dict[str, Any] = {}
    for method in compared:
        found = methods.search(method, data, y, alphas=ALPHAS, shares=SHARES, seed=seed)
        answers[method] = methods.predict(found, new) == truth
        if method == methods.GSU:
            start = time.process_time()
            methods.fitted_pipeline(found).fit(data, y)
            answers["seconds"], answers["gap"] = time.process_time() - start, methods.gap(found)
    return answers


def note(found: dict[int, list[dict[str, Any]]]) -> str:
    draws = [d for some in found.values() for d in some]
    gap, seconds = max(d["gap"] for d in draws), np.median([d["seconds"] for d in draws])
    return (
        f"Fits of SVM-GSU: {len(draws)}, each certified to {gap:.1e} or better; median "
        f"{1e3 * seconds:.0f} ms of processor time."
    )


def widths(train: Digits, test: Digits, repeats: int, k: int = 3) -> str:
    """SVM-GSU on one set, its first-order shifts as wide as WIDTHS."""
    cells = []
    for sigma in WIDTHS:
        scores = []
        for seed in range(repeats):
            (x, y), (new, truth) = draw(k, seed, train, test)
            data = uncertainty.translation(x, sigma)
            found = methods.search(methods.GSU, data, y, alphas=ALPHAS, seed=seed)
            scores.append(np.mean(methods.predict(found, new) == truth))
        cells.append(percent(scores))
    head = ["standard deviation of the shifts", *(f"{sigma:g} px" for sigma in WIDTHS)]
    return page.table(head, [[f"SVM-GSU on D{k}", *cells]])


def literal(train: Digits, test: Digits, sets: Sequence[int], repeats: int) -> str:
    """The paper's projected means beside truncated covariances, and what is left of an image."""
    rows = []
    for k in sets:
        compared = (methods.SUBSPACE, methods.LITERAL)
        scores = [one(k, seed, train, test, compared) for seed in range(repeats)]
        data = uncertainty.translation(draw(k, 0, train, test)[0][0], SIGMA)
        projected = SubspaceProjector(SHARES[-1], project="both").fit_transform(data).means
        left = np.linalg.norm(projected, axis=1) / np.linalg.norm(data.means, axis=1)
        cells = [percent([s[m].mean() for s in scores]) for m in compared]
        rows.append([f"D{k}", *cells, f"{100 * np.median(left):.2f} %", f"{100 * left.max():.1f} %"])
    head = [
        "set",
        'project="covariance"',
        'project="both"',
        "length of a projected mean, median",
        "largest",
    ]
    return page.table(head, rows)


if __name__ == "__main__":
    main()
