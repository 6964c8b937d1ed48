"""The run of a fit: its progress, its time limit and its threads.

Progress is `callback` and `verbose`, and a line on stderr for tasks of more than two seconds. tqdm draws the
line; ``TQDM_DISABLE=1`` in the environment turns it off.

threadpoolctl finds a library by the name of its file and calls C symbols in it; the extension exports
``uncertain_get_num_threads`` and ``uncertain_set_num_threads``. The limit holds for the whole process; an
explicit ``n_jobs`` wins over it, as OpenMP's ``num_threads`` clause does. joblib limits its worker processes
through ``OMP_NUM_THREADS``, which the core reads by itself.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import threadpoolctl

from .._data.options import refuse_if
from .._uncertain import stop_after

if TYPE_CHECKING:
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
    """The function that the extension calls once per iteration; what `callback` raises ends the fit as it
    is."""
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
    """Show `task` and its elapsed time on stderr; nested tasks are silent.

    `wanted`: by default on a terminal and in a notebook, after `DELAY` seconds, and removed at the end; True
    shows it anywhere, at once; False nowhere. The block receives whether it is shown.
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


class _Shares(threading.local):
    """Of the blocks that a thread is in."""

    def __init__(self) -> None:
        self.nested: list[float] = []


class Deadline:
    """So many seconds from now; None: no limit."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.start = time.monotonic()
        self._shares = _Shares()

    def left(self, share: float = 1.0) -> float | None:
        """Seconds until a share of the time is over; None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.start + share * self.seconds - time.monotonic())

    @contextmanager
    def stops(self, share: float = 1.0) -> Iterator[None]:
        """Calls of the core in this block, from this thread, raise an UncertainError when it is over; the end
        of a block inside another one brings back the first limit."""
        if self.seconds is None:
            yield
            return
        nested = self._shares.nested
        nested.append(share)
        stop_after(self.left(share))
        try:
            yield
        finally:
            nested.pop()
            stop_after(self.left(nested[-1]) if nested else None)


def check_limit(seconds: object) -> None:
    """ParameterError for what is no number of seconds."""
    wrong = isinstance(seconds, bool) or not isinstance(seconds, Real) or not 0.0 < float(seconds) < inf
    refuse_if(wrong, f"time_limit={seconds!r}: must be a number of seconds > 0")


class UncertainController(threadpoolctl.LibController):
    """Calls of threadpoolctl to see and to limit the number of threads."""

    user_api = "uncertain"
    internal_api = "uncertain"
    filename_prefixes = ("_uncertain",)
    check_symbols = ("uncertain_get_num_threads", "uncertain_set_num_threads")

    def get_num_threads(self) -> int:
        """The number of threads of a call with ``n_jobs=None``."""
        return int(self.dynlib.uncertain_get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        """Limit later calls to `num_threads`."""
        self.dynlib.uncertain_set_num_threads(int(num_threads))

    def get_version(self) -> str | None:
        """No version: the library and its controller are always the same release."""
        return None


def register() -> None:
    """Tell threadpoolctl about us, once per process."""
    controllers: list[type[threadpoolctl.LibController]] = threadpoolctl._ALL_CONTROLLERS
    if not any(one.internal_api == UncertainController.internal_api for one in controllers):
        threadpoolctl.register(UncertainController)


register()
