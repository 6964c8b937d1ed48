"""Columns that carry their error bars, one file for each library that has such: a reader says what they are
made of.

A reader looks at a column's type, or at its first values, and at no more; None is the answer to columns that
are not its own.
"""

from __future__ import annotations

from ..._data.typing import NativeColumn
from .astropy import from_distribution
from .carrier import Carried
from .structs import from_structs
from .text import from_text
from .vectors import from_vectors

__all__ = ["Carried", "carried", "from_vectors"]

READERS = (from_structs, from_distribution, from_text)


def carried(column: NativeColumn, name: str) -> Carried | None:
    """What a column carries; None for all others."""
    answers = (reader(column, name) for reader in READERS)
    return next((answer for answer in answers if answer is not None), None)
