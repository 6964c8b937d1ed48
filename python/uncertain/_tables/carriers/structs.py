"""Arrow's ``uncertain.gaussian`` and ``uncertain.mixture``, structs like theirs, and arrays of such rows.

Independent features become scalar columns: x and x_std, of several features x_u, x_u_std, x_g, ...
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ..._data.array import GaussianArray
from ..._data.arrow_rows import fields_of, struct_type, width_of
from ..._data.arrow_types import metadata_of
from ..._data.typing import NativeColumn
from .carrier import Carried, Part, first_object


def from_structs(column: NativeColumn, name: str) -> Carried | None:
    """A column of such structs, as its library has them, or a `GaussianArray` in their place."""
    series = _structs(column, name)
    storage = None if series is None else struct_type(series.dtype)
    if series is None or storage is None:
        return None
    said, width = metadata_of(series.dtype), width_of(storage, series)
    kinds = {field.name for field in storage.fields} - {"mean"}
    if width is None or not (kinds <= {"std"} or kinds <= {"var"} or (width == 1 and kinds == {"cov"})):
        return Carried(series, {name: pl.Series.clone}, "distribution", said.unit)
    names = [f"{name}_{own}" for own in said.names] if said.names else [f"{name}{j}" for j in range(width)]
    parts: dict[str, Part] = {}
    for j, feature in enumerate(names if width > 1 else [name]):
        parts[feature] = partial(_element, "mean", j)
        for kind in kinds:
            parts[f"{feature}_{'std' if kind == 'std' else 'var'}"] = partial(_element, kind, j)
    return Carried(series, parts, unit=said.unit)


def _element(field: str, place: int, column: pl.Series) -> pl.Series:
    """One number of the lists in a field, the only one where they have but one."""
    lists = fields_of(column)[field]
    if isinstance(lists.dtype, pl.Array):
        return lists.arr.get(place if lists.dtype.shape[0] > 1 else 0)
    if isinstance(lists.dtype, pl.List):
        first = lists.drop_nulls()[:1]
        return lists.list.get(place if len(first) and len(first[0]) > 1 else 0)
    return lists


def _structs(column: NativeColumn, name: str) -> pl.Series | None:
    """The column in Polars, if it may be one of structs."""
    if isinstance(column, pl.Series):
        return column
    if isinstance(column, GaussianArray):
        return pl.DataFrame(column.to_arrow(name)).to_series()
    library = type(column).__module__.partition(".")[0]
    kind = str(column.type if library == "pyarrow" else getattr(column, "dtype", "object"))
    if kind == "object":
        rows = [_plain(value) for value in column] if isinstance(first_object(column), dict) else []
        return pl.Series(name, rows) if rows else None
    if not kind.startswith(("struct<", "extension<uncertain.")):
        return None
    from ..columns import to_series

    return to_series(column, name)


def _plain(value: Any) -> Any:
    """A dictionary of lists, of what pandas makes of a struct: arrays of arrays."""
    if isinstance(value, dict):
        return {key: _plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(own) for own in value]
    return None if value is None or value != value else value
