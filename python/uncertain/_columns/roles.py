"""Checks of the arguments about columns before there is a table: what is no name, and what excludes what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._data.numbers import one_kind
from ..exceptions import ParameterError
from .bars import KINDS, OF_SCALARS, is_list_column, is_pattern


def check_roles(roles: Mapping[str, Any]) -> None:
    """Refuse roles (the given arguments of `AsGaussians`) that exclude each other or are no names.

    Which of `mean` and `features` the errors belong to may still be open.
    """
    for name, value in roles.items():
        if name == "draws" and isinstance(value, str):
            continue
        if name in ("features", "exact", "categorical", "modes", "draws"):
            _check_names(
                name, value, empty=bool(roles.get("exact") or roles.get("categorical") or roles.get("draws"))
            )
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
                "or a dictionary {feature: (lower, upper)}"
            )
    patterns = [kind for kind in scalar if kind in OF_SCALARS and is_pattern(roles[kind])]
    if len(patterns) > 1:
        one_kind(set(patterns))
    if isinstance(roles.get("corr"), str) and roles["corr"].count("{}") != 2:
        raise _two_places("corr", roles["corr"])
    if isinstance(roles.get("cov"), str) and roles["cov"].count("{}") not in (0, 2):
        raise _two_places("cov", roles["cov"])
    if "corr" in roles and lists:
        raise ParameterError('corr= needs the error columns of scalar features, such as std="{}_err"')


def _check_names(name: str, value: object, *, empty: bool) -> None:
    """Names of columns; no `features` at all if there are others."""
    if name == "exact" and value == "all":
        return
    if isinstance(value, str) or not isinstance(value, Iterable):
        example = f'{name}=["{value}"]' if isinstance(value, str) else f'{name}=["a", "b"]'
        other = ', or "all"' if name == "exact" else ""
        raise ParameterError(
            f"{name}={_shown(value)}: must be a list of one or more column names, such as {example}{other}"
        )
    names = list(value)
    if not all(isinstance(n, str) for n in names) or (name == "features" and not names and not empty):
        raise ParameterError(f"{name}={_shown(value)}: must be a list of one or more column names")
    if len(set(names)) < len(names):
        raise ParameterError(f"{name}={_shown(value)}: a column is named twice")


def _check_bars(name: str, value: object, roles: Mapping[str, Any]) -> None:
    """A dictionary, a list beside `features`, or a pair of patterns."""
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, tuple) and len(value) == 2 and is_pattern(value):
        items = [("feature", value)]
    elif isinstance(value, (list, tuple)):
        if "features" not in roles:
            raise ParameterError(
                f"{name}={_shown(value)}: a list of columns needs features= in the same order; or pass a "
                "dictionary {feature: column}"
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
                f"{name}={_shown(value)}: each feature must have {what}, got {feature!r}: {_shown(column)}"
            )


def _check_pairs(name: str, value: object) -> None:
    keys_are_pairs = isinstance(value, Mapping) and all(
        isinstance(key, tuple) and len(key) == 2 and isinstance(column, str) for key, column in value.items()
    )
    if not keys_are_pairs:
        raise ParameterError(
            f'{name}={_shown(value)}: must be a pattern such as "{{}}_{{}}_{name}", or a dictionary '
            f'{{("a", "b"): "a_b_{name}"}}'
            + (", or the name of a column of matrices" if name == "cov" else "")
        )


def _check_limits(value: object) -> None:
    if isinstance(value, str) and value.count("{}") == 1:
        return
    pairs = list(value.items()) if isinstance(value, Mapping) else []
    if not (pairs and all(isinstance(name, str) for pair in pairs for name in pair)):
        raise ParameterError(
            f"limits={_shown(value)}: must be a dictionary {{feature: column of flags}}, or a pattern like "
            '"{}_limit"'
        )


def _shown(value: object) -> str:
    shape = getattr(value, "shape", None)
    return f"{value!r:.60}" if shape is None else f"<{type(value).__name__} of shape {shape}>"


def _two_places(name: str, value: str) -> ParameterError:
    return ParameterError(f'{name}={value!r}: must have two places for names, such as "{{}}_{{}}_{name}"')


def _no_column(name: str, value: object) -> ParameterError:
    return ParameterError(
        f'{name}={_shown(value)}: must be the name of a column (or a pattern such as "{{}}_err"); '
        "arrays go into GaussianArray(means, std=...), which is passed instead of a table"
    )
