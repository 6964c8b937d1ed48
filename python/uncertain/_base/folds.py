"""The rows that each fold holds out.

Single rows are dealt out by scikit-learn (`KFold`, `StratifiedKFold`). Whole groups are dealt out by the core
(`group_folds`), which also makes the folds inside one fit (sigmoids of probabilities, paths of penalties)
from the `groups` that the fit is given.

A row that cannot be held out is always learned from: the only row of its class, the only group that has its
class, and rows that do not count, unless their group is held out.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from .._data.column import encoded
from .._data.groups import Groups
from .._data.typing import Ints, Labels
from .._uncertain import group_folds


class Fold(NamedTuple):
    repeat: int
    train: Ints
    test: Ints


def split(
    n: int, random: np.random.RandomState, *, folds: int, repeats: int = 1, classes: Labels | None = None,
    groups: Groups | None = None, counted: Ints | None = None,
) -> list[Fold]:  # fmt: skip
    """Every `counted` one of `n` rows is held out once in each of the repeats, rows of one group together; in
    fewer folds where there are fewer groups, in none where there is nothing to hold out."""
    counted, codes = np.arange(n) if counted is None else counted, None
    if classes is not None:
        codes = np.full(n, -1)
        codes[counted] = encoded(np.asarray(classes[counted]))[1]
    found = []
    for repeat in range(repeats):
        if groups is None:
            fold_of = _single_rows(codes, n, counted, folds, random)
        else:
            strata = np.zeros(n, dtype=np.int64) if codes is None else codes
            fold_of = _whole_groups(strata, groups, counted, folds, random)
        for k in range(folds):
            test = np.flatnonzero(fold_of == k)
            if test.size:
                found.append(Fold(repeat, np.flatnonzero(_left(fold_of, k, test, groups)), test))
    return found


def _left(fold_of: Ints, k: int, test: Ints, groups: Groups | None) -> np.ndarray:
    """Rows that fold k leaves for the fit: no row of a group that is held out, whether it counts or not."""
    left = fold_of != k
    if groups is not None:
        left &= ~np.isin(groups.codes, groups.codes[test])
    return np.asarray(left)


def _single_rows(
    codes: Ints | None, n: int, counted: Ints, folds: int, random: np.random.RandomState
) -> Ints:
    """The fold of each row, -1 for none."""
    fold_of = np.full(n, -1)
    if codes is not None:
        counts = np.bincount(codes[counted])
        counted = counted[counts[codes[counted]] > 1]
        codes = codes[counted] if counts.max(initial=0) >= folds else None
    folds = min(folds, len(counted))
    if folds < 2:
        return fold_of
    kind = KFold if codes is None else StratifiedKFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # is not in all folds
        splits = kind(folds, shuffle=True, random_state=random).split(counted, codes)
        for k, (_, test) in enumerate(splits):
            fold_of[counted[test]] = k
    return fold_of


def _whole_groups(
    codes: Ints, groups: Groups, counted: Ints, folds: int, random: np.random.RandomState
) -> Ints:
    """The fold of each row, -1 for none."""
    fold_of = np.full(len(codes), -1)
    seed = random.randint(2**31 - 1)
    some = groups.take(counted)
    present, n_groups = some.groups_per_class(codes[counted])
    several = np.isin(codes[counted], present[n_groups > 1])
    counted, some = counted[several], some.take(np.flatnonzero(several))
    # A class in fewer groups than there are folds would lessen their number for all, so such classes are
    # spread like one.
    rare = np.isin(codes, present[n_groups < folds])
    strata = np.where(rare, -1, codes)
    number = some.count
    if number < 2:
        return fold_of
    if some.take(np.flatnonzero(rare[counted])).count < folds:
        strata[rare] = strata.max()
    places = np.unique(strata[counted], return_inverse=True)[1].astype(np.uint32)
    fold_of[counted] = group_folds(places, int(places.max()) + 1, some.codes, min(folds, number), seed)
    return fold_of
