"""What is lost by calibrating with rows that a model was also chosen on? Coverage on fresh rows of made ones.

    python benches/python/held_out_calibration.py [--rows 100 300 1000 2000] [--seeds 12]

Every table is fitted once with ``method="auto"`` (trees of 60 iterations). Its model is calibrated with the
models of the choice's folds, as `uncertain.fit` does, and again by folds of its own that nothing was chosen
on, which is a fit more. On 2,000 fresh rows, as they are and with errors twice as large, the share of 90 %
sets or intervals that hold the truth: mean and standard deviation over tables, and the mean size or width.
Where a `GSURegressor` won, `residual_std_` divided by the scatter that is most likely for the fresh rows.
"""

from __future__ import annotations

import argparse
import copy
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import uncertain
from uncertain import GaussianArray
from uncertain._model.calibrating import calibrate
from uncertain._widths.distribution import from_errors
from uncertain._widths.scatter import most_likely_scatter

COVERAGE = 0.9
FRESH = 2_000
WAYS = ("folds of its own", "folds of the choice")


class Table(NamedTuple):
    """Rows and targets."""

    rows: GaussianArray
    y: np.ndarray


def made(shape: str, n: int, seed: int, factor: float, *, classes: bool) -> Table:
    """Readings of 4 features whose target is a line of them, bent, or noise alone."""
    random = np.random.default_rng([seed, n, int(10 * factor), classes])
    truth = random.normal(size=(n, 4))
    std = factor * random.uniform(0.05, 1.0, size=(n, 4))
    signal = {
        "line": truth @ [2.0, -1.0, 0.5, 0.0],
        "bent": 2.0 * np.sin(2.0 * truth[:, 0]) + truth[:, 1] ** 2 - 1.0,
        "noise": np.zeros(n),
    }[shape]
    y = signal + 0.7 * random.normal(size=n)
    rows = GaussianArray(truth + std * random.normal(size=(n, 4)), std=std)
    return Table(rows, np.where(y > 0.0, "yes", "no") if classes else y)


def both_ways(table: Table, *, classes: bool) -> dict[str, uncertain.Model]:
    """The same model, calibrated with folds of its own and with those of the choice."""
    seen: list[Any] = []

    def calibrated(*arguments: Any) -> Any:
        seen.append(arguments)
        return calibrate(*arguments)

    learner = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    with patch("uncertain._model.fit.calibrate", calibrated):
        model = uncertain.fit(table.rows, table.y, estimator=learner(max_iter=60, early_stopping=False))
    fitted, training, held_out = seen[-1]
    assert held_out is not None
    again = calibrate(fitted, training, None)
    other = copy.copy(model)
    other.residual_std_ = again.residual_std
    other._calibration = again
    return dict(zip(WAYS, (other, model), strict=True))


def held(model: uncertain.Model, table: Table) -> tuple[float, float]:
    """The share of answers that hold the truth, and their mean size."""
    if model.is_regression_:
        lower, upper = model.predict_interval(table.rows, coverage=COVERAGE)
        return float(np.mean((lower <= table.y) & (table.y <= upper))), float(np.mean(upper - lower))
    sets = model.predict_set(table.rows, coverage=COVERAGE)
    inside = [truth in some for truth, some in zip(table.y, sets, strict=True)]
    return float(np.mean(inside)), float(np.mean([len(some) for some in sets]))


def scatter(model: uncertain.Model, table: Table) -> float:
    """The scatter of a `GSURegressor` in units of what fresh rows say; NaN for other models."""
    if model.residual_std_ is None:
        return float("nan")
    mean, std = from_errors(model.pipeline_, table.rows)
    return model.residual_std_ / most_likely_scatter(table.y - mean, std**2, np.ones(len(mean)))


def one(shape: str, n: int, seed: int, *, classes: bool) -> dict[str, list[float]]:
    """Of one table, for each way: coverage and size as errors are, and with larger ones; scatter."""
    models = both_ways(made(shape, n, seed, 1.0, classes=classes), classes=classes)
    fresh = [made(shape, FRESH, 1_000 + seed, factor, classes=classes) for factor in (1.0, 2.0)]
    return {
        way: [*held(model, fresh[0]), *held(model, fresh[1]), scatter(model, fresh[0])]
        for way, model in models.items()
    }


def main() -> None:
    """Print one line a table and way."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1_000, 2_000])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--targets", nargs="+", default=["classes", "numbers"])
    parser.add_argument("--tables", nargs="+", default=["line", "bent", "noise"])
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    print("| target | table | rows | calibrated with | covered, errors x 1 | over tables | size or width | "
          "covered, errors x 2 | scatter / true |\n|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    for n in given.rows:
        for target in given.targets:
            for shape in given.tables:
                classes = target == "classes"
                tasks = (delayed(one)(shape, n, seed, classes=classes) for seed in range(given.seeds))
                tables = Parallel(n_jobs=given.jobs)(tasks)
                for way in WAYS:
                    found = np.array([table[way] for table in tables])
                    share, size, larger = found[:, 0], found[:, 1].mean(), found[:, 2].mean()
                    ratio = found[~np.isnan(found[:, 4]), 4]
                    text = f"{ratio.mean():.3f} ({len(ratio)})" if len(ratio) else ""
                    print(
                        f"| {target} | {shape} | {n:,} | {way} | "
                        f"{100 * share.mean():.1f} | {100 * share.std(ddof=1):.1f} | {size:.2f} | "
                        f"{100 * larger:.1f} | {text} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
