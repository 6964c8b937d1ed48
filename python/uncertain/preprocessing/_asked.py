"""From the arguments of ``AsGaussians`` to the columns of a table, named there or found by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .._columns import Columns, find_columns
from .._columns.bars import limit_columns
from .._columns.found import Found
from .._data.typing import NativeTable
from .._tables import Table
from ..exceptions import ParameterError
from ._empty import find_filled

OF_FEATURES = {"mean", "features", "exact", "categorical", "limits", "draws"}
"""Roles that say which columns are features; those of error bars alone do not."""


def found_columns(asked: Columns, X: NativeTable) -> Columns:
    """The given columns, with those that are found by name; rows without columns have none."""
    if not isinstance(X, Table):
        given = [role for role, value in asked.roles().items() if value]
        if given:
            raise TypeError(
                f"AsGaussians({', '.join(given)}) reads columns of a table, got {type(X).__name__}"
            )
        return Columns.for_array()
    if asked.found.settled:
        return find_columns(asked, X)
    roles = {*asked.asked()}
    if asked.corr and not asked.errors:
        raise ParameterError('corr= needs the error columns of scalar features, such as std="{}_err"')
    of_scalars = any(isinstance(value, Mapping) for value in asked.errors.values())
    if roles and not of_scalars and not roles & OF_FEATURES:
        raise ParameterError("pass either mean= (one column of lists) or features= (scalar columns)")
    if _complete(asked):
        limits = limit_columns(asked.limits, asked.scalars, X.names)
        return replace(asked, limits=limits, found=Found(settled=True))
    return find_filled(asked, X)


def _complete(asked: Columns) -> bool:
    """Do the arguments leave nothing to be found by name?"""
    if asked.exact == "all":
        return False
    scalar = asked.errors.keys() - asked.lists.keys()
    if asked.mean is not None or not scalar:
        return asked.mean is not None or asked.features is not None
    return asked.features is not None and [*asked.features] == list(asked.error_bars)
