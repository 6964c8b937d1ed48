"""Numbers with their error bar in one text: 1.23(4), 1.23 ± 0.04, 1.23 +/- 0.04, (1.23 ± 0.04)e-5.

Digits in parentheses are in units of the last one of the value, unless they have a point of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..exceptions import ColumnError

_DIGITS = r"(?:\d+\.?\d*|\.\d+)"
_POWER = r"(?:[eE]|\s*[x×*·]\s*10\^?)([+-]?\d+)"
_IN_PARENTHESES = rf"^([+-]?{_DIGITS})\s?\(({_DIGITS})\)(?:{_POWER})?$"
_ERROR = rf"({_DIGITS}(?:[eE][+-]?\d+)?)"
_BESIDE = rf"^\(?\s*([+-]?{_DIGITS}(?:[eE][+-]?\d+)?)\s*(?:±|\+/-|\+-|\\pm)\s*{_ERROR}\s*\)?(?:{_POWER})?$"
_NUMBER = rf"^[+-]?{_DIGITS}(?:[eE][+-]?\d+)?$"
_MARK = r"[(±]|\+/?[-−]|\\pm"
_NOTHING = r"(?i)^(?:|-+|nan|n/?a|null|none)$"


def has_error_bars(first: pl.Series) -> bool:
    """Are these first values numbers, some of them with error bars?"""
    if not first.str.contains(_MARK).any():
        return False
    text = _plain(first.drop_nulls())
    text = text.filter(~text.str.contains(_NOTHING))
    forms = text.str.contains(_IN_PARENTHESES) | text.str.contains(_BESIDE)
    return bool(forms.any()) and bool((forms | text.str.contains(_NUMBER)).all())


def read_text(text: pl.Series, *, error: bool) -> pl.Series:
    """Return values, or their standard deviations; of a number alone the error is unknown."""
    name, text = text.name, _plain(text)
    frame = pl.DataFrame({"text": text}).with_columns(
        short=pl.col("text").str.extract_groups(_IN_PARENTHESES),
        long=pl.col("text").str.extract_groups(_BESIDE),
    )
    short, long = (
        frame[form].struct.rename_fields(["value", "error", "power"]).struct for form in ("short", "long")
    )
    is_short, is_number = short.field("value").is_not_null(), text.str.contains(_NUMBER)
    known = is_short | long.field("value").is_not_null() | is_number
    wrong = (~known & ~text.str.contains(_NOTHING)).arg_true()
    if len(wrong):
        raise ColumnError(
            f"{name}: row {wrong[0]} is {text[wrong[0]]!r}, which is no number with an error bar, such as "
            "1.23(4) or 1.23 ± 0.04; a null stands for what is unknown"
        )
    power = short.field("power").fill_null(long.field("power")).cast(pl.Float64).fill_null(0.0).to_numpy()
    if not error:
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


def _plain(text: pl.Series) -> pl.Series:
    return text.str.replace_all("−", "-").str.strip_chars()


def _scaled(numbers: Any, power: Any) -> Any:
    """Times a power of ten; divided by one where that is exact."""
    return np.where(power < 0, numbers / 10.0 ** np.abs(power), numbers * 10.0 ** np.abs(power))
