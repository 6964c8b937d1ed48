"""Do 90 % sets and intervals hold on one table, also where targets are nearly noise?

    python benches/python/sets_on_one_table.py [--seeds 20] [--methods gsu kernel ...] [--signal .15]

Tables of 200, 400, 800 and 1,200 rows with 3 features, fitted by name with ``uncertain.fit``. Coverage on
4,000 fresh rows of each: mean, standard deviation and least over tables. Beside it split conformal prediction
on the same rows: the method fitted to two thirds of them, one threshold from the other third. `--each 4` has
four rows of an object that share their label's noise, held out together (`groups=`); `--weights` weighs rows.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import uncertain
from uncertain import GaussianArray

COVERAGE = 0.9
FRESH = 4_000
SIZES = (200, 400, 800, 1_200)


class Table(NamedTuple):
    """Rows, targets, and what is known of each row."""

    X: GaussianArray
    y: np.ndarray
    known: dict[str, Any]

    def take(self, at: np.ndarray) -> Table:
        return Table(self.X[at], self.y[at], {name: values[at] for name, values in self.known.items()})


def made(n: int, seed: int, given: argparse.Namespace, *, classes: bool) -> Table:
    """Readings of 3 features, and a target that one of them tells little of."""
    random = np.random.default_rng([seed, n])
    star = np.repeat(np.arange(-(-n // given.each)), given.each)[:n]
    z = random.normal(size=(n, 3))[star]
    std = random.uniform(0.05, 1.0, (n, 3))
    noise = random.normal(size=n)[star]
    y = given.signal * z[:, 0] + noise
    known: dict[str, Any] = {"groups": star} if given.each > 1 else {}
    if given.weights:
        known["sample_weight"] = random.uniform(0.5, 2.0, n)
    X = GaussianArray(z + std * random.normal(size=z.shape), std=std)
    return Table(X, np.where(y > 0, "yes", "no") if classes else y, known)


def arguments(method: str, *, classes: bool) -> dict[str, Any]:
    """Trees with 60 iterations."""
    learner = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    few = learner(max_iter=60, early_stopping=False)
    return {"method": method} | ({"estimator": few} if method in ("auto", "remeasured") else {})


def held(model: uncertain.Model, fresh: Table, *, classes: bool) -> tuple[float, float]:
    """The share of answers that hold the truth, and their mean size."""
    if not classes:
        lower, upper = model.predict_interval(fresh.X, coverage=COVERAGE)
        return float(np.mean((lower <= fresh.y) & (fresh.y <= upper))), float(np.mean(upper - lower))
    sets = model.predict_set(fresh.X, coverage=COVERAGE)
    inside = [truth in some for truth, some in zip(fresh.y, sets, strict=True)]
    return float(np.mean(inside)), float(np.mean([len(some) for some in sets]))


def split_conformal(how: dict[str, Any], table: Table, fresh: Table, *, classes: bool) -> float:
    """The share of sets or intervals that hold the truth, by one split."""
    random = np.random.default_rng(0)
    units = table.known.get("groups", np.arange(len(table.y)))
    order = random.permutation(np.unique(units))
    left = np.isin(units, order[: 2 * len(order) // 3])
    train, test = table.take(np.flatnonzero(left)), table.take(np.flatnonzero(~left))
    model = uncertain.fit(train.X, train.y, **train.known, **how)

    def scores(rows: Table) -> np.ndarray:
        if classes:
            places = np.searchsorted(model.classes_, rows.y)
            return 1.0 - np.asarray(model.predict_proba(rows.X))[np.arange(len(places)), places]
        mean, std = model.predict_distribution(rows.X)
        return np.abs(rows.y - mean) / std

    known = np.sort(scores(test))
    place = int(np.ceil((len(known) + 1) * COVERAGE)) - 1
    return float(np.mean(scores(fresh) <= known[min(place, len(known) - 1)]))


def one(method: str, seed: int, given: argparse.Namespace, *, classes: bool) -> list[float]:
    """Of one table: coverage and size, and the coverage of split conformal prediction."""
    warnings.simplefilter("ignore")
    table = made(SIZES[seed % len(SIZES)], seed, given, classes=classes)
    fresh = made(FRESH, 1_000 + seed, given, classes=classes)
    how = arguments(method, classes=classes)
    model = uncertain.fit(table.X, table.y, **table.known, **how)
    return [*held(model, fresh, classes=classes), split_conformal(how, table, fresh, classes=classes)]


def main() -> None:
    """Print one line a method."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", nargs="+", default=["gsu", "minimax", "kernel", "discriminant"])
    parser.add_argument("--targets", nargs="+", default=["classes", "numbers"])
    parser.add_argument("--signal", type=float, default=0.15)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--weights", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    print("| target | method | covered | least | size | split conformal |\n|---|---|---|---|---|---|")
    for target in given.targets:
        for method in given.methods:
            if target == "numbers" and method in ("minimax", "discriminant"):
                continue
            tasks = (delayed(one)(method, s, given, classes=target == "classes") for s in range(given.seeds))
            found = np.array(Parallel(n_jobs=given.jobs)(tasks))
            (mean, size, split), (std, _, split_std) = found.mean(axis=0), found.std(axis=0, ddof=1)
            print(
                f"| {target} | {method} | {mean:.3f} +- {std:.3f} | {found[:, 0].min():.3f} | {size:.2f} | "
                f"{split:.3f} +- {split_std:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
