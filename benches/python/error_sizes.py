"""How large are error bars that a table does not have? The model of sizes against some that were hidden.

    python benches/python/error_sizes.py [folder of the archives' tables]

Of every feature a quarter of the known error bars is hidden: all of a row, so that only the value is left, or
each by itself. Printed is the standard deviation of log(true size / estimate), a mean over features.
"""

from __future__ import annotations

import sys
from pathlib import Path

import archive_tables
import numpy as np

from uncertain._tables.size_model import SizeModel


def hidden_and_found(table: archive_tables.Table) -> None:
    """A row of the table: both ways of hiding."""
    std = (table.below + table.above) / 2
    known = np.isfinite(table.values) & (std > 0.0)
    features = known.sum(axis=0) > 50
    values, std = table.values[:, features], np.where(known, std, np.nan)[:, features]
    rng, spread = np.random.default_rng(0), np.nanstd(np.log(std), axis=0).mean()
    some, rows = rng.random(std.shape) < 0.25, rng.random((len(std), 1)) < 0.25
    spreads = [spread]
    for hidden in (np.broadcast_to(rows, std.shape), some):
        left = np.where(hidden, np.nan, std)
        ratio = np.where(hidden, std / SizeModel.learn(values, left).filled(values, left), np.nan)
        spreads.append(np.nanstd(np.log(ratio), axis=0).mean())
    print(f"| {table.name} | {' | '.join(f'{spread:.2f}' for spread in spreads)} |", flush=True)


def main() -> None:
    """The tables with error bars of archives."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    print(
        "| table | no model | from the value | and from other error bars of the row |\n|---|---:|---:|---:|"
    )
    for read in (archive_tables.tess, archive_tables.kepler, archive_tables.fermi, archive_tables.redshifts):
        hidden_and_found(read(folder))


if __name__ == "__main__":
    main()
