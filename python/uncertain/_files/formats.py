"""Formats of table files, told by the endings of their names."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal, NamedTuple

from ..exceptions import ParameterError

FormatName = Literal[
    "parquet", "ipc", "csv", "tsv", "text", "json", "ndjson", "fits", "votable", "ecsv", "ipac", "mrt"
]

ENDINGS: dict[str, FormatName] = {
    ".parquet": "parquet", ".pq": "parquet",
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "text", ".dat": "text",
    ".arrow": "ipc", ".ipc": "ipc", ".feather": "ipc",
    ".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson",
    ".fits": "fits", ".fit": "fits", ".fts": "fits", ".vot": "votable", ".xml": "votable", ".ecsv": "ecsv",
    ".tbl": "ipac", ".mrt": "mrt",
}  # fmt: skip
"""The last part of a file's name, in lower case, and its format."""

READERS = {
    ".xlsx": "polars.read_excel", ".xls": "polars.read_excel", ".ods": "polars.read_ods",
    ".h5": "pandas.read_hdf", ".hdf5": "pandas.read_hdf", ".dta": "pandas.read_stata",
    ".sav": "pandas.read_spss", ".sas7bdat": "pandas.read_sas", ".avro": "polars.read_avro",
    ".pkl": "pandas.read_pickle",
}  # fmt: skip
"""What reads files of other programs as a table."""

COMPRESSED = {".gz": ("csv", "tsv", "text", "fits"), ".zst": ("csv", "tsv", "text")}
"""Endings behind those, and the formats that they may compress."""

READ_ONLY = ("ipac", "mrt")
"""Read, and not written."""

TEXT = ("csv", "tsv", "text")
"""Columns of text with separators."""

ASTROPY = ("fits", "votable", "ecsv", "ipac", "mrt")
"""Read and written by astropy."""


STARTS: tuple[tuple[FormatName, re.Pattern[str]], ...] = (
    ("ipac", re.compile(r"(\\.*\n)*\|.*\|\s*\n\|")),
    ("mrt", re.compile(r"(?s)Title:.*\nByte-by-byte Description")),
)
"""How text begins that archives of astronomy write, whatever its file is called: tables of IPAC, and of the
journals of the American Astronomical Society and the CDS."""


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
        if reader := READERS.get(ending):
            raise ParameterError(f"{path}: {ending} files are not read here; pass {reader}({path!r})")
        endings = ", ".join(ENDINGS)
        raise ParameterError(
            f"{path}: unknown format {ending + compressed!r}; the ending must be one of {endings}"
        )
    if compressed and name not in COMPRESSED[compressed]:
        raise ParameterError(f"{path}: a {ending} file is not read through {compressed}; decompress it first")
    return Format(name, compressed)


def table_format(path: str) -> Format:
    """The format of a file on disk, by its ending and, of text, by how it begins."""
    kind = file_format(path)
    if kind.name in TEXT and not kind.compressed and not is_remote(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            start = file.read(1 << 14)
        name = next((name for name, pattern in STARTS if pattern.match(start)), None)
        return kind if name is None else Format(name, "")
    return kind


def is_remote(path: str) -> bool:
    """An address such as s3://bucket/table.parquet, which Polars opens."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def _plain(path: str) -> str:
    """Without the query of an address."""
    return path.partition("?")[0] if is_remote(path) else path
