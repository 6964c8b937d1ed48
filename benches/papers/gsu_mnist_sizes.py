"""Figure 6 of the SVM-GSU paper: 25 to 6000 training digits a class, for docs/papers/gsu-mnist*.md.

    python benches/papers/gsu_mnist_sizes.py [--data FOLDER] [--quick]

Images, noise and covariances are those of `gsu_mnist`; D3 and D4 as in the figure, and the subspaces keep the
share p of its caption. Up to 100 images a class alpha is chosen by three folds, beyond that by a validation
fifth of the training images, and fits stop at a certified gap of 1e-2.
"""

from collections.abc import Sequence
from typing import Any

import gsu_methods as methods
import numpy as np
import page
from gsu_methods import ALL, GSU, ISO, LSVM, POWER, SUBSPACE
from mnist_images import SHIFTS, SIGMA, Digits, digits, draw
from significance import paired, percent
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from uncertain import uncertainty

SIZES = {25: 10, 50: 6, 100: 4, 500: 2, 1000: 2, 3000: 1, 6000: 1}
"""Images a class as in the figure, and draws."""
SETS = {3: 0.85, 4: 0.95}
"""Sets, and the share p of the variance that subspaces keep."""
SMALL, LARGE = 100, 1000
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
FEW_ALPHAS = (1e-3, 1e-2)
"""Beyond LARGE."""


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    train, test = digits(options.data)
    sizes = {25: 1, 150: 1} if options.quick else SIZES
    sets = {3: SETS[3]} if options.quick else SETS
    work = [(k, n, seed) for n, count in sizes.items() for k in sets for seed in range(count)]
    found: dict[tuple[int, int], list[dict[str, tuple[float, float]]]] = {}
    for k, n, seed in page.progress(work, "MNIST, sizes"):
        found.setdefault((k, n), []).append(one(k, n, seed, train, test))
    rows = []
    for k in sets:
        for n in sizes:
            draws = found[k, n]
            right, area = ({m: [d[m][j] for d in draws] for m in ALL} for j in (0, 1))
            gains = [gain(scores[SUBSPACE], scores[LSVM]) for scores in (right, area)]
            rows.append([f"D{k}, {n}", f"{len(draws)}", *(percent(right[m]) for m in ALL), *gains])
    head = ["set, images a class", "draws", *ALL, "subspaces - linear SVM", "the same of the areas"]
    picture(found, list(sizes), list(sets), options.quick)
    return page.update("gsu-mnist*.md", {"sizes": page.table(head, rows)}, quick=options.quick)


def gain(a: list[float], b: list[float]) -> str:
    return str(paired(a, b)) if len(a) > 1 else f"{100 * (a[0] - b[0]):+.2f}"


def one(k: int, per_class: int, seed: int, train: Digits, test: Digits) -> dict[str, tuple[float, float]]:
    """Accuracy, and area under the ROC curve, of every method on all test images."""
    (x, y), (new, truth) = draw(k, seed, train, test, per_class)
    data = uncertainty.translation(x, SIGMA)
    how: dict[str, Any] = {"folds": 3, "seed": seed}
    if per_class > SMALL:
        fifth = StratifiedShuffleSplit(1, test_size=0.2, random_state=seed)
        how["folds"] = list(fifth.split(y, y))
    scores = {}
    for method in ALL:
        settings: dict[str, Any] = {"tol": 1e-2} if per_class > SMALL else {}
        if per_class > SMALL and method != POWER:
            settings["solver"] = "lbfgs"
        alphas = FEW_ALPHAS if per_class > LARGE else ALPHAS
        found = methods.search(method, data, y, alphas=alphas, shares=(SETS[k],), settings=settings, **how)
        accuracy = float(np.mean(methods.predict(found, new) == truth))
        scores[method] = accuracy, float(roc_auc_score(truth == 7, methods.decision(found, new)))
    return scores


def picture(found: Any, sizes: Sequence[int], sets: Sequence[int], quick: bool) -> None:
    from uncertain.plot import COLORS

    figure, axes = page.panels(11.0, 4.8, len(sets), squeeze=False)
    styles = {LSVM: ("k", "s"), POWER: (COLORS[2], "o"), ISO: (COLORS[1], "*"), GSU: (COLORS[0], "D")}
    styles[SUBSPACE] = (COLORS[3], "^")
    for ax, k in zip(axes[0], sets, strict=True):
        for method, (color, marker) in styles.items():
            values = [100 * np.array([d[method][0] for d in found[k, n]]) for n in sizes]
            error = [v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in values]
            style = {"color": color, "marker": marker, "capsize": 3, "linewidth": 1.4, "markersize": 5}
            ax.errorbar(sizes, [v.mean() for v in values], yerr=error, label=method, **style)
        ax.set(xscale="log", xlabel="training images a class", ylabel="accuracy on 2163 test images, %")
        ax.set_xticks(sizes, [str(n) for n in sizes])
        ax.minorticks_off()
        ax.set_title(f"D{k}: t = {SHIFTS[k]}, subspaces of p = {SETS[k]}")
        ax.grid(alpha=0.3)
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    page.picture("gsu-mnist-sizes.png", figure, quick=quick)


if __name__ == "__main__":
    main()
