"""Fills in the columns that the caller left open, by name and type; a guess that may be wrong is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from .._data.typing import Keywords
from ..exceptions import ColumnError
from .bars import (
    fill,
    limit_columns,
    require,
    require_all,
)
from .columns import OF_LAWS, OF_ROWS, Columns
from .features import Types, choose_features
from .found import Found, PairsOfTarget
from .hints import no_errors
from .names import ErrorNames
from .roles import check_roles


class NamesAndTypes(Protocol):
    """What finding columns asks of a table."""

    @property
    def names(self) -> list[str]:
        """Column names, in order."""

    @property
    def types(self) -> Types:
        """What each of them holds in its rows, by its type."""


def find_columns(asked: Columns, table: NamesAndTypes, empty: Collection[str] = ()) -> Columns:
    """Fill in the roles that the caller left open; of columns that were found before, check the names.

    Parameters
    ----------
    asked : what the caller said.
    table : its column names, in order, and types.
    empty : error columns without any number, which count as absent.

    Raises
    ------
    ColumnError : a column is missing, or the choice would be a guess.
    ParameterError : two roles that exclude each other were given.
    """
    names = table.names
    if asked.found.settled:
        require_all(asked.needed, names)
        corr, cov = asked.found.target_corr, asked.found.target_cov
        return asked.with_found(target_pairs=PairsOfTarget(corr, cov, named=True)) if corr or cov else asked
    asked, target_limit = _limits_of_target(asked, names)
    asked, pairs = _pairs_of_target(asked)
    target = asked.target
    asked = _with_distributions(asked, table)
    draws = tuple(asked.draws or ())
    if asked.features == () and not (asked.exact or asked.categorical or draws):
        check_roles({"features": []})
    beside = {role: name for role in OF_ROWS if isinstance(name := getattr(asked, role), str)}
    of_laws = [asked.offset, asked.event, *(asked.modes if isinstance(asked.modes, tuple) else ())]
    of_laws = [name for name in of_laws if isinstance(name, str)]
    listed = [*asked.lists.values()]
    exact = () if asked.exact is None or asked.exact == "all" else tuple(asked.exact)
    categorical = tuple(asked.categorical or ())
    if target == "label" and target not in names:  # the default, of a caller who may not have chosen
        require(target, names, 'target="..." names the column to predict')
    own = (*exact, *categorical, *draws, *listed)
    named = (*beside.values(), *of_laws, asked.mean, *(asked.features or ()), *own)
    require_all([column for column in named if column is not None], names)
    _refuse_two_roles(beside, asked, listed, exact, categorical)
    # The target's error bars know the answer as well as anybody: no features.
    parsed = ErrorNames(names)
    readable = [name for name in names if name not in empty]
    flags = {target_limit, *flag_columns(asked.limits, names)}
    taken = {*empty, *beside.values(), *of_laws, *exact, *categorical, *draws, *flags}
    of_target, candidates, bars = parsed.beside_target(target, readable, taken)
    chosen = choose_features(asked, parsed, of_target, candidates, bars, table.types)
    roles: Keywords = chosen.roles | {
        "exact": (*chosen.roles.get("exact", ()), *exact), "categorical": categorical,
        "draws": (*chosen.roles.get("draws", ()), *draws),
        **beside, **{role: getattr(asked, role) for role in OF_LAWS},
    }  # fmt: skip
    found = Found(
        settled=True,
        automatic=asked.mean is None and asked.features is None and not asked.errors,
        target_limit=target_limit,
        target_stds=tuple(bar.columns[0] for bar in of_target if bar.kind == "std"),
        target_bars=tuple(str(bar) for bar in of_target if bar.kind != "std"),
        unsure=chosen.unsure,
        target_pairs=pairs if pairs.corr or pairs.cov else chosen.target_pairs,
        empty=frozenset(empty),
    )
    columns = Columns.settled(roles, chosen.bars, names, found)
    if asked.exact == "all":
        more = [n for n in candidates if n not in columns.used and table.types[n] == "number"]
        roles["exact"] = (*(columns.exact or ()), *more)
        columns = Columns.settled(roles, chosen.bars, names, found)
    if not columns.used:
        raise ColumnError(no_errors(candidates))
    if asked.limits is not None:
        roles["limits"] = limit_columns(asked.limits, columns.scalars, names)
        columns = Columns.settled(roles, chosen.bars, names, found)
    return columns


def _with_distributions(asked: Columns, table: NamesAndTypes) -> Columns:
    """The same with columns whose rows carry their error bars: all of them, or those that are named."""
    known = [name for name in table.names if table.types.get(name) == "distribution"]
    if not known:
        return asked
    if asked.mean in known:
        return replace(asked, mean=None, features=(), draws=(asked.mean, *(asked.draws or ())))
    if asked.features is not None:
        own = tuple(name for name in asked.features if name in known)
        rest = tuple(name for name in asked.features if name not in known)
        return replace(asked, features=rest, draws=(*own, *(asked.draws or ()))) if own else asked
    if asked.mean is not None or asked.draws is not None:
        return asked
    beside = {asked.target, *(getattr(asked, role) for role in OF_ROWS)}
    taken = tuple(name for name in known if name not in beside)
    return replace(asked, draws=taken) if taken else asked


def _limits_of_target(asked: Columns, names: Sequence[str]) -> tuple[Columns, str | None]:
    """The same without the target's part of `limits`, and that."""
    limits, target = asked.limits, asked.target
    if limits is None or target is None:
        return asked, None
    if isinstance(limits, str):
        own = fill(limits, target)
        if own not in names:
            return asked, None
        rest: Any = limits if any(fill(limits, n) in names for n in names if n != target) else None
    else:
        own = limits.get(target, "")
        rest = {name: column for name, column in limits.items() if name != target} or None
    return replace(asked, limits=rest), require(own, names) if own else None


