"""Table files: reading and writing by ending, and list columns to and from scalar columns."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from .._data.replacing import replacing
from ..exceptions import ColumnError, ParameterError, UncertainError
from .astropy_files import check_same, read_astropy, to_polars, write_astropy
from .blocks import blocks_of
from .door import BatchSize
from .exits import WrappedExit
from .formats import ASTROPY, TEXT, Format, format_of, is_remote
from .hdus import ANY_TABLE, HduChoice, refuse_hdu
from .lazy import lazy_polars
from .opening import open_astropy
from .paths import Paths, describe_paths, find_files, is_folder, polars_source
from .table import Table
from .text_files import scan_text


def open_files(given: Paths, choice: HduChoice = ANY_TABLE) -> Table:
    """The rows of all files that are meant, in order, as one table; answered by Polars.

    Only the columns that are asked for are read, where the format allows.

    Raises
    ------
    FileNotFoundError : there is no such file.
    ParameterError : the ending is unknown, or endings differ.
    ColumnError : columns, types or units differ between files.
    UncertainError : a file cannot be read, or only by a library that is not installed.
    """
    files = find_files(given)
    kind = format_of(files[0])
    if kind.name in ASTROPY:
        remote = next(filter(is_remote, files), None)
        if remote is not None:
            raise ParameterError(f"{remote}: {kind.name} files are read from disk only; download it first")
        native, note = read_astropy(files, kind.name, choice)
        table = open_astropy(native)
        table.exit = WrappedExit(table.exit, to_polars)
        table.notes = (note,) if note else ()
        return _called(describe_paths(given), table)
    refuse_hdu(choice, f"{files[0]}")
    hive = is_folder(given)
    where = describe_paths(given)

    def opened() -> Table:
        whole = _scan_all(files, hive=hive)
        if kind.name not in SLICED:
            return lazy_polars(
                whole,
                lambda query: _readable(where, kind, query.collect),
                whole=kind.name not in STREAMED or bool(kind.compressed),
            )

        def count() -> int:
            return int(whole.select(pl.len()).collect().item())

        def batches(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
            return _blocks(files, whole, names, size, hive=hive)

        def collect(query: pl.LazyFrame) -> pl.DataFrame:
            names = query.collect_schema().names()
            if names and count() > MANY_ROWS:  # a column at once would take three times its size
                return pl.concat(_blocks(files, whole, names, BatchSize(MANY_ROWS), hive=hive))
            return _readable(where, kind, query.collect)  # type: ignore[no-any-return]

        return lazy_polars(whole, collect, batches, count)

    return _called(where, _readable(where, kind, opened))


STREAMED = ("csv", "tsv", "ndjson")
"""Formats that Polars reads from the beginning, in batches; what is compressed it unpacks as a whole."""
SLICED = ("parquet", "ipc")
"""Formats that are read in blocks of rows."""
MANY_ROWS = 1 << 18
"""More are read in blocks, also where all of them are asked for."""


def _blocks(
    files: Sequence[str], whole: pl.LazyFrame, names: Sequence[str], size: BatchSize, *, hive: bool
) -> Iterator[pl.DataFrame]:
    """The rows of one file after the other, in the types of all of them together."""
    types = whole.select(names).collect_schema()
    for file in files:
        kind = format_of(file)
        blocks = blocks_of(file, _scan(file, hive=hive).select(names), size, parquet=kind.name == "parquet")
        while (block := _readable(file, kind, lambda: next(blocks, None))) is not None:  # noqa: B023
            yield block if block.schema == types else block.cast(types)


def read_table(path: Paths) -> pl.DataFrame:
    """The rows of all files that are meant, with all columns."""
    frame: pl.DataFrame = open_files(path).appended({})
    return frame


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write in the format that the path's ending names; an old file is replaced as a whole."""
    kind, compressed = format_of(str(path))
    nested = [n for n, t in frame.schema.items() if t.is_nested()]
    if kind in TEXT and nested:
        what = "CSV" if kind == "csv" else "text"
        raise ColumnError(
            f"{what} has no lists, but column {nested[0]!r} is one; see uncertain convert --unpack"
        )
    if compressed == ".zst" or (compressed and kind not in TEXT):
        raise ParameterError(f"{path}: {compressed} is read, not written; leave it out")
    with replacing(path) as draft:
        if kind in ASTROPY:
            write_astropy(frame, draft, kind)
        elif kind in TEXT:
            text = frame.write_csv(separator="," if kind == "csv" else "\t").encode()
            draft.write_bytes(gzip.compress(text) if compressed else text)
        else:
            try:
                getattr(frame, f"write_{kind}")(draft)
            except pl.exceptions.PolarsError as error:
                raise UncertainError(f"{path}: cannot be written ({error})") from error


def _called(origin: str, table: Table) -> Table:
    """The table, which errors call by this name."""
    table.origin = origin
    return table


def _scan_all(files: Sequence[str], *, hive: bool) -> pl.LazyFrame:
    """The files below one another; in folders such as survey=sdss, the column survey says which."""
    scans = [_scan(file, hive=hive) for file in files]
    if len(files) == 1:
        return scans[0]
    first = scans[0].collect_schema()
    for file, scan in zip(files[1:], scans[1:], strict=True):
        other = scan.collect_schema()
        check_same(files[0], first.names(), file, other.names())
        for name, dtype in first.items():
            numbers = dtype.is_numeric() and other[name].is_numeric()
            if dtype != other[name] and not numbers and pl.Null not in (dtype, other[name]):
                raise ColumnError(
                    f"{file}: column {name!r} is of type {other[name]}, but {dtype} in {files[0]}"
                )
    return pl.concat([scan.select(first.names()) for scan in scans], how="vertical_relaxed")


def _scan(file: str, *, hive: bool) -> pl.LazyFrame:
    kind = format_of(file)
    partitioned = hive and any("=" in part for part in PurePath(file).parent.parts)
    if partitioned and kind.name not in SLICED:
        raise ParameterError(f"{file}: only of Parquet and Arrow files do folders such as k=v make columns")
    if kind.name == "json":
        return pl.read_json(Path(file).read_bytes()).lazy()
    if kind.name == "parquet":
        return pl.scan_parquet(polars_source(file), hive_partitioning=partitioned)
    if kind.name == "ipc":
        return _scan_ipc(file, partitioned)
    if kind.name == "ndjson":
        return pl.scan_ndjson(polars_source(file))
    return scan_text(file, kind)


def _scan_ipc(file: str, partitioned: bool) -> pl.LazyFrame:
    """An Arrow file, or a stream of record batches in one."""
    scan = pl.scan_ipc(polars_source(file), hive_partitioning=partitioned)
    try:
        scan.collect_schema()
    except pl.exceptions.PolarsError:
        if is_remote(file):
            raise
        with open(file, "rb") as stream:
            return pl.read_ipc_stream(stream).lazy()
    return scan


def _readable(where: str, kind: Format, read: Callable[[], Any]) -> Any:
    """What `read` reads; its errors as ours, with the name of the file."""
    try:
        return read()
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise UncertainError(f"{where}: not a readable {kind.name} file ({error})") from error
