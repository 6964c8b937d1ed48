"""Error bars of a table as standard deviations: two arms or limits of one, and sizes where they are missing.

Error bars are in columns of many kinds: standard deviations, variances, two arms, two limits, and lists of
deviations, variances or covariances. A model of sizes knows one: a standard deviation for every value, in
its unit, NaN where it is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._data.asymmetric import ASYMMETRIC, split_normal, what_is_lost
from .._data.typing import Booleans, Floats, Ints
from .._data.units import POWERS
from .._data.warn import warn
from .._tables.columns import Columns, listing
from .._tables.error_names import ErrorBar
from .._tables.size_model import SizeModel
from .._tables.table import Table
from ..exceptions import NullError, ShapeError, UncertainError, UncertainWarning
from ._flags import read_flags


class Sizes(NamedTuple):
    """Standard deviations that take the place of missing error bars."""

    rows: Ints
    """Numbers of the rows in which some are missing, m of them."""
    std: Floats
    """(m, d), NaN where the table has an error bar, or no value."""

    def put(self, numbers: Floats, j: int, power: int = 1) -> Floats:
        """Return the error bars of feature j with these sizes."""
        filled = numbers.copy()
        filled[self.rows] = np.where(np.isnan(self.std[:, j]), numbers[self.rows], self.std[:, j] ** power)
        return filled

    def put_all(self, kind: str, numbers: Floats) -> Floats:
        """Return lists of error bars of all features with these sizes."""
        filled, d = numbers.copy(), self.std.shape[1]
        some = ~np.isnan(self.std).all(axis=1)
        rows, std = self.rows[some], self.std[some]
        sizes = std if kind == "std" else std**2
        if kind == "cov" and numbers.shape[1] == d * d:
            filled[rows] = (np.eye(d) * np.nan_to_num(sizes)[:, None, :]).reshape(-1, d * d)
        elif numbers.shape[1] == d:
            filled[rows] = np.where(np.isnan(std), numbers[rows], sizes)
        else:  # one for all features of a row
            variance = np.nanmean(std**2, axis=1, keepdims=True)
            filled[rows] = np.sqrt(variance) if kind == "std" else variance
        return filled


class Deviations(NamedTuple):
    """Values and standard deviations of n rows and d features."""

    names: list[str]
    """Of the features."""
    values: Floats
    std: Floats
    """NaN where it is missing; negative where the column is, which is refused when it is read."""
    absent: Booleans
    """Where something of an error bar is missing: one of two arms has the length of the other."""

    def missing_sizes(self, model: SizeModel | None) -> Sizes:
        """Return sizes for the error bars that are missing beside a value."""
        absent = self.absent & ~np.isnan(self.values)
        rows = np.flatnonzero(absent.any(axis=1))
        std = self.std[rows] if model is None else model.filled(self.values[rows], self.std[rows])
        return Sizes(rows, np.where(absent[rows], std, np.nan))

    def n_sized(self, sizes: Sizes) -> dict[str, int]:
        """Return the numbers of these sizes that a model estimated, by feature."""
        return self.counts(np.isnan(self.std[sizes.rows]) & ~np.isnan(sizes.std))

    def counts(self, where: Booleans) -> dict[str, int]:
        """Return the numbers of rows by feature, without zeros."""
        return {name: n for name, n in zip(self.names, where.sum(axis=0).tolist(), strict=True) if n}


def read_deviations(table: Table, columns: Columns) -> Deviations | None:
    """Read all error bars; None without any, and where a column of lists holds no sizes."""
    bars = columns.error_bars
    if not bars:
        return _of_lists(table, columns)
    values = table.block([*bars]).to_numpy()
    std, absent = np.empty(values.shape), np.empty(values.shape, dtype=bool)
    for j, (feature, bar) in enumerate(bars.items()):
        numbers = read_bar(table, feature, bar, values[:, j])
        absent[:, j] = np.isnan(numbers).any(axis=1)
        if len(bar.columns) == 1:
            std[:, j] = _root(numbers[:, 0]) if bar.kind == "var" else numbers[:, 0]
        else:
            below, above = arm_lengths(values[:, j], numbers, feature, bar)
            below, above = np.where(np.isnan(below), above, below), np.where(np.isnan(above), below, above)
            std[:, j] = np.sqrt(split_normal(values[:, j], below, above)[1])
        if feature in columns.flags:  # a limit needs no error bar
            absent[:, j] &= read_flags(table, columns.flags[feature]) == 0
    return Deviations([*bars], values, std, absent)


def read_bar(table: Table, feature: str, bar: ErrorBar, values: Floats, missing: str = "nan") -> Floats:
    """Read the columns of an error bar, (n, 1 or 2), as standard deviations in the unit of the values."""
    like, power = () if bar.share else [feature] * len(bar.columns), POWERS.get(bar.kind, 1)
    numbers = table.block(bar.columns, missing, like=like, power=power).to_numpy()
    if numbers.shape[1] != len(bar.columns):
        raise ShapeError(f"{bar}: expected one number per row, got lists of {numbers.shape[1]}")
    return rescaled(numbers, values, bar) if bar.scale != 1.0 or bar.share else numbers


def rescaled(numbers: Floats, values: Floats, bar: ErrorBar, *, back: bool = False) -> Floats:
    """The numbers of an error bar for one standard deviation; `back`: as its columns have them."""
    factor = bar.scale * (bar.share * np.abs(values) if bar.share else np.ones(len(values)))
    factor = np.divide(1.0, factor, where=factor != 0.0, out=np.zeros_like(factor)) if back else factor
    factor, values = factor[:, None], values[:, None]
    if bar.kind == "limits":
        return values + (numbers - values) * factor
    return numbers * factor ** POWERS.get(bar.kind, 1)


def _of_lists(table: Table, columns: Columns) -> Deviations | None:
    """Read one column of lists of error bars."""
    kind, column = next(iter(columns.lists.items()), ("", ""))
    if kind not in ("std", "var", "cov") or len(columns.lists) > 1:
        return None
    features = [columns.mean] if columns.mean else [*(columns.features or ())]
    values = table.block(features).to_numpy()
    numbers = table.block([column], like=features[:1], power=POWERS[kind]).to_numpy()
    d = values.shape[1]
    if numbers.shape[1] == d * d and kind == "cov":
        numbers = np.where(np.isnan(numbers).any(axis=1, keepdims=True), np.nan, numbers[:, :: d + 1])
    if numbers.shape[1] not in (1, d):
        return None
    std = np.broadcast_to(numbers if kind == "std" else _root(numbers), values.shape) * columns.list_scale
    names = [f"{columns.mean}[{j}]" for j in range(d)] if columns.mean else features
    return Deviations(names, values, std, np.isnan(std))


def _root(variances: Floats) -> Floats:
    return np.sign(variances) * np.sqrt(np.abs(variances))


def settled_arms(table: Table, columns: Columns) -> tuple[Columns, str | None]:
    """The columns, where those called upper and lower are what they are by the numbers of all that are called
    so: limits, or lengths; and what a Gaussian loses of them."""
    pairs = {feature: bar for feature, bar in columns.error_bars.items() if len(bar.columns) == 2}
    values = {feature: table.block([feature]).to_numpy()[:, 0] for feature in pairs}
    both = {f: table.block(bar.columns, like=[f] * 2).to_numpy() for f, bar in pairs.items()}
    votes: dict[tuple[str, ...], int] = {}
    for feature, bar in pairs.items():
        if bar.kind == "limits":
            ends = _ends(feature, bar)
            votes[ends] = votes.get(ends, 0) + _votes_for_limits(values[feature], both[feature])
    settled: dict[str, ErrorBar] = {}
    below: list[Floats] = []
    above: list[Floats] = []
    for feature, bar in pairs.items():
        value, arms = values[feature], both[feature]
        if bar.kind == "limits" and votes[_ends(feature, bar)] < 0:
            bar, arms = ErrorBar("arms", bar.columns[::-1]), arms[:, ::-1]
        settled[feature] = bar
        arms = np.where(np.isinf(arms), np.nan, arms)  # refused, or unknown, where rows are read
        lengths = arm_lengths(value, arms, feature, bar)
        below.append(lengths[0])
        above.append(lengths[1])
    what = f"the error bars of {listing(pairs)}"
    lost = what_is_lost(np.concatenate(below), np.concatenate(above), instead='arms="shape"', what=what)
    if {f: bar.kind for f, bar in settled.items()} == {f: bar.kind for f, bar in pairs.items()}:
        return columns, lost
    return columns.with_bars(columns.error_bars | settled), lost


def deviations_of_target(table: Table, bar: ErrorBar, y: Floats, missing: float | None) -> Floats:
    """Standard deviations of targets `y` with two arms, or limits where most rows lie between the columns."""
    both = table.block(bar.columns).to_numpy()
    if _votes_for_limits(y, np.sort(both, axis=1)) >= 0:
        bar, both = replace(bar, kind="limits"), np.sort(both, axis=1)
    below, above = arm_lengths(y, rescaled(both, y, bar), "the target", bar)
    below, above = np.where(np.isnan(below), above, below), np.where(np.isnan(above), below, above)
    if skewed := float((np.abs(above - below) > ASYMMETRIC * (above + below)).mean()):
        warn(
            f"{100 * skewed:.0f} % of the error bars {bar} of the target are asymmetric by more than "
            f"{ASYMMETRIC:.0%}: their standard deviation is taken",
            UncertainWarning,
        )
    std = np.sqrt(split_normal(y, below, above)[1])
    if missing is None and np.isnan(std).any():
        raise NullError(f"{bar}: row {np.flatnonzero(np.isnan(std))[0]} is null or NaN")
    return std if missing is None else np.where(np.isnan(std), missing, std)


def _ends(feature: str, bar: ErrorBar) -> tuple[str, ...]:
    """What the names of two columns have beside that of their value; the decision is one for all alike."""
    return tuple(column.replace(feature, "{}") for column in bar.columns)


def _votes_for_limits(value: Floats, arms: Floats) -> int:
    """How many more rows may have limits than lengths; not fewer if all may have limits."""
    low, high = arms.T
    known = ~(np.isnan(value) | np.isnan(low) | np.isnan(high))
    inside = (low <= value) & (value <= high)
    lengths = (high >= 0) & ((low >= 0).all() | (low <= 0).all())
    return int(inside[known].sum()) - int(lengths[known].sum())


def arm_lengths(value: Floats, arms: Floats, feature: str, bar: ErrorBar) -> tuple[Floats, Floats]:
    """The lengths of the arms below and above the values, >= 0; NaN stays NaN.

    Arms may have signs (+0.3, -0.2) or none (0.3, 0.2); limits lie on both sides of the value.
    """
    first, second = arms[:, 0], arms[:, 1]
    if bar.kind == "limits":
        below, above = value - first, second - value
        wrong = (below < 0) | (above < 0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            low, high = bar.columns
            raise UncertainError(
                f"{low} and {high}: row {row} is {first[row]} and {second[row]}, and {feature} = "
                f"{value[row]} lies outside; if they are lengths and not limits, pass "
                f"std={{{feature!r}: ({high!r}, {low!r})}}"
            )
        return below, above
    swapped = (first < 0) & (second >= 0)
    above, below = np.where(swapped, second, first), np.abs(np.where(swapped, first, second))
    wrong = above < 0
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UncertainError(
            f"{bar}: row {row} is {first[row]} and {second[row]}; expected the upper and the lower arm of an "
            "error bar, such as +0.3 and -0.2, or 0.3 and 0.2"
        )
    return below, above
