"""Rows in temporary files that are mapped into memory, for ``memory=``.

The numbers of each part lie in a file as they would in memory, so that the core reads the pages in place; the
system drops pages when it needs room, and reads them again. A file has no name: it is gone with the process,
however that ends, and nobody can cut it below a reader. No library that is always installed maps Arrow files
(Polars does not any more), so these are plain arrays.
"""

from __future__ import annotations

import errno
import math
import mmap
import re
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.mixture_array import MixtureArray
from .._data.options import refuse_if
from .._data.typing import Array
from .._tables.frame import BatchSize
from .._tables.table import Table
from .._uncertain import Gaussians, Rows, keep_at_most
from ..exceptions import ParameterError, UncertainError

UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
"""Powers of 2: what programs that show memory call MB and GB."""
LEAST = 64 << 20
"""Less is not enough for one batch of a table on its way into a file, and the libraries that read it."""
SHARE_OF_A_BATCH = 32
"""A batch of columns is this part of the memory: it is there as columns, as rows, checked and moved."""
FILE = 1 << 30
"""Bytes after which the next file begins: what a step replaces is given back file by file."""
ALIGNED = 64
"""Arrays begin at multiples of so many bytes."""
OF_SEVERAL = (
    "are for rows in memory: leave memory= out, fit a sample of the rows, or make a column of one Gaussian "
    'for each row, X.collapse("gaussian").to_arrow(name)'
)
"""Why rows of several Gaussians are not put into files, and what to do."""


@dataclass(frozen=True)
class Budget:
    """Bytes of memory that a fit may take beside what it keeps of each row."""

    bytes: int

    @classmethod
    def parse(cls, memory: object) -> Budget:
        """From ``"2GB"``, ``"500 MB"``, ``"1.5GiB"``, or a number of bytes; ParameterError for anything
        else."""
        size = memory
        if isinstance(memory, str):
            match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)I?B?\s*", memory.upper())
            size = None if match is None else float(match[1]) * UNITS[f"{match[2]}B"]
        if isinstance(size, bool) or not isinstance(size, (int, float)) or not size < 2.0**62:
            raise ParameterError(
                f'memory={memory!r}: must be a size such as "2GB" or "500MB", or a number of bytes'
            )
        if size < LEAST:
            raise ParameterError(
                f"memory={memory!r}: at least {LEAST >> 20} MB are needed for one batch of rows and the "
                "libraries that read it"
            )
        return cls(int(size))

    @property
    def batch_bytes(self) -> int:
        """Bytes of a batch of columns."""
        return self.bytes // SHARE_OF_A_BATCH

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Meanwhile, the core keeps no more than half of what is free to save time."""
        before = keep_at_most((self.bytes - 2 * self.batch_bytes) // 2)
        try:
            yield
        finally:
            keep_at_most(before)


def mapped(blocks: Iterable[GaussianRows], folder: Path | None = None) -> list[GaussianRows]:
    """Blocks of rows of one kind of covariances, their numbers in files of a folder (by default of the
    system)."""
    parts: list[GaussianRows] = []
    first: GaussianArray | None = None
    file = _File(folder)
    for rows in blocks:
        gaussians = filled_gaussians(rows)
        if isinstance(gaussians, MixtureArray):
            raise ParameterError(f"memory=: rows that are mixtures of several Gaussians {OF_SEVERAL}")
        first = gaussians if first is None else first
        if _widths(gaussians) != _widths(first):
            raise UncertainError(
                f"a batch of rows has {gaussians!r}, but earlier rows have {first.kind} covariances of "
                "another width. Write the error columns in one form in all files"
            )
        file.write(rows)
        if file.size >= FILE:
            parts += file.read()
            file = _File(folder)
    return parts + file.read()


def _widths(gaussians: GaussianArray) -> tuple[object, ...]:
    return gaussians.kind, {name: array.shape[1:] for name, array in gaussians._core.fields().items()}


class _File:
    """Parts of rows on their way into a file without a name."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder or Path(tempfile.gettempdir())
        self._file = tempfile.TemporaryFile(dir=self._folder, prefix="uncertain-", buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._parts: list[Callable[[mmap.mmap], GaussianRows]] = []
        self.size = 0

    def write(self, rows: GaussianRows) -> None:
        """Append a part."""
        gaussians = filled_gaussians(rows)
        kind, names, unit = gaussians.kind, gaussians.feature_names, gaussians.unit
        fields = gaussians._core.fields()
        shared = fields if kind == "shared" else {}
        means = self._array(gaussians.means.astype(gaussians.dtype, copy=False))
        places = {name: self._array(array) for name, array in fields.items() if name not in shared}
        gaps = (rows.missing, rows.limits) if isinstance(rows, Incomplete) else (None, None)
        marks = [None if array is None else self._array(array) for array in gaps]

        def read(pages: mmap.mmap) -> GaussianRows:
            arrays = shared | {name: place(pages) for name, place in places.items()}
            core = Gaussians.from_fields(kind, _rows(means(pages)), {n: _rows(a) for n, a in arrays.items()})
            gaussians = GaussianArray._from_core(core, names, unit)
            missing, limits = (None if place is None else place(pages) for place in marks)
            return gaussians if missing is None else Incomplete(gaussians, missing, limits)

        self._parts.append(read)

    def _array(self, array: Array) -> Callable[[mmap.mmap], Array]:
        """Append an array; the function finds it in the mapped file."""
        start, dtype, shape = self.size, array.dtype, array.shape
        self._bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        self._bytes(bytes(-self.size % ALIGNED))
        return lambda pages: np.frombuffer(pages, dtype, math.prod(shape), start).reshape(shape)

    def _bytes(self, data: memoryview | bytes) -> None:
        with full_disk(self._folder):
            while len(data):
                written = self._file.write(data[: 1 << 30])
                data, self.size = data[written:], self.size + written

    def read(self) -> list[GaussianRows]:
        """The parts, read where they lie."""
        if not self._parts:
            return []
        with self._file as file:
            pages = mmap.mmap(file.fileno(), self.size, access=mmap.ACCESS_READ)
        return [read(pages) for read in self._parts]


def _rows(array: Array) -> Rows:
    return Rows.from_numpy(array, *array.shape)


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """An error of a disk that is full says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise UncertainError(
            f"no space for the rows is left in {folder}: make room, or set the environment variable TMPDIR "
            "to a folder on another disk"
        ) from error


def copied(table: Table, names: Sequence[str], rows: int) -> Table:
    """These columns of a stream in temporary files, which can be read again in the same order."""
    from .._tables.files import open_files

    folder = tempfile.TemporaryDirectory(prefix="uncertain-", ignore_cleanup_errors=True)
    files: list[Path] = []
    for batch in table.batches(names, BatchSize(rows)):
        files.append(Path(folder.name) / f"{len(files):06d}.arrow")
        with full_disk(files[-1].parent):
            batch.frame(names).write_ipc(files[-1])
    refuse_if(not files, "the table has no rows", UncertainError)
    copy = open_files(files).in_units_of(table)
    weakref.finalize(copy, folder.cleanup)
    return copy
