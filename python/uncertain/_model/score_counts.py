"""How good predictions are, in numbers that are added: of blocks of rows, and of partitions.

Of classes it is how often each one was predicted where each one is true; of numbers y with predictions p the
count, mean and sum of squares about the mean of y and sum (y - p)^2, joined as by Chan, Golub and LeVeque
(The American Statistician 37, 1983, https://doi.org/10.1080/00031305.1983.10483115).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._data.targets import is_missing
from .._data.typing import Floats, Ints, Labels, Values
from .._data.warn import warn
from ..exceptions import NullError, UncertainError


@dataclass(frozen=True)
class ConfusionCounts:
    """Of classes."""

    cells: Ints
    """place of the true class * number of classes + place of the predicted one, where there are such rows."""
    counts: Ints
    n_classes: int

    @classmethod
    def from_classes(cls, truth: Ints, predicted: Ints, n_classes: int) -> Self:
        """Rows whose true and predicted classes have these places."""
        cells, counts = np.unique(truth * n_classes + predicted, return_counts=True)
        return cls(cells, counts, n_classes)

    def __add__(self, other: Self) -> Self:
        """Of the rows of both."""
        cells, at = np.unique(np.concatenate([self.cells, other.cells]), return_inverse=True)
        counts = np.zeros(len(cells), dtype=np.int64)
        np.add.at(counts, at, np.concatenate([self.counts, other.counts]))
        return type(self)(cells, counts, self.n_classes)

    @property
    def n_rows(self) -> int:
        """All rows."""
        return int(self.counts.sum())

    @property
    def score(self) -> float:
        """The accuracy."""
        right = self.cells // self.n_classes == self.cells % self.n_classes
        return float(self.counts[right].sum() / self.n_rows)


@dataclass(frozen=True)
class ResidualSums:
    """Of numbers."""

    n_rows: int
    mean: float
    spread: float
    """sum (y - mean)^2"""
    squares: float

    @classmethod
    def from_numbers(cls, truth: Floats, predicted: Floats) -> Self:
        """Rows with these numbers."""
        if not len(truth):
            return cls(0, 0.0, 0.0, 0.0)
        mean, off = float(truth.mean()), truth - predicted
        spread = float(((truth - mean) ** 2).sum())
        return cls(len(truth), mean, spread, float((off**2).sum()))

    def __add__(self, other: Self) -> Self:
        """Of the rows of both."""
        n = self.n_rows + other.n_rows
        if not n:
            return self
        apart, share = other.mean - self.mean, other.n_rows / n
        return type(self)(
            n,
            self.mean + apart * share,
            self.spread + other.spread + apart**2 * self.n_rows * share,
            self.squares + other.squares,
        )

    @property
    def score(self) -> float:
        """R^2 = 1 - sum (y - p)^2 / sum (y - mean)^2, as by scikit-learn where all y are the same."""
        if self.n_rows < 2:
            warn("R^2 of less than two rows is not defined", UndefinedMetricWarning)
            return float("nan")
        if self.spread == 0.0:
            return float(self.squares == 0.0)
        return 1.0 - self.squares / self.spread


def places(values: Values, classes: Labels, what: str) -> Ints:
    """The places of labels among the classes of a model.

    Raises `NullError` for a row without a label, `UncertainError` for one that is no class.
    """
    known = {label: place for place, label in enumerate(classes.tolist())}
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "biufU"):
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
        for row, value in enumerate(values):
            if is_missing(value):
                raise NullError(f"{what}: row {row} has no label; drop the rows without one")
            if value not in known:
                raise unknown(row, value, classes, what)
        return np.fromiter((known[value] for value in values), np.int64, len(values))
    found, first, codes = np.unique(values, return_index=True, return_inverse=True)
    for label, row in sorted(zip(found.tolist(), first.tolist(), strict=True), key=lambda pair: pair[1]):
        if label not in known:
            raise unknown(row, label, classes, what)
    return np.asarray([known[label] for label in found.tolist()], dtype=np.int64)[codes]


def unknown(row: int, label: object, classes: Labels, what: str) -> UncertainError:
    """What is said of a label that is no class of the model."""
    names = ", ".join(map(repr, classes.tolist()))
    return UncertainError(
        f"{what}: row {row} is {label!r}, which the model does not know; its classes are {names}"
    )
