"""A matrix in a temporary file that grows row by row and is then mapped into memory.

The file has no name: it is gone with the process, however that ends, and nobody can truncate it below a
reader. Space is asked for before it is written, so that a full disk is an error here, and never one of the
pages later (where the system can reserve it). A file object seeks and writes, by one thread: Windows has no
``os.pwrite``.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
import weakref
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from .._data.typing import Array
from ..exceptions import UncertainError
from ._folder import no_space

EXTENT = 64 << 20
"""Bytes that are asked for at a time."""


class Column:
    """Rows of `width` numbers of one type."""

    def __init__(self, folder: Path, width: int = 1, dtype: DTypeLike = np.float64) -> None:
        self.width = width
        self.dtype = np.dtype(dtype)
        self.n_rows = 0
        self._folder = folder
        self._file = tempfile.TemporaryFile(dir=folder, prefix="uncertain-", buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)  # what is mapped stays
        self._asked = 0

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.width * self.dtype.itemsize

    def append(self, rows: Array) -> None:
        """More rows at the end."""
        n_rows = len(rows)
        self._ask(n_rows)
        self.write(self.n_rows, rows)
        self.n_rows += n_rows

    def write(self, first: int, rows: Array) -> None:
        """Rows in the place of those from `first` on."""
        if rows.size != len(rows) * self.width:
            raise UncertainError(f"a batch has {rows.size} numbers for {len(rows)} rows of {self.width}")
        values = np.ascontiguousarray(rows, dtype=self.dtype).reshape(-1).view(np.uint8).data
        try:
            self._file.seek(first * self.row_bytes)
            while len(values):
                values = values[self._file.write(values[: 1 << 30]) :]
        except OSError as error:
            raise self._failed(error, len(values)) from error

    def mapped(self) -> Array:
        """The rows, (n, width); read-only, and what `write` changes changes here."""
        if not self.n_rows:
            return np.empty((0, self.width), dtype=self.dtype)
        size = self.n_rows * self.row_bytes
        if size != self._asked:  # Windows does not cut a file that is mapped
            self._file.truncate(size)
            self._asked = size
        pages = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)
        return np.frombuffer(pages, self.dtype).reshape(self.n_rows, self.width)

    def _ask(self, n_rows: int) -> None:
        needed = (self.n_rows + n_rows) * self.row_bytes
        if needed <= self._asked:
            return
        size = -(-needed // EXTENT) * EXTENT - self._asked
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file.fileno(), self._asked, size)
        except OSError as error:
            if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that cannot reserve
                size = 0
            else:
                raise self._failed(error, size) from error
        self._asked += size

    def _failed(self, error: OSError, needed: int) -> UncertainError:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return no_space(self._folder, needed, shutil.disk_usage(self._folder).free)
        return UncertainError(f"the rows cannot be written to {self._folder}, the folder of spill= ({error})")
