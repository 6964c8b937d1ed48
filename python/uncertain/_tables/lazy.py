"""Queries: lazy frames of Polars, and what pyarrow and DuckDB read when they are asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from .._data.typing import NativeTable
from ..exceptions import ParameterError
from .columns import require_codes
from .door import BatchSize, Query, from_library
from .table import Table

FEW_AHEAD: dict[str, int] = {"batch_readahead": 1, "fragment_readahead": 1}
"""Batches and files that pyarrow reads before they are asked for: its default of 16 batches needs the
memory."""


def duckdb_relation(X: NativeTable) -> Table:
    """A relation of DuckDB."""
    query = Query(
        read_stream(X.limit(0)),
        lambda names: read_stream(_projected(X, names)),
        lambda names, size: _frames(_duckdb_reader(_projected(X, names), size.rows), names),
    )
    return Table.from_query(query, by_arrow=True)


def arrow_dataset(X: NativeTable) -> Table:
    """A Dataset of pyarrow."""
    query = Query(
        _frame(X.schema.empty_table()),
        lambda names: _frame(X.to_table(columns=None if names is None else list(names))),
        lambda names, size: _frames(
            X.scanner(list(names), batch_size=size.rows, **FEW_AHEAD).to_batches(), names
        ),
        X.count_rows,
    )
    return Table.from_query(query, by_arrow=True)


def arrow_scanner(X: NativeTable) -> Table:
    """A Scanner of pyarrow."""
    query = Query(
        _frame(X.projected_schema.empty_table()),
        lambda names: _frame(X.to_table()),
        lambda names, size: _frames(X.to_batches(), names),
    )
    return Table.from_query(query, by_arrow=True)


def arrow_reader(X: NativeTable) -> Table:
    """A RecordBatchReader of pyarrow, which can be read once."""
    query = Query(
        _frame(X.schema.empty_table()),
        lambda names: _frame(X.read_all()),
        lambda names, size: _frames(X, names),
        once=True,
    )
    return Table.from_query(query, by_arrow=True)


def lazy_polars(frame: pl.LazyFrame) -> Table:
    """A lazy frame of Polars."""

    def batches(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        # Polars 1.34 or newer.
        blocks = frame.select(names).collect_batches(chunk_size=size.rows, maintain_order=True)
        return (block for block in blocks if block.height)

    return Table.from_query(
        Query(
            frame.collect_schema().to_frame(),
            lambda names: (frame if names is None else frame.select(names)).collect(),
            batches if hasattr(frame, "collect_batches") else None,
        )
    )


def read_stream(X: NativeTable) -> pl.DataFrame:
    """The rows of a stream; ParameterError for whatever goes wrong in the code of `X`."""
    kind = f"{type(X).__module__}.{type(X).__name__}"
    try:
        return pl.DataFrame(X)
    except MemoryError:
        raise
    except BaseException as error:
        if not from_library(error):
            raise
        words = str(error).partition(". Detail: ")[0]  # where pyarrow begins to quote a traceback
        raise ParameterError(
            f"data of type {kind} could not be read through __arrow_c_stream__ "
            f"({type(error).__name__}: {words}): pass a table of Polars, pandas or pyarrow instead"
        ) from error


def _frame(table: NativeTable) -> pl.DataFrame:
    for name, column in zip(table.schema.names, table.columns, strict=True):
        require_codes(column, name)
    return pl.DataFrame(pl.from_arrow(table, rechunk=False))


def _frames(batches: Iterable[NativeTable], names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The batches that have rows."""
    return (_frame(batch.select(names)) for batch in batches if batch.num_rows)


def _duckdb_reader(relation: NativeTable, rows: int) -> NativeTable:
    """Its rows in batches, by the name of this version."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(rows)


def _projected(relation: NativeTable, names: Sequence[str] | None) -> NativeTable:
    return relation if names is None else relation.project(", ".join(map(_quoted, names)))


def _quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
