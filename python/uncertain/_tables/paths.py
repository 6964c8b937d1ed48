"""From what a caller names to the files that are meant: a path, a pattern, a folder, an address, a list."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from ..exceptions import ParameterError
from .formats import ENDINGS, format_of, is_remote

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One path or several; each the name of a file or folder, a pattern with * or an address."""


def are_paths(given: Any) -> TypeGuard[Paths]:
    """Is it a path, or a list of paths?"""
    if isinstance(given, (list, tuple)):
        return len(given) > 0 and all(isinstance(path, (str, os.PathLike)) for path in given)
    return isinstance(given, (str, os.PathLike))


def files_of(given: Paths) -> list[str]:
    """The files that are meant, all of one format; those of patterns and folders in the order of their names.

    Raises FileNotFoundError where there is none, and ParameterError for endings that are unknown or differ.
    """
    several = given if isinstance(given, (list, tuple)) else [given]
    files = [file for path in several for file in _files_of_one(os.fspath(path))]  # type: ignore[arg-type]
    formats = {format_of(file).name: file for file in reversed(files)}
    if len(formats) > 1:
        first, other = sorted(formats.values(), key=files.index)[:2]
        raise ParameterError(f"files of different formats make no table: {first} and {other}")
    return files


def said(given: Paths) -> str:
    """The paths as errors name them."""
    if isinstance(given, (list, tuple)):
        return said(given[0]) + (f" and {len(given) - 1} more" if len(given) > 1 else "")
    return os.fspath(given)  # type: ignore[arg-type]


def _files_of_one(path: str) -> list[str]:
    # A path object keeps one slash only: s3:/bucket.
    path = re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?=[^/])", r"\1://", path)
    if is_remote(path):
        return [path]
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        return _files_in(Path(path))
    if os.path.exists(path) or not glob.has_magic(path):
        format_of(path)
        if not os.path.isfile(path):
            raise FileNotFoundError(f"there is no file {path}")
        return [path]
    found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
    if not found:
        raise FileNotFoundError(f"there is no file that matches {path}")
    return found


def _files_in(folder: Path) -> list[str]:
    """The tables in a folder and those below; what a dot or underline hides is none."""
    found = []
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        if file.is_file() and not hidden and _is_known(file):
            found.append(str(file))
    if not found:
        raise FileNotFoundError(f"the folder {folder} holds no table ({', '.join(ENDINGS)})")
    return found


def _is_known(file: Path) -> bool:
    try:
        format_of(str(file))
    except ParameterError:
        return False
    return True
