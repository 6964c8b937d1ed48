"""Tables in and out: files by their ending, ``-`` for standard input and output by what is in it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import polars

STANDARD = "-"
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


def table_argument() -> Callable[[Any], Any]:
    """A table that is read: the path of one file or more, a pattern, a folder, or ``-``."""
    return click.argument("table", metavar="TABLE...", nargs=-1, required=True, callback=_one_or_many)


def _one_or_many(_ctx: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> str | list[str]:
    """Paths as `uncertain.fit` takes them; the shell may have made many of a pattern."""
    if len(given) > 1 and STANDARD in given:
        raise click.UsageError("standard input (-) is one table: it cannot be read together with files")
    return given[0] if len(given) == 1 else list(given)


def format_option(command: Any) -> Any:
    """--format of what is written."""
    return click.option(
        "--format",
        "kind",
        type=click.Choice(FORMATS),
        help="What to write; by default by the ending of the file, and CSV on standard output.",
    )(command)


def called(path: str | list[str]) -> str:
    """What messages call a table."""
    if path == STANDARD:
        return "standard input"
    return path if isinstance(path, str) else f"{path[0]} and {len(path) - 1} more"


def read(path: str | list[str]) -> polars.DataFrame:
    """All columns of a table."""
    from ..tables import need_polars

    need_polars("the command line")
    from ..tables._files import read_table

    return from_bytes(sys.stdin.buffer.read()) if path == STANDARD else read_table(path)


def opened(path: str | list[str]) -> Any:
    """The same to be asked by column, of which a file may know the units."""
    from ..tables import need_polars, open_table

    need_polars("the command line")
    from ..tables._files import open_files

    return open_table(read(path)) if path == STANDARD else open_files(path)


def from_bytes(data: bytes) -> polars.DataFrame:
    """A table of any kind that files may be of, told by its first bytes; text if these say nothing.

    Written to a file first, so that it is read exactly as that file would be.
    """
    from ..exceptions import UncertainError
    from ..tables._files import read_table

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


def write(frame: polars.DataFrame, path: str, kind: str | None) -> None:
    """To a file, or to standard output."""
    from ..exceptions import ColumnError
    from ..tables._files import write_table
    from ..tables._replacing import replacing

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
    with replacing(path) as draft:
        draft.write_bytes(data.getvalue())
    return None
