"""Roles of the columns of a table, declared once: the fields of `Columns`.

`fit`, `uncertain.dask.fit`, `check_errors`, `AsGaussians`, the command line and the model file loop over
them. Every role is checked and brought into one form when a `Columns` is made; `find_columns` fills in
patterns, and the roles that are left open. Nothing slow is imported: the help of the command line reads this.
"""
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypedDict, TypeGuard

import msgspec

from .._data.options import nearest
from ..exceptions import ColumnError, ParameterError
from .error_bar import Doubt, ErrorBar, read_bar
from .error_names import sigmas_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._data.typing import ColumnOrValues, Keywords

ErrorColumns: TypeAlias = str | Mapping[str, str | Sequence[str]] | Sequence[str | Sequence[str]]
"""Error bars: a column of lists, a pattern or a pair of patterns, {feature: column}, or a list of columns."""
Pairs: TypeAlias = Mapping[tuple[str, str], str]
"""The columns of correlations or covariances of pairs of features."""
Kind: TypeAlias = Literal["values", "error bar", "coverage", "beside"]


class Role(NamedTuple):
    """What a field of `Columns` says of columns."""

    kind: Kind
    """Values of features, their error bars, what part of a distribution these cover, or what is known of a
    row beside its features."""
    form: Literal["name", "names", "bars", "pairs", "flags", "level"]
    help: str
    laws: bool = False
    """Is it known to laws alone?"""


FORMS = {
    "name": "the name of a column",
    "names": 'a list of one or more distinct column names, such as {0}=["{1}"]',
    "exact": 'a list of one or more distinct column names, such as exact=["{1}"], or "all"',
    "bars": 'the name of a column, a pattern such as "{{}}_err", or a dictionary: each feature must have a '
    "column, or a pair of columns",
    "bounds": 'a pair of patterns, such as ("{{}}_lower", "{{}}_upper"), or a dictionary: each feature must '
    "have a pair of columns",
    "pairs": 'a pattern such as "{{}}_{{}}_{0}", or a dictionary {{("a", "b"): column}}',
    "flags": 'a pattern such as "{{}}_limit", or a dictionary {{feature: column of flags}}',
    "level": "a number between 0 and 1, or a dictionary {{feature: number}}",
}
"""How the columns of a role are given."""
PLACES = {"name": (0,), "names": (), "bars": (0, 1), "pairs": (2,), "flags": (1,)}
"""How many places for names of features a pattern may have; none for a column."""


class FeatureRoles(TypedDict, total=False):
    """The fields of `Columns` about features, as options of a call."""

    features: Sequence[str] | None
    mean: str | None
    std: ErrorColumns | None
    var: ErrorColumns | None
    cov: str | Pairs | None
    precision: str | None
    factor: str | None
    bounds: ErrorColumns | None
    exact: Sequence[str] | Literal["all"] | None
    categorical: Sequence[str] | None
    corr: str | Pairs | None
    limits: str | Mapping[str, str] | None
    draws: str | Sequence[str] | None
    level: float | Mapping[str, float] | None


class ColumnRoles(FeatureRoles, total=False):
    """The fields of `Columns` but for the target, groups and weights, as options of a call."""

    modes: Sequence[str] | ArrayLike | None
    offset: ColumnOrValues | None
    event: ColumnOrValues | None
    target_std: ColumnOrValues | None


class PairsOfTarget(NamedTuple):
    """By feature the columns of the correlation, and of the covariance, of its error with the target's."""

    corr: dict[str, str] = {}  # noqa: RUF012
    cov: dict[str, str] = {}  # noqa: RUF012
    named: bool = False
    """Did the caller name them?"""

    @property
    def columns(self) -> set[str]:
        """All of them."""
        return {*self.corr.values(), *self.cov.values()}


