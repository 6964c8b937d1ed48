"""Tables in files: Polars reads Parquet, Arrow, CSV and JSON, astropy FITS, VOTable, ECSV and tables in text.

Files are read one after the other, each with the columns that are used; few files are open at once. An error
of a reader becomes a `TableError` that names the file.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, TypeVar

import polars as pl

from .._data.installed import installed
from .._data.typing import Keywords, NativeTable
from ..exceptions import ColumnError, OutOfMemoryError, ParameterError, TableError, UncertainError
from .astropy import read_hdu
from .carried import expand
from .frame import FIRST, BatchSize, Frame
from .libraries import of_astropy
from .paths import (
    Format,
    Paths,
    absolute,
    describe_paths,
    file_format,
    find_files,
    is_folder,
    is_remote,
    polars_source,
    printable,
)
from .series import series_from_batches
from .table import Table

T = TypeVar("T")

ASTROPY: dict[str, Keywords] = {
    "fits": {"format": "fits"},
    "votable": {"format": "votable", "use_names_over_ids": True},
    "ecsv": {"format": "ascii.ecsv"},
    "ipac": {"format": "ascii.ipac"},
    "mrt": {"format": "ascii.mrt"},
    "text": {"format": "ascii"},
}
"""Formats that astropy reads, with its arguments; it guesses the layout of other text."""
SLICED = ("parquet", "ipc")
"""Formats that are read in slices of rows."""
MISSING = ["", "NA", "N/A", "NULL", "null", "nan", "NAN", "--"]
"""Words that stand for a missing value in text; NaN is a number, and null to most readers."""
INFERRED = 10_000
"""Rows of a file of text that tell the types of its columns."""
SLICE_BYTES = 40 << 20
"""Of a slice of rows: smaller ones decode the same pages again and again."""
BUFFER = 1 << 18
"""Bytes that pyarrow reads of each column at a time."""


def open_files(paths: Paths) -> Table:
    """Open the rows of all files that are meant, in order, as one table; answered by Polars.

    Raises
    ------
    FileNotFoundError : there is no such file.
    ParameterError : the ending is unknown, or endings differ.
    ColumnError : columns, types or units differ between files.
    TableError : a file cannot be read.
    UncertainError : it is read only by a library that is not installed.
    """
    files, origin = find_files(paths), describe_paths(paths)
    if file_format(files[0]).name not in ASTROPY:
        return Table(expand(_polars_files(files, origin, hive=is_folder(paths))))
    tables = [_read(file, lambda: _read_astropy(file)) for file in files]  # noqa: B023
    native, notes = tables[0]
    for file, (table, _) in zip(files[1:], tables[1:], strict=True):
        _require_same(files[0], native.colnames, file, table.colnames)
        for name in native.colnames:
            one, other = (getattr(each[name], "unit", None) for each in (native, table))
            if one != other:
                raise ColumnError(
                    f"{file}: column {name!r} has the unit {other}, but {one} in {files[0]}. Convert one."
                )
    if len(tables) > 1:
        from astropy.table import vstack

        native = vstack([table for table, _ in tables], join_type="exact", metadata_conflicts="silent")
    frame = of_astropy(native)
    return Table(expand(replace(frame, wrap=to_polars, origin=origin, notes=(*notes, *frame.notes))))


def read_table(paths: Paths) -> pl.DataFrame:
    """Read the rows of all files that are meant, with all columns."""
    frame: pl.DataFrame = open_files(paths).appended({})
    return frame


def to_polars(table: NativeTable) -> pl.DataFrame:
    """Return an astropy table as a Polars frame: lists for columns of several dimensions, nulls for gaps.

    Times and coordinates become the columns of numbers that astropy writes for them.
    """
    from astropy.table.serialize import represent_mixins_as_columns

    plain = of_astropy(represent_mixins_as_columns(table))
    return pl.DataFrame(plain.read(plain.names))


def _polars_files(files: Sequence[str], origin: str, *, hive: bool) -> Frame:
    kind = file_format(files[0])

    @lru_cache(16)  # more would stay open
    def scan(file: str) -> pl.LazyFrame:
        return _read(file, lambda: _scan(file, codes, hive=hive))

    @cache
    def count() -> int:
        return sum(_read(file, lambda: _count(scan(file))) for file in files)  # noqa: B023

    def checked(file: str, part: pl.DataFrame) -> pl.DataFrame:
        """Refuse a file of text with a row of too few fields, whose last columns Polars fills with nulls."""
        last = max(part.columns, key=schema.names().index, default=None)
        if is_text and last is not None and part[last].null_count() and (words := ragged(file)):
            raise TableError(f"{printable(file)}: {words}")
        return _cast(part, schema)

    @cache
    def ragged(file: str) -> str:
        return _ragged_line(file, kind)

    def read(names: Sequence[str]) -> list[pl.Series]:
        parts = [_read(file, lambda: scan(file).select(names).collect()) for file in files]  # noqa: B023
        return pl.concat([checked(*each) for each in zip(files, parts, strict=True)]).get_columns()

    def stream(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        for file in files:
            blocks = _read(file, lambda: iter(_blocks(file, scan(file).select(names), size)))  # noqa: B023
            while (block := _read(file, lambda: next(blocks, None))) is not None:  # noqa: B023
                block, start = checked(file, block), 0
                while start < block.height:
                    rows = size.rows
                    yield block.slice(start, rows)
                    start += rows

    def head(names: Sequence[str]) -> list[pl.Series]:
        if kind.name in SLICED:  # of which a slice decodes whole row groups
            blocks = stream(names, BatchSize(10 * FIRST))
            return next(blocks, schema.to_frame().select(names)).get_columns()
        first = _read(files[0], lambda: scan(files[0]).select(names).head(10 * FIRST).collect())
        return _cast(first, schema).get_columns()

    is_text = kind.name in ("csv", "tsv")
    codes = {name for file in files if is_text for name in _read(file, lambda: _codes(file, kind))}  # noqa: B023
    schema = _common_schema([(file, _read(file, scan(file).collect_schema)) for file in files])
    streams = kind.name in SLICED or (kind.name in ("csv", "tsv", "ndjson") and not kind.compressed)
    texts = is_text and pl.String in schema.dtypes()
    return Frame(
        "polars", schema.names(), read,
        (lambda: head(schema.names())) if texts else (lambda: schema.to_frame().get_columns()),
        head=head, count=count if kind.name in SLICED else lambda: None,
        stream=stream if streams and hasattr(pl.LazyFrame, "collect_batches") else None, origin=origin,
    )  # fmt: skip


def _count(frame: pl.LazyFrame) -> int:
    return int(frame.select(pl.len()).collect().item())


def _blocks(file: str, frame: pl.LazyFrame, size: BatchSize) -> Iterator[pl.DataFrame]:
    """Read the columns of a file in blocks; those of Parquet by pyarrow where it is installed.

    pyarrow goes on where it stopped and holds one batch. A slice of Polars decodes again what lies before it
    in its row group, and needs three times the memory of its rows.
    """
    kind, schema = file_format(file).name, frame.collect_schema()
    if kind not in SLICED:
        yield from frame.collect_batches(chunk_size=size.rows, maintain_order=True)
        return
    by_pyarrow = kind == "parquet" and not is_remote(file) and installed("pyarrow")
    if by_pyarrow and all(map(_is_plain, schema.dtypes())):
        import pyarrow
        from pyarrow.parquet import ParquetFile

        with ParquetFile(pyarrow.OSFile(os.fsencode(file)), pre_buffer=False, buffer_size=BUFFER) as reader:
            if {*schema.names()} <= {*reader.schema_arrow.names}:  # and not in the name of a folder
                for batch in reader.iter_batches(size.rows, columns=schema.names()):
                    yield pl.DataFrame(series_from_batches(batch)).select(schema.names())
                    del batch
                    pyarrow.default_memory_pool().release_unused()  # else it keeps several batches
                return
    start, n_rows = 0, _count(frame)
    nested = any(dtype.is_nested() for dtype in schema.dtypes())
    while start < n_rows:
        rows = size.rows if nested else max(size.rows, SLICE_BYTES // (8 * len(schema)))
        yield frame.slice(start, rows).collect()
        start += rows


def _is_plain(dtype: Any) -> bool:
    """Is it a type that pyarrow and Polars read alike?"""
    while isinstance(dtype, (pl.List, pl.Array)):
        dtype = dtype.inner
    return bool(dtype.is_numeric() or dtype.is_temporal() or dtype in (pl.Boolean, pl.String))


def _cast(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    types = {name: schema[name] for name in frame.columns}
    return frame if frame.schema == types else frame.cast(types)  # type: ignore[arg-type]


def _common_schema(schemas: Sequence[tuple[str, pl.Schema]]) -> pl.Schema:
    """Return the columns of the first of several files, with types that hold those of all.

    ColumnError if another file has other columns, or one that is not of the same kind.
    """
    (first_file, first), *others = schemas
    for file, other in others:
        _require_same(first_file, first.names(), file, other.names())
        for name, dtype in first.items():
            numbers = dtype.is_numeric() and other[name].is_numeric()
            if dtype != other[name] and not numbers and pl.Null not in (dtype, other[name]):
                raise ColumnError(
                    f"{file}: column {name!r} is of type {other[name]}, but {dtype} in {first_file}"
                )
    empty = [schema.to_frame().select(first.names()) for _, schema in schemas]
    return pl.concat(empty, how="vertical_relaxed").schema


def _require_same(first_file: str, first: Sequence[str], file: str, names: Sequence[str]) -> None:
    """Raise ColumnError unless two files have the same columns, in any order."""
    for name in first:
        if name not in names:
            raise ColumnError(f"{file}: there is no column {name!r}, which {first_file} has")
    for name in names:
        if name not in first:
            raise ColumnError(f"{file}: there is a column {name!r}, which {first_file} has not")


def _read(file: str, read: Callable[[], T]) -> T:
    """Return what `read` reads; errors of a library, and panics of Rust, become a `TableError`."""
    try:
        return read()
    except FileNotFoundError:
        raise
    except ColumnError as error:
        raise ColumnError(f"{printable(file)}: {error}") from None
    except UncertainError:
        raise
    except MemoryError as error:
        raise OutOfMemoryError(f'{printable(file)}: no memory to read it. Pass memory="2GB".') from error
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        kind = file_format(file)
        words = _ragged_line(file, kind) if kind.name in ("csv", "tsv") else ""
        words = words or str(error).strip().partition("\n")[0][:300] or type(error).__name__
        raise TableError(f"{printable(file)}: not a readable {kind.name} file ({words})") from error


# -- formats


def _scan(file: str, codes: Iterable[str], *, hive: bool) -> pl.LazyFrame:
    """Open a file as a lazy frame; in folders such as survey=sdss, with a column survey; `codes`: columns
    that stay text."""
    kind = file_format(file)
    source = "" if kind.name == "json" else polars_source(file)
    partitioned = hive and any("=" in part for part in PurePath(file).parent.parts)
    if partitioned and kind.name not in SLICED:
        raise ParameterError(f"{file}: only of Parquet and Arrow files do folders such as k=v make columns")
    if kind.name == "parquet":
        return pl.scan_parquet(source, hive_partitioning=partitioned)
    if kind.name == "ndjson":
        return pl.scan_ndjson(source)
    if kind.name == "json":
        return pl.read_json(Path(file).read_bytes()).lazy()
    if kind.name == "ipc":
        if not is_remote(file) and not _starts_with(file, b"ARROW1"):  # a stream of record batches
            return pl.read_ipc_stream(BytesIO(Path(file).read_bytes())).lazy()
        return pl.scan_ipc(source, hive_partitioning=partitioned)
    options = _csv_options(file, kind) | {"schema_overrides": dict.fromkeys(codes, pl.String)}
    # Decompressed in memory; not all versions of Polars scan such files.
    return pl.read_csv(source, **options).lazy() if kind.compressed else pl.scan_csv(source, **options)


def _starts_with(file: str, magic: bytes) -> bool:
    with open(file, "rb") as stream:
        return stream.read(len(magic)) == magic


def _csv_options(file: str, kind: Format) -> Keywords:
    """Return the separator of the line of names, and decimal commas where semicolons separate."""
    separator, comma = "\t" if kind.name == "tsv" else ",", False
    if kind.compressed != ".zst" and not is_remote(file):
        rows = (line for _, line in _lines(file, kind))
        names, values = (re.sub(r'"[^"]*"', "", next(rows, "")) for _ in range(2))
        separator = max(("\t" if kind.name == "tsv" else ",", "\t", ";", "|", ","), key=names.count)
        comma = separator == ";" and re.search(r"(^|;)\s*[+-]?\d+,\d+\s*(;|$)", values) is not None
    return {
        "separator": separator, "decimal_comma": comma, "comment_prefix": "#", "null_values": MISSING,
        "infer_schema_length": INFERRED,
    }  # fmt: skip


def _codes(file: str, kind: Format) -> list[str]:
    """Return the columns of whole numbers with leading zeros, such as 007: labels that are no numbers."""
    if is_remote(file):
        return []
    options = _csv_options(file, kind) | {"infer_schema": False, "n_rows": INFERRED}
    first = pl.read_csv(polars_source(file), **options)
    has_code = first.select(pl.all().str.contains(r"^\s*0\d+\s*$").any())
    return [name for name, found in has_code.row(0, named=True).items() if found] if first.width else []


def _lines(file: str, kind: Format) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of text with their numbers, without comments and blank ones."""
    opened: Any = gzip.open if kind.compressed else open
    with opened(file, "rt", encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.startswith("#"):
                yield number, line.rstrip("\r\n")


def _ragged_line(file: str, kind: Format) -> str:
    """Return which line has another number of fields than the line of names; "" if none has, and of a file
    that cannot be read as text."""
    if kind.compressed == ".zst" or is_remote(file):
        return ""
    width, place = 0, [0]

    def lines() -> Iterator[str]:
        for place[0], line in _lines(file, kind):
            yield line + "\n"

    try:
        for fields in csv.reader(lines(), delimiter=_csv_options(file, kind)["separator"]):
            width = width or len(fields)
            if len(fields) != width:
                plural = "s" * (len(fields) > 1)
                return f"line {place[0]} has {len(fields)} field{plural}, the line of names {width}"
    except (OSError, EOFError, csv.Error):
        pass
    return ""


def _read_astropy(file: str) -> tuple[NativeTable, tuple[str, ...]]:
    """Read a table by astropy, and say what else the file holds."""
    kind = file_format(file).name
    if is_remote(file):
        raise ParameterError(f"{file}: {kind} files are read from disk only; download it first")
    if not installed("astropy"):
        raise UncertainError(f"{file}: astropy reads such files: pip install 'uncertain-learn[astropy]'")
    from astropy.io import fits
    from astropy.table import Table as NativeTable

    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*truncated")  # rows behind the end of the file would be made up
        if kind == "fits":
            with fits.open(absolute(file)) as hdus:
                return read_hdu(hdus)
        options = {"fill_values": [(word, "0") for word in MISSING]} if kind == "text" else {}
        return NativeTable.read(absolute(file), **ASTROPY[kind], **options), ()
