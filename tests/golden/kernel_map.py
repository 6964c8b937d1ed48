"""Optima of kernel machines on Gaussian rows, from the extended Gram matrix itself.

Writes `kernel_map.json`: 30 rows in the plane (diagonal error bars, some rows exact), a quadratic and an RBF
kernel, and for each the minimum of two problems whose solution is f = sum beta_a psi_a over the l (n + 1)
vectors psi of the extended Gram matrix E (phi(x_i) and the columns of J(x_i) S_i^(1/2)):

* worst-case hinge (USVC, C = 2, radius 1), a cone program, by cvxpy and Clarabel;
* expected hinge (SVM-GSU, alpha = 0.01), a smooth problem, by SciPy.

Both are written in the eigenvectors of E. Nothing here uses a pivoted factorisation. Needs
cvxpy; the tests read the JSON only.
"""

import json
from pathlib import Path

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

C, RADIUS, ALPHA = 2.0, 1.0, 0.01
GAMMA = 0.5


def rows(rng):
    n = 30
    labels = np.where(np.arange(n) % 2 == 0, 1, -1)
    angle = rng.uniform(0, 2 * np.pi, n)
    r = np.where(labels > 0, 0.8, 1.8) + 0.35 * rng.standard_normal(n)
    x = np.round(np.c_[r * np.cos(angle), r * np.sin(angle)], 3)
    std = np.round(rng.uniform(0.05, 0.5, (n, 2)), 3)
    std[::10] = 0.0
    return x, std, labels


def kernel_parts(kernel, x, z):
    """K, dK/dx, dK/dz, d2K/dx dz'."""
    if kernel == "quadratic":
        t = x @ z
        return t * t, 2 * t * z, 2 * t * x, 2 * np.outer(z, x) + 2 * t * np.eye(len(x))
    u = x - z
    k = np.exp(-GAMMA * (u @ u))
    return (
        k,
        -2 * GAMMA * u * k,
        2 * GAMMA * u * k,
        (2 * GAMMA * np.eye(len(x)) - 4 * GAMMA**2 * np.outer(u, u)) * k,
    )


def extended_gram(kernel, x, std):
    n, d = x.shape
    e = np.empty((n, d + 1, n, d + 1))
    for i in range(n):
        for j in range(n):
            k, dx, dz, mixed = kernel_parts(kernel, x[i], x[j])
            e[i, 0, j, 0] = k
            e[i, 1:, j, 0] = std[i] * dx
            e[i, 0, j, 1:] = std[j] * dz
            e[i, 1:, j, 1:] = std[i][:, None] * mixed * std[j]
    return e.reshape(n * (d + 1), -1)


def coordinates(e):
    values, vectors = np.linalg.eigh(e)
    keep = values > 1e-13 * values[-1]
    return vectors[:, keep] * np.sqrt(values[keep])


def usvc(z, n, d, y):
    """min |w|^2 / 2 + C sum xi over w in the span, as a cone program."""
    w, b, xi = cp.Variable(z.shape[1]), cp.Variable(), cp.Variable(n, nonneg=True)
    z = z.reshape(n, d + 1, -1)
    rules = [y[i] * (z[i, 0] @ w + b) >= 1 - xi[i] + RADIUS * cp.norm(z[i, 1:] @ w) for i in range(n)]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cp.sum(xi)), rules)
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return problem.value


def gsu(z, n, d, y):
    z = z.reshape(n, d + 1, -1)

    def objective(p):
        w, b = p[:-1], p[-1]
        s = np.sqrt(np.sum((z[:, 1:] @ w) ** 2, axis=1) + 1e-24)
        deficit = 1 - y * (z[:, 0] @ w + b)
        u = deficit / s
        loss = deficit * norm.cdf(u) + s * norm.pdf(u)
        t = np.einsum("ikj,ik->ij", z[:, 1:], z[:, 1:] @ w) / s[:, None]
        slope = (norm.pdf(u)[:, None] * t - (y * norm.cdf(u))[:, None] * z[:, 0]).mean(axis=0)
        gradient = np.append(ALPHA * w + slope, -(y * norm.cdf(u)).mean())
        return ALPHA / 2 * w @ w + loss.mean(), gradient

    start = np.full(z.shape[2] + 1, 1e-3)
    options = {"maxiter": 20000, "gtol": 1e-12, "ftol": 1e-16, "maxcor": 50}
    return minimize(objective, start, jac=True, method="L-BFGS-B", options=options).fun


def main():
    x, std, labels = rows(np.random.default_rng(7))
    out = {
        "means": x.tolist(), "std": std.tolist(), "labels": labels.tolist(), "gamma": GAMMA,
        "C": C, "radius": RADIUS, "alpha": ALPHA, "kernels": {},
    }  # fmt: skip
    for kernel in ("quadratic", "rbf"):
        e = extended_gram(kernel, x, std)
        z = coordinates(e)
        found = {"rank": z.shape[1], "usvc": usvc(z, *x.shape, labels), "gsu": gsu(z, *x.shape, labels)}
        out["kernels"][kernel] = found
        print(kernel, found)
    lines = [f'"{key}": {json.dumps(values)}' for key, values in out.items()]
    Path(__file__).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
