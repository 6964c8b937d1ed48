"""One value per row, of any kind: targets, labels, weights, groups.

`read_column` makes one plain array of a list, an array or a column of Polars, and says what it holds. Rules
look at whole arrays and at distinct labels, not at rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from itertools import compress
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from ..exceptions import NullError, ParameterError, ShapeError
from .options import refuse_if
from .typing import Array, Booleans, Codes, Floats, Ints, Labels, Values

Kind: TypeAlias = Literal["booleans", "integers", "floats", "strings", "decimals", "others"]
KINDS: dict[str, Kind] = {"b": "booleans", "i": "integers", "u": "integers", "f": "floats", "U": "strings"}
CLOSE = 1 << 16
"""Integers in a range below this are counted, which is ten times as fast as sorting them."""


class Column(NamedTuple):
    """One value per row, as one plain array."""

    kind: Kind
    array: Array
    """Booleans, integers or floats; places of strings among `texts`; Python objects of other kinds. Decimals
    are floats. Where a value is missing it is anything."""
    missing: Booleans | None
    """True where a value is missing; None if none is."""
    texts: list[str]
    """The distinct strings, sorted."""
    values: Values
    """The values as they were given, for messages."""

    @property
    def present(self) -> Column:
        return self if self.missing is None else self._replace(array=self.array[~self.missing], missing=None)

    def refuse_missing(self, what: str, absent: str) -> None:
        """NullError for the first row without a value; `absent` says what it lacks, and what to do."""
        if self.missing is not None:
            raise NullError(f"{what}: row {np.argmax(self.missing)} {absent}")

    def distinct(self) -> tuple[Labels, Codes]:
        """The sorted distinct values, and the place of each row's value among them."""
        return encoded(self.array) if self.kind != "strings" else (np.asarray(self.texts), self.array)

    def shown(self, row: int) -> str:
        """A value in a message."""
        value = self.values[row]
        return repr(value.item() if isinstance(value, np.generic) else value)


def read_column(values: Values, what: str, n_rows: int, noun: str) -> Column:
    """Return the values as one plain array; ShapeError unless there is one per row."""
    expected = f"{what}: expected {n_rows} {noun}, one per row, got {len(values)}"
    refuse_if(len(values) != n_rows, expected, ShapeError)
    if isinstance(values, np.ndarray) and values.dtype.kind in KINDS:
        return _of_array(values, values)
    return _of_series(values) if _is_series(values) else _of_objects(list(as_values(values, what)))


