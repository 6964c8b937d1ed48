"""A target of numbers and its error column, cleaned like a feature: a target of 0 +- infinity is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._data.column import as_values
from .._data.warn import warn
from .._tables.cleaning import Cleaning
from .._tables.columns import Columns, Found
from .._tables.statistics import Statistics
from .._tables.table import Table
from ..exceptions import UncertainWarning
from ..preprocessing._error_bars import with_sizes
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
    cleaned = TargetCleaning.learn(Statistics(of_target).add(table)).clean(table)
    per_row = per_row | {column.name: column for column in cleaned if column.name in series}
    kept = [column for column in cleaned if column.name not in series]
    return (Source(source.table.replaced(kept)) if kept else source), per_row  # type: ignore[union-attr]


def _is_pair(values: Any) -> bool:
    """Are these the names of two arms?"""
    return isinstance(values, tuple) and all(isinstance(name, str) for name in values)
