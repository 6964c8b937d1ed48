"""`BarSizes`: a table's values and standard deviations as matrices, and new sizes back into its columns.

Error bars stand in columns of many kinds: standard deviations, variances, two arms, two limits, and lists of
deviations, variances or covariances. A model of sizes knows one: a standard deviation for every value, in
its unit, NaN where it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self

import numpy as np

from .._columns.columns import Columns
from .._columns.error_names import ErrorBar
from .._data.asymmetric import split_normal
from .._data.typing import Booleans, Floats
from .._data.units import POWERS
from .._tables import Block, Table
from ._arms import arm_lengths
from ._limits import read_flags


class BarSizes(NamedTuple):
    """Of n rows and d features."""

    columns: Columns
    values: Floats
    std: Floats
    """NaN where it is missing; negative where the column is, which is refused when it is read."""
    absent: Booleans
    """Where something of an error bar is missing: one of two arms has the length of the other."""

    @classmethod
    def from_table(cls, table: Table, columns: Columns) -> Self | None:
        """Those of a table; None without error bars, and where a column of lists holds no sizes."""
        bars = columns.error_bars
        if not bars:
            return cls._of_lists(table, columns)
        values, numbers = _read(table, bars)
        std, absent = np.empty(values.shape), np.empty(values.shape, dtype=bool)
        for j, (feature, bar) in enumerate(bars.items()):
            absent[:, j] = np.isnan(numbers[feature]).any(axis=1)
            std[:, j] = _deviations(values[:, j], numbers[feature], feature, bar)
            if feature in columns.flags:  # a limit needs no error bar
                absent[:, j] &= read_flags(table, columns.flags[feature]) == 0
        return cls(columns, values, std, absent)

    @classmethod
    def _of_lists(cls, table: Table, columns: Columns) -> Self | None:
        kind, column = next(iter(columns.lists.items()), ("", ""))
        if kind not in ("std", "var", "cov") or len(columns.lists) > 1:
            return None
        means = [columns.mean] if columns.mean else [*(columns.features or ())]
        asked = [Block(means), Block([column], like=means[:1], power=POWERS[kind])]
        values, numbers = (rows.to_numpy() for rows in table.blocks(asked))
        d = values.shape[1]
        if numbers.shape[1] == d * d and kind == "cov":
            numbers = np.where(np.isnan(numbers).any(axis=1, keepdims=True), np.nan, numbers[:, :: d + 1])
        if numbers.shape[1] not in (1, d):
            return None
        std = np.broadcast_to(numbers if kind == "std" else _root(numbers), values.shape)
        return cls(columns, values, std, np.isnan(std))

    @property
    def names(self) -> list[str]:
        """Of the d features."""
        mean = self.columns.mean
        if mean is None:
            return [*(self.columns.features or ())]
        return [f"{mean}[{j}]" for j in range(self.values.shape[1])]

    def written(self, table: Table, std: Floats) -> Table:
        """The table with these sizes where error bars are absent."""
        import polars as pl

        new = self.absent & ~np.isnan(std) & ~np.isnan(self.values)
        used = [name for name in table.names if name in self.columns.used]
        frame = dict(zip(used, table.series(used), strict=True))
        for name, numbers in self._error_columns(table, std, new):
            own = frame[name].dtype
            column = pl.Series(name, numbers)
            frame[name] = column.cast(own) if own == pl.Float32 else column
        return table.standing_for(Table.from_frame(pl.DataFrame(list(frame.values()))))

    def _error_columns(self, table: Table, std: Floats, new: Booleans) -> Iterator[tuple[str, Floats]]:
        """Name and numbers of those that change, in their own units."""
        for j, (feature, bar) in enumerate(self.columns.error_bars.items()):
            rows = np.flatnonzero(new[:, j])
            if not rows.size:
                continue
            sizes = _columns_from(self.values[rows, j], std[rows, j], bar)
            power = POWERS["var"] if bar.kind == "var" else 1
            for column, size in zip(bar.columns, sizes, strict=True):
                numbers = np.array(table.block([column], like=[feature], power=power).to_numpy()[:, 0])
                numbers[rows] = size
                yield column, numbers / table.factor(column, table.unit(feature), power)
        for kind, column in self.columns.lists.items():
            mean = self.columns.mean or self.names[0]
            numbers = np.array(table.block([column], like=[mean], power=POWERS[kind]).to_numpy())
            d, rows = self.values.shape[1], np.flatnonzero(new.any(axis=1))
            size = std[rows] if kind == "std" else std[rows] ** 2
            if numbers.shape[1] == d * d and kind == "cov":
                numbers[rows] = (np.eye(d) * np.nan_to_num(size)[:, None, :]).reshape(len(rows), d * d)
            elif numbers.shape[1] == d:
                numbers[rows] = size
            else:  # one for all features of a row
                variance = np.nanmean(std[rows] ** 2, axis=1, keepdims=True)
                numbers[rows] = np.sqrt(variance) if kind == "std" else variance
            yield column, numbers / table.factor(column, table.unit(mean), POWERS[kind])


def _read(table: Table, bars: Mapping[str, ErrorBar]) -> tuple[Floats, dict[str, Floats]]:
    """The values, and by feature the columns of its error bar, (n, 1) or (n, 2), in its unit."""
    variances = {feature: bar for feature, bar in bars.items() if bar.kind == "var"}
    lengths = {feature: bar for feature, bar in bars.items() if bar.kind != "var"}
    kinds = [(own, power) for own, power in ((variances, POWERS["var"]), (lengths, 1)) if own]
    asked = [Block([*bars])]
    for own, power in kinds:
        columns = [column for bar in own.values() for column in bar.columns]
        asked.append(Block(columns, like=[f for f, bar in own.items() for _ in bar.columns], power=power))
    values, *read = (rows.to_numpy() for rows in table.blocks(asked))
    numbers: dict[str, Floats] = {}
    for (own, _), rows in zip(kinds, read, strict=True):
        ends = np.cumsum([len(bar.columns) for bar in own.values()])[:-1]
        numbers |= zip(own, np.split(rows, ends, axis=1), strict=True)
    return values, numbers


def _deviations(value: Floats, numbers: Floats, feature: str, bar: ErrorBar) -> Floats:
    """The standard deviations of an error bar."""
    if len(bar.columns) == 1:
        return _root(numbers[:, 0]) if bar.kind == "var" else numbers[:, 0]
    below, above = arm_lengths(value, numbers, feature, bar)
    below, above = np.where(np.isnan(below), above, below), np.where(np.isnan(above), below, above)
    return np.sqrt(split_normal(value, below, above)[1])


def _root(variances: Floats) -> Floats:
    return np.sign(variances) * np.sqrt(np.abs(variances))


def _columns_from(value: Floats, std: Floats, bar: ErrorBar) -> tuple[Floats, ...]:
    """The columns of an error bar of this size."""
    if bar.kind == "limits":
        return value - std, value + std
    return (std**2,) if bar.kind == "var" else (std,) * len(bar.columns)
