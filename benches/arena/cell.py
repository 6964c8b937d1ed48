"""One method on one split of one task: losses at every size of errors, in blocks of whole groups.

A block's sums are kept, so that means, their standard errors and paired differences of methods follow:

    mean = sum_b s_b / sum_b n_b,    se^2 = B / (B - 1) sum_b (s_b - mean n_b)^2 / (sum_b n_b)^2
"""

from __future__ import annotations

import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .answers import GRID, MARGIN, losses
from .method import Method
from .table import Table, Values
from .task import FACTORS, HALF, Task

BLOCKS = 20
"""Of the test rows of a split."""
MEBIBYTE = 1 << 20


def measured(task: Task, method: Method, k: int, folder: Path, most: int | None) -> dict[str, Any]:
    """Seconds of the processor, megabytes above those of the tables, and sums of losses per block."""
    warnings.simplefilter("ignore")
    train, test = task.split(folder, k, most=most)
    if not method.takes(task, regression=train.regression):
        return {"skipped": True}
    at = grid(train, test) if train.regression else np.empty(0)
    before = _peak()
    with threadpool_limits(1):
        start = time.process_time()
        answer = method.fit(train)
        fitted = time.process_time()
        answer(test, at)
        predicted = time.process_time()
        found = {}
        for factor in (*((HALF,) if test.truth is not None else ()), *FACTORS):
            read = test.worse(factor, seed=round(100 * factor))
            found[f"{factor:g}"] = _blocks(losses(answer(read, at), train, read, at), test)
    return {
        "regression": train.regression,
        "rows": [len(train), len(test)],
        "fit": fitted - start,
        "predict": (predicted - fitted) / len(test),
        "memory": max(_peak() - before, 0) / MEBIBYTE,
        "sums": found,
    }


def grid(train: Table, test: Table) -> Values:
    """The grid of densities."""
    y = np.concatenate([train.y, test.y])
    margin = MARGIN * (y.max() - y.min())
    return np.linspace(y.min() - margin, y.max() + margin, GRID)


def _blocks(found: dict[str, Values], test: Table) -> dict[str, list[float]]:
    """Sums over blocks, with the numbers of their rows under "n"."""
    _, codes = np.unique(test.groups, return_inverse=True)
    block = np.random.default_rng(1).permutation(codes.max() + 1)[codes] % BLOCKS
    sums = {name: np.bincount(block, np.asarray(loss, float), BLOCKS) for name, loss in found.items()}
    sums["n"] = np.bincount(block, minlength=BLOCKS)
    return {name: one.tolist() for name, one in sums.items()}


def mean(sums: Values, n: Values) -> tuple[float, float]:
    """Of losses, or of differences of two methods on the same rows, and its standard error."""
    value = sums.sum() / n.sum()
    used = int((n > 0).sum())
    off = sums - value * n
    return float(value), float(np.sqrt(used / max(used - 1, 1) * (off**2).sum()) / n.sum())


def _peak() -> int:
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
