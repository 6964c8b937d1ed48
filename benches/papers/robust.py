"""The uncertainty-SVC family: speed beside a cone solver, and the measures of all methods on toy sets.

Run: python benches/papers/robust.py speed | toys (NumPy, SciPy; speed also needs the package clarabel).

speed: processor seconds of RobustSVC and of Clarabel on one and the same USVC problem, in one run, with the
relative difference of the objectives. Clarabel gets the cone program row by row (one second-order cone of
d + 1 per row), as the paper writes it; building the matrices is not counted.

toys: 16 sets of 100 points, uniform in [-5, 5]^2, labelled by the sign of a random quadratic form, each
shifted by a draw from its own random Gaussian (standard deviations up to S). The kernel is the quadratic one,
(x'z)^2, by its three features and, as the paper does, their first-order change: means phi(x), factors J(x) R.
Mean NMC, NME and MPE on the training rows with C = 1. The paper's own sets are not public; the recipe is in
its spirit.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from uncertain import GaussianArray, RobustSVC, metrics

SETS, POINTS = 16, 100


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
    # phi(x) = (x1^2, sqrt 2 x1 x2, x2^2) and its Jacobian.
    r2, zero = np.sqrt(2.0), np.zeros(POINTS)
    phi = np.stack([x[:, 0] ** 2, r2 * x[:, 0] * x[:, 1], x[:, 1] ** 2], axis=1)
    jacobian = np.stack(
        [
            np.stack([2 * x[:, 0], zero], axis=1),
            np.stack([r2 * x[:, 1], r2 * x[:, 0]], axis=1),
            np.stack([zero, 2 * x[:, 1]], axis=1),
        ],
        axis=1,
    )
    return GaussianArray(phi, factor=jacobian @ root), y


METHODS: dict[str, dict[str, Any]] = {
    "SVC": {"radius": 0.0},
    "USVC": {},
    "TSVC": {"method": "tsvc"},
    "AUSVC": {"method": "ausvc"},
    "MPSVC, algorithm 3": {"method": "mpsvc", "polish": False},
    "MPSVC, polished": {"method": "mpsvc"},
}


def toys() -> None:
    for size in (0.2, 1.0, 5.0):
        print(f"\nS = {size:g}\n\n| method | NMC | NME | MPE |\n|---|---|---|---|")
        for name, parameters in METHODS.items():
            rows = []
            for seed in range(SETS):
                X, y = toy(seed, size)
                model = RobustSVC(C=1.0, **parameters).fit(X, y)
                rows.append([measure(model, X, y) for measure in (metrics.nmc, metrics.nme, metrics.mpe)])
            print(
                f"| {name} | " + " | ".join(f"{mean:.1f}" for mean in np.mean(rows, axis=0)) + " |",
                flush=True,
            )


if __name__ == "__main__":
    parts = {"speed": speed, "toys": toys}
    for part in sys.argv[1:] or parts:
        parts[part]()
