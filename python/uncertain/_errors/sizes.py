"""Sizes of the errors of a fit, and error bars for rows without.

Of every feature the fit keeps the quantiles at 1, 50 and 99 %, which new rows are compared with.

Rows without error bars are never taken as exact in silence. ``errors="typical"`` gives them sizes as rows of
the fit had them: of a table by the model of sizes, which the reading step learned, and for rows without
columns the median of the fit. ``errors="zero"`` says that they are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

import msgspec
import numpy as np

from .._data.array import GaussianArray, value_sizes
from .._data.incomplete import GaussianRows, Incomplete
from .._data.numbers import gaps_as_nan
from .._data.typing import Floats
from .._tables.columns import Columns
from .._tables.table import Table
from ..exceptions import ParameterError
from ..preprocessing import AsGaussians
from ..preprocessing._error_bars import Deviations, read_deviations, rescaled

if TYPE_CHECKING:
    import polars as pl

QUANTILES = (0.01, 0.5, 0.99)
MOST_ROWS = 20_000
"""Of more rows so many are looked at."""


@dataclass(frozen=True)
class ErrorSizes:
    """Standard deviations of rows of the fit per feature, in table units."""

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


def _rounded(values: Floats) -> Floats:
    """To six digits, which is enough and keeps files small."""
    return np.array([float(f"{value:.6g}") for value in values])


Errors: TypeAlias = Literal["typical", "zero"] | None
WAYS = (
    'rows without error bars are predicted with errors="typical" (sizes as in the fit) or errors="zero" '
    "(exact values)"
)


def absent_errors(table: Table, columns: Columns) -> set[str]:
    """Columns of error bars and of their correlations that a table lacks."""
    names = {name for bar in columns.error_bars.values() for name in bar.columns} | {*columns.lists.values()}
    absent = names - {*table.names}
    return absent | (columns.used - {*columns.needed} - {*table.names}) if absent else absent


def with_stand_ins(
    table: Table, reading: AsGaussians, absent: set[str], errors: Errors, sizes: ErrorSizes | None
) -> Table:
    """The table with the absent columns; `sizes`: where there is no model."""
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
            f"errors={errors!r}: is for scalar error bars, and the model reads {kinds}. Pass a GaussianArray"
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
