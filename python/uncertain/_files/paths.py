"""From what a caller names to the files that are meant: a path, a pattern, a folder, an address, a list.

A path that exists is that file, whatever characters its name has; only what does not exist may be a pattern.
In folders and patterns a file counts once, however many links lead to it, and links to folders are not
entered: they may lead back, and then a row would be read as often as the system resolves links. Links out of
the folder are named in a warning, since nothing else would say that rows are missing.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TypeAlias

from .._columns.columns import visible
from .._data.warn import warn
from ..exceptions import ParameterError, UncertainError, UncertainWarning
from .formats import ENDINGS, file_format, is_remote

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One path or several; each the name of a file or folder, a pattern with * or an address."""


def find_files(paths: Paths) -> list[str]:
    """The files that are meant, all of one format; those of patterns and folders in the order of their names.

    Raises FileNotFoundError where there is none, and ParameterError for endings that are unknown or differ.
    """
    several = paths if isinstance(paths, (list, tuple)) else [paths]
    files = [file for path in several for file in _files_at(_expanded(path))]
    formats = {file_format(file).name: file for file in reversed(files)}
    if len(formats) > 1:
        first, other = sorted(formats.values(), key=files.index)[:2]
        raise ParameterError(
            f"files of different formats make no table: {printable(first)} and {printable(other)}"
        )
    return files


def is_folder(paths: Paths) -> bool:
    """Is it one folder?"""
    return isinstance(paths, (str, os.PathLike)) and os.path.isdir(_expanded(paths))


def describe_paths(paths: Paths) -> str:
    """The paths as errors name them."""
    if isinstance(paths, (list, tuple)):
        return describe_paths(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    return visible(printable(os.fspath(paths)))  # type: ignore[arg-type]


def printable(path: str) -> str:
    """The path with bytes that are no UTF-8 written as \\xe9."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def polars_source(file: str) -> str:
    """What Polars opens as this file: it expands patterns, ~ and file:, and knows names in UTF-8 only."""
    if is_remote(file):
        return file
    if printable(file) != file:
        raise UncertainError(f"{printable(file)}: the bytes of this name are no UTF-8: rename the file")
    return glob.escape(absolute(file))


def absolute(file: str) -> str:
    """The file as no library takes it for an address or a home."""
    return os.path.join(os.getcwd(), file)


def _expanded(path: object) -> str:
    text = os.fspath(path)  # type: ignore[call-overload]
    # A path object keeps one slash only: s3:/bucket.
    text = re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?=[^/])", r"\1://", text)
    return text if is_remote(text) or os.path.lexists(text) else os.path.expanduser(text)


def _files_at(path: str) -> list[str]:
    if is_remote(path):
        return [path]
    if os.path.isdir(path):
        return _files_in(path)
    if os.path.lexists(path) or not glob.has_magic(path):
        file_format(path)
        return [_present(path)]
    files = _each_once(_present(file) for file in sorted(set(_matches(path))) if not os.path.isdir(file))
    if not files:
        raise FileNotFoundError(f"there is no file that matches {printable(path)}")
    return files


def _present(file: str) -> str:
    """The file; FileNotFoundError for what is none, such as a link to nothing."""
    if not os.path.isfile(file):
        broken = os.path.islink(file) and not os.path.exists(file)
        what = f": it is a link to {printable(os.readlink(file))}, which does not exist" if broken else ""
        raise FileNotFoundError(f"there is no file {printable(file)}{what}")
    return file


def _files_in(folder: str) -> list[str]:
    """The tables in a folder and those below; what a dot or underline hides is none."""
    paths = (
        Path(below, name)
        for below, names in _walk(folder, hidden=(".", "_"))
        for name in names
        if not name.startswith((".", "_")) and _is_known(name)
    )
    files = _each_once(_present(str(file)) for file in sorted(paths))
    if not files:
        raise FileNotFoundError(f"the folder {printable(folder)} holds no table ({', '.join(ENDINGS)})")
    return files


def _matches(pattern: str) -> Iterator[str]:
    """What a pattern matches; ** stands for this folder and all below it."""
    parts = pattern.replace(os.altsep or os.sep, os.sep).split(os.sep)
    if "**" not in parts:
        yield from glob.iglob(pattern)
        return
    place = parts.index("**")
    start, rest = os.sep.join(parts[:place]), os.sep.join(parts[place + 1 :]) or "*"
    starts = glob.iglob(start + os.sep) if place else [""]
    for folder in starts:
        for below, _ in _walk(folder or os.curdir, hidden=(".",)):
            yield from _matches(glob.escape(os.path.join(below, "") if folder else _bare(below)) + rest)


def _bare(below: str) -> str:
    """Without the name of the current folder in front."""
    return "" if below == os.curdir else os.path.join(os.path.relpath(below), "")


def _walk(folder: str, hidden: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """(folder, names of its files) of a folder and all below that are neither hidden nor links."""
    inside = os.path.realpath(folder)
    outside = []

    def refuse(error: OSError) -> None:
        raise error

    for below, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith(hidden))
        links = [path for name in folders if os.path.islink(path := os.path.join(below, name))]
        outside += [path for path in links if not _overlap(inside, os.path.realpath(path))]
        yield below, names
    if outside:
        shown = ", ".join(map(printable, outside[:3])) + (", ..." if len(outside) > 3 else "")
        warn(
            f"{printable(folder)}: links to folders outside of it are not followed ({shown}): pass them in a "
            "list beside it if their tables belong to it",
            UncertainWarning,
        )


def _overlap(first: str, second: str) -> bool:
    """Is one of two folders in the other?"""
    return os.path.commonpath([first, second]) in (first, second)


def _each_once(files: Iterable[str]) -> list[str]:
    """Without further names of the same file in folders of the same meaning (k=v)."""
    names: dict[tuple[str, ...], str] = {}
    for file in files:
        meaning = (part for part in PurePath(file).parent.parts if "=" in part)
        names.setdefault((os.path.realpath(file), *meaning), file)
    return list(names.values())


def _is_known(name: str) -> bool:
    try:
        file_format(name)
    except ParameterError:
        return False
    return True
