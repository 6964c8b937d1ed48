"""How much memory a fit may take, and what it needs.

`memory` bounds anonymous memory above that at the start: what the system would have to swap. Pages of mapped
files are not of that kind; the system writes or drops them when it needs room. On Linux all that grows with
the rows is in files, also what a fit keeps beside each (`_working`); elsewhere that is counted here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .._uncertain import Spilling, keep_at_most
from ..exceptions import ParameterError

UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
"""Powers of 2: what programs that show memory call MB and GB."""

LEAST = 64 << 20
"""Less is not enough for one batch of a table on its way into the file, and the libraries that read it."""

SHARE_OF_A_BATCH = 32
"""A batch of columns is this part of the memory: it is there as columns, as rows, checked and moved."""

SAMPLE = 128 << 20
"""Most bytes of the sample that a solver starts from (the core's `SAMPLE_BYTES`)."""


@dataclass(frozen=True)
class Budget:
    """So many bytes; and how messages say it."""

    bytes: int
    text: str

    @classmethod
    def parse(cls, memory: object) -> Budget:
        """From ``"2GB"``, ``"500 MB"``, ``"1.5GiB"``, or a number of bytes; ParameterError for anything
        else."""
        given = memory
        if isinstance(memory, str):
            found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)I?B?\s*", memory.upper())
            memory = None if found is None else float(found[1]) * UNITS[f"{found[2]}B"]
        if isinstance(memory, bool) or not isinstance(memory, (int, float)) or not memory < 2.0**62:
            raise ParameterError(
                f'memory={given!r}: must be a size such as "2GB" or "500MB", or a number of bytes'
            )
        if memory < LEAST:
            raise ParameterError(
                f"memory={given!r}: at least {format_bytes(LEAST)} are needed for one batch of rows and the "
                "libraries that read it"
            )
        return cls(int(memory), format_bytes(int(memory)))

    @property
    def batch_bytes(self) -> int:
        """Bytes of a batch of columns."""
        return self.bytes // SHARE_OF_A_BATCH

    def check(self, n_rows: int, row_bytes: int, beside: int) -> int:
        """The bytes that so many rows in the file, each with `beside` bytes in memory, leave free;
        ParameterError if they need more."""
        needed = 2 * self.batch_bytes
        if not Spilling.works():
            sample = min(n_rows * row_bytes // 8, SAMPLE)
            calibration = min(n_rows, 200_000) * row_bytes
            needed = n_rows * beside + sample + max(calibration, needed)
        if needed > self.bytes:
            enough = -(-(needed * 11 // 10) // UNITS["MB"])
            raise ParameterError(
                f"memory={self.text!r} is too little: {n_rows:,} rows need about {format_bytes(needed)} "
                f"beside the file ({beside} bytes each for targets, weights and the like, and a sample to "
                f'start from); pass memory="{enough}MB", or take fewer rows'
            )
        return self.bytes - needed

    @contextmanager
    def keeping(self, free: int) -> Iterator[None]:
        """Meanwhile, the core keeps no more than half of these free bytes to save time."""
        before = keep_at_most(free // 2)
        try:
            yield
        finally:
            keep_at_most(before)


def format_bytes(size: float) -> str:
    """Bytes for people."""
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.1f} {unit}".replace(".0 ", " ")
    return f"{size:.0f} B"
