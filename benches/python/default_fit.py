"""The processor time of `uncertain.fit(table, target=...)` as it is by default, `method="auto"`.

    python benches/python/default_fit.py [--rows 60 300 2000 20000] [--features 10] [--tasks classes numbers]
        [--classes 6]

User and system time of one fit of a made table with error bars, all threads together, after the imports. To
compare two versions, run it in turns with PYTHONPATH set to the `python` folder of each.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import uncertain
from uncertain import GaussianArray


def made(
    n: int, d: int, *, classes: bool, seed: int = 0, n_classes: int = 2
) -> tuple[GaussianArray, np.ndarray]:
    """Readings with errors of many sizes; a target that is bent in two features, or parts of it."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=(n, d))
    std = np.exp(random.normal(-0.7, 0.5, size=(n, d)))
    y = truth @ np.linspace(1.0, 0.1, d) + np.sin(2.0 * truth[:, 0]) + 0.5 * truth[:, 1] ** 2
    y += 0.5 * random.normal(size=n)
    rows = GaussianArray(truth + std * random.normal(size=(n, d)), std=std)
    if classes and n_classes > 2:
        return rows, np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    return rows, np.where(y > 0.5, "yes", "no") if classes else y


def main() -> None:
    """Print one line a fit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[60, 300, 2_000, 20_000])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--tasks", nargs="+", default=["classes", "numbers"])
    parser.add_argument("--classes", type=int, default=2, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for classes in (True, False):  # imports, and the memory of the first fit
        uncertain.fit(*made(40, 2, classes=classes))
    for task in given.tasks:
        for n in given.rows:
            of_classes = task == "classes"
            rows, y = made(n, given.features, classes=of_classes, seed=given.seed, n_classes=given.classes)
            start, clock = time.process_time(), time.perf_counter()
            model = uncertain.fit(rows, y, task="classification" if of_classes else "regression")
            seconds, clock = time.process_time() - start, time.perf_counter() - clock
            chosen = repr(model).partition("chosen     ")[2].partition("\n")[0]
            print(f"{task} {n} x {given.features}: {seconds:.2f} s of processor, {clock:.2f} s; {chosen}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
