"""Figs. 1 to 5 of the USVC paper: 16 toy sets by the printed recipe.

    python papers/robust_toys.py [--quick]

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

from uncertain import GaussianArray, RobustSVC, metrics

SETS, POINTS = 16, 100
SIZES = (1.0, 5.0, 0.2)
MEASURES = {"NMC": metrics.nmc, "NME": metrics.nme, "MPE": metrics.mpe}
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
    note = f"{len(found) * sets - late} of {len(found) * sets} fits converged."
    tables = {
        "measures": page.table(["S", "method", *MEASURES], rows, numbers=2) + f"\n\n{note}",
        "claims": page.table(
            ["paper", "S", *(f"{m}: difference, sets" for m in MEASURES), "found"], claims, numbers=2
        ),
    }
    return page.report(tables)


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


if __name__ == "__main__":
    main()
