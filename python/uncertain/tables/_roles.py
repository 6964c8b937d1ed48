"""Arguments about columns, and what they mean for each feature.

An argument names one list-typed column, or says for scalar features where each one's error bar is: a pattern
(``"{}_err"``), a pair of patterns for the two arms of asymmetric ones, a dictionary, or a list in the
order of `features`. All become an `ErrorBar` for each feature (`bars_of`); `arguments_of` is the inverse.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .._data.numbers import one_kind
from ..exceptions import ColumnError, ParameterError
from ._names import ErrorBar

KINDS = ("std", "var", "cov", "precision", "factor", "bounds")
"""Arguments about uncertainty; at most one of them, except a factor with a diagonal `var`, and scalars'."""

OF_SCALARS = ("std", "var", "bounds")
"""Those that give each scalar feature its error bar."""

ARGUMENTS = (*KINDS, "mean", "features", "corr", "exact", "categorical", "limits")
"""All arguments about the columns of features."""

ErrorColumns: TypeAlias = str | Mapping[str, str | Sequence[str]] | Sequence[str]
"""Where error bars are: a column or a pattern, a dictionary {feature: column}, or a list."""

Pairs: TypeAlias = dict[tuple[str, str], str]
"""The columns of correlations or covariances of pairs of features."""


def is_list_column(kind: str, value: object) -> bool:
    """Does the argument name one column of lists, and not the error bars of scalar features?"""
    return isinstance(value, str) and "{}" not in value and kind != "bounds"


def check_roles(roles: Mapping[str, Any]) -> None:
    """Refuse roles (the given arguments of `AsGaussians`) that exclude each other or are no names.

    Which of `mean` and `features` the errors belong to may still be open.
    """
    for name, value in roles.items():
        if name in ("features", "exact", "categorical"):
            _check_names(name, value, empty=bool(roles.get("exact") or roles.get("categorical")))
        elif name == "mean":
            if not isinstance(value, str):
                raise _no_column(name, value)
        elif name in ("corr", "cov") and not isinstance(value, str):
            _check_pairs(name, value)
        elif name == "limits":
            _check_limits(value)
        elif name in OF_SCALARS and not isinstance(value, str):
            _check_bars(name, value, roles)
        elif not isinstance(value, str):
            raise _no_column(name, value)
    if "mean" in roles and "features" in roles:
        raise ParameterError(
            "pass either mean= (one column of lists) or features= (scalar columns); "
            "scalar columns without error bars beside a mean are exact="
        )
    kinds = {kind for kind in KINDS if kind in roles}
    lists = {kind for kind in kinds if is_list_column(kind, roles[kind])}
    one_kind(lists)
    scalar = sorted(kinds - lists)
    if lists and scalar:
        one_kind({*lists, *scalar})
    for kind in scalar:
        if "mean" in roles or kind in ("precision", "factor"):
            raise ParameterError(f"{kind}={roles[kind]!r}: a pattern is for std= or var= of scalar features=")
        if kind == "bounds" and isinstance(roles[kind], str):
            raise ParameterError(
                f'bounds={roles[kind]!r}: must be a pair of patterns, such as ("{{}}_lower", "{{}}_upper"), '
                "or "
                "a dictionary {feature: (lower, upper)}"
            )
    patterns = [kind for kind in scalar if kind in OF_SCALARS and _is_pattern(roles[kind])]
    if len(patterns) > 1:
        one_kind(set(patterns))
    if isinstance(roles.get("corr"), str) and roles["corr"].count("{}") != 2:
        raise _two_places("corr", roles["corr"])
    if isinstance(roles.get("cov"), str) and roles["cov"].count("{}") not in (0, 2):
        raise _two_places("cov", roles["cov"])
    if "corr" in roles and lists:
        raise ParameterError('corr= needs the error columns of scalar features, such as std="{}_err"')


