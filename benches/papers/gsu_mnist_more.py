"""Figures 5-6 of the SVM-GSU paper: more training digits, better covariances; for docs/papers/gsu-mnist.md.

    python benches/papers/gsu_mnist_more.py [--data FOLDER] [--quick]

Sizes: 25 to 6000 training images a class, alpha by a validation fifth of them. Fits stop at a certified gap
of 1e-2 up to 1500 a class; at 6000 they are the paper's stochastic steps (Algorithm 1), whose cost does not
grow with the rows.

Moments: instead of first-order shifts a row gets the exact mean and covariance of all (2k + 1)^2 shifted
copies of its image, in the subspaces that hold a share p of the trace. What it stands for is a linear SVM
on the copies.
"""

from collections.abc import Sequence
from typing import Any

import gsu_methods as methods
import numpy as np
import page
from mnist_images import PER_CLASS, Digits, Floats, digits
from numpy.typing import NDArray
from significance import paired, percent
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, StratifiedShuffleSplit

from uncertain import GaussianArray, GSUClassifier, SubspaceProjector, uncertainty

SIZES = {25: 10, 100: 10, 400: 5, 1500: 3, 6000: 3}
"""Images a class, and draws."""
STOCHASTIC = 6000
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
COMPARED = (methods.LSVM, methods.ISO, methods.GSU)
SHARES = (0.5, 0.9)
"""Of the trace of the covariance of all shifts, whose rank is 48."""
SIGMA = 2.0
"""Standard deviation of the first-order shifts in pixels."""
COPIES = "linear SVM on all copies"


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    train, test = digits(options.data)
    sizes = {25: 1, 50: 1} if options.quick else SIZES
    sets = (3,) if options.quick else (0, 3)
    repeats = 1 if options.quick else 6
    far = 1 if options.quick else 3
    work: list[tuple[Any, ...]] = [("moments", far, seed) for seed in range(repeats)]
    work += [(n, k, seed) for n, count in sizes.items() for k in sets for seed in range(count)]
    found: dict[Any, list[dict[str, float]]] = {}
    for what, k, seed in page.progress(work, "MNIST, more"):
        run = moments(k, seed, train, test) if what == "moments" else of_size(what, k, seed, train, test)
        found.setdefault((what, k), []).append(run)
    rows = []
    for (what, k), draws in found.items():
        if what == "moments":
            continue
        right = {m: np.array([d[m] for d in draws]) for m in COMPARED}
        gain = str(paired(right[methods.GSU], right[methods.LSVM])) if len(draws) > 1 else "one draw"
        cells = [percent(right[m]) for m in COMPARED]
        rows.append([f"D{k}, {what} a class", f"{len(draws)}", *cells, gain])
    tables = {
        "sizes": page.table(["set, training images", "draws", *COMPARED, "GSU - linear SVM"], rows),
        "moments": moments_table(far, found["moments", far]),
    }
    picture(found, sizes, sets, options.quick)
    return page.update("gsu-mnist.md", tables, quick=options.quick)


def moments_table(k: int, draws: list[dict[str, float]]) -> str:
    scores = {name: [d[name] for d in draws] for name in draws[0]}
    base = next(iter(scores.values()))
    rows = [
        [name, percent(s), str(paired(s, base)) if len(s) > 1 and s is not base else ""]
        for name, s in scores.items()
    ]
    head = [f"D{k}, 25 a class, {len(draws)} draws", "accuracy", "against the linear SVM"]
    return page.table(head, rows)


def of_size(per_class: int, k: int, seed: int, train: Digits, test: Digits) -> dict[str, float]:
    (x, y), (new, truth) = draw(k, seed, train, test, per_class)
    data = uncertainty.translation(x, SIGMA)
    folds = list(StratifiedShuffleSplit(1, test_size=0.2, random_state=seed).split(y, y))
    scores = {}
    for method in COMPARED:
        if per_class >= STOCHASTIC:
            settings: dict[str, Any] = {"solver": "sgd", "max_iter": 10_000, "random_state": seed}
        elif per_class > PER_CLASS:
            settings = {"solver": "lbfgs", "tol": 1e-2}
        else:
            settings = {}
        found = methods.search(method, data, y, alphas=ALPHAS, folds=folds, settings=settings)
        scores[method] = float(np.mean(methods.predict(found, new) == truth))
    return scores


def shifted(x: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Every image moved by whole pixels, uniform in -k..k along each axis, zeros behind."""
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (k, k), (k, k))), (28, 28), axis=(1, 2)
    )
    row, col = rng.integers(0, 2 * k + 1, size=(2, len(x)))
    return windows[np.arange(len(x)), row, col]


def draw(k: int, seed: int, train: Digits, test: Digits, per_class: int = PER_CLASS) -> tuple[Digits, Digits]:
    """Training images, and all test images; flat ones for the test."""
    rng = np.random.default_rng([seed, k])
    (pixels, labels), (test_pixels, truth) = train, test
    rows = np.concatenate([rng.choice(np.flatnonzero(labels == c), per_class, replace=False) for c in (1, 7)])
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

    grid = [(data, alpha) for data in candidates for alpha in ALPHAS[1:]]
    data, alpha = max(grid, key=lambda pair: held_out(*pair))
    return GSUClassifier(alpha, tol=1e-4, n_jobs=1).fit(data, y)


def on_copies(every: Floats, y: NDArray[Any], new: Floats, truth: NDArray[Any]) -> float:
    """What a user without this library does: every copy is a row; copies of an image stay in one fold."""
    n, d, count = every.shape
    rows = every.transpose(0, 2, 1).reshape(n * count, d)
    images = np.repeat(np.arange(n), count)
    order = np.random.default_rng(0).permutation(n)  # images are sorted by class
    model = GSUClassifier(tol=1e-2, n_jobs=1)
    search = GridSearchCV(model, {"alpha": ALPHAS[1:]}, cv=GroupKFold(3))
    return float(search.fit(rows, np.repeat(y, count), groups=order[images]).score(new, truth))


def picture(found: Any, sizes: Any, sets: Sequence[int], quick: bool) -> None:
    from uncertain.plot import COLORS

    figure, axes = page.panels(11.0, 4.3, len(sets), squeeze=False)
    for ax, k in zip(axes[0], sets, strict=True):
        for method, color, marker in zip(COMPARED, COLORS, "os^", strict=False):
            values = [np.array([d[method] for d in found[n, k]]) for n in sizes]
            mean = np.array([100 * v.mean() for v in values])
            error = [100 * v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in values]
            style = {"color": color, "marker": marker, "capsize": 3, "linewidth": 1.6}
            ax.errorbar(list(sizes), mean, yerr=error, label=method, **style)
        ax.set(xscale="log", xlabel="training images a class", ylabel="accuracy on 2163 test images, %")
        ax.set_xticks(list(sizes), [str(n) for n in sizes])
        ax.minorticks_off()
        ax.set_title(f"D{k}: shifts of up to {k} px")
        ax.grid(alpha=0.3)
        ax.legend()
    page.picture("gsu-mnist-sizes.png", figure, quick=quick)


if __name__ == "__main__":
    main()
