"""How answers go back: new tables, columns and rows in the caller's library.

An answer is made of arrays, one value per row, or of what `Exit.take` gives. List columns of Gaussians are
fixed-size lists where the library has them. pandas gets object columns of flat arrays, and what is made of
arrays gets columns of shape (n, d) and (n, d, d).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._data.array import GaussianArray
from .._data.typing import Array, Floats, Ints, Labels, NativeColumn, NativeTable


@dataclass
class Exit:
    """The caller's kind of table; `whole` gives the table itself, of a query with all columns."""

    whole: Callable[[], NativeTable]
    shares_lists: ClassVar[bool] = False
    """Does it copy a list into its own memory, so that rows may share one?"""

    def columns(self, values: Mapping[str, Labels]) -> dict[str, Labels]:
        """Arrays of new columns, in which no two rows share a list that the caller could change."""
        arrays = {name: np.asarray(column) for name, column in values.items()}
        return arrays if self.shares_lists else {name: unshared(array) for name, array in arrays.items()}

    def answer(self, values: Mapping[str, Labels], *, beside: bool = False) -> NativeTable:
        """Arrays as a table of new columns; `beside`: behind the caller's own."""
        columns = self.columns(values)
        return self.append(columns) if beside else self.frame(columns)

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        """New columns as a table, with the index of the caller's."""
        raise NotImplementedError

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        """The caller's columns and the new ones behind them."""
        raise NotImplementedError

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        """A new table: of what `take` gave, of arrays, and of list columns of `rows`."""
        return self.frame(dict(columns) | _arrow_arrays(rows))


class PolarsExit(Exit):
    """DataFrames of Polars."""

    shares_lists = True

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        import polars

        made = {}
        for name, values in columns.items():
            plain, places = _plain(values)
            made[name] = plain if places is None else polars.Series(plain).gather(places)
        return polars.DataFrame(made)

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        return self.whole().with_columns(self.frame(columns).get_columns())

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        import polars

        return polars.DataFrame(dict(columns) | ({} if rows is None else polars.DataFrame(rows).to_dict()))


class PandasExit(Exit):
    """DataFrames of pandas, with the caller's index."""

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        import pandas

        return pandas.DataFrame(dict(columns), index=self.whole().index)

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        """New names stand in the first level of several."""
        import pandas

        added, levels = self.frame(columns), self.whole().columns.nlevels
        if levels > 1:
            added.columns = pandas.MultiIndex.from_tuples(
                [(name, *[""] * (levels - 1)) for name in added.columns], names=self.whole().columns.names
            )
        return pandas.concat([self.whole(), added], axis=1)

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        import pandas

        cells = {name: list(part.reshape(len(part), -1)) for name, part in _arrow_arrays(rows).items()}
        return pandas.DataFrame(dict(columns) | cells)


class ArrowExit(Exit):
    """Tables of pyarrow; also for a RecordBatch, and for what only gives a stream of them."""

    shares_lists = True

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        import pyarrow

        made = {}
        for name, values in columns.items():
            plain, places = _plain(values)
            made[name] = pyarrow.array(plain) if places is None else pyarrow.array(plain).take(places)
        return pyarrow.table(made)

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        import pyarrow

        table, added = self.whole(), self.frame(columns)
        if isinstance(table, pyarrow.RecordBatch):
            table = pyarrow.Table.from_batches([table])
        for name in added.column_names:
            table = table.append_column(name, added.column(name))
        return table

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        import pyarrow

        made = pyarrow.table({n: c.to_arrow() if hasattr(c, "to_arrow") else c for n, c in columns.items()})
        lists: NativeTable = pyarrow.table({} if rows is None else rows)
        for name, column in zip(lists.column_names, lists.columns, strict=True):
            made = made.append_column(name, column)
        return made


class DictExit(Exit):
    """Dicts of arrays."""

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        return dict(columns)

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        return {**self.whole(), **columns}


class StructuredExit(Exit):
    """Structured arrays of NumPy, masked if a column is, records if the caller's are."""

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        fields = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
        masked = any(isinstance(column, np.ma.MaskedArray) for column in columns.values())
        n_rows = len(next(iter(columns.values())))
        made: Array = np.ma.empty(n_rows, dtype=fields) if masked else np.empty(n_rows, dtype=fields)
        for name, column in columns.items():
            made[name] = column
        return made.view(np.recarray) if isinstance(self.whole(), np.recarray) else made

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        table = self.whole()
        return self.frame({name: table[name] for name in table.dtype.names} | dict(columns))


class AstropyExit(Exit):
    """Tables of astropy."""

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        return type(self.whole())(dict(columns))

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        """A copy of the table, its columns shared."""
        table = self.whole().copy(copy_data=False)
        for name, values in columns.items():
            table[name] = values
        return table


class WrappedExit(Exit):
    """Answers of another kind, wrapped."""

    def __init__(self, inner: Exit, wrap: Callable[[NativeTable], NativeTable]) -> None:
        super().__init__(inner.whole)
        self._inner, self._wrap = inner, wrap

    def columns(self, values: Mapping[str, Labels]) -> dict[str, Labels]:
        return self._inner.columns(values)

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        return self._wrap(self._inner.frame(columns))

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        return self._wrap(self._inner.append(columns))

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        return self._wrap(self._inner.new(columns, rows))


def _arrow_arrays(rows: GaussianArray | None) -> dict[str, Floats]:
    """The columns that ``GaussianArray.to_arrow`` gives, as arrays (n, d), (n, d, d) or (n, d, r)."""
    if rows is None:
        return {}
    parts = {
        "mean" if name == "means" else name: part for name, part in rows._core.parts(stored=True).items()
    }
    if rows.kind == "shared":
        parts["cov"] = rows.covariances()
    return {name: part.reshape(len(part), -1) if part.ndim == 1 else part for name, part in parts.items()}


def _holds_lists(values: Labels) -> bool:
    return values.dtype.kind == "O" and values.ndim == 1 and len(values) > 0 and isinstance(values[0], list)


def unshared(values: Labels) -> Labels:
    """The values; of lists a copy for each row, which is the row's own."""
    if not _holds_lists(values):
        return values
    copies = np.empty(len(values), dtype=object)
    copies[:] = [each.copy() for each in values]
    return copies


def _plain(values: Labels) -> tuple[Labels | list[object], Ints | None]:
    """An array of numbers, everything else as a list; integers are 64 bits wide, as they are in lists.

    Of lists that rows share, each once, and which of them each row has.
    """
    if _holds_lists(values):
        ids = np.fromiter(map(id, values), dtype=np.int64, count=len(values))
        _, first, places = np.unique(ids, return_index=True, return_inverse=True)
        return values[first].tolist(), places
    if values.dtype.kind in "iu":
        values = values.astype(np.int64, copy=False)
    return values if values.dtype.kind in "ifb" else values.tolist(), None


def take(column: NativeColumn, rows: Ints) -> NativeColumn:
    """Some rows of a column of any library; those of pandas have an index of their own."""
    if hasattr(column, "iloc"):
        return column.iloc[rows].reset_index(drop=True)
    if hasattr(column, "dtype") and not hasattr(column, "gather"):
        return column[rows]
    gather = getattr(column, "gather", None) or getattr(column, "take", None)
    return [column[row] for row in rows.tolist()] if gather is None else gather(rows)
