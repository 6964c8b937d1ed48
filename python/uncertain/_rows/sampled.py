"""A sample of rows by a hash of their numbers: the same whatever the batches, threads or the order of groups.

Of n rows about `most` are taken, each with the chance most / n; with groups whole groups, each with that
chance.
"""

from __future__ import annotations

import numpy as np

from .._data.mixing import uniform
from .._data.typing import Codes, Ints

REMEMBERED_ROWS = 200_000
"""Rows on which a model measures, after the fit, how large errors are and how far held-out targets lie."""
CHOSEN_ROWS = 20_000
"""Rows on which `method="auto"` chooses."""
BLOCK = 1 << 20


def sampled(n_rows: int, most: int, groups: Codes | None = None) -> Ints:
    """The numbers of the rows in the sample; all of them, if there are no more than `most`."""
    if n_rows <= most:
        return np.arange(n_rows)
    found = []
    for first in range(0, n_rows, BLOCK):
        stop = min(first + BLOCK, n_rows)
        keys = np.arange(first, stop, dtype=np.uint64) if groups is None else groups[first:stop]
        found.append(first + np.flatnonzero(uniform(keys.astype(np.uint64)) < most / n_rows))
    return np.concatenate(found)
