"""Columns of the target beside its values: its errors, their covariances with the features', limits.

Columns of correlations and covariances that name the target beside a feature, such as COV_x_y for a target y,
belong to no pair of features. Only an estimator whose `fit` takes `xy_cov` can use them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._data.incomplete import GaussianRows, filled_gaussians
from .._data.numbers import float_array, refuse_where
from .._data.typing import Floats, Limits
from .._data.warn import warn
from .._tables.columns import Columns, PairsOfTarget, listing, require
from .._tables.find import doubt_text, unsaid_levels
from .._tables.flags import read_flags
from ..exceptions import ColumnError, ParameterError, ShapeError, UncertainWarning
from ..preprocessing import AsGaussians
from .source import Source

KINDS = ("corr", "cov")


def with_target_std(columns: Columns, *, arms: bool = False) -> Columns:
    """Roles with the error bars of the target that its name gives, which are then not ignored; `arms`:
    two columns, too."""
    found = columns.found
    stds: list[Any] = [*found.target_stds, *(found.target_pairs_of_arms if arms else ())]
    if columns.target_std is not None:
        return columns
    if len(stds) > 1:
        raise ColumnError(
            f"the target {columns.target!r} has several error columns ({', '.join(map(str, stds))}); say "
            f"which to use, such as target_std={stds[0]!r}"
        )
    if stds:
        columns = _used(replace(columns, target_std=stds[0]), found.of_target)
        if unsaid := unsaid_levels(columns, of_target=True):
            warn(unsaid, UncertainWarning)
        return columns
    if found.target_pairs_of_arms:
        names = [" and ".join(pair) for pair in found.target_pairs_of_arms]
        warn(
            f"the error bars of the target in {listing(names)} are ignored: target_std= "
            "takes one column of standard deviations, such as the mean of two arms",
            UncertainWarning,
        )
    elif doubts := [doubt for doubt in found.doubts if columns.target in doubt.of]:
        warn(
            f"the error bars of the target are not read: {'; '.join(map(doubt_text, doubts))}. Pass "
            "target_std=, a column of standard deviations.",
            UncertainWarning,
        )
        unread = {column for doubt in doubts for column in doubt.bar.columns}
        return columns.with_found(of_target=found.of_target | unread)
    return columns


def with_pairs_of_target(columns: Columns, pairs: PairsOfTarget) -> Columns:
    """Roles with columns of covariances with the target's errors, which are then not ignored."""
    return _used(columns.with_found(target_corr=pairs.corr, target_cov=pairs.cov), pairs.columns)


def _used(columns: Columns, names: Collection[str]) -> Columns:
    """Roles where these have one now."""
    return columns.with_found(ignored=tuple(name for name in columns.ignored if name not in names))


def covariances(
    source: Source, reading: AsGaussians, rows: GaussianRows, columns: PairsOfTarget, y_std: Floats
) -> Floats:
    """(n, d), zero for features without such a column; `rows` are what the `reading` step made of the source.

    Raises
    ------
    UncertainError
        For a feature that has no error bar; a correlation beyond 1.
    """
    assert source.table is not None
    rows = filled_gaussians(rows)
    features = list(reading.get_feature_names_out())
    out = np.zeros(rows.shape)
    policy = "nan" if reading.on_missing == "impute" else "refuse-error-bars"
    for kind in KINDS:
        for feature, column in getattr(columns, kind).items():
            require(feature, features)
            j = features.index(feature)
            values = source.table.block([column], policy).to_numpy()[:, 0]
            if kind == "corr":
                refuse_where(np.abs(values) > 1, values, column, "correlations lie in [-1, 1]")
                values = values * np.sqrt(rows[:, [j]].trace()) * y_std
            out[:, j] = values
    return out


def covariance_of_rows(y_cov: ArrayLike, n_rows: int) -> Floats:
    """(n, n): covariances of all targets' errors; what else they must be is the law's matter."""
    if isinstance(y_cov, str):
        raise ParameterError(f"y_cov={y_cov!r}: must be the covariance matrix of all rows, not a column")
    matrix = float_array(y_cov, "y_cov")
    if matrix.shape != (n_rows, n_rows):
        raise ShapeError(
            f"y_cov: expected the shape {(n_rows, n_rows)}, a row and a column for each row of the table, "
            f"got {matrix.shape}"
        )
    return matrix


def limits(source: Source, columns: Columns) -> Limits | None:
    """-1, 0, 1 for every row, where there is a column of the target's limits."""
    if columns.target_limit is None or source.table is None:
        return None
    return read_flags(source.table, columns.target_limit, columns.target or "")
