"""Progress of a fit: `callback` and `verbose`, and a line on stderr for tasks of more than two seconds.

tqdm draws the line. ``TQDM_DISABLE=1`` in the environment turns it off.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:  # the command line starts without scikit-learn
    from sklearn.base import BaseEstimator


class Progress(NamedTuple):
    """One iteration of a solver, as passed to ``callback``.

    Attributes
    ----------
    task : str
        The running task, such as ``"class 2 of 3"``; empty where there is one task only.
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
"""Called by the core: task, iteration, objective, gap."""


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


DELAY, INTERVAL = 2.0, 0.2
"""Seconds before a line appears on a terminal, and between its updates."""
_lines: list[Any] = []
"""The tqdm line of the outermost task, while it is shown."""


@contextmanager
def shown(task: str, wanted: bool | None = None) -> Iterator[bool]:
    """Show `task` and its elapsed time on stderr while the block runs; tasks inside it show nothing.

    A thread updates the line, because fits run in the extension. The block receives whether it is shown.

    Parameters
    ----------
    wanted : by default on a terminal and in a notebook, after `DELAY` seconds, and removed at the end. True
        shows it anywhere, at once; False nowhere.
    """
    is_screen = sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")
    if _lines or not (is_screen if wanted is None else wanted):
        yield False
        return
    from tqdm.auto import tqdm  # imported late: it takes longer than most predictions

    delay = 0.0 if wanted else DELAY
    line = tqdm(desc=task, bar_format="{desc}: {elapsed}{postfix}", leave=bool(wanted), delay=delay)
    done = threading.Event()

    def update() -> None:
        while not done.wait(INTERVAL):
            line.update(0)

    thread = threading.Thread(target=update, daemon=True)
    thread.start()
    _lines.append(line)
    try:
        yield not line.disable
    finally:
        _lines.clear()
        done.set()
        thread.join()
        line.close()


def show_detail(detail: str) -> None:
    """Append how far the shown task has come, if one is shown."""
    for line in _lines:
        line.set_postfix_str(detail, refresh=False)


def show_iteration(progress: Progress) -> None:
    """Callback of a solver that appends its iteration to the shown task."""
    task = f"{progress.task}, " if progress.task else ""
    gap = "" if progress.gap != progress.gap else f", gap {progress.gap:.1e}"
    show_detail(f"{task}iteration {progress.iteration}{gap}")
