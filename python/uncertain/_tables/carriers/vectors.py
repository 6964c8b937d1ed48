"""Lists of numbers with an error bar each: flux and flux_err of five bands become flux[0], flux[0]_err, ...

The lists stay beside their parts, for who asks for them (``mean="flux", std="flux_err"``). One such pair
alone stays as it is, and is read as lists. So do lists of different lengths, and spectra, whose numbers are
too many for features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from ..._columns.error_names import error_bars
from ..._data.typing import ColumnType
from ..._data.units import Unit
from ...exceptions import ColumnError
from .carrier import Carried, Part

LONGEST = 64
"""Numbers of a row that are features of their own."""

ENDINGS = {"std": ("_err",), "var": ("_var",), "arms": ("_err1", "_err2"), "limits": ("_lower", "_upper")}
"""By kind of error bar, what the columns of an element's are called."""


def from_vectors(
    names: Sequence[str],
    types: Mapping[str, ColumnType],
    column: Callable[[str], pl.Series],
    units: Mapping[str, Unit],
) -> dict[str, Carried]:
    """By name the columns of lists that are taken apart, values and error bars."""
    lists = {name for name in names if types[name] == "list"}
    bars = {value: own[0] for value, own in error_bars(names).items()}
    pairs = {value: bar for value, bar in bars.items() if {value, *bar.columns} <= lists}
    if len(bars) == 1 and all(bar.kind in ("std", "var") for bar in pairs.values()):
        return {}
    found: dict[str, Carried] = {}
    for value, bar in pairs.items():
        columns = {name: column(name) for name in (value, *bar.columns)}
        widths = {_width(own) for own in columns.values()}
        width = widths.pop()
        if widths or not 0 < width <= LONGEST:
            continue
        endings = dict(zip(columns, ("", *ENDINGS[bar.kind]), strict=True))
        parts: dict[str, dict[str, Part]] = {
            name: {f"{value}[{j}]{ending}": partial(_element, j, width) for j in range(width)}
            for name, ending in endings.items()
        }
        if not any(part in names for own in parts.values() for part in own):
            for name, own in parts.items():
                whole = {name: pl.Series.clone}
                found[name] = Carried(columns[name], whole | own, unit=units.get(name), kept=True)
    return found


def _width(column: pl.Series) -> int:
    """How many numbers each row has, as far as rows are there; 0 for what is no vector."""
    dtype: Any = column.dtype
    if isinstance(dtype, pl.Array):
        return int(dtype.shape[0]) if len(dtype.shape) == 1 and dtype.inner.is_numeric() else 0
    if not isinstance(dtype, pl.List) or not dtype.inner.is_numeric():
        return 0
    sizes = column.list.len().drop_nulls().unique()
    return int(sizes[0]) if len(sizes) == 1 else 0


def _element(place: int, width: int, column: pl.Series) -> pl.Series:
    """One number of each row."""
    if isinstance(column.dtype, pl.Array):
        return column.arr.get(place)
    other = column.list.len().drop_nulls()
    other = other.filter(other != width)
    if len(other):
        raise ColumnError(
            f"column {column.name!r} has lists of {width} numbers, and one of {other[0]}; features need "
            "lists of one length"
        )
    return column.list.get(place)
