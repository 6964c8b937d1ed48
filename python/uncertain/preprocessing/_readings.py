"""Rows as they would have been read with larger or smaller errors, for `RemeasuredClassifier` and its twin.

Larger errors are exact: noise is added to the reading. Smaller ones need the true value, which is drawn from
what the reading leaves open; where labels are known, from the distribution of the row's own class, as draws
from a common one would blur the classes.
"""

from __future__ import annotations

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Floats, Labels
from ._denoiser import GaussianDenoiser
from ._error_columns import deviations

FEW = 20
"""Classes of fewer rows have no distribution of their own: that of all rows serves them."""
ROWS_PER_COMPONENT = 50
"""Rows that each Gaussian of a denoiser must have at least."""


class Readings:
    """Rows that can be read again; gaps stay gaps."""

    def __init__(
        self,
        rows: GaussianArray | Incomplete,
        random: np.random.RandomState,
        truth: GaussianArray | None = None,
    ) -> None:
        self.missing = rows.missing if isinstance(rows, Incomplete) else None
        self.rows = rows.gaussians if isinstance(rows, Incomplete) else rows
        self.random = random
        self.truth = truth
        self.diagonal = self.rows.kind in ("diagonal", "isotropic")
        self.spread = deviations(self.rows) if self.diagonal else self.rows.covariances()

    def again(self, factors: Floats) -> GaussianArray | Incomplete:
        """The rows as read with errors of these sizes, (n, d), in units of their own."""
        noise = self.rows.sample(1, self.random).means - self.rows.means
        more = np.sqrt(np.maximum(factors**2 - 1.0, 0.0))
        smaller = factors < 1.0
        if not self.diagonal:  # noise of features that belong together comes from one reading
            smaller = np.broadcast_to(smaller.any(axis=1, keepdims=True), smaller.shape)
        means = self.rows.means + more * noise
        if self.truth is not None and smaller.any():
            read = self.truth.sample(1, self.random).means + factors * noise
            means = np.where(smaller, read, means)
        if self.diagonal:
            copy = GaussianArray(means, std=factors * self.spread)
        else:
            larger = self.spread + more[:, :, None] * self.spread * more[:, None, :]
            scaled = factors[:, :, None] * self.spread * factors[:, None, :]
            copy = GaussianArray(means, cov=np.where(smaller[:, :1, None], scaled, larger))
        copy = copy._named(self.rows.feature_names)
        return copy if self.missing is None else Incomplete(copy, self.missing)


def true_values(
    rows: GaussianArray | Incomplete,
    n_components: int,
    weights: Floats | None,
    random: np.random.RandomState,
    classes: Labels | None = None,
) -> GaussianArray:
    """The posterior of each row's true value, by a denoiser of all rows, or of those of its class."""
    codes = np.zeros(len(rows), dtype=np.int64) if classes is None else classes
    found, counts = np.unique(codes, return_counts=True)
    common = np.isin(codes, found[counts < FEW])
    groups = [np.flatnonzero(codes == code) for code in found[counts >= FEW]]
    parts = [(part, part) for part in groups]
    if common.any():
        parts.append((np.arange(len(rows)), np.flatnonzero(common)))
    posteriors = []
    for learned, answered in parts:
        most = min(n_components, max(1, len(learned) // ROWS_PER_COMPONENT))
        denoiser = GaussianDenoiser(most, tol=1e-4, random_state=random.randint(2**31 - 1))
        denoiser.fit(rows[learned], sample_weight=None if weights is None else weights[learned])
        posteriors.append(denoiser.transform(rows[answered]))
    order = np.concatenate([answered for _, answered in parts])
    return GaussianArray.concat(posteriors)[np.argsort(order)]


def drawn_factors(
    shape: tuple[int, int], ends: tuple[float, float], per_feature: float, random: np.random.RandomState
) -> Floats:
    """Factors (n, d), log-uniform between the ends: one for a row, or one for each of its features."""
    low, high = np.log(ends)
    of_rows = random.uniform(low, high, (shape[0], 1))
    of_features = random.uniform(low, high, shape)
    each = random.uniform(size=(shape[0], 1)) < per_feature
    return np.exp(np.where(each, of_features, of_rows))
