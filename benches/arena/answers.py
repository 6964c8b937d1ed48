"""What methods answer, and what it is worth: losses of every test row.

Of classes, probabilities; of numbers, a prediction and a density on the grid of the task, from which the
distribution function and central intervals follow. A learner without a density gets a normal one whose width
is the root mean square of residuals in three folds of whole groups of the training rows.

    log loss     -log p(y), p at least `SMALLEST`
    Brier        sum_k (p_k - [y = k])^2
    CRPS         int (F(t) - [y <= t])^2 dt
    CDE loss     int p(t)^2 dt - 2 p(y)            (Izbicki, Lee, EJS 11, 2017, doi 10.1214/17-EJS1302)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr
from sklearn.model_selection import GroupKFold

from .table import Table, Values

SMALLEST = 1e-6
"""A probability counts as this at least."""
LEVELS = (0.68, 0.95)
GRID = 1_001
"""Points of the grid of densities."""
MARGIN = 0.3
"""Of the grid beyond the smallest and the largest target, in units of their distance."""
MAIN = {True: "crps", False: "log_loss"}
"""The score that ranks, of numbers and of classes."""


@dataclass(frozen=True)
class Numbers:
    """Of n rows."""

    mean: Values
    density: Values
    """(n, len(grid))"""
    intervals: dict[float, tuple[Values, Values]] = field(default_factory=dict)
    """Lower and upper ends by coverage, where a method has its own."""


Answer: TypeAlias = Values | Numbers
"""Probabilities (n, K) of the classes of the training rows in sorted order, or numbers."""
Answering: TypeAlias = Callable[[Table, Values], Answer]
"""A fitted method: from a table and the grid."""


def grid(y: Values) -> Values:
    """Where densities are asked."""
    low, high = y.min(), y.max()
    return np.linspace(low - MARGIN * (high - low), high + MARGIN * (high - low), GRID)


def normal(mean: Values, std: Values, at: Values) -> Values:
    """The density of N(mean, std^2) as masses of the cells around the grid, over their width."""
    step = at[1] - at[0]
    edges = np.append(at - step / 2, at[-1] + step / 2)
    return np.asarray(np.diff(ndtr((edges - mean[:, None]) / np.maximum(std, 1e-9)[:, None]), axis=1) / step)


def residual_std(fit: Callable[[Table], Callable[[Table], Values]], train: Table) -> float:
    """Of rows that a learner has not seen."""
    off = np.empty(len(train))
    for some, rest in GroupKFold(3, shuffle=True, random_state=0).split(train.values, groups=train.groups):
        off[rest] = fit(train[some])(train[rest]) - train.y[rest]
    return float(np.sqrt(np.mean(off**2)))


def losses(answer: Answer, train: Table, test: Table, at: Values) -> dict[str, Values]:
    """Each score of each row."""
    if isinstance(answer, Numbers):
        return _of_numbers(answer, test.y, at)
    classes = np.unique(train.y)
    found = np.searchsorted(classes, test.y)
    known = np.isin(test.y, classes)
    truth = (np.arange(len(classes)) == found[:, None]) & known[:, None]
    given = np.where(truth, answer, 0.0).sum(axis=1)
    return {
        "log_loss": -np.log(np.maximum(given, SMALLEST)),
        "accuracy": (answer.argmax(axis=1) == found) & known,
        "brier": ((answer - truth) ** 2).sum(axis=1) + ~known,
    }


def _of_numbers(answer: Numbers, y: Values, at: Values) -> dict[str, Values]:
    step = at[1] - at[0]
    density = np.maximum(answer.density, 0.0)
    mass = density.sum(axis=1, keepdims=True) * step
    density = density / np.where(mass > 0, mass, 1.0)
    # F in the middle of a cell: half of the cell's mass lies below.
    below = (np.cumsum(density, axis=1) - density / 2) * step
    found = {
        "squared_error": (answer.mean - y) ** 2,
        "crps": ((below - (at >= y[:, None])) ** 2).sum(axis=1) * step,
        "cde_loss": (density**2).sum(axis=1) * step - 2 * density[np.arange(len(y)), _cell(y, at)],
    }
    for level in LEVELS:
        low, high = answer.intervals.get(level) or (
            at[np.minimum((below < share).sum(axis=1), len(at) - 1)]
            for share in ((1 - level) / 2, (1 + level) / 2)
        )
        found[f"within_{100 * level:.0f}"] = (low <= y) & (y <= high)
        found[f"width_{100 * level:.0f}"] = np.minimum(high, at[-1]) - np.maximum(low, at[0])
    return found


def _cell(y: Values, at: Values) -> np.ndarray:
    return np.clip(np.rint((y - at[0]) / (at[1] - at[0])), 0, len(at) - 1).astype(int)
