"""Files that are damaged, larger than they look, or changed while they are read.

What another library's reader raises at a damaged file may be anything: its own errors, an IndexError, the
panic of a Rust library (a BaseException, so that nobody catches it by mistake). All become a `TableError`
with the path. What a reader cannot allocate ends the process, so the rule is: before all columns of a file
are decoded, twice their bytes (once as columns, once as rows) must be free in memory and under the process's
limit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import polars as pl

from .._spill._budget import format_bytes
from ..exceptions import OutOfMemoryError, TableError, UncertainError
from .formats import is_remote

T = TypeVar("T")


def from_library(error: BaseException) -> bool:
    """An exception, or the panic of a Rust library, and not an interrupt or an exit."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


LISTED = 4
"""Values that a list of unknown length is taken to have."""
MOST_WORDS = 300
"""Characters of a library's message."""


def readable(where: str, kind: str, read: Callable[[], T]) -> T:
    """What `read` reads; errors of the library as a `TableError` with the name of the file."""
    try:
        return read()
    except (UncertainError, FileNotFoundError):
        raise
    except MemoryError as error:
        raise OutOfMemoryError(f"{where}: there is no memory to read it ({_words(error)})") from error
    except BaseException as error:
        if not from_library(error):
            raise
        raise TableError(f"{where}: not a readable {kind} file ({_words(error)})") from error


@contextmanager
def unchanged(file: str) -> Iterator[None]:
    """TableError if a file on disk is another one, or has other bytes, when the block ends."""
    before = _state(file)
    yield
    if _state(file) != before:
        raise TableError(f"{file}: was changed while it was read: read it again, or a copy of it")


def require_room(where: str, n_rows: int, schema: pl.Schema, *, memory_helps: bool = True) -> None:
    """OutOfMemoryError if so many rows of these columns do not fit into memory twice."""
    columns = n_rows * sum(map(_width, schema.dtypes()))
    free = free_bytes()
    if free is not None and 2 * columns > free:
        what = f"{n_rows:,} rows x {len(schema)} columns"
        instead = ': memory="2GB" reads it batch by batch' if memory_helps else ""
        raise OutOfMemoryError(
            f"{where}: {what} need {format_bytes(2 * columns)}, as columns and as rows, and "
            f"{format_bytes(free)} are free{instead}"
        )


def free_bytes() -> int | None:
    """What this process may still allocate, by the system's memory and its own limit; None if nobody says."""
    free = []
    with suppress(OSError, ValueError, IndexError):
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free.append(1024 * sum(int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree")))
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            free.append(max(limit - pages * resource.getpagesize(), 0))
    return min(free, default=None)


def _width(dtype: pl.DataType) -> int:
    """Bytes of a value; of text those that Polars needs for short ones."""
    if isinstance(dtype, pl.Array):
        return dtype.size * _width(dtype.inner)  # type: ignore[arg-type]
    if isinstance(dtype, pl.List):
        return LISTED * _width(dtype.inner)  # type: ignore[arg-type]
    bits = getattr(dtype, "bit_size", None)
    by_name = "".join(filter(str.isdigit, str(dtype))) if dtype.is_numeric() else ""
    return int(bits or by_name or 128) // 8


def _state(file: str) -> tuple[int, ...] | None:
    if is_remote(file):
        return None
    state = os.stat(file)
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _words(error: BaseException) -> str:
    """The first line of its message, and its type where it has none."""
    words = str(error).strip().partition("\n")[0] or type(error).__name__
    return words if len(words) <= MOST_WORDS else words[:MOST_WORDS] + "..."
