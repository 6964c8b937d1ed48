"""Asymmetric error bars: two columns are the arms of one, or its limits, and their numbers say which."""

from __future__ import annotations

import numpy as np

from .._columns.columns import Columns, listing
from .._columns.error_names import ErrorBar
from .._data.asymmetric import what_is_lost
from .._data.typing import Floats
from .._tables import Table
from ..exceptions import UncertainError


def settled_arms(table: Table, columns: Columns) -> tuple[Columns, str | None]:
    """The columns, where those called upper and lower are what they are by their numbers: limits, or
    lengths; and what a Gaussian loses of them."""
    pairs = {feature: bar for feature, bar in columns.error_bars.items() if len(bar.columns) == 2}
    settled: dict[str, ErrorBar] = {}
    below: list[Floats] = []
    above: list[Floats] = []
    for feature, bar in pairs.items():
        value = table.block([feature]).to_numpy()[:, 0]
        arms = table.block(bar.columns, like=[feature] * 2).to_numpy()
        if bar.kind == "limits" and not _are_limits(value, *arms.T):
            bar, arms = ErrorBar("arms", bar.columns[::-1]), arms[:, ::-1]
        settled[feature] = bar
        arms = np.where(np.isinf(arms), np.nan, arms)  # refused, or unknown, where rows are read
        lengths = arm_lengths(value, arms, feature, bar)
        below.append(lengths[0])
        above.append(lengths[1])
    what = f"the error bars of {listing(pairs)}"
    lost = what_is_lost(np.concatenate(below), np.concatenate(above), instead='arms="shape"', what=what)
    if settled == pairs:
        return columns, lost
    return columns.with_bars(columns.error_bars | settled), lost


def arm_lengths(value: Floats, arms: Floats, feature: str, bar: ErrorBar) -> tuple[Floats, Floats]:
    """The lengths of the arms below and above the values, >= 0; NaN stays NaN.

    Arms may have signs (+0.3, -0.2) or none (0.3, 0.2); limits lie on both sides of the value.
    """
    first, second = arms[:, 0], arms[:, 1]
    if bar.kind == "limits":
        below, above = value - first, second - value
        wrong = (below < 0) | (above < 0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            low, high = bar.columns
            raise UncertainError(
                f"{low} and {high}: row {row} is {first[row]} and {second[row]}, and {feature} = "
                f"{value[row]} lies outside; if they are lengths and not limits, pass "
                f"std={{{feature!r}: ({high!r}, {low!r})}}"
            )
        return below, above
    swapped = (first < 0) & (second >= 0)
    above, below = np.where(swapped, second, first), np.abs(np.where(swapped, first, second))
    wrong = above < 0
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UncertainError(
            f"{bar}: row {row} is {first[row]} and {second[row]}; expected the upper and the lower arm of an "
            "error bar, such as +0.3 and -0.2, or 0.3 and 0.2"
        )
    return below, above


def _are_limits(value: Floats, low: Floats, high: Floats) -> bool:
    """Do the values lie between the two columns, or are these lengths? Both are called upper and lower."""
    known = ~(np.isnan(value) | np.isnan(low) | np.isnan(high))
    inside = (low <= value) & (value <= high)
    lengths = (high >= 0) & ((low >= 0).all() | (low <= 0).all())
    return bool(inside[known].all() or not lengths[known].all())
