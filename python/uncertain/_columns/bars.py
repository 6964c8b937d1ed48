"""Which columns the arguments name: error bars of features, correlations of pairs, flags of limits.

An argument names one list-typed column, or says for scalar features where each one's error bar is: a pattern
(``"{}_err"``), a pair of patterns for the two arms of asymmetric ones, a dictionary, or a list in the
order of `features`. All become an `ErrorBar` for each feature.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .._data.options import nearest
from .._data.typing import Keywords
from ..exceptions import ColumnError, ParameterError
from .names import ErrorBar

KINDS = ("std", "var", "cov", "precision", "factor", "bounds")
"""Arguments about uncertainty; at most one of them, except a factor with a diagonal `var`, and scalars'."""

OF_SCALARS = ("std", "var", "bounds")
"""Those that give each scalar feature its error bar."""

ARGUMENTS = (*KINDS, "mean", "features", "corr", "exact", "categorical", "limits", "draws")
"""All arguments about the columns of features."""

ErrorColumns: TypeAlias = str | Mapping[str, str | Sequence[str]] | Sequence[str]
"""Where error bars are: a column or a pattern, a dictionary {feature: column}, or a list."""

Pairs: TypeAlias = dict[tuple[str, str], str]
"""The columns of correlations or covariances of pairs of features."""


def is_list_column(kind: str, value: object) -> bool:
    """Does the argument name one column of lists, and not the error bars of scalar features?"""
    return isinstance(value, str) and "{}" not in value and kind != "bounds"


def is_pattern(value: object) -> bool:
    """Does it name columns by a place for the feature's name?"""
    parts = (value,) if isinstance(value, str) else value
    return isinstance(parts, tuple) and any("{}" in part for part in parts)


def error_bars_from(features: Sequence[str], arguments: Mapping[str, Any]) -> dict[str, ErrorBar]:
    """The error bar of each scalar feature that the arguments give one."""
    bars: dict[str, ErrorBar] = {}
    for kind in OF_SCALARS:
        given = arguments.get(kind)
        if given is None or is_list_column(kind, given):
            continue
        if is_pattern(given):
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


def arguments_from(bars: Mapping[str, ErrorBar]) -> Keywords:
    """Arguments that give every feature its error bar; one pattern where one fits all."""
    if not bars:
        return {}
    kinds = {bar.kind for bar in bars.values()}
    if len(kinds) == 1 and kinds <= {"std", "var"}:
        feature, bar = next(iter(bars.items()))
        pattern = bar.columns[0].replace(feature, "{}", 1)
        if "{}" in pattern and all(pattern.replace("{}", f) == b.columns[0] for f, b in bars.items()):
            return {kinds.pop(): pattern}
    found: Keywords = {}
    for feature, bar in bars.items():
        argument = {"arms": "std", "limits": "bounds"}.get(bar.kind, bar.kind)
        columns = bar.columns[0] if len(bar.columns) == 1 else bar.columns
        found.setdefault(argument, {})[feature] = columns
    return found


def pair_columns_from(
    argument: Any, features: Sequence[str], names: Sequence[str], *, own: bool = False
) -> Pairs:
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


def limit_columns(argument: Any, features: Sequence[str], names: Sequence[str]) -> dict[str, str]:
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
    meant = nearest(column, names)
    hint = f"did you mean {meant!r}?" if meant else f"the columns are {listing(names)}" if names else ""
    texts = [f"there is no column {column!r}", *([hint] if hint else [])]
    raise ColumnError("; ".join(texts) + (f" ({advice})" if advice else ""))


def require_all(columns: Iterable[str], names: Sequence[str], advice: str = "") -> None:
    """The error of `require` for those of these columns that are missing."""
    present = {*names}
    missing = [column for column in dict.fromkeys(columns) if column not in present]
    if len(missing) == 1:
        require(missing[0], names, advice)
    if missing:
        texts = [
            repr(column) + (f" ({meant!r}?)" if (meant := nearest(column, names)) else "")
            for column in missing
        ]
        what = f"there are no columns {listing(texts)}; the columns are {listing(names)}"
        raise ColumnError(what + (f" ({advice})" if advice else ""))


def fill(pattern: str, *names: str) -> str:
    """The pattern with names in its places."""
    for name in names:
        pattern = pattern.replace("{}", name, 1)
    return pattern


def visible(text: str) -> str:
    """The text without what a terminal obeys: control characters and the like as \\x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def listing(names: Iterable[str], most: int = 8) -> str:
    """Names for a message, the first ones of many."""
    names = list(names)
    shown = visible(", ".join(names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} columns)"


def _bar(kind: str, column: Any) -> ErrorBar:
    """The error bar that an argument gives a feature: a column, or the columns of two arms or limits."""
    if kind == "bounds":
        return ErrorBar("limits", tuple(column))
    if isinstance(column, str):
        return ErrorBar("var" if kind == "var" else "std", (column,))
    return ErrorBar("arms", tuple(column))


def _filled(pattern: Any, feature: str) -> Any:
    if isinstance(pattern, str):
        return pattern.replace("{}", feature)
    return tuple(part.replace("{}", feature) for part in pattern)
