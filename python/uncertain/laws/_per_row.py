"""What is known of each row beside features and target: offsets, exposures, times that were not reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._data.numbers import refuse_where
from .._data.typing import Floats, Limits
from ..exceptions import UncertainError


def _one_each(values: ArrayLike, what: str, n: int) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n,):
        raise UncertainError(f"{what}: expected {n} numbers, one per row, got shape {numbers.shape}")
    refuse_where(~np.isfinite(numbers), numbers, what, "it must be finite")
    return np.ascontiguousarray(numbers)


def predictor_offset(offset: ArrayLike | None, exposure: ArrayLike | None, n: int) -> Floats | None:
    """What is added to the linear predictor."""
    parts = []
    if offset is not None:
        parts.append(_one_each(offset, "offset", n))
    if exposure is not None:
        sizes = _one_each(exposure, "exposure", n)
        refuse_where(sizes <= 0.0, sizes, "exposure", "it must be > 0")
        parts.append(np.log(sizes))
    return np.sum(parts, axis=0) if parts else None


def censored(flags: ArrayLike | None, what: str, n: int) -> Limits:
    """+1 where the time is a lower limit."""
    numbers = np.asarray(flags)
    if numbers.shape != (n,):
        raise UncertainError(f"{what}: expected {n} numbers, one per row, got shape {numbers.shape}")
    bad = np.flatnonzero(~np.isin(numbers, (0, 1)))
    if bad.size:
        row = int(bad[0])
        raise UncertainError(
            f"{what}: row {row} is {numbers[row : row + 1].tolist()[0]!r}; it must be 0 or 1"
        )
    late: Limits = (numbers == (1 if what == "y_limit" else 0)).astype(np.int8)
    return late