def _pairs_of_target(asked: Columns) -> tuple[Columns, PairsOfTarget]:
    """The same without the pairs of a feature and the target, and these."""
    of_target: dict[str, dict[str, str]] = {"corr": {}, "cov": {}}
    target = asked.target
    rest: Keywords = {}
    for kind, own in of_target.items():
        argument = getattr(asked, kind)
        if not isinstance(argument, Mapping) or target is None:
            continue
        own.update({a if b == target else b: c for (a, b), c in argument.items() if target in (a, b)})
        if own:
            rest[kind] = {pair: c for pair, c in argument.items() if target not in pair} or None
    pairs = PairsOfTarget(of_target["corr"], of_target["cov"], named=True)
    return (replace(asked, **rest) if rest else asked), pairs


def flag_columns(limits: Any, names: Iterable[str]) -> set[str]:
    """The columns that an argument about limits may name."""
    if isinstance(limits, str):
        return {fill(limits, name) for name in names} & {*names}
    return set(limits.values()) if isinstance(limits, Mapping) else set()


def _refuse_two_roles(
    beside: Mapping[str, str],
    asked: Columns,
    listed: Sequence[str],
    exact: Sequence[str],
    categorical: Sequence[str],
) -> None:
    target, target_std, groups, sample_weight = (beside.get(role) for role in OF_ROWS)
    features = asked.features
    read = {
        "target": [target], "target_std": [target_std], "features": features or (), "mean": [asked.mean],
        "error bars": listed, "exact": exact, "categorical": categorical, "draws": asked.draws or (),
    }  # fmt: skip
    unread = {
        "groups": (groups, "groups only say which rows belong to one object"),
        "sample_weight": (sample_weight, "weights only say how much each row counts"),
    }
    for own, (column, why) in unread.items():
        role = next(
            (role for role, columns in read.items() if column is not None and column in columns), None
        )
        if role is not None:
            raise ColumnError(
                f"column {column!r} is given as {role} and as {own}; {why}, and nothing is learned from "
                "them: choose one"
            )
    for role, columns in (("exact", exact), ("categorical", categorical), ("features", features or ())):
        for other in (target, target_std, *(categorical if role == "exact" else ())):
            if other is not None and other in columns:
                what = (
                    "categorical"
                    if other in categorical and other not in (target, target_std)
                    else "the target"
                )
                raise ColumnError(f"column {other!r} is given as {role} and as {what}; choose one")
