"""Numeric columns without error bars, which a fit leaves out unless the caller takes them.

They may be measured exactly, but also identifiers, flags that were set once the answer was known, or the
answer itself. Those that may be features are read, so that a choice can say what they would gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._columns import Columns
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Labels
from .._tables.source import Source
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians

SURE = 0.999
"""Rank correlation with the target, or the share of rows of the class that a value belongs to, from which a
column is taken for the target in another form."""
SIXTEEN_DIGITS = 2.0**53
REPEATED = 5
"""Mean number of rows of each value from which a column is looked at as a list of codes."""


class LeftAlone(NamedTuple):
    """Columns that may be features."""

    names: tuple[str, ...]
    rows: GaussianRows
    """Exact, with gaps where values are missing."""
    all_of_them: bool
    """Are they all columns that the caller would take by ``exact="all"``?"""


def read_left_alone(source: Source, names: Sequence[str], y: Labels, on_missing: str) -> LeftAlone | None:
    """Of these columns those that are neither identifiers nor the target in another form; None if none is."""
    table = source.table
    if table is None:
        return None
    kept = []
    for name in names:
        (values,) = table.series([name])
        numbers = values.cast(float, strict=False).fill_null(np.nan).to_numpy()
        if not (is_identifier(numbers) or is_target(numbers, y)) and np.isfinite(numbers).any():
            kept.append(name)
    if not kept:
        return None
    try:
        reading = AsGaussians(columns=Columns(features=(), exact=tuple(kept)), on_missing=on_missing)
        rows = reading.fit_transform(source.rows)
    except UncertainError:  # a column that cannot be read alone
        return None
    return LeftAlone(tuple(kept), rows, len(kept) == len(names))


def is_identifier(values: Floats) -> bool:
    """Whole numbers that are all different, and consecutive or far apart; or one value in all rows."""
    known = values[np.isfinite(values)]
    distinct = np.unique(known)
    if len(distinct) <= 1:
        return True
    if len(distinct) < len(known) or (known != np.round(known)).any():
        return False
    span = float(distinct[-1] - distinct[0])
    return span == len(known) - 1 or span > SIXTEEN_DIGITS or span > 1e3 * len(known)


def is_target(values: Floats, y: Labels) -> bool:
    """Does the column alone tell the target?"""
    known = np.isfinite(values)
    values, truth = values[known], y[known]
    if len(values) < REPEATED:
        return False
    if truth.dtype.kind == "f":
        ranks = [np.unique(each, return_inverse=True)[1] for each in (values, truth)]
        return abs(float(np.corrcoef(ranks[0], ranks[1])[0, 1])) > SURE
    codes = np.unique(truth.astype(str), return_inverse=True)[1]
    distinct, places = np.unique(values, return_inverse=True)
    if len(distinct) * REPEATED <= len(values):  # codes: of each the most frequent class
        counts = np.zeros((len(distinct), codes.max() + 1))
        np.add.at(counts, (places, codes), 1)
        return bool(counts.max(axis=1).sum() > SURE * len(values))
    sorted_codes = codes[np.argsort(values, kind="stable")]
    changes = int(np.count_nonzero(np.diff(sorted_codes)))
    return bool(changes <= codes.max() + (1.0 - SURE) * len(values))
