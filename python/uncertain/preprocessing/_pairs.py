"""Correlations and covariances of pairs of scalar features, from columns of a table.

S_jk = corr_jk s_j s_k; pairs without a column, and those of what is missing, stay 0. Archives hold rows whose
covariances are larger than their error bars allow (the two come from different steps of a pipeline). They are
refused, or (``on_missing="auto"``) all covariances of the row are multiplied by the largest t <= 1 that
leaves a covariance matrix: with the smallest eigenvalue l < 0 of the row's correlations, t = 1 / (1 - l).
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .._data.typing import Booleans, Floats, Ints
from .._data.warn import warn
from .._tables.columns import listing
from .._uncertain import Gaussians, Rows
from ..exceptions import NotPositiveSemiDefiniteError, UncertainError, UncertainWarning

REFUSE, SHRINK = "refuse", "shrink"
"""Treatment of covariances that cannot be."""
MOST_ROWS = 10
"""More rows, and more than one in twenty, are no exceptions: the columns hold something else."""


class Pairs(NamedTuple):
    columns: list[str]
    first: Ints
    """The number of one feature of each pair."""
    second: Ints
    are_correlations: Booleans
    """Or are they covariances?"""


def with_pairs(
    core: Gaussians, pairs: Pairs, values: Floats, names: dict[str, list[str]], impossible: str
) -> Gaussians:
    """Gaussians with these values, shape (n, pairs), of the pairs of their features."""
    columns, j, k, of_corr = pairs
    dense = core.covariances()
    std = np.sqrt(np.diagonal(dense, axis1=1, axis2=2))
    scale = std[:, j] * std[:, k]
    if impossible == REFUSE:
        _refuse(values, of_corr, scale, columns, std[:, j], std[:, k])
    dense[:, j, k] = dense[:, k, j] = np.where(of_corr, values * scale, values)
    n, d = core.n_rows, core.n_features
    names = {**names, "covariances": [listing(columns, 4)]}
    means = Rows.from_numpy(np.ascontiguousarray(core.means), n, d)

    def built(dense: Floats) -> Gaussians:
        return Gaussians(means, cov=Rows.from_numpy(dense, n, d * d), names=names)

    if impossible == REFUSE:
        return built(dense)
    too_large = ~(np.abs(values) <= np.where(of_corr, 1.0, scale) * (1 + 1e-9))
    if not too_large.any():
        with suppress(NotPositiveSemiDefiniteError):
            return built(dense)
    if too_large.any(axis=1).sum() > max(MOST_ROWS, n / 20):
        _refuse(values, of_corr, scale, columns, std[:, j], std[:, k])
    return built(_shrunk(dense, std, columns))


def _refuse(
    values: Floats, of_corr: Booleans, scale: Floats, columns: list[str], first: Floats, second: Floats
) -> None:
    """UncertainError for what is no correlation, and for covariances beyond the product of two errors."""
    wrong = np.argwhere(of_corr & ~(np.abs(values) <= 1))
    if len(wrong):
        row, column = wrong[0]
        place = f"{columns[column]}: row {row} is {values[row, column]}"
        raise UncertainError(f"{place}; correlations lie in [-1, 1]")
    wrong = np.argwhere(~of_corr & ~(np.abs(values) <= scale * (1 + 1e-9)))
    if len(wrong):
        row, column = wrong[0]
        raise UncertainError(
            f"{columns[column]}: row {row} is {values[row, column]}, but standard deviations "
            f"{first[row, column]} and {second[row, column]} allow at most {scale[row, column]}"
        )


def _shrunk(dense: Floats, std: Floats, columns: list[str]) -> Floats:
    """The covariances as large as they can be, and a warning that counts the rows."""
    outer = std[:, :, None] * std[:, None, :]
    of_pairs = ~np.eye(dense.shape[1], dtype=bool)
    correlations = np.divide(dense, outer, out=np.zeros_like(dense), where=outer > 0)
    correlations[:, ~of_pairs] = 1.0
    smallest = np.linalg.eigvalsh(correlations)[:, 0]
    exact = (outer == 0) & (dense != 0) & of_pairs
    factor = np.where(smallest < 0, (1 - 1e-12) / (1 - np.minimum(smallest, 0.0)), 1.0)
    wrong = (smallest < -1e-9) | exact.any(axis=(1, 2))
    row = int(np.flatnonzero(wrong)[0])
    warn(
        f"covariances in {listing(columns, 4)} exceed what error bars allow in {int(wrong.sum()):,} rows "
        f"(row {row}: a correlation of {np.abs(correlations[row][of_pairs]).max():.3g}) and were reduced. To "
        'refuse them pass on_missing="error"',
        UncertainWarning,
    )
    return np.where(of_pairs & ~exact, factor[:, None, None] * dense, np.where(exact, 0.0, dense))
