"""Where the error bars help: the gain of each third of the rows, from the best measured to the worst.

The size of a row's errors is the root mean square of its standard deviations, each in units of its feature's
spread over the rows. The gain of a row is by how much its held-out loss is smaller with error bars than by
the means alone: log loss where there are probabilities, else the share of errors; absolute errors of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.typing import Floats, Labels
from ..preprocessing._error_columns import feature_spread
from .metrics import Answer

LEVELS = 3
FEW = 30
"""Rows of a third, at least."""
LEAST = 1e-6
"""Of a probability, in a log loss."""


class NoiseLevels(NamedTuple):
    """Gains by the size of errors, first repeat."""

    sizes: Floats
    """Of every row, in units of the features' spread."""
    size: Floats
    """The median of each level."""
    gain: Floats
    se: Floats
    loss: str
    """What is gained."""


def noise_levels(
    own: Sequence[Answer], plain: Sequence[Answer], y: Labels, rows: GaussianRows, *, numbers: bool
) -> NoiseLevels | None:
    """None where all errors are equal, or rows are few. `own`, `plain`: the answers of one repeat."""
    gaussians, present = filled_gaussians(rows), ~missing_mask(rows)
    spread = feature_spread(gaussians.means, present)
    square = np.where(present, (gaussians._deviations() / spread) ** 2, 0.0).sum(axis=1)
    sizes = np.sqrt(square / np.maximum(present.sum(axis=1), 1))
    held_out, others = (np.concatenate([answer.rows for answer in answers]) for answers in (own, plain))
    if not np.array_equal(held_out, others) or len(held_out) < LEVELS * FEW:
        return None
    if sizes.max() - sizes.min() <= 1e-9 * sizes.max():
        return None
    losses = [
        np.concatenate([_losses(answer, y, numbers=numbers) for answer in answers])
        for answers in (plain, own)
    ]
    gains, own_sizes = losses[0] - losses[1], sizes[held_out]
    parts = np.array_split(np.argsort(own_sizes, kind="stable"), LEVELS)
    return NoiseLevels(
        sizes,
        np.array([np.median(own_sizes[part]) for part in parts]),
        np.array([gains[part].mean() for part in parts]),
        np.array([gains[part].std() / np.sqrt(len(part)) for part in parts]),
        _name(own[0], numbers=numbers),
    )


def _losses(answer: Answer, y: Labels, *, numbers: bool) -> Floats:
    truth = y[answer.rows]
    if answer.probabilities is not None:
        code = np.searchsorted(np.unique(y), truth)
        shares = answer.probabilities[np.arange(len(code)), code]
        return np.asarray(-np.log(np.maximum(shares, LEAST)))
    if numbers:
        return np.asarray(np.abs(answer.predicted - truth))
    return np.asarray(answer.predicted != truth, dtype=np.float64)


def _name(answer: Answer, *, numbers: bool) -> str:
    if answer.probabilities is not None:
        return "log loss"
    return "absolute error" if numbers else "share of errors"
