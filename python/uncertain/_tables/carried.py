"""Columns that hold more than a number become columns of numbers beside each other, as their names say.

Text with error bars (1.23(4), whose digits in parentheses are in units of the last one of the value, or
1.23 ± 0.04) becomes x and x_err; rows of Gaussians with independent features x and x_std (of
several features x_u, x_u_std, x_g, ...); lists of numbers with an error bar each (flux and flux_err of five
bands) flux[0], flux[0]_err, ... So each may be the target or a feature, and have gaps, as any other column.
What is more than that (correlated features, mixtures, draws) stays one column, a distribution.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from .._data.arrow_rows import fields_of, struct_type, width_of
from .._data.arrow_types import metadata_of
from .._data.typing import ColumnType
from .._data.units import Unit
from ..exceptions import ColumnError
from .columns import listing
from .error_columns import error_bars
from .frame import FIRST, BatchSize, Frame

LONGEST = 64
"""Numbers of a list that are features of their own."""
ENDINGS = {"std": ("_err",), "var": ("_var",), "arms": ("_err1", "_err2"), "limits": ("_lower", "_upper")}
"""By kind of error bar, how the columns of an element's end."""

_DIGITS = r"(?:\d+\.?\d*|\.\d+)"
_POWER = r"(?:[eE]|\s*[x×*·]\s*10\^?)([+-]?\d+)"
_IN_PARENTHESES = rf"^([+-]?{_DIGITS})\s?\(({_DIGITS})\)(?:{_POWER})?$"
_ERROR = rf"({_DIGITS}(?:[eE][+-]?\d+)?)"
_BESIDE = rf"^\(?\s*([+-]?{_DIGITS}(?:[eE][+-]?\d+)?)\s*(?:±|\+/-|\+-|\\pm)\s*{_ERROR}\s*\)?(?:{_POWER})?$"
_NUMBER = rf"^[+-]?{_DIGITS}(?:[eE][+-]?\d+)?$"
_MARK = re.compile(r"[(±]|\+/?[-−]|\\pm")
_NOTHING = r"(?i)^(?:|-+|nan|n/?a|null|none)$"

Part: TypeAlias = Callable[[pl.Series], pl.Series]
"""Takes one column of numbers out of one that holds more."""


@dataclass(frozen=True)
class Carried:
    """What stands in the place of a column."""

    parts: Mapping[str, Part]
    """By name, values before their error bars."""
    type: ColumnType = "number"
    unit: Unit = None
    kept: bool = False
    """Is the column a part of its own, of lists?"""


