"""From what a caller names to files: a path, a pattern, a folder, an address, a list; and their formats.

A path that exists is that file, whatever characters its name has; only what does not exist may be a pattern.
In folders and patterns a file counts once, however many links lead to it, and links to folders are not
entered.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Literal, NamedTuple, TypeAlias

from .._data.warn import warn
from ..exceptions import ParameterError, UncertainError, UncertainWarning
from .columns import visible

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One path or several; each the name of a file or folder, a pattern with * or an address."""
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
COMPRESSED: dict[str, tuple[FormatName, ...]] = {
    ".gz": ("csv", "tsv", "text", "fits"),
    ".zst": ("csv", "tsv"),
}
"""Endings behind those, and the formats that they may compress."""


class Format(NamedTuple):
    """How a file is read."""

    name: FormatName
    compressed: str
    """The ending of the compression; empty without."""


def file_format(path: str) -> Format:
    """Return the format that the ending of a path or address names; ParameterError for another."""
    plain = path.partition("?")[0] if is_remote(path) else path
    suffixes = [suffix.lower() for suffix in PurePath(plain).suffixes[-2:]]
    compressed = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSED else ""
    ending = suffixes[-1] if suffixes else ""
    name = ENDINGS.get(ending)
    if name is None:
        raise ParameterError(
            f"{printable(path)}: unknown format {ending + compressed!r}. Pass a table, or a file with one of "
            f"the endings {', '.join(ENDINGS)}."
        )
    if compressed and name not in COMPRESSED[compressed]:
        raise ParameterError(
            f"{printable(path)}: {ending} is not read through {compressed}. Decompress the file first."
        )
    return Format(name, compressed)


def find_files(paths: Paths) -> list[str]:
    """Return the files that are meant, all of one format; those of patterns and folders sorted by name.

    Raises FileNotFoundError where there is none, and ParameterError for endings that are unknown or differ.
    """
    several = paths if isinstance(paths, (list, tuple)) else [paths]
    files = [file for path in several for file in _files_at(_expanded(path))]
    other = next((file for file in files if file_format(file).name != file_format(files[0]).name), None)
    if other is not None:
        raise ParameterError(
            f"files of different formats make no table: {printable(files[0])} and {printable(other)}. Pass a "
            "pattern such as folder/*.parquet."
        )
    return files


def is_folder(paths: Paths) -> bool:
    """Is it one folder, whose subfolders may be called column=value?"""
    return isinstance(paths, (str, os.PathLike)) and os.path.isdir(_expanded(paths))


def describe_paths(paths: Paths) -> str:
    """Return the paths as errors name them."""
    if isinstance(paths, (list, tuple)):
        return describe_paths(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    return visible(printable(os.fspath(paths)))  # type: ignore[arg-type]


def printable(path: str) -> str:
    """Return the path with bytes that are no UTF-8 written as \\xe9."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def polars_source(file: str) -> str:
    """Return what Polars opens as this file: it expands patterns, ~ and file:, and knows UTF-8 only."""
    if is_remote(file):
        return file
    if printable(file) != file:
        raise UncertainError(f"{printable(file)}: the bytes of this name are no UTF-8: rename the file")
    return glob.escape(absolute(file))


def absolute(file: str) -> str:
    """Return the file as no library takes it for an address or a home."""
    return os.path.join(os.getcwd(), file)


def is_remote(path: str) -> bool:
    """Is it an address such as s3://bucket/table.parquet, which Polars opens?"""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def _expanded(path: object) -> str:
    text = os.fspath(path)  # type: ignore[call-overload]
    # A path object keeps one slash only: s3:/bucket.
    text = re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?=[^/])", r"\1://", text)
    return text if is_remote(text) or os.path.lexists(text) else os.path.expanduser(text)


def _files_at(path: str) -> list[str]:
    if is_remote(path):
        return [path]
    if os.path.isdir(path):
        files = _each_once(str(file) for file in _tables_in(path))
        missing = f"the folder {printable(path)} holds no table ({', '.join(ENDINGS)})"
    elif os.path.lexists(path) or not glob.has_magic(path):
        file_format(path)
        return [_present(path)]
    else:
        files = _each_once(str(file) for file in _matches(path) if not file.is_dir())
        missing = f"there is no file that matches {printable(path)}"
    if not files:
        raise FileNotFoundError(missing)
    return files


def _each_once(files: Iterable[str]) -> list[str]:
    """Return the files sorted, without further names of one file in folders of one meaning (k=v)."""
    names: dict[tuple[str, ...], str] = {}
    for file in map(_present, sorted(files)):
        meaning = (part for part in PurePath(file).parent.parts if "=" in part)
        names.setdefault((os.path.realpath(file), *meaning), file)
    return list(names.values())


def _present(file: str) -> str:
    """Return the file; FileNotFoundError for what is none, such as a link to nothing."""
    if not os.path.isfile(file):
        broken = os.path.islink(file) and not os.path.exists(file)
        what = f": it is a link to {printable(os.readlink(file))}, which does not exist" if broken else ""
        raise FileNotFoundError(f"there is no file {printable(file)}{what}")
    return file


def _tables_in(folder: str) -> Iterator[Path]:
    """Yield the tables in a folder and those below; what a dot or underline hides is none.

    Links to folders elsewhere are named in a warning, since nothing else would say that rows are missing.
    """

    def refuse(error: OSError) -> None:
        raise error

    root, elsewhere = os.path.realpath(folder), []
    for below, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for link in filter(os.path.islink, (os.path.join(below, name) for name in folders)):
            goal = os.path.realpath(link)
            if os.path.commonpath([root, goal]) not in (root, goal):
                elsewhere.append(printable(link))
        for name in names:
            if not name.startswith((".", "_")) and {*PurePath(name.lower()).suffixes[-2:]} & {*ENDINGS}:
                yield Path(below, name)
    if elsewhere:
        warn(
            f"{printable(folder)}: links to folders outside of it are not followed "
            f"({', '.join(elsewhere[:3])}): pass them in a list beside it if their tables belong to it",
            UncertainWarning,
        )


def _matches(pattern: str) -> Iterator[Path]:
    """Yield what a pattern matches; ** stands for this folder and all below it."""
    parts = Path(pattern).parts
    first = next(k for k, part in enumerate(parts) if glob.has_magic(part))
    rest = "/".join(parts[first:])
    for file in Path(*parts[:first]).glob(rest + ("/*" if parts[-1] == "**" else "")):
        below = file.parts[first:]
        if not any(part.startswith(".") for part in below) or rest.startswith("."):
            yield file
