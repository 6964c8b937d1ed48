"""Columns of flags, which say what values are upper and lower limits."""

from __future__ import annotations

import numpy as np

from .._data.column import read_column
from .._data.typing import Limits
from .._tables.contents import SIGNS
from .._tables.table import Table
from ..exceptions import UncertainError


def read_flags(table: Table, name: str) -> Limits:
    """Read a column of flags as -1 (upper limit), 0 and 1 (lower limit).

    Flags are these numbers, booleans (True: upper) or signs.

    Raises
    ------
    UncertainError
        For anything that is no flag, with its row.
    """
    (series,) = table.series([name])
    column = read_column(series, name, len(series), "flags")
    if column.kind == "strings":
        meanings = [SIGNS.get(text.strip(), 2) for text in column.texts]
        flags = np.asarray(meanings, dtype=np.int8)[column.array] if meanings else np.zeros(len(series))
    elif column.kind == "others":
        flags = np.full(len(series), 2)
    else:
        flags = -column.array.astype(np.int8) if column.kind == "booleans" else column.array
    if column.missing is not None:
        flags = np.where(column.missing, 0, flags)
    wrong = np.flatnonzero(~np.isin(flags, (-1, 0, 1)))
    if len(wrong):
        raise UncertainError(
            f"{name}: row {wrong[0]} is {column.shown(int(wrong[0]))}; a flag of a limit is -1, '<' or True "
            "where the reading is below the value, 1 or '>' where it is above, and 0, '=', '', False or null "
            "where it is the value"
        )
    return flags.astype(np.int8)
