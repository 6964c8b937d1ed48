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

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        """New columns as a table, with the index of the caller's."""
        raise NotImplementedError

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        """The caller's columns and the new ones behind them."""
        raise NotImplementedError

    def take(self, column: NativeColumn, rows: Ints) -> NativeColumn:
        """Some rows of a column of the library."""
        return column[rows]

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        """A new table: of what `take` gave, of arrays, and of list columns of `rows`."""
        return self.frame(dict(columns) | _arrow_arrays(rows))


class PolarsExit(Exit):
    """DataFrames of Polars."""

    shares_lists = True

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        import polars

        lists = {name: _distinct(values) for name, values in columns.items() if _holds_lists(values)}
        plain = _plain({name: values for name, values in columns.items() if name not in lists})
        gathered = {name: polars.Series(unlike).gather(places) for name, (unlike, places) in lists.items()}
        return polars.DataFrame({name: (plain | gathered)[name] for name in columns})

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        return self.whole().with_columns(self.frame(columns).get_columns())

    def take(self, column: NativeColumn, rows: Ints) -> NativeColumn:
        return column.gather(rows)

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

    def take(self, column: NativeColumn, rows: Ints) -> NativeColumn:
        """A Series with an index of its own."""
        return column.iloc[rows].reset_index(drop=True)

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        import pandas

        cells = {name: list(part.reshape(len(part), -1)) for name, part in _arrow_arrays(rows).items()}
        return pandas.DataFrame(dict(columns) | cells)


class ArrowExit(Exit):
    """Tables of pyarrow; also for a RecordBatch, and for what only gives a stream of them."""

    shares_lists = True

    def frame(self, columns: Mapping[str, Labels]) -> NativeTable:
        import pyarrow

        lists = {name: _distinct(values) for name, values in columns.items() if _holds_lists(values)}
        plain = _plain({name: values for name, values in columns.items() if name not in lists})
        arrays = {name: pyarrow.array(values) for name, values in plain.items()}
        taken = {name: pyarrow.array(unlike).take(places) for name, (unlike, places) in lists.items()}
        return pyarrow.table({name: (arrays | taken)[name] for name in columns})

    def append(self, columns: Mapping[str, Labels]) -> NativeTable:
        import pyarrow

        table, added = self.whole(), self.frame(columns)
        if isinstance(table, pyarrow.RecordBatch):
            table = pyarrow.Table.from_batches([table])
        for name in added.column_names:
            table = table.append_column(name, added.column(name))
        return table

    def take(self, column: NativeColumn, rows: Ints) -> NativeColumn:
        return column.take(rows) if hasattr(column, "take") else column.gather(rows).to_arrow()

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        import pyarrow

        made = pyarrow.table(dict(columns))
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

    def take(self, column: NativeColumn, rows: Ints) -> NativeColumn:
        """A part of an array, a list or a Series."""
        exits: dict[str, type[Exit]] = {"polars": PolarsExit, "pandas": PandasExit, "pyarrow": ArrowExit}
        library = exits.get(type(column).__module__.partition(".")[0])
        if library is not None:
            return library(self.whole).take(column, rows)
        return column[rows] if hasattr(column, "dtype") else [column[row] for row in rows.tolist()]


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

    def take(self, column: NativeColumn, rows: Ints) -> NativeColumn:
        return self._inner.take(column, rows)

    def new(self, columns: Mapping[str, NativeColumn], rows: GaussianArray | None = None) -> NativeTable:
        return self._wrap(self._inner.new(columns, rows))


def _arrow_arrays(rows: GaussianArray | None) -> dict[str, Floats]:
    """The columns that ``GaussianArray.to_arrow`` gives, as arrays (n, d), (n, d, d) or (n, d, r)."""
    if rows is None:
        return {}
    parts = {"mean" if name == "means" else name: part for name, part in rows._core.parts().items()}
    if rows.kind == "shared":
        parts["cov"] = rows.covariances()
    return {name: part.reshape(len(part), -1) if part.ndim == 1 else part for name, part in parts.items()}


def _holds_lists(values: Labels) -> bool:
    return values.dtype.kind == "O" and values.ndim == 1 and len(values) > 0 and isinstance(values[0], list)


def _distinct(lists: Labels) -> tuple[list[list[object]], Ints]:
    """The objects among lists that rows share, and which of them each row has."""
    ids = np.fromiter(map(id, lists), dtype=np.int64, count=len(lists))
    _, first, places = np.unique(ids, return_index=True, return_inverse=True)
    return lists[first].tolist(), places


def unshared(values: Labels) -> Labels:
    """The values; of lists a copy for each row, which is the row's own."""
    if not _holds_lists(values):
        return values
    copies = np.empty(len(values), dtype=object)
    copies[:] = [each.copy() for each in values]
    return copies


def _plain(columns: Mapping[str, Labels]) -> dict[str, Labels | list[object]]:
    """Arrays of numbers, and everything else as lists; integers are 64 bits wide, as they are in lists."""
    plain: dict[str, Labels | list[object]] = {}
    for name, values in columns.items():
        if values.dtype.kind in "iu":
            values = values.astype(np.int64, copy=False)
        plain[name] = values if values.dtype.kind in "ifb" else values.tolist()
    return plain
