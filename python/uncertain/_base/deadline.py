"""A limit in seconds: what the core does inside ends once they are over."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from numbers import Real

from .._data.options import refuse_if
from .._uncertain import stop_after


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
        """Seconds until a share of the time is over, 0 if it is; None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.start + share * self.seconds - time.monotonic())

    @contextmanager
    def stops(self, share: float = 1.0) -> Iterator[None]:
        """Calls of the core in this block, from this thread, raise an UncertainError when it is over.

        Computations of other libraries are not stopped. A block inside another one sets another limit, and
        its end brings back the first one.
        """
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