def bars_of(features: Sequence[str], arguments: Mapping[str, Any]) -> dict[str, ErrorBar]:
    """The error bar of each scalar feature that the arguments give one."""
    bars: dict[str, ErrorBar] = {}
    for kind in OF_SCALARS:
        given = arguments.get(kind)
        if given is None or is_list_column(kind, given):
            continue
        if _is_pattern(given):
            given = {f: _filled(given, f) for f in features}
        elif not isinstance(given, Mapping):
            if len(given) != len(features):
                raise ParameterError(
                    f"{kind}={given!r}: a list names one column for each of the {len(features)} features= "
                    "in their order; for some of them pass a dictionary {feature: column}"
                )
            given = dict(zip(features, given, strict=True))
        for feature, column in given.items():
            if feature in bars:
                raise ParameterError(f"feature {feature!r} has an error bar in two arguments; give it one")
            bars[feature] = _bar(kind, column)
    order = {feature: k for k, feature in enumerate(features)}
    return dict(sorted(bars.items(), key=lambda item: order.get(item[0], len(order))))


def arguments_of(bars: Mapping[str, ErrorBar]) -> dict[str, Any]:
    """Arguments that give every feature its error bar; one pattern where one fits all."""
    if not bars:
        return {}
    kinds = {bar.kind for bar in bars.values()}
    if len(kinds) == 1 and kinds <= {"std", "var"}:
        feature, bar = next(iter(bars.items()))
        pattern = bar.columns[0].replace(feature, "{}", 1)
        if all(pattern.replace("{}", f) == b.columns[0] for f, b in bars.items()):
            return {kinds.pop(): pattern}
    found: dict[str, Any] = {}
    for feature, bar in bars.items():
        argument = {"arms": "std", "limits": "bounds"}.get(bar.kind, bar.kind)
        columns = bar.columns[0] if len(bar.columns) == 1 else bar.columns
        found.setdefault(argument, {})[feature] = columns
    return found


def pairs_of(argument: Any, features: Sequence[str], names: Sequence[str], *, own: bool = False) -> Pairs:
    """The columns of pairs of features that a pattern or a dictionary names.

    A pattern must have one for every pair, in either order; `own`: and may have one of a feature with itself.
    """
    if argument is None:
        return {}
    if isinstance(argument, Mapping):
        pairs = {(a, b): column for (a, b), column in argument.items()}
        for pair, column in pairs.items():
            for feature in pair:
                if feature not in features:
                    raise ColumnError(
                        f"{column!r} is given for {feature!r}, which is no feature with error bars"
                    )
            require(column, names)
        return pairs
    present, pairs = set(names), {}
    for k, b in enumerate(features):
        for a in features[: k + own]:
            options = [fill(argument, a, b), fill(argument, b, a)]
            found = [option for option in options if option in present]
            if found:
                pairs[a, b] = found[0]
            elif a != b:
                raise ColumnError(
                    f"there is no column {options[0]!r} (nor {options[1]!r}) for the "
                    f"{'covariance' if own else 'correlation'}"
                )
    return pairs


