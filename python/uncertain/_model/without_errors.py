"""Rows without error bars, which a model that was fitted to rows with error bars is asked about.

They are never taken as exact in silence. ``errors="typical"`` gives them sizes as rows of the fit had them:
of a table by the model of sizes, which the reading step learned, and for rows without columns the median of
the fit. ``errors="zero"`` says that they are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete
from .._data.numbers import gaps_as_nan
from .._data.typing import Floats
from .._errors.sizes import ErrorSizes
from .._tables.columns import Columns
from .._tables.table import Table
from ..exceptions import ParameterError
from ..preprocessing import AsGaussians
from ..preprocessing._error_bars import Deviations, read_deviations, rescaled

if TYPE_CHECKING:
    import polars as pl

Errors: TypeAlias = Literal["typical", "zero"] | None
WAYS = (
    'rows without error bars are predicted with errors="typical" (sizes as in the fit) or errors="zero" '
    "(exact values)"
)


def absent_errors(table: Table, columns: Columns) -> set[str]:
    """Columns of error bars that a table lacks, and of their correlations if it lacks some."""
    names = {name for bar in columns.error_bars.values() for name in bar.columns} | {*columns.lists.values()}
    absent = names - {*table.names}
    return absent | (columns.used - {*columns.needed} - {*table.names}) if absent else absent


def with_stand_ins(
    table: Table, reading: AsGaussians, absent: set[str], errors: Errors, sizes: ErrorSizes | None
) -> Table:
    """The table with columns for those that are absent; `sizes`: where there is no model of them."""
    import polars as pl

    columns = reading.columns_
    table = table.in_units(reading.units_)
    pairs = columns.used - {*columns.needed}
    frame = table.frame([name for name in table.names if name in columns.used])
    nothing = np.full(table.n_rows, np.nan)
    if columns.lists:
        d = len(reading.get_feature_names_out()) - len(columns.exact or ())
        nothing = np.full((table.n_rows, d), np.nan)
    added = [pl.Series(name, np.zeros(table.n_rows) if name in pairs else nothing) for name in sorted(absent)]
    whole = table.with_columns(frame.with_columns(added))
    if reading.on_missing == "auto":
        whole = reading.unknown_.clean(whole, columns).table
    bars = read_deviations(whole, columns)
    if bars is None:
        kinds = ", ".join(columns.lists)
        raise ParameterError(
            f"errors={errors!r}: error bars of this kind ({kinds}) have no sizes; pass a GaussianArray"
        )
    std = np.zeros(bars.std.shape) if errors == "zero" else _typical(bars, reading, sizes)
    kept = whole.frame([name for name in whole.names if name in columns.used])
    return whole.with_columns(kept.with_columns(_error_columns(columns, bars.values, std, absent)))


def _error_columns(columns: Columns, values: Floats, std: Floats, absent: set[str]) -> list[pl.Series]:
    """Return the columns of these error bars that are absent."""
    import polars as pl

    made: dict[str, Floats] = {}
    for j, bar in enumerate(columns.error_bars.values()):
        size, value = std[:, j], values[:, j]
        limits = (value - size, value + size)
        sizes = limits if bar.kind == "limits" else [size**2 if bar.kind == "var" else size] * 2
        numbers = rescaled(np.column_stack(sizes[: len(bar.columns)]), value, bar, back=True)
        made |= dict(zip(bar.columns, numbers.T, strict=True))
    std = std / columns.list_scale
    for kind, name in columns.lists.items():
        made[name] = std if kind == "std" else std**2
        if kind == "cov":
            made[name] = (np.eye(std.shape[1]) * made[name][:, None, :]).reshape(len(std), -1)
    return [pl.Series(name, numbers) for name, numbers in made.items() if name in absent]


def _typical(bars: Deviations, reading: AsGaussians, sizes: ErrorSizes | None) -> Floats:
    if reading.unknown_.sizes is not None:
        return reading.unknown_.sizes.filled(bars.values, bars.std)
    if sizes is None:
        raise ParameterError(
            'errors="typical": the model file has no sizes of error bars (it was written in Rust). Fit it '
            'again, or pass errors="zero"'
        )
    return np.where(np.isnan(bars.std), sizes.middle[: bars.std.shape[1]], bars.std)


def typical_rows(rows: object, sizes: ErrorSizes) -> GaussianRows:
    """Plain numbers with the median error bars of the fit."""
    values = gaps_as_nan(rows, "X")
    if values.ndim != 2 or values.shape[1] != len(sizes.middle):
        return GaussianArray(values)
    made = Incomplete.from_arrays(values, std=np.broadcast_to(sizes.middle, values.shape))
    return made if made.missing.any() else made.gaussians
