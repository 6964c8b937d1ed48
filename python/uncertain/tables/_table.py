"""What every kind of table answers: names, rows, and one column at a time.

Design: a table is asked for its names and for one column at a time, never for everything at once (a
Polars frame rechunks itself in place to answer that). Each library has a subclass, in a file that imports
the library only when a table of it is there. Lazy kinds first hear by `Table.load` which columns will be
asked for, and collect these alone. What an answer is, is said in `Table`; a subclass says what is its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from .._columns.bars import require
from .._data.array import GaussianArray
from .._data.typing import Floats, Ints, Labels
from ..exceptions import ColumnError


@dataclass
class BatchSize:
    """Rows of the next batch; whoever reads batches may change it when it has seen how large they are."""

    rows: int


class Table:
    """A table: the caller's object, untouched, and the few questions asked of it."""

    origin: str = ""
    """The path it comes from; empty for a table in memory."""

    def __init__(self, native: Any) -> None:
        self.native = native

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        raise NotImplementedError

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        raise NotImplementedError

    def load(self, names: Iterable[str]) -> Self:
        """Say which columns will be asked for; lazy kinds then collect these alone, and at once.

        Names that are no columns are left to the question that follows, which has the words for them.
        """
        return self

    def native_column(self, name: str) -> Any:
        """The column as the table's library has it; ColumnError if it is not there or there twice."""
        return self._at(self._place(name))

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        """The column as something whose Arrow or NumPy memory the extension reads; nulls stay nulls.

        With `unit`, a column that knows its own unit is converted to ``unit ** power``: the unit of the
        values, and 2 for the variances of such values. ColumnError, with both units, if it cannot be.
        """
        raise NotImplementedError

    def unit(self, name: str) -> str | None:
        """The name of the column's unit; None where the kind of table, or this column, knows none."""
        self._place(name)
        return None

    def units(self, names: Iterable[str]) -> dict[str, str]:
        """The units of those of the columns that have one."""
        found = {name: self.unit(name) for name in names}
        return {name: unit for name, unit in found.items() if unit}

    def is_numeric(self, name: str) -> bool:
        """Does the column hold one real number per row, by its type?"""
        raise NotImplementedError

    def is_nested(self, name: str) -> bool:
        """Does the column hold lists, by its type? For Python objects, by the first of them."""
        raise NotImplementedError

    def type_of(self, name: str) -> Literal["number", "list", "other"]:
        """What the column holds in each row, by its type."""
        if self.names.count(name) != 1:
            return "other"
        return "number" if self.is_numeric(name) else "list" if self.is_nested(name) else "other"

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        """The column as Python objects, missing values as None (or NaN): for labels, of any type.

        With `unit`, numbers are converted to it as by `numbers`.
        """
        raise NotImplementedError

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        """The column as booleans, integers, floats or strings, if no row is without one; else None.

        Also None where that takes as long as `values`. With `unit` as there.
        """
        return None

    def result(self, columns: Mapping[str, Labels]) -> Any:
        """New columns, one value per row, as a table of the same kind, with the index that this one has."""
        raise NotImplementedError

    def take(self, name: str, rows: Ints) -> Any:
        """Some rows of a column, as the table's library has it."""
        return self.native_column(name)[rows]

    def slice(self, start: int, stop: int) -> Table:
        """Rows `start` to `stop` as a table of the same kind, which shares their memory where it can."""
        raise NotImplementedError

    def batches(self, names: Sequence[str], size: BatchSize) -> Iterator[Table]:
        """These columns in batches of rows, in order; lazy kinds read one after the other."""
        self.load(names)
        start, n_rows = 0, self.n_rows
        while start < n_rows:
            stop = min(start + size.rows, n_rows)
            yield self.slice(start, stop)
            start = stop

    def counted(self) -> int | None:
        """Number of rows, if it is known without reading them."""
        return self.n_rows

    def new(self, columns: Mapping[str, Any], rows: GaussianArray | None) -> Any:
        """A new table of the same library: from `take`, from arrays, and list columns of `rows`."""
        raise NotImplementedError

    def series(self, name: str, values: Labels) -> Any:
        """One new column as the table's library has it."""
        return self.result({name: values})[name]

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """A table of the same kind with this one's columns and the new ones behind them."""
        raise NotImplementedError

    def refuse_existing(self, names: Iterable[str], instead: str) -> None:
        """ColumnError if the table has a column of one of these names, which would be replaced."""
        present = set(self.names)
        clash = next((name for name in names if name in present), None)
        if clash is not None:
            raise ColumnError(
                f"append=True adds a column {clash!r}, but the table has one: rename or drop it, or take the "
                f"predictions by themselves with {instead}"
            )

    def _place(self, name: str) -> int:
        """The number of the column, from 0."""
        names = self.names
        count = names.count(name)
        if count == 0:
            require(name, names)
        if count > 1:
            raise ColumnError(f"there are {count} columns {name!r}; rename them so that the choice is clear")
        return names.index(name)

    def _at(self, place: int) -> Any:
        """The column of this number, as the table's library has it."""
        raise NotImplementedError


def arrays_of(rows: GaussianArray | None) -> dict[str, Floats]:
    """The columns that ``GaussianArray.to_arrow`` gives, as arrays (n, d), (n, d, d) or (n, d, r)."""
    if rows is None:
        return {}
    found = {"mean" if name == "means" else name: part for name, part in rows._core.parts().items()}
    if rows.kind == "shared":
        found["cov"] = rows.covariances()
    return {name: part.reshape(len(part), -1) if part.ndim == 1 else part for name, part in found.items()}


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of an answer as arrays of numbers, and everything else as lists of Python objects.

    Integers are 64 bits wide, as they are in lists.
    """
    plain: dict[str, Any] = {}
    for name, given in columns.items():
        values = np.asarray(given)
        if values.dtype.kind in "iu":
            values = values.astype(np.int64, copy=False)
        plain[name] = values if values.dtype.kind in "ifb" else values.tolist()
    return plain
