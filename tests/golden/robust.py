"""Optima of the uncertainty-SVC family on small problems, by a cone solver that shares nothing with ours.

Run: python tests/golden/robust.py (NumPy, cvxpy with Clarabel). Writes robust.json beside it.

S_i = R_i'R_i throughout.
usvc: min 1/2 |w|^2 + C sum c_i xi_i  s.t.  y_i (w'x_i + b) >= 1 - xi_i + r_i |R_i w|,  xi >= 0, for every
kind of covariance, C from 1e-2 to 1e2 and radii from 0 to 3 ("rows": an own radius per row).
mpsvc: max sum theta_i y_i (w'x_i + b)  s.t.  |R_i w| <= 1,  y_i (w'x_i + b) >= floor_i, diagonal covariances.
minimax: min |R_+ w| + |R_- w|  s.t.  w'(mu_+ - mu_-) = 1, where R are roots of the classes' covariances
(scatter of the means plus mean of the rows' own covariances); the worst-case accuracy.
"""

import json
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np

rng = np.random.default_rng(7)
n, d = 40, 3
y = np.where(np.arange(n) < 23, 1.0, -1.0)
x = np.round(rng.normal(size=(n, d)) + np.outer(y, [0.9, 0.5, 0.0]) + [1.0, 0.0, -0.5], 6)
weight = np.round(rng.uniform(0.2, 2.0, size=n), 6)
radii = np.round(rng.uniform(0.0, 2.0, size=n), 6)
iso = np.round(rng.gamma(2.0, 0.2, size=n), 6)
var = np.round(rng.gamma(0.7, 0.5, size=(n, d)), 6)
factor = np.round(0.6 * rng.normal(size=(n, d, 1)), 6)
root = np.round(0.5 * rng.normal(size=(n, d, d)), 6)
full = np.einsum("nij,nkj->nik", root, root)

ROOTS = {
    "zero": np.zeros((n, d, d)),
    "isotropic": np.sqrt(iso)[:, None, None] * np.eye(d),
    "diagonal": np.sqrt(var)[:, :, None] * np.eye(d),
    "low-rank": np.swapaxes(factor, 1, 2),
    "full": np.swapaxes(root, 1, 2),
    "shared": np.broadcast_to(np.swapaxes(root, 1, 2)[0], (n, d, d)),
}


def solve(problem):
    """The optimal value, as accurately as the solver will certify it."""
    for tol in (1e-10, 1e-9, 1e-8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the next tolerance is tried
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_iter=500)
        if problem.status == "optimal":
            return float(problem.value)
    raise AssertionError(problem.status)


def spread(kind, i, w):
    return cp.norm(ROOTS[kind][i] @ w)


def usvc(kind, c, r, weights):
    w, b, xi = cp.Variable(d), cp.Variable(), cp.Variable(n, nonneg=True)
    rows = []
    for i in range(n):
        reach = 0.0 if kind == "zero" or r[i] == 0.0 else r[i] * spread(kind, i, w)
        rows.append(y[i] * (x[i] @ w + b) - 1.0 + xi[i] >= reach)
    return solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + c * (weights @ xi)), rows))


def mpsvc(theta, floor):
    w, b = cp.Variable(d), cp.Variable()
    margins = cp.multiply(y, x @ w + b)
    rows = [margins >= floor] + [spread("diagonal", i, w) <= 1.0 for i in range(n)]
    return solve(cp.Problem(cp.Maximize(theta @ margins), rows))


def minimax(kind):
    w, parts, means = cp.Variable(d), [], []
    for sign in (1.0, -1.0):
        rows = np.flatnonzero(y == sign)
        mean = x[rows].mean(axis=0)
        own = np.mean([ROOTS[kind][i].T @ ROOTS[kind][i] for i in rows], axis=0)
        cov = np.cov(x[rows].T, bias=True) + own
        parts.append(cp.norm(np.linalg.cholesky(cov).T @ w))
        means.append(mean)
    kappa = 1.0 / solve(cp.Problem(cp.Minimize(sum(parts)), [w @ (means[0] - means[1]) == 1.0]))
    return kappa**2 / (1.0 + kappa**2)


cases = []
ones = np.ones(n)
for kind in ROOTS:
    for c in (1e-2, 1.0, 1e2):
        for name, r in {"0": 0 * ones, "0.5": 0.5 * ones, "1": ones, "3": 3 * ones, "rows": radii}.items():
            weights = weight if name == "rows" else ones
            cases.append({"kind": kind, "C": c, "radius": name, "objective": usvc(kind, c, r, weights)})

# A feasible point of the mpsvc problem: a hyperplane scaled until every spread is below one.
w0, b0 = np.array([1.0, 0.6, 0.0]), -1.0
scale = 0.9 / np.sqrt(max(var @ w0**2))
w0, b0 = w0 * scale, b0 * scale
value = y * (x @ w0 + b0)
floor = np.round(np.where(value > 0, 0.1 * value, np.minimum(-1.0, value - 0.1)), 6)
theta = np.round(rng.uniform(0.1, 3.0, size=n), 6)

golden = {
    "x": x.tolist(),
    "y": y.tolist(),
    "weight": weight.tolist(),
    "radii": radii.tolist(),
    "isotropic": iso.tolist(),
    "diagonal": var.tolist(),
    "low-rank": factor.reshape(n, d).tolist(),
    "full": full.reshape(n, d * d).tolist(),
    "usvc": cases,
    "mpsvc": {
        "theta": theta.tolist(),
        "floor": floor.tolist(),
        "start": [*w0.tolist(), b0],
        "objective": mpsvc(theta, floor),
    },
    "minimax": {kind: minimax(kind) for kind in ROOTS},
}
Path(__file__).with_suffix(".json").write_text(
    "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in golden.items()) + "\n}\n", encoding="utf-8"
)
