"""Targets of which some are missing, for methods that learn from rows without a label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..exceptions import ShapeError, UncertainError
from ._targets import MANY_CLASSES, labels_from

__all__ = ["numbers_from", "partial_targets"]


def partial_targets(
    values: Sequence[Any], what: str, task: str, n_rows: int
) -> tuple[NDArray[Any], Literal["classification", "regression"]]:
    """(targets, task): numbers with NaN for null, or labels with None.

    With ``task="auto"`` floats, and integers of more than 20 different values, are quantities.
    """
    if len(values) != n_rows:
        raise ShapeError(f"{what}: expected {n_rows} targets, one per row, got {len(values)}")
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    known = np.array([v is not None and v == v for v in plain], dtype=bool)
    there = [v for v, k in zip(plain, known, strict=True) if k]
    if not there:
        raise UncertainError(f"{what}: no row has a label")
    kinds = {type(v) for v in there}
    quantity = kinds <= {int, float} and (float in kinds or len(set(there)) > MANY_CLASSES)
    if task == "regression" or (task == "auto" and quantity):
        return numbers_from(plain, what, n_rows), "regression"
    labels = np.full(n_rows, None, dtype=object)
    labels[known] = labels_from(there, what, "classification", len(there)).tolist()
    return labels, "classification"


def numbers_from(values: Sequence[Any], what: str, n_rows: int) -> NDArray[np.float64]:
    """Numbers from one column's Python values, NaN for null."""
    if len(values) != n_rows:
        raise ShapeError(f"{what}: expected {n_rows} targets, one per row, got {len(values)}")
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, (int, float, np.integer, np.floating)):
            raise UncertainError(f"{what}: row {row} is {value!r}; a target of regression must be a number")
    return np.array([np.nan if v is None else float(v) for v in values])