@dataclass(frozen=True)
class Found:
    """What was found by the names and types of a table's columns."""

    settled: bool = False
    """True once `find_columns` has run: every role is set."""
    ignored: tuple[str, ...] = ()
    """Columns without a role."""
    target_unit: str | None = None
    """The unit of the target, and of predictions, where its column knows it."""
    target_limit: str | None = None
    """The column of flags of targets that are limits."""
    target_corr: dict[str, str] = field(default_factory=dict)
    """By feature the column of the correlation of its error with the target's."""
    target_cov: dict[str, str] = field(default_factory=dict)
    """By feature the column of the covariance of its error with the target's."""
    distributions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the features in columns of `draws` that carry their error bars."""
    scales: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """By value the `sigmas`, `share` and `unit` of an error bar that is no plain standard deviation."""
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict, compare=False)
    """By column without a role why it has none, and what takes it: a role, or arguments of a fit."""
    # What only the fit asks for: columns that have a role if the estimator knows one.
    target_stds: tuple[str, ...] = field(default=(), compare=False)
    """Columns named like standard deviations of the target."""
    target_pairs_of_arms: tuple[tuple[str, ...], ...] = field(default=(), compare=False)
    """Arms or limits of the target."""
    unsure: frozenset[str] = field(default=frozenset(), compare=False)
    """Error columns by letters that may mean something else."""
    target_pairs: PairsOfTarget = field(default=PairsOfTarget(), compare=False)
    """Columns of covariances with the target's errors."""
    empty: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """By value the error columns of which one holds nothing."""
    of_target: frozenset[str] = field(default=frozenset(), compare=False)
    """Error columns of the target."""
    suspects: frozenset[str] = field(default=frozenset(), compare=False)
    """Columns that look like error bars, limits or flags, whoever's: no exact features."""
    doubts: tuple[Doubt, ...] = field(default=(), compare=False)
    """Error bars that were not taken, and why."""
    lines: tuple[str, ...] = field(default=(), compare=False)
    """What `Columns.find` says of each column."""
    flags: dict[str, str] = field(default_factory=dict, compare=False)
    """By column the column that may flag its limits."""


def _role(kind: Kind, form: Any, text: str, *, laws: bool = False) -> Any:
    return field(default=None, metadata={"role": Role(kind, form, text, laws)})


def _finding(name: str) -> Any:
    """What `Found` says under this name."""
    return property(attrgetter(f"found.{name}"))


