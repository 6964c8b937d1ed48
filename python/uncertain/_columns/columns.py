"""`Columns`: which columns of a table are means, error bars, exact values and target.

Idea: the same frozen object everywhere. A caller fills in some roles; `find_columns` fills in the others by
names and types, before any number is read. `Columns.found` holds what only the table determines.
`Model.columns_` shows the result and the model file stores it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, Literal, Self, TypeAlias, TypedDict, get_type_hints

import msgspec
from numpy.typing import ArrayLike

from .._data.typing import ColumnOrValues, Keywords
from ..exceptions import ParameterError
from .bars import (
    ARGUMENTS,
    KINDS,
    ErrorColumns,
    arguments_from,
    error_bars_from,
    fill,
    is_list_column,
    listing,
    visible,
)
from .found import NOTHING, Found
from .names import ErrorBar
from .roles import check_roles

OF_ROWS = ("target", "target_std", "groups", "sample_weight")
"""Roles that are no features, and may be values, one per row, in the arguments of `uncertain.fit`."""

OF_LAWS = ("offset", "event", "modes")
"""The same, of laws between true values alone."""

OF_PAIRS = ("y_cov",)
"""The same as matrices of all rows, which are no columns."""


class FeatureRoles(TypedDict, total=False):
    """The fields of `Columns` about features, as options of a call."""

    mean: str | None
    std: ErrorColumns | None
    var: ErrorColumns | None
    cov: str | Mapping[tuple[str, str], str] | None
    precision: str | None
    factor: str | None
    bounds: ErrorColumns | None
    features: Sequence[str] | None
    exact: Sequence[str] | Literal["all"] | None
    categorical: Sequence[str] | None
    corr: str | Mapping[tuple[str, str], str] | None
    limits: str | Mapping[str, str] | None
    draws: str | Sequence[str] | None


class ColumnRoles(FeatureRoles, total=False):
    """The fields of `Columns` but for the target, groups and weights, as options of a call."""

    target_std: ColumnOrValues | None
    offset: ColumnOrValues | None
    event: ColumnOrValues | None
    modes: Sequence[str] | ArrayLike | None


ROLES = tuple(ColumnRoles.__annotations__)
OF_FEATURES = tuple(FeatureRoles.__annotations__)


@dataclass(frozen=True, repr=False)
class Columns:
    """The columns of a table by role, for `fit`, `uncertain.dask.fit`, `check_errors` and `AsGaussians`.

    A role that is left out is found by name. The roles are explained where they are arguments of
    :func:`uncertain.fit`. ``model.columns_`` is a `Columns` with all roles filled in; the next fit takes it
    as well.

    Parameters
    ----------
    target : str
        The column that is predicted.
    features, exact, categorical : list of str
        Scalar columns with error bars, scalar columns without, and columns of categories.
        ``exact="all"``: every remaining numeric column.
    mean : str
        One column of lists, instead of `features`.
    std, var, cov, precision, factor, bounds : str, dict or list
        The columns of error bars: one of lists, a pattern, a dictionary {feature: column} or a list.
    corr : str or dict
        The columns of correlations of pairs of features.
    limits : str or dict
        The columns of flags of values that are limits.
    draws : str or list of str
        Columns of lists: draws of each row's distribution.
    groups, sample_weight, target_std : str
        The columns of the rows' groups, their weights, and the standard deviations of the target.
    offset, event : str
        Of laws: the column that is added to the linear predictor, and the one that says whether a time was
        reached.
    modes : list of str
        Of laws: the columns of errors of the target that rows share.
    found : Found
        What was found by names and types, in ``model.columns_``; not for callers.

    Raises
    ------
    ParameterError
        For roles that exclude each other, and for anything that is no column name.

    Examples
    --------
    >>> import uncertain
    >>> columns = uncertain.Columns("kind", features=["flux"], std="{}_err", groups="star")
    >>> table = {"flux": [1.0, 1.2, 3.1, 2.9], "flux_err": [0.1, 0.3, 0.1, 0.4], "star": [1, 2, 3, 4],
    ...          "kind": ["a", "a", "b", "b"]}
    >>> print(uncertain.fit(table, columns=columns, method="gsu").columns_)
    means      flux
    errors     std = {}_err: flux_err
    target     kind
    groups     star (its rows stay together)
    """

    target: str | None = None
    _: KW_ONLY
    features: Sequence[str] | None = None
    mean: str | None = None
    std: ErrorColumns | None = None
    var: ErrorColumns | None = None
    cov: str | Mapping[tuple[str, str], str] | None = None
    precision: str | None = None
    factor: str | None = None
    bounds: ErrorColumns | None = None
    exact: Sequence[str] | Literal["all"] | None = None
    categorical: Sequence[str] | None = None
    corr: str | Mapping[tuple[str, str], str] | None = None
    limits: str | Mapping[str, str] | None = None
    draws: str | Sequence[str] | None = None
    groups: str | bool | None = None
    """True for groups that were given as values."""
    sample_weight: str | bool | None = None
    """True for weights that were given as values."""
    target_std: str | None = None
    offset: str | bool | None = None
    """True for values, as for `event` and `modes`."""
    event: str | bool | None = None
    modes: Sequence[str] | bool | None = None
    found: Found = NOTHING

    def __post_init__(self) -> None:
        asked = self.asked()
        settled = self.found.settled
        if not settled:
            if asked:
                check_roles(asked)
            for role in (*OF_ROWS, "offset", "event"):
                value = getattr(self, role)
                if value is not None and not isinstance(value, str):
                    raise ParameterError(
                        f"Columns({role}={value!r}): must be the name of a column; values are for {role}= of "
                        "uncertain.fit"
                    )
            if self.modes is not None:
                check_roles({"modes": self.modes})
        if isinstance(self.modes, list):
            object.__setattr__(self, "modes", tuple(self.modes))
        if isinstance(self.draws, str):
            asked["draws"] = (self.draws,)
        for role in ("features", "exact", "categorical", "draws"):
            value = asked.get(role, () if settled else None)
            if value is not None and not isinstance(value, (str, tuple)):
                value = tuple(value)
            object.__setattr__(self, role, value)
        if settled and self.limits is None:
            object.__setattr__(self, "limits", {})

    # -- what was asked for

    def asked(self) -> Keywords:
        """The roles of features that are not left open."""
        return {role: value for role in ARGUMENTS if (value := getattr(self, role)) is not None}

    @classmethod
    def from_arguments(
        cls, columns: object, arguments: Mapping[str, object], default: str = "label"
    ) -> tuple[Columns, Keywords]:
        """(the roles that are columns, those that are values), from `columns` and the shortcuts for it.

        The `default` of a target gives way to the target of `columns`.
        """
        base = cls.from_mapping(columns) if isinstance(columns, Mapping) else columns or cls()
        if not isinstance(base, Columns):
            raise ParameterError(
                f"columns={columns!r}: must be a dictionary {{feature: error column, or None}}, or an "
                "uncertain.Columns"
            )
        of_rows = (*OF_ROWS, *OF_LAWS)
        base = base.changed(**{role: None for role in of_rows if getattr(base, role) is True})
        given = {role: value for role in (*of_rows, *ARGUMENTS) if (value := arguments.get(role)) is not None}
        if (
            base.target is not None
            and isinstance(given.get("target"), str)
            and given["target"] in (default, base.target)
        ):
            del given["target"]
        values = {
            role: value
            for role, value in given.items()
            if role in of_rows and not _names_columns(role, value)
        }
        base.with_roles(**{role: ("values",) if role == "modes" else "values" for role in values})
        return base.with_roles(**{role: value for role, value in given.items() if role not in values}), values

    @classmethod
    def from_mapping(cls, columns: Mapping[str, str | Sequence[str] | None]) -> Columns:
        """Each feature with its error column, a pair of them, or None where it is exact."""
        bars = {feature: column for feature, column in columns.items() if column is not None}
        exact = [feature for feature in columns if feature not in bars]
        return cls(features=[*bars], std=bars or None, exact=exact)

    def changed(self, **roles: Any) -> Columns:
        """The same with other roles."""
        return replace(self, **roles) if roles else self

    def with_roles(self, **roles: Any) -> Columns:
        """The same with more roles; ParameterError for one that is there already."""
        for role, value in roles.items():
            own = getattr(self, role)
            if own not in (None, (), {}):
                raise ParameterError(
                    f"{role}={value!r} is given beside columns=Columns({role}={own!r}): leave one of them out"
                )
        if not (self.found.settled and roles.keys() & {*ARGUMENTS}):
            return self.changed(**roles)
        open_roles = {role: None for role in ARGUMENTS if getattr(self, role) in ((), {})}
        return self.changed(**open_roles | roles, found=NOTHING)

    # -- what was found

    @classmethod
    def for_array(cls) -> Columns:
        """Those of rows without columns."""
        return cls(found=Found(settled=True))

    @classmethod
    def settled(
        cls,
        roles: Mapping[str, Any],
        bars: Mapping[str, ErrorBar],
        names: Iterable[str],
        found: Found,
    ) -> Columns:
        """Those that were found in a table of these names, with the error bars of scalar features."""
        columns = cls(**roles, **arguments_from(bars), found=found)
        if bars:
            # Not to be made again of arguments that were made of them; scalars have no lists.
            chosen = {feature: ErrorBar(bar.kind, bar.columns) for feature, bar in bars.items()}
            columns.__dict__.update(error_bars=chosen, lists={})
        taken = columns.used | columns.beside()
        return columns.with_found(ignored=tuple(name for name in names if name not in taken))

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns of the table without a role."""
        return self.found.ignored

    @property
    def automatic(self) -> bool:
        """Were the features with error bars found by name?"""
        return self.found.automatic

    @property
    def target_unit(self) -> str | None:
        """The unit of the target, and of predictions, where its column knows it."""
        return self.found.target_unit

    @property
    def target_limit(self) -> str | None:
        """The column of flags of targets that are limits."""
        return self.found.target_limit

    @property
    def target_corr(self) -> dict[str, str]:
        """By feature the column of the correlation of its error with the target's."""
        return self.found.target_corr

    @property
    def target_cov(self) -> dict[str, str]:
        """By feature the column of the covariance of its error with the target's."""
        return self.found.target_cov

    @property
    def distributions(self) -> dict[str, tuple[str, ...]]:
        """The names of the features in columns of rows with error bars."""
        return self.found.distributions

    def with_found(self, **changes: Any) -> Self:
        """The same with other findings, on which no role depends."""
        columns = copy(self)
        object.__setattr__(columns, "found", replace(self.found, **changes))
        return columns

    # -- which columns they are

    @cached_property
    def errors(self) -> Keywords:
        """A kind of uncertainty and its column, pattern, or dictionary {feature: column}."""
        return {kind: value for kind in KINDS if (value := getattr(self, kind)) is not None}

    def with_errors(self, errors: Mapping[str, object]) -> Columns:
        """The same with these error bars and no others."""
        return self.changed(**dict.fromkeys(KINDS) | dict(errors))

    def roles(self) -> Keywords:
        """Keyword arguments of `AsGaussians`, of columns that were found."""
        roles: Keywords = dict(self.errors)
        if self.mean is not None:
            roles["mean"] = self.mean
        for name in ("features", "exact", "categorical", "draws"):
            if getattr(self, name):
                roles[name] = list(getattr(self, name))
        if self.mean is None and (self.exact or self.categorical or self.draws):
            roles["features"] = list(self.features or ())  # that there are none is settled, too
        if self.corr is not None:
            roles["corr"] = self.corr
        if self.limits:
            roles["limits"] = dict(self.limits) if isinstance(self.limits, Mapping) else self.limits
        return roles

    @cached_property
    def error_bars(self) -> dict[str, ErrorBar]:
        """The error bar of every scalar feature."""
        return error_bars_from(self.features or (), self.errors)

    def bars(self) -> dict[str, ErrorBar]:
        """The error bar of every scalar feature."""
        return dict(self.error_bars)

    @cached_property
    def lists(self) -> dict[str, str]:
        """By kind the list-typed columns of uncertainty."""
        return {kind: column for kind, column in self.errors.items() if is_list_column(kind, column)}

    @cached_property
    def scalars(self) -> list[str]:
        """The columns of one number per row: features and exact ones."""
        return [*(self.features or ()), *(self.exact or ())]

    @cached_property
    def flags(self) -> dict[str, str]:
        """For scalar columns whose values may be limits the column of flags."""
        return dict(self.limits) if isinstance(self.limits, Mapping) else {}

    @cached_property
    def needed(self) -> list[str]:
        """The columns that are not to be missing, in order; a correlation may be named either way round."""
        names = [
            self.mean,
            *(self.features or ()),
            *(c for bar in self.error_bars.values() for c in bar.columns),
        ]
        names += [
            *self.lists.values(),
            *(self.exact or ()),
            *(self.categorical or ()),
            *(self.draws or ()),
            *self.flags.values(),
        ]
        return [name for name in names if name is not None]

    @cached_property
    def used(self) -> set[str]:
        """All columns that are read for the features."""
        used = {*self.needed}
        features = self.features or ()
        for argument in (self.corr, self.cov):
            if isinstance(argument, Mapping):
                used |= {*argument.values()}
            elif argument is not None and "{}" in argument:
                used |= {fill(argument, a, b) for a in features for b in features}
        return used

    @property
    def _of_rows(self) -> list[object]:
        """What is known of each row beside features: columns, True for values, None."""
        names = self.modes if isinstance(self.modes, tuple) else ()
        return [*(getattr(self, role) for role in (*OF_ROWS, "offset", "event")), *names]

    def beside(self) -> set[str]:
        """The columns that only a fit looks at."""
        named = (*self._of_rows, self.target_limit)
        pairs = (*self.target_corr.values(), *self.target_cov.values())
        return {name for name in (*named, *pairs) if isinstance(name, str)}

    # -- the model file

    def to_dict(self) -> Keywords:
        """Return roles and findings as lists, strings and dictionaries, without those that are empty."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "found"}
        values |= {f.name: getattr(self.found, f.name) for f in fields(Found) if f.compare}
        del values["settled"]
        return {name: _plain(value) for name, value in values.items() if value not in (None, (), {}, False)}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Columns:
        """Invert `to_dict`; ValueError, TypeError or KeyError for anything else."""
        roles = {name: _from_plain(value) for name, value in values.items()}
        for name, value in roles.items():
            msgspec.convert(value, _types()[name])
        findings = {f.name: roles.pop(f.name) for f in fields(Found) if f.name in roles}
        columns = cls(**roles, found=Found(settled=True, **findings))
        check_roles({role: value for role, value in columns.asked().items() if value not in ((), {})})
        return columns

    # -- for people

    def __repr__(self) -> str:
        asked = {
            role: value
            for role in (*OF_ROWS[1:], *OF_LAWS, *ARGUMENTS)
            if (value := getattr(self, role)) not in (None, (), {})
        }
        texts = [repr(self.target), *(f"{role}={value!r}" for role, value in asked.items())]
        return f"Columns({', '.join(texts)})"

    def __str__(self) -> str:
        """One line per role, for people."""
        if not self.found.settled:
            return repr(self)
        beside = [] if self.groups is None else [_line("groups", self._groups_text)]
        if self.sample_weight is not None:
            named = isinstance(self.sample_weight, str)
            beside.append(_line("weights", f"{self.sample_weight}" if named else "given as values"))
        for role in OF_LAWS:
            value = getattr(self, role)
            if value is not None:
                names = (value,) if isinstance(value, str) else value
                beside.append(_line(role, "given as values" if names is True else listing(names)))
        if self.mean is None and not (self.features or self.exact or self.categorical or self.draws):
            rows = _line("rows", "a GaussianArray or an array of exact points")
            return "\n".join([rows, _line("target", "given as values"), *beside])
        lines = (
            [_line("means", self.mean or listing(self.features or ()))] if self.mean or self.features else []
        )
        lines += [_line("errors", text) for text in self._error_texts()]
        if self.exact:
            lines.append(_line("exact", listing(self.exact)))
        if self.categorical:
            lines.append(_line("categories", listing(self.categorical)))
        for role, those in (("rows", True), ("draws", False)):
            names = [name for name in self.draws or () if (name in self.distributions) == those]
            if names:
                lines.append(_line(role, listing(names)))
        if not (self.errors or self.draws):
            lines.append(_line("errors", "none: every row is an exact point"))
        if self.limits:
            flags = listing([f"{feature} ({column})" for feature, column in self.flags.items()], 4)
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
        bars = self.error_bars
        for kind, value in self.errors.items():
            if isinstance(value, str) and "{}" in value and kind != "cov":
                texts.append(
                    f"{kind} = {value}: {listing([value.replace('{}', f) for f in self.features or ()], 3)}"
                )
            elif isinstance(value, str):
                texts.append(f"{kind} = {value}")
            elif kind == "cov":
                texts.append(f"cov = {listing(value.values(), 6)}")
            else:
                own = [bars[f] for f in self.features or () if f in value]
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


ColumnsLike: TypeAlias = Columns | Mapping[str, str | Sequence[str] | None]
"""Roles of columns, or a dictionary of the features: error column, pair of arms, or None for an exact one."""


@cache
def _types() -> Keywords:
    """Return the types of all roles and findings."""
    return get_type_hints(Columns) | get_type_hints(Found)


def _plain(value: object) -> Any:
    """Return a value for JSON: columns of pairs as lists of [a, b, column]."""
    if isinstance(value, Mapping) and any(isinstance(key, tuple) for key in value):
        return [[*key, column] for key, column in value.items()]
    return value


def _from_plain(value: Any) -> Any:
    """Invert `_plain`."""
    if isinstance(value, list):
        if value and all(isinstance(entry, list) and len(entry) == 3 for entry in value):
            return {(a, b): column for a, b, column in value}
        return tuple(value)
    if isinstance(value, dict):
        return {key: _from_plain(inner) for key, inner in value.items()}
    return value


def _names_columns(role: str, value: object) -> bool:
    """Is the value of a role a column, or for modes a list of columns?"""
    if role != "modes" or isinstance(value, str):
        return isinstance(value, str)
    return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)


def _line(role: str, text: str) -> str:
    return f"{role:<10} {visible(text)}"
