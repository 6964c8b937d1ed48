"""Numeric columns without error bars, which a fit leaves out unless the caller takes them.

They may be measured exactly, but also identifiers, flags that were set once the answer was known, or the
answer itself. They are read so that a choice can say what they would gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._data.incomplete import GaussianRows
from .._tables.columns import Columns
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians
from .source import Source


class LeftAlone(NamedTuple):
    """Columns that may be features."""

    names: tuple[str, ...]
    rows: GaussianRows
    """Exact, with gaps where values are missing."""


def read_left_alone(source: Source, names: Sequence[str], on_missing: str) -> LeftAlone | None:
    """These columns; None if they cannot be read alone."""
    try:
        reading = AsGaussians(columns=Columns(features=(), exact=tuple(names)), on_missing=on_missing)
        return LeftAlone(tuple(names), reading.fit_transform(source.rows))
    except UncertainError:
        return None
