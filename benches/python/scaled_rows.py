"""Scaled rows of float32 numbers: how much memory and processor time beside those of float64?

    python benches/python/scaled_rows.py [--rows 200000] [--features 50]

Diagonal rows, `GaussianScaler` and `GSUClassifier(alpha=1e-3)`, fitted in turns from float32 numbers (which
stay where they are, and are scaled as they are read) and from the same numbers widened (whose scaled rows are
new ones). Both end with the same bits. Memory: how much the peak of a process of its own grows in the fit
(Linux).
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path

import numpy as np

from uncertain import GaussianArray, GaussianScaler, GSUClassifier

TURNS = 5


def problem(n: int, d: int, dtype: type) -> tuple[GaussianArray, np.ndarray]:
    random = np.random.default_rng(0)
    means = random.normal(3.0, 2.0, (n, d)).astype(np.float32)
    stds = random.uniform(0.1, 1.0, (n, d)).astype(np.float32)
    y = (means[:, :5].sum(axis=1) + 3.0 * random.normal(size=n) > 15.0).astype(int)
    return GaussianArray(means.astype(dtype), std=stds.astype(dtype)), y


def fitted(rows: GaussianArray, y: np.ndarray) -> tuple[float, np.ndarray]:
    start = time.process_time()
    model = GSUClassifier(alpha=1e-3).fit(GaussianScaler().fit_transform(rows), y)
    return time.process_time() - start, model.coef_


def peak(n: int, d: int, dtype: type) -> float:
    """MB beside the rows."""
    rows, y = problem(n, d, dtype)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    before = resident("VmRSS")
    fitted(rows, y)
    return resident("VmHWM") - before


def resident(name: str) -> float:
    """MB by /proc."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50)
    given = parser.parse_args()
    shape = given.rows, given.features
    cases = {kind.__name__: problem(*shape, kind) for kind in (np.float32, np.float64)}
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(TURNS):
        found = {}
        for name, case in cases.items():
            own, found[name] = fitted(*case)
            seconds[name].append(own)
        np.testing.assert_array_equal(found["float32"], found["float64"])
    for kind in (np.float32, np.float64):
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            more = alone.apply(peak, (*shape, kind))
        middle = float(np.median(seconds[kind.__name__]))
        print(f"{kind.__name__}: {middle:.2f} s of the processor, {more:.0f} MB beside the rows")


if __name__ == "__main__":
    main()
