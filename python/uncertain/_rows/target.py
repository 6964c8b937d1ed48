"""The target of a fit: its values and error column cleaned, its covariances with features, its limits.

The target and its error column are cleaned like a feature: a target of 0 +- infinity is none. Columns of
correlations and covariances that name the target beside a feature, such as COV_x_y for a target y, belong to
no pair of features. Only an estimator whose `fit` takes `xy_cov` can use them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._data.column import as_values
from .._data.incomplete import GaussianRows, filled_gaussians
from .._data.numbers import float_array, refuse_where
from .._data.typing import Floats, Limits
from .._data.warn import warn
from .._tables.cleaning import Cleaning
from .._tables.columns import Columns, Found, PairsOfTarget, listing, require
from .._tables.flags import read_flags
from .._tables.statistics import Statistics
from .._tables.table import Table
from .._tables.unread import arguments, doubt_text, unsaid_levels
from ..exceptions import ColumnError, ParameterError, ShapeError, UncertainWarning
from ..preprocessing import AsGaussians
from ..preprocessing._error_bars import limits_of_target, with_sizes
from .reader import PerRow
from .source import Source

if TYPE_CHECKING:
    import polars as pl


def target_columns(columns: Columns, target: str, std: Any = None) -> Columns:
    """Return the target as a feature with its error column: `std`, or the only one that is called so."""
    stds = [*columns.found.target_stds, *columns.found.target_pairs_of_arms]
    std = std or columns.target_std or (stds[0] if len(stds) == 1 else None)
    limits = {target: columns.found.target_limit} if columns.found.target_limit else {}
    roles: Any = {"features": (target,), "std": {target: std}} if std else {"exact": (target,)}
    return Columns(**roles, limits=limits, found=Found(settled=True))


class TargetCleaning(NamedTuple):
    """Codes of "unknown" in a target and its error column."""

    columns: Columns
    cleaning: Cleaning

    @classmethod
    def learn(cls, statistics: Statistics) -> TargetCleaning:
        """Learn it from all rows, with a warning about what is guessed."""
        columns, cleaning = statistics.columns, statistics.cleaning()
        if (warning := statistics.warning(taken=True)) is not None:
            warn(warning, UncertainWarning)
        if columns.features and statistics.sample.table is not None:
            cleaning = with_sizes(cleaning, statistics.sample.table, columns)
        return cls(columns, cleaning)

    def clean(self, table: Table) -> list[pl.Series]:
        """Return the columns with nulls for what is unknown; none where nothing is."""
        cleaned = self.cleaning.clean(table, self.columns).table
        return [] if cleaned is table else cleaned.series([*self.columns.needed])


def are_numbers(table: Table, of_target: Columns, task: str) -> bool:
    """Is the target a quantity? Whole numbers are classes, unless they have error bars."""
    target, *bars = of_target.scalars[0], *(n for bar in of_target.error_bars.values() for n in bar.columns)
    if task == "classification" or any(table.types.get(name) != "number" for name in (target, *bars)):
        return False
    return task == "regression" or bool(bars) or bool(table.column(target).dtype.is_float())


def clean_target(source: Source, per_row: PerRow, columns: Columns, task: str) -> tuple[Source, PerRow]:
    """Return the rows, and what was given for them, with nulls for unknown targets and error bars of them."""
    given = {role: per_row[role] for role in ("target", "target_std")}
    y = given["target"]
    if (
        source.table is None
        and given["target_std"] is None
        and isinstance(y, np.ndarray)
        and y.dtype.kind != "f"
    ):
        return source, per_row  # classes in an array, for which no library of tables is loaded
    import polars as pl

    from .._tables.series import to_series

    series = {}
    for role, values in given.items():
        if values is not None and not isinstance(values, str) and not _is_pair(values):
            if len(values := as_values(values, role)) != source.n_rows:
                return source, per_row  # refused where it is read
            series[role] = to_series(values, role)
    names = {role: role if role in series else name for role, name in given.items()}
    of_target = target_columns(columns, names["target"], names["target_std"])
    known = [name for name in of_target.needed if name not in series]
    if known and source.table is None:
        return source, per_row
    columns_of_table = [] if source.table is None else source.table.series(known)
    table = Table.from_frame(pl.DataFrame([*series.values(), *columns_of_table]))
    if not are_numbers(table, of_target, task):
        return source, per_row
    of_target = limits_of_target(table, of_target)
    cleaned = TargetCleaning.learn(Statistics(of_target).add(table)).clean(table)
    per_row = per_row | {column.name: column for column in cleaned if column.name in series}
    kept = [column for column in cleaned if column.name not in series]
    return (Source(source.table.replaced(kept)) if kept else source), per_row  # type: ignore[union-attr]


def _is_pair(values: Any) -> bool:
    """Are these the names of two arms?"""
    return isinstance(values, tuple) and all(isinstance(name, str) for name in values)


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
            f"the error bars of the target are not read: {'; '.join(map(doubt_text, doubts))}. "
            f"{arguments(columns, doubts) or 'target_std=, a column of standard deviations,'} takes them.",
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
    """(n, d), zero for features without such a column; `rows` are what the `reading` step made of the
    source."""
    assert source.table is not None
    rows = filled_gaussians(rows)
    features = list(reading.get_feature_names_out())
    out = np.zeros(rows.shape)
    policy = "nan" if reading.on_missing == "impute" else "refuse-error-bars"
    for kind in ("corr", "cov"):
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
