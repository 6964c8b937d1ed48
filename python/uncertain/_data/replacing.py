"""Files that are replaced as a whole: the old one or the new one, never half of one.

A full disk, an error or a signal leaves the old file as it was. The new one is written beside it under a
random name that nobody can have put there before, and gets the old one's permissions.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The path of an empty file to write to, which becomes `path` when the block ends without an error.

    A symbolic link stays one: what it names is replaced. Pipes and devices are written to as they are.
    """
    final = Path(os.path.realpath(path))
    mode = _mode(final)
    if mode is not None and not stat.S_ISREG(mode):
        yield final
        return
    try:
        descriptor, name = mkstemp(prefix=".", suffix="-" + final.name, dir=final.parent)
    except OSError as error:
        error.filename = os.fspath(path)  # nobody knows the draft
        raise
    draft = Path(name)
    try:
        os.close(descriptor)
        yield draft
        draft.chmod(_usual_mode() if mode is None else stat.S_IMODE(mode))
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(final)
    except BaseException as error:  # Ctrl-C too
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            if error.errno is None:  # a library's own: a sentence alone, which may name the draft
                raise OSError(f"{os.fspath(path)}: {str(error).replace(name, os.fspath(path))}") from error
            error.filename = os.fspath(path)
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _usual_mode() -> int:
    """What a new file gets: everything that the process's mask allows."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
