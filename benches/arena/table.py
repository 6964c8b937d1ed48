"""Tables with error bars as archives hand them out, in one form for every method; recipes that tasks share.

A gap is a NaN value, an unknown error bar a NaN arm, an exact value has arms of zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from uncertain import GaussianArray, Incomplete

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """n rows: values, lower and upper arms (n, d), target, groups; and what some tables have besides."""

    name: str
    values: Values
    below: Values
    above: Values
    y: NDArray[Any]
    groups: NDArray[Any]
    regression: bool = False
    truth: Values | None = None
    """True values, where they are known."""
    limits: NDArray[np.int8] | None = None
    """-1 where the value is an upper limit, else 0."""
    categories: NDArray[Any] | None = None
    """Columns of categories, (n, k)."""
    y_std: Values | None = None
    """Error bars of the target."""

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Table:
        names = ("values", "below", "above", "y", "groups", "truth", "limits", "categories", "y_std")
        parts = {name: getattr(self, name) for name in names}
        return replace(self, **{name: part[rows] for name, part in parts.items() if part is not None})

    @property
    def std(self) -> Values:
        """The mean of both arms."""
        return np.asarray((self.below + self.above) / 2)

    def worse(self, factor: float, seed: int) -> Table:
        """As read with errors so many times as large; an unknown error bar, or a limit, stays what it is.

        Of errors that are smaller the true values must be known: what is left of the error is a part of it.
        """
        if factor == 1.0:
            return self
        times = np.where(0 if self.limits is None else self.limits != 0, 1.0, factor)
        arms = {"below": times * self.below, "above": times * self.above}
        if factor < 1.0:
            assert self.truth is not None
            return replace(self, values=self.truth + factor * (self.values - self.truth), **arms)
        noise = np.random.default_rng(seed).normal(size=self.values.shape)
        more = np.sqrt(times**2 - 1) * np.nan_to_num(self.std) * noise
        return replace(self, values=self.values + more, **arms)

    def flagged(self) -> Table:
        """With an exact column of zeros and ones for every quantity that has values without error bars."""
        unknown = (np.isnan(self.below) | np.isnan(self.above)) & ~np.isnan(self.values)
        flags = unknown[:, unknown.mean(axis=0) > 0.01].astype(float)
        values, below, above = (np.hstack([own, more]) for own, more in (
            (self.values, flags), (self.below, 0 * flags), (self.above, 0 * flags)
        ))  # fmt: skip
        return replace(self, values=values, below=below, above=above, truth=None)

    def folds(self, n: int = 5, seed: int = 0) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Whole groups are held out."""
        splitter = GroupKFold(n, shuffle=True, random_state=seed)
        return list(splitter.split(self.values, groups=self.groups))

    def rows(self, like: Table | None = None) -> GaussianArray | Incomplete:
        """Gaussians: the mean arm as standard deviation; an unknown one is that of `like`'s median."""
        std, known = self.std, (self if like is None else like).std
        typical = [np.median(s[~np.isnan(s)]) if (~np.isnan(s)).any() else 0.0 for s in known.T]
        std = np.where(np.isnan(std), typical, std)
        missing = np.isnan(self.values)
        means = np.where(missing, 0.0, self.values)
        rows = GaussianArray(means, std=np.where(missing, 0.0, std))
        return Incomplete(rows, missing) if missing.any() else rows

    @property
    def exact(self) -> list[str]:
        """Names of the columns of `frame` that have no error bars."""
        return [f"x{j}" for j in range(self.values.shape[1]) if not np.nan_to_num(self.std[:, j]).any()]

    def frame(self) -> pl.DataFrame:
        """Columns x0, x0_up, x0_down, x0_limit, c0, ..., y, y_err, object; null for what is missing."""
        columns: dict[str, Any] = {f"x{j}": column for j, column in enumerate(self.values.T)}
        for j, (below, above) in enumerate(zip(self.below.T, self.above.T, strict=True)):
            columns |= {f"x{j}_up": above, f"x{j}_down": below}
        for j, flags in enumerate([] if self.limits is None else self.limits.T):
            columns[f"x{j}_limit"] = flags
        for j, names in enumerate([] if self.categories is None else self.categories.T):
            columns[f"c{j}"] = names.astype(str)
        columns |= {"y": self.y, "object": self.groups}
        columns |= {} if self.y_std is None else {"y_err": self.y_std}
        return pl.DataFrame(columns).with_columns(pl.selectors.float().fill_nan(None))


def armed(
    name: str, frame: pl.DataFrame, names: Sequence[str], exact: Sequence[str], up: str, down: str, y: Any,
    groups: Any,
) -> Table:  # fmt: skip
    """Of a frame with columns of values and of both arms."""
    numbers = [pl.col(f"{n}{end}").cast(pl.Float64) for end in ("", up, down) for n in names]
    block = frame.select(numbers).to_numpy().reshape(len(frame), 3, len(names))
    plain = frame.select(pl.col(exact).cast(pl.Float64)).to_numpy() if exact else np.empty((len(frame), 0))
    zero = np.zeros_like(plain)
    values = np.hstack([block[:, 0], plain])
    above, below = np.hstack([np.abs(block[:, 1]), zero]), np.hstack([np.abs(block[:, 2]), zero])
    return Table(name, values, below, above, y, groups)


def read(name: str, truth: Values, y: NDArray[Any], size: float, *, regression: bool) -> Table:
    """True values read with log-normal errors of typically `size` spreads."""
    random = np.random.default_rng(0)
    factors = np.exp(0.5 * (random.normal(size=(len(truth), 1)) + random.normal(size=truth.shape)))
    std = size * truth.std(axis=0) * factors
    values = truth + std * random.normal(size=truth.shape)
    return Table(name, values, std, std, y, np.arange(len(y)), regression, truth=np.asarray(truth, float))


def simulated(name: str, column: str, size: float, file: str) -> Callable[[Any], Table]:
    """Numbers of a stored table, its features read with errors."""

    def load(folder: Any) -> Table:
        numbers = pl.read_parquet(folder / file).cast(pl.Float64)
        truth = numbers.drop(column).to_numpy()
        return read(name, truth, numbers[column].to_numpy(), size, regression=True)

    return load


def noise(n: int, *, gaps: bool, rare: int = 2, seed: int = 0) -> Table:
    """Features and errors that say nothing; one row in `rare` is of the second class."""
    random = np.random.default_rng(seed)
    std = np.exp(0.5 * random.normal(size=(n, 6)))
    values = random.normal(size=(n, 6)) + std * random.normal(size=(n, 6))
    y = (random.permutation(n) % rare == 0).astype(int)
    values = np.where(random.random((n, 6)) < 0.2, np.nan, values) if gaps else values
    return Table(f"noise {n}{' gaps' if gaps else ''}", values, std, std, y, np.arange(n))


def cut(table: Table, n: int, seed: int = 0) -> Table:
    """Some of the rows."""
    some = np.random.default_rng(seed).permutation(len(table))[:n]
    return replace(table[some], name=f"{table.name}, {n} rows")
