"""Minima of Huber regression on several kernels and graphs, from the convex problem itself.

Run: python tests/golden/huber.py (NumPy, mpmath, cvxpy with Clarabel). Writes huber.json beside it.

    J = 1/l sum_{i<=l} s_i H_xi(y_i - f_i) + lambda sum_a w_a'K_a w_a + gamma sum_a (K_a w_a)'M_a (K_a w_a),
    f = sum_a c_a K_a w_a,   H_xi(r) = r^2/2 up to xi, xi |r| - xi^2/2 beyond

Clarabel minimises J over w_1 .. w_m as written (nothing is reduced to the labelled rows). It shows which
residuals lie inside the threshold; with those known, the stationarity conditions are m N linear equations,
solved in 40 digits. What is stored satisfies them, has its residuals where Clarabel has them, and its J is
Clarabel's to 1e-12: J and f are right to the last digit of a double.

The first rows are the labelled ones. Kernel "rbf" is exp(-|x - z|^2 / 2). xi null is infinity, M null no
graph term. Where K is singular, w is the minimiser that also solves the equations without the factor K.
"""

import json
from pathlib import Path

import cvxpy as cp
import mpmath as mp
import numpy as np

mp.mp.dps = 40
THRESHOLDS = (None, 1.0, 0.3, 0.1, 0.01, 1e-6)


def linear(a, b):
    return a @ b.T


