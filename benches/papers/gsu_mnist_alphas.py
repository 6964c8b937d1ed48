"""What search and scale could change in Table I of the SVM-GSU paper, for docs/papers/gsu-mnist*.md.

    python benches/papers/gsu_mnist_alphas.py [--data FOLDER] [--quick]

The first table measures the fits of `gsu_mnist` as rankings at every alpha, without a search. The second one
gives the covariances of the Power SVM and of isotropic SVM-GSU other scales, and takes the alpha (for
subspaces p, too) that is best for the test images, which bounds what any search could reach.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import page
from gsu_methods import ALL, GSU, ISO, LSVM, POWER, SUBSPACE
from gsu_mnist import ALPHAS, PAPER
from mnist_images import SIGMA, Digits, digits, draw
from numpy.typing import NDArray
from significance import percent
from sklearn.metrics import roc_auc_score

from uncertain import GaussianArray, GSUClassifier, RobustSVC, SubspaceProjector, uncertainty

DRAWS = 10
FACTORS = (1, 10, 100, 784)
"""Of the isotropic variance tr S / 784; the last one is tr S itself."""
RADII = (1, 3, 10)
SHARES = (0.5, 0.7, 0.9, 0.999)

Fit = Callable[[float], Any]
"""A fitted model of an alpha."""


def main(argv: Sequence[str] | None = None) -> str:
    options = page.options(__doc__ or "", argv, data=True)
    train, test = digits(options.data)
    draws, sets = (2, (3,)) if options.quick else (DRAWS, range(6))
    areas: dict[Any, list[float]] = {}
    best: dict[Any, list[float]] = {}
    for k, seed in page.progress([(k, seed) for k in sets for seed in range(draws)], "MNIST, alphas"):
        one(k, seed, train, test, areas, best)
    fixed = []
    for m in (LSVM, ISO, GSU):
        fixed.append([f"{m}, paper", *(f"{100 * PAPER[m][k]:g}" for k in sets)])
        fixed += [[f"{m}, alpha = {a:g}", *(percent(areas[m, a, k]) for k in sets)] for a in ALPHAS]
    bounds = []
    for m in ALL:
        bounds.append([f"{m}, paper", *(f"{100 * PAPER[m][k]:g}" for k in sets)])
        for name in dict.fromkeys(name for name, _ in best if name.startswith(m)):
            bounds.append([name, *(percent(best[name, k]) for k in sets)])
    columns = [f"D{k}" for k in sets]
    tables = {
        "alphas": page.table(["area under ROC", *columns], fixed),
        "bounds": page.table(["accuracy, alpha best on the test images", *columns], bounds),
    }
    return page.update("gsu-mnist*.md", tables, quick=options.quick)


def one(k: int, seed: int, train: Digits, test: Digits, areas: Any, best: Any) -> None:
    """Adds a draw's areas at every alpha, and accuracies at the best one."""
    (x, y), (new, truth) = draw(k, seed, train, test)
    data = uncertainty.translation(x, SIGMA)
    isotropic = data.collapse("isotropic")
    plain = {LSVM: gsu(data.collapse("zero"), y), ISO: gsu(isotropic, y), GSU: gsu(data, y)}
    for m, fit in plain.items():
        models = [fit(alpha) for alpha in ALPHAS]
        for alpha, model in zip(ALPHAS, models, strict=True):
            area = roc_auc_score(truth == 7, model.decision_function(new))
            areas.setdefault((m, alpha, k), []).append(float(area))
        best.setdefault((f"{m}, as it is", k), []).append(max(model.score(new, truth) for model in models))
    others: dict[str, list[Fit]] = {
        **{f"{ISO}, {f} x the variance": [gsu(scaled(data, f), y)] for f in FACTORS[1:]},
        **{f"{POWER}, radius {r}": [power(isotropic, y, r)] for r in RADII},
        f"{SUBSPACE}, p best too": [gsu(SubspaceProjector(p).fit_transform(data), y) for p in SHARES],
    }
    for name, fits in others.items():
        reached = max(fit(alpha).score(new, truth) for fit in fits for alpha in ALPHAS)
        best.setdefault((name, k), []).append(float(reached))


def scaled(data: GaussianArray, factor: float) -> GaussianArray:
    variance = factor * data.trace() / data.n_features
    return GaussianArray(data.means, var=np.repeat(variance[:, None], data.n_features, axis=1))


def gsu(data: GaussianArray, y: NDArray[np.int64]) -> Fit:
    return lambda alpha: GSUClassifier(alpha, tol=1e-4, n_jobs=1).fit(data, y)


def power(data: GaussianArray, y: NDArray[np.int64], radius: float) -> Fit:
    return lambda alpha: RobustSVC(method="psvm", radius=radius, C=1 / (alpha * len(y)), n_jobs=1).fit(
        data, y
    )


if __name__ == "__main__":
    main()
