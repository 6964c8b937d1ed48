"""Rows of a table with limits, which columns of flags mark.

A limit needs no error bar; one that is there belongs to the reading that would have been made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians, missing_mask
from .._data.mixture_array import MixtureArray
from .._data.typing import Booleans, Floats, Limits
from .._tables.columns import Columns
from .._tables.table import Table
from ..exceptions import NullError
from ._categories import Categories, one_hot_names
from ._error_bars import Sizes
from ._reading import read_gaussians


def read_with_limits(
    table: Table,
    columns: Columns,
    *,
    on_missing: str = "error",
    categories: Categories | None = None,
    sizes: Sizes | None = None,
    flags: Mapping[str, Limits],
    **options: str,
) -> GaussianRows:
    """The Gaussians in the columns, with the limits that flags of features tell."""
    policy = "impute" if on_missing == "error" else on_missing
    rows = read_gaussians(table, columns, on_missing=policy, categories=categories, sizes=sizes, **options)
    names = [*columns.scalars]
    names += [name for column, known in (categories or {}).items() for name in one_hot_names(column, known)]
    limits: Limits = np.zeros(rows.shape, dtype=np.int8)
    values: dict[int, Floats] = {}
    for feature, of_feature in flags.items():
        j = names.index(feature)
        limits[:, j] = of_feature
        if limits[:, j].any():
            values[j] = table.block([feature]).to_numpy()[:, 0]
    missing: Booleans = missing_mask(rows)
    means, still = np.array(filled_gaussians(rows).means), missing.copy()
    for j, own in values.items():
        known = (limits[:, j] != 0) & ~np.isnan(own)
        means[known & missing[:, j], j] = own[known & missing[:, j]]
        still[known, j] = False
    limits[still] = 0  # a flag without a value says nothing
    if on_missing == "error":
        _refuse_gaps(still, names, columns)
    return Incomplete(_with_means(rows, means, missing & ~still), still, limits)


def _with_means(rows: GaussianRows, means: Floats, bare: Booleans) -> GaussianArray:
    """The rows with the values of limits that have no error bar (`bare`) in their places."""
    gaussians = filled_gaussians(rows)
    if not bare.any():
        return gaussians
    if isinstance(gaussians, MixtureArray):
        of_row = np.repeat(np.arange(len(rows)), np.diff(gaussians.offsets))
        parts, bare = gaussians.components, bare[of_row]
        parts = _with_means(parts, np.where(bare, means[of_row], parts.means), bare)
        return MixtureArray(gaussians.weights, parts, offsets=gaussians.offsets)
    if gaussians.kind in ("zero", "isotropic", "diagonal"):
        return GaussianArray(means, std=gaussians._deviations())
    return GaussianArray(means, cov=gaussians.covariances())


def _refuse_gaps(missing: Booleans, names: Sequence[str], columns: Columns) -> None:
    """NullError for the first gap that is no limit."""
    gaps = np.argwhere(missing)
    if not len(gaps):
        return
    row, j = gaps[0]
    bar = columns.error_bars.get(names[j])
    error = "" if bar is None else f" or its error bar ({bar})"
    raise NullError(
        f'{names[j]}{error}: row {row} is null or NaN; on_missing="impute" takes it for unknown'
        + (", and a flag of a limit needs the value beside it" if names[j] in columns.flags else "")
    )
