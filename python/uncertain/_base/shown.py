"""What takes long says how far it has come: on stderr, after two seconds, in a terminal and in a notebook.

A line that is rewritten and is gone at the end; where it was asked for without a terminal, a new line every
ten seconds. A thread measures the time, because fits run in the extension; who knows how far a task has come
says so (`say_how_far`). A task inside another one shows nothing of its own. ``UNCERTAIN_PROGRESS=0`` in the
environment turns it off.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import Self

from .progress import Progress

TICK, AFTER, LINES = 0.2, 2.0, 10.0
"""Seconds between looks at the clock, before a line is shown, and between lines elsewhere."""
WIDTH = 100


def rewrites() -> bool:
    """Is stderr a terminal, or the output of a notebook's cell, where a line can be written over?"""
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


def say_how_far(detail: str) -> None:
    """Of the task that is shown, if one is."""
    if Shown.now is not None:
        Shown.now.detail = f" ({detail})"


class Shown:
    """``with Shown("fitting"):`` shows this while the block runs.

    `shown` True: also where a line cannot be rewritten; False: nowhere; None: where it can be.
    """

    now: Shown | None = None
    """The task that is shown, the outermost one."""

    def __init__(self, what: str, shown: bool | None = None) -> None:
        self._over = rewrites()
        wanted = self._over and os.environ.get("UNCERTAIN_PROGRESS") != "0"
        self.shown = wanted if shown is None else shown
        self.detail = ""
        self._what = what
        self._start = time.monotonic()
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._width = 0

    def __enter__(self) -> Self:
        if self.shown and Shown.now is None:
            Shown.now = self
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is None:
            return
        Shown.now = None
        self._done.set()
        self._thread.join()
        if self._over:
            self._line("")
        elif kind is None:
            self._write(f"uncertain: {self._what}: done in {self._seconds:.1f} s\n")

    def iteration(self, progress: Progress) -> None:
        """A callback for solvers."""
        gap = "" if progress.gap != progress.gap else f", gap {progress.gap:.1e}"
        task = f"{progress.task}, " if progress.task else ""
        self.detail = f" ({task}iteration {progress.iteration}{gap})"

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._start

    def _run(self) -> None:
        if not self._over:
            self._write(f"uncertain: {self._what}\n")
        wait = AFTER if self._over else LINES
        while not self._done.wait(wait):
            wait = TICK if self._over else LINES
            line = f"{self._what} ... {self._seconds:.0f} s{self.detail}"
            if self._over:
                self._line(line[:WIDTH])
            else:
                self._write(f"uncertain: {line}\n")

    def _line(self, text: str) -> None:
        """Over the line before; an empty one takes it away."""
        if text or self._width:
            self._write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
            self._width = len(text)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
