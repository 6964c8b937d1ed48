"""The clock of the benches."""

import time
from collections.abc import Callable

Clock = Callable[[], float]


def seconds(work: Callable[[], object], repeats: int = 3, clock: Clock = time.process_time) -> float:
    """The least time of some runs; by processor time (of all threads) other processes do not count."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)
