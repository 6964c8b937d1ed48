"""How large the error bars were that a model was fitted to, and whether new ones are like them.

Of every feature the quantiles at 1, 50 and 99 % are kept. New rows are outside if their errors are beyond the
outer two by a quarter. Some always are; a warning needs a tenth of the rows, and so many that chance explains
them in one case of a million. A few rows therefore never warn, and held-out rows of the same table do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import msgspec
import numpy as np
from scipy.stats import binom

from .._data.array import value_sizes
from .._data.incomplete import GaussianRows
from .._data.typing import Floats

QUANTILES = (0.01, 0.5, 0.99)
MOST_ROWS = 20_000
"""Of more rows so many are looked at."""
MARGIN = 1.25
SHARE = 0.1
CHANCE = 1e-6
NAMED = 3
"""Features that a warning names."""


@dataclass(frozen=True)
class ErrorSizes:
    """Standard deviations of the rows of a fit, feature by feature, in the units of the table."""

    lower: Floats
    middle: Floats
    upper: Floats
    n_rows: Annotated[int, msgspec.Meta(ge=1)]

    def __post_init__(self) -> None:
        lower, middle, upper = self.lower, self.middle, self.upper
        alike = len(lower) == len(middle) == len(upper)
        if not alike or not np.all((lower >= 0.0) & (lower <= middle) & (middle <= upper)):
            raise ValueError("quantiles of error sizes are not in order")

    @classmethod
    def from_rows(cls, rows: GaussianRows) -> Self:
        """Sizes of a sample of the rows."""
        some = np.arange(len(rows))
        if len(some) > MOST_ROWS:
            some = np.sort(np.random.default_rng(0).permutation(some)[:MOST_ROWS])
        std, known = value_sizes(rows[some])
        std = np.sort(np.where(known, std, np.inf), axis=0)
        last = np.maximum(known.sum(axis=0) - 1, 0)
        lower, middle, upper = (
            np.where(known.any(axis=0), std[np.rint(q * last).astype(int), np.arange(std.shape[1])], 0.0)
            for q in QUANTILES
        )
        return cls(_rounded(lower), _rounded(middle), _rounded(upper), len(some))

    def warning(
        self, rows: GaussianRows, names: Callable[[], Sequence[str]], times: tuple[float, float]
    ) -> str | None:
        """Differences of these rows; None if there are none. Errors may be `times` those of the fit."""
        std, known = value_sizes(rows)
        low, high = self.lower * times[0] / MARGIN, self.upper * times[1] * MARGIN
        outside = known & ((std < low) | (std > high))
        n, count = known.sum(axis=0), outside.sum(axis=0)
        share = count / np.maximum(n, 1)
        unlike = np.flatnonzero(share >= SHARE)
        if unlike.size:  # the chance takes longer than all the rest of a prediction of one row
            usual = min(2 * (1 - QUANTILES[2]) + 2 / (self.n_rows + 1), 1.0)
            unlike = unlike[binom.sf(count[unlike] - 1, n[unlike], usual) < CHANCE]
        if not unlike.size:
            return None
        order = unlike[np.argsort(-share[unlike], kind="stable")]
        features = names()
        parts = [
            f"{features[j]} (median {np.median(std[known[:, j], j]):.3g}, in training {self.middle[j]:.3g}; "
            f"{100 * share[j]:.0f} % of rows outside {low[j]:.2g} to {high[j]:.2g})"
            for j in order[:NAMED].tolist()
        ]
        more = f" and {len(order) - NAMED} more features" if len(order) > NAMED else ""
        return f"errors of these rows are unlike in training: {'; '.join(parts)}{more}"


def _rounded(values: Floats) -> Floats:
    """To six digits, which is enough and keeps files small."""
    return np.array([float(f"{value:.6g}") for value in values])
