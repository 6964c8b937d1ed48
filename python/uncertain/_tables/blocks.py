"""Files of columns read from the beginning to the end, a block of rows at a time.

A reader of Parquet that is asked for a slice decodes what lies before it in its row group, too: slices of a
twentieth of a row group take six times as long as the whole, and more memory than larger ones. So pyarrow,
which goes on where it stopped, reads Parquet where it is installed and gives what Polars would (numbers,
labels, lists of numbers); else Polars reads slices of many rows, which are cut here. (Polars' own batches,
read ahead by several threads, take four times the memory.)
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import polars as pl

from .door import BatchSize
from .formats import is_remote

READ_BYTES = 40 << 20
"""Of a slice that Polars reads."""


def blocks_of(file: str, scan: pl.LazyFrame, size: BatchSize, *, parquet: bool) -> Iterator[pl.DataFrame]:
    """The rows of a file in order, at most `size.rows` at a time; `scan` selects the columns."""
    schema = scan.collect_schema()
    reads = None
    if parquet and not is_remote(file) and find_spec("pyarrow") and all(map(_is_plain, schema.dtypes())):
        reads = _by_pyarrow(file, schema, size)
    for read in reads or _by_polars(scan, schema, size):
        start = 0
        while start < read.height:
            rows = size.rows
            yield read.slice(start, rows)
            start += rows


def _by_polars(scan: pl.LazyFrame, schema: pl.Schema, size: BatchSize) -> Iterator[pl.DataFrame]:
    n_rows, start = int(scan.select(pl.len()).collect().item()), 0
    while start < n_rows:
        rows = size.rows
        if not any(dtype.is_nested() for dtype in schema.dtypes()):
            rows = max(rows, READ_BYTES // (8 * len(schema)))
        read = scan.slice(start, rows).collect()
        start += read.height
        yield read


def _by_pyarrow(file: str, schema: pl.Schema, size: BatchSize) -> Iterator[pl.DataFrame] | None:
    """None if a column is not in the file itself, but in the name of a folder, or is one of several of a
    name."""
    import pyarrow.parquet

    reader = pyarrow.parquet.ParquetFile(file, memory_map=True)
    known = reader.schema_arrow.names
    if any(known.count(name) != 1 for name in schema.names()):
        reader.close()
        return None
    return _frames(reader, schema, size.rows)


def _frames(reader: Any, schema: pl.Schema, rows: int) -> Iterator[pl.DataFrame]:
    import pyarrow

    with reader:
        try:
            for batch in reader.iter_batches(rows, columns=schema.names()):
                frame = pl.DataFrame(pl.from_arrow(batch)).select(schema.names())
                yield frame if frame.schema == schema else frame.cast(schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
            raise OSError(str(error)) from error
        finally:
            pyarrow.default_memory_pool().release_unused()


def _is_plain(dtype: Any) -> bool:
    """Of a type of which both libraries think alike."""
    inner = dtype
    while isinstance(inner, (pl.List, pl.Array)):
        inner = inner.inner
    return bool(inner.is_float() or inner.is_integer() or inner in (pl.Boolean, pl.String))
