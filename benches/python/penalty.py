"""`alpha="auto"` beside scikit-learn's GridSearchCV over the same penalties, 5 folds and estimator.

    python benches/python/penalty.py

5,000 rows in 20 dimensions with error bars, made here. GridSearchCV fits every penalty of every fold from
nothing, to the estimator's own tolerance, in this process (``n_jobs=1``: the fits use all threads).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from uncertain import GaussianArray, GSUClassifier, GSURegressor
from uncertain._base.penalty import PATHS


def rows(n: int, d: int) -> tuple[GaussianArray, Any, Any]:
    """Readings with errors, classes and numbers."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, d))
    std = rng.uniform(0.1, 0.8, size=(n, d))
    score = z @ (0.7 ** np.arange(d))
    X = GaussianArray(z + std * rng.normal(size=z.shape), std=std)
    return X, (score + rng.normal(size=n) > 0).astype(int), score + 0.5 * rng.normal(size=n)


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Median time, and the last answer."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), answer


def main() -> None:
    """Print the comparison."""
    X, classes, numbers = rows(5_000, 20)
    for name, estimator, y in (
        ("GSUClassifier", GSUClassifier(), classes),
        ("GSURegressor", GSURegressor(), numbers),
    ):
        grid = {"alpha": PATHS[estimator._kind].tolist()}
        searched, search = seconds(lambda e=estimator, y=y, grid=grid: GridSearchCV(e, grid, cv=5).fit(X, y))
        auto, model = seconds(lambda e=estimator, y=y: type(e)("auto").fit(X, y))
        once, _ = seconds(lambda e=estimator, y=y: type(e)().fit(X, y))
        print(f"{name}: one fit {once:.3f} s, ratio of the two below {auto / searched:.2f}")
        print(f'  alpha="auto"  {auto:6.2f} s, alpha {model.alpha_:.2g}')
        print(f"  GridSearchCV  {searched:6.2f} s, alpha {search.best_params_['alpha']:.2g}")


if __name__ == "__main__":
    main()
