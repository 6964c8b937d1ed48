"""Queries that are collected once, and only the columns that are needed.

Names and types come from the query's schema, as a table of no rows. `LazyTable.load` collects the columns
that will be asked for, all at once: a query may give its rows in another order each time it runs. Without
`load` the first question collects everything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from .._data.array import GaussianArray
from .._data.typing import Ints, Labels
from ..exceptions import ShapeError
from ._frames import ArrowTable, PolarsTable, open_stream
from ._table import BatchSize, Table

Stream = Callable[[Sequence[str], BatchSize], Iterator[Table]]
"""Reads these columns of a query in batches of rows, in an order that is always the same."""
Collect = Callable[[Sequence[str] | None], Table]
"""Reads these columns (None: all) of a query as a table."""


class LazyTable(Table):
    """A query, answered like the eager table of its library."""

    def __init__(
        self,
        schema: Table,
        collect: Collect,
        stream: Stream | None = None,
        count: Callable[[], int] | None = None,
        *,
        once: bool = False,
    ) -> None:
        self.once = once
        self._schema = schema
        self._collect = collect
        self._stream = stream
        self._count = count
        self._loaded: Table | None = None

    @property
    def native(self) -> Any:
        """All columns, collected."""
        return self.load(self.names)._read().native

    @property
    def names(self) -> list[str]:
        return self._schema.names

    @property
    def n_rows(self) -> int:
        return self._read().n_rows

    @property
    def streams(self) -> bool:
        """Can it be read in batches?"""
        return self._stream is not None

    @property
    def repeats(self) -> bool:
        """Does it give its rows in the same order whenever it is read in batches? A file does."""
        return self._count is not None

    def forget(self) -> None:
        """Let go of what was collected; it is read again when it is asked for."""
        if self.repeats:
            self._loaded = None

    def collected(self, names: Iterable[str]) -> bool:
        """Are these columns there already?"""
        return self._loaded is not None and {*names} <= {*self._loaded.names}

    def batches(self, names: Sequence[str], size: BatchSize) -> Iterator[Table]:
        """Read one after the other; slices of what has been collected."""
        if self._stream is None or self.collected(names):
            return super().batches(names, size)
        for name in names:
            self._schema._place(name)
        return self._stream(names, size)

    def slice(self, start: int, stop: int) -> Table:
        return self._read().slice(start, stop)

    def counted(self) -> int | None:
        """From what was collected, or what the files say."""
        if self._loaded is not None:
            return self._loaded.n_rows
        return None if self._count is None else self._count()

    def load(self, names: Iterable[str]) -> Self:
        """Collect these columns, unless they are there."""
        wanted, known = set(names), self.names
        present = set() if self._loaded is None else set(self._loaded.names)
        if self._loaded is None or wanted & set(known) - present:
            chosen = [name for name in known if name in wanted | present]
            # Duplicate names cannot be told apart by a projection, and no column at all has no rows.
            whole = not chosen or len(chosen) == len(known) or len(set(known)) < len(known)
            again = self._collect(None if whole else chosen)
            if self._loaded is not None and again.n_rows != self._loaded.n_rows:
                raise ShapeError(
                    f"the query gave {self._loaded.n_rows} rows and then {again.n_rows}: collect it "
                    "once, and pass the table"
                )
            self._loaded = again
        return self

    def native_column(self, name: str) -> Any:
        return self._with(name).native_column(name)

    def numbers(self, name: str, unit: str | None = None, power: int = 1) -> Any:
        return self._with(name).numbers(name, unit, power)

    def unit(self, name: str) -> str | None:
        return self._schema.unit(name)

    def is_numeric(self, name: str) -> bool:
        return self._schema.is_numeric(name)

    def is_nested(self, name: str) -> bool:
        return self._schema.is_nested(name)

    def values(self, name: str, unit: str | None = None) -> list[Any]:
        return self._with(name).values(name, unit)

    def array(self, name: str, unit: str | None = None) -> Labels | None:
        return self._with(name).array(name, unit)

    def result(self, columns: Mapping[str, Labels]) -> Any:
        return self._schema.result(columns)

    def take(self, name: str, rows: Ints) -> Any:
        return self._with(name).take(name, rows)

    def new(self, columns: Mapping[str, Any], rows: GaussianArray | None) -> Any:
        return self._schema.new(columns, rows)

    def appended(self, columns: Mapping[str, Labels]) -> Any:
        """All columns of the query, and the new ones."""
        return self.load(self.names)._read().appended(columns)

    def _with(self, name: str) -> Table:
        """The collected table, with this column."""
        self._schema._place(name)
        return self._read() if self._loaded is None else self.load([name])._read()

    def _read(self) -> Table:
        if self._loaded is None:
            self.load(self.names)
        assert self._loaded is not None
        return self._loaded


def open_lazy(X: Any) -> Table | None:
    """A lazy frame of Polars, a Dataset, Scanner or RecordBatchReader of pyarrow, or a relation of DuckDB;
    None for others."""
    polars, duckdb = (sys.modules.get(name) for name in ("polars", "duckdb"))
    if polars is not None and isinstance(X, polars.LazyFrame):
        return lazy_polars(X)
    if duckdb is not None and isinstance(X, duckdb.DuckDBPyRelation):
        return LazyTable(
            open_stream(X.limit(0)),
            lambda names: open_stream(_projected(X, names)),
            lambda names, size: map(ArrowTable, _duckdb_reader(_projected(X, names), size.rows)),
        )
    return _open_pyarrow(X)


def _open_pyarrow(X: Any) -> Table | None:
    pyarrow, dataset = (sys.modules.get(name) for name in ("pyarrow", "pyarrow.dataset"))
    if dataset is not None and isinstance(X, dataset.Dataset):
        return LazyTable(
            ArrowTable(X.schema.empty_table()),
            lambda names: ArrowTable(X.to_table(columns=None if names is None else list(names))),
            lambda names, size: _arrow_batches(X.scanner(list(names), batch_size=size.rows, **FEW_AHEAD)),
            X.count_rows,
        )
    if dataset is not None and isinstance(X, dataset.Scanner):
        return LazyTable(
            ArrowTable(X.projected_schema.empty_table()),
            lambda names: ArrowTable(X.to_table()),
            lambda names, size: _arrow_batches(X),
        )
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatchReader):
        return LazyTable(
            ArrowTable(X.schema.empty_table()),
            lambda names: ArrowTable(X.read_all()),
            lambda names, size: (ArrowTable(batch) for batch in X if batch.num_rows),
            once=True,
        )
    return None


FEW_AHEAD: dict[str, int] = {"batch_readahead": 1, "fragment_readahead": 1}
"""Batches and files that pyarrow reads before they are asked for: its default of 16 batches needs the
memory."""


def _arrow_batches(scanner: Any) -> Iterator[Table]:
    return (ArrowTable(batch) for batch in scanner.to_batches() if batch.num_rows)


def _duckdb_reader(relation: Any, rows: int) -> Any:
    """Its rows in batches, by the name of this version."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(rows)


def _projected(relation: Any, names: Sequence[str] | None) -> Any:
    return relation if names is None else relation.project(", ".join(map(_quoted, names)))


def lazy_polars(
    frame: Any,
    collect: Callable[[Any], Any] = lambda query: query.collect(),
    stream: Stream | None = None,
    count: Callable[[], int] | None = None,
    *,
    whole: bool = False,
) -> LazyTable:
    """A lazy frame of Polars; `collect` runs a query of it. `whole`: it cannot be read in batches."""

    def batches(names: Sequence[str], size: BatchSize) -> Iterator[Table]:
        # Polars 1.34 or newer.
        found = frame.select(names).collect_batches(chunk_size=size.rows, maintain_order=True)
        return (PolarsTable(batch) for batch in found if batch.height)

    if stream is None and not whole and hasattr(frame, "collect_batches"):
        stream = batches
    return LazyTable(
        PolarsTable(frame.collect_schema().to_frame()),
        lambda names: PolarsTable(collect(frame if names is None else frame.select(names))),
        stream,
        count,
    )


def _quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
