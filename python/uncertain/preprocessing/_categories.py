"""Categories as features: a column of zeros and ones for each, without uncertainty.

As scikit-learn's ``OneHotEncoder``, no category is dropped: an unknown one then has zeros everywhere, and the
penalties and regularised covariances of the estimators here do not mind that the columns add up to one.
A missing value is one more category, where missing values are allowed and the fitted rows had some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from .._data.column import Column, read_column
from .._data.typing import Codes, Floats, Label
from .._tables.columns import listing
from .._tables.table import Table
from ..exceptions import NullError, UncertainError

Categories: TypeAlias = dict[str, list[Label]]
"""The categories of each categorical column, sorted; None stands for what is missing."""

MANY = 100
"""More categories than this are taken for identifiers."""


def find_categories(table: Table, columns: Sequence[str], on_missing: str) -> Categories:
    """Return the distinct values of each column."""
    found: Categories = {}
    for name in columns:
        column = _read(table, name)
        if on_missing == "error":
            advice = 'drop such rows, or make it a category by on_missing="point"'
            column.refuse_missing(name, f"has no category; {advice}")
        distinct = {*_distinct(column.present)[0]}
        for kind in {*map(type, distinct)} - {str, bool, int, float}:
            wanted = "strings, booleans or numbers"
            raise UncertainError(f"{name}: categories must be {wanted}, got {kind.__name__}")
        found[name] = _ordered(name, distinct if column.missing is None else {*distinct, None})
    return found


def joined_categories(one: Categories, other: Categories) -> Categories:
    """Categories of both, of columns that were read in parts."""
    return {column: _ordered(column, {*one.get(column, ()), *own}) for column, own in other.items()}


def _ordered(column: str, distinct: set[Label]) -> list[Label]:
    """Sorted, and None at the end; refused if there are too many."""
    if len(distinct) > MANY:
        raise UncertainError(
            f"{column}: {len(distinct)} different values are no categories (at most {MANY}); leave it out, "
            f"group rare ones, or take numbers as exact=[{column!r}]"
        )
    order = sorted((v for v in distinct if v is not None), key=lambda v: (str(type(v)), v))
    return order + [None] * (None in distinct)


def one_hot(table: Table, categories: Categories, unknown: str = "error") -> tuple[Floats, list[str]]:
    """(zeros and ones (n, number of features), their names); an `unknown` value is refused, or with "ignore"
    zeros."""
    blocks, names = [], []
    for name, known in categories.items():
        column = _read(table, name)
        place = {value: k for k, value in enumerate(known)}
        labels, places = _distinct(column)
        codes = np.asarray([place.get(label, -1) for label in labels], dtype=np.int64)[places]
        if column.missing is not None:
            codes = np.where(column.missing, place.get(None, -1), codes)
        strange = np.flatnonzero(codes < 0)
        if strange.size and unknown == "error":
            row = int(strange[0])
            is_missing = column.missing is not None and column.missing[row]
            what, value = (NullError, "missing") if is_missing else (UncertainError, column.shown(row))
            raise what(
                f"{name}: row {row} is {value}, which is none of the fitted categories "
                f'({listing([str(v) for v in known])}). To accept it fit with handle_unknown="ignore"'
            )
        blocks.append((codes[:, None] == np.arange(len(known))).astype(np.float64))
        names += one_hot_names(name, known)
    return np.hstack(blocks), names


def one_hot_names(column: str, known: Sequence[Label]) -> list[str]:
    """The names of a column's features, as of scikit-learn's OneHotEncoder."""
    return [f"{column}_{value}" for value in known]


def _read(table: Table, name: str) -> Column:
    (series,) = table.series([name])
    return read_column(series, name, len(series), "categories")


def _distinct(column: Column) -> tuple[list[Label], Codes]:
    """Return the distinct values, which may be of several types, and the place of each row's value."""
    if column.kind == "others":
        values = column.array.tolist()
        labels = [*dict.fromkeys(values)]
        place = {label: k for k, label in enumerate(labels)}
        return labels, np.fromiter(map(place.__getitem__, values), np.uint32, len(values))
    distinct, places = column.distinct()
    return distinct.tolist(), places
