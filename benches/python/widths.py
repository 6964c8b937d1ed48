"""Do the widths of predicted numbers fit? CRPS over RMSE, and coverage of 68 and 95 % by terciles of width.

    python benches/python/widths.py [--data ../shared/data] [--folds 1] [--only stars ...]
        [--methods auto ...] [--transform auto]

Of held-out rows at errors x 1, 2, 4: RMSE; CRPS of `predict_distribution` (a normal distribution) over the
RMSE, and in brackets that of the best constant width, which knows the test rows; the share of rows within one
and two (1.96) of its deviations, and within `predict_interval`, over all rows and by terciles of width.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import archive_tables as archive
import numpy as np
import polars as pl
from archive_tables import Table, Values
from logarithms import stars
from scipy.optimize import minimize_scalar
from scipy.special import ndtr
from sklearn.datasets import load_diabetes
from threadpoolctl import threadpool_limits

import uncertain

FACTORS = (1.0, 2.0, 4.0)
METHODS: dict[str, dict[str, Any]] = {
    "auto": {},
    "gsu": {"method": "gsu", "meaning": "measurement"},
    "spread": {"method": "gsu", "meaning": "spread"},
    "mixture": {"method": "mixture", "n_components": 4},
    "kernel": {"method": "kernel", "meaning": "measurement"},
    "remeasured": {"method": "remeasured"},
}


def simulated(name: str, column: str | None, size: float) -> Callable[[Path], Table]:
    """A table of UCI, its features read with errors."""

    def load(folder: Path) -> Table:
        numbers = pl.read_parquet(folder / f"{name}.parquet").cast(pl.Float64)
        y = numbers[column or numbers.columns[-1]].to_numpy()
        values = numbers.drop(column or numbers.columns[-1]).to_numpy()
        return archive.cut(archive.read(name, values, y, size, regression=True), 1_500)

    return load


TABLES: dict[str, Callable[[Path], Table]] = {
    "stars": stars,
    "redshifts": lambda folder: archive.cut(archive.redshifts(folder), 2_500),
    "airfoil": simulated("airfoil_self_noise", None, 0.2),
    "wine": simulated("wine_quality_red", "quality", 0.3),
    "yacht": simulated("yacht_hydrodynamics", None, 0.1),
    "boston": simulated("boston_housing", None, 0.2),
    "diabetes": lambda _: archive.read("diabetes", *load_diabetes(return_X_y=True), 0.4, regression=True),
}


def crps(off: Values, std: Values) -> float:
    """Of normal distributions, the mean of std (z (2 Phi(z) - 1) + 2 phi(z) - pi^-1/2), z = off / std."""
    z = off / std
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return float(np.mean(std * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))))


def constant(off: Values) -> float:
    """The least CRPS of one width for all."""
    size = np.sqrt(np.mean(off**2))
    return float(minimize_scalar(lambda s: crps(off, np.full(len(off), s * size)), bounds=(0.05, 2.0)).fun)


def shares(inside: Values, std: Values) -> str:
    """Over all rows, and by terciles of width."""
    third = np.array_split(np.argsort(std, kind="stable"), 3)
    return f"{100 * inside.mean():.0f} ({' '.join(f'{100 * inside[t].mean():.0f}' for t in third)})"


def lines(arguments: argparse.Namespace) -> None:
    for name in arguments.only:
        table = TABLES[name](arguments.data)
        for label in arguments.methods:
            start, asked = time.process_time(), {factor: [] for factor in FACTORS}
            for train, test in table.folds()[: arguments.folds]:
                rows = table[train]
                how = (
                    {"task": "regression"}
                    | METHODS[label]
                    | ({} if label == "auto" else {"transform": arguments.transform})
                )
                model = uncertain.fit(rows.rows(), rows.y, **how)
                for factor, found in asked.items():
                    read = table[test].worse(factor, seed=1)
                    new = read.rows(rows)
                    mean, std = model.predict_distribution(new)
                    ends = [model.predict_interval(new, coverage=coverage) for coverage in (0.68, 0.95)]
                    found.append(np.column_stack([read.y, mean, std, *ends[0], *ends[1]]))
            seconds = (time.process_time() - start) / arguments.folds
            for factor, found in asked.items():
                y, mean, std, *ends = np.concatenate(found).T
                off = y - mean
                root = np.sqrt(np.mean(off**2))
                within = [np.abs(off) <= std, np.abs(off) <= 1.96 * std]
                within += [(low <= y) & (y <= high) for low, high in zip(ends[::2], ends[1::2], strict=True)]
                scores = f"{root:.4g} | {crps(off, std) / root:.3f} ({constant(off) / root:.3f})"
                covered = " | ".join(shares(w, std) for w in within)
                print(f"| {name} | {label} | {factor:g} | {scores} | {covered} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folds", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(TABLES))
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--transform", help='of methods other than auto: "auto" for logarithms')
    warnings.simplefilter("ignore")
    print("| table | method | x | RMSE | CRPS / RMSE (constant) | 1 s | 1.96 s | 68 % | 95 % | s |")
    with threadpool_limits(1, "openmp"):
        lines(parser.parse_args())
