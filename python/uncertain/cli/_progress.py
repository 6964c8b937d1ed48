"""Progress on stderr: a line that is rewritten, or a new line every ten seconds.

A thread measures the time, because the fits run in the extension; solvers that report their iterations add
their state.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from .._base.progress import Progress as Iteration
    from .._report.pace import ReportProgress

TICK, AFTER, LINES = 0.2, 0.5, 10.0
"""Seconds between looks at the clock, before a terminal shows anything, and between lines elsewhere."""


class Progress:
    """``with Progress("fitting", shown):`` shows this while the block runs; None: on a terminal only."""

    def __init__(self, what: str, shown: bool | None = None) -> None:
        self._terminal = sys.stderr.isatty()
        self.shown = self._terminal if shown is None else shown
        self._what = what
        self._detail = ""
        self._start = time.monotonic()
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self.shown:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
            if self._terminal:
                self._write("\r\033[K")
            elif kind is None:
                self._write(f"uncertain: {self._what}: done in {self._seconds:.1f} s\n")

    def iteration(self, progress: Iteration) -> None:
        """A callback for solvers: takes `uncertain._base.progress.Progress`."""
        gap = "" if progress.gap != progress.gap else f", gap {progress.gap:.1e}"
        task = f"{progress.task}, " if progress.task else ""
        self._detail = f" ({task}iteration {progress.iteration}{gap})"

    def fold(self, progress: ReportProgress) -> None:
        """A callback for reports: takes `uncertain._report.pace.ReportProgress`."""
        left = f"about {progress.remaining:.0f} s to go"
        self._detail = f" (fold {progress.fold} of {progress.folds}, {progress.task}, {left})"

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._start

    def _run(self) -> None:
        if not self._terminal:
            self._write(f"uncertain: {self._what}\n")
        wait = AFTER if self._terminal else LINES
        while not self._done.wait(wait):
            wait = TICK if self._terminal else LINES
            line = f"{self._what} ... {self._seconds:.0f} s{self._detail}"
            self._write(f"\r\033[K{line[:100]}" if self._terminal else f"uncertain: {line}\n")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
