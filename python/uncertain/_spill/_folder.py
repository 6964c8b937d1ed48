"""Where rows may be spilled: a disk of this machine, not memory, and not a disk behind a network."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from ..exceptions import ParameterError, UncertainError
from ._budget import format_bytes

IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
OVER_NETWORK = (
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "lustre", "gpfs", "glusterfs", "beegfs"),
    *("fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "fuse.ceph", "orangefs"),
)
MOUNTS = Path("/proc/self/mounts")


def checked_folder(spill: object) -> Path:
    """The folder for temporary files, the system's without one; ParameterError where rows cannot be
    spilled."""
    if spill is not None and not isinstance(spill, (str, os.PathLike)):
        raise ParameterError(f"spill={spill!r}: must be a folder on a local disk")
    folder = Path(tempfile.gettempdir() if spill is None else os.path.expanduser(spill))
    name = (
        f"spill={os.fspath(folder)!r}" if spill is not None else f"the folder for temporary files, {folder},"
    )
    if not folder.is_dir():
        raise ParameterError(f"{name} is no folder: pass spill= a folder on a local disk")
    if not os.access(folder, os.W_OK):
        raise ParameterError(f"{name} cannot be written to: pass spill= a folder on a local disk")
    kind = file_system(folder)
    if kind in IN_MEMORY:
        raise ParameterError(
            f"{name} is in memory ({kind}), which is what the rows are to be kept out of: pass spill= a "
            "folder on a local disk"
        )
    if kind in OVER_NETWORK:
        raise ParameterError(
            f"{name} is on a network file system ({kind}), from which every pass over the rows would come "
            "again: pass spill= a folder on a local disk"
        )
    return folder


def file_system(folder: Path) -> str:
    """The kind of file system, as Linux calls it; empty on other systems."""
    try:
        lines = MOUNTS.read_text().splitlines()
    except OSError:
        return ""
    path = os.path.realpath(folder)
    best, kind = "", ""
    for line in lines:
        parts = line.split()
        at = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), parts[1])
        inside = path == at or path.startswith(at.rstrip("/") + "/")
        if inside and len(at) >= len(best):  # the last of those mounted on one another is on top
            best, kind = at, parts[2]
    return kind


def ask_for_space(folder: Path, needed: int) -> None:
    """UncertainError if the disk has less."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise no_space(folder, needed, free)


def no_space(folder: Path, needed: int, free: int) -> UncertainError:
    """What to do about a full disk."""
    return UncertainError(
        f"the rows need {format_bytes(needed)} in {folder}, where {format_bytes(free)} are free: make room, "
        "or pass spill= a folder on another disk"
    )
