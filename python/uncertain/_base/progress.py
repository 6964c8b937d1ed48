"""Progress: what a ``callback`` receives, what ``verbose`` prints, and what a terminal shows by itself.

What takes longer than two seconds says in a terminal and in a notebook how far it has come: a line on stderr
that is rewritten and is gone at the end; where it was asked for without a terminal, a new line every ten
seconds. A thread measures the time, because fits run in the extension; who knows how far a task has come says
so (`say_how_far`). A task inside another one shows nothing of its own. ``UNCERTAIN_PROGRESS=0`` in the
environment turns it off.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

if TYPE_CHECKING:  # which the command line does without
    from sklearn.base import BaseEstimator


class Progress(NamedTuple):
    """One iteration of a solver, as passed to ``callback``.

    Attributes
    ----------
    task : str
        What is running, such as ``"class 2 of 3"``; empty where there is one task only.
    iteration : int
        Iterations done in this task.
    objective : float
        Value of the objective.
    gap : float
        Certified relative duality gap; NaN where the solver does not know it.
    """

    task: str
    iteration: int
    objective: float
    gap: float


Callback: TypeAlias = Callable[[Progress], object] | None
"""Called after every iteration."""
Report: TypeAlias = Callable[[str, int, float, float], None]
"""The same for the core: task, iteration, objective, gap."""


def reporter(estimator: BaseEstimator) -> Report | None:
    """The function that the extension calls once per iteration of a fit; None without one.

    An exception in `callback` ends the fit and reaches the caller of ``fit`` as it is.
    """
    name = type(estimator).__name__
    verbose, callback = getattr(estimator, "verbose", 0), getattr(estimator, "callback", None)
    if not verbose and callback is None:
        return None
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of one Progress, got {type(callback).__name__}")

    def report(task: str, iteration: int, objective: float, gap: float) -> None:
        if verbose:
            label = f"{name}, {task}" if task else name
            say(f"[{label}] iteration {iteration:4d}  objective {objective:.10e}  gap {gap:.2e}")
        if callback is not None:
            callback(Progress(task, iteration, objective, gap))

    return report


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


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


@contextmanager
def shown(what: str, wanted: bool | None = None) -> Iterator[None]:
    """`Shown`, of which nothing else is needed."""
    with Shown(what, wanted):
        yield


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
