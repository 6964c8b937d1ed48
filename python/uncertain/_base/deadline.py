"""A limit in seconds: what the core does inside ends once they are over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from numbers import Real

from .._uncertain import stop_after
from ..exceptions import ParameterError


class Deadline:
    """So many seconds from now; None: no limit."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.start = time.monotonic()

    def left(self, share: float = 1.0) -> float | None:
        """Seconds until a share of the time is over, 0 if it is; None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.start + share * self.seconds - time.monotonic())

    @contextmanager
    def stops(self, share: float = 1.0) -> Iterator[None]:
        """Calls of the core in this block, from this thread, raise an UncertainError when it is over.

        What other libraries compute is not stopped. Blocks inside each other: the inner one decides.
        """
        left = self.left(share)
        if left is None:
            yield
            return
        stop_after(left)
        try:
            yield
        finally:
            stop_after(None)


def checked_limit(seconds: object) -> float | None:
    """The limit as a number; ParameterError for what is none."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) > 0.0:
        raise ParameterError(f"time_limit={seconds!r}: must be a number of seconds > 0")
    return float(seconds) if isfinite(float(seconds)) else None
