"""Optimal dual objectives of small kernel machines by LIBSVM (scikit-learn's SVC and SVR).

Run: python tests/golden/kernel_dual.py (NumPy, scikit-learn). Writes kernel_dual.json beside it.

The Gram matrix is exp(-|x - z|^2 / 2). LIBSVM keeps its rows in single precision: its coefficients are
good to some seven digits, but the objective, computed here from them in double precision, to fourteen.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.svm import SVC, SVR

rng = np.random.default_rng(3)
N = 50
y = np.where(np.arange(N) < 28, 1.0, -1.0)
x = np.round(rng.normal(size=(N, 2)) + np.outer(y, [0.5, 0.3]), 6)
target = np.round(np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=N), 6)
weight = np.round(rng.uniform(0.2, 3.0, size=N), 6)
gram = np.exp(-0.5 * ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))


def case(model, t, epsilon, weights):
    model.fit(gram, t, sample_weight=weights)
    coef = np.zeros(N)
    coef[model.support_] = model.dual_coef_[0]
    dual = t @ coef - epsilon * np.abs(coef).sum() - 0.5 * coef @ gram @ coef
    scores = gram @ coef + model.intercept_[0]
    kind = "svc" if isinstance(model, SVC) else "svr"
    return {
        "kind": kind,
        "C": model.C,
        "epsilon": epsilon,
        "weighted": weights is not None,
        "dual": dual,
        "intercept": model.intercept_[0],
        "scores": scores[:5].tolist(),
    }


cases = []
for c in (0.1, 1.0, 100.0):
    for weights in (None, weight):
        cases.append(case(SVC(kernel="precomputed", C=c, tol=1e-8), y, 0.0, weights))
        for epsilon in (0.05, 0.5):
            cases.append(
                case(SVR(kernel="precomputed", C=c, epsilon=epsilon, tol=1e-8), target, epsilon, weights)
            )
golden = {"x": x.tolist(), "y": y.tolist(), "target": target.tolist(), "weight": weight.tolist()}
lines = [f'"{name}": {json.dumps(values)}' for name, values in golden.items()]
lines.append('"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]")
Path(__file__).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
