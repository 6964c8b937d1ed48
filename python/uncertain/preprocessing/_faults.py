"""Everything that is wrong with the columns of a table, in one error: readers stop at the first thing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

from .._columns import Columns
from .._columns.bars import arguments_from
from ..exceptions import UncertainError

MOST = 10
"""Faults that are named."""


def all_faults(error: UncertainError, columns: Columns, read: Callable[[Columns], object]) -> UncertainError:
    """The error, with those that `read` raises for other columns alone."""
    texts = [str(error)]
    for names, one in _one_by_one(columns):
        if texts[0].startswith(names):  # it is about these already
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(one)
        except UncertainError as other:
            if str(other) not in texts:
                texts.append(str(other))
    if len(texts) == 1:
        return error
    more = [f"... and {len(texts) - MOST} more"] if len(texts) > MOST else []
    listed = "\n  ".join([*texts[:MOST], *more])
    return type(error)(f"{len(texts)} things are wrong with the columns:\n  {listed}")


def _one_by_one(columns: Columns) -> Iterator[tuple[tuple[str, ...], Columns]]:
    """The names of the columns of each feature, and their roles without the others."""
    nothing = columns.changed(features=(), exact=(), categorical=(), mean=None, corr=None, limits={})
    nothing = nothing.with_errors({})
    for feature, bar in columns.error_bars.items():
        one = nothing.with_errors(arguments_from({feature: bar})).changed(features=(feature,))
        yield (feature, *bar.columns), one
    for name in columns.exact or ():
        yield (name,), nothing.changed(exact=(name,))
    for name in columns.categorical or ():
        yield (name,), nothing.changed(categorical=(name,))
