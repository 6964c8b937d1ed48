"""Table I of the Huber paper: classification with noisy labels, for docs/papers/adaptive-huber.md.

    python benches/papers/huber_labels.py [--data FOLDER] [--quick]

Parameters are chosen by cross-validation on the training rows and their noisy labels; the clean test rows are
looked at once.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import page
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from uncertain import AdaptiveHuberClassifier

Ints = NDArray[np.int64]

ORIGIN = "Raetsch's benchmark repository (IDA)"
SETS = {"breast_cancer": 10, "diabetis": 5, "german": 3, "heart": 10, "image": 2, "thyroid": 10}
"""Realisations of each: fewer where rows are many."""
SIZES = {"diabetis": 468, "thyroid": 140}
"""Raetsch's training sizes, for the random splits that stand in for missing ones."""
RATES = ((0.2, 0.2), (0.3, 0.1), (0.4, 0.4))
"""Probabilities that a label +1 and a label -1 are flipped, in the training rows."""


def searches(d: int, seed: int) -> dict[str, GridSearchCV]:
    """What is compared, each with its own choice of parameters."""
    widths = [0.3 / d, 1.0 / d, 3.0 / d]
    huber = AdaptiveHuberClassifier(manifold_alpha=0.0, graph=None, delta=0.1, fit_intercept=True)
    candidates = {
        "HLR": (huber, {"alpha": [1e-4, 1e-3, 1e-2, 1e-1], "gamma": widths, "max_refinements": [0, 5]}),
        "logistic loss": (LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]}),
        "SVM": (SVC(), {"C": [0.1, 1.0, 10.0], "gamma": widths}),
    }
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    found = {}
    for name, (model, grid) in candidates.items():
        step = type(model).__name__.lower()
        named = {f"{step}__{key}": values for key, values in grid.items()}
        found[name] = GridSearchCV(make_pipeline(StandardScaler(), clone(model)), named, cv=folds)
    return found


def splits(folder: Path, name: str, rows: int) -> list[tuple[Ints, Ints]]:
    """Raetsch's realisations, and random ones of the same size where there are not enough."""
    frame = pl.read_parquet(folder / "ida_splits.parquet").filter(pl.col("dataset") == name)
    found = []
    for realization in range(1, SETS[name] + 1):
        part = frame.filter(pl.col("realization") == realization)
        if part.height:
            train, test = (part.filter(pl.col("split") == s)["row"].to_numpy() for s in ("train", "test"))
        else:
            order = np.random.default_rng(realization).permutation(rows)
            train, test = order[: SIZES[name]], order[SIZES[name] :]
        found.append((train.astype(np.int64), test.astype(np.int64)))
    return found


def main(argv: Sequence[str] | None = None) -> str:
    arguments = page.options(__doc__ or "", argv, data=True)
    rows = []
    with threadpool_limits(1):
        for name in ["breast_cancer"] if arguments.quick else SETS:
            x, y = page.load(arguments.data, f"ida_{name}", "label", ORIGIN)
            parts = splits(arguments.data, name, len(y))[: 1 if arguments.quick else None]
            for rates in RATES[:1] if arguments.quick else RATES:
                results: dict[str, list[float]] = {}
                for seed, (train, test) in enumerate(parts):
                    rng = np.random.default_rng([seed, round(100 * rates[0])])
                    chance = np.where(y[train] > 0, *rates)
                    noisy = np.where(rng.random(len(train)) < chance, -y[train], y[train])
                    for method, search in searches(x.shape[1], seed).items():
                        search.fit(x[train], noisy)
                        results.setdefault(method, []).append(100.0 * search.score(x[test], y[test]))
                rows.append(line(name, rates, results))
    head = ["data, flipped +1 / -1", "splits", "paper: HLR", "HLR", "logistic loss", "SVM", "highest"]
    return page.update("adaptive-huber.md", {"labels": page.table(head, rows)}, quick=arguments.quick)


def line(name: str, rates: tuple[float, float], results: dict[str, list[float]]) -> list[str]:
    """Accuracies and their standard deviations; "highest" names all within half a per cent of the best."""
    means = {method: float(np.mean(values)) for method, values in results.items()}
    best = [method for method, value in means.items() if value > max(means.values()) - 0.5]
    cells = [f"{means[m]:.1f} ± {np.std(v):.1f}" for m, v in results.items()]
    count = len(next(iter(results.values())))
    label = f"{name}, {100 * rates[0]:.0f} / {100 * rates[1]:.0f} %"
    return [label, str(count), "not available here", *cells, ", ".join(best)]


if __name__ == "__main__":
    main()
