"""Columns that hold each row's distribution: lists of draws, and rows with error bars as one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._data.array import GaussianArray
from .._data.arrow_rows import from_column, null_rows, struct_type
from .._data.draws import Lists, draws_of_column, mixtures_from
from .._data.features import prefixed_names
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.typing import Booleans
from .._tables.columns import Columns, listing
from .._tables.table import Table
from ..exceptions import ColumnError

if TYPE_CHECKING:
    import polars as pl


def read_distributions(table: Table, columns: Columns, on_missing: str) -> list[GaussianRows]:
    """The rows of each column; lists of draws that are as long as each other were drawn together."""
    by_name = dict(zip(columns.draws or (), table.series(columns.draws or ()), strict=True))
    drawn = {name: own for name, own in by_name.items() if struct_type(own.dtype) is None}
    gaps = {name: own.is_null().to_numpy() for name, own in drawn.items()} if on_missing == "impute" else {}
    lists = {name: draws_of_column(_filled(own, gaps.get(name)), name) for name, own in drawn.items()}
    lists = {name: Lists(own.values * _factor(table, name), own.offsets) for name, own in lists.items()}
    together = len({own.offsets.tobytes() for own in lists.values()}) == 1 and len(lists) > 1
    if together and [*by_name] == [*lists]:
        values = np.hstack([own.values for own in lists.values()])
        rows = mixtures_from(Lists(values, next(iter(lists.values())).offsets), [*lists])
        return [Incomplete(rows, np.stack([*gaps.values()], axis=1)) if gaps else rows]
    made: dict[str, GaussianRows] = {name: mixtures_from(own, [name]) for name, own in lists.items()}
    made |= {name: Incomplete(filled_gaussians(made[name]), own[:, None]) for name, own in gaps.items()}
    return [
        made[name] if name in made else _carried(table, columns, name, own, on_missing)
        for name, own in by_name.items()
    ]


def _filled(column: pl.Series, missing: Booleans | None) -> pl.Series:
    """Another row's value where there is none; what stands in a gap is never used."""
    if missing is None or not missing.any() or missing.all():
        return column
    here = np.flatnonzero(~missing)
    return column.gather(np.where(missing, here[0], np.arange(len(column))))


def _carried(table: Table, columns: Columns, name: str, column: pl.Series, on_missing: str) -> GaussianRows:
    """Rows with error bars, in the unit and with the features that the fit had."""
    missing = null_rows(column)
    if on_missing == "impute" and missing.any() and not missing.all():
        rows = filled_gaussians(_carried(table, columns, name, _filled(column, missing), "error"))
        return Incomplete(rows, np.broadcast_to(missing[:, None], rows.shape))
    rows = from_column(column)
    fitted, own = columns.distributions.get(name), prefixed_names({name: rows})
    if fitted is not None and fitted != own and rows.feature_names is not None:
        raise ColumnError(
            f"{name}: its features are {listing(own)}, but those of the fit are {listing(fitted)}"
        )
    factor = _factor(table, name)
    rows = rows if factor == 1.0 else rows @ (factor * np.eye(rows.n_features))
    return GaussianArray._from_core(rows._core)


def _factor(table: Table, name: str) -> float:
    """To the unit of the fit."""
    return table.factor(name, None)


def distributions_of(table: Table, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By column that carries its error bars the names of its features, of which one has the column's."""
    made = {}
    for name, column in zip(names, table.series(names), strict=True):
        if struct_type(column.dtype) is not None:
            first = column.filter(~column.is_null())[:1]
            rows = from_column(first)
            made[name] = prefixed_names({name: rows})
    return made
