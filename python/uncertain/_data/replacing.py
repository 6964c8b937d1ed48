"""Files that are replaced as a whole: the old one or the new one, never half of one.

A full disk, an error or a signal leaves the old file as it was. The new one is written beside it under a
random name that nobody can have put there before, and gets the old one's permissions.
"""

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
    """The path of an empty file to write to, which becomes `path` when the block ends without an error; what
    a symbolic link names is replaced, pipes and devices are written to as they are."""
    final = Path(os.path.realpath(path))
    exists = final.exists()
    if exists and not final.is_file():
        yield final
        return
    # The system gives a new file its usual permissions: to ask for them is to change them for other threads.
    draft = final.with_name(f".{token_hex(8)}{''.join(final.suffixes[-2:])[-ENDING:]}")
    try:
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if exists else 0o666))
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    try:
        yield draft
        if exists:
            draft.chmod(stat.S_IMODE(final.stat().st_mode))
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(final)
    except BaseException as error:  # Ctrl-C too
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            if error.errno is None:  # an error of a library, whose sentence may name the draft
                text = str(error).replace(str(draft), os.fspath(path))
                raise OSError(f"{os.fspath(path)}: {text}") from error
            error.filename = os.fspath(path)
        raise
