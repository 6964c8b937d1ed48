"""How large are error bars that a table does not have? The model of sizes against some that were hidden.

    python benches/python/error_sizes.py [folder of the archives' tables]

Of every feature a quarter of the known error bars is hidden, each by itself, or all of a row. Printed are the
standard deviation of log(true size / size that stands in), a mean over features, and the mean of
(true / stand-in)^2, a median over features, which is 1 where sizes are right on average.
"""

from __future__ import annotations

import sys
from pathlib import Path

import archive_tables
import numpy as np

from uncertain._tables.size_model import SizeModel


def hidden_and_found(table: archive_tables.Table) -> None:
    """Both ways of hiding."""
    std = (table.below + table.above) / 2
    known = np.isfinite(table.values) & (std > 0.0)
    features = known.sum(axis=0) > 50
    values, std = table.values[:, features], np.where(known, std, np.nan)[:, features]
    rng, spread = np.random.default_rng(0), np.nanstd(np.log(std), axis=0).mean()
    print(f"{table.name}: {std.shape[0]:,} rows, {std.shape[1]} features; no model {spread:.2f}")
    some, rows = rng.random(std.shape) < 0.25, rng.random((len(std), 1)) < 0.25
    for way, hidden in (("some", some), ("rows", np.broadcast_to(rows, std.shape))):
        left = np.where(hidden, np.nan, std)
        ratio = np.where(hidden, std / SizeModel.learn(values, left).filled(values, left), np.nan)
        spread = np.nanstd(np.log(ratio), axis=0).mean()
        print(f"  {way} hidden: {spread:.2f}, mean square {np.median(np.nanmean(ratio**2, axis=0)):.2f}")


def main() -> None:
    """The tables with error bars of archives."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    for read in (archive_tables.tess, archive_tables.kepler, archive_tables.fermi, archive_tables.redshifts):
        hidden_and_found(read(folder))


if __name__ == "__main__":
    main()
