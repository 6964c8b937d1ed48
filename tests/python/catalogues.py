"""Tables and rows that tests share, and the names of what `uncertain.fit` knows."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import uncertain
from uncertain._tables import open_table

METHODS: tuple[str, ...] = get_args(get_type_hints(uncertain.fit)["method"])[1:]
"""Every method of `uncertain.fit` but "auto"."""
METHODS_OF_NUMBERS = ("gsu", "kernel", "huber", "mixture", "remeasured")


def names(table: Any) -> list[str]:
    """The columns of a table of any library."""
    return list(open_table(table).names)


def values(table: Any, name: str) -> list[Any]:
    """A column of it, as Python objects."""
    return list(open_table(table).values(name))


def lists(table: Any) -> dict[str, list[Any]]:
    """All columns; of a stream, which is read once."""
    opened = open_table(table)
    return {name: opened.values(name) for name in opened.names}


def scalar_columns(names: str, values: np.ndarray, std: np.ndarray) -> dict[str, np.ndarray]:
    """Columns `a`, `b`, ... and their error columns `a_err`, `b_err`, ..."""
    columns = {name: values[:, j] for j, name in enumerate(names)}
    return columns | {f"{name}_err": std[:, j] for j, name in enumerate(names)}


def linear(n: int, seed: int, factor: float = 1.0, *, sigma: float = 0.4, target_error: float | None = None,
           classes: bool = False) -> pl.DataFrame:  # fmt: skip
    """y = 2 a - b + noise, or three classes of it; errors between 0.05 and 1 times the factor. With errors of
    the target, `y_true` is without them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    errors = factor * rng.uniform(0.05, 1.0, size=z.shape)
    columns: dict[str, Any] = scalar_columns("ab", z + errors * rng.normal(size=z.shape), errors)
    y: Any = z @ [2.0, -1.0] + sigma * rng.normal(size=n)
    if target_error is not None:
        columns |= {"y_err": rng.uniform(0.0, 2 * target_error, n), "y_true": y}
        y = y + columns["y_err"] * rng.normal(size=n)
    if classes:
        y = np.select([y > 0.8, y < -1.2], ["high", "low"], "middle")
    return pl.DataFrame(columns | {"y": y})


def up_or_down(n: int, seed: int, noise: float = 0.0) -> pl.DataFrame:
    """Readings `u`, `v`; a label and a number that they tell."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    std = rng.uniform(0.05, 0.8, (n, 2))
    columns = scalar_columns("uv", z + std * rng.normal(size=(n, 2)), std)
    labels = np.where(z.sum(axis=1) + noise * rng.normal(size=n) > 0, "up", "down")
    return pl.DataFrame(columns | {"label": labels, "height": z @ [1.0, 2.0]})


def quick(method: str, *, regression: bool = False) -> dict[str, Any]:
    """The method, with a tenth of the trees where it has any."""
    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return {"method": method} | ({"estimator": kind(max_iter=10)} if method == "remeasured" else {})
