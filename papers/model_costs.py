"""Processor time of every classifier to fit and to predict.

python papers/model_costs.py [--quick]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import page
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from uncertain import (
    AdaptiveHuberClassifier,
    GaussianArray,
    GaussianDenoiser,
    GaussianDiscriminant,
    GSUClassifier,
    MinimaxProbabilityClassifier,
    ProbabilisticKernelSVC,
    RobustSVC,
)

D = 10
SIZES = (500, 5_000, 50_000)
LONGEST = 5_000
"""Models whose work grows with the square of the rows, or whose rows are slow, stop here."""

MODELS: dict[str, tuple[Callable[[], Any], bool]] = {
    "logistic regression (scikit-learn, means)": (lambda: LogisticRegression(), True),
    "gradient boosting (scikit-learn, means)": (lambda: HistGradientBoostingClassifier(), True),
    "GSUClassifier()": (lambda: GSUClassifier(1e-2), True),
    "GSUClassifier(probability=True)": (lambda: GSUClassifier(1e-2, probability=True), True),
    'GSUClassifier(kernel="rbf", max_rank=100)': (
        lambda: GSUClassifier(1e-2, kernel="rbf", max_rank=100, tol=1e-3),
        False,
    ),
    "GaussianDenoiser(), GSUClassifier()": (
        lambda: make_pipeline(GaussianDenoiser(), GSUClassifier(1e-2)),
        True,
    ),
    "GaussianDiscriminant()": (lambda: GaussianDiscriminant(), True),
    "GaussianDiscriminant(False, 4)": (lambda: GaussianDiscriminant(False, 4, tol=1e-4), True),
    "ProbabilisticKernelSVC()": (lambda: ProbabilisticKernelSVC(sigma=3.0), False),
    "ProbabilisticKernelSVC(n_components=200)": (
        lambda: ProbabilisticKernelSVC(sigma=3.0, n_components=200, tol=1e-3),
        True,
    ),
    'RobustSVC(method="usvc")': (lambda: RobustSVC(), True),
    'RobustSVC(method="ausvc")': (lambda: RobustSVC(method="ausvc"), False),
    'RobustSVC(method="mpsvc")': (lambda: RobustSVC(method="mpsvc"), False),
    "MinimaxProbabilityClassifier()": (lambda: MinimaxProbabilityClassifier(), True),
    "AdaptiveHuberClassifier()": (lambda: AdaptiveHuberClassifier(kernel="rbf"), False),
}
"""A model, and whether it goes beyond LONGEST rows."""


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    sizes = (200,) if quick else SIZES
    lines = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name, (build, linear) in page.progress(list(MODELS.items()), "model costs"):
            cells, per_row = [], ""
            for n in sizes:
                if not linear and n > LONGEST:
                    cells.append("")
                    continue
                fit, per_row = seconds(build(), n, name.endswith("means)"))
                cells.append(fit)
            lines.append([f"`{name}`" if "scikit" not in name else name, *cells, per_row])
    head = ["model", *(f"{n:,} rows, s" for n in sizes), "a prediction, µs"]
    return page.report({"costs": page.table(head, lines)})


def seconds(model: Any, n: int, means: bool) -> tuple[str, str]:
    """Seconds of one fit, and microseconds per row of a prediction by it."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    std = rng.uniform(0.1, 1.0, size=(n, D))
    x = rng.normal(size=(n, D)) + 0.6 * y[:, None] + std * rng.normal(size=(n, D))
    X: Any = x if means else GaussianArray(x, std=std)
    start = time.process_time()
    model.fit(X, y)
    middle = time.process_time()
    model.predict(X)
    end = time.process_time()
    return f"{middle - start:.3g}", f"{1e6 * (end - middle) / n:.2g}"


if __name__ == "__main__":
    main()