def as_values(values: object, role: str) -> Values:
    """Return a plain array or a column of Polars as it is, other arrays and series as Python objects."""
    plain = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in KINDS
    if plain or _is_series(values):
        return cast("Values", values)
    for method in ("to_list", "tolist", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    if not isinstance(values, Iterable):
        raise ParameterError(f"{role}={values!r}: must be the name of a column, or one value per row")
    return list(values)


def rows_with_value(values: Any) -> Ints | None:
    """Return the numbers of the rows with a finite number, or text that is not blank; None for all."""
    column = read_column(as_values(values, "target"), "target", len(values), "targets")
    there = np.ones(len(values), dtype=bool) if column.missing is None else ~column.missing
    if column.kind == "floats":
        there &= np.isfinite(column.array)
    if column.kind == "strings":
        there &= np.array([*(text.strip() != "" for text in column.texts), True])[column.array]
    return None if there.all() else np.flatnonzero(there)


def is_missing(value: object) -> bool:
    """None, NaN, or a null of another library, whose comparisons are nulls again."""
    different = value != value
    is_itself = isinstance(different, (bool, np.bool_)) and not different
    return value is None or not (is_itself or isinstance(different, np.ndarray))


def _is_series(values: object) -> bool:
    """Is it a column of Polars, which need not be imported?"""
    return hasattr(values, "to_physical")


def _of_array(array: Array, values: Values) -> Column:
    kind, missing = KINDS[array.dtype.kind], None
    if kind == "strings":
        return _of_texts(array.tolist(), None, values)
    if kind == "integers" and (array.dtype.kind == "i" or not array.size or array.max() < 2**63):
        array = array.astype(np.int64)
    if kind == "floats":
        array = array.astype(np.float64)
        gaps = np.isnan(array)
        missing = gaps if gaps.any() else None
    return Column(kind, array, missing, [], values)


def _of_series(values: Any) -> Column:
    import polars as pl

    dtype = values.dtype
    missing = values.is_null().to_numpy() if values.null_count() else None
    if dtype.is_float():
        return _of_array(values.to_numpy(), values)
    if dtype == pl.Boolean or (dtype.is_integer() and dtype != pl.Int128):
        filled = values.fill_null(False if dtype == pl.Boolean else 0)
        return _of_array(filled.to_numpy(), values)._replace(missing=missing)
    if dtype not in (pl.String, pl.Categorical, pl.Enum):
        return _of_objects(values.to_list())
    distinct = values.unique().drop_nulls().cast(pl.String).sort()
    text = values if dtype == pl.Categorical else values.cast(pl.String)  # which takes four times the memory
    codes = text.cast(pl.Enum(distinct)).to_physical().fill_null(0)
    return Column("strings", codes.to_numpy().astype(np.uint32), missing, distinct.to_list(), values)


def _of_objects(values: list[Any]) -> Column:
    kinds = {*map(type, values)}
    if any(issubclass(kind, np.generic) for kind in kinds):
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
        kinds = {*map(type, values)}
    if float in kinds and kinds <= {float, NoneType}:
        return _of_array(np.array(values, dtype=np.float64), values)
    missing, present = None, values
    if len(kinds) > 1 or not kinds <= {bool, int, str}:
        simple = kinds <= {bool, int, str, NoneType}
        gaps = np.array([value is None if simple else is_missing(value) for value in values], dtype=bool)
        if gaps.any():
            missing, present = gaps, [*compress(values, (~gaps).tolist())]
            kinds = {*map(type, present)}
    if kinds == {str}:
        return _of_texts(present, missing, values)
    kind: Kind = "decimals" if Decimal in kinds else "floats"
    if len(kinds) == 1 and kinds <= {bool, int}:
        kind = "booleans" if kinds == {bool} else "integers"
        array: Array = np.array(present)  # of another type than int64 if one does not fit
    elif kinds <= {int, float, Decimal}:
        array = np.array(present, dtype=np.float64)
    else:
        kind, array = "others", np.fromiter(present, dtype=object, count=len(present))
    return Column(kind, _spread(array, missing), missing, [], values)


def _of_texts(present: list[str], missing: Booleans | None, values: Values) -> Column:
    texts = sorted({*present})
    place = dict(zip(texts, range(len(texts)), strict=True))
    codes = np.fromiter(map(place.__getitem__, present), np.uint32, len(present))
    return Column("strings", _spread(codes, missing), missing, texts, values)


def _spread(present: Array, missing: Booleans | None) -> Array:
    """Values of the rows that have one, in an array of all rows."""
    if missing is None:
        return present
    array = np.zeros(len(missing), dtype=present.dtype)
    array[~missing] = present
    return array


class Coded:
    """Labels as places among their distinct values; `coded[rows]` is an array of plain labels."""

    def __init__(self, classes: Labels, codes: Codes) -> None:
        self.classes = classes
        self.codes = codes

    @classmethod
    def from_labels(cls, labels: Labels | Coded) -> Coded | Labels:
        """Labels by their places; floats as they are."""
        if isinstance(labels, Coded):
            return labels
        return cls(*encoded(labels)) if labels.dtype.kind in "biU" else labels

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int]:
        """(n,), as of an array of labels."""
        return (len(self.codes),)

    def __getitem__(self, rows: slice | Ints | Booleans) -> Labels:
        labels: Labels = self.classes[self.codes[rows]]
        return labels


def encoded(labels: Array) -> tuple[Labels, Codes]:
    """Return the sorted distinct labels and the place of each row's label: `np.unique`, but faster."""
    kind = labels.dtype.kind
    if kind in "UO":
        column = _of_objects(labels.tolist())
        if column.kind == "strings" and column.missing is None:
            return np.asarray(column.texts, dtype=labels.dtype), column.array
    if kind == "b":
        classes: Labels = np.array([False, True])[np.array([not labels.all(), labels.any()])]
        return classes, labels.astype(np.uint32) * np.uint32(len(classes) - 1)
    whole = labels.astype(np.int64) if kind == "i" or (kind == "f" and _are_whole(labels)) else None
    if whole is not None and whole.size and int(whole.max()) - (low := int(whole.min())) < CLOSE:
        there = np.bincount(whole - low) > 0
        codes = np.cumsum(there, dtype=np.uint32) - np.uint32(1)
        return (np.flatnonzero(there) + low).astype(labels.dtype), codes[whole - low]
    classes, places = np.unique(labels, return_inverse=True)
    return classes, places.astype(np.uint32)


def _are_whole(values: Floats) -> bool:
    return bool((values == np.round(values)).all() and (np.abs(values) < 2.0**53).all())
