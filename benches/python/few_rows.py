"""Penalties of few rows: `alpha="auto"` beside every fixed penalty, on tables cut to 40, 60, 100, 200 rows.

    python benches/python/few_rows.py [--data ../shared/data] [--seeds 10] [--sizes 40 60 100 200]

Log loss and accuracy (%) on at most 2,000 other rows, means over draws: of the penalty that "auto" takes now,
of the strongest one within a standard error of the least held-out loss, of the least held-out loss itself, of
the geometric mean of both, of the default, and of the one fixed penalty that is best for the table and size.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import archive_tables as archive
import numpy as np
from archive_tables import Table

import uncertain

TABLES: dict[str, Callable[[Path], Table]] = {
    "ranges of redshift": archive.ranges,
    "Kepler": archive.kepler,
    "biopsies": archive.wdbc,
}
DEFAULT = 1e-3


def scores(train: Table, test: Table, alpha: float | str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Log loss and accuracy, and the path if there is one."""
    model = uncertain.fit(train.rows(), train.y, method="gsu", meaning="measurement", alpha=alpha)
    p = model.predict_proba(test.rows(train))
    place = np.searchsorted(model.classes_, test.y)
    given = np.maximum(p[np.arange(len(place)), place], 1e-6)
    found = np.array([-np.log(given).mean(), 100 * np.mean(p.argmax(axis=1) == place)])
    return found, getattr(model.pipeline_[-1], "path_", {})


def rules(path: dict[str, np.ndarray]) -> dict[str, int]:
    """Places on the path, the strongest penalty first."""
    mean, error = path["mean_loss"], path["standard_error"]
    best = int(mean.argmin())
    strongest = int(np.flatnonzero(mean - mean[best] <= error)[0]) if error is not None else best
    return {"one standard error": strongest, "least loss": best, "between": (strongest + best + 1) // 2}


def main() -> None:
    """One line a table and size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=[40, 60, 100, 200])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, load in TABLES.items():
        whole = load(given.data)
        for n in given.sizes:
            found: dict[str, list[np.ndarray]] = {}
            fixed = []
            for seed in range(given.seeds):
                order = np.random.default_rng([seed, n]).permutation(len(whole))
                train, test = whole[order[:n]], whole[order[n : n + 2_000]]
                if (
                    len(np.unique(train.y)) < len(np.unique(whole.y))
                    or np.unique(train.y, return_counts=True)[1].min() < 5
                ):
                    continue
                auto, path = scores(train, test, "auto")
                each = np.array([scores(train, test, float(alpha))[0] for alpha in path["alpha"]])
                fixed.append(each)
                found.setdefault("auto", []).append(auto)
                found.setdefault("default", []).append(scores(train, test, DEFAULT)[0])
                for rule, at in rules(path).items():
                    found.setdefault(rule, []).append(each[at])
            table = np.mean(fixed, axis=0)
            found["best fixed"] = [table[table[:, 0].argmin()]]
            told = ", ".join(
                f"{rule} {np.mean(each, axis=0)[0]:.3f} {np.mean(each, axis=0)[1]:.1f}"
                for rule, each in found.items()
            )
            print(f"{name}, {n} rows ({len(fixed)} draws): {told}", flush=True)


if __name__ == "__main__":
    main()
