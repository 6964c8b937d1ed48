"""One file as a lazy frame of Polars, opened anew whenever it is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

import polars as pl

from ..exceptions import ColumnError, ParameterError
from .astropy import check_same
from .formats import file_format, is_remote
from .paths import polars_source
from .text import Scan, scan_text

SLICED = ("parquet", "ipc")
"""Formats that are read in blocks of rows."""


def scan_file(file: str, *, hive: bool) -> Scan:
    """The file; in folders such as survey=sdss, with a column survey."""
    kind = file_format(file)
    partitioned = hive and any("=" in part for part in PurePath(file).parent.parts)
    if partitioned and kind.name not in SLICED:
        raise ParameterError(f"{file}: only of Parquet and Arrow files do folders such as k=v make columns")
    if kind.name == "json":
        return Scan(pl.read_json(Path(file).read_bytes()).lazy())
    if kind.name == "parquet":
        return Scan(pl.scan_parquet(polars_source(file), hive_partitioning=partitioned))
    if kind.name == "ipc":
        return Scan(_scan_ipc(file, partitioned))
    if kind.name == "ndjson":
        return Scan(pl.scan_ndjson(polars_source(file)))
    return scan_text(file, kind)


def common_schema(schemas: Iterable[tuple[str, pl.Schema]]) -> pl.Schema:
    """The columns of the first of several files, with types that hold those of all.

    ColumnError if another file has other columns, or one that is not of the same kind.
    """
    (first_file, first), *others = schemas
    distinct = [first]
    for file, other in others:
        check_same(first_file, first.names(), file, other.names())
        for name, dtype in first.items():
            numbers = dtype.is_numeric() and other[name].is_numeric()
            if dtype != other[name] and not numbers and pl.Null not in (dtype, other[name]):
                raise ColumnError(
                    f"{file}: column {name!r} is of type {other[name]}, but {dtype} in {first_file}"
                )
        if other not in distinct:
            distinct.append(other)
    empty = [schema.to_frame().select(first.names()) for schema in distinct]
    return pl.concat(empty, how="vertical_relaxed").schema


def below(frames: Sequence[pl.LazyFrame], names: Sequence[str]) -> pl.LazyFrame:
    """These columns of several files, one below the other."""
    chosen = [frame.select(names) for frame in frames]
    return chosen[0] if len(chosen) == 1 else pl.concat(chosen, how="vertical_relaxed")


def _scan_ipc(file: str, partitioned: bool) -> pl.LazyFrame:
    """An Arrow file, or a stream of record batches in one."""
    scan = pl.scan_ipc(polars_source(file), hive_partitioning=partitioned)
    if is_remote(file):
        return scan
    with open(file, "rb") as start:
        is_stream = start.read(6) != b"ARROW1"
    if not is_stream:
        return scan
    with open(file, "rb") as stream:
        return pl.read_ipc_stream(stream).lazy()
