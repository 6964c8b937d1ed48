"""Tables in and out: files by their ending, ``-`` (standard input and output) by content."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click

if TYPE_CHECKING:
    import polars

    from .._data.typing import Function, NativeTable
    from .._model.model import Model
    from .._model.without_errors import Errors
    from .._tables import Table

STANDARD = "-"
LARGE = 64 << 20
"""Bytes of numbers from which a file is processed in batches."""
BATCH = 32 << 20
"""Bytes of a batch."""
FORMATS = ("csv", "tsv", "parquet", "arrow")
STARTS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream of record batches
    b"SIMPLE  =": "fits",
    b"<?xml": "vot",
    b"# %ECSV": "ecsv",
    b"\x1f\x8b": "csv.gz",
    b"\x28\xb5\x2f\xfd": "csv.zst",
}
"""How files of each kind begin."""


def table_argument() -> Callable[[Function], Function]:
    """A table that is read: the path of one file or more, a pattern, a folder, or ``-``."""
    return click.argument("table", metavar="TABLE...", nargs=-1, required=True, callback=_one_or_many)


def _one_or_many(_ctx: click.Context, _option: click.Parameter, paths: tuple[str, ...]) -> str | list[str]:
    """Paths as `uncertain.fit` takes them; the shell may have made many of a pattern."""
    if len(paths) > 1 and STANDARD in paths:
        raise click.UsageError("standard input (-) is one table: it cannot be read together with files")
    return paths[0] if len(paths) == 1 else list(paths)


def format_option(command: Function) -> Function:
    """--format of what is written."""
    return click.option(
        "--format",
        "kind",
        type=click.Choice(FORMATS),
        help="Format to write; by default that of the file's ending, and CSV on standard output.",
    )(command)


def called(path: str | list[str]) -> str:
    """The name of a table in messages."""
    if path == STANDARD:
        return "standard input"
    return path if isinstance(path, str) else f"{path[0]} and {len(path) - 1} more"


def read(path: str | list[str]) -> polars.DataFrame:
    """All columns of a table."""
    from .._files.read import read_table

    return from_bytes(sys.stdin.buffer.read()) if path == STANDARD else read_table(path)


def opened(path: str | list[str]) -> NativeTable:
    """A table that is read by column; a file may have units."""
    from .._files.read import open_files
    from .._tables import open_table

    if path == STANDARD:
        return open_table(read(path))
    table = open_files(path)
    for note in table.notes:
        click.echo(f"{table.origin}: {note}", err=True)
    return table


def opened_for(model: Model, path: str | list[str], errors: Errors = None) -> NativeTable:
    """The same with the columns that a model reads."""
    return model._reader.opened(read(path) if path == STANDARD else path, errors).table


def from_bytes(data: bytes) -> polars.DataFrame:
    """A table of any file format, recognised by its first bytes; otherwise text.

    Written to a file first, so that it is read exactly as that file would be.
    """
    from .._files.read import read_table
    from ..exceptions import UncertainError

    if not data.strip():
        raise UncertainError("standard input is empty: a table was expected")
    kind = next((kind for start, kind in STARTS.items() if data.startswith(start)), "csv")
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"standard-input.{kind}"
        path.write_bytes(data)
        try:
            return read_table(path)
        except UncertainError as error:
            raise type(error)(str(error).replace(str(path), f"standard input, read as {kind}")) from error


def streams(table: Table) -> bool:
    """Is it a large file, which is processed batch by batch?"""
    if not (table.streams and table.repeats):
        return False
    n_rows = table.counted()
    return n_rows is not None and 8 * n_rows * len(table.names) > LARGE


def batches(table: Table) -> Iterator[Table]:
    """All columns of a large file, in batches."""
    from .._tables import BatchSize

    return iter(table.batches(table.names, BatchSize(max(BATCH // (8 * len(table.names)), 1024))))


def write_batches(frames: Iterable[polars.DataFrame], path: str, kind: str | None) -> int:
    """One table of many frames, written as they come; the number of its rows.

    Formats that are written as a whole (FITS, JSON, and Parquet and Arrow without pyarrow) are collected
    first.
    """
    import polars

    from .._data.installed import installed
    from .._data.replacing import replacing
    from .._files.formats import file_format

    named = kind or ("csv" if path == STANDARD else file_format(path).name)
    named = {"arrow": "ipc"}.get(named, named)
    whole = path != STANDARD and kind is None and file_format(path).compressed
    if (
        whole
        or named not in ("csv", "tsv", "parquet", "ipc")
        or (named in ("parquet", "ipc") and not installed("pyarrow"))
    ):
        frame = polars.concat(frames)
        write(frame, path, kind)
        return frame.height
    if path == STANDARD:
        return _written(frames, sys.stdout.buffer, named)
    with replacing(path) as draft, draft.open("wb") as file:
        return _written(frames, file, named)


def _written(frames: Iterable[polars.DataFrame], file: BinaryIO, kind: str) -> int:
    """The frames in one file of text, or in one of pyarrow's."""
    n_rows = 0
    if kind in ("csv", "tsv"):
        for frame in frames:
            _refuse_lists(frame, kind)
            text = frame.write_csv(separator="\t" if kind == "tsv" else ",", include_header=not n_rows)
            file.write(text.encode())
            n_rows += frame.height
        file.flush()
        return n_rows
    import pyarrow
    import pyarrow.parquet

    writer: Any = None
    for frame in frames:
        batch = frame.to_arrow()
        if writer is None:
            open_writer = pyarrow.parquet.ParquetWriter if kind == "parquet" else pyarrow.ipc.new_file
            writer = open_writer(file, batch.schema)
        writer.write_table(batch.cast(writer.schema) if kind == "parquet" else batch)
        n_rows += frame.height
    if writer is not None:
        writer.close()
    return n_rows


def _refuse_lists(frame: polars.DataFrame, kind: str) -> None:
    from ..exceptions import ColumnError

    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    if kind in ("csv", "tsv") and nested:
        raise ColumnError(
            f"{kind.upper()} has no lists, but column {nested[0]!r} is one: write parquet or arrow"
        )


def write(frame: polars.DataFrame, path: str, kind: str | None) -> None:
    """To a file, or to standard output."""
    from .._data.replacing import replacing
    from .._files.read import write_table

    if path != STANDARD and kind is None:
        return write_table(frame, Path(path))
    kind = kind or "csv"
    _refuse_lists(frame, kind)
    data = io.BytesIO()
    if kind == "parquet":
        frame.write_parquet(data)
    elif kind == "arrow":
        frame.write_ipc(data)
    else:
        frame.write_csv(data, separator="\t" if kind == "tsv" else ",")
    if path == STANDARD:
        sys.stdout.buffer.write(data.getvalue())
        sys.stdout.buffer.flush()
        return None
    with replacing(path) as draft:
        draft.write_bytes(data.getvalue())
    return None
