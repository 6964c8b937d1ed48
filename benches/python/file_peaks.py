"""The peak of memory of `uncertain.fit(path)` in units of the table's numbers: one Parquet file, and eight.

    python benches/python/file_peaks.py [--rows 4000000] [--folder FOLDER]

Numbers are 10 values and 10 error bars in float32 or float64, and labels of 8 bytes; in brackets without.
Each fit is a process of its own, which has fitted 2,000 rows before; anonymous memory is counted. With
``meaning="spread"``: readings are denoised, and their posteriors are matrices, many times as large.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from larger_than_memory import measured

import uncertain

FEATURES = 10
FILES = 8


def write(folder: Path, n: int, dtype: type[np.floating]) -> None:
    """`FILES` files of n rows together, the same in one, and a small one."""
    rng = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {}
    for j in range(FEATURES):
        columns[f"x{j}"] = rng.normal(size=n).astype(dtype)
        columns[f"x{j}_err"] = rng.uniform(0.1, 0.5, n).astype(dtype)
    frame = pl.DataFrame(columns).with_columns(
        label=pl.Series(np.where(columns["x0"] + rng.normal(size=n) > 0, 1, 0))
    )
    (folder / "many").mkdir()
    for k in range(FILES):
        frame[k * n // FILES : (k + 1) * n // FILES].write_parquet(folder / "many" / f"{k}.parquet")
    frame.write_parquet(folder / "one.parquet")
    frame[:2_000].write_parquet(folder / "small.parquet")


def one(small: str, path: str) -> None:
    """The peak of a fit in MB."""
    options: dict[str, Any] = {"target": "label", "method": "gsu", "meaning": "spread"}
    uncertain.fit(small, **options)
    _, _, peak = measured(lambda: uncertain.fit(path, **options))
    print(peak)


def main() -> None:
    """One line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--folder", help="where the tables are written")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    for dtype in (np.float32, np.float64):
        with tempfile.TemporaryDirectory(dir=given.folder) as name:
            folder = Path(name)
            write(folder, given.rows, dtype)
            values = given.rows * 2 * FEATURES * np.dtype(dtype).itemsize / (1 << 20)
            labels = given.rows * 8 / (1 << 20)
            for what, path in (("one file", folder / "one.parquet"), (f"{FILES} files", folder / "many")):
                command = [sys.executable, __file__, "--one", str(folder / "small.parquet"), str(path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                peak = float(done.stdout)
                print(
                    f"{dtype.__name__}, {what}: {peak:.0f} MB, {peak / (values + labels):.2f} "
                    f"({peak / values:.2f}) times the numbers",
                    flush=True,
                )


if __name__ == "__main__":
    main()