def expand(frame: Frame) -> Frame:
    """Take apart the columns that hold more than a number; the frame itself if there are none."""
    schema = {column.name: column for column in frame.loaded or frame.schema()}
    others = {name: column for name, column in schema.items() if not column.dtype.is_numeric()}
    if not others or len({*frame.names}) < len(frame.names):
        return frame
    found = {name: carried for name, column in others.items() if (carried := _carried(frame, column))}
    lists = [name for name, column in others.items() if isinstance(column.dtype, (pl.List, pl.Array))]
    vectors = _vectors(frame, [name for name in lists if name not in frame.types], schema)
    found |= vectors
    if not found:
        return frame
    origins = _origins(frame.names, found)

    def apart(columns: Sequence[pl.Series], names: Sequence[str]) -> list[pl.Series]:
        by_name = {column.name: column for column in columns}
        return [
            found[origins[name]].parts[name](by_name[origins[name]]).alias(name)
            if origins[name] in found
            else by_name[name]
            for name in names
        ]

    def sources(names: Sequence[str]) -> list[str]:
        return [*dict.fromkeys(origins[name] for name in names)]

    def stream(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        assert frame.stream is not None
        return (pl.DataFrame(apart(f.get_columns(), names)) for f in frame.stream(sources(names), size))

    types = {
        name: "list" if found[origin].kept and name == origin else found[origin].type
        for name, origin in origins.items()
        if origin in found
    }

    def head(names: Sequence[str]) -> list[pl.Series]:
        assert frame.head is not None
        return apart(frame.head(sources(names)), names)

    units = {name: found[origin].unit for name, origin in origins.items() if origin in found}
    features = [name for name, carried in vectors.items() if f"{name}[0]" in carried.parts]
    note = f"lists of numbers with error bars ({listing(features, 4)}) were read as columns x[0], x[1], ..."
    return replace(
        frame,
        names=[*origins],
        read=lambda names: apart(frame.read(sources(names)), names),
        schema=lambda: [schema.get(name, pl.Series(name, [], pl.Float64)) for name in origins],
        loaded=[column for column in frame.loaded if origins.get(column.name) not in found],
        stream=stream if frame.stream else None,
        head=head if frame.head else None,
        units=lambda: {**frame.units(), **{name: unit for name, unit in units.items() if unit}},
        types={**frame.types, **types},
        notes=(*frame.notes, note) if features else frame.notes,
    )


def _origins(names: Sequence[str], found: Mapping[str, Carried]) -> dict[str, str]:
    """Map each new name to its column; ColumnError for a name that is there twice."""
    origins: dict[str, str] = {}
    for name in names:
        for part in found[name].parts if name in found else (name,):
            if part in origins:
                one, other = (origins[part], name) if origins[part] in found else (name, origins[part])
                raise ColumnError(
                    f"column {one!r} carries its error bars, which become a column {part!r}, but {other!r} "
                    "has one of that name: rename or drop one of them"
                )
            origins[part] = name
    return origins


def _first_rows(frame: Frame, column: pl.Series) -> pl.Series:
    """Return first rows of a column, or none where a stream would be read for them."""
    return column if len(column) or frame.head is None else frame.head([column.name])[0]


def _carried(frame: Frame, column: pl.Series) -> Carried | None:
    """Return what a column of text, of structs or of Python objects carries; None for all others."""
    name, dtype = column.name, column.dtype
    if dtype == pl.String:
        if not has_error_bars(column[:FIRST]):
            return None
        return Carried({name: partial(read_text, error=False), f"{name}_err": partial(read_text, error=True)})
    storage = struct_type(dtype) if dtype.is_nested() or hasattr(dtype, "ext_storage") else None
    if storage is None:
        return None
    about = metadata_of(dtype)
    width = width_of(storage, column)
    width = width_of(storage, _first_rows(frame, column)) if width is None else width
    kinds = {own.name for own in storage.fields} - {"mean"}
    if width is None or not (kinds <= {"std"} or kinds <= {"var"} or (width == 1 and kinds == {"cov"})):
        return Carried({name: pl.Series.clone}, "distribution", about.unit)
    names = [f"{name}_{own}" for own in about.names] if about.names else [f"{name}{j}" for j in range(width)]
    parts: dict[str, Part] = {}
    for j, feature in enumerate(names if width > 1 else [name]):
        parts[feature] = partial(_field, "mean", j)
        for kind in kinds:
            parts[f"{feature}_{'std' if kind == 'std' else 'var'}"] = partial(_field, kind, j)
    return Carried(parts, unit=about.unit)


def _field(field: str, place: int, column: pl.Series) -> pl.Series:
    """Return one number of the lists in a field of structs, the only one where they have but one."""
    lists = fields_of(column)[field]
    if isinstance(lists.dtype, pl.Array):
        return lists.arr.get(place if lists.dtype.shape[0] > 1 else 0)
    if isinstance(lists.dtype, pl.List):
        first = lists.drop_nulls()[:1]
        return lists.list.get(place if len(first) and len(first[0]) > 1 else 0)
    return lists


def _vectors(frame: Frame, lists: list[str], schema: Mapping[str, pl.Series]) -> dict[str, Carried]:
    """Return the columns of lists that are taken apart, values and error bars.

    The lists stay beside their parts, for who asks for them (``mean="flux", std="flux_err"``). One such pair
    alone stays as it is, and is read as lists; so do lists of different lengths, and spectra, whose numbers
    are too many.
    """
    if len(lists) < 2:
        return {}
    bars = {value: each[0] for value, each in error_bars(frame.names).items()}
    pairs = {value: bar for value, bar in bars.items() if {value, *bar.columns} <= {*lists}}
    if len(bars) == 1 and all(bar.kind in ("std", "var") for bar in pairs.values()):
        return {}
    units, found = frame.units(), dict[str, Carried]()
    for value, bar in pairs.items():
        names = (value, *bar.columns)
        columns = frame.read(names) if frame.whole else [_first_rows(frame, schema[name]) for name in names]
        widths = {_width(column) for column in columns}
        width = widths.pop()
        parts: dict[str, dict[str, Part]] = {
            column.name: {f"{value}[{j}]{ending}": partial(_element, j, width) for j in range(width)}
            for column, ending in zip(columns, ("", *ENDINGS[bar.kind]), strict=True)
        }
        if widths or not 0 < width <= LONGEST or {*frame.names} & {p for own in parts.values() for p in own}:
            continue
        for name, own in parts.items():
            found[name] = Carried({name: pl.Series.clone} | own, unit=units.get(name), kept=True)
    return found


def _width(column: pl.Series) -> int:
    """Return how many numbers each row has; 0 for lists of other things or of several lengths."""
    dtype: Any = column.dtype
    if isinstance(dtype, pl.Array):
        return int(dtype.shape[0]) if len(dtype.shape) == 1 and dtype.inner.is_numeric() else 0
    sizes = column.list.len().drop_nulls().unique().to_list() if dtype.inner.is_numeric() else []
    return int(sizes[0]) if len(sizes) == 1 else 0


def _element(place: int, width: int, column: pl.Series) -> pl.Series:
    """Return one number of each row."""
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


def has_error_bars(first: pl.Series) -> bool:
    """Are these first values numbers, some of them with error bars?"""
    if not _MARK.search("\n".join(filter(None, first.to_list()))):  # Polars would run a query
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
            f"{name}: row {wrong[0]} is {text[wrong[0]]!r}, not a number with an error bar. Write it as "
            "1.23(4) or 1.23 ± 0.04, or null if it is unknown"
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
