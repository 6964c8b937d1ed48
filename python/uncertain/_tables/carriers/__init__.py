"""Columns that carry their error bars, one file for each library that has such: a reader says what they are
made of.

A reader looks at a column's type, or at its first values, and at no more; None is the answer to columns that
are not its own.
"""

from __future__ import annotations

from ..._data.typing import NativeColumn
from .astropy import as_column, from_distribution, from_nddata
from .carrier import Carried
from .pints import from_pint
from .scipp import from_scipp
from .structs import from_structs
from .text import from_text
from .ufloats import correlations, from_ufloats
from .vectors import from_vectors

__all__ = ["Carried", "as_column", "carried", "correlations", "from_vectors"]

READERS = (from_structs, from_ufloats, from_pint, from_distribution, from_nddata, from_scipp, from_text)


def carried(column: NativeColumn, name: str) -> Carried | None:
    """What a column carries; None for all others."""
    answers = (reader(column, name) for reader in READERS)
    return next((answer for answer in answers if answer is not None), None)