def limits_of(argument: Any, features: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The column of limit flags of each of these features that has one: of a pattern, or a dictionary."""
    if argument is None:
        return {}
    if isinstance(argument, Mapping):
        for feature, column in argument.items():
            if feature not in features:
                raise ColumnError(
                    f"limits={{{feature!r}: {column!r}}}: {feature!r} is neither the target nor a scalar "
                    "feature (features= or exact=)"
                )
            require(column, names)
        return dict(argument)
    found = {feature: fill(argument, feature) for feature in features if fill(argument, feature) in names}
    if not found:
        raise ColumnError(
            f"limits={argument!r}: no column is called so; the features are {listing(features)}"
        )
    return found


def require(column: str, names: Sequence[str], advice: str = "") -> str:
    """`column`, or an error that says what it might have been."""
    if column in names:
        return column
    close = difflib.get_close_matches(column, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the columns are {listing(names)}"
    raise ColumnError(f"there is no column {column!r}; {hint}" + (f" ({advice})" if advice else ""))


def fill(pattern: str, *names: str) -> str:
    """The pattern with names in its places."""
    for name in names:
        pattern = pattern.replace("{}", name, 1)
    return pattern


def listing(names: Iterable[str], most: int = 8) -> str:
    """Names for a message, the first ones of many."""
    names = list(names)
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} columns)"


def _bar(kind: str, column: Any) -> ErrorBar:
    """The error bar that an argument gives a feature: a column, or the columns of two arms or limits."""
    if kind == "bounds":
        return ErrorBar("limits", tuple(column))
    if isinstance(column, str):
        return ErrorBar("var" if kind == "var" else "std", (column,))
    return ErrorBar("arms", tuple(column))


def _is_pattern(value: Any) -> bool:
    parts = (value,) if isinstance(value, str) else value
    return isinstance(parts, tuple) and any("{}" in part for part in parts)


def _filled(pattern: Any, feature: str) -> Any:
    if isinstance(pattern, str):
        return pattern.replace("{}", feature)
    return tuple(part.replace("{}", feature) for part in pattern)


def _check_names(name: str, value: Any, *, empty: bool) -> None:
    """Names of columns; no `features` at all if there are others."""
    if name == "exact" and value == "all":
        return
    if isinstance(value, str) or not isinstance(value, Iterable):
        example = f'{name}=["{value}"]' if isinstance(value, str) else f'{name}=["a", "b"]'
        other = ', or "all"' if name == "exact" else ""
        raise ParameterError(
            f"{name}={value!r}: must be a list of one or more column names, such as {example}{other}"
        )
    names = list(value)
    if not all(isinstance(n, str) for n in names) or (name == "features" and not names and not empty):
        raise ParameterError(f"{name}={value!r}: must be a list of one or more column names")
    if len(set(names)) < len(names):
        raise ParameterError(f"{name}={value!r}: a column is named twice")


def _check_bars(name: str, value: Any, roles: Mapping[str, Any]) -> None:
    """A dictionary, a list beside `features`, or a pair of patterns."""
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, tuple) and len(value) == 2 and _is_pattern(value):
        items = [("feature", value)]
    elif isinstance(value, (list, tuple)):
        if "features" not in roles:
            raise ParameterError(
                f"{name}={value!r}: a list of columns needs features= in the same order; or pass a "
                "dictionary "
                "{feature: column}"
            )
        items = [("feature", column) for column in value]
    else:
        raise _no_column(name, value)
    pair_only = name == "bounds"
    for feature, column in items:
        is_pair = (
            isinstance(column, (tuple, list)) and len(column) == 2 and all(isinstance(c, str) for c in column)
        )
        single = isinstance(column, str) and not pair_only
        if not isinstance(feature, str) or not (single or (is_pair and name != "var")):
            what = "a pair of columns (lower, upper)" if pair_only else "a column"
            if name == "std":
                what += ", or a pair of columns (upper arm, lower arm)"
            raise ParameterError(
                f"{name}={value!r}: each feature must have {what}, got {feature!r}: {column!r}"
            )


def _check_pairs(name: str, value: Any) -> None:
    keys_are_pairs = isinstance(value, Mapping) and all(
        isinstance(key, tuple) and len(key) == 2 and isinstance(column, str) for key, column in value.items()
    )
    if not keys_are_pairs:
        raise ParameterError(
            f'{name}={value!r}: must be a pattern such as "{{}}_{{}}_{name}", or a dictionary '
            f'{{("a", "b"): "a_b_{name}"}}'
            + (", or the name of a column of matrices" if name == "cov" else "")
        )


def _check_limits(value: Any) -> None:
    if isinstance(value, str) and value.count("{}") == 1:
        return
    pairs = list(value.items()) if isinstance(value, Mapping) else []
    if not (pairs and all(isinstance(name, str) for pair in pairs for name in pair)):
        raise ParameterError(
            f"limits={value!r}: must be a dictionary {{feature: column of flags}}, or a pattern such as "
            '"{}_limit"'
        )


def _two_places(name: str, value: str) -> ParameterError:
    return ParameterError(f'{name}={value!r}: must have two places for names, such as "{{}}_{{}}_{name}"')


def _no_column(name: str, value: object) -> ParameterError:
    return ParameterError(
        f'{name}={value!r}: must be the name of a column (or a pattern such as "{{}}_err"); '
        "for arrays build a GaussianArray and pass it instead of a table"
    )
