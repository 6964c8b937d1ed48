"""The space that temporary files need, in the system's folder for them."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..exceptions import UncertainError
from ._budget import format_bytes


def ask_for_space(folder: Path, needed: int) -> None:
    """UncertainError if the disk has less."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise no_space(folder, needed, free)


def no_space(folder: Path, needed: int, free: int) -> UncertainError:
    """Return the error of a full disk."""
    return UncertainError(
        f"the rows need {format_bytes(needed)} in {folder}, where {format_bytes(free)} are free: make room, "
        "or set the environment variable TMPDIR to a folder on another disk"
    )
