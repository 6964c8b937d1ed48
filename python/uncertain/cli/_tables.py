"""Tables in and out: files by ending, ``-`` by content."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import click

from .._data.options import refuse_if

if TYPE_CHECKING:
    import polars

    from .._data.typing import NativeTable
    from .._errors.sizes import Errors
    from .._model.model import Model
    from .._tables.table import Table

Paths: TypeAlias = str | list[str]

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
"""First bytes of each kind of file."""


def _one_or_many(_ctx: click.Context, _option: click.Parameter, paths: tuple[str, ...]) -> Paths:
    mixed = "standard input (-) is one table: it cannot be read together with files"
    refuse_if(len(paths) > 1 and STANDARD in paths, mixed, click.UsageError)
    return paths[0] if len(paths) == 1 else list(paths)


table_argument = click.argument("table", metavar="TABLE...", nargs=-1, required=True, callback=_one_or_many)
format_option = click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    help="Format to write; by default that of the file's ending, and CSV on standard output.",
)


def table_name(path: Paths) -> str:
    """Name of a table in messages."""
    if path == STANDARD:
        return "standard input"
    return path if isinstance(path, str) else f"{path[0]} and {len(path) - 1} more"


def read(path: Paths) -> polars.DataFrame:
    """Read all columns of a table. Standard input is written to a file first, whose format its first bytes
    tell."""
    from .._tables.files import read_table
    from ..exceptions import UncertainError

    if path != STANDARD:
        return read_table(path)
    data = sys.stdin.buffer.read()
    refuse_if(not data.strip(), "standard input is empty: a table was expected", UncertainError)
    kind = next((kind for start, kind in STARTS.items() if data.startswith(start)), "csv")
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"standard-input.{kind}"
        file.write_bytes(data)
        try:
            return read_table(file)
        except UncertainError as error:
            raise type(error)(str(error).replace(str(file), f"standard input, read as {kind}")) from error


def open_table(path: Paths, model: Model | None = None, errors: Errors = None) -> NativeTable:
    """Open a table read by column; of a model, the columns that it reads."""
    from .._tables.files import open_files
    from .._tables.table import open_table as open_frame

    if model is not None:
        return model._reader.opened(read(path) if path == STANDARD else path, errors).table
    if path == STANDARD:
        return open_frame(read(path))
    table = open_files(path)
    for note in table.notes:
        click.echo(f"{table.origin}: {note}", err=True)
    return table


def write(
    table: Table, answer: Callable[[Table], polars.DataFrame], path: str, kind: str | None
) -> tuple[int, int]:
    """Write answers for a table, batch by batch if the format allows; count rows and columns."""
    import polars

    from .._tables.paths import file_format
    from .._tables.writing import write_table

    frames = map(answer, _batches(table))
    by_ending = kind is None and path != STANDARD
    name = kind or (file_format(path).name if by_ending else "csv")
    name = "arrow" if name == "ipc" else name
    if by_ending and (name not in FORMATS or file_format(path).compressed):
        frame = polars.concat(frames)
        write_table(frame, Path(path))
        return frame.shape
    with _output(path) as file:
        return (_write_text if name in ("csv", "tsv") else _write_binary)(frames, file, name)


def _batches(table: Table) -> Iterator[Table]:
    """The table, or all columns of a large file in batches."""
    from .._tables.frame import BatchSize

    width = 8 * len(table.names)
    n_rows = table.counted() if table.streams and table.repeats else None
    if n_rows is None or n_rows * width <= LARGE:
        return iter([table])
    return iter(table.batches(table.names, BatchSize(max(BATCH // width, 1024))))


@contextmanager
def _output(path: str) -> Iterator[BinaryIO]:
    from .._data.replacing import replacing

    if path == STANDARD:
        yield sys.stdout.buffer
        return
    with replacing(path) as draft, draft.open("wb") as file:
        yield file


def _write_text(frames: Iterable[polars.DataFrame], file: BinaryIO, kind: str) -> tuple[int, int]:
    from ..exceptions import ColumnError

    height = width = 0
    for frame in frames:
        for name in (name for name, dtype in frame.schema.items() if dtype.is_nested()):
            raise ColumnError(f"{kind.upper()} has no lists, but column {name!r} is one. Write parquet.")
        text = frame.write_csv(separator="\t" if kind == "tsv" else ",", include_header=not height)
        file.write(text.encode())
        height, width = height + frame.height, frame.width
    return height, width


def _write_binary(frames: Iterator[polars.DataFrame], file: BinaryIO, kind: str) -> tuple[int, int]:
    """Parquet or Arrow: one frame by Polars, several by pyarrow as they come."""
    import polars

    from .._data.installed import installed

    first = next(frames)
    second = next(frames, None)
    if second is None or not installed("pyarrow"):
        frame = first if second is None else polars.concat([first, second, *frames])
        data = io.BytesIO()  # Polars raises other errors for a full disk
        (frame.write_parquet if kind == "parquet" else frame.write_ipc)(data)
        file.write(data.getbuffer())
        return frame.shape
    import pyarrow
    import pyarrow.parquet

    height, schema = 0, first.to_arrow().schema
    new: Any = pyarrow.parquet.ParquetWriter if kind == "parquet" else pyarrow.ipc.new_file
    with new(file, schema) as writer:
        for frame in chain((first, second), frames):
            writer.write_table(frame.to_arrow().cast(schema))
            height += frame.height
    return height, first.width
