"""The default learner of re-measured rows: log loss (RMSE for numbers) of held-out objects, errors x 1, 2, 4.

    python benches/python/remeasured_rules.py [--data ../shared/data] [--folds 5] [--only TESS Fermi ...]
        [--parameters "n_copies=4"] [--learners re-measured copies uncertain.fit] [--flags]

"copies" is what a user writes in eight lines: values and error columns, copies of the rows at errors x 1,
1.5, 2, 3, 4, scikit-learn's boosting with its defaults.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import archive_tables as archive
import numpy as np
import polars as pl
from archive_tables import Table, Values
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import uncertain
from uncertain import RemeasuredClassifier, RemeasuredRegressor

FACTORS = (1.0, 2.0, 4.0)


def airfoil(folder: Path) -> Table:
    frame = pl.read_parquet(folder / "airfoil_self_noise.parquet").cast(pl.Float64)
    numbers = frame.to_numpy()
    return archive.read("airfoil", numbers[:, :-1], numbers[:, -1], 0.2, regression=True)


TABLES: dict[str, Callable[[Path], Table]] = {
    "TESS": archive.tess,
    "TESS, six classes": archive.six,
    "Fermi": archive.fermi,
    "Kepler": archive.kepler,
    "Kepler, 200 rows": lambda folder: archive.cut(archive.kepler(folder), 200),
    "ranges of redshift": lambda folder: archive.cut(archive.ranges(folder), 5_000),
    "redshifts": lambda folder: archive.cut(archive.redshifts(folder), 5_000),
    "biopsies, 64 rows": lambda folder: archive.cut(archive.wdbc(folder), 64),
    "wine": lambda _: archive.read("wine", *load_wine(return_X_y=True), 0.5, regression=False),
    "diabetes": lambda _: archive.read("diabetes", *load_diabetes(return_X_y=True), 0.4, regression=True),
    "airfoil": airfoil,
    "one row in 500": lambda _: archive.noise(3_000, gaps=False, rare=500),
    **{
        f"noise, {n:,} rows{', gaps' if gaps else ''}": lambda _, n=n, gaps=gaps: archive.noise(n, gaps=gaps)  # type: ignore[misc]
        for n in (60, 300, 3_000)
        for gaps in (False, True)
    },
}  # fmt: skip


def remeasured(train: Table, **parameters: Any) -> Callable[[Table], tuple[Any, Any]]:
    """Ours: what answers for a table."""
    kind = RemeasuredRegressor if train.regression else RemeasuredClassifier
    model: Any = kind(random_state=0, **parameters).fit(train.rows(), train.y, groups=train.groups)
    return lambda test: (model, test.rows(train))


def default(train: Table) -> Callable[[Table], tuple[Any, Any]]:
    """What `uncertain.fit` chooses."""
    model = uncertain.fit(train.rows(), train.y, groups=train.groups)
    return lambda test: (model, test.rows(train))


def copies(train: Table) -> Callable[[Table], tuple[Any, Any]]:
    """Eight lines of NumPy."""
    tables = [train, *(train.worse(factor, seed) for seed, factor in enumerate((1.5, 2.0, 3.0, 4.0)))]
    columns = np.vstack([_columns(table) for table in tables])
    kind = HistGradientBoostingRegressor if train.regression else HistGradientBoostingClassifier
    model: Any = kind(random_state=0).fit(columns, np.tile(train.y, len(tables)))
    return lambda test: (model, _columns(test))


def _columns(table: Table) -> Values:
    return np.hstack([table.values, table.below, table.above])


def score(model: Any, rows: Any, table: Table) -> tuple[float, float]:
    """Mean loss and share of right answers."""
    if table.regression:
        return float(np.mean((model.predict(rows) - table.y) ** 2)), np.nan
    place = np.searchsorted(model.classes_, table.y)
    p = model.predict_proba(rows)
    return float(-np.log(np.maximum(p[np.arange(len(place)), place], 1e-15)).mean()), float(
        np.mean(p.argmax(axis=1) == place)
    )


def lines(arguments: argparse.Namespace) -> Iterator[str]:
    parameters = eval(f"dict({arguments.parameters})")
    fits = {
        "re-measured": lambda one: remeasured(one, **parameters),
        "copies": copies,
        "uncertain.fit": default,
    }
    for name, load in TABLES.items():
        if arguments.only and name not in arguments.only:
            continue
        table = load(arguments.data)
        table = table.flagged() if arguments.flags else table
        for label in arguments.learners:
            start, results = time.process_time(), []
            for train, test in table.folds()[: arguments.folds]:
                one, other = table[train], table[test]
                answer = fits[label](one)
                read = [other, *(other.worse(factor, int(100 * factor)) for factor in FACTORS[1:])]
                results.append([score(*answer(each), each) for each in read])
            seconds = (time.process_time() - start) / len(results)
            losses, right = np.moveaxis(np.mean(results, axis=0), 1, 0)
            losses = np.sqrt(losses) if table.regression else losses
            shares = "" if table.regression else " ".join(f"{100 * share:.1f}" for share in right)
            yield f"| {name} | {label} | {' '.join(f'{x:.3f}' for x in losses)} | {shares} | {seconds:.1f} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--learners", nargs="*", default=["re-measured", "copies"])
    parser.add_argument("--flags", action="store_true", help="columns that say which error bars are missing")
    parser.add_argument("--parameters", default="", help="of the re-measured estimator")
    print("| table | learner | loss, errors x 1, 2, 4 | % right | s per fit |\n|---|---|---|---|---:|")
    with threadpool_limits(1, "openmp"):
        for text in lines(parser.parse_args()):
            print(text, flush=True)
