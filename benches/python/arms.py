"""Kepler's asymmetric arms: does their shape help beside their mean and variance?

    python benches/python/arms.py [--data ../shared/data] [--methods auto law discriminant gsu] [--rows 900]

Confirmed planets against false positives, three features with two arms each: `uncertain.fit` with
``arms="moments"`` and ``arms="shape"``. Log loss of rows held out in three folds, and that of shape minus
that of moments with its standard error over rows (negative: shape is better).

`--law`: the slope of a logistic law (`--slope`, 2), its intercept (`--intercept`, 1) and the standard
error that it states for the slope, where arms are 1 : 3 and the upper one is `--sizes` (1.5 to 3) times the
scatter of the true values: means over `--tables` (12) simulated tables of `--objects` (6,000) rows, with what
the true values give. `--curve`: the same of an exponential law, y = exp(.7 z), of 1,000 rows: its factor, its
exponent and the stated error of this.
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


def exponential(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return p[0] * np.exp(p[1] * x[:, 0])


def estimates(table: pl.DataFrame, arms: str, *, curve: bool) -> list[float]:
    """Slope, intercept and the stated error of the slope; of a curve the exponent, the factor, the same."""
    if curve:
        own = {"curve": exponential, "p0": [1.0, 0.5]}
        model = uncertain.fit(table, target="y", method="law", arms=arms, **own).pipeline_[-1]
        return [model.params_[1], model.params_[0], model.std_[1]]
    model = uncertain.fit(table, target="y", method="law", arms=arms)
    return [model.coef_[0, 0], model.intercept_[0], model.coef_std_[0, 0]]


def law(
    sizes: tuple[float, float], tables: int, objects: int, of: tuple[float, float], *, curve: bool
) -> None:
    found: dict[str, list[list[float]]] = {"truth": [], "shape": [], "moments": []}
    for seed in range(tables):
        random = np.random.default_rng(seed)
        n = 1_000 if curve else objects
        true, up = random.normal(size=n), random.uniform(*sizes, n)
        is_low = random.uniform(size=n) < 0.25
        error = np.where(is_low, -up / 3, up) * np.abs(random.normal(size=n))
        y = np.where(random.uniform(size=n) < 1 / (1 + np.exp(-of[0] - of[1] * true)), "yes", "no")
        target = {"y": y}
        if curve:
            target = {"y": np.exp(0.7 * true) + 0.1 * random.normal(size=n), "y_err": np.full(n, 0.05)}
        read = pl.DataFrame({"x": true - error, "x_err1": up, "x_err2": -up / 3, **target})
        known = pl.DataFrame({"x": true, "x_err": 1e-6, **target})
        for name in found:
            table, arms = (known, "auto") if name == "truth" else (read, name)
            found[name].append(estimates(table, arms, curve=curve))
    truth = np.asarray(found["truth"])
    for name, own in found.items():
        mean, root = np.mean(own, axis=0), np.sqrt(tables)
        off = (np.asarray(own) - truth)[:, :2] / truth.mean(axis=0)[:2] * 100
        bias, error = off.mean(axis=0), off.std(axis=0, ddof=1) / root
        print(
            f"{name:8} {mean[0]:.3f} and {mean[1]:.3f}, stated {mean[2]:.3f}; beside true values "
            f"{bias[0]:+.1f} +- {error[0]:.1f} % and {bias[1]:+.1f} +- {error[1]:.1f} %",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--law", action="store_true")
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--sizes", type=float, nargs=2, default=(1.5, 3.0))
    parser.add_argument("--objects", type=int, default=6_000)
    parser.add_argument("--slope", type=float, default=2.0)
    parser.add_argument("--intercept", type=float, default=1.0)
    parser.add_argument("--tables", type=int, default=12)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--methods", nargs="+", default=["auto", "law", "discriminant", "gsu"])
    parser.add_argument("--rows", type=int, default=900)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.law or given.curve:
        of = (given.intercept, given.slope)
        law(tuple(given.sizes), given.tables, given.objects, of, curve=given.curve)
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
