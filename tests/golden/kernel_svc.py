"""Support rows, coefficients and scores of scikit-learn's SVC(kernel="precomputed").

Run: python tests/golden/kernel_svc.py (NumPy, scikit-learn). Writes kernel_svc.json beside it.

The Gram matrix is exp(-|x - z|^2 / 2). LIBSVM keeps its rows in single precision: numbers are good to
some six digits.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

rng = np.random.default_rng(11)
N, NEW = 45, 12
code = rng.integers(0, 4, size=N)
center = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.2], [0.0, -1.2]])
x = np.round(0.8 * rng.normal(size=(N, 2)) + center[code], 6)
new = np.round(1.5 * rng.normal(size=(NEW, 2)), 6)
weight = np.round(rng.uniform(0.3, 3.0, size=N), 6)


def gram(a, b):
    return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def case(codes, weights):
    model = SVC(kernel="precomputed", C=2.0, tol=1e-8)
    model.fit(gram(x, x), codes, sample_weight=weights)
    scores = model.decision_function(gram(new, x))
    return {
        "codes": codes.tolist(),
        "weighted": weights is not None,
        "support": model.support_.tolist(),
        "n_support": model.n_support_.tolist(),
        "dual_coef": model.dual_coef_.tolist(),
        "intercept": model.intercept_.tolist(),
        "decision": scores.reshape(NEW, -1).tolist(),
    }


cases = [case(c, w) for c in (code % 2, code % 3, code) for w in (None, weight)]
golden = {"x": x.tolist(), "new": new.tolist(), "weight": weight.tolist()}
lines = [f'"{name}": {json.dumps(values)}' for name, values in golden.items()]
lines.append('"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]")
Path(__file__).with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
