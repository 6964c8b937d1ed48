"""Figs. 1 to 5 of the USVC paper: 16 toy sets by the printed recipe, for docs/papers/robust-svc.md.

    python benches/papers/robust_toys.py [--quick]

100 points uniform in [-5, 5]^2, labelled by x1^2 + x2^2 against Ra^2, Ra in [3, 4]; noise of covariance
delta I with delta in [0.1, 0.8], for half of the fifth of the points nearest to the boundary in [0.5, 2].
Quadratic kernel (x'z)^2, r = 1. The size factor S multiplies the covariances while the points stay where they
are. C is not printed; here 1.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import page
from numpy.typing import NDArray
from significance import paired, standard_error
from sklearn.exceptions import ConvergenceWarning

from uncertain import GaussianArray, RobustSVC, metrics, plot

SETS, POINTS = 16, 100
SIZES = (1.0, 5.0, 0.2)
MEASURES = {"NMC": metrics.nmc, "NME": metrics.nme, "MPE": metrics.mpe}
COUNTED = {
    "NMC": "rows misclassified",
    "NME": "rows, their nearest edge",
    "MPE": "sum of error probabilities",
}
PUBLISHED = "MPSVC as printed"
METHODS: dict[str, dict[str, Any]] = {
    "SVC": {"radius": 0.0},
    "USVC": {},
    "TSVC": {"method": "tsvc"},
    "AUSVC": {"method": "ausvc"},
    PUBLISHED: {"method": "mpsvc", "polish": False, "theta": "published"},
    "MPSVC, near rows": {"method": "mpsvc", "polish": False},
    "MPSVC, polished": {"method": "mpsvc"},
}
"""The paper's five, the last one also as it is here by default: without and with the descent on MPE."""
CLAIMS = (
    ("AUSVC is better than USVC", 1.0, "AUSVC", "USVC"),
    ("MPSVC is better than USVC", 1.0, PUBLISHED, "USVC"),
    ("AUSVC is better than SVC", 1.0, "AUSVC", "SVC"),
    ("MPSVC is better than SVC", 1.0, PUBLISHED, "SVC"),
    ("AUSVC is better than TSVC", 1.0, "AUSVC", "TSVC"),
    ("MPSVC is better than TSVC", 1.0, PUBLISHED, "TSVC"),
    ("MPSVC is better than AUSVC", 1.0, PUBLISHED, "AUSVC"),
    ("SVC is better than USVC", 1.0, "SVC", "USVC"),
    ("TSVC is better than USVC", 1.0, "TSVC", "USVC"),
    ("AUSVC is better than USVC", 5.0, "AUSVC", "USVC"),
    ("MPSVC is better than USVC", 5.0, PUBLISHED, "USVC"),
    ("the same, polished", 5.0, "MPSVC, polished", "USVC"),
)
"""What the text says of its figures: claim, S, and which method is lower than which."""
SHOWN = {"3": ((6, 14), (1.0,), ("USVC", "AUSVC", PUBLISHED)), "4": ((8, 12), SIZES, tuple(METHODS)[:5])}
"""Figures, numbers of their sets (counted from 1; ours are other sets), sizes, and methods."""


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    sizes, sets = ((1.0,), 2) if quick else (SIZES, SETS)
    found: dict[tuple[float, str], NDArray[np.float64]] = {}
    late = 0
    for size, name in page.progress([(size, name) for size in sizes for name in METHODS], "USVC"):
        values = []
        for seed in range(sets):
            _, measures, converged = fitted(METHODS[name], *toy(seed, size))
            values.append(measures)
            late += not converged
        found[size, name] = np.array(values)
    rows = []
    for (size, name), values in found.items():
        cells = (f"{v.mean():.1f} +- {standard_error(v):.1f}" for v in values.T)
        rows.append([f"{size:g}", name, *cells])
    claims = [line for claim in CLAIMS if claim[1] in sizes for line in checked(*claim, found)]
    if not quick:
        figure_1_and_2()
        for number, shown in SHOWN.items():
            boundaries(number, *shown)
        figure_5(found)
    note = f"{len(found) * sets - late} of {len(found) * sets} fits converged."
    tables = {
        "measures": page.table(["S", "method", *MEASURES], rows, numbers=2) + f"\n\n{note}",
        "claims": page.table(
            ["paper", "S", *(f"{m}: difference, sets" for m in MEASURES), "found"], claims, numbers=2
        ),
    }
    return page.update("robust-svc.md", tables, quick=quick)


