"""`Columns`: which columns of a table are means, error bars, exact values and target.

Idea: the choice is made from names and types alone, before any number is read, and is written down here;
`Model.columns_` shows it and the model file stores it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..exceptions import ColumnError
from ._names import ErrorBar
from ._roles import KINDS, Pairs, bars_of, fill, is_list_column, listing


@dataclass(frozen=True)
class Columns:
    """The columns a model reads, by role."""

    target: str | None = None
    mean: str | None = None
    """One list-typed column; else `features`, or a table of `exact` and `categorical` columns alone."""
    features: tuple[str, ...] = ()
    """Scalar columns with error bars."""
    errors: dict[str, Any] = field(default_factory=dict)
    """A kind of uncertainty and its column, pattern, or dictionary {feature: column}."""
    corr: str | Pairs | None = None
    ignored: tuple[str, ...] = ()
    automatic: bool = False
    target_std: str | None = None
    groups: str | bool | None = None
    """The column whose values name the rows' groups; True for groups that were given as values."""
    sample_weight: str | bool | None = None
    """The column of the rows' weights; True for weights that were given as values."""
    exact: tuple[str, ...] = ()
    """Scalar columns without error bars."""
    categorical: tuple[str, ...] = ()
    """Columns of categories, each a feature of zeros and ones."""
    target_unit: str | None = None
    """The unit of the target, and of predictions, where its column knows it."""
    limits: dict[str, str] = field(default_factory=dict)
    """For scalar columns whose values may be limits the column of flags."""
    target_limit: str | None = None
    """The column of flags of targets that are limits."""
    target_corr: dict[str, str] = field(default_factory=dict)
    """By feature the column of the correlation of its error with the target's."""
    target_cov: dict[str, str] = field(default_factory=dict)
    """The same of covariances."""

    def roles(self) -> dict[str, Any]:
        """Keyword arguments of `AsGaussians`."""
        roles: dict[str, Any] = dict(self.errors)
        if self.mean is not None:
            roles["mean"] = self.mean
        for name in ("features", "exact", "categorical"):
            if getattr(self, name):
                roles[name] = list(getattr(self, name))
        if self.mean is None and (self.exact or self.categorical):
            roles["features"] = list(self.features)  # that there are none is settled, too
        if self.corr is not None:
            roles["corr"] = self.corr
        if self.limits:
            roles["limits"] = dict(self.limits)
        return roles

    def bars(self) -> dict[str, ErrorBar]:
        """The error bar of every scalar feature."""
        return bars_of(self.features, self.errors)

    def needed(self) -> list[str]:
        """The columns that are not to be missing, in order; a correlation may be named either way round."""
        names = [self.mean, *self.features, *(c for bar in self.bars().values() for c in bar.columns)]
        names += [column for kind, column in self.errors.items() if is_list_column(kind, column)]
        return [n for n in (*names, *self.exact, *self.categorical, *self.limits.values()) if n is not None]

    def used(self) -> set[str]:
        """All columns that are read for the features."""
        used = {self.mean, *self.features, *self.exact, *self.categorical, *self.limits.values()}
        used |= {column for bar in self.bars().values() for column in bar.columns}
        for argument in (self.corr, self.errors.get("cov")):
            if isinstance(argument, Mapping):
                used |= set(argument.values())
            elif argument is not None and "{}" in argument:
                used |= {fill(argument, a, b) for a in self.features for b in self.features}
        used |= {column for kind, column in self.errors.items() if is_list_column(kind, column)}
        return {name for name in used if name is not None}

    def beside(self) -> set[str]:
        """The columns that only a fit looks at."""
        named = (self.target, self.target_std, self.groups, self.sample_weight, self.target_limit)
        pairs = (*self.target_corr.values(), *self.target_cov.values())
        return {name for name in (*named, *pairs) if isinstance(name, str)}

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, strings and dictionaries, for the model file."""
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        plain["errors"] = {kind: _saved(value) for kind, value in self.errors.items()}
        plain["corr"] = _saved(self.corr)
        defaults = Columns()
        # Versions that do not know the later ones can read the file.
        first = ("target", "mean", "features", "errors", "corr", "ignored", "automatic")
        return {k: v for k, v in plain.items() if k in first or getattr(self, k) != getattr(defaults, k)}

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
        if isinstance(roles.get("errors"), dict):
            roles["errors"] = {kind: _restored(value) for kind, value in roles["errors"].items()}
        if "corr" in roles:
            roles["corr"] = _restored(roles["corr"])
        for name, value in roles.items():
            if not _fits(name, value):
                raise TypeError(f"{name} = {value!r}")
        return cls(**roles)

    def __str__(self) -> str:
        """One line per role, for people."""
        beside = [] if self.groups is None else [_line("groups", self._groups_text)]
        if self.sample_weight is not None:
            named = isinstance(self.sample_weight, str)
            beside.append(_line("weights", f"{self.sample_weight}" if named else "given as values"))
        if self.mean is None and not self.features and not self.exact and not self.categorical:
            rows = _line("rows", "a GaussianArray or an array of exact points")
            return "\n".join([rows, _line("target", "given as values"), *beside])
        lines = [_line("means", self.mean or listing(self.features))] if self.mean or self.features else []
        lines += [_line("errors", text) for text in self._error_texts()]
        if self.exact:
            lines.append(_line("exact", listing(self.exact)))
        if self.categorical:
            lines.append(_line("categories", listing(self.categorical)))
        if not self.errors:
            lines.append(_line("errors", "none: every row is an exact point"))
        if self.limits:
            flags = listing([f"{feature} ({column})" for feature, column in self.limits.items()], 4)
            lines.append(_line("limits", flags))
        error = f", known to +- {self.target_std}" if self.target_std else ""
        unit = f" in {self.target_unit}" if self.target_unit else ""
        error += f", limits by {self.target_limit}" if self.target_limit else ""
        lines.append(_line("target", (self.target or "given as values") + unit + error))
        lines += beside
        if self.ignored:
            lines.append(_line("ignored", listing(self.ignored)))
        return "\n".join(lines)

    def _error_texts(self) -> list[str]:
        texts = []
        bars = self.bars()
        for kind, value in self.errors.items():
            if isinstance(value, str) and "{}" in value and kind != "cov":
                texts.append(
                    f"{kind} = {value}: {listing([value.replace('{}', f) for f in self.features], 3)}"
                )
            elif isinstance(value, str):
                texts.append(f"{kind} = {value}")
            elif kind == "cov":
                texts.append(f"cov = {listing(value.values(), 6)}")
            else:
                own = [bars[f] for f in self.features if f in value]
                single = [bar.columns[0] for bar in own if len(bar.columns) == 1]
                double = [str(bar) for bar in own if len(bar.columns) == 2]
                what = "lower and upper limits" if kind == "bounds" else "upper and lower arms"
                if single:
                    texts.append(f"{kind} = {listing(single, 6)}")
                if double:
                    texts.append(f"{what} = {listing(double, 3)}")
        if self.corr is not None:
            texts.append(
                f"corr = {self.corr if isinstance(self.corr, str) else listing(self.corr.values(), 6)}"
            )
        return texts

    @property
    def _groups_text(self) -> str:
        named = isinstance(self.groups, str)
        return f"{self.groups} (its rows stay together)" if named else "given as values"


def _saved(value: Any) -> Any:
    """For JSON: pairs of names as a list of [a, b, column]."""
    if isinstance(value, Mapping):
        if any(isinstance(key, tuple) for key in value):
            return [[*key, column] for key, column in value.items()]
        return {feature: list(c) if isinstance(c, (tuple, list)) else c for feature, c in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _restored(value: Any) -> Any:
    """Inverse of `_saved`."""
    if isinstance(value, (list, tuple)):
        if all(isinstance(entry, (list, tuple)) and len(entry) == 3 for entry in value):
            return {(a, b): column for a, b, column in value}
        return tuple(value)
    if isinstance(value, dict):
        return {feature: tuple(c) if isinstance(c, list) else c for feature, c in value.items()}
    return value


def _fits(role: str, value: object) -> bool:
    """Is this a value for the role?"""
    if role in ("features", "ignored", "exact", "categorical"):
        return _are_names(value)
    if role == "errors":
        known = isinstance(value, dict) and value.keys() <= set(KINDS)
        return known and all(_is_error(kind, own) for kind, own in value.items())  # type: ignore[attr-defined]
    if role == "corr":
        return value is None or _is_error(role, value)
    if role in ("limits", "target_corr", "target_cov"):
        return isinstance(value, dict) and all(isinstance(n, str) for pair in value.items() for n in pair)
    if role == "automatic":
        return isinstance(value, bool)
    return value is None or isinstance(value, str) or (role in ("groups", "sample_weight") and value is True)


def _is_error(kind: str, value: object) -> bool:
    """A column, or columns of features; of pairs of them."""
    if not isinstance(value, dict):
        return isinstance(value, str)
    if kind in ("cov", "corr"):
        pairs = all(_are_names(key) and len(key) == 2 for key in value)
        return pairs and all(isinstance(column, str) for column in value.values())
    return all(
        isinstance(name, str) and (isinstance(column, str) or (_are_names(column) and len(column) == 2))
        for name, column in value.items()
    )


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)


def _line(role: str, text: str) -> str:
    return f"{role:<10} {text}"
