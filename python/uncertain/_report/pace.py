"""How far a report has come, and when its time is over.

Folds are compared one after another, each by all candidates, so that a report that stops early is a complete
comparison of the folds that it did.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from numbers import Real
from typing import NamedTuple, TypeAlias

from .._base.progress import show_detail
from ..exceptions import ParameterError


class ReportProgress(NamedTuple):
    """A fit of a report that has just been done, as passed to ``callback``.

    Attributes
    ----------
    task : str
        What was fitted, such as ``"measurement"``.
    fold, folds : int
        The fold, from 1, and the folds of all repeats.
    seconds, remaining : float
        Seconds since the report began, and about how many there are to come.
    """

    task: str
    fold: int
    folds: int
    seconds: float
    remaining: float


ReportCallback: TypeAlias = Callable[[ReportProgress], object] | None


class Pace:
    """The clock of a report."""

    def __init__(
        self,
        *,
        max_seconds: float | None = None,
        verbose: int = 0,
        callback: ReportCallback = None,
        title: str = "report",
    ) -> None:
        given: object = max_seconds
        number = type(given) is not bool and isinstance(given, Real) and float(given) > 0
        if given is not None and not number:
            raise ParameterError(f"max_seconds={max_seconds!r}: must be a number of seconds > 0")
        if callback is not None and not callable(callback):
            raise TypeError(
                f"callback must be a function of one ReportProgress, got {type(callback).__name__}"
            )
        self.max_seconds, self.verbose, self.callback = max_seconds, verbose, callback
        self.title = title
        self.start = time.perf_counter()
        self.written = 0

    @property
    def seconds(self) -> float:
        """Since the report began."""
        return time.perf_counter() - self.start

    def begin(self, folds: int, fits_per_fold: int) -> None:
        """The folds are about to be compared."""
        self.folds, self.fits, self.before, self.done = folds, fits_per_fold, self.seconds, 0

    def enough(self, fold: int) -> bool:
        """Would fold number `fold`, from 0, end too late? The first one is always done."""
        if self.max_seconds is None or fold == 0:
            return False
        return self.seconds + (self.seconds - self.before) / fold > self.max_seconds

    def step(self, task: str, fold: int) -> None:
        """One more fit of fold number `fold`, from 0, is done."""
        self.done += 1
        seconds = self.seconds
        # A candidate may have given up, and the fits of one fold are not equally long.
        done = max(self.done, fold * self.fits + 1)
        rest = (seconds - self.before) / done * max(0, self.folds * self.fits - done)
        if self.max_seconds is not None:
            rest = min(rest, max(0.0, self.max_seconds - seconds))
        show_detail(f"fold {fold + 1} of {self.folds}, {task}, about {rest:.0f} s to go")
        if self.verbose:
            self._write(
                f"[{self.title}] fold {fold + 1} of {self.folds}, {task}: {seconds:.1f} s, "
                f"about {rest:.0f} s to go"
            )
        if self.callback is not None:
            self.callback(ReportProgress(task, fold + 1, self.folds, seconds, rest))

    def end(self) -> None:
        """The line of progress is complete."""
        if self.verbose and sys.stderr.isatty():
            sys.stderr.write("\n")

    def _write(self, line: str) -> None:
        """Over the line before on a terminal; below it in a file."""
        if sys.stderr.isatty():
            sys.stderr.write("\r" + line.ljust(self.written))
            self.written = len(line)
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()
