"""Formats of table files, told by the endings of their names."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal, NamedTuple

from ..exceptions import ParameterError

FormatName = Literal["parquet", "ipc", "csv", "tsv", "text", "json", "ndjson", "fits", "votable", "ecsv"]

ENDINGS: dict[str, FormatName] = {
    ".parquet": "parquet", ".pq": "parquet",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "text", ".dat": "text",
    ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc",
    ".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson",
    ".fits": "fits", ".fit": "fits", ".fts": "fits", ".vot": "votable", ".xml": "votable", ".ecsv": "ecsv",
}  # fmt: skip
"""The last part of a file's name, in lower case, and its format."""

COMPRESSED = {".gz": ("csv", "tsv", "text", "fits"), ".zst": ("csv", "tsv", "text")}
"""Endings behind those, and the formats that they may compress."""

TEXT = ("csv", "tsv", "text")
"""Columns of text with separators."""

ASTROPY = ("fits", "votable", "ecsv")
"""Read and written by astropy."""


class Format(NamedTuple):
    """How a file is read."""

    name: FormatName
    compressed: str
    """The ending of the compression; empty without."""


def file_format(path: str) -> Format:
    """The format that the ending of a path or address names; ParameterError for one that is not known."""
    suffixes = [suffix.lower() for suffix in PurePath(_plain(path)).suffixes[-2:]]
    compressed = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSED else ""
    ending = suffixes[-1] if suffixes else ""
    name = ENDINGS.get(ending)
    if name is None:
        endings = ", ".join(ENDINGS)
        raise ParameterError(
            f"{path}: unknown format {ending + compressed!r}; the ending must be one of {endings}"
        )
    if compressed and name not in COMPRESSED[compressed]:
        raise ParameterError(f"{path}: a {ending} file is not read through {compressed}; decompress it first")
    return Format(name, compressed)


def is_remote(path: str) -> bool:
    """An address such as s3://bucket/table.parquet, which Polars opens."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def _plain(path: str) -> str:
    """Without the query of an address."""
    return path.partition("?")[0] if is_remote(path) else path