def toy(seed: int, size: float) -> tuple[GaussianArray, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    true = rng.uniform(-5.0, 5.0, size=(POINTS, 2))
    radius = rng.uniform(3.0, 4.0)
    distance = np.hypot(*true.T) - radius
    delta = rng.uniform(0.1, 0.8, POINTS)
    nearest = np.argsort(np.abs(distance))[: POINTS // 5]
    wide = rng.choice(nearest, POINTS // 10, replace=False)
    delta[wide] = rng.uniform(0.5, 2.0, len(wide))
    x = true + np.sqrt(delta)[:, None] * rng.normal(size=true.shape)
    return GaussianArray(x, std=np.sqrt(size * delta)), np.where(distance > 0.0, 1, -1)


def fitted(
    parameters: dict[str, Any], X: GaussianArray, y: NDArray[np.int64]
) -> tuple[RobustSVC, list[float], bool]:
    """The model, its NMC, NME and MPE, and whether it converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RobustSVC(C=1.0, kernel="quadratic", **parameters).fit(X, y)
    return model, [measure(model, X, y) for measure in MEASURES.values()], model.status_ == "converged"


def checked(claim: str, size: float, lower: str, higher: str, found: Any) -> list[list[str]]:
    """Differences of the measures, and in how many sets the first method is lower."""
    cells, right = [], []
    for k in range(len(MEASURES)):
        a, b = found[size, lower][:, k], found[size, higher][:, k]
        test = paired(a, b)
        fewer, more = int((a < b).sum()), int((a > b).sum())
        cells.append(f"{test.mean:+.1f} +- {test.error:.1f} ({fewer} lower, {more} higher)")
        right.append(
            "yes" if test.mean < -2 * test.error else "no" if test.mean > 2 * test.error else "level"
        )
    return [[claim, f"{size:g}", *cells, ", ".join(right)]]


def figure_1_and_2() -> None:
    """Ellipses with the planes of USVC and TSVC, and the points of the ellipses that decide."""
    rng = np.random.default_rng(3)
    y = np.repeat([-1, 1], 7)
    means = rng.normal(scale=1.1, size=(14, 2)) + 2.2 * y[:, None] * np.array([1.0, 0.4])
    roots = rng.normal(scale=0.45, size=(14, 2, 2))
    X = GaussianArray(means, cov=roots @ roots.transpose(0, 2, 1) + 0.05 * np.eye(2))
    figure, axes = page.panels(11.0, 4.8, 2)
    for ax, (title, names) in zip(
        axes, {"Fig. 1: USVC": ["USVC"], "Fig. 2: USVC and TSVC": ["USVC", "TSVC"]}.items(), strict=True
    ):
        models = {n: RobustSVC(C=10.0, **METHODS[n]).fit(X, y) for n in names}
        plot.boundaries(X, y, models, names=("", ""), ax=ax)
        for name, model in models.items():
            w = model.coef_[0]
            across = X.covariances() @ w
            step = across / np.sqrt(across @ w)[:, None]
            side = -y if name == "USVC" else y
            ends = means + side[:, None] * step
            style = {"facecolors": "none" if name == "USVC" else "black", "edgecolors": "black", "s": 22}
            label = "nearest points" if name == "USVC" else "farthest points"
            ax.scatter(*ends.T, label=label, zorder=5, **style)
        ax.set_title(title)
        ax.set_aspect("equal")
        ax.get_legend().remove()
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    page.picture("robust-svc-geometry.png", figure, quick=False, colors=48)


def boundaries(number: str, sets: Sequence[int], sizes: Sequence[float], names: Sequence[str]) -> None:
    """One row of panels for each set, one column for each size."""
    shape = (len(sizes), len(sets)) if len(sizes) > 1 else (len(sets), 1)
    figure, axes = page.panels(4.6 * shape[0], 4.7 * shape[1], shape[0], rows=shape[1], squeeze=False)
    panels = [(k, size) for k in sets for size in sizes]
    for ax, (k, size) in zip(axes.ravel(), panels, strict=True):
        X, y = toy(k - 1, size)
        models = {name: fitted(METHODS[name], X, y)[0] for name in names}
        plot.boundaries(X, y, models, names=("", ""), most=POINTS // 4 if size > 1 else POINTS, ax=ax)
        ax.set_title(f"set {k}, S = {size:g}")
        ax.get_legend().remove()
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    page.picture(f"robust-svc-figure-{number}.png", figure, quick=False, colors=48)


def figure_5(found: Any) -> None:
    """The three measures over the 16 sets."""
    figure, axes = page.panels(13.0, 4.2, 3)
    for k, (ax, measure) in enumerate(zip(axes, MEASURES, strict=True)):
        for name, color in zip(tuple(METHODS)[:5], plot.COLORS, strict=False):
            ax.plot(range(1, SETS + 1), found[1.0, name][:, k], "o-", color=color, markersize=4, label=name)
        ax.set(title=measure, xlabel="set", ylabel=COUNTED[measure])
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    page.picture("robust-svc-figure-5.png", figure, quick=False, colors=48)


if __name__ == "__main__":
    main()