def rbf(a, b, gamma=0.5):
    return np.exp(-gamma * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def laplacian(x, neighbors):
    """I - D^-1/2 A D^-1/2 of the graph in which each row has RBF-weighted edges to its nearest ones."""
    weight = rbf(x, x, 1.0)
    np.fill_diagonal(weight, 0.0)
    near = np.argsort(-weight, axis=1, kind="stable")[:, :neighbors]
    kept = np.zeros_like(weight)
    np.put_along_axis(kept, near, np.take_along_axis(weight, near, axis=1), axis=1)
    kept = np.maximum(kept, kept.T)
    root = np.sqrt(kept.sum(axis=1))
    m = np.eye(len(x)) - kept / np.outer(root, root)
    return (m + m.T) / 2


def problem(seed, n, labelled, views, *, weighted=False, lam=0.01, gamma=0.02):
    """A fifth of the labels is off by much; views are (columns, kernel, weight, neighbours in the graph)."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(n, 4)), 3)
    new = np.round(rng.normal(size=(3, 4)), 3)
    y = np.sin(2.0 * x[:, 0]) + 0.5 * x[:, 2] + 0.1 * rng.normal(size=n)
    y = np.round(y + (rng.random(n) < 0.2) * rng.choice([-2.5, 2.5], size=n), 4)[:labelled]
    weight = np.round(rng.uniform(0.25, 2.0, size=labelled), 2) if weighted else np.ones(labelled)
    weight = weight * labelled / weight.sum()
    parts = []
    for columns, kernel, c, neighbors in views:
        v, z = x[:, columns], new[:, columns]
        k = {"linear": linear, "rbf": rbf}[kernel]
        m = None if neighbors is None else laplacian(v, neighbors)
        gram = k(v, v)
        parts.append(
            {"columns": columns, "kernel": kernel, "c": c, "K": (gram + gram.T) / 2, "M": m, "new": k(z, v)}
        )
    return {"x": x, "new": new, "y": y, "weight": weight, "lambda": lam, "gamma": gamma, "views": parts}


def clarabel(p, xi):
    """The minimiser of J in all w_a, to the accuracy of the interior-point method."""
    n, labelled = len(p["x"]), len(p["y"])
    ws = [cp.Variable(n) for _ in p["views"]]
    f = sum(v["c"] * v["K"] @ w for v, w in zip(p["views"], ws, strict=True))
    r = p["y"] - f[:labelled]
    loss = 0.5 * (r**2 if xi is None else cp.huber(r, xi))
    total = p["weight"] @ loss / labelled
    for v, w in zip(p["views"], ws, strict=True):
        total += p["lambda"] * cp.sum_squares(half(v["K"]) @ w)
        if v["M"] is not None:
            total += p["gamma"] * cp.sum_squares(half(v["M"]) @ (v["K"] @ w))
    value = cp.Problem(cp.Minimize(total)).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13, max_iter=400
    )
    return value, np.asarray(r.value)


def half(m):
    """H with H'H = m."""
    values, vectors = np.linalg.eigh(m)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


def exact(p, xi, inside, sign):
    """Stationarity: 2 l (lambda w_a + gamma M_a K_a w_a) = c_a s h, h = y - f inside and +-xi outside."""
    n, labelled, m = len(p["x"]), len(p["y"]), len(p["views"])
    a, right = mp.zeros(m * n, m * n), mp.zeros(m * n, 1)
    for j, v in enumerate(p["views"]):
        k = mp.matrix(v["K"].tolist())
        block = mp.mpf(2 * labelled * p["lambda"]) * mp.eye(n)
        if v["M"] is not None:
            block += mp.mpf(2 * labelled * p["gamma"]) * (mp.matrix(v["M"].tolist()) * k)
        a[j * n : (j + 1) * n, j * n : (j + 1) * n] = block
        for i in range(labelled):
            scale = mp.mpf(v["c"]) * mp.mpf(p["weight"][i])
            right[j * n + i] = scale * (mp.mpf(p["y"][i]) if inside[i] else mp.mpf(xi) * int(sign[i]))
            if inside[i]:
                for jj, vv in enumerate(p["views"]):
                    for q in range(n):
                        a[j * n + i, jj * n + q] += scale * mp.mpf(vv["c"]) * mp.mpf(vv["K"][i, q])
    w = mp.lu_solve(a, right)
    ws = [w[j * n : (j + 1) * n] for j in range(m)]
    fs = [mp.matrix(v["K"].tolist()) * wj for v, wj in zip(p["views"], ws, strict=True)]
    f = [mp.fsum(mp.mpf(v["c"]) * fj[i] for v, fj in zip(p["views"], fs, strict=True)) for i in range(n)]
    value = mp.mpf(0)
    for i in range(labelled):
        r = abs(mp.mpf(p["y"][i]) - f[i])
        assert inside[i] == (xi is None or r < xi), (i, xi, r)
        loss = r**2 / 2 if inside[i] else mp.mpf(xi) * r - mp.mpf(xi) ** 2 / 2
        value += mp.mpf(p["weight"][i]) * loss / labelled
    for v, wj, fj in zip(p["views"], ws, fs, strict=True):
        value += mp.mpf(p["lambda"]) * (wj.T * fj)[0]
        if v["M"] is not None:
            value += mp.mpf(p["gamma"]) * (fj.T * mp.matrix(v["M"].tolist()) * fj)[0]
    ahead = [
        mp.fsum(
            mp.mpf(v["c"]) * (mp.matrix(v["new"].tolist()) * wj)[i]
            for v, wj in zip(p["views"], ws, strict=True)
        )
        for i in range(len(p["new"]))
    ]
    return (
        float(value),
        [[float(t) for t in wj] for wj in ws],
        [float(t) for t in f],
        [float(t) for t in ahead],
    )


def case(p, xi):
    value, r = clarabel(p, xi)
    inside = np.full(len(r), True) if xi is None else np.abs(r) < xi * (1 - 1e-6)
    objective, w, f, ahead = exact(p, xi, inside.tolist(), np.sign(r))
    assert abs(objective - value) < 1e-12 * value, (xi, objective, value)
    print(
        f"xi {xi}: J {objective:.12g}, Clarabel's {value - objective:+.1e}, {inside.sum()} of {len(r)} inside"
    )
    return {"xi": xi, "inside": int(inside.sum()), "objective": objective, "w": w, "f": f, "new": ahead}


def numbers(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


problems = {
    "linear": problem(1, 16, 16, [([0, 1, 2, 3], "linear", 1.0, None)]),
    "rbf with graph": problem(2, 22, 12, [([0, 1, 2, 3], "rbf", 1.0, 4)]),
    "two views": problem(3, 20, 14, [([0, 1], "rbf", 0.7, 3), ([2, 3], "linear", 0.3, 5)], weighted=True),
}
lines = []
for name, p in problems.items():
    print(name)
    cases = [case(p, xi) for xi in THRESHOLDS]
    views = [{key: numbers(v) for key, v in view.items() if key != "new"} for view in p["views"]]
    inputs = {key: numbers(value) for key, value in p.items() if key != "views"}
    lines.append(
        json.dumps({"name": name, **inputs})[:-1]
        + ',\n"views": [\n' + ",\n".join(json.dumps(v) for v in views)
        + '],\n"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "]}"
    )  # fmt: skip
Path(__file__).with_suffix(".json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
