"""What columns say of the target beside its values: covariances of its errors with the features', and limits.

Columns of correlations and covariances that name the target beside a feature, such as COV_x_y for a target y,
belong to no pair of features. Only an estimator whose `fit` takes `xy_cov` can use them.
"""

from __future__ import annotations

import numpy as np

from .._columns import Columns
from .._columns.bars import require
from .._columns.columns import PairsOfTarget
from .._data.incomplete import GaussianRows, filled_gaussians
from .._data.numbers import refuse_where
from .._data.typing import Floats, Limits
from .._tables.source import Source
from ..preprocessing import AsGaussians
from ..preprocessing._limits import read_flags

KINDS = ("corr", "cov")


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


def limits(source: Source, columns: Columns) -> Limits | None:
    """-1, 0, 1 for every row, where there is a column of the target's limits."""
    if columns.target_limit is None or source.table is None:
        return None
    return read_flags(source.table, columns.target_limit)
