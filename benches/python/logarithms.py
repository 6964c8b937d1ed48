"""`uncertain.fit` with and without logarithms: held-out log loss (RMSE of numbers) at errors x 1, 2, 4.

    python benches/python/logarithms.py [--data ../shared/data] [--folds 1] [--only TESS Kepler ...]

Beside it the best held-out score of each method in the choice, where logarithms matter: trees hardly notice.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import archive_tables as archive
import numpy as np
import polars as pl
from archive_tables import Table

import uncertain

FACTORS = (1.0, 2.0, 4.0)


def stars(_: Path) -> Table:
    """Temperatures from fluxes over decades, simulated."""
    rng = np.random.default_rng(0)
    n = 900
    temperature = rng.normal(5500.0, 900.0, n)
    distance = rng.normal(2.0, 0.8, n)
    colours = np.array([0.9, 0.5, 0.2, 0.0, -0.1])
    log_flux = 6.0 - distance[:, None] + colours * np.log10(temperature / 5500.0)[:, None] * 8.0
    log_flux += 0.02 * rng.normal(size=log_flux.shape)
    std = 10.0**log_flux * rng.lognormal(np.log(0.05), 0.5, log_flux.shape)
    values = 10.0**log_flux + std * rng.normal(size=std.shape)
    return Table("stars", values, std, std, temperature, np.arange(n), True)


TABLES: dict[str, Callable[[Path], Table]] = {
    "TESS": archive.tess,
    "Fermi": archive.fermi,
    "Kepler": lambda folder: archive.cut(archive.kepler(folder), 3_000),
    "biopsies": archive.wdbc,
    "redshifts": lambda folder: archive.cut(archive.redshifts(folder), 2_000),
    "stars": stars,
}


def frame(table: Table) -> tuple[pl.DataFrame, list[str]]:
    """Columns x0, x0_std, ... with NaN for what is missing; and the names of the exact ones."""
    std = (table.below + table.above) / 2
    exact = [j for j in range(std.shape[1]) if not np.nan_to_num(std[:, j]).any()]
    columns = {f"x{j}": values for j, values in enumerate(table.values.T)}
    columns |= {f"x{j}_std": s for j, s in enumerate(std.T) if j not in exact}
    return pl.DataFrame(columns | {"y": table.y, "object": table.groups}), [f"x{j}" for j in exact]


def loss(model: uncertain.Model, table: Table) -> float:
    """Of new rows."""
    rows = frame(table)[0].drop("y")
    if table.regression:
        return float(np.sqrt(np.mean((np.asarray(model.predict(rows)) - table.y) ** 2)))
    probabilities = model.predict_proba(rows).to_numpy()
    return float(
        -np.mean(np.log(probabilities[np.arange(len(table)), np.unique(table.y, return_inverse=True)[1]]))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folds", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(TABLES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.only:
        table = TABLES[name](options.data)
        for transform in ("auto", None):
            losses, methods, start = [], {}, time.process_time()
            for train, test in table.folds()[: options.folds]:
                rows, exact = frame(table[train])
                model = uncertain.fit(rows, target="y", groups="object", exact=exact, transform=transform)
                losses.append([loss(model, table[test].worse(factor, seed=1)) for factor in FACTORS])
                board = model.leaderboard_.filter(pl.col("score").is_not_null() & (pl.col("note") == ""))
                for method, score in board.group_by("method").agg(pl.col("score").min()).rows():
                    methods.setdefault(method, []).append(score)
            seconds = (time.process_time() - start) / options.folds
            shown = " ".join(f"{value:.4g}" for value in np.mean(losses, axis=0))
            best = ", ".join(f"{method} {np.mean(own):.4g}" for method, own in sorted(methods.items()))
            print(f"{name:10} transform={transform!s:5} {shown}  {seconds:.0f} s  [{best}]", flush=True)


if __name__ == "__main__":
    main()
