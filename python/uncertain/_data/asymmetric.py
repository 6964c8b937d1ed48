"""The Gaussian that replaces an asymmetric error bar, and the warning about the lost skewness."""

from __future__ import annotations

import numpy as np

from .typing import Floats

ASYMMETRIC = 0.1
"""Relative difference of the two arms above which a cell counts as asymmetric in the warning."""


def split_normal(value: Floats, below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """(mean, variance) of the split normal distribution with its peak at `value` and arms a and b.

    a is `below`, b is `above`:

    mean = value + sqrt(2/pi) (b - a), var = (1 - 2/pi) (b - a)^2 + a b.
    """
    shift = above - below
    return value + np.sqrt(2 / np.pi) * shift, (1 - 2 / np.pi) * shift**2 + below * above


def what_is_lost(
    below: Floats,
    above: Floats,
    kept: str = "mean and variance",
    *,
    instead: str,
    what: str = "the error bars",
) -> str | None:
    """A sentence that says for how much of the data a Gaussian loses skewness, and which option keeps it; NaN
    does not count."""
    skewed = np.abs(above - below) > ASYMMETRIC * (above + below)
    if not skewed.any():
        return None
    return (
        f"{100 * skewed.mean():.0f} % of {what} are asymmetric by more than {ASYMMETRIC:.0%}: a Gaussian "
        f"keeps their {kept} only. Take a logarithm, or keep the skewness by {instead}"
    )
