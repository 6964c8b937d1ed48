"""Speed of the uncertainty-SVC family beside a cone solver, and pictures of a set of our own.

Run: python benches/papers/robust.py pictures | speed (speed needs the package clarabel); the paper's
Figs. 1 to 5 are in robust_toys.py.

pictures: rows and boundaries of one set whose points were drawn from ellipses of up to S.

speed: processor seconds of RobustSVC and of Clarabel on one and the same USVC problem, in one run, with the
relative difference of the objectives. Clarabel gets the cone program row by row (one second-order cone of
d + 1 per row), as the paper writes it; building the matrices is not counted.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import page
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from uncertain import GaussianArray, RobustSVC, metrics, plot

POINTS = 100
SIZES = (0.2, 1.0, 5.0)
DRAWN = 0
"""The set of the pictures."""


def problem(n: int, d: int, kind: str, seed: int = 0) -> tuple[GaussianArray, Any, Any]:
    """Two overlapping classes, a root of every covariance beside them."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    x = rng.normal(size=(n, d)) + 0.5 * y[:, None] * (np.arange(d) < 4)
    if kind == "diagonal":
        std = rng.gamma(2.0, 0.2, size=(n, d))
        return GaussianArray(x, std=std), y, std[:, :, None] * np.eye(d)
    root = rng.normal(size=(n, d, d)) * (0.4 / np.sqrt(d))
    return GaussianArray(x, cov=root.transpose(0, 2, 1) @ root), y, root


def by_clarabel(X: GaussianArray, y: Any, root: Any, c: float) -> tuple[float, float]:
    """(objective, processor seconds)."""
    import clarabel

    n, d = X.means.shape
    # Unknowns w, b, xi. Rows: xi >= 0, then per row of data a cone (y (w'x + b) - 1 + xi, R w).
    quadratic = sp.diags(np.concatenate([np.ones(d), np.zeros(n + 1)])).tocsc()
    linear = np.concatenate([np.zeros(d + 1), np.full(n, c)])
    cones = np.zeros((n, d + 1, d + 1))
    cones[:, 0, :d], cones[:, 0, d], cones[:, 1:, :d] = y[:, None] * X.means, y, root
    first = np.arange(n) * (d + 1)
    slack = sp.csr_matrix((np.ones(n), (first, np.arange(n))), shape=(n * (d + 1), n))
    block = sp.hstack([sp.csr_matrix(cones.reshape(-1, d + 1)), slack])
    positive = sp.hstack([sp.csr_matrix((n, d + 1)), sp.identity(n)])
    right = np.zeros(n * (d + 1))
    right[first] = -1.0
    kinds = [clarabel.NonnegativeConeT(n)] + [clarabel.SecondOrderConeT(d + 1)] * n
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    before = time.process_time()
    solver = clarabel.DefaultSolver(
        quadratic,
        linear,
        sp.vstack([-positive, -block]).tocsc(),
        np.concatenate([np.zeros(n), right]),
        kinds,
        settings,
    )
    solution = solver.solve()
    return solution.obj_val, time.process_time() - before


def speed() -> None:
    print("| rows x features | covariance | RobustSVC, s | Clarabel, s | ratio | gap | difference |")
    print("|---|---|---|---|---|---|---|")
    for n, d, kind, cone in [
        (2_000, 10, "diagonal", True),
        (20_000, 10, "diagonal", True),
        (200, 100, "full", True),
        (1_000, 100, "full", False),
    ]:
        X, y, root = problem(n, d, kind)
        before = time.process_time()
        model = RobustSVC(C=1.0).fit(X, y)
        ours = time.process_time() - before
        objective, theirs = by_clarabel(X, y, root, 1.0) if cone else (np.nan, np.nan)
        print(
            f"| {n} x {d} | {kind} | {ours:.2f} | {theirs:.2f} | {theirs / ours:.0f} | "
            f"{model.optimality_gap_:.1e} | {model.objective_ / objective - 1:.1e} |",
            flush=True,
        )


def toy(seed: int, size: float) -> tuple[GaussianArray, Any]:
    rng = np.random.default_rng(seed)
    true = rng.uniform(-5.0, 5.0, size=(POINTS, 2))
    angle = rng.uniform(0.0, np.pi)
    axis = true @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    y = np.where(axis[:, 0] ** 2 - rng.uniform(0.5, 2.0) * axis[:, 1] ** 2 > 0.0, 1, -1)
    root = np.zeros((POINTS, 2, 2))
    turn = rng.uniform(0.0, np.pi, size=POINTS)
    std = rng.uniform(0.1, 1.0, size=(POINTS, 2)) * size
    cos, sin = np.cos(turn), np.sin(turn)
    root[:, 0, 0], root[:, 0, 1] = cos * std[:, 0], -sin * std[:, 1]
    root[:, 1, 0], root[:, 1, 1] = sin * std[:, 0], cos * std[:, 1]
    x = true + np.einsum("nij,nj->ni", root, rng.normal(size=(POINTS, 2)))
    return GaussianArray(x, factor=root), y


MEASURES = (metrics.nmc, metrics.nme, metrics.mpe)

METHODS: dict[str, dict[str, Any]] = {
    "SVC": {"radius": 0.0},
    "USVC": {},
    "TSVC": {"method": "tsvc"},
    "AUSVC": {"method": "ausvc"},
    "MPSVC, algorithm 3": {"method": "mpsvc", "polish": False},
    "MPSVC, polished": {"method": "mpsvc"},
}


def fitted(parameters: dict[str, Any], X: GaussianArray, y: Any) -> tuple[RobustSVC, list[float], bool]:
    """The model, its NMC, NME and MPE, and whether it converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RobustSVC(C=1.0, kernel="quadratic", **parameters).fit(X, y)
    return model, [measure(model, X, y) for measure in MEASURES], model.status_ == "converged"


def pictures(quick: bool = False) -> None:
    """Where the ellipses are large a quarter of them is enough."""
    for size in SIZES:
        X, y = toy(DRAWN, size)
        figure, axes = page.panels(10.5, 7.2, 3, rows=2, sharex=True, sharey=True)
        for ax, (name, parameters) in zip(axes.ravel(), METHODS.items(), strict=True):
            model, (nmc, nme, mpe), _ = fitted(parameters, X, y)
            most = POINTS // 4 if size > 1.0 else POINTS
            plot.boundaries(X, y, {name: model}, names=("", ""), most=most, ax=ax)
            ax.get_legend().remove()
            one = "" if len(np.unique(model.predict(X))) > 1 else "\n(one class everywhere)"
            ax.set_title(f"{name}: {nmc} / {nme} / {mpe:.1f}{one}", fontsize=10)
        page.picture(f"robust-svc-{size:g}.png", figure, quick=quick, colors=48)


if __name__ == "__main__":
    parts = {"pictures": pictures, "speed": speed}
    for part in sys.argv[1:] or parts:
        parts[part]()
