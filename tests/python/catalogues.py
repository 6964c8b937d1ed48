"""What tests share: tables and rows, the names of what `uncertain.fit` knows, how it opens tables, and model
files taken apart and put together again under a right checksum."""

import json
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import uncertain
from uncertain import GaussianArray, Incomplete
from uncertain._tables.files import open_files, read_table
from uncertain._tables.frame import BatchSize
from uncertain._tables.table import as_table, open_table
from uncertain._tables.writing import write_table
from uncertain._uncertain import Fitted, Rows, read_model, write_model

__all__ = ["BatchSize", "Fitted", "Rows", "as_table", "open_files", "open_table", "read_model", "read_table"]
__all__ += ["write_model", "write_table"]

METHODS: tuple[str, ...] = get_args(get_type_hints(uncertain.fit)["method"])[1:]
"""Every method of `uncertain.fit` but "auto"."""


def documented_methods() -> Iterator[tuple[str, tuple[type, type | None]]]:
    """The estimators that the docstring of `uncertain.fit` names for each of them."""
    doc = uncertain.fit.__doc__ or ""
    text = doc[doc.index("    method : ") : doc.index("    meaning : ")]
    for names, said in re.findall(r'((?:"\w+",? ?)+): ([^"]*`.*?)(?=\s"\w+"[:,]|\Z)', text, re.DOTALL):
        classifier = re.search(r"`([\w.]+)`", said)
        regressor = re.search(r"\[`([\w.]+)`", said)
        assert classifier, said
        for name in re.findall(r"\w+", names):
            yield name, (made(classifier[1]), regressor and made(regressor[1]))


def made(name: str) -> Any:
    """What a docstring calls by this name."""
    return attrgetter(name.removeprefix("uncertain."))(uncertain)


ESTIMATORS = dict(documented_methods())
"""The estimator of every method, for classes and for numbers."""
METHODS_OF_NUMBERS = tuple(name for name, (_, regressor) in ESTIMATORS.items() if regressor)


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


KINDS = ("zero", "isotropic", "diagonal", "low-rank", "low-rank and diagonal", "full", "shared")
"""Every kind of covariance that rows may have."""


def of_kind(kind: str, means: np.ndarray, rng: np.random.Generator, size: float = 1.0) -> GaussianArray:
    """Rows with error bars of this kind, of 0.1 to 1 `size` and of other sizes in every row."""
    n, d = means.shape
    factor, std = 0.5 * size * rng.normal(size=(n, d, d)), size * rng.uniform(0.1, 1.0, (n, d))
    cov = factor @ factor.transpose(0, 2, 1)
    spread: dict[str, dict[str, Any]] = {
        "zero": {}, "isotropic": {"std": std[:, 0]}, "diagonal": {"std": std},
        "low-rank": {"factor": factor[:, :, :1]},
        "low-rank and diagonal": {"factor": factor[:, :, :1], "var": std**2}, "full": {"cov": cov},
        "shared": {"cov": cov[0]},
    }  # fmt: skip
    return GaussianArray(means, **spread[kind])


def clusters(
    n: int, k: int = 2, seed: int = 0, *, d: int = 2, radius: float = 1.0
) -> tuple[GaussianArray, Any]:
    """Readings of k normal classes "a", "b", ..., whose centres lie on a circle in the first two features."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    angle, std = 2 * np.pi * codes / k, rng.uniform(0.1, 0.8, (n, d))
    means = rng.normal(size=(n, d)) + std * rng.normal(size=(n, d))
    means[:, :2] += radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return GaussianArray(means, std=std), np.array(list("abcd"))[codes]


def labelled(n: int, k: int = 2, seed: int = 0) -> pl.DataFrame:
    """The same as a table, with a number that the readings tell."""
    X, y = clusters(n, k, seed)
    columns = scalar_columns("uv", X.means, np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2)))
    return pl.DataFrame(columns | {"label": y, "value": X.means @ [1.0, 2.0]})


def quick(method: str, *, regression: bool = False) -> dict[str, Any]:
    """The method, with a tenth of the trees and half of the copies where it has any."""
    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    if method == "law" and not regression:
        return {"method": method, "alpha": 0.01}  # a plane separates these classes
    few = {"estimator": kind(max_iter=10), "n_copies": 4}
    return {"method": method} | (few if method == "remeasured" else {})


def with_gaps(rng: np.random.Generator, X: GaussianArray, share: float = 0.3) -> Incomplete:
    return Incomplete(X, rng.random(X.shape) < share)


def hidden_truth(seed: int, n: int = 200, d: int = 3) -> tuple[np.ndarray, np.ndarray, Incomplete]:
    """True values, their covariance, at times nearly singular, and readings whose noise hides that."""
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(d, d))
    z = rng.normal(size=(n, d)) @ mix.T
    std = np.exp(0.7 * rng.normal(size=(n, d)))
    return z, mix @ mix.T, with_gaps(rng, GaussianArray(z + std * rng.normal(size=(n, d)), std=std))


# -- model files; the description is what Python wrote into them beside the numbers of the core


def description(path: Path) -> dict[str, Any]:
    """What Python wrote beside the core's numbers: columns, names of steps, parameters."""
    about: dict[str, Any] = json.loads(read_model(path)[3])
    return about


def as_model(pipeline: Any) -> uncertain.Model:
    """A fitted pipeline behind `Model`'s methods, `save` among them."""
    return uncertain.Model(pipeline, uncertain.Columns())


def written(estimator: Any, out: Path) -> Path:
    """A fitted estimator in a file that says nothing of Python."""
    classes = getattr(estimator, "classes_", np.zeros(0)).tolist()
    write_model(out, estimator._steps(), classes, [], "{}")
    return out


def core_steps(path: Path) -> list[Any]:
    """The fitted steps as the core reads them."""
    return list(read_model(path)[0])


def redescribed(path: Path, about: Any, out: Path) -> Path:
    """A copy of a model file with another description; a string stands as it is."""
    steps, classes, features, _ = read_model(path)
    write_model(out, steps, classes, features, about if isinstance(about, str) else json.dumps(about))
    return out
