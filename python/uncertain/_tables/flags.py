"""Columns of flags, which say what values are upper and lower limits; and limits in the text of a cell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._data.column import read_column
from .._data.typing import Limits
from .._data.warn import warn
from ..exceptions import UncertainError, UncertainWarning
from .columns import Columns, listing
from .contents import Look
from .rules import DETECTION, FLAG_WORDS, LIMIT_IN_TEXT, SIGNS, SIGNS_OF_DETECTIONS
from .suspects import names_flags
from .table import Table

if TYPE_CHECKING:
    import polars as pl


def read_flags(table: Table, name: str, of: str = "") -> Limits:
    """Read a column of flags as -1 (upper limit), 0 and 1 (lower limit).

    Flags are these numbers, booleans (True: upper) or signs; 1 in a column that is called upper limit of the
    value `of` is an upper one. In the column of the values itself they are signs in front of numbers.

    Raises
    ------
    UncertainError
        For anything that is no flag, with its row.
    """
    (series,) = table.series([name])
    if name == of:
        return _signs_in_text(series)
    is_of_values = DETECTION.search(name) is not None
    column = read_column(series, name, len(series), "flags")
    if column.kind == "strings":
        signs = SIGNS_OF_DETECTIONS if is_of_values else SIGNS
        texts = [text.strip() for text in column.texts]
        meanings = [signs.get(text, signs.get(text.lower(), 2)) for text in texts]
        flags = np.asarray(meanings, dtype=np.int8)[column.array] if meanings else np.zeros(len(series))
    elif column.kind == "others":
        flags = np.full(len(series), 2)
    else:
        flags = -column.array.astype(np.int8) if column.kind == "booleans" else column.array
    if is_of_values and column.kind != "strings":
        flags = np.where(flags == 0, -1, np.where(np.abs(flags) == 1, 0, 2))
    if column.missing is not None:
        flags = np.where(column.missing, 0, flags)
    wrong = np.flatnonzero(~np.isin(flags, (-1, 0, 1)))
    if len(wrong):
        raise UncertainError(
            f"{name}: row {wrong[0]} is {column.shown(int(wrong[0]))}, no flag of a limit. Write -1, '<' or "
            "True for upper limits, 1 or '>' for lower limits, and 0, '=', '', False or null for values"
        )
    sign = 0 if is_of_values else _sign_of_one(of, name)
    flags = (
        flags * sign if sign and column.kind in ("integers", "floats") and not (flags < 0).any() else flags
    )
    return flags.astype(np.int8)


def find_flags(columns: Columns, look: Look) -> tuple[dict[str, str], dict[str, str]]:
    """Return by value the column of its flags; and those of 1, of which nothing tells what they mean.

    The target may have one, too. Text with signs in front of numbers has its flags in itself.
    """
    flags: dict[str, str] = {}
    doubted: dict[str, str] = {}
    for value, name in columns.found.flags.items():
        if value in (*columns.scalars, columns.target):
            is_told = look.has_signs(name) or _sign_of_one(value, name) or DETECTION.search(name)
            is_told = bool(is_told) and names_flags(name)
            (flags if is_told else doubted)[value] = name
    in_text = f"{LIMIT_IN_TEXT}\\s*[-+.\\d]"
    flags |= {value: value for value in columns.scalars if look.any_text(value, in_text)}
    return flags, doubted


def meaning_of_flags(name: str) -> str:
    """Return what flags say, by the name of their column."""
    if DETECTION.search(name):
        return "0 or false is an upper limit"
    return "-1, '<' or true is an upper and 1 or '>' a lower limit"


def taken_as_limits(flags: Mapping[str, str]) -> str:
    """Return the sentence on limits that were recognised."""
    texts = (f"{value} ({'signs in its cells' if flag == value else flag})" for value, flag in flags.items())
    return f"taken as limits: {listing(texts)}"


def with_flags(columns: Columns, look: Look) -> Columns:
    """Return the columns with flags of limits of features that are recognised, which a warning names."""
    flags = {value: flag for value, flag in find_flags(columns, look)[0].items() if value in columns.scalars}
    if flags:
        warn(taken_as_limits(flags), UncertainWarning)
    return columns.changed(limits=flags) if flags else columns


def numbers_behind_signs(text: pl.Series) -> pl.Series:
    """Return the text without the signs of limits."""
    return text.str.replace(f"(?i){LIMIT_IN_TEXT}", "")


def _signs_in_text(series: pl.Series) -> Limits:
    """Return the flags in a column of text; none in one of numbers."""
    import polars as pl

    if series.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return np.zeros(len(series), dtype=np.int8)
    signs = series.cast(pl.String).str.extract(f"(?i){LIMIT_IN_TEXT}\\s*[-+.\\d]")
    above, below = ((signs == sign).fill_null(False).to_numpy().astype(np.int8) for sign in "><")
    return np.asarray(above - below)


def _word(value: str, name: str) -> str:
    """Return what is in a name beside that of a value."""
    whole, part = (re.sub(r"[\W_]+", "", text.lower()) for text in (name, value))
    return whole.replace(part, "", 1) if part and part in whole else whole + "?"


def _sign_of_one(value: str, name: str) -> int:
    """Return the sign of flags of 1 by the name of their column; 0 if it does not tell."""
    return FLAG_WORDS.get(_word(value, name), 0)
