"""Which columns of a table are means, error bars and target.

Idea: the choice is made from names and types alone, before any number is read, and is written down in
a `Columns` that `Model.columns_` shows and the model file stores. Whatever is not used is listed as
ignored: a numeric column without an error column may be an identifier, and taking it as exact would
be an unrequested error bar of zero.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .._data.numbers import one_kind
from ..exceptions import ColumnError, ParameterError

KINDS = ("std", "var", "cov", "precision", "factor")
"""Kinds of uncertainty columns; at most one of them, except a factor with a diagonal `var`."""

SUFFIXES = ("_err", "_error", "_std", "_se", "_sigma")
"""Endings that make a scalar column the standard deviation of the column without the ending."""


@dataclass(frozen=True)
class Columns:
    """The columns a model reads, by role.

    Either `mean` (one list-typed column) or `features` (scalar columns) is set; `errors` maps a kind
    of `KINDS` to a column, or to a pattern such as ``"{}_err"`` for scalar features.
    """

    target: str | None = None
    mean: str | None = None
    features: tuple[str, ...] = ()
    errors: dict[str, str] = field(default_factory=dict)
    corr: str | None = None
    ignored: tuple[str, ...] = ()
    automatic: bool = False
    target_std: str | None = None
    groups: str | bool | None = None
    """The column whose values name the rows' groups; True for groups that were given as values."""

    def roles(self) -> dict[str, Any]:
        """Keyword arguments of `AsGaussians`."""
        roles: dict[str, Any] = dict(self.errors)
        if self.mean is not None:
            roles["mean"] = self.mean
        if self.features:
            roles["features"] = list(self.features)
        if self.corr is not None:
            roles["corr"] = self.corr
        return roles

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, strings and dictionaries, for the model file."""
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        for name in ("target_std", "groups"):
            if plain[name] is None:
                del plain[name]  # versions that do not know it can read the file
        return plain

    def with_target_std(self, found: Sequence[str]) -> Columns:
        """The same with the error bars of the target that were found by name, which are then not ignored."""
        if not found:
            return self
        if len(found) > 1:
            raise ColumnError(
                f"the target {self.target!r} has several error columns ({', '.join(found)}); say which to "
                f"use, such as target_std={found[0]!r}"
            )
        rest = tuple(name for name in self.ignored if name != found[0])
        return replace(self, target_std=found[0], ignored=rest)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Columns:
        """Inverse of `to_dict`; TypeError for what it did not write."""
        roles: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        for name, value in roles.items():
            if not _fits(name, value):
                raise TypeError(f"{name} = {value!r}")
        return cls(**roles)

    def __str__(self) -> str:
        """One line per role, for people."""
        groups = [] if self.groups is None else [_line("groups", self._groups_text)]
        if self.mean is None and not self.features:
            rows = _line("rows", "a GaussianArray or an array of exact points")
            return "\n".join([rows, _line("target", "given as values"), *groups])
        lines = [_line("means", self.mean or listing(self.features))]
        for kind, column in self.errors.items():
            filled = (
                f": {listing([column.replace('{}', f) for f in self.features], 3)}" if "{}" in column else ""
            )
            lines.append(_line("errors", f"{kind} = {column}{filled}"))
        if not self.errors:
            lines.append(_line("errors", "none: every row is an exact point"))
        if self.corr:
            lines.append(_line("", f"corr = {self.corr}"))
        error = f", known to +- {self.target_std}" if self.target_std else ""
        lines.append(_line("target", (self.target or "given as values") + error))
        lines += groups
        if self.ignored:
            lines.append(_line("ignored", listing(self.ignored)))
        return "\n".join(lines)

    @property
    def _groups_text(self) -> str:
        named = isinstance(self.groups, str)
        return f"{self.groups} (its rows stay together)" if named else "given as values"


def _fits(role: str, value: object) -> bool:
    """Is this a value for the role?"""
    if role in ("features", "ignored"):
        return isinstance(value, tuple) and all(isinstance(name, str) for name in value)
    if role == "errors":
        known = isinstance(value, dict) and value.keys() <= set(KINDS)
        return known and all(isinstance(name, str) for name in value.values())  # type: ignore[attr-defined]
    if role == "automatic":
        return isinstance(value, bool)
    return value is None or isinstance(value, str) or (role == "groups" and isinstance(value, bool))


def choose_columns(
    names: Sequence[str],
    target: str | None,
    *,
    mean: str | None = None,
    features: Sequence[str] | None = None,
    corr: str | None = None,
    target_std: str | None = None,
    groups: str | None = None,
    **errors: str | None,
) -> Columns:
    """Fill in the roles that the caller left open.

    Parameters
    ----------
    names : the table's column names, in order.
    target, target_std, groups : the target's column, that of its error bars, and that of the rows' groups;
        None for what is not a column.
    mean, features, corr, **errors : what the caller fixed; keys of `errors` are those of `KINDS`.

    Raises
    ------
    ColumnError : a column is missing, or the choice would be a guess.
    ParameterError : two roles that exclude each other were given.
    """
    names = [n for n in names if isinstance(n, str)]
    given = {kind: column for kind in KINDS if (column := errors.get(kind)) is not None}
    roles = {"mean": mean, "features": features, "corr": corr, **given}
    check_roles({name: value for name, value in roles.items() if value is not None})
    for column in (
        target,
        target_std,
        groups,
        mean,
        *(features or ()),
        *(c for c in given.values() if "{}" not in c),
    ):
        if column is not None:
            require(column, names)
    if groups is not None:
        read = {"target": [target], "features": features or (), "mean": [mean], "error bars": given.values()}
        role = next((role for role, columns in read.items() if groups in columns), None)
        if role is not None:
            raise ColumnError(
                f"column {groups!r} is given as {role} and as groups; groups only say which rows belong to "
                "one object, and nothing is learned from them: choose one"
            )
    # The target's error bars know the answer as well as anybody: no features.
    own = {target, target_std, groups, *target_errors(names, target)}
    candidates = [n for n in names if n not in own]
    automatic = mean is None and features is None and not given
    mean, features, given = _means_and_errors(mean, features, given, names, candidates)
    chosen = Columns(target, mean, tuple(features or ()), given, corr, (), automatic, target_std, groups)
    used = {target, target_std, groups, mean, *chosen.features, *used_by(chosen)}
    return replace(chosen, ignored=tuple(n for n in names if n not in used))


def _means_and_errors(
    mean: str | None,
    features: Sequence[str] | None,
    errors: dict[str, str],
    names: Sequence[str],
    candidates: Sequence[str],
) -> tuple[str | None, Sequence[str] | None, dict[str, str]]:
    """(mean, features, errors) with what the caller left open, of which one of the first two is None."""
    pattern = next((column for column in errors.values() if "{}" in column), None)
    if pattern is not None:
        if features is None:
            features = [n for n in candidates if pattern.replace("{}", n) in candidates]
            if not features:
                raise ColumnError(
                    f"no column has an error column named {pattern!r}; the columns are {listing(candidates)}"
                )
        for feature in features:
            require(pattern.replace("{}", feature), names)
        return None, features, errors
    if features is not None:
        return None, features, errors or {"std": _common_pattern(features, candidates, required=True)}
    pairs = [n for n in candidates if _error_columns(n, candidates)]
    automatic = mean is None and not errors
    if automatic and "mean" in candidates and (not pairs or set(KINDS) & set(candidates)):
        mean = "mean"
    elif errors:
        mean = require(mean or "mean", names, "name the means with mean=... or features=...")
    if mean is not None:
        return mean, None, errors or _errors_beside_mean(mean, candidates, automatic)
    if pairs:
        return None, pairs, {"std": _common_pattern(pairs, candidates, required=False)}
    raise ColumnError(_no_errors(candidates))


def target_errors(names: Sequence[str], target: str | None) -> list[str]:
    """The columns that are called like standard deviations of the target."""
    return [] if target is None else [target + suffix for suffix in _error_columns(target, names)]


def used_by(columns: Columns) -> set[str]:
    """Names of the error (and correlation) columns, patterns filled in."""
    used = set()
    for column in columns.errors.values():
        used |= {column.replace("{}", f) for f in columns.features} if "{}" in column else {column}
    if columns.corr:
        used |= {fill(columns.corr, a, b) for a in columns.features for b in columns.features if a != b}
    return used


def read_by(columns: Columns) -> set[str]:
    """Names of all columns that make a model's rows: means and errors."""
    return {*columns.features, *([columns.mean] if columns.mean else []), *used_by(columns)}


