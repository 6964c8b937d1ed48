"""Processor time of fits that once took long: AUSVC and MPSVC, EM of wide rows, probabilities, a report.

python benches/python/slow_paths.py [--report]
python benches/python/slow_paths.py --classes 100 [--exact]  # the default call, 10,000 x 400; 0 for numbers
python benches/python/slow_paths.py --wide 60 400 [--ignored 10000]  # method="gsu" on a table

Data from fixed seeds; one thread. To compare two versions, run it under both, in turn.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time
import warnings
from typing import Any

import numpy as np
import polars as pl
from timing import seconds

import uncertain
from uncertain import GaussianArray, GaussianDenoiser, GaussianDiscriminant, GSUClassifier, RobustSVC


def overlapping(n: int, d: int = 10) -> tuple[GaussianArray, Any]:
    """Classes that overlap so far that a quarter of the rows is on the wrong side."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    std = rng.uniform(0.1, 1.0, size=(n, d))
    return GaussianArray(
        rng.normal(size=(n, d)) + 0.6 * y[:, None] + std * rng.normal(size=(n, d)), std=std
    ), y


def wide(n: int, d: int, noise: float) -> tuple[GaussianArray, Any]:
    """Rows near five dimensions of d, with errors of several sizes around `noise` times the spread."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + 0.5 * rng.normal(size=(n, d))
    std = noise * np.exp(0.4 * rng.normal(size=(n, d))) * z.std()
    return GaussianArray(z + std * rng.normal(size=(n, d)), std=std), (z.sum(axis=1) > 0).astype(int)


def default_call(classes: int, *, exact: bool) -> None:
    """Processor time of all threads, and that of the clock."""
    rng, n, d = np.random.default_rng(0), 10_000, 400
    codes = np.arange(n) % max(classes, 1)
    z = rng.normal(size=(n, d)) + (0.5 * rng.normal(size=(max(classes, 1), d)))[codes]
    y, task = (codes, "classification") if classes else (z[:, 0] + 0.3 * rng.normal(size=n), "regression")
    std = np.zeros((n, d)) if exact else rng.uniform(0.1, 1.0, (n, d))
    X = GaussianArray(z + std * rng.normal(size=z.shape), std=std)
    clock, processor = time.perf_counter(), time.process_time()
    model = uncertain.fit(X, y, task=task, random_state=0)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(
        f"{n} x {d}, {classes} classes: {processor:.1f} s of processors, {clock:.1f} s; {model.leaderboard_}"
    )


def wide_table(n: int, d: int, ignored: int) -> None:
    """The processor time of `method="gsu"` on a table of d features with error columns, and of others."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    columns = {f"x{j}": rng.normal(size=n) + (j < 3) * y for j in range(d)}
    columns |= {f"x{j}_err": rng.uniform(0.1, 0.5, n) for j in range(d)}
    columns |= {f"z{j}": rng.normal(size=n) for j in range(ignored)}
    table = pl.DataFrame(columns | {"label": y.astype(str)})
    uncertain.fit(table[:, :1].with_columns(table["x0_err"], table["label"]), method="gsu")  # imports
    start = time.process_time()
    model = uncertain.fit(table, method="gsu")
    processor = time.process_time() - start
    print(f"{n} x {d}, {ignored} ignored: {processor:.2f} s of processors; {str(model).splitlines()[-1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="also a report on 80 rows of 44 features")
    parser.add_argument("--classes", type=int, help="only the default call on a wide table")
    parser.add_argument("--exact", action="store_true", help="without errors")
    parser.add_argument("--wide", type=int, nargs=2, metavar=("ROWS", "FEATURES"), help='only method="gsu"')
    parser.add_argument("--ignored", type=int, default=0, help="columns beside the features of --wide")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.wide is not None:
        wide_table(*given.wide, given.ignored)
        return
    if given.classes is not None:
        default_call(given.classes, exact=given.exact)
        return
    for n in (500, 5_000):
        X, y = overlapping(n)
        for C, method in itertools.product((1.0, 100.0), ("usvc", "ausvc", "mpsvc")):
            model = RobustSVC(C=C, method=method, n_jobs=1)
            s = seconds(functools.partial(model.fit, X, y))
            found = f"gap {model.optimality_gap_:.1e}, objective {model.objective_:.8g}"
            print(
                f"{method:6} {n} x 10, C = {C:5}: {s:8.4f} s, {model.n_iter_:4} iterations, {found}",
                flush=True,
            )
    for n, d, noise in ((64, 44, 0.1), (64, 44, 0.5), (64, 44, 2.0), (400, 44, 0.5)):
        X, y = wide(n, d, noise)
        for em in (GaussianDenoiser(n_jobs=1), GaussianDiscriminant(n_jobs=1)):
            s = seconds(functools.partial(em.fit, X, y))
            found = f"{em.n_iter_:4} passes, log-likelihood {em.log_likelihoods_[-1]:.5f}"
            print(f"{type(em).__name__:20} {n} x {d}, noise {noise}: {s:8.4f} s, {found}", flush=True)
    for d in (1, 5):
        X, y = overlapping(60_000, d)
        s = seconds(functools.partial(GSUClassifier(n_jobs=1).fit, X, y))
        p = seconds(functools.partial(GSUClassifier(probability=True, n_jobs=1).fit, X, y))
        print(f"GSUClassifier 60000 x {d}: {s:.4f} s, with probabilities {p:.4f} s", flush=True)
    if given.report:
        X, y = wide(80, 44, 0.5)
        model = uncertain.fit(X, y, method="gsu")
        s = seconds(functools.partial(model.report, X, y), repeats=1)
        print(f"report on 80 x 44: {s:.2f} s")


if __name__ == "__main__":
    main()
