"""Rows that equal one another: the same reading listed twice.

A learner that remembers its rows would know the labels of their copies, and held-out losses would praise it
for that. So rows with the same means and covariances, whatever their targets, are one group, which is held
out whole. One pass over the means finds them, by a hash of 64 bits; covariances are looked at only where
means are equal.

Where features take few values, equal rows are different objects, and their labels are what there is to learn.
So a set of equal rows that is a large part of the table (`LARGEST_PART`) is held out row by row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.groups import Groups
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.numbers import mixed
from .._data.typing import Ints

LARGEST_PART = 1 / 20
"""A larger part of the rows that are all equal is held out row by row."""
ALWAYS_TOGETHER = 5
"""So many equal rows are held out together in any table."""
BLOCK = 4096
"""Rows that are hashed at a time."""


class Together(NamedTuple):
    """Rows of a table that are held out together."""

    groups: Groups | None
    """The caller's, or sets of equal rows; None if all rows differ."""
    n_equal: int = 0
    """Rows in sets of equal rows, without sets so large that their rows are held out apart."""


def together(rows: GaussianRows, groups: Groups | None) -> Together:
    """Groups of the caller's, or sets of equal rows."""
    if groups is not None:
        return Together(groups)
    n = len(rows)
    sets, counts = _sets(rows)
    if counts.max(initial=0) <= 1:
        return Together(None)
    apart = (counts > max(ALWAYS_TOGETHER, int(n * LARGEST_PART)))[sets]
    codes = sets.astype(np.uint32)
    codes[apart] = len(counts) + np.arange(np.count_nonzero(apart))
    return Together(Groups(codes, "set of equal rows"), int(((counts > 1)[sets] & ~apart).sum()))


def _sets(rows: GaussianRows) -> tuple[Ints, Ints]:
    """The set of equal rows that each row is in, and how many rows each set has."""
    gaussians = filled_gaussians(rows).collapse("gaussian")  # equal moments are enough of mixtures
    hashes = hashed(gaussians.means)
    if isinstance(rows, Incomplete):
        there = ~rows.missing | (np.zeros(rows.shape, bool) if rows.limits is None else rows.limits != 0)
        hashes = hashed(np.where(there, gaussians.means, 0.0))
        hashes = hashes + hashed(rows.missing.astype(np.float64), seed=1)
        if rows.limits is not None:
            hashes = hashes + hashed(rows.limits.astype(np.float64), seed=2)
    _, places, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    repeated = counts[places] > 1
    if repeated.any() and gaussians.kind not in ("zero", "shared"):
        at = np.flatnonzero(repeated)
        parts = gaussians[at]._core.parts()
        for seed, name in enumerate(sorted(parts.keys() - {"means"}), 3):
            hashes[at] += hashed(parts[name].reshape(len(at), -1), seed=seed)
    _, sets, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return sets, counts


def hashed(values: NDArray[np.float64], *, seed: int = 0) -> NDArray[np.uint64]:
    """A number of 64 bits for each row: the same in every process, and for 0 and -0."""
    marks = mixed(np.arange(1, values.shape[1] + 1, dtype=np.uint64) + np.uint64(seed << 32))
    found = np.empty(len(values), dtype=np.uint64)
    for first in range(0, len(values), BLOCK):  # what is mixed takes several times the memory of the numbers
        block = slice(first, first + BLOCK)
        bits = np.ascontiguousarray(values[block] + 0.0).view(np.uint64)
        found[block] = mixed(bits ^ marks).sum(axis=1, dtype=np.uint64)
    return found
