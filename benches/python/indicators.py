"""What indicators of missing values and error bars are worth: log loss of held-out objects, errors x 1, 2, 4.

    python benches/python/indicators.py [--data ../shared/data] [--folds 5] [--only TESS Kepler]
        [--method remeasured]

Tables with two arms for every quantity, as archives hand them out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import archive_tables as archive
import numpy as np
import polars as pl
from archive_tables import Table

import uncertain

FACTORS = (1.0, 2.0, 4.0)
TABLES = {"TESS": archive.tess, "Kepler": lambda folder: archive.cut(archive.kepler(folder), 3_000)}


def frame(table: Table) -> tuple[pl.DataFrame, list[str]]:
    """Columns x0, x0_err1, x0_err2, ... with nulls for what is missing; and the names of the exact ones."""
    exact = [j for j in range(table.values.shape[1]) if not np.nan_to_num(table.above[:, j]).any()]
    columns = {}
    for j, values in enumerate(table.values.T):
        columns[f"x{j}"] = values
        if j not in exact:
            columns |= {f"x{j}_err1": table.above[:, j], f"x{j}_err2": -table.below[:, j]}
    rows = pl.DataFrame(columns).with_columns(pl.all().fill_nan(None))
    return rows.with_columns(y=pl.Series(table.y), object=pl.Series(table.groups)), [f"x{j}" for j in exact]


def loss(model: uncertain.Model, table: Table) -> float:
    """Of new rows, of two classes 0 and 1."""
    p = model.predict_proba(frame(table)[0].drop("y")).to_numpy()
    return float(-np.log(np.maximum(p[np.arange(len(table)), table.y], 1e-15)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(TABLES))
    parser.add_argument("--method", default="remeasured")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.only:
        table = TABLES[name](options.data)
        for indicators in (False, True):
            losses, start = [], time.process_time()
            for train, test in table.folds()[: options.folds]:
                rows, exact = frame(table[train])
                model = uncertain.fit(
                    rows,
                    target="y",
                    groups="object",
                    exact=exact,
                    method=options.method,
                    indicators=indicators,
                )
                read = [table[test], *(table[test].worse(f, int(100 * f)) for f in FACTORS[1:])]
                losses.append([loss(model, each) for each in read])
            seconds = (time.process_time() - start) / options.folds
            shown = " ".join(f"{value:.3f}" for value in np.mean(losses, axis=0))
            print(f"{name:8} indicators={indicators!s:5} {shown}  {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
