"""The rows that each fold of a choice holds out, and how often: the same for every member.

The number of folds depends on the number of rows, never on the clock, so that a choice repeats itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints, Labels
from .._tables.groups import Groups
from ..preprocessing._readings import Readings, TruthOfClasses, TruthOfTargets

FEW, SOME, MANY = 200, 1_500, 6_000
"""Rows below which a thorough choice has three repeats, up to which there are five folds, and up to which
three; beyond, a third is held out once."""
SIZES = 3
"""Sizes of errors, from the smallest to the largest of a range."""

COMPONENTS = 5
"""Gaussians of the true values, for smaller errors."""


@dataclass(frozen=True)
class Fold:
    """One split, and the rows held out as read with each of the sizes of errors."""

    repeat: int
    train: Ints
    test: Ints
    read: tuple[GaussianRows, ...]


def plan(n: int, *, thorough: bool) -> tuple[int, int, int]:
    """(folds, of which so many are used, repeats) for `n` rows."""
    if thorough:
        return (5, 5, 3) if n < FEW else (5, 5, 2) if n <= SOME else (5, 5, 1) if n <= MANY else (3, 3, 1)
    return (5, 5, 1) if n <= SOME else (3, 3, 1) if n <= MANY else (3, 1, 1)


def dealt(
    classes: Labels | None,
    groups: Groups | None,
    counted: Ints,
    n: int,
    *,
    folds: int,
    repeats: int,
    random: np.random.RandomState,
) -> list[tuple[int, Ints, Ints]]:
    """(repeat, train, test): every `counted` row is held out once in a repeat, but the only one of its class.

    Rows of one group are held out together; classes are spread evenly.
    """
    found = []
    for repeat in range(repeats):
        if groups is None:
            fold_of = _by_class(classes, counted, n, folds, random)
        else:
            fold_of = np.full(n, -1)
            some = groups.take(counted)
            of_counted = None if classes is None else classes[counted]
            for k, (_, test) in enumerate(some.splits(folds, 1, random.randint(2**31 - 1), of_counted)):
                fold_of[counted[test]] = k
            # Rows that do not count share the fate of their group.
            fold_of[~np.isin(np.arange(n), counted) & np.isin(groups.codes, some.codes)] = -2
        for k in range(folds):
            test = np.flatnonzero(fold_of == k)
            if test.size:
                train = fold_of != k
                if groups is not None:
                    train &= ~np.isin(groups.codes, groups.codes[test])
                found.append((repeat, np.flatnonzero(train), test))
    return found


def _by_class(
    classes: Labels | None, counted: Ints, n: int, folds: int, random: np.random.RandomState
) -> Ints:
    """The fold of each row, -1 for none: rows of a class are dealt in turn, from where the last ended."""
    fold_of, turn = np.full(n, -1), 0
    codes = np.zeros(n, dtype=np.int64) if classes is None else np.unique(classes, return_inverse=True)[1]
    for code in range(int(codes.max()) + 1):
        own = random.permutation(counted[codes[counted] == code])
        if own.size > 1:
            fold_of[own] = (turn + np.arange(own.size)) % folds
            turn += own.size
    return fold_of


def sizes_of(noise: tuple[float, float] | None) -> Floats:
    """The sizes of errors that are judged by, in units of today's."""
    if noise is None or noise[0] == noise[1] == 1.0:
        return np.ones(1)
    return np.geomspace(*noise, SIZES) if noise[0] < noise[1] else np.array([noise[0]], dtype=np.float64)


def read_again(
    rows: GaussianRows,
    sizes: Floats,
    y: Labels,
    regression: bool,
    weights: Floats | None,
    random: np.random.RandomState,
) -> tuple[GaussianRows, ...]:
    """All rows as they would have been read with each of the sizes of errors."""
    if np.array_equal(sizes, [1.0]):
        return (rows,)
    truth: GaussianArray | None = None
    if sizes.min() < 1.0:
        known: Any = y if regression else np.unique(y, return_inverse=True)[1]
        kind = TruthOfTargets if regression else TruthOfClasses
        truth = kind(rows, known, weights, COMPONENTS, random).posterior(rows, known)
    readings = Readings(rows, random, truth)
    return tuple(
        rows if size == 1.0 else readings.again(np.full(rows.shape, size)) for size in sizes.tolist()
    )
