"""Lists of numbers from the JSON of a model file, and nothing else that NumPy would make numbers of."""

from __future__ import annotations

import math

import numpy as np

from .typing import Floats


def finite_number(value: object, name: str) -> float:
    """A number; ValueError for a string, a bool, NaN and the like."""
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError(f"{name} = {value!r:.100}")
    return float(value)  # type: ignore[arg-type]


def finite_numbers(values: object, name: str) -> Floats:
    """A flat list of numbers; ValueError for anything else."""
    if not isinstance(values, list):
        raise ValueError(f"{name} = {values!r:.100}")
    return np.array([finite_number(value, name) for value in values], dtype=np.float64)
