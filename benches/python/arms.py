"""Kepler's asymmetric arms: does their shape help beside their mean and variance?

    python benches/python/arms.py [--data ../shared/data] [--methods auto law discriminant gsu] [--rows 900]

Confirmed planets against false positives, three features with two arms each: `uncertain.fit` with
``arms="moments"`` and ``arms="shape"``. Log loss of rows held out in three folds, and that of shape minus
that of moments with its standard error over rows (negative: shape is better).

`--law`: the slope of a logistic law (2), its intercept (1) and the standard error that it states for the
slope, where arms are 1 : 3 and the upper one is 1.5 to 3 times the scatter of the true values: means over 12
simulated tables of 6,000 rows, with what the true values give.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import StratifiedKFold

import uncertain

FEATURES = ["koi_prad", "koi_insol", "koi_srad"]
TARGET = "koi_disposition"
COLUMNS = [name for feature in FEATURES for name in (feature, f"{feature}_err1", f"{feature}_err2")]


def rows(data: Path, n: int) -> pl.DataFrame:
    """Rows without gaps."""
    table = pl.read_parquet(data / "kepler_koi_cumulative.parquet", columns=[*COLUMNS, TARGET])
    known = table.filter(pl.col(TARGET).is_in(["CONFIRMED", "FALSE POSITIVE"])).drop_nulls()
    plain = known.filter(pl.col("koi_prad") < 50, pl.col("koi_insol") < 1e5)
    return plain.sample(n, seed=0)


def losses(table: pl.DataFrame, arms: str, method: str) -> np.ndarray:
    """Of every row, held out."""
    labels, found = table[TARGET].to_numpy(), np.zeros(len(table))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(labels, labels):
        model = uncertain.fit(table[train], target=TARGET, arms=arms, method=method)
        p = model.predict_proba(table[test]).to_numpy()
        own = np.searchsorted(model.classes_, labels[test])
        found[test] = -np.log(p[np.arange(len(test)), own])
    return found


def law() -> None:
    found: dict[str, list[list[float]]] = {"shape": [], "moments": [], "truth": []}
    for seed in range(12):
        random = np.random.default_rng(seed)
        n = 6_000
        true, up = random.normal(size=n), random.uniform(1.5, 3.0, n)
        is_low = random.uniform(size=n) < 0.25
        error = np.where(is_low, -up / 3, up) * np.abs(random.normal(size=n))
        kind = np.where(random.uniform(size=n) < 1 / (1 + np.exp(-1 - 2 * true)), "yes", "no")
        read = pl.DataFrame({"x": true - error, "x_err1": up, "x_err2": -up / 3, "kind": kind})
        known = pl.DataFrame({"x": true, "x_err": 1e-6, "kind": kind})
        for name in found:
            table, arms = (known, "auto") if name == "truth" else (read, name)
            model = uncertain.fit(table, target="kind", method="law", arms=arms)
            found[name].append([model.coef_[0, 0], model.intercept_[0], model.coef_std_[0, 0]])
    for name, estimates in found.items():
        mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0, ddof=1) / np.sqrt(12)
        print(
            f"{name:8} slope {mean[0]:.3f} +- {error[0]:.3f}, intercept {mean[1]:.3f} +- {error[1]:.3f}, "
            f"stated {mean[2]:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--law", action="store_true")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--methods", nargs="+", default=["auto", "law", "discriminant", "gsu"])
    parser.add_argument("--rows", type=int, default=900)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.law:
        law()
        return
    table = rows(given.data, given.rows)
    up, down = (table.select(f"{name}_err{k}" for name in FEATURES).to_numpy() for k in (1, 2))
    skewed = (np.abs(up + down) > 0.1 * (up - down)).mean(axis=0)
    print(f"{len(table)} rows; arms differ by more than 10 % in", skewed.round(2).tolist(), "of", FEATURES)
    for method in given.methods:
        each, seconds = {}, {}
        for arms in ("moments", "shape"):
            start = time.process_time()
            each[arms] = losses(table, arms, method)
            seconds[arms] = time.process_time() - start
        gain = each["shape"] - each["moments"]
        print(
            f"{method:12} moments {each['moments'].mean():.4f}, shape {each['shape'].mean():.4f}, difference "
            f"{gain.mean():+.4f} +- {gain.std() / np.sqrt(len(gain)):.4f}; "
            f"{seconds['moments']:.1f} and {seconds['shape']:.1f} s of the processor",
            flush=True,
        )


if __name__ == "__main__":
    main()
