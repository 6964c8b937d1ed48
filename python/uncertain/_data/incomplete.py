"""Rows with gaps on their way to what takes them.

A `GaussianArray` has no NaN: everything that computes with one relies on it. So gaps are marked beside it,
and only `GaussianImputer`, `GaussianDenoiser`, `GaussianDiscriminant` and `GaussianScaler` take both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from .array import GaussianArray
from .features import column_numbers, rows_and_columns
from .numbers import row_numbers
from .typing import Booleans, Floats, RandomState


class Incomplete:
    """Gaussians with marked features missing; their means and variances there are zero and mean nothing.

    What ``AsGaussians(on_missing="impute")`` gives; it has the length, shape and row indexing that
    scikit-learn's splitters need.
    """

    __slots__ = ("gaussians", "missing")

    def __init__(self, gaussians: GaussianArray, missing: Booleans) -> None:
        self.gaussians = gaussians
        self.missing = np.ascontiguousarray(missing, dtype=bool)

    @classmethod
    def of(cls, values: Floats) -> Incomplete:
        """Exact points with NaN for what is missing."""
        missing = np.isnan(values)
        return cls(GaussianArray(np.where(missing, 0.0, values)), missing)

    @property
    def n_features(self) -> int:
        """Dimension d."""
        return self.gaussians.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.gaussians.shape

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, as of a GaussianArray."""
        return self.gaussians.feature_names

    @property
    def unit(self) -> str | None:
        """The unit, as of a GaussianArray."""
        return self.gaussians.unit

    def _named(self, names: Iterable[str] | None) -> Incomplete:
        """The same rows with these names, where they have none."""
        return Incomplete(self.gaussians._named(names), self.missing)

    def __len__(self) -> int:
        return len(self.gaussians)

    def __getitem__(self, rows: Any) -> Incomplete:
        """Rows, and features, as of a GaussianArray."""
        rows, columns = rows_and_columns(rows)
        numbers = column_numbers(columns, self.n_features, self.feature_names)
        index = np.arange(len(self))[rows] if isinstance(rows, slice) else row_numbers(rows, len(self))
        return Incomplete(self.gaussians[index, columns], self.missing[index][:, numbers])

    @property
    def kind(self) -> str:
        """Kind of the covariances of what is there, as of a GaussianArray."""
        return self.gaussians.kind

    def trace(self) -> Floats:
        """Total variance of every row: infinite where a feature is missing."""
        return np.where(self.missing.any(axis=1), np.inf, self.gaussians.trace())

    def collapse(self, to: Literal["zero", "isotropic", "diagonal"]) -> Incomplete:
        """Simpler covariances of what is there; gaps stay gaps."""
        return Incomplete(self.gaussians.collapse(to), self.missing)

    def sample(self, n: int = 1, random_state: RandomState = None) -> Incomplete:
        """`n` draws of every row as exact points, those of a row adjacent; gaps stay gaps."""
        return Incomplete(self.gaussians.sample(n, random_state), np.repeat(self.missing, n, axis=0))

    def __repr__(self) -> str:
        return f"Incomplete({self.gaussians!r}, {int(self.missing.sum())} features missing)"


def hstack(blocks: Sequence[GaussianArray | Incomplete]) -> GaussianArray | Incomplete:
    """The features of all blocks beside each other, with their gaps."""
    if len(blocks) == 1:
        return blocks[0]
    whole = GaussianArray.hstack([b.gaussians if isinstance(b, Incomplete) else b for b in blocks])
    if not any(isinstance(block, Incomplete) for block in blocks):
        return whole
    gaps = [b.missing if isinstance(b, Incomplete) else np.zeros(b.shape, dtype=bool) for b in blocks]
    return Incomplete(whole, np.hstack(gaps))
