"""Roles that the caller left open, filled in by the names and types of a table's columns.

The choice does not change with the rows, and a guess that may be wrong is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .._data.options import did_you_mean
from ..exceptions import ColumnError, ParameterError
from .columns import (
    OF_ROWS,
    ROLES,
    Columns,
    Found,
    Pairs,
    PairsOfTarget,
    fill,
    listing,
    require,
    require_all,
    roles_of_bars,
)
from .error_bar import Doubt, ErrorBar, another, best_of
from .error_columns import ErrorNames
from .rules import IDENTIFIER, derived
from .unread import refusal, roles_with
from .value_names import is_called_matrix, named_pairs

if TYPE_CHECKING:
    from .._data.typing import ColumnType, Keywords
    from .contents import Look

Types: TypeAlias = "Mapping[str, ColumnType]"
"""What columns hold in each row, by name."""
KINDS = tuple(n for n, role in ROLES.items() if role.kind == "error bar" and n not in ("corr", "bounds"))
"""Error bars that may be columns of lists."""
SUFFIXES = ("_err", "_error", "_std", "_se", "_sigma")
"""What messages give as examples of error columns; `ErrorNames` knows more."""
TOGETHER = ({"features", "exact"}, {"features", "categorical"})
"""Roles that a column may have both of: the second counts."""


class NamesAndTypes(Protocol):
    """What finding columns asks of a table."""

    @property
    def names(self) -> list[str]:
        """Column names, in order."""

    @property
    def types(self) -> Types:
        """What each of them holds in its rows, by its type."""


def find_columns(asked: Columns, table: NamesAndTypes, look: Look | None = None) -> Columns:
    """Fill in the roles that the caller left open; of columns that were found before, check the names.

    Parameters
    ----------
    asked : what the caller said.
    table : its column names, in order, and types.
    look : what its numbers say; None for names alone.

    Raises
    ------
    ColumnError : a column is missing, or the choice would be a guess.
    ParameterError : two roles that exclude each other were given.
    """
    names = table.names
    if asked.found.settled:
        require_all(asked.needed, names)
        pairs = PairsOfTarget(asked.target_corr, asked.target_cov, named=True)
        return asked.with_found(target_pairs=pairs) if pairs.columns else asked
    target = asked.target
    flags = _flags(asked, names)
    target_limit = flags.pop(target, None)
    asked, pairs = _pairs_of_target(asked)
    asked = _with_distributions(asked, table)
    _check_named(asked, names)
    exact = () if asked.exact is None or asked.exact == "all" else tuple(asked.exact)
    categorical, draws = tuple(asked.categorical or ()), tuple(asked.draws or ())
    numeric = {name for name in names if table.types[name] == "number"}
    parsed = ErrorNames(names, numeric, None if asked.errors else look, has_level=asked.level is not None)
    beside = asked.of_kinds("beside")
    of_rows = [name for value in beside.values() for name in ((value,) if isinstance(value, str) else value)]
    flagged = {flag for value, flag in flags.items() if value != flag}
    taken = {*of_rows, *exact, *categorical, *draws, *flagged, target_limit or ""}
    every = parsed.bars()
    of_target = every.pop(target or "", [])
    # Error columns of the target know the answer: they are no features.
    doubts = [doubt for doubt in parsed.doubts if target in doubt.of]
    own = {column for bar in (*of_target, *(doubt.bar for doubt in doubts)) for column in bar.columns}
    shared = own & {column for bars in every.values() for bar in bars for column in bar.columns if bar.share}
    empty = {value: bars for value, bars in parsed.empty.items() if value not in taken}
    without = (own - shared) | taken | {column for bars in empty.values() for column in bars}
    candidates = [name for name in names if name not in without]
    choice = _Choice(asked, parsed, candidates, table.types)
    read = choice.known | ({target: of_target} if target and of_target else {})
    for value, each in read.items():
        of_value = [] if each[0] != best_of(each)[-1] else each[1:]
        doubts += [another(bar, value, each[0]) for bar in of_value]
    bars = [bar for each in read.values() for bar in each]
    doubts = [*dict.fromkeys((*doubts, *parsed.doubts))]
    suspects = own | parsed.suspects | parsed.alike(read) - parsed.refused.keys()
    suspects |= {column for bar in (*bars, *(doubt.bar for doubt in doubts)) for column in bar.columns}
    doubts += parsed.owned(suspects, read, {c for doubt in doubts for c in doubt.bar.columns})
    suspects |= {column for doubt in doubts if doubt.is_likely for column in doubt.bar.columns}
    choice.doubts = tuple(doubt for doubt in doubts if not {*doubt.bar.columns} & taken)
    choice.suspects = frozenset(suspects)
    features = asked.features
    if features is not None:
        features = [name for name in features if name not in (*categorical, *exact)]
    roles = choice.means_and_errors(features)
    by_name = [*of_target, *(bar for bars in choice.known.values() for bar in bars)]
    of_target = best_of(of_target)
    found = Found(
        settled=True,
        target_limit=target_limit,
        target_stds=tuple(bar.columns[0] for bar in of_target if bar.kind == "std"),
        target_pairs_of_arms=tuple(bar.columns for bar in of_target if len(bar.columns) == 2),
        unsure=frozenset(column for bar in by_name if not bar.sure for column in bar.columns),
        target_pairs=pairs if pairs.corr or pairs.cov else _pairs_by_name(asked, roles, names),
        empty=empty,
        of_target=frozenset(column for bar in of_target for column in bar.columns),
        suspects=choice.suspects,
        doubts=choice.doubts,
        flags={
            value: flag
            for value, flag in parsed.flags.items()
            if flag not in taken and value not in flags and (look is None or look.marks_limits(flag))
        },
    )
    roles |= beside | {
        "exact": (*roles.get("exact", ()), *exact), "categorical": categorical,
        "draws": (*roles.get("draws", ()), *draws), "level": asked.level,
    }  # fmt: skip
    if asked.exact == "all":
        used = Columns(**roles, found=found).used
        more = [n for n in candidates if n not in used and n in numeric and n not in suspects]
        roles["exact"] = (*roles["exact"], *more)
    scalars = [*roles.get("features", ()), *roles["exact"]]
    if not (scalars or roles.get("mean") or roles["draws"] or categorical):
        raise ColumnError(choice.no_errors())
    columns = Columns(**roles, limits=_limits(asked, flags, scalars, target_limit), found=found)
    return columns.with_scales().with_ignored(names)


def complete_columns(asked: Columns, names: Sequence[str]) -> Columns | None:
    """Return the roles of a caller who left nothing to be found by name; None for others.

    Features that are named without any error bars are then exact.
    """
    scalar = asked.errors.keys() - asked.lists.keys()
    if asked.exact == "all" or (asked.mean is None and asked.features is None):
        return None
    if asked.mean is None and scalar and [*(asked.features or ())] != [*asked.error_bars]:
        return None
    if asked.corr and not asked.errors:
        raise ParameterError('corr= needs the error columns of scalar features, such as std="{}_err"')
    features = asked.features or ()
    return replace(
        asked.with_bars(asked.error_bars) if asked.error_bars else asked,
        limits=_limits(asked, _flags(asked, names), asked.scalars),
        **_pair_roles(asked, features, names),
        found=Found(settled=True),
    ).with_scales()


def _check_named(asked: Columns, names: Sequence[str]) -> None:
    """ColumnError for columns that the caller named one by one, and that are absent or have two roles."""
    if asked.target == "label" and asked.target not in names:  # the default: it may not have been chosen
        require(asked.target, names, 'target="..." names the column to predict')
    owners: dict[str, str] = {}
    for name, role in ROLES.items():
        value = getattr(asked, name)
        if isinstance(value, str):
            columns: Sequence[str] = () if "{}" in value or value == asked.exact else (value,)
        else:
            columns = value if role.form == "names" and value is not None else ()
        for column in columns:
            other = owners.setdefault(column, name)
            if other != name and {other, name} not in TOGETHER and not role.laws:
                raise ColumnError(f"column {column!r} is given as {other} and as {name}; choose one")
    require_all(owners, names)


def _with_distributions(asked: Columns, table: NamesAndTypes) -> Columns:
    """The roles with columns whose rows carry their error bars: all of them, or those that are named."""
    known = [name for name in table.names if table.types.get(name) == "distribution"]
    if not known:
        return asked
    draws = asked.draws or ()
    if asked.mean in known:
        return replace(asked, mean=None, features=(), draws=(asked.mean, *draws))
    if asked.features is not None:
        carried = tuple(name for name in asked.features if name in known)
        rest = tuple(name for name in asked.features if name not in known)
        return replace(asked, features=rest, draws=(*carried, *draws)) if carried else asked
    if asked.mean is not None or asked.draws is not None:
        return asked
    beside = {getattr(asked, role) for role in OF_ROWS}
    taken = tuple(name for name in known if name not in beside)
    return replace(asked, draws=taken) if taken else asked


# -- limits, and pairs of columns


def _flags(asked: Columns, names: Sequence[str]) -> dict[Any, str]:
    """The columns of flags, by the column whose values they call limits."""
    limits = asked.limits
    if isinstance(limits, str):
        return {name: fill(limits, name) for name in names if fill(limits, name) in names}
    if limits:
        require_all(limits.values(), names)
    return dict(limits or {})


def _limits(
    asked: Columns, flags: Mapping[Any, str], features: Sequence[str], of_target: str | None = None
) -> dict[str, str]:
    """The column of flags of each of these features that has one."""
    limits = {feature: flags[feature] for feature in features if feature in flags}
    if isinstance(asked.limits, str) and not (limits or of_target):
        raise ColumnError(
            f"limits={asked.limits!r}: no column is called so; the features are {listing(features)}"
        )
    for feature in flags if isinstance(asked.limits, Mapping) else ():
        if feature not in limits:
            raise ColumnError(
                f"limits={{{feature!r}: {flags[feature]!r}}}: {feature!r} is neither the target nor a scalar "
                "feature (features= or exact=)"
            )
    return limits


def _pairs_of_target(asked: Columns) -> tuple[Columns, PairsOfTarget]:
    """The roles without the pairs of a feature and the target, and these."""
    of_target: dict[str, dict[str, str]] = {"corr": {}, "cov": {}}
    rest: Keywords = {}
    for role, columns in of_target.items():
        pairs, target = getattr(asked, role), asked.target
        if isinstance(pairs, Mapping) and target is not None:
            columns.update({a if b == target else b: c for (a, b), c in pairs.items() if target in (a, b)})
            if columns:
                rest[role] = {pair: c for pair, c in pairs.items() if target not in pair} or None
    of_pairs = PairsOfTarget(of_target["corr"], of_target["cov"], named=True)
    return (replace(asked, **rest) if rest else asked), of_pairs


def _pairs_by_name(asked: Columns, roles: Keywords, names: Sequence[str]) -> PairsOfTarget:
    """The columns that are called like covariances of the target and a feature.

    A pattern that the caller gave for pairs of features is looked for first.
    """
    target, features = asked.target, roles.get("features") or ()
    of_target: dict[str, dict[str, str]] = {"corr": {}, "cov": {}}
    if target is None or not features:
        return PairsOfTarget()
    by_name = named_pairs(names, [*features, target])
    for role, columns in of_target.items():
        pattern = getattr(asked, role)
        if isinstance(pattern, str):
            for feature in features if pattern.count("{}") == 2 else ():
                for option in (fill(pattern, feature, target), fill(pattern, target, feature)):
                    if option in names:
                        columns[feature] = option
        elif pattern is None:
            pairs = by_name[role].items()
            columns.update({a if b == target else b: c for (a, b), c in pairs if a != b and target in (a, b)})
    for feature in of_target["corr"]:
        of_target["cov"].pop(feature, None)
    return PairsOfTarget(of_target["corr"], of_target["cov"])


def _pair_roles(asked: Columns, features: Sequence[str], names: Sequence[str]) -> Keywords:
    """The columns of correlations and covariances of pairs of features that the caller named."""
    roles: Keywords = {}
    if asked.corr is not None:
        roles["corr"] = _pair_columns(asked.corr, features, names, "correlation") or None
    if asked.cov is not None and "cov" not in asked.lists:
        pairs = _pair_columns(asked.cov, features, names, "covariance")
        roles["cov"] = {pair: c for pair, c in pairs.items() if pair[0] != pair[1]} or None
    return roles


def _pair_columns(value: str | Pairs, features: Sequence[str], names: Sequence[str], what: str) -> Pairs:
    """The columns of pairs of features; a pattern must have one for every pair, in either order."""
    if isinstance(value, Mapping):
        for pair, column in value.items():
            for feature in pair:
                if feature not in features:
                    raise ColumnError(
                        f"{column!r} is given for {feature!r}, which is no feature with error bars"
                    )
        require_all(value.values(), names)
        return value
    present, pairs = {*names}, {}
    for k, b in enumerate(features):
        for a in features[:k]:
            options = [fill(value, a, b), fill(value, b, a)]
            columns = [option for option in options if option in present]
            if not columns:
                raise ColumnError(f"there is no column {options[0]!r} (nor {options[1]!r}) for the {what}")
            pairs[a, b] = columns[0]
    return pairs


# -- features


class _Choice:
    """The columns of one table that may become features, and what the caller said of them."""

    def __init__(
        self,
        asked: Columns,
        parsed: ErrorNames,
        candidates: Sequence[str],
        types: Types,
    ) -> None:
        self.asked = asked
        self.names = parsed.names
        self.candidates = candidates
        self.types = types
        self._parsed = parsed
        self.doubts: tuple[Doubt, ...] = ()
        self.suspects: frozenset[str] = frozenset()
        self.known = {
            feature: of_feature
            for feature, of_feature in parsed.bars(candidates).items()
            if of_feature[0].sure or all(types[n] == "number" for n in (feature, *of_feature[0].columns))
        }
        """The error bars by name; unsure ones are columns of numbers beside columns of numbers."""

    def means_and_errors(self, features: Sequence[str] | None) -> Keywords:
        """Return the roles of features, with what the caller left open; `features` are those with errors."""
        mean, errors = self.asked.mean, self.asked.errors
        lists = {kind: c for kind, c in errors.items() if isinstance(c, str) and "{}" not in c}
        lone = self.asked.exact is not None or bool(self.asked.categorical or self.asked.draws)
        if features is not None and errors and errors.keys() == lists.keys():
            return {"features": features, **errors}
        if features is not None or errors.keys() != lists.keys():
            return self._scalars(features)
        automatic = mean is None and not errors
        if automatic and "mean" in {*self.candidates} - self.known.keys() and self._kinds():
            mean = "mean"
        elif errors:
            mean = require(mean or "mean", self.names, "name the means with mean=... or features=...")
        if mean is not None:
            return {"mean": mean} | (errors or self._beside_mean(mean))
        lists_with_bars = [f for f in self.known if self.types[f] == "list"]
        scalars = {f: bars for f, bars in self.known.items() if f not in lists_with_bars}
        if scalars:
            return self._with_pairs(self._one_each(scalars))
        if len(lists_with_bars) == 1:
            [mean] = lists_with_bars
            bar = self._one_each({mean: self.known[mean]})[mean]
            return {"mean": mean, bar.kind: bar.columns[0]}
        return {} if lone else self._of_lists(lists_with_bars)

    def _kinds(self) -> dict[str, str]:
        """By kind the error bars that are called so; none that are doubted."""
        doubted = {column for doubt in self.doubts if doubt.is_likely for column in doubt.bar.columns}
        roles = {"covariance": "cov", "variance": "var"} | {kind: kind for kind in KINDS}
        return {role: name for name, role in roles.items() if name in {*self.candidates} - doubted}

    def no_errors(self) -> str:
        """Return why a table without error bars is refused, and what takes it."""
        found = Found(True, doubts=self.doubts, suspects=self.suspects, empty=self._parsed.empty)
        numbers = {name for name in self.candidates if self.types[name] == "number"}
        lists = [name for name in self.candidates if self.types[name] == "list" and not derived(name)]
        return refusal(Columns(self.asked.target, found=found), self.candidates, numbers, lists)

    def _of_lists(self, with_bars: Sequence[str]) -> Keywords:
        """The roles of columns of lists: means with a matrix of covariances, or draws."""
        lists = [name for name in self.candidates if self.types[name] == "list"]
        matrices = [name for name in lists if is_called_matrix(name)]
        others = [name for name in lists if name not in matrices]
        if matrices and len(lists) == 2 and others:
            return {"mean": others[0], "cov": matrices[0]}
        if matrices:
            raise ColumnError(
                f"{listing([*others, *matrices])}: several lists, with covariance matrices. Say which belong "
                f"together, such as mean={others[0] if others else 'my_means'!r}, cov={matrices[0]!r}"
            )
        if with_bars:
            texts = listing([f"{f} ({', '.join(map(str, self.known[f]))})" for f in with_bars])
            raise ColumnError(
                f"several columns are lists with error bars: {texts}; say which are meant, such as "
                f"mean={with_bars[0]!r}, std={self.known[with_bars[0]][0].columns[0]!r}"
            )
        if lists and "mean" not in lists and not any(map(derived, lists)):  # draws of each row's distribution
            return {"draws": lists}
        raise ColumnError(self.no_errors())

    def _scalars(self, features: Sequence[str] | None) -> Keywords:
        """Scalar features, of which the caller has named some, or some of their error bars."""
        asked = self.asked
        dictionaries = [value for value in asked.errors.values() if isinstance(value, Mapping)]
        keys = [key if isinstance(key, tuple) else (key,) for value in dictionaries for key in value]
        named = {feature for key in keys for feature in key}
        searched = features is None and not named
        if searched:
            features = self._of_patterns()
        elif features is None:
            require_all(named, self.names)
            features = [name for name in self.names if name in named]
        assert features is not None
        bars = {f: bar for f, bar in asked.scalar_bars(features).items() if not searched or self._has(bar)}
        require_all((name for feature, bar in bars.items() for name in (feature, *bar.columns)), self.names)
        for feature, bar in bars.items():
            if feature not in features:
                raise ColumnError(
                    f"{bar} is given as the error bar of {feature!r}, which is not in features="
                )
        variances = self._variances(features)
        by_name = self._parsed.bars([*self.candidates, *(f for f in features if f not in self.candidates)])
        exact = []
        for feature in features:
            if feature in bars:
                continue
            if feature in variances:
                bars[feature] = ErrorBar("var", (variances[feature],))
            elif feature in by_name:
                bars |= self._one_each({feature: by_name[feature]})
            elif asked.exact == "all":
                exact.append(feature)
            else:
                endings = ", ".join(feature + suffix for suffix in SUFFIXES)
                raise ColumnError(
                    f"feature {feature!r} has no error column (looked for {endings}, ...). Name it by "
                    f'std={{{feature!r}: "my_column"}}, or take exact values by exact=[{feature!r}]'
                )
        return self._with_pairs({f: bars[f] for f in features if f in bars}) | {"exact": exact}

    def _of_patterns(self) -> list[str]:
        """The columns for which every pattern names columns that exist."""
        pattern, cov = next(iter(self.asked.errors.values())), self.asked.cov
        if isinstance(cov, str) and len(self.asked.errors) == 1:
            features = [n for n in self.candidates if fill(cov, n, n) in self.candidates] or [*self.known]
        else:
            bars = self.asked.scalar_bars(self.candidates)
            features = [name for name, bar in bars.items() if self._has(bar)]
        if not features:
            meant = {
                name.replace(feature, "{}", 1)
                for feature in self.candidates
                for name in self.candidates
                if feature != name and feature in name
            }
            hint = did_you_mean(pattern, sorted(meant)) if isinstance(pattern, str) else ""
            raise ColumnError(
                f"no column has an error column named {pattern!r}; the columns are "
                f"{listing(self.candidates)}{hint}"
            )
        return features

    def _has(self, bar: ErrorBar) -> bool:
        return all(column in self.candidates for column in bar.columns)

    def _variances(self, features: Sequence[str]) -> dict[str, str]:
        """Variances among the covariances: cov_a_a."""
        cov = self.asked.cov
        if isinstance(cov, str):
            return {f: fill(cov, f, f) for f in features if fill(cov, f, f) in self.names}
        return {a: column for (a, b), column in (cov or {}).items() if a == b}

    def _with_pairs(self, bars: dict[str, ErrorBar]) -> Keywords:
        """Scalar features with their error bars, and the correlations and covariances of pairs of them."""
        features = list(bars)
        roles: Keywords = {"features": features} | roles_of_bars(bars)
        if self.asked.corr is not None or self.asked.cov is not None:
            return roles | _pair_roles(self.asked, features, self.names)
        by_name = named_pairs(self.candidates, features)
        corr = by_name["corr"]
        cov = {p: c for p, c in by_name["cov"].items() if p[0] != p[1] and p not in corr}
        return roles | {"corr": corr or None, "cov": cov or None}

    def _one_each(self, bars: Mapping[str, Sequence[ErrorBar]]) -> dict[str, ErrorBar]:
        """The only error bar of every feature; one question about all that have several."""
        several = {feature: best for feature, each in bars.items() if len(best := best_of(each)) > 1}
        if not several:
            return {feature: of_feature[0] for feature, of_feature in bars.items()}
        texts = [f"{feature} ({', '.join(map(str, of_feature))})" for feature, of_feature in several.items()]
        answer = roles_of_bars({feature: of_feature[0] for feature, of_feature in several.items()})
        features = {"features": [*bars]} if len(bars) > 1 else {}
        typed = ", ".join(f"{role}={value!r}" for role, value in (features | answer).items())
        raise ColumnError(
            f"columns with several error columns: {listing(texts)}; say which to use, such as {typed}"
        )

    def _beside_mean(self, mean: str) -> dict[str, str]:
        """The error columns called `cov`, `std`, `var`, ...; none where rows are exact points."""
        present = {role: name for role, name in self._kinds().items() if name != mean}
        if len(present) > 1 and {*present} != {"factor", "var"}:
            raise ColumnError(
                f"the columns {listing(present.values())} all look like error bars; say which one to use, "
                f"such as {next(iter(present))}={next(iter(present.values()))!r}"
            )
        return present


def proposed(asked: Columns, table: NamesAndTypes, look: Look) -> Columns:
    """Return what a table that is refused may be meant to be: likely error bars, and exact numbers."""
    numeric = {name for name in table.names if table.types[name] == "number"}
    parsed = ErrorNames(table.names, numeric, look)
    bars = {value: best_of(each)[0] for value, each in parsed.bars().items() if value != asked.target}
    named = {column for doubt in parsed.doubts for column in (*doubt.of[:1], *doubt.bar.columns)}
    named |= {column for value, bar in bars.items() for column in (value, *bar.columns)}
    named |= {*filter(IDENTIFIER.search, table.names), *parsed.suspects, asked.target or ""}
    free = [name for name in table.names if name in numeric and name not in named]
    doubts = (*parsed.doubts, *parsed.owned(parsed.suspects, {}, named))
    read = Columns(asked.target, found=Found(True, doubts=doubts)).with_bars(bars)
    roles = read.of_kinds("error bar") | roles_with(read, [doubt for doubt in doubts if doubt.is_likely])
    columns = Columns(
        asked.target, exact=free or None, found=Found(doubts=doubts, suspects=frozenset(parsed.suspects))
    ).changed(**roles)
    return columns.with_ignored(table.names)
