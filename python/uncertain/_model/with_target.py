"""What columns say of the target beside its values: covariances of its errors with the features', and limits.

Columns of correlations and covariances that name the target beside a feature, such as COV_x_y for a target y,
belong to no pair of features. Only an estimator whose `fit` takes `xy_cov` can use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._data.incomplete import gaussians_of
from .._data.numbers import refuse_where
from .._data.typing import Floats, Limits
from ..exceptions import UncertainError
from ..preprocessing import AsGaussians
from ..preprocessing._limits import flags_from
from ..preprocessing._reading import read_columns
from ..tables._columns import Columns
from ..tables._names import pair_columns
from ..tables._roles import check_roles, fill, require
from ..tables._source import Source

KINDS = ("corr", "cov")


class OfTarget(NamedTuple):
    """The columns, by feature."""

    corr: dict[str, str]
    cov: dict[str, str]
    given: bool = True
    """Did the caller name them?"""

    @property
    def columns(self) -> set[str]:
        """All of them."""
        return {*self.corr.values(), *self.cov.values()}


def split(given: Mapping[str, Any], target: object) -> tuple[dict[str, Any], OfTarget]:
    """Arguments about columns without the pairs of a feature and the target, and these."""
    rest, own = dict(given), OfTarget({}, {}, True)
    for kind in KINDS:
        argument = given.get(kind)
        if not isinstance(argument, Mapping) or not isinstance(target, str):
            continue
        of_target = {pair: column for pair, column in argument.items() if _of(target, pair)}
        if of_target:
            getattr(own, kind).update({a if b == target else b: c for (a, b), c in of_target.items()})
            rest[kind] = {pair: c for pair, c in argument.items() if pair not in of_target} or None
    return rest, own


def _of(target: str, pair: object) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and target in pair


def found(names: Sequence[str], columns: Columns, given: Mapping[str, Any]) -> OfTarget:
    """The columns of a table that are called like covariances of the target and a feature.

    A pattern that the caller gave for pairs of features is looked for first.
    """
    target, own = columns.target, OfTarget({}, {}, False)
    if target is None or not columns.features:
        return own
    for kind in KINDS:
        argument, to = given.get(kind), getattr(own, kind)
        if isinstance(argument, str):
            for feature in columns.features if argument.count("{}") == 2 else ():
                for option in (fill(argument, feature, target), fill(argument, target, feature)):
                    if option in names:
                        to[feature] = option
        elif argument is None:
            pairs = pair_columns([*names], [*columns.features, target], kind)
            to.update(
                {a if b == target else b: c for (a, b), c in pairs.items() if a != b and target in (a, b)}
            )
    for feature in own.corr:
        own.cov.pop(feature, None)
    return own


def covariances(
    source: Source, reading: AsGaussians, columns: OfTarget, target: str, y_std: Floats | None
) -> Floats:
    """(n, d), zero for features without such a column; by a fitted `reading`.

    Raises
    ------
    UncertainError
        For a feature that has no error bar, or a target that has none; a correlation beyond 1.
    """
    if y_std is None:
        column = next(iter(columns.columns))
        raise UncertainError(f"{column} needs the error bars of {target!r}: pass target_std=")
    assert source.table is not None
    rows = reading.transform(source.rows)
    rows = gaussians_of(rows)
    features = list(reading.get_feature_names_out())
    out = np.zeros(rows.shape)
    policy = "nan" if reading.on_missing == "impute" else "refuse-error-bars"
    for kind in KINDS:
        for feature, column in getattr(columns, kind).items():
            require(feature, features)
            j = features.index(feature)
            values = read_columns(source.table, [require(column, source.names)], policy).to_numpy()[:, 0]
            if kind == "corr":
                refuse_where(np.abs(values) > 1, values, column, "correlations lie in [-1, 1]")
                values = values * np.sqrt(rows[:, [j]].trace()) * y_std
            out[:, j] = values
    return out


def with_limits(given: Mapping[str, Any], target: object, names: Sequence[str]) -> dict[str, Any]:
    """Arguments about columns with the target's part of `limits` as ``target_limit``."""
    rest, limits = dict(given), given.get("limits")
    if limits is None or not isinstance(target, str):
        return rest
    check_roles({"limits": limits})
    if isinstance(limits, str):
        column = fill(limits, target)
        own = column if column in names else None
        if own is not None and not any(fill(limits, n) in names for n in names if n != target):
            rest["limits"] = None
    else:
        own = limits.get(target)
        rest["limits"] = {name: column for name, column in limits.items() if name != target} or None
    if own is not None:
        rest["target_limit"] = require(own, names)
    return rest


def limits(source: Source, columns: Columns) -> Limits | None:
    """-1, 0, 1 for every row, where there is a column of the target's limits."""
    if columns.target_limit is None or source.table is None:
        return None
    plain = source.table.array(columns.target_limit)
    values = source.table.values(columns.target_limit) if plain is None else plain
    return flags_from(values, columns.target_limit)
