"""Columns of the `uncertainties` package: numbers with a standard deviation, and their correlations.

Numbers that were computed of the same readings share their errors. Between two columns of a row these become
a column of correlations, x_y_corr; between rows they are dropped, as rows are independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ..._data.typing import Floats, NativeColumn
from ...exceptions import ColumnError
from .carrier import Carried, Part, beside, first_object


def from_ufloats(column: NativeColumn, name: str) -> Carried | None:
    """Python objects with ``nominal_value`` and ``std_dev``; plain numbers among them are exact."""
    if not is_ufloat(first_object(column)):
        return None
    value, std = (partial(numbers, attribute, name) for attribute in ("nominal_value", "std_dev"))
    return beside(name, column, value, std)._replace(correlates=True)


def is_ufloat(value: object) -> bool:
    """A number of the package."""
    return hasattr(value, "nominal_value") and hasattr(value, "std_dev")


def numbers(attribute: str, name: str, column: NativeColumn) -> Floats:
    """The attribute of every value: of plain numbers themselves, and 0 for their error; NaN for None."""
    made = np.empty(len(column))
    for row, value in enumerate(column):
        plain = 0.0 if attribute == "std_dev" else value
        own = getattr(value, attribute, np.nan if value is None or value != value else plain)
        try:
            made[row] = float(own)
        except (TypeError, ValueError):
            raise ColumnError(
                f"{name}: row {row} is {value!r}, which is no number with an error bar"
            ) from None
    return made


def correlations(columns: Mapping[str, NativeColumn]) -> dict[str, Part]:
    """A part for every two of these columns that share errors in some row."""
    shares = {name: [_components(value) for value in column] for name, column in columns.items()}
    made: dict[str, Part] = {}
    for a, b in combinations(shares, 2):
        rows = list(zip(shares[a], shares[b], strict=True))
        if any(not one.keys().isdisjoint(other) for one, other in rows):
            made[f"{a}_{b}_corr"] = partial(_correlated, np.array([_correlation(*row) for row in rows]))
    return made


def _correlated(values: Floats, column: object) -> Floats:
    return values


def _components(value: Any) -> dict[Any, float]:
    """By independent reading the part of the error that comes from it."""
    derivatives = getattr(value, "derivatives", None) or {}
    return {reading: d * reading.std_dev for reading, d in derivatives.items() if d * reading.std_dev}


def _correlation(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    shared = sum(part * other[reading] for reading, part in one.items() if reading in other)
    if not shared:
        return 0.0
    sizes = [float(np.linalg.norm([*parts.values()])) for parts in (one, other)]
    return float(np.clip(shared / (sizes[0] * sizes[1]), -1.0, 1.0))
