"""Progress of a fit: what a ``callback`` receives and what ``verbose`` prints."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

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
