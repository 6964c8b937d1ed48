"""What would a temperature, chosen on held-out rows, do for each candidate of the choice?

    python benches/python/equal_calibration.py [--data ../shared/data] [--folds 2] [--only Fermi ...]

Probabilities p become p^(1/T) over their sum, T >= 1 of the least log loss of rows held out in five inner
folds. Printed are T, the log loss of these rows before and after, and that of test rows at errors x 1, 2, 4.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import archive_tables as archive
import numpy as np
from archive_tables import Table, Values
from remeasured_rules import FACTORS, TABLES
from scipy.optimize import minimize_scalar
from threadpoolctl import threadpool_limits

import uncertain

CANDIDATES: dict[str, dict[str, Any]] = {
    "gsu": {"method": "gsu", "meaning": "measurement"},
    "kernel": {"method": "kernel", "meaning": "measurement"},
    "discriminant": {"method": "discriminant"},
    "discriminant, several": {"method": "discriminant", "shared_covariance": False, "n_components": 2},
    "remeasured": {"method": "remeasured"},
}


def logs(train: Table, test: list[Table], how: dict[str, Any]) -> list[Values]:
    """log p of each class for rows of tables, by a fit to another one."""
    options = how | {"transform": "auto", "task": "classification"}
    model = uncertain.fit(train.rows(), train.y, groups=train.groups, **options)
    return [np.log(np.maximum(model.predict_proba(each.rows(train)), 1e-15)) for each in test]


def loss(logs: Values, truth: Values, temperature: float = 1.0) -> float:
    """The log loss."""
    scaled = logs / temperature
    scaled = scaled - np.logaddexp.reduce(scaled, axis=1, keepdims=True)
    return float(-scaled[np.arange(len(truth)), truth].mean())


def best(logs: Values, truth: Values) -> float:
    """The temperature of least loss."""
    found = minimize_scalar(lambda t: loss(logs, truth, np.exp(t)), bounds=(0.0, 3.0), method="bounded")
    return float(np.exp(found.x))


def line(table: Table, name: str, folds: int) -> str:
    """One candidate on one table."""
    rows = []
    for train, test in table.folds()[:folds]:
        one, other = table[train], table[test]
        classes = np.unique(one.y)
        held = [
            (logs(one[a], [one[b]], CANDIDATES[name])[0], np.searchsorted(classes, one.y[b]))
            for a, b in one.folds(seed=1)
        ]
        of_rows, truth = (np.concatenate(each) for each in zip(*held, strict=True))
        temperature = best(of_rows, truth)
        read = [other, *(other.worse(factor, int(100 * factor)) for factor in FACTORS[1:])]
        asked, truths = logs(one, read, CANDIDATES[name]), np.searchsorted(classes, other.y)
        after = [loss(each, truths, temperature) for each in asked]
        both = [loss(of_rows, truth), loss(of_rows, truth, temperature)]
        rows.append([temperature, *both, *(loss(each, truths) for each in asked), *after])
    t, before, calibrated, *tested = np.mean(rows, axis=0)
    texts = (" ".join(f"{x:.3f}" for x in part) for part in (tested[:3], tested[3:]))
    return f"| {table.name} | {name} | {t:.2f} | {before:.3f} {calibrated:.3f} | {' | '.join(texts)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=["Fermi", "Kepler, 1,500 rows", "biopsies, 64 rows"])
    arguments = parser.parse_args()
    tables = TABLES | {"Kepler, 1,500 rows": lambda folder: archive.cut(archive.kepler(folder), 1_500)}
    warnings.simplefilter("ignore")
    print(
        "| table | candidate | T | held out | test, errors x 1, 2, 4 | with T |\n|---|---|---:|---|---|---|"
    )
    with threadpool_limits(1, "openmp"):
        for text in arguments.only:
            for label in CANDIDATES:
                print(line(tables[text](arguments.data), label, arguments.folds), flush=True)
