"""Numbers with their error bar in one text: 1.23(4), 1.23 ± 0.04, 1.23 +/- 0.04, (1.23 ± 0.04)e-5.

Digits in parentheses are in units of the last one of the value, unless they have a point of their own.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ..._data.typing import NativeColumn
from ...exceptions import ColumnError
from .carrier import FIRST, Carried, beside

_DIGITS = r"(?:\d+\.?\d*|\.\d+)"
_POWER = r"(?:[eE]|\s*[x×*·]\s*10\^?)([+-]?\d+)"
_IN_PARENTHESES = rf"^([+-]?{_DIGITS})\s?\(({_DIGITS})\)(?:{_POWER})?$"
_ERROR = rf"({_DIGITS}(?:[eE][+-]?\d+)?)"
_BESIDE = rf"^\(?\s*([+-]?{_DIGITS}(?:[eE][+-]?\d+)?)\s*(?:±|\+/-|\+-|\\pm)\s*{_ERROR}\s*\)?(?:{_POWER})?$"
_NUMBER = rf"^[+-]?{_DIGITS}(?:[eE][+-]?\d+)?$"
_NOTHING = r"^(?:|-+|nan|n/?a|null|none)$"


def from_text(column: NativeColumn, name: str) -> Carried | None:
    """A column of text whose first values are numbers, some with error bars."""
    some = [_plain(value) for value in _first(column) if isinstance(value, str)]
    some = [value for value in some if not re.match(_NOTHING, value, re.IGNORECASE)]
    forms = [bool(re.match(_IN_PARENTHESES, value) or re.match(_BESIDE, value)) for value in some]
    rest = (value for value, form in zip(some, forms, strict=True) if not form)
    if not any(forms) or not all(re.match(_NUMBER, value) for value in rest):
        return None
    return beside(name, column, partial(_read, name, 0), partial(_read, name, 1))


def _first(column: NativeColumn) -> list[Any]:
    """The first values of what may hold text."""
    dtype = str(getattr(column, "dtype", getattr(column, "type", "object"))).lower()
    if not ("str" in dtype or "object" in dtype or dtype.startswith(("<u", ">u"))):
        return []
    some = column[:FIRST] if hasattr(column, "__getitem__") and hasattr(column, "__len__") else []
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(some, method):
            return list(getattr(some, method)())
    return list(some)


def _plain(text: str) -> str:
    return text.strip().replace("−", "-").replace("+/−", "+/-")


def _read(name: str, which: int, column: NativeColumn) -> pl.Series:
    """Values (0) or standard deviations (1); of a number alone the error is unknown."""
    from ..columns import to_series

    text = to_series(column, name).cast(pl.String).str.replace_all("−", "-").str.strip_chars()
    frame = pl.DataFrame({"text": text}).with_columns(
        short=pl.col("text").str.extract_groups(_IN_PARENTHESES),
        long=pl.col("text").str.extract_groups(_BESIDE),
    )
    short, long = (
        frame[form].struct.rename_fields(["value", "error", "power"]).struct for form in ("short", "long")
    )
    is_short, is_number = short.field("value").is_not_null(), text.str.contains(_NUMBER)
    known = is_short | long.field("value").is_not_null() | is_number
    wrong = (~known & ~text.str.to_lowercase().str.contains(_NOTHING)).arg_true()
    if len(wrong):
        raise ColumnError(
            f"{name}: row {wrong[0]} is {text[wrong[0]]!r}, which is no number with an error bar, such as "
            "1.23(4) or 1.23 ± 0.04; a null stands for what is unknown"
        )
    power = short.field("power").fill_null(long.field("power")).cast(pl.Float64).fill_null(0.0).to_numpy()
    if which == 0:
        values = (
            short.field("value")
            .fill_null(long.field("value"))
            .fill_null(text.set(~is_number.fill_null(False), None))
        )
        return pl.Series(name, _scaled(values.cast(pl.Float64).to_numpy(), power)).fill_nan(None)
    last = short.field("value").str.extract(r"\.(\d*)$").str.len_chars().fill_null(0)
    in_units = (
        is_short.to_numpy() & ~short.field("error").str.contains(".", literal=True).fill_null(True).to_numpy()
    )
    errors = short.field("error").fill_null(long.field("error")).cast(pl.Float64).to_numpy()
    return pl.Series(name, _scaled(errors, power - np.where(in_units, last.to_numpy(), 0))).fill_nan(None)


def _scaled(numbers: Any, power: Any) -> Any:
    """Times a power of ten; divided by one where that is exact."""
    return np.where(power < 0, numbers / 10.0 ** np.abs(power), numbers * 10.0 ** np.abs(power))
