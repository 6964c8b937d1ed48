"""Rows in parts of memory: read, scaled and denoised part by part, so that there are never two copies of all.

A `GaussianArray` of several parts shares their memory (`concat` copies nothing where the kinds are the
same), and every pass reads it part by part. What a step makes of a part takes its place before the next part
is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._data.incomplete import GaussianRows, vstack
from .._data.typing import Estimator
from .._uncertain import give_memory_back

BYTES = 8 << 20
"""Of a part: what is made of it beside it stays in the cache, and small."""
UNIT = 1024
"""Rows of a part are a multiple of it, as the core's blocks of rows are."""


class Parts:
    """Rows that grow at the end, and change as a whole."""

    def __init__(self, parts: Iterable[GaussianRows] = ()) -> None:
        self._parts = list(parts)

    def append(self, rows: GaussianRows) -> None:
        """More rows at the end."""
        if len(rows):
            self._parts.append(rows)

    def rows(self) -> GaussianRows:
        """All of them as one array, which shares the memory."""
        return vstack(self._parts)

    def transform(self, step: Estimator) -> None:
        """What a fitted step makes of the rows, in their place."""
        for k in range(len(self._parts)):
            self._parts[k] = step.transform(self._parts[k])
            if k:
                give_memory_back()


def in_parts(numbers_per_row: int, bytes_of_a_part: int = BYTES) -> int:
    """The number of rows of a part whose rows have so many numbers."""
    return max(bytes_of_a_part // (8 * max(numbers_per_row, 1)) // UNIT, 1) * UNIT
