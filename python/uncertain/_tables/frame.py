"""`Frame`: what is known of a table of any library, and how its columns are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._data.array import GaussianArray
from .._data.typing import ColumnType, NativeColumn, NativeTable
from .._data.units import Unit
from ..exceptions import ParameterError
from .answers import Kind

if TYPE_CHECKING:
    import polars as pl

FIRST = 100
"""Rows that are looked at to see what a column holds."""
KINDS_OF_TABLES = (
    "a table of Polars, pandas, pyarrow, DuckDB, astropy or narwhals, a dict of columns, a structured array, "
    "or anything with __arrow_c_stream__"
)


@dataclass
class BatchSize:
    """Rows of the next batch; whoever reads batches may change it once it is known how large they are."""

    rows: int


Read: TypeAlias = "Callable[[Sequence[str]], list[pl.Series]]"
"""Reads these columns, whose names are unique."""
Stream: TypeAlias = "Callable[[Sequence[str], BatchSize], Iterator[pl.DataFrame]]"
"""Reads these columns in batches of rows, in an order that is always the same."""


@dataclass(frozen=True)
class Frame:
    """A table of any library."""

    kind: Kind
    """The library that answers are for."""
    names: list[str]
    """Column names, in order; they need not be unique."""
    read: Read
    schema: Callable[[], list[pl.Series]]
    """The columns of `names`, which tell their types, with rows or none: text is looked at for error bars
    where there are rows."""
    loaded: Sequence[pl.Series] = ()
    """The columns that need no reading: those of a frame of Polars."""
    head: Read | None = None
    """Reads first rows of these columns; None for a stream."""
    column: Callable[[str], NativeColumn] | None = None
    """Gives a column as its library has it, where that is not Polars."""
    whole: Callable[[], NativeTable] | None = None
    """The caller's table; None for a query, whose columns are read first."""
    count: Callable[[], int | None] = lambda: None
    """The number of rows, where it is known without reading them."""
    stream: Stream | None = None
    units: Callable[[], Mapping[str, Unit]] = dict
    """astropy's units, or their names, where the table has them."""
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    """What columns hold that their types do not tell."""
    wrap: Callable[[NativeTable], NativeTable] | None = None
    """Applied to answers."""
    origin: str = ""
    """The file that errors name."""
    notes: tuple[str, ...] = ()
    """Sentences on what was decided when it was opened."""


def refuse_strange(X: NativeTable) -> None:
    """Raise ParameterError for what has columns, or rows with names, but is no table that is read here."""
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    kind = f"{type(X).__module__}.{type(X).__name__}"
    if isinstance(first, Mapping):
        raise ParameterError(
            f"data of type {type(X).__name__} is no table: pass a table of its dictionaries, such as "
            "polars.DataFrame(rows)"
        )
    if isinstance(first, np.ndarray) and first.ndim > 1:
        raise ParameterError(
            f"a {type(X).__name__} of arrays is no table: pass GaussianArray(means, std=deviations), "
            "or cov=covariances, and the targets as target="
        )
    if isinstance(X, Mapping):
        other = type(next((key for key in X if not isinstance(key, str)), "")).__name__
        what = "an empty dict" if not X else f"a dict with a key of type {other}"
        raise ParameterError(f"{what} is no table: its keys must be the names of columns")
    named = any(hasattr(X, name) for name in ("columns", "colnames", "column_names", "schema"))
    if named and not isinstance(X, (np.ndarray, GaussianArray)):
        raise ParameterError(
            f"{kind} is no table that is read here: {KINDS_OF_TABLES}. Convert it first, such as by "
            "to_polars() or to_pandas()"
        )
