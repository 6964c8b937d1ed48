"""How far fits to folds have come: a line for each, and a callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from .._base.run import show_detail


class ReportProgress(NamedTuple):
    """A fit to a fold that has just been done, as passed to ``callback``.

    Attributes
    ----------
    task : str
        Name of the candidate, such as ``"means only"``.
    fold, folds : int
        The fold, from 1, and the folds of all repeats.
    seconds, remaining : float
        Seconds since the first fit began, and about how many there are to come.
    """

    task: str
    fold: int
    folds: int
    seconds: float
    remaining: float


ReportCallback: TypeAlias = Callable[[ReportProgress], object] | None


class Pace:
    """The clock of fits of several candidates to folds."""

    def __init__(self, *, verbose: int = 0, callback: ReportCallback = None, title: str = "report") -> None:
        if callback is not None and not callable(callback):
            raise TypeError(
                f"callback must be a function of one ReportProgress, got {type(callback).__name__}"
            )
        self.verbose, self.callback, self.title = verbose, callback, title
        self.begin(0, 0)

    @property
    def seconds(self) -> float:
        """Since the first fit began."""
        return time.perf_counter() - self.start

    def begin(self, folds: int, candidates: int) -> None:
        """Start the clock; every candidate is fitted to every fold."""
        self.folds, self.fits, self.done = folds, folds * candidates, 0
        self.start = time.perf_counter()

    def step(self, task: str, fold: int) -> None:
        """One more fit, to fold number `fold` from 0, is done."""
        self.done += 1
        seconds = self.seconds
        rest = seconds / self.done * max(0, self.fits - self.done)
        place = f"fold {fold + 1} of {self.folds}, {task}"
        show_detail(f"{place}, about {rest:.0f} s to go")
        if self.verbose:
            sys.stderr.write(f"[{self.title}] {place}: {seconds:.1f} s, about {rest:.0f} s to go\n")
        if self.callback is not None:
            self.callback(ReportProgress(task, fold + 1, self.folds, seconds, rest))
