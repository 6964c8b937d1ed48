"""Optimal objectives of two small problems, by programs that share nothing with ours.

Run: python tests/golden/gsu_optimum.py (NumPy, SciPy, scikit-learn). Writes gsu_optimum.json beside it.

svm: alpha/2 |w|^2 + mean max(0, 1 - y (w'x + b)), the dual by LIBSVM and a linear system for
its free rows; primal and dual agree to 1e-13.
gsu: the same with the expected hinge under diagonal covariances, by SciPy's BFGS and a Newton polish
with finite-difference Hessians.
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.svm import SVC

ALPHA = 0.02
rng = np.random.default_rng(20)
n, d = 60, 3
y = np.where(np.arange(n) < 35, 1.0, -1.0)
x = np.round(rng.normal(size=(n, d)) * [1.0, 2.0, 0.5] + np.outer(y, [0.6, 0.4, 0.0]) + [3.0, 0.0, -1.0], 6)
var = np.round(rng.gamma(0.5, 0.5, size=(n, d)), 6)
weight = np.round(rng.uniform(0.2, 3.0, size=n), 6)


def svm(w, b, c):
    return 0.5 * ALPHA * w @ w + c @ np.maximum(0.0, 1.0 - y * (x @ w + b))


def gsu(params, c):
    w, b = params[:d], params[d]
    margin = 1.0 - y * (x @ w + b)
    s = np.sqrt(var @ w**2)
    u = margin / s
    value = 0.5 * ALPHA * w @ w + c @ (margin * norm.cdf(u) + s * norm.pdf(u))
    d_margin, d_s = c * norm.cdf(u), c * norm.pdf(u)
    grad_w = ALPHA * w - (d_margin * y) @ x + (d_s / s) @ var * w
    return value, np.append(grad_w, -(d_margin @ y))


def gsu_optimum(c):
    params = minimize(
        gsu, np.append(np.ones(d), 0.0), args=(c,), jac=True, method="BFGS", options={"gtol": 1e-9}
    ).x
    for _ in range(5):
        step = 1e-5
        columns = [gsu(params + step * e, c)[1] - gsu(params - step * e, c)[1] for e in np.eye(d + 1)]
        params = params - np.linalg.solve(np.array(columns) / (2 * step), gsu(params, c)[1])
    value, gradient = gsu(params, c)
    assert np.abs(gradient).max() < 1e-13, gradient
    return value, params


def svm_optimum(c):
    """LIBSVM finds the rows at a bound; the others have margin one: a linear system for a_i and b."""
    model = SVC(kernel="linear", C=1.0 / ALPHA, tol=1e-10).fit(x, y, sample_weight=c)
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_[0]
    free = np.flatnonzero((np.abs(a) > 1e-9) & (np.abs(a) < c / ALPHA * (1 - 1e-9)))
    bound = np.abs(a) >= c / ALPHA * (1 - 1e-9)
    a[bound] = y[bound] * c[bound] / ALPHA
    ones = np.ones((free.size, 1))
    system = np.block([[x[free] @ x[free].T, ones], [ones.T, np.zeros((1, 1))]])
    fixed = a[bound] @ x[bound]
    solution = np.linalg.solve(system, np.append(y[free] - x[free] @ fixed, -a[bound].sum()))
    a[free], b = solution[:-1], solution[-1]
    w = a @ x
    value, dual = svm(w, b, c), ALPHA * (y @ a - 0.5 * w @ w)
    assert abs(value - dual) < 1e-13 * value and np.all((y * a >= 0) & (np.abs(a) <= c / ALPHA * (1 + 1e-12)))
    return value, np.append(w, b)


def case(solve, c):
    value, params = solve(c)
    return {"objective": value, "w": params[:d].tolist(), "b": params[d]}


equal, weighted = np.full(n, 1 / n), weight / weight.sum()
path = Path(__file__).with_suffix(".json")
golden = {
    "alpha": ALPHA,
    "x": x.tolist(),
    "var": var.tolist(),
    "y": y.tolist(),
    "weight": weight.tolist(),
    "svm": case(svm_optimum, equal),
    "svm_weighted": case(svm_optimum, weighted),
    "gsu": case(gsu_optimum, equal),
    "gsu_weighted": case(gsu_optimum, weighted),
}
path.write_text(
    "{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in golden.items()) + "\n}\n", encoding="utf-8"
)
