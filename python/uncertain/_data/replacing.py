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
from secrets import token_hex

ENDING = 40
"""Characters of a name that its draft has, too: libraries look at the ending, and names may be too long."""


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
        draft = _draft_beside(final)
    except OSError as error:
        error.filename = os.fspath(path)  # nobody knows the draft
        raise
    try:
        usual = stat.S_IMODE(draft.stat().st_mode)
        draft.chmod(0o600)  # until it is whole, and has its name, nobody else reads it
        yield draft
        draft.chmod(usual if mode is None else stat.S_IMODE(mode))
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(final)
    except BaseException as error:  # Ctrl-C too
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            if error.errno is None:  # a library's own: a sentence alone, which may name the draft
                raise OSError(
                    f"{os.fspath(path)}: {str(error).replace(str(draft), os.fspath(path))}"
                ) from error
            error.filename = os.fspath(path)
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _draft_beside(final: Path) -> Path:
    """A new, empty file in the same folder, with the permissions that the system gives a new file.

    The system alone knows the process's mask: asking for it means to set it, also for other threads.
    """
    ending = "".join(final.suffixes[-2:])[-ENDING:]
    while True:
        draft = final.with_name(f".{token_hex(8)}{ending}")
        try:
            os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            continue
        return draft
