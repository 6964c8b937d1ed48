"""Better covariances for 25 shifted digits a class, for docs/papers/gsu-mnist*.md.

    python benches/papers/gsu_mnist_more.py [--data FOLDER] [--quick]

Instead of first-order shifts a row gets the exact mean and covariance of all (2k + 1)^2 shifted copies of its
image, in the subspaces that hold a share p of the trace. What it stands for is a linear SVM on the copies.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import page
from mnist_images import PER_CLASS, Digits, Floats, digits
from numpy.typing import NDArray
from significance import paired, percent
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold

from uncertain import GaussianArray, GSUClassifier, SubspaceProjector, uncertainty

FAR = 3
"""Images are shifted by up to so many pixels along each axis."""
DRAWS = 6
ALPHAS = (1e-3, 1e-2, 1e-1)
SHARES = (0.5, 0.9)
"""Of the trace of the covariance of all shifts, whose rank is 48."""
SIGMA = 2.0
"""Standard deviation of the first-order shifts in pixels."""
COPIES = "linear SVM on all copies"


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    train, test = digits(options.data)
    far, draws = (1, 1) if options.quick else (FAR, DRAWS)
    found = [moments(far, seed, train, test) for seed in page.progress(range(draws), "MNIST, more")]
    return page.update("gsu-mnist*.md", {"moments": moments_table(far, found)}, quick=options.quick)


def moments_table(k: int, draws: list[dict[str, float]]) -> str:
    scores = {name: [d[name] for d in draws] for name in draws[0]}
    base = next(iter(scores.values()))
    rows = [
        [name, percent(s), str(paired(s, base)) if len(s) > 1 and s is not base else ""]
        for name, s in scores.items()
    ]
    head = [f"D{k}, 25 a class, {len(draws)} draws", "accuracy", "against the linear SVM"]
    return page.table(head, rows)


def shifted(x: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Every image moved by whole pixels, uniform in -k..k along each axis, zeros behind."""
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (k, k), (k, k))), (28, 28), axis=(1, 2)
    )
    row, col = rng.integers(0, 2 * k + 1, size=(2, len(x)))
    return windows[np.arange(len(x)), row, col]


def draw(k: int, seed: int, train: Digits, test: Digits) -> tuple[Digits, Digits]:
    """Training images, and all test images; flat ones for the test."""
    rng = np.random.default_rng([seed, k])
    (pixels, labels), (test_pixels, truth) = train, test
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == c), PER_CLASS, replace=False) for c in (1, 7)])
    x = shifted(pixels[rows], k, rng)
    return (x, labels[rows]), (shifted(test_pixels, k, rng).reshape(len(truth), -1), truth)


def copies(x: Floats, k: int) -> Floats:
    """Every image moved by -k..k pixels along each axis: (n, 784, (2k + 1)^2)."""
    padded = np.pad(x, ((0, 0), (k, k), (k, k)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (28, 28), axis=(1, 2))
    return windows.reshape(len(x), (2 * k + 1) ** 2, -1).transpose(0, 2, 1)


def moments(k: int, seed: int, train: Digits, test: Digits) -> dict[str, float]:
    """Accuracies with first-order shifts, with the moments of all shifts, and with the copies themselves."""
    (x, y), (new, truth) = draw(k, seed, train, test)
    first_order = uncertainty.translation(x, SIGMA)
    images = x.reshape(len(x), -1)
    every = copies(x, k)
    mean = every.mean(axis=2)
    factor = (every - mean[:, :, None]) / np.sqrt(every.shape[2])
    around, own = GaussianArray(mean, factor=factor), GaussianArray(images, factor=factor)
    cases = {
        "linear SVM": [first_order.collapse("zero")],
        "SVM-GSU, first-order shifts": [first_order],
        "SVM-GSU in subspaces, covariance of all shifts about the image": subspaces(own),
        "linear SVM, mean of all shifts": [around.collapse("zero")],
        "isotropic, mean and variance of all shifts": [around.collapse("isotropic")],
        "SVM-GSU in subspaces, mean and covariance of all shifts": subspaces(around),
    }
    scores = {}
    for name, candidates in cases.items():
        model = of_images(candidates, y, images, seed)
        scores[name] = float(np.mean(model.predict(new) == truth))
    scores[COPIES] = on_copies(every, y, new, truth)
    return scores


def subspaces(data: GaussianArray) -> list[GaussianArray]:
    return [SubspaceProjector(p).fit_transform(data) for p in SHARES]


def of_images(candidates: list[GaussianArray], y: NDArray[Any], images: Floats, seed: int) -> GSUClassifier:
    """The best candidate and alpha by five folds, *images* held out: means of shifts are no images."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(y, y))

    def held_out(data: GaussianArray, alpha: float) -> float:
        fits = [(GSUClassifier(alpha, tol=1e-4, n_jobs=1).fit(data[a], y[a]), b) for a, b in folds]
        return float(np.mean([model.score(images[b], y[b]) for model, b in fits]))

    grid = [(data, alpha) for data in candidates for alpha in ALPHAS]
    data, alpha = max(grid, key=lambda pair: held_out(*pair))
    return GSUClassifier(alpha, tol=1e-4, n_jobs=1).fit(data, y)


def on_copies(every: Floats, y: NDArray[Any], new: Floats, truth: NDArray[Any]) -> float:
    """What a user without this library does: every copy is a row; copies of an image stay in one fold."""
    n, d, count = every.shape
    rows = every.transpose(0, 2, 1).reshape(n * count, d)
    images = np.repeat(np.arange(n), count)
    order = np.random.default_rng(0).permutation(n)  # images are sorted by class
    model = GSUClassifier(tol=1e-2, n_jobs=1)
    search = GridSearchCV(model, {"alpha": ALPHAS}, cv=GroupKFold(3))
    return float(search.fit(rows, np.repeat(y, count), groups=order[images]).score(new, truth))


if __name__ == "__main__":
    main()
