"""Files of columns read from the beginning to the end, a block of rows at a time.

A reader of Parquet that is asked for a slice decodes what lies before it in its row group, too: slices of a
twentieth of a row group take six times as long as the whole, and more memory than larger ones. So pyarrow,
which goes on where it stopped, reads Parquet where it is installed and gives what Polars would (numbers,
labels, times, lists of numbers); else Polars reads slices of many rows, which are cut here. (Polars' own
batches, read ahead by several threads, take four times the memory. And it allocates what a damaged header of
a page asks for, which ends the process; pyarrow raises.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import polars as pl

from .._data.typing import NativeTable
from .._tables import BatchSize
from .formats import is_remote

READ_BYTES = 40 << 20
"""Of a slice that Polars reads."""
BUFFER = 1 << 18
"""Bytes that pyarrow reads of each column at a time."""


def read_blocks(file: str, scan: pl.LazyFrame, size: BatchSize, *, parquet: bool) -> Iterator[pl.DataFrame]:
    """The rows of a file in order, at most `size.rows` at a time; `scan` selects the columns."""
    schema = scan.collect_schema()
    reads = None
    if parquet and has_checked_reader(file) and all(map(_is_plain, schema.dtypes())):
        reads = _by_pyarrow(file, schema, size)
    for read in reads or _by_polars(scan, schema, size):
        start = 0
        while start < read.height:
            rows = size.rows
            yield read.slice(start, rows)
            start += rows


def has_checked_reader(file: str) -> bool:
    """Is there a reader of Parquet that checks what it allocates?"""
    return not is_remote(file) and find_spec("pyarrow") is not None


def check_footer(file: str) -> None:
    """ValueError if the footer of a Parquet file names rows or bytes that the file has not."""
    import pyarrow.parquet

    size = os.path.getsize(file)
    with _opened(file) as source:
        footer = pyarrow.parquet.ParquetFile(source).metadata
    groups = [footer.row_group(k) for k in range(footer.num_row_groups)]
    n_rows = sum(group.num_rows for group in groups)
    if n_rows != footer.num_rows or any(group.num_rows < 0 for group in groups):
        raise ValueError(f"its footer says {footer.num_rows:,} rows, its parts {n_rows:,}")
    for group in groups:
        for column in (group.column(k) for k in range(group.num_columns)):
            pages = (column.dictionary_page_offset, column.data_page_offset)
            start = min(page for page in pages if page is not None)
            if start < 0 or column.total_compressed_size < 0 or start + column.total_compressed_size > size:
                raise ValueError(
                    f"column {column.path_in_schema!r} ends at byte {start + column.total_compressed_size:,} "
                    f"of {size:,}"
                )


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

    # Else a reader of a file that is not mapped holds all compressed columns of a row group, or of the file.
    reader = pyarrow.parquet.ParquetFile(_opened(file), pre_buffer=False, buffer_size=BUFFER)
    known = reader.schema_arrow.names
    if any(known.count(name) != 1 for name in schema.names()):
        reader.close()
        return None
    return _frames(reader, schema, size.rows)


def _frames(reader: NativeTable, schema: pl.Schema, rows: int) -> Iterator[pl.DataFrame]:
    import pyarrow

    with reader:
        try:
            for batch in reader.iter_batches(rows, columns=schema.names()):
                frame = pl.DataFrame(pl.from_arrow(batch)).select(schema.names())
                yield frame if frame.schema == schema else frame.cast(schema)
                del batch, frame
                pyarrow.default_memory_pool().release_unused()  # else it keeps several batches
        finally:
            pyarrow.default_memory_pool().release_unused()


def _opened(file: str) -> NativeTable:
    """A local file, whatever its name: pyarrow itself takes "~" for a folder and "file:" for an address.

    Not mapped: a mapped file that another process shortens would end this one by a signal.
    """
    import pyarrow

    return pyarrow.OSFile(os.fsencode(file))


def _is_plain(dtype: Any) -> bool:
    """Of a type of which both libraries think alike."""
    inner = dtype
    while isinstance(inner, (pl.List, pl.Array)):
        inner = inner.inner
    return bool(
        inner.is_float() or inner.is_integer() or inner.is_temporal() or inner in (pl.Boolean, pl.String)
    )
