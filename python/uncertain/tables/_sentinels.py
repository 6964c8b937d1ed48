"""Numbers that stand for "missing": -9999, -99, 99, 999 and the like.

A code is the smallest or largest value of a column, occurs more than once, and lies far outside the rest: by
more than five times the range of all other values, or by half of it for a number of nines.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .._data.typing import Floats
from ._roles import listing

FAR = 5.0
"""Distance from the other values, in units of their range, that makes any repeated value a code."""

FAR_NINES = 0.5
"""The same for numbers of nines, such as -9999 and 99.9, which few quantities take by chance."""


class Sentinel(NamedTuple):
    """A code for missing values in a column."""

    column: str
    value: float
    n_rows: int
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.column} is {self.value:g} in {self.n_rows:,} rows (all others lie between {self.low:g} "
            "and "
            f"{self.high:g})"
        )


def sentinels(column: str, values: Floats) -> list[Sentinel]:
    """The codes at either end of a column's values; NaN does not count."""
    found = []
    finite = np.isfinite(values)
    known = values if finite.all() else values[finite]
    for end in (np.min, np.max):
        if known.size < 4:
            break
        code = float(end(known))
        count = int(np.count_nonzero(known == code))
        if count < 2 or known.size - count < 2:
            continue
        others = known[known != code]
        low, high = float(others.min()), float(others.max())
        distance = low - code if code < low else code - high
        far = FAR_NINES if _is_nines(code) else FAR
        if distance > far * (high - low) > 0:
            found.append(Sentinel(column, code, count, low, high))
            known = others
    return found


def sentinel_warning(found: Iterable[Sentinel]) -> str | None:
    """One warning about all columns; None if there is no code."""
    texts = [str(sentinel) for sentinel in found]
    if not texts:
        return None
    return (
        f"looks like a code for missing values: {listing(texts, 5)}; turn such numbers into nulls and "
        "choose what "
        'they mean with on_missing="impute" (or "point" for error bars), or drop these rows'
    )


def _is_nines(value: float) -> bool:
    """Is it made of at least two nines, such as -9999, 99.0 or -99.9?"""
    digits = f"{abs(value):.10g}".replace(".", "")
    return len(digits) >= 2 and set(digits) == {"9"}
