"""Table files: reading and writing by ending, and list columns to and from scalar columns."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from .._data.replacing import replacing
from .._tables.carried import expand
from .._tables.frame import FIRST, BatchSize, Frame
from .._tables.libraries import of_astropy
from .._tables.table import Table
from ..exceptions import ColumnError, ParameterError, UncertainError
from .astropy import check_units, read_astropy, to_polars, write_astropy
from .damage import readable
from .formats import ASTROPY, READ_ONLY, TEXT, Format, file_format, is_remote, table_format
from .paths import Paths, describe_paths, find_files, is_folder
from .scans import SLICED, below, common_schema, scan_file
from .slices import SlicedFiles


def open_files(given: Paths) -> Table:
    """The rows of all files that are meant, in order, as one table; answered by Polars.

    Only the columns that are asked for are read, where the format allows.

    Raises
    ------
    FileNotFoundError : there is no such file.
    ParameterError : the ending is unknown, or endings differ.
    ColumnError : columns, types or units differ between files.
    TableError : a file cannot be read.
    UncertainError : it is read only by a library that is not installed.
    """
    files = find_files(given)
    kind = table_format(files[0])
    if kind.name in ASTROPY:
        remote = next(filter(is_remote, files), None)
        if remote is not None:
            raise ParameterError(f"{remote}: {kind.name} files are read from disk only; download it first")
        native, note = read_astropy(files, kind.name)
        frame = of_astropy(native)
        own_notes = (note, *frame.notes) if note else frame.notes
        return Table(expand(replace(frame, wrap=to_polars, origin=describe_paths(given), notes=own_notes)))
    hive, where = is_folder(given), describe_paths(given)
    if kind.name in SLICED:
        return Table(expand(SlicedFiles(files, where, hive).frame()))
    return Table(expand(_open_streamed(files, where, kind, hive=hive)))


def _open_streamed(files: Sequence[str], where: str, kind: Format, *, hive: bool) -> Frame:
    """Files that are read from the beginning, as one query."""
    scans = [readable(file, kind.name, lambda: scan_file(file, hive=hive)) for file in files]  # noqa: B023
    named = list(zip(files, scans, strict=True))
    schema = common_schema(
        (file, readable(file, kind.name, scan.frame.collect_schema)) for file, scan in named
    )
    check_units([(file, scan.units) for file, scan in named])
    frames = [scan.frame for scan in scans]

    def collect(names: Sequence[str] | None) -> pl.DataFrame:
        chosen = schema.names() if names is None else names
        return readable(where, kind.name, lambda: below(frames, chosen).collect())

    def batches(names: Sequence[str], size: BatchSize) -> Iterator[pl.DataFrame]:
        # Polars 1.34 or newer.
        blocks = below(frames, names).collect_batches(chunk_size=size.rows, maintain_order=True)
        while (block := readable(where, kind.name, lambda: next(blocks, None))) is not None:
            if block.height:
                yield block

    streams = kind.name in STREAMED and not kind.compressed and hasattr(frames[0], "collect_batches")

    def head(names: Sequence[str]) -> pl.DataFrame:
        return readable(where, kind.name, lambda: below(frames, names).head(FIRST).collect())

    def first_rows() -> pl.DataFrame:
        texts = [name for name, dtype in schema.items() if dtype == pl.String]
        return schema.to_frame() if kind.name not in TEXT or not texts else head(schema.names())

    return Frame(
        "polars", schema.names(), lambda names: collect(names).get_columns(),
        lambda: first_rows().get_columns(), head=lambda names: head(names).get_columns(),
        stream=batches if streams else None, units=lambda: scans[0].units, origin=where,
        notes=tuple(dict.fromkeys(note for scan in scans for note in scan.notes)),
    )  # fmt: skip


STREAMED = ("csv", "tsv", "ndjson")
"""Formats that Polars reads from the beginning, in batches; what is compressed it unpacks as a whole."""


def read_table(path: Paths) -> pl.DataFrame:
    """The rows of all files that are meant, with all columns."""
    frame: pl.DataFrame = open_files(path).appended({})
    return frame


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write in the format that the path's ending names; an old file is replaced as a whole."""
    kind, compressed = file_format(str(path))
    nested = [n for n, t in frame.schema.items() if t.is_nested()]
    if kind in TEXT and nested:
        what = "CSV" if kind == "csv" else "text"
        raise ColumnError(f"{what} has no lists, but column {nested[0]!r} is one: write .parquet or .arrow")
    if kind in READ_ONLY:
        raise ParameterError(f"{path}: such files are read, not written; use .ecsv or .parquet")
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
