"""Error bars of targets that have none: sizes from the model that features have, learned from the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from .._data.mixing import mixed
from .._data.typing import Array, Floats
from ..exceptions import NullError
from ..preprocessing._census import MOST_ROWS
from ..preprocessing._size_model import SizeModel

MISSING_STD = {"point": 0.0, "auto": np.nan}
"""By `on_missing` what stands for a missing error bar of a target; others refuse it."""
BLOCK = 1 << 20
"""Rows that are completed at a time."""


class GrowingColumn(Protocol):
    """Numbers that grow at the end."""

    def append(self, values: Array) -> None:
        """More of them."""

    def mapped(self) -> Array:
        """All of them, (n, 1)."""


def with_sizes(y: Floats, y_std: Floats, column: Callable[[], GrowingColumn] | None = None) -> Floats:
    """The standard deviations of targets, with sizes for NaN; in a new column, if there is one."""
    if not np.isnan(y_std).any():
        return y_std
    model = size_model(y, y_std)
    if column is None:
        return filled(model, y, y_std)
    grown = column()
    for first in range(0, len(y), BLOCK):
        grown.append(filled(model, y[first : first + BLOCK], y_std[first : first + BLOCK]))
    return np.asarray(grown.mapped()[:, 0])


def size_model(y: Floats, y_std: Floats) -> SizeModel:
    """The model of these sizes; NullError if there is none."""
    known = np.flatnonzero(~np.isnan(y_std))
    if not len(known):
        raise NullError("target_std: no row has an error bar of its target; leave target_std out")
    some = known[np.argsort(mixed(known.astype(np.uint64)), kind="stable")[:MOST_ROWS]]
    return SizeModel.learn(y[some, None], y_std[some, None])


def filled(model: SizeModel, y: Floats, y_std: Floats) -> Floats:
    """Sizes for NaN."""
    return model.filled(y[:, None], y_std[:, None])[:, 0]
