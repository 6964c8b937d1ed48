"""Seconds and anonymous memory of fits to large tables: in memory, in parts, and from a mapped file.

    python benches/python/larger_than_memory.py --rows 5000000 --memory 500MB
    python benches/python/larger_than_memory.py --rows 50000000 --memory 2GB --only file

A table of n x (10 + 10) numbers (`--dtype`) and labels is written as Parquet (zstd, row groups of 2^20
rows) and removed at the end. Every line is a process of its own. "peak" is the largest RssAnon (what would
have to be swapped; pages of mapped files are not in it) above that before the call, looked at every 5 ms.
"passes" are the solver's, each over all bytes of the mapped rows; NumPy's sum over the same mapping stands
beside them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FEATURES = 10


def written(path: Path, n: int, dtype: str) -> None:
    """The table, in parts."""
    import pyarrow
    import pyarrow.parquet

    rng, writer = np.random.default_rng(0), None
    w = rng.standard_normal(FEATURES)
    for first in range(0, n, 1 << 20):
        m = min(1 << 20, n - first)
        x, s = rng.standard_normal((m, FEATURES)), rng.uniform(0.1, 1.0, (m, FEATURES))
        y = (x @ w + 0.5 * rng.standard_normal(m) > 0).astype(np.int64)
        x = (x + s * rng.standard_normal((m, FEATURES))).astype(dtype)
        s = s.astype(dtype)
        columns = {f"x{j}": x[:, j] for j in range(FEATURES)} | {
            f"x{j}_err": s[:, j] for j in range(FEATURES)
        }
        part = pyarrow.table(columns | {"label": y})
        writer = writer or pyarrow.parquet.ParquetWriter(path, part.schema, compression="zstd")
        writer.write_table(part)
    if writer is not None:
        writer.close()


def anonymous() -> int:
    """Bytes of anonymous memory."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


def measured(call: Callable[[], Any]) -> tuple[Any, float, float, float]:
    """What it returns, seconds, those of the processor, and the peak of anonymous memory above the old."""
    start, peak, done = anonymous(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], anonymous())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    begun, worked = time.perf_counter(), time.process_time()
    found = call()
    seconds, worked = time.perf_counter() - begun, time.process_time() - worked
    done.set()
    thread.join()
    return found, seconds, worked, max(peak[0] - start, 0) / (1 << 20)


def one(path: str, source: str, arguments: dict[str, Any]) -> None:
    """One fit, and predictions of the same table."""
    import polars

    import uncertain
    from uncertain._rows.rows import Rows

    importlib.import_module("uncertain._model.fit")  # as a first call would

    mapped: dict[str, Any] = {}
    fit_steps = Rows.fit_steps

    def timed(store: Rows, pipeline: Any) -> Any:
        begun = time.perf_counter()
        bytes_ = sum(part._core.row_bytes * len(part) for part in store.parts)
        views = [
            view for part in store.parts for view in part._core.fields().values()
        ]  # means would be copied
        read = time.perf_counter()
        for view in views:
            view.sum()
        summed = sum(view.nbytes for view in views)
        mapped["numpy pass, GB/s"] = round(summed / (time.perf_counter() - read) / 1e9, 2)
        last = pipeline[-1]
        fit = last.fit

        def inner(*a: Any, **k: Any) -> Any:
            start = time.perf_counter()
            fit(*a, **k)
            seconds = time.perf_counter() - start
            mapped.update(passes=last.n_iter_, estimator=round(seconds, 1), GB=round(bytes_ / 1e9, 2))
            mapped["passes, GB/s"] = round(bytes_ * (last.n_iter_ + 1) / seconds / 1e9, 2)
            return last

        last.fit = inner
        mapped["reading"] = round(begun - mapped.pop("begun"), 1)
        return fit_steps(store, pipeline)

    if "memory" in arguments:
        Rows.fit_steps = timed  # type: ignore[method-assign]
    table: Any = polars.read_parquet(path) if source == "frame" else path
    mapped["begun"] = time.perf_counter()
    model, seconds, worked, peak = measured(lambda: uncertain.fit(table, "label", **arguments))
    mapped.pop("begun", None)
    last = model.pipeline_[-1]
    last.__dict__.pop("fit", None)
    said = f"{source:6} {json.dumps(arguments)}\n  fit {seconds:.1f} s ({worked:.1f} of the processor)"
    said += f", peak {peak:.0f} MB"
    print(said, f"gap {getattr(last, 'optimality_gap_', float('nan')):.1g}", mapped or "", flush=True)
    _, seconds, worked, peak = measured(lambda: model.predict(table))
    print(f"  predict {seconds:.1f} s ({worked:.1f} of the processor), peak {peak:.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--folder", help="where the table is written, on a local disk")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--only", choices=("memory", "file"))
    parser.add_argument("--meaning", choices=("spread", "measurement"), default="spread")
    parser.add_argument("--probability", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one[0], asked.one[1], json.loads(asked.one[2]))
        return
    known = {"method": "gsu", "meaning": asked.meaning, "probability": asked.probability}
    cases = [("path", known), ("frame", known)] if asked.only != "file" else []
    cases += [("path", known | {"memory": asked.memory})] if asked.only != "memory" else []
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        path = Path(folder) / "table.parquet"
        written(path, asked.rows, asked.dtype)
        bytes_ = asked.rows * (2 * FEATURES * np.dtype(asked.dtype).itemsize + 8)
        print(
            f"{asked.rows:,} x (10 + 10): {bytes_ >> 20} MB of numbers, file {path.stat().st_size >> 20} MB"
        )
        for source, arguments in cases:
            subprocess.run(
                [sys.executable, __file__, "--one", str(path), source, json.dumps(arguments)], check=True
            )


if __name__ == "__main__":
    main()
