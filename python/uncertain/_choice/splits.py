"""Which rows a choice holds out, and with errors of which sizes they are read again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.folds import Fold
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints, Labels
from .._held_out.engine import allows_readings, hold_out, labelled
from .._rows.training import TrainingRows
from .candidates import Request

ENOUGH_ROWS = 20
"""With fewer rows nothing is held out."""
FACTORS = (1.0, 2.0, 4.0, 8.0)
AS_THEY_ARE = 3.0
"""How often readings with errors as they are count."""
LEAST_OF_CLASS = 20
"""Rows, or groups, of each class in a sample, if there are so many."""


def folds_of(
    request: Request, training: TrainingRows, random: np.random.RandomState, *, grouped: bool
) -> Sequence[Fold]:
    """Five folds of few rows, three of more, and one third of many, once; with more effort repeats.

    `grouped`: did the caller say the groups? There are none of too few rows or groups.
    """
    counted = np.flatnonzero(labelled(training))
    n = len(counted)
    groups = None if training.groups is None else training.groups.take(counted).count
    if min(n, 4 * groups if groups is not None and grouped else n) < ENOUGH_ROWS:
        return []
    folds, used, repeats = plan(n, thorough=request.effort == "high")
    folds = folds if groups is None else min(folds, groups)
    splits = hold_out(training, random, folds=folds, repeats=repeats, regression=request.regression)
    return splits if repeats > 1 else splits[:used]


def sizes_of_errors(request: Request, raw: GaussianRows) -> tuple[tuple[float, ...], Floats]:
    """Factors of the errors that candidates answer for, and how much each counts."""
    if request.meaning == "spread" or not allows_readings(raw):
        return (1.0,), np.ones(1)
    if request.noise is None:
        counts = np.where(np.array(FACTORS) == 1.0, AS_THEY_ARE, 1.0)
        return FACTORS, counts / counts.sum()
    low, high = request.noise
    inside = sorted({low, high, *(f for f in FACTORS if low <= f <= high)})
    factors = (1.0, *(f for f in inside if f != 1.0))
    counts = np.array([1.0 if low <= f <= high else 0.0 for f in factors])
    return factors, counts / counts.sum()


def plan(n: int, *, thorough: bool) -> tuple[int, int, int]:
    """(folds, of which so many are used, repeats) for `n` rows."""
    if thorough:
        return (5, 5, 3) if n < 200 else (5, 5, 2) if n < 1_000 else (5, 5, 1) if n <= 6_000 else (3, 3, 1)
    return (5, 5, 1) if n < 1_000 else (3, 3, 1) if n <= 3_000 else (3, 1, 1)


def sample(training: TrainingRows, classes: Labels | None, most: int, random: np.random.RandomState) -> Ints:
    """Numbers of about so many rows: of every class the same share, but a few of each; whole groups."""
    n = len(training)
    if n <= most:
        return np.arange(n)
    if training.groups is None:
        members: Ints = np.arange(n)
        sizes = np.ones(n, dtype=np.int64)
    else:
        _, members, sizes = np.unique(training.groups.codes, return_inverse=True, return_counts=True)
    codes = np.zeros(n, dtype=np.int64) if classes is None else np.unique(classes, return_inverse=True)[1]
    class_of_group = np.empty(len(sizes), dtype=np.int64)
    class_of_group[members] = codes  # of a group of several classes that of its last row
    kept = []
    for code in range(int(codes.max()) + 1):
        groups = random.permutation(np.flatnonzero(class_of_group == code))
        share = round(sizes[groups].sum() * most / n)
        taken = np.cumsum(sizes[groups]) <= share
        taken[:LEAST_OF_CLASS] = True
        kept.append(groups[taken])
    return np.flatnonzero(np.isin(members, np.concatenate(kept)))