@dataclass(frozen=True, repr=False)
class Columns:
    """The columns of a table by role, for `fit` and everything that reads tables.

    A role that is left out is found by name. ``model.columns_`` is a `Columns` with all roles filled in, and
    the next fit takes it as well: ``bars()`` has the error bar of each feature, `target_limit` the column of
    the target's limits, `ignored` the columns without a role.

    Parameters
    ----------
    target : str
        The column that is predicted.
    features : list of str
        Scalar columns with error bars.
    mean : str
        One column of lists, instead of `features`.
    std, var, bounds : str, tuple, dict or list
        Error bars of scalar features: a pattern such as ``"{}_err"``, {feature: column}, or a list in the
        order of `features`. For asymmetric ones a pair (upper arm, lower arm) in place of a column of `std`;
        `bounds` are pairs (lower, upper) of limits one standard deviation below and above the value.
        Names tell another coverage (``2SE``, ``(2σ)``, ``95CI``) and shares of the value (``RSD%``).
    level : float or dict
        The level of the intervals in all error columns and `bounds`, such as 0.9; or {feature: level}.
    std, var, cov, precision, factor : str
        Error bars of `mean`: one column of lists with one number, d numbers, or d * d (row-major) per row. At
        most one kind, except a factor with a diagonal var.
    cov, corr : str or dict
        Covariances and correlations of scalar features: a pattern such as ``"{}_{}_corr"``, or
        {(a, b): column}. With ``method="mixture"`` one of a pair may be the target.
    exact : list of str, or "all"
        Scalar columns without error bars; "all": every numeric column without another role.
    categorical : list of str
        Columns of strings, booleans or integers: a feature of zeros and ones for each category.
    limits : str or dict
        Flags of values that are limits: a pattern such as ``"{}_limit"``, or {column: column of flags}. A
        flag is -1, "<" or True where the reading lies below the value (an upper limit), 1 or ">" where it
        lies above, and 0, "=", "", False or null where it was read. In a column whose name ends in
        "detected" 0 or False is an upper limit.
    draws : str or list of str
        Columns of lists: draws of each row's distribution, see :func:`uncertain.uncertainty.from_draws`.
    modes, offset, event
        Of laws: the columns of errors of the target that rows share; the column that is added to the linear
        predictor; the column that is 1 where a time was reached and 0 where it is longer.
    groups, sample_weight, target_std : str
        The columns of the rows' groups, their weights, and the standard deviations of the target; of
        `target_std` also a pair of its arms, or of limits.
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
    target        kind
    features      flux
    std           flux (flux_err)
    groups        star
    """

    target: str | None = _role("beside", "name", "Column to predict.")
    _: KW_ONLY
    # fmt: off
    features: Sequence[str] | None = _role("values", "names", "Scalar columns with error bars.")
    mean: str | None = _role("values", "name", "Column with a list of d numbers per row.")
    std: ErrorColumns | None = _role("error bar", "bars",
        "Standard deviations: a pattern such as {}_unc, or FEATURE=COLUMN, or FEATURE=UPPER,LOWER.")
    var: ErrorColumns | None = _role("error bar", "bars", "Variances, in the same way.")
    cov: str | Pairs | None = _role("error bar", "pairs",
        "Covariances: a column of matrices, a pattern such as cov_{}_{}, or A,B=COLUMN.")
    precision: str | None = _role("error bar", "name",
        "Column with d * d numbers per row, the inverse of a covariance matrix.")
    factor: str | None = _role("error bar", "name", "Column with d * r numbers per row: F of cov = F F'.")
    bounds: ErrorColumns | None = _role("error bar", "bars",
        "Limits one standard deviation away: {}_lo,{}_hi, or FEATURE=LOWER,UPPER.")
    exact: Sequence[str] | Literal["all"] | None = _role("values", "names",
        "Scalar columns without error bars that are features; all: every numeric column that is left; none: "
        "no other column, and no warning about them.")
    categorical: Sequence[str] | None = _role("values", "names", "Columns of categories.")
    corr: str | Pairs | None = _role("error bar", "pairs",
        "Correlations: a pattern such as {}_{}_corr, or A,B=COLUMN.")
    limits: str | Mapping[str, str] | None = _role("values", "flags",
        "Flags of values that are limits (-1 or < upper, 1 or > lower): a pattern such as {}_limit, or "
        "COLUMN=FLAGS.")
    draws: str | Sequence[str] | None = _role("values", "names", "Columns of lists: draws of each row.")
    level: float | Mapping[str, float] | None = _role("coverage", "level",
        "Level of the intervals in the error columns, such as 0.9.")
    modes: Sequence[str] | bool | None = _role("beside", "names",
        "Columns of errors of the target that rows share.", laws=True)
    offset: str | bool | None = _role("beside", "name",
        "Column that is added to the linear predictor.", laws=True)
    event: str | bool | None = _role("beside", "name",
        "Column that is 1 where a time was reached and 0 where it is longer.", laws=True)
    groups: str | bool | None = _role("beside", "name",
        "Column that rows of one object share; such rows are held out together.")
    sample_weight: str | bool | None = _role("beside", "name", "Column of weights.")
    target_std: str | tuple[str, str] | None = _role("beside", "name",
        "Column of the target's standard deviations, or its two arms (regression).")
    # fmt: on
    found: Found = Found()

    def __post_init__(self) -> None:
        settled = self.found.settled
        for name, role in ROLES.items():
            value = getattr(self, name)
            if value is None and settled and role.kind == "values" and role.form != "name":
                value = {} if role.form == "flags" else ()
            elif value is not None and not (settled and (value is True or value in ((), {}))):
                value = self._checked(name, role.form, value)
            object.__setattr__(self, name, value)
        self._move_bar_of_target()
        self._refuse_contradictions()

    def _move_bar_of_target(self) -> None:
        """Take what a dictionary of error bars says of the target as its own, and not as of a feature."""
        for role in ("std", "var", "bounds"):
            bars = getattr(self, role)
            if self.target is None or not isinstance(bars, Mapping) or self.target not in bars:
                continue
            bar = bars[self.target]
            if role == "var" or self.target_std not in (None, bar):
                kind = "standard deviation or arms" if role == "var" else "one error bar"
                raise ParameterError(f"{role}={shown(bars)}: the target has {kind}. Pass target_std=...")
            others = {feature: column for feature, column in bars.items() if feature != self.target}
            features = tuple(name for name in self.features or () if name != self.target)
            for name, value in (("target_std", bar), (role, others or None), ("features", features or None)):
                object.__setattr__(self, name, value)

    def _checked(self, name: str, form: str, value: Any) -> Any:
        """Return a role in its one form: a name, a tuple of names, a dictionary, or a pattern."""
        if isinstance(value, str):
            if name == "draws" or (name == "exact" and value == "all"):
                return (value,) if name == "draws" else value
            if value.count("{}") in ((0, 2) if name == "cov" else PLACES[form]) and name != "bounds":
                return value
        elif form == "level":
            levels = value.values() if isinstance(value, Mapping) else [value]
            if levels and all(isinstance(v, (int, float)) and 0.0 < v < 1.0 for v in levels):
                return dict(value) if isinstance(value, Mapping) else value
        elif isinstance(value, Mapping):
            items = {key: tuple(c) if isinstance(c, list) else c for key, c in value.items()}
            if _is_dictionary(name, form, items):
                return items
        elif name == "target_std" and _are_names(value) and len(value) == 2:
            return tuple(value)
        elif isinstance(value, Iterable) and form in ("names", "bars") and not hasattr(value, "shape"):
            names = tuple(tuple(n) if isinstance(n, list) else n for n in value)
            if form == "names" and _are_names(names) and len({*names}) == len(names):
                return names
            if form == "bars" and _are_names(names) and len(names) == 2 and "{}" in "".join(names):
                return names
            if form == "bars":
                return self._listed(name, names)
        form = name if name in FORMS else form
        text = FORMS[form].format(name, value if isinstance(value, str) else "a")
        if hasattr(value, "shape"):
            text = f"{FORMS['name']}; pass arrays as GaussianArray(means, {name}=...) in place of a table"
        raise ParameterError(f"{name}={shown(value)}: must be {text}")

    def _listed(self, name: str, columns: tuple[Any, ...]) -> Any:
        """The error bars of `features` in their order."""
        if self.features is None:
            raise ParameterError(
                f"{name}={shown([*columns])}: a list of columns needs features= in the same order. Pass "
                "them, or a dictionary {feature: column}."
            )
        if len(columns) != len(self.features):
            raise ParameterError(
                f"{name}={shown([*columns])}: a list names one column for each of the {len(self.features)} "
                "features=, in their order. For some of them pass a dictionary {feature: column}."
            )
        return self._checked(name, "bars", dict(zip(self.features, columns, strict=True)))

    def _refuse_contradictions(self) -> None:
        """ParameterError for roles that exclude each other."""
        if self.features == () and not (self.found.settled or self.exact or self.categorical or self.draws):
            raise ParameterError(f"features=[]: must be {FORMS['names'].format('features', 'a')}")
        if self.mean is not None and self.features:
            raise ParameterError(
                "pass either mean= (one column of lists) or features= (scalar columns); "
                "scalar columns without error bars beside a mean are exact="
            )
        scalar = self.errors.keys() - self.lists.keys()
        patterns = {kind for kind in scalar if kind != "cov" and not isinstance(self.errors[kind], Mapping)}
        several = len(self.lists) > 1 and self.lists.keys() != {"factor", "var"}
        if several or (self.lists and scalar) or len(patterns) > 1:
            raise ParameterError(
                f"{' and '.join(sorted(self.errors))} are given together: pass at most one kind of "
                "uncertainty, except factor + var"
            )
        if self.mean is not None and scalar:
            kind = min(scalar)
            raise ParameterError(
                f"{kind}={shown(self.errors[kind])}: a pattern or a dictionary is for scalar features="
            )
        if self.corr and self.lists:
            raise ParameterError('corr= needs the error columns of scalar features, such as std="{}_err"')
        if self.level is not None and self.lists.keys() - {"std", "var"}:
            raise ParameterError(f"level={self.level!r}: is for standard deviations and limits, not matrices")
        self.scalar_bars(())

    # -- what was asked for

    def of_kinds(self, *kinds: Kind) -> Keywords:
        """Return the roles of these kinds that are not left open."""
        return {
            name: value
            for name, role in ROLES.items()
            if role.kind in kinds and (value := getattr(self, name)) is not None
        }

    @classmethod
    def from_arguments(
        cls, columns: object, arguments: Mapping[str, object], default: str = "label"
    ) -> tuple[Columns, Keywords]:
        """Return the roles that are columns, and those that are values, one per row.

        Parameters
        ----------
        columns : `Columns`, {feature: error column, pair of them, or None for an exact feature}, or None.
        arguments : roles beside those; what is None is left open.
        default : a target that gives way to the target of `columns`.
        """
        base = _from_mapping(columns) if isinstance(columns, Mapping) else columns or cls()
        if not isinstance(base, Columns):
            raise ParameterError(
                f"columns={shown(columns)}: must be a dictionary {{feature: error column, or None}}, or an "
                "uncertain.Columns"
            )
        given = {name: value for name, value in arguments.items() if value is not None}
        if base.target is not None and str(given.get("target")) in (default, base.target):
            del given["target"]
        values: Keywords = {}
        roles: Keywords = {name: None for name in ROLES if getattr(base, name) is True}
        for name, value in given.items():
            earlier = getattr(base, name)
            if earlier not in (None, (), {}) and earlier is not True:
                raise ParameterError(
                    f"{name}={shown(value)} is given beside columns=Columns({name}={earlier!r}): leave one "
                    "of them out"
                )
            is_column = isinstance(value, str) or (name in ("modes", "target_std") and _are_names(value))
            (roles if is_column or ROLES[name].kind != "beside" else values)[name] = value
        if base.found.settled and any(ROLES[name].kind != "beside" for name in roles):
            empty = {name: None for name in base.of_kinds("values", "error bar") if not getattr(base, name)}
            base, roles = replace(base, found=Found()), empty | roles
        return replace(base, **roles), values

    # -- what was found

    reader: ClassVar[Callable[[Any, str | None], Columns]]
    """What `find` calls; `contents` sets it, which knows tables."""

    @classmethod
    def find(cls, table: Any, target: str | None = None) -> Columns:
        """Read the names and the contents of a table's columns, before any fit.

        Parameters
        ----------
        table
            A table of any library, or the path of a file.
        target : str, optional
            The column that is to be predicted.

        Returns
        -------
        Columns
            Prints one line a column: what it is, of which column, and why. Its `repr` is code to paste and
            correct.

        Examples
        --------
        >>> import uncertain
        >>> table = {"Age": [1.0, 2.0, 4.0], "Age 2SE": [0.2, 0.4, 0.2], "site": ["a", "b", "c"]}
        >>> columns = uncertain.Columns.find(table)
        >>> print(columns)
        Age      value with an error bar
        Age 2SE  error bar of Age         / 2 (level 0.954)
        site     left out                 text
        >>> columns
        Columns(None, features=('Age',), std={'Age': 'Age 2SE'})
        """
        return cls.reader(table, target)

    @classmethod
    def for_array(cls) -> Columns:
        """Return the roles of rows without columns."""
        return cls(found=Found(settled=True))

    def changed(self, **roles: Any) -> Self:
        """Return the columns with other roles."""
        return replace(self, **roles)

    def with_found(self, **changes: Any) -> Self:
        """Return the columns with other findings, on which no role depends."""
        return replace(self, found=replace(self.found, **changes))

    def with_ignored(self, names: Iterable[str]) -> Self:
        """Return the roles for a table with these columns; others are ignored."""
        known = self.used | self.beside()
        return self.with_found(ignored=tuple(name for name in names if name not in known))

    ignored = _finding("ignored")
    target_unit = _finding("target_unit")
    target_limit = _finding("target_limit")
    target_corr = _finding("target_corr")
    target_cov = _finding("target_cov")
    distributions = _finding("distributions")

    # -- which columns they are

    @cached_property
    def errors(self) -> Keywords:
        """By kind the error bars: a column of lists, a pattern, or a dictionary."""
        return {kind: value for kind, value in self.of_kinds("error bar").items() if kind != "corr"}

    @cached_property
    def lists(self) -> dict[str, str]:
        """By kind the list-typed columns of uncertainty."""
        return {kind: c for kind, c in self.errors.items() if isinstance(c, str) and "{}" not in c}

    def with_bars(self, bars: Mapping[str, ErrorBar]) -> Columns:
        """Return the columns with these error bars of scalar features and no others."""
        return self.changed(**dict.fromkeys(("std", "var", "bounds")) | roles_of_bars(bars))

    @cached_property
    def error_bars(self) -> dict[str, ErrorBar]:
        """The error bar of every scalar feature, in their order."""
        features = self.features or ()
        bars = self.scalar_bars(features)
        return {f: bars[f] for f in features if f in bars} | bars

    @cached_property
    def kind_in_place(self) -> str | None:
        """The kind of all error bars of scalar features, where their numbers are read as they stand."""
        bars = self.error_bars.values()
        kinds = {bar.kind for bar in bars}
        plain = len(kinds) == 1 and kinds <= {"std", "var"} and all(bar.is_plain for bar in bars)
        return kinds.pop() if plain else None

    def bars(self) -> dict[str, ErrorBar]:
        """Return the error bar of every scalar feature."""
        return dict(self.error_bars)

    def scalar_bars(self, features: Iterable[str]) -> dict[str, ErrorBar]:
        """Return the error bars of scalar features."""
        bars: dict[str, ErrorBar] = {}
        for role, value in self.errors.items():
            if ROLES[role].form != "bars" or role in self.lists:
                continue
            if not isinstance(value, Mapping):
                value = {f: _filled(value, f) for f in features}
            for feature, columns in value.items():
                if feature in bars:
                    raise ParameterError(
                        f"feature {feature!r} has an error bar in two arguments; give it one"
                    )
                one = isinstance(columns, str)
                kind = role if one else "arms" if role == "std" else "limits"
                bars[feature] = self._bar(feature, kind, (columns,) if one else columns)
        return bars

    def _bar(self, feature: str, kind: Any, columns: Sequence[str]) -> ErrorBar:
        """Return an error bar with the coverage that was found, or that names tell."""
        if not self.found.settled:
            return read_bar(feature, kind, columns, self.level_of(feature))
        return ErrorBar(kind, tuple(columns), True, *self.found.scales.get(feature, ()))

    def with_scales(self) -> Columns:
        """Return settled columns with the coverage and units of caller and names."""
        found = self.found
        stds = [self.target_std] if self.target_std else [*found.target_stds, *found.target_pairs_of_arms]
        bars = [*self.error_bars.items(), *((self.target or "", _bar_of(std)) for std in stds[:1])]
        read = {value: read_bar(value, bar.kind, bar.columns, self.level_of(value)) for value, bar in bars}
        scales = {v: (b.sigmas, b.share, b.unit) for v, b in read.items() if not b.is_plain}
        return self.with_found(scales=scales)

    def level_of(self, feature: str) -> float | None:
        """Return the level of the interval of a feature, where the caller told one."""
        return self.level.get(feature) if isinstance(self.level, Mapping) else self.level

    @cached_property
    def list_scale(self) -> float:
        """One standard deviation in units of a column of lists of error bars."""
        level = self.level_of(self.mean or "")
        return 1.0 if level is None else 1.0 / sigmas_of(level)

    def bar_of_target(self) -> ErrorBar | None:
        """Return the error bar of the target, if it is a column."""
        if self.target_std is None or self.target is None:
            return None
        bar = _bar_of(self.target_std)
        return self._bar(self.target, bar.kind, bar.columns)

    def pairs(self, role: Literal["corr", "cov"]) -> Pairs:
        """Return the columns of correlations or covariances of pairs of features."""
        value = getattr(self, role)
        return value if isinstance(value, Mapping) else {}

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
        """The columns that are not to be missing, in order; an absent correlation is an error of reading."""
        names = [self.mean, *(self.features or ())]
        names += [column for bar in self.error_bars.values() for column in bar.columns]
        names += [*self.lists.values(), *(self.exact or ()), *(self.categorical or ()), *(self.draws or ())]
        return [name for name in (*names, *self.flags.values()) if name is not None]

    @cached_property
    def used(self) -> set[str]:
        """All columns that are read for the features."""
        return {*self.needed, *self.pairs("corr").values(), *self.pairs("cov").values()}

    def beside(self) -> set[str]:
        """Return the columns that only a fit looks at."""
        names = [self.target_limit, *self.target_corr.values(), *self.target_cov.values()]
        for value in self.of_kinds("beside").values():
            names += value if isinstance(value, tuple) else [value]
        return {name for name in names if isinstance(name, str)}

    # -- the model file

    def roles(self) -> Keywords:
        """Return keyword arguments of `AsGaussians`, of columns that were found."""
        kinds = self.of_kinds("values", "error bar", "coverage")
        roles = {name: v for name, v in kinds.items() if v or name == "corr"}
        roles = {name: list(v) if isinstance(v, tuple) else v for name, v in roles.items()}
        return roles | ({"features": []} if roles and not (self.mean or self.features) else {})

    def to_dict(self) -> Keywords:
        """Return roles as lists, strings and dictionaries, without empty ones."""
        values = {name: getattr(self, name) for name in ROLES}
        findings = [f.name for f in fields(Found) if f.compare or f.name == "reasons"]
        values |= {name: getattr(self.found, name) for name in findings}
        del values["settled"]
        return {name: _plain(value) for name, value in values.items() if value not in (None, (), {}, False)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Columns:
        """Invert `to_dict`; ValueError or TypeError for anything else."""
        roles = {n: _from_plain(v) if n in ("corr", "cov") else v for n, v in values.items() if n in ROLES}
        findings = {name: value for name, value in values.items() if name not in ROLES}
        if unknown := findings.keys() - {f.name for f in fields(Found)}:
            raise TypeError(f"unknown roles {sorted(unknown)}")
        return cls(**roles, found=msgspec.convert(findings | {"settled": True}, Found))

    # -- for people

    def __repr__(self) -> str:
        roles = {
            name: value
            for name in ROLES
            if name != "target" and (value := getattr(self, name)) not in (None, (), {})
        }
        return f"Columns({', '.join([repr(self.target), *(f'{n}={v!r}' for n, v in roles.items())])})"

    def __str__(self) -> str:
        """One line per role, for people; of `find` one line a column."""
        if self.found.lines:
            return "\n".join(visible(line) for line in self.found.lines)
        if not self.found.settled:
            return repr(self)
        texts = self.texts()
        texts["target"] = texts.get("target", "given as values")
        texts["target"] += f" in {self.target_unit}" if self.target_unit else ""
        texts["target"] += f", limits by {self.target_limit}" if self.target_limit else ""
        texts |= {} if self.used else {"features": "those of an array"}
        texts |= {"left out": listing(self.ignored)} if self.ignored else {}
        return "\n".join(f"{name:<13} {visible(text)}" for name, text in texts.items())

    def texts(self) -> dict[str, str]:
        """Return what a person reads of each role that is not left open."""
        texts = {}
        for name in ROLES:
            value = getattr(self, name)
            if isinstance(value, Mapping):
                bars = self.error_bars if ROLES[name].form == "bars" else {}
                own = {key: f"{', '.join(bar.columns)}{bar.conversion}" for key, bar in bars.items()}
                keys = {key: key if isinstance(key, str) else ", ".join(key) for key in value}
                value = [f"{keys[key]} ({own.get(key, column)})" for key, column in value.items()]
            if value not in (None, (), {}, []):
                text = value if isinstance(value, (str, float)) else () if value is True else listing(value)
                texts[name] = str(text or "given as values")
        return texts


ROLES: dict[str, Role] = {f.name: f.metadata["role"] for f in fields(Columns) if "role" in f.metadata}
"""By name what each field of `Columns` says of columns."""
OF_LAWS = tuple(name for name, role in ROLES.items() if role.laws)
"""Roles of rows beside their features that laws alone know."""
OF_ROWS = tuple(name for name, role in ROLES.items() if role.kind == "beside" and not role.laws)
"""Roles of rows beside their features that every fit knows."""
OF_FEATURES = tuple(name for name, role in ROLES.items() if role.kind != "beside")

ColumnsLike: TypeAlias = Columns | Mapping[str, str | Sequence[str] | None]
"""Roles of columns, or a dictionary of the features: error column, pair of arms, or None for an exact one."""


def roles_of_bars(bars: Mapping[str, ErrorBar]) -> dict[str, dict[str, Any]]:
    """Return the roles that give every feature its error bar."""
    roles: dict[str, dict[str, Any]] = {}
    for feature, bar in bars.items():
        role = {"arms": "std", "limits": "bounds"}.get(bar.kind, bar.kind)
        roles.setdefault(role, {})[feature] = bar.columns[0] if len(bar.columns) == 1 else bar.columns
    return roles


def _bar_of(target_std: str | Sequence[str]) -> ErrorBar:
    """Return a column of standard deviations, or two that are arms or limits by what they hold."""
    return (
        ErrorBar("std", (target_std,)) if isinstance(target_std, str) else ErrorBar("arms", tuple(target_std))
    )


def _from_mapping(columns: Mapping[str, Any]) -> Columns:
    """Each feature with its error column, a pair of them, or None where it is exact."""
    bars = {feature: column for feature, column in columns.items() if column is not None}
    return Columns(features=[*bars], std=bars or None, exact=[f for f in columns if f not in bars])


def _is_dictionary(name: str, form: str, items: Mapping[Any, Any]) -> bool:
    """Are these the columns of features, or of pairs of them, as the role has them?"""
    if form == "bars":

        def is_bar(columns: object) -> bool:
            if isinstance(columns, str):
                return name != "bounds"
            return name != "var" and _are_names(columns) and len(columns) == 2

        return bool(items) and all(isinstance(f, str) and is_bar(c) for f, c in items.items())
    if form == "pairs":
        return all(_are_names(pair) and len(pair) == 2 and isinstance(c, str) for pair, c in items.items())
    return form == "flags" and bool(items) and _are_names((*items, *items.values()))


def _are_names(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, (tuple, list)) and all(isinstance(name, str) for name in value)


def _filled(pattern: str | Sequence[str], feature: str) -> str | tuple[str, ...]:
    if isinstance(pattern, str):
        return pattern.replace("{}", feature)
    return tuple(part.replace("{}", feature) for part in pattern)


def _plain(value: Any) -> Any:
    """Keys that are pairs of names as a list of [a, b, column]."""
    if isinstance(value, Mapping) and any(isinstance(key, tuple) for key in value):
        return [[*key, column] for key, column in value.items()]
    return value


def _from_plain(value: Any) -> Any:
    return {(a, b): column for a, b, column in value} if isinstance(value, list) else value


# -- names of columns in messages


def shown(value: object) -> str:
    """Return the value of an argument for a message."""
    shape = getattr(value, "shape", None)
    return f"{value!r:.60}" if shape is None else f"<{type(value).__name__} of shape {shape}>"


def require(column: str, names: Sequence[str], advice: str = "") -> str:
    """Return `column`, or raise an error that says what it might have been."""
    require_all([column], names, advice)
    return column


def require_all(columns: Iterable[str], names: Sequence[str], advice: str = "") -> None:
    """ColumnError for those of these columns that are missing, with what they might have been."""
    present = {*names}
    missing = [column for column in dict.fromkeys(columns) if column not in present]
    if not missing:
        return
    meant = {column: nearest(column, names) for column in missing}
    texts = [repr(column) + (f" ({other!r}?)" if other else "") for column, other in meant.items()]
    what = f"there are no columns {listing(texts)}; the columns are {listing(names)}"
    if len(missing) == 1:
        [(column, other)] = meant.items()
        known = f"; the columns are {listing(names)}" if names else ""
        what = f"there is no column {column!r}" + (f"; did you mean {other!r}?" if other else known)
    raise ColumnError(what + (f" ({advice})" if advice else ""))


def fill(pattern: str, *names: str) -> str:
    """Return the pattern with names in its places."""
    for name in names:
        pattern = pattern.replace("{}", name, 1)
    return pattern


def visible(text: str) -> str:
    """Return the text without what a terminal obeys: control characters and the like as \\x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def listing(names: Iterable[str], most: int = 8) -> str:
    """Return names for a message, the first ones of many."""
    names = list(names)
    text = visible(", ".join(names[:most]))
    return text if len(names) <= most else f"{text}, ... ({len(names)} columns)"