def require(column: str, names: Sequence[str], advice: str = "") -> str:
    """`column`, or an error that says what it might have been."""
    if column in names:
        return column
    close = difflib.get_close_matches(column, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the columns are {listing(names)}"
    raise ColumnError(f"there is no column {column!r}; {hint}" + (f" ({advice})" if advice else ""))


def check_roles(roles: Mapping[str, Any]) -> None:
    """Refuse roles (the given arguments of `AsGaussians`) that exclude each other or are no names.

    Which of `mean` and `features` the errors belong to may still be open.
    """
    for name, value in roles.items():
        if name == "features":
            if isinstance(value, str) or not len(value) or not all(isinstance(f, str) for f in value):
                raise ParameterError(f"features={value!r}: must be a list of one or more column names")
            if len(set(value)) < len(value):
                raise ParameterError(f"features={value!r}: a column is named twice")
        elif not isinstance(value, str):
            raise ParameterError(
                f'{name}={value!r}: must be the name of a column (or a pattern such as "{{}}_err"); '
                "for arrays build a GaussianArray and pass it instead of a table"
            )
    if "mean" in roles and "features" in roles:
        raise ParameterError("pass either mean= (one column of lists) or features= (scalar columns)")
    errors = one_kind({kind for kind in KINDS if kind in roles})
    for kind in errors:
        if "{}" in roles[kind] and ("mean" in roles or kind not in ("std", "var")):
            raise ParameterError(f"{kind}={roles[kind]!r}: a pattern is for std= or var= of scalar features=")
    if "corr" in roles:
        if roles["corr"].count("{}") != 2:
            raise ParameterError(
                f'corr={roles["corr"]!r}: must have two places for names, such as "{{}}_{{}}_corr"'
            )
        if errors and not any("{}" in roles[kind] for kind in errors):
            raise ParameterError('corr= needs the error columns of scalar features, such as std="{}_err"')


def _errors_beside_mean(mean: str, candidates: Sequence[str], automatic: bool) -> dict[str, str]:
    """The error columns called `cov`, `std`, `var`, ...; none is legal only when `mean` was asked for."""
    present = {kind: kind for kind in KINDS if kind in candidates and kind != mean}
    if len(present) > 1 and set(present) != {"factor", "var"}:
        raise ColumnError(
            f"the columns {listing(list(present))} all look like error bars; say which one to use, "
            f"such as {next(iter(present))}={next(iter(present))!r}"
        )
    if not present and automatic:
        raise ColumnError(
            f"there is a column {mean!r} but no error bars ({', '.join(KINDS)}) beside it; name them, "
            f"such as cov='my_column', or pass mean={mean!r} alone to call every row an exact point"
        )
    return present


def _error_columns(feature: str, candidates: Iterable[str]) -> list[str]:
    present = set(candidates)
    return [suffix for suffix in SUFFIXES if feature + suffix in present]


def _common_pattern(features: Sequence[str], candidates: Sequence[str], *, required: bool) -> str:
    """The one suffix that all features share."""
    found: dict[str, str] = {}
    for feature in features:
        suffixes = _error_columns(feature, candidates)
        if required and not suffixes:
            endings = ", ".join(feature + s for s in SUFFIXES)
            raise ColumnError(
                f"feature {feature!r} has no error column (looked for {endings}); name them with a pattern, "
                'such as std="{}_uncertainty"'
            )
        if len(suffixes) > 1:
            raise ColumnError(
                f"column {feature!r} has several error columns ({', '.join(feature + s for s in suffixes)}); "
                f'say which one to use, such as std="{{}}{suffixes[0]}"'
            )
        found.setdefault(suffixes[0], feature)
    if len(found) > 1:
        (first, a), (second, b) = list(found.items())[:2]
        raise ColumnError(
            f"error columns end in {first!r} for {a!r} but in {second!r} for {b!r}; rename them to one "
            f'ending, or choose one with std="{{}}{first}"'
        )
    return "{}" + next(iter(found))


def _no_errors(candidates: Sequence[str]) -> str:
    return (
        f"no error bars found among the columns {listing(candidates)}: neither columns called mean and "
        f"{'/'.join(KINDS)}, nor pairs such as x and x{', x'.join(SUFFIXES)}; name them, such as "
        'features=["a", "b"], std="{}_uncertainty" (data without error bars is scikit-learn\'s own subject)'
    )


def fill(pattern: str, *names: str) -> str:
    for name in names:
        pattern = pattern.replace("{}", name, 1)
    return pattern


def listing(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} columns)"


def _line(role: str, text: str) -> str:
    return f"{role:<10} {text}"
