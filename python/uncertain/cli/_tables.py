"""Tables in and out: files by their ending, ``-`` for standard input and output by what is in it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import polars

STANDARD = "-"
FORMATS = ("csv", "tsv", "parquet", "arrow")


def table_argument(name: str = "table") -> Callable[[Any], Any]:
    """A table that is read: a path, or ``-``."""
    return click.argument(name, metavar=name.upper())


def format_option(command: Any) -> Any:
    """--format of what is written."""
    return click.option(
        "--format",
        "kind",
        type=click.Choice(FORMATS),
        help="What to write; by default by the ending of the file, and CSV on standard output.",
    )(command)


def read(path: str) -> polars.DataFrame:
    """The table at a path, or on standard input."""
    from ..tables._files import read_table

    return from_bytes(sys.stdin.buffer.read()) if path == STANDARD else read_table(Path(path))


def opened(path: str) -> Any:
    """The same to be asked by column, of which a file may know the units."""
    from ..tables import open_table
    from ..tables._files import open_files

    return open_table(read(path)) if path == STANDARD else open_files(path)


def from_bytes(data: bytes) -> polars.DataFrame:
    """A Parquet or Arrow table by its first bytes, anything else as comma or tab separated text."""
    import polars

    from ..exceptions import UncertainError

    if not data.strip():
        raise UncertainError("standard input is empty: a table was expected")
    stream = io.BytesIO(data)
    name = "CSV"
    try:
        if data[:4] == b"PAR1":
            name = "Parquet"
            return polars.read_parquet(stream)
        if data[:6] == b"ARROW1":
            name = "Arrow"
            return polars.read_ipc(stream)
        if data[:4] == b"\xff\xff\xff\xff":
            name = "Arrow"
            return polars.read_ipc_stream(stream)
        header = data.partition(b"\n")[0]
        return polars.read_csv(stream, separator="\t" if b"\t" in header and b"," not in header else ",")
    except (polars.exceptions.PolarsError, OSError) as error:
        raise UncertainError(f"standard input: not a readable {name} table ({error})") from error


def write(frame: polars.DataFrame, path: str, kind: str | None) -> None:
    """To a file, or to standard output."""
    from ..exceptions import ColumnError
    from ..tables._files import write_table

    if path != STANDARD and kind is None:
        return write_table(frame, Path(path))
    kind = kind or "csv"
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    if kind in ("csv", "tsv") and nested:
        raise ColumnError(
            f"{kind.upper()} has no lists, but column {nested[0]!r} is one; see convert --unpack"
        )
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
    Path(path).write_bytes(data.getvalue())
    return None
