"""Independent fits on threads of this process.

The core, and scikit-learn's trees, let go of Python's lock while they compute. Each fit is what it would be
alone, to the last bit: draws come from seeds of its own, and sums have an order that no number of threads
changes. What scikit-learn and OpenMP keep for each thread is set there as in the thread that asks. An error,
or Ctrl-C, is raised in the fits that run as well: they end at their next line of Python, calls of the core
within a moment, and then the block does.

Rejected: processes, which import for a second and copy rows; leaving fits that run to themselves at Ctrl-C,
as they put back filters of warnings that are no longer those of the process; a flag that fits look at, which
scikit-learn's do not.
"""

from __future__ import annotations

import ctypes
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from sklearn import get_config, set_config
from threadpoolctl import threadpool_limits

from .._data.typing import Keywords
from ..exceptions import ConvergenceWarning, UncertainWarning

T = TypeVar("T")
Jobs: TypeAlias = Iterable[Callable[[], T]]


class Workers:
    """So many threads; with one, jobs run in the thread that asks, each when its result is asked for."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._at_work: set[int] = set()

    def results(self, jobs: Jobs[T], *, last_first: bool = False) -> Iterator[T]:
        """Of all jobs, in their order; `last_first`: begin with the last ones, where these take longest."""
        if self._pool is None:
            yield from (job() for job in jobs)
            return
        waiting = [*jobs]
        order = range(len(waiting))
        futures = {
            k: self._pool.submit(self._work, waiting[k]) for k in (reversed(order) if last_first else order)
        }
        for k in order:
            yield _result(futures[k])

    def _work(self, job: Callable[[], T]) -> T:
        me = threading.get_ident()
        with self._lock:
            self._at_work.add(me)
        try:
            return job()
        finally:
            with self._lock:
                self._at_work.discard(me)

    def stop(self) -> None:
        """Ctrl-C for the jobs that run; those that wait do not begin."""
        if self._pool is None:
            return
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for thread in self._at_work:
                interrupt = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), interrupt)


def _result(future: Future[T]) -> T:
    """When it is there. A signal that comes just before Python begins to wait does not end the wait (one
    Ctrl-C of a hundred was noticed when a fit had ended, seconds later), so it looks ten times a second."""
    while not future.done():
        wait([future], timeout=0.1)
    return future.result()


@contextmanager
def workers(threads: int) -> Iterator[Workers]:
    """Threads that are there for the block, in which fits do not warn: held-out rows judge them."""
    # Filters belong to the process: what fits beside each other do to them is undone when the block ends.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UncertainWarning)
        if threads == 1:
            yield Workers(None)
            return
        with ThreadPoolExecutor(threads, "uncertain-fit", _begin, (get_config(),)) as pool:
            crew = Workers(pool)
            try:
                yield crew
            except BaseException:
                crew.stop()
                raise


def _begin(config: Keywords) -> None:
    """For the life of a thread."""
    set_config(**config)
    threadpool_limits(1, "openmp")
