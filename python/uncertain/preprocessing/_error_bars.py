"""Error bars of a table as standard deviations: two arms or limits of one, and sizes where they are missing.

Error bars are in columns of many kinds: standard deviations, variances, two arms, two limits, and lists of
deviations, variances or covariances. A model of sizes knows one: a standard deviation for every value, in
its unit, NaN where it is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._data.split_normals import ASYMMETRIC, split_normal, what_is_lost
from .._data.typing import Booleans, Floats, Ints, Limits
from .._data.units import POWERS
from .._data.warn import warn
from .._tables.cleaning import FEWEST, Cleaning, find_placeholders
from .._tables.columns import Columns, listing
from .._tables.error_bar import ErrorBar
from .._tables.size_model import SizeModel
from .._tables.statistics import code_warning
from .._tables.table import Table
from ..exceptions import NullError, ShapeError, UncertainError, UncertainWarning


class Sizes(NamedTuple):
    """Standard deviations that take the place of missing error bars."""

    rows: Ints
    """Numbers of the rows in which some are missing, m of them."""
    std: Floats
    """(m, d), NaN where the table has an error bar, or no value."""

    def put(self, numbers: Floats, j: int, power: int = 1) -> Floats:
        filled = numbers.copy()
        filled[self.rows] = np.where(np.isnan(self.std[:, j]), numbers[self.rows], self.std[:, j] ** power)
        return filled

    def put_all(self, kind: str, numbers: Floats) -> Floats:
        filled, d = numbers.copy(), self.std.shape[1]
        some = ~np.isnan(self.std).all(axis=1)
        rows, std = self.rows[some], self.std[some]
        sizes = std if kind == "std" else std**2
        if kind == "cov" and numbers.shape[1] == d * d:
            variances = filled[:, :: d + 1]
            variances[rows] = np.where(np.isnan(std), variances[rows], sizes)
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


def read_deviations(
    table: Table, columns: Columns, flags: Mapping[str, Limits] | None = None
) -> Deviations | None:
    """Read all error bars; None without any, and where a column of lists holds no sizes; `flags`: of limits,
    which need no error bar."""
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
        if flags is not None and feature in flags:
            absent[:, j] &= flags[feature] == 0
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


def with_sizes(cleaning: Cleaning, sample: Table, columns: Columns) -> Cleaning:
    """Learn the sizes of error bars from some rows, and what stands for values without one."""
    _refuse_unusable(cleaning.clean(sample, columns, refuse=False, unusable=()).table, columns)
    bars = read_deviations(cleaning.clean(sample, columns, refuse=False).table, columns)
    if bars is None:
        return cleaning
    placeholders = find_placeholders(bars.names, bars.values, bars.std)
    placeholders = {name: v for name, v in placeholders.items() if name not in columns.flags}  # a limit
    texts = [
        f"{name} is {number:g} in rows without a usable error bar"
        for name, numbers in placeholders.items()
        for number in numbers
    ]
    for name, number, count in _exact_numbers(bars):
        warn(
            f"{name} is {number:g} with an error bar of 0 in {count:,} rows, and read as exact. Replace it "
            "with null where nothing was measured",
            UncertainWarning,
        )
    if texts:
        warn(str(code_warning(texts, ". If they are readings, give such rows error bars")), UncertainWarning)
    sizes = SizeModel.learn(bars.values, bars.std)
    return replace(cleaning, sizes=sizes, placeholders=placeholders)


def _exact_numbers(bars: Deviations) -> Iterator[tuple[str, float, int]]:
    """Yield features of fractions with one number that is exact in several rows, and its error bar, 0, far
    from all others."""
    for name, x, s in zip(bars.names, bars.values.T, bars.std.T, strict=True):
        exact, noisy = x[s == 0.0], s[s > 0.0]
        if len(exact) < FEWEST or not len(noisy) or noisy.min() < 0.1 * np.median(noisy):
            continue
        number, count = max(Counter(exact.tolist()).items(), key=lambda item: item[1])
        others = x[s > 0.0]
        if (
            count >= max(FEWEST, MANY * len(x))
            and not (others == number).any()
            and (others != np.round(others)).any()
        ):
            yield name, number, count


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
        numbers = numbers[:, :: d + 1]
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
    lengths: list[tuple[Floats, Floats]] = []
    for feature, bar in pairs.items():
        value, arms = values[feature], both[feature]
        if bar.kind == "limits" and votes[_ends(feature, bar)] < 0:
            bar, arms = ErrorBar("arms", bar.columns[::-1]), arms[:, ::-1]
        arms = np.where(np.isinf(arms), np.nan, arms)
        settled[feature] = bar
        arms[_are_unusable(value, arms, bar)] = np.nan  # refused, or unknown, where rows are read
        lengths.append(arm_lengths(value, arms, feature, bar))
    what = f"the error bars of {listing(pairs, 4)}"
    below, above = (np.concatenate(each) for each in zip(*lengths, strict=True))
    lost = what_is_lost(below, above, instead='arms="shape"', what=what)
    if {f: bar.kind for f, bar in settled.items()} == {f: bar.kind for f, bar in pairs.items()}:
        return columns, lost
    return columns.with_bars(columns.error_bars | settled), lost


def limits_of_target(table: Table, columns: Columns) -> Columns:
    """The columns of a target and its error bar, of which two are limits where most rows lie between them."""
    for target, bar in columns.error_bars.items():
        y, *both = table.block([target, *bar.columns]).to_numpy().T
        if len(both) == 2 and _votes_for_limits(y, np.sort(np.transpose(both), axis=1)) >= 0:
            ends = bar.columns if np.nanmean(both[1] - both[0]) >= 0.0 else bar.columns[::-1]
            return columns.with_bars({target: replace(bar, kind="limits", columns=ends)})
    return columns


def deviations_of_target(table: Table, bar: ErrorBar, y: Floats, missing: float | None) -> Floats:
    """Standard deviations of targets `y` with two arms, or limits where most rows lie between the columns."""
    both = table.block(bar.columns).to_numpy().copy()
    if _votes_for_limits(y, np.sort(both, axis=1)) >= 0:
        bar, both = replace(bar, kind="limits"), np.sort(both, axis=1)
    if missing is not None:
        both[_are_unusable(y, both, bar) | np.isinf(both).any(axis=1)] = np.nan
    below, above = arm_lengths(y, rescaled(both, y, bar), "the target", bar)
    below, above = np.where(np.isnan(below), above, below), np.where(np.isnan(above), below, above)
    if skewed := float((np.abs(above - below) > ASYMMETRIC * (above + below)).mean()):
        warn(
            f"{100 * skewed:.0f} % of the error bars {bar} of the target are asymmetric by more than "
            f"{ASYMMETRIC:.0%}. Their standard deviation is used",
            UncertainWarning,
        )
    std = np.sqrt(split_normal(y, below, above)[1])
    if missing is None and np.isnan(std).any():
        raise NullError(f"{bar}: row {np.flatnonzero(np.isnan(std))[0]} is null or NaN")
    return std if missing is None else np.where(np.isnan(std), missing, std)


def _ends(feature: str, bar: ErrorBar) -> tuple[str, ...]:
    """Names of two columns with ``{}`` for the name of their value; columns alike get one decision."""
    return tuple(column.replace(feature, "{}") for column in bar.columns)


def _votes_for_limits(value: Floats, arms: Floats) -> int:
    """How many more rows may have limits than lengths; not fewer if all may have limits."""
    low, high = arms.T
    known = ~(np.isnan(value) | np.isnan(low) | np.isnan(high))
    inside = (low <= value) & (value <= high)
    lengths = (high >= 0) & ((low >= 0).all() | (low <= 0).all())
    return int(inside[known].sum()) - int(lengths[known].sum())


def arm_lengths(value: Floats, arms: Floats, feature: str, bar: ErrorBar) -> tuple[Floats, Floats]:
    """The lengths >= 0 of the arms below and above the values, whatever their signs; limits lie on both
    sides."""
    wrong = _are_unusable(value, arms, bar)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UncertainError(
            f"{bar}: row {row} is {' and '.join(map(str, arms[row]))}, {_reason(value[row], feature, bar)}"
        )
    first, second = arms[:, 0], arms[:, 1]
    if bar.kind == "limits":
        return value - first, second - value
    swapped = (first < 0) & (second >= 0)
    return np.abs(np.where(swapped, first, second)), np.where(swapped, second, first)


def _are_unusable(value: Floats, arms: Floats, bar: ErrorBar) -> Booleans:
    """Which rows of the columns hold no error bar?"""
    if bar.kind == "limits":
        return np.asarray((arms[:, 0] > value) | (arms[:, 1] < value))
    return np.asarray((arms < 0).all(axis=1))


def _reason(value: float, feature: str, bar: ErrorBar) -> str:
    """Return why numbers are no error bar, and what to do."""
    if bar.kind == "limits":
        low, high = bar.columns
        return (
            f"and {feature} = {value} lies outside; if they are lengths and not limits, pass "
            f"std={{{feature!r}: ({high!r}, {low!r})}}"
        )
    if len(bar.columns) == 2:
        return "but the upper and the lower arm of an error bar are such as +0.3 and -0.2, or 0.3 and 0.2"
    return f"but error bars are not below zero; if {bar} is a value, leave it out of the error columns"


def _refuse_unusable(table: Table, columns: Columns) -> None:
    """UncertainError for columns that hold no error bars in most rows: single ones are unknown."""
    for feature, bar in columns.error_bars.items():
        value, arms = table.block([feature]).to_numpy()[:, 0], table.block(bar.columns).to_numpy()
        rows = np.flatnonzero(_are_unusable(value, arms, bar))
        if len(rows) > table.n_rows / 2:
            row = rows[0]
            raise UncertainError(
                f"{bar}: {len(rows):,} of {table.n_rows:,} rows hold no error bar, such as "
                f"{' and '.join(map(str, arms[row]))}, {_reason(value[row], feature, bar)}"
            )


MANY = 0.05
"""Share of rows that one exact number has, at least, where it is asked about."""
