"""Numbers that look random and are the same in every process: the finaliser of splitmix64.

Draws by them (samples, folds, marks of equal rows) depend on neither batches, threads nor workers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: the step of splitmix64."""


def finalised(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of each number spread over all 64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of splitmix64 at these places."""
    return finalised((keys + np.uint64(1)) * GOLDEN)


def uniform(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers in [0, 1)."""
    return (mixed(keys) >> np.uint64(11)).astype(np.float64) / 2.0**53
