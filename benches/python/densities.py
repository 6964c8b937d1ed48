"""Ways to a density of a re-measured regression: CRPS and CDE loss of new rows at errors x 1, 2, 4; seconds.

    OMP_NUM_THREADS=1 python benches/python/densities.py [--data ../shared/data] [--rows 2000]
        [--only redshifts]

All see the same copies of the rows, and the same predictions m of them (three folds). "normal" is what a
model without a density says.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.model_selection import KFold

import uncertain
from uncertain import GaussianArray, RemeasuredRegressor
from uncertain._base.normal_mixtures import NormalMixtures

Values = np.ndarray
Table = tuple[Values, Values, Values]
Law = Callable[[Values], NormalMixtures]
TESTED = 2_500


def made(n: int, target: Callable[[Values, np.random.Generator], Values]) -> Table:
    rng = np.random.default_rng(1)
    z, std = rng.normal(size=(n, 3)), rng.uniform(0.05, 0.4, (n, 3))
    return z + std * rng.normal(size=z.shape), std, target(z, rng)


def two_peaks(z: Values, rng: np.random.Generator) -> Values:
    sign = np.where(rng.random(len(z)) < 1.0 / (1.0 + np.exp(-1.5 * z[:, 1])), 1.0, -1.0)
    return np.asarray(sign * (2.0 + z[:, 0]) + 0.2 * rng.normal(size=len(z)))


def skewed(z: Values, rng: np.random.Generator) -> Values:
    return np.asarray(z[:, 0] + 0.4 * np.exp(0.7 * z[:, 1]) * (rng.gamma(2.0, size=len(z)) - 2.0))


def normal(z: Values, rng: np.random.Generator) -> Values:
    return np.asarray(2.0 * z[:, 0] - z[:, 1] + 0.3 * rng.normal(size=len(z)))


def redshifts(folder: Path, n: int) -> Table:
    frame = pl.read_parquet(folder / "dc2_photoz_training.parquet")
    values, std = (
        frame.select(f"mag_{part}{band}_lsst" for band in "ugrizy").to_numpy() for part in ("", "err_")
    )
    known = np.flatnonzero((values < 90).all(axis=1) & (std < 5).all(axis=1))
    some = np.random.default_rng(1).permutation(known)[:n]
    return values[some], std[some], frame["redshift"].to_numpy()[some]


class Copies:
    """What every candidate learns from."""

    def __init__(self, model: RemeasuredRegressor, X: GaussianArray, y: Values) -> None:
        self.y, self.mean, self.trees = y, model.estimator_.predict, model.n_trees_
        self.table = model._copied(X, y, None, 8, np.random.RandomState(0))[::2]
        self.m = np.empty(self.table.shape[:2])
        for train, test in KFold(3, shuffle=True, random_state=0).split(y):
            learner = self.boosting(HistGradientBoostingRegressor, self.trees)
            learner.fit(self.flat(self.table[:, train]), np.tile(y[train], len(self.table)))
            self.m[:, test] = learner.predict(self.flat(self.table[:, test])).reshape(len(self.table), -1)

    @staticmethod
    def flat(table: Values) -> Values:
        return table.reshape(-1, table.shape[2])

    def boosting(self, kind: type, trees: int, **more: Any) -> Any:
        own = {"learning_rate": 0.05, "min_samples_leaf": 20 * len(self.table), "max_features": 0.5}
        fixed = {"l2_regularization": float(len(self.table)), "early_stopping": False, "random_state": 0}
        return kind(max_iter=trees, **fixed, **own | more)


def laws(r: Values, bins: Values, edges: Values) -> tuple[Values, Values]:
    """Means of bins, and half their widths."""
    counts = np.maximum(np.bincount(bins, minlength=len(edges) + 1), 1)
    means = np.bincount(bins, r, len(counts)) / counts
    widths = np.diff(edges) / 2.0
    return means, np.concatenate([widths[:1], widths, widths[-1:]])


def classes(of: Copies, *, residuals: bool, bins: int, rounds: int, rate: float) -> Law:
    """Boosting that tells quantile bins of the target, or of residuals, apart."""
    r = np.broadcast_to(of.y, of.m.shape) - (of.m if residuals else 0.0)
    edges = np.unique(np.quantile(r, np.arange(1, bins) / bins))
    place = np.searchsorted(edges, r.ravel())
    columns = np.column_stack([of.flat(of.table), of.m.ravel()])
    learner = of.boosting(HistGradientBoostingClassifier, rounds, learning_rate=rate).fit(columns, place)
    means, stds = laws(r.ravel(), place, edges)

    def law(rows: Values) -> NormalMixtures:
        m = of.mean(rows)
        weights = learner.predict_proba(np.column_stack([rows, m]))
        at = means + (m[:, None] if residuals else 0.0)
        return NormalMixtures(
            weights, np.broadcast_to(at, weights.shape), np.broadcast_to(stds, weights.shape)
        )

    return law


def from_below(below: Values, ends: Values, tail: float) -> NormalMixtures:
    """From the distribution function at the ends of bins."""
    n = len(below)
    below = np.maximum.accumulate(np.clip(below, 0.0, 1.0), axis=1)
    weights = np.diff(np.hstack([np.zeros((n, 1)), below, np.ones((n, 1))]), axis=1)
    means = np.hstack([ends[:, :1] - tail, (ends[:, 1:] + ends[:, :-1]) / 2.0, ends[:, -1:] + tail])
    stds = np.hstack([np.full((n, 1), tail), np.diff(ends, axis=1) / 2.0, np.full((n, 1), tail)])
    return NormalMixtures(weights, means, stds)


def thresholds(of: Copies) -> Law:
    """One boosting of "is y - m at most u", with u, m + u and m as columns; every copy draws its own u."""
    rng = np.random.default_rng(0)
    r, m = (of.y - of.m).ravel(), of.m.ravel()
    u = np.where(rng.random(len(r)) < 0.5, rng.choice(of.y, len(r)) - m, rng.choice(r, len(r)))
    columns = np.column_stack([of.flat(of.table), u, m + u, m])
    signs = [0] * of.table.shape[2] + [1, 1, 0]
    learner = of.boosting(HistGradientBoostingClassifier, 300, monotonic_cst=signs).fit(columns, r <= u)
    core, whole = (np.quantile(v, (np.arange(20) + 0.5) / 20) for v in (r, of.y))

    def law(rows: Values) -> NormalMixtures:
        m = of.mean(rows)
        at = np.sort(np.hstack([np.broadcast_to(core, (len(rows), 20)), whole - m[:, None]]), axis=1)
        each = np.repeat(m, at.shape[1])
        asked = np.column_stack([np.repeat(rows, at.shape[1], axis=0), at.ravel(), each + at.ravel(), each])
        below = learner.predict_proba(asked)[:, 1].reshape(at.shape)
        return from_below(below, m[:, None] + at, 0.1 * of.y.std())

    return law


def quantiles(of: Copies) -> Law:
    """Seven boostings with quantile losses."""
    levels = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
    each = [of.boosting(HistGradientBoostingRegressor, of.trees, loss="quantile", quantile=q) for q in levels]
    y = np.tile(of.y, len(of.table))
    fitted = [one.fit(of.flat(of.table), y) for one in each]

    def law(rows: Values) -> NormalMixtures:
        ends = np.sort(np.stack([one.predict(rows) for one in fitted], axis=1), axis=1)
        ends = ends + 1e-3 * of.y.std() * np.arange(len(levels))
        return from_below(np.broadcast_to(levels, ends.shape), ends, 0.1 * of.y.std())

    return law


def leaves_of_the_mean(of: Copies) -> Law:
    """Weights by the leaves of a forest of the mean (Meinshausen 2006), of residuals."""
    columns, r = np.column_stack([of.flat(of.table), of.m.ravel()]), (of.y - of.m).ravel()
    forest = ExtraTreesRegressor(60, min_samples_leaf=3 * len(of.table), random_state=0)
    forest.fit(columns, np.tile(of.y, len(of.table)))
    edges = np.quantile(r, np.arange(1, 32) / 32)
    place = np.searchsorted(edges, r)
    leaf, tables = forest.apply(columns), []
    for t in range(leaf.shape[1]):
        shares = np.zeros((leaf[:, t].max() + 1, 32))
        np.add.at(shares, (leaf[:, t], place), 1.0)
        tables.append(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1.0))
    means, stds = laws(r, place, edges)

    def law(rows: Values) -> NormalMixtures:
        m = of.mean(rows)
        at = forest.apply(np.column_stack([rows, m]))
        weights = np.mean([table[at[:, t]] for t, table in enumerate(tables)], axis=0)
        return NormalMixtures(weights, m[:, None] + means, np.broadcast_to(stds, weights.shape))

    return law


CANDIDATES: dict[str, Callable[[Copies], Law]] = {
    "boosting, 24 bins of y": lambda of: classes(of, residuals=False, bins=24, rounds=30, rate=0.1),
    "boosting, 12 bins of residuals": lambda of: classes(of, residuals=True, bins=12, rounds=20, rate=0.2),
    "boosting, thresholds": thresholds,
    "boosting, 7 quantile losses": quantiles,
    "forest of the mean": leaves_of_the_mean,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--only", nargs="*")
    asked = parser.parse_args()
    tables: dict[str, Callable[[int], Table]] = {
        "two peaks": lambda n: made(n, two_peaks),
        "skewed": lambda n: made(n, skewed),
        "normal": lambda n: made(n, normal),
        "redshifts": lambda n: redshifts(asked.data, n),
    }
    n = asked.rows
    for name, table in tables.items():
        if asked.only and name not in asked.only:
            continue
        x, std, y = table(n + TESTED)
        X, new = GaussianArray(x[:n], std=std[:n]), []
        for f in (1.0, 2.0, 4.0):
            noise = np.random.default_rng(7).normal(size=x[n:].shape)
            new.append(GaussianArray(x[n:] + np.sqrt(f * f - 1.0) * std[n:] * noise, std=f * std[n:]))
        print(f"\n{name}: CRPS and CDE loss at errors x 1, 2, 4; seconds", flush=True)

        def line(who: str, seconds: float, found: list[NormalMixtures], y: Values = y[n:]) -> None:
            scores = " | ".join(f"{law.crps(y).mean():.4f} {law.cde_loss(y).mean():7.3f}" for law in found)
            print(f"{who:32} {scores} | {seconds:6.1f}", flush=True)

        start = time.perf_counter()
        plain = RemeasuredRegressor(random_state=0, n_jobs=1).fit(X, y[:n])
        seconds = time.perf_counter() - start
        trees = {"n_trees": plain.n_trees_, "n_jobs": 1}
        model = uncertain.fit(X, y[:n], method="remeasured", meaning="measurement", **trees)
        line("normal", seconds, [NormalMixtures.normal(*model.predict_distribution(rows)) for rows in new])
        start = time.perf_counter()
        dense = RemeasuredRegressor(density=True, random_state=0, n_jobs=1).fit(X, y[:n])
        seconds = time.perf_counter() - start
        line("density=True, all in all", seconds, [NormalMixtures(*dense.predict_mixture(r)) for r in new])
        of = Copies(plain, X, y[:n])
        for who, candidate in CANDIDATES.items():
            start = time.perf_counter()
            law = candidate(of)
            seconds = time.perf_counter() - start
            line(who, seconds, [law(plain.error_columns_.transform(rows)) for rows in new])


if __name__ == "__main__":
    main()
