"""Errors that rows share: (n, k) of targets, (n, d, k) of features, (n, d + 1, k) with the target's last."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._data.numbers import refuse_where
from .._data.typing import Floats, Keywords
from ..exceptions import UncertainError


def checked_modes(modes: ArrayLike, n: int) -> Floats:
    """(n, k) finite numbers."""
    numbers = np.asarray(modes, dtype=np.float64)
    if numbers.ndim != 2 or len(numbers) != n or not numbers.shape[1]:
        raise UncertainError(f"modes: expected the shape ({n}, k), got {numbers.shape}")
    refuse_where(~np.isfinite(numbers), numbers, "modes", "it must be finite", axes=("row", "mode"))
    return np.ascontiguousarray(numbers)


def mode_arguments(modes: ArrayLike | None, n: int, d: int) -> Keywords:
    """Those of the targets and of the features, as the core takes them."""
    if modes is None:
        return {}
    if np.ndim(modes) != 3:
        return {"modes": checked_modes(modes, n)}
    numbers = np.asarray(modes, dtype=np.float64)
    if len(numbers) != n or numbers.shape[1] not in (d, d + 1) or not numbers.shape[2]:
        raise UncertainError(
            f"modes: expected the shape ({n}, k) for errors of the target, ({n}, {d}, k) for those of "
            f"features or ({n}, {d + 1}, k) for those of both, the target last; got {numbers.shape}"
        )
    axes = ("row", "feature", "mode")
    refuse_where(~np.isfinite(numbers), numbers, "modes", "it must be finite", axes=axes)
    of_targets = numbers[:, d] if numbers.shape[1] > d else np.zeros((n, numbers.shape[2]))
    return {
        "modes": np.ascontiguousarray(of_targets),
        "modes_of_features": np.ascontiguousarray(numbers[:, :d]),
    }
