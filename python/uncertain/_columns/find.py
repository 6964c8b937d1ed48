"""Fills in the columns that the caller left open, by name and type; a guess that may be wrong is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from .._data.options import did_you_mean
from .._data.typing import ColumnType, Keywords
from ..exceptions import ColumnError
from .bars import (
    KINDS,
    arguments_from,
    error_bars_from,
    fill,
    is_list_column,
    limit_columns,
    listing,
    pair_columns_from,
    require,
    require_all,
)
from .columns import OF_LAWS, OF_ROWS, Columns
from .found import PairsOfTarget
from .hints import hints
from .names import PAIR_WORDS, ErrorBar, ErrorNames, is_called_matrix, named_pairs
from .roles import check_roles

SUFFIXES = ("_err", "_error", "_std", "_se", "_sigma")
"""What messages give as examples of error columns; `ErrorNames` knows more."""

Types = Mapping[str, ColumnType]
"""What columns hold in each row, by name."""


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
    chosen = _Choice(parsed, candidates, bars, table.types)
    features = asked.features
    if features is not None:
        features = [f for f in features if f not in exact and f not in categorical]
    roles = chosen.means_and_errors(asked, features)
    roles |= {"exact": (*roles.get("exact", ()), *exact), "categorical": categorical, **beside}
    roles |= {role: getattr(asked, role) for role in OF_LAWS}
    roles["draws"] = (*roles.get("draws", ()), *draws)
    columns = Columns.settled(roles, chosen.bars, names, target_limit)
    if asked.exact == "all":
        more = [n for n in chosen.candidates if n not in columns.used and table.types[n] == "number"]
        roles["exact"] = (*(columns.exact or ()), *more)
        columns = Columns.settled(roles, chosen.bars, names, target_limit)
    if not columns.used:
        raise ColumnError(_no_errors(chosen.candidates))
    if asked.limits is not None:
        roles["limits"] = limit_columns(asked.limits, columns.scalars, names)
        columns = Columns.settled(roles, chosen.bars, names, target_limit)
    ignored = columns.found.ignored
    like_others = {c for role in ("target", "groups") for c in _like(parsed, beside.get(role), ignored)}
    return columns.with_found(
        automatic=asked.mean is None and asked.features is None and not asked.errors,
        target_stds=tuple(bar.columns[0] for bar in of_target if bar.kind == "std"),
        target_bars=tuple(str(bar) for bar in of_target if bar.kind != "std"),
        unsure=chosen.unsure(of_target),
        target_pairs=pairs if pairs.corr or pairs.cov else _pairs_by_name(asked, columns, names),
        unnamed=frozenset({*like_others, *empty}),
    )


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


def _like(parsed: ErrorNames, column: str | None, names: Sequence[str]) -> set[str]:
    """Those of the names that are called like error bars of a column."""
    if column is None or not names:
        return set()
    bars = parsed.bars([column, *(name for name in names if name != column)]).get(column, [])
    return {name for bar in bars if bar.sure for name in bar.columns}


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


def _pairs_by_name(asked: Columns, columns: Columns, names: Sequence[str]) -> PairsOfTarget:
    """The columns that are called like covariances of the target and a feature.

    A pattern that the caller gave for pairs of features is looked for first.
    """
    target, features = columns.target, columns.features
    of_target: dict[str, dict[str, str]] = {"corr": {}, "cov": {}}
    if target is None or not features:
        return PairsOfTarget()
    by_name = named_pairs(paired, [*features, target]) if (paired := _paired(names)) else {}
    for kind, own in of_target.items():
        argument = getattr(asked, kind)
        if isinstance(argument, str):
            for feature in features if argument.count("{}") == 2 else ():
                for option in (fill(argument, feature, target), fill(argument, target, feature)):
                    if option in names:
                        own[feature] = option
        elif argument is None and by_name:
            pairs = by_name[kind].items()
            own.update({a if b == target else b: c for (a, b), c in pairs if a != b and target in (a, b)})
    for feature in of_target["corr"]:
        of_target["cov"].pop(feature, None)
    return PairsOfTarget(of_target["corr"], of_target["cov"])


def _paired(names: Iterable[str]) -> list[str]:
    """Those that may be called after a pair of features: most tables have none."""
    words = [word for words in PAIR_WORDS.values() for word in words]
    return [name for name in names if any(word in name.lower() for word in words)]


def flag_columns(limits: Any, names: Iterable[str]) -> set[str]:
    """The columns that an argument about limits may name."""
    if isinstance(limits, str):
        return {fill(limits, name) for name in names} & {*names}
    return set(limits.values()) if isinstance(limits, Mapping) else set()


class _Choice:
    """The columns of one table that may become features."""

    def __init__(
        self,
        parsed: ErrorNames,
        candidates: Sequence[str],
        bars: Mapping[str, list[ErrorBar]],
        types: Types,
    ) -> None:
        self.names = parsed.names
        self.candidates = candidates
        self.types = types
        self._parsed = parsed
        self._bars = {
            feature: own
            for feature, own in bars.items()
            if own[0].sure or all(types[name] == "number" for name in (feature, *own[0].columns))
        }
        """The error bars by name; unsure ones are columns of numbers beside columns of numbers."""
        self.bars: dict[str, ErrorBar] = {}
        """Those of scalar features, as they were chosen."""

    def means_and_errors(self, asked: Columns, features: Sequence[str] | None) -> Keywords:
        """The roles of features, with what the caller left open."""
        mean, errors, corr = asked.mean, asked.errors, asked.corr
        exact_all = asked.exact == "all"
        lone = asked.exact is not None or bool(asked.categorical or asked.draws)
        scalar = {kind: v for kind, v in errors.items() if not is_list_column(kind, v)}
        if features is not None and errors and not scalar:
            return {"features": features, "corr": corr, **errors}
        if scalar or features is not None:
            return self._scalars(features, scalar, corr, exact_all=exact_all)
        found = self._bars
        automatic = mean is None and not errors
        if automatic and "mean" in self.candidates and (not found or set(KINDS) & set(self.candidates)):
            mean = "mean"
        elif errors:
            mean = require(mean or "mean", self.names, "name the means with mean=... or features=...")
        if mean is not None:
            errors = errors or self._beside_mean(mean, automatic and not lone)
            return {"mean": mean, "corr": corr, **errors}
        lists = [f for f in found if self.types[f] == "list"]
        bars_of_lists = found[lists[0]] if lists else []
        found = {f: bars for f, bars in found.items() if f not in lists}
        if lists and not found and len(lists) == 1:
            bar = self._one(lists[0], bars_of_lists)
            return {"mean": lists[0], bar.kind: bar.columns[0]}
        if found:
            return self._with_pairs(self._one_each(found), corr, {})
        if lone:
            return {}
        every_list = [name for name in self.candidates if self.types[name] == "list"]
        matrices = [name for name in every_list if is_called_matrix(name)]
        if matrices:
            return self._with_matrix(matrices, [name for name in every_list if name not in matrices])
        if every_list:  # without error bars: draws of each row's distribution
            return {"draws": every_list}
        raise ColumnError(_no_errors(self.candidates))

    def _with_matrix(self, matrices: Sequence[str], others: Sequence[str]) -> Keywords:
        """The one column of covariance matrices, and the one of lists that they belong to."""
        if len(matrices) == 1 and len(others) == 1:
            return {"mean": others[0], "cov": matrices[0]}
        raise ColumnError(
            f"of the lists {listing([*others, *matrices])} some look like covariance matrices; say which "
            f"belong together, such as mean={others[0] if others else 'my_means'!r}, cov={matrices[0]!r}"
        )

    def unsure(self, of_target: Sequence[ErrorBar]) -> frozenset[str]:
        """The columns that letters alone call standard deviations; lower arms may have signs."""
        bars = [*of_target, *(bar for own in self._bars.values() for bar in own)]
        return frozenset(bar.columns[0] for bar in bars if not bar.sure and bar.kind == "std")

    def _scalars(
        self, features: Sequence[str] | None, errors: Keywords, corr: Any, *, exact_all: bool
    ) -> Keywords:
        """Scalar features, of which the caller has named some error bars."""
        named = [
            f
            for v in errors.values()
            if isinstance(v, Mapping)
            for k in v
            for f in (k if isinstance(k, tuple) else (k,))
        ]
        searched = features is None and not named
        if searched:
            features = self._of_patterns(errors)
        elif features is None:
            require_all(known := {*named}, self.names)
            features = [n for n in self.names if n in known]
        assert features is not None
        bars = {
            f: bar for f, bar in error_bars_from(features, errors).items() if not searched or self._has(bar)
        }
        require_all((name for feature, bar in bars.items() for name in (feature, *bar.columns)), self.names)
        for feature, bar in bars.items():
            if feature not in features:
                raise ColumnError(
                    f"{bar} is given as the error bar of {feature!r}, which is not in features="
                )
        cov = errors.get("cov")
        own = self._variances(cov, features)
        found = self._parsed.bars([*self.candidates, *(f for f in features if f not in self.candidates)])
        exact = []
        for feature in features:
            if feature in bars:
                continue
            if feature in own:
                bars[feature] = ErrorBar("var", (own[feature],))
            elif feature in found:
                bars[feature] = self._one(feature, found[feature])
            elif exact_all:
                exact.append(feature)
            else:
                raise ColumnError(_no_error_bar(feature))
        bars = {f: bars[f] for f in features if f in bars}
        return self._with_pairs(bars, corr, {} if cov is None else {"cov": cov}) | {"exact": exact}

    def _of_patterns(self, errors: Keywords) -> list[str]:
        """The columns for which every pattern names columns that exist."""
        pattern = next(iter(errors.values()))
        if set(errors) == {"cov"} and isinstance(pattern, str):
            features = [n for n in self.candidates if fill(errors["cov"], n, n) in self.candidates]
            features = features or list(self._bars)
        else:
            bars = [(n, error_bars_from([n], errors)) for n in self.candidates]
            features = [n for n, bar in bars if n in bar and self._has(bar[n])]
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

    def _variances(self, cov: Any, features: Sequence[str]) -> dict[str, str]:
        """Variances among the covariances: cov_a_a."""
        if isinstance(cov, Mapping):
            return {a: column for (a, b), column in cov.items() if a == b}
        if cov is None:
            return {}
        return {f: fill(cov, f, f) for f in features if fill(cov, f, f) in self.names}

    def _with_pairs(self, bars: dict[str, ErrorBar], corr: Any, errors: Keywords) -> Keywords:
        """Scalar features with their error bars, and the correlations and covariances of pairs of them."""
        features = list(bars)
        if corr is not None:
            pair_columns_from(corr, features, self.names)  # must be there
            corr = corr or None  # {} says that there are none
        elif "cov" not in errors and (paired := _paired(self.candidates)):
            by_name = named_pairs(paired, features)
            corr = by_name["corr"] or None
            covs = {pair: c for pair, c in by_name["cov"].items() if pair not in by_name["corr"]}
            errors = {"cov": covs}
        if isinstance(errors.get("cov"), Mapping):
            errors = {"cov": {pair: c for pair, c in errors["cov"].items() if pair[0] != pair[1]}}
            errors = errors if errors["cov"] else {}
        self.bars = bars
        return {"features": features, "corr": corr, **errors}

    def _one_each(self, found: Mapping[str, Sequence[ErrorBar]]) -> dict[str, ErrorBar]:
        """The only error bar of every feature; one question about all that have several."""
        several = {feature: bars for feature, bars in found.items() if len(bars) > 1}
        if len(several) < 2:
            return {f: self._one(f, bars) for f, bars in found.items()}
        texts = [f"{feature} ({', '.join(map(str, bars))})" for feature, bars in several.items()]
        answer = arguments_from({feature: bars[0] for feature, bars in several.items()})
        answer = {kind: dict(a) if isinstance(a, Mapping) else a for kind, a in answer.items()}
        typed = ", ".join(f"{kind}={argument!r}" for kind, argument in answer.items())
        raise ColumnError(
            f"columns with several error columns: {listing(texts)}; say which ones to use, such as "
            f"features={[*found]!r}, {typed}"
        )

    def _one(self, feature: str, bars: Sequence[ErrorBar]) -> ErrorBar:
        """The only error bar of a feature."""
        if len(bars) > 1:
            columns = [str(bar) for bar in bars]
            first = bars[0].columns if len(bars[0].columns) > 1 else bars[0].columns[0]
            argument = {"var": "var", "limits": "bounds"}.get(bars[0].kind, "std")
            raise ColumnError(
                f"column {feature!r} has several error columns ({', '.join(columns)}); "
                f"say which one to use, such as {argument}={{{feature!r}: {first!r}}}"
            )
        return bars[0]

    def _beside_mean(self, mean: str, required: bool) -> dict[str, str]:
        """The error columns called `cov`, `std`, `var`, ...; none is legal only when `mean` was asked for."""
        kinds = [kind for kind in KINDS if kind != "bounds"]
        known = {"covariance": "cov", "variance": "var"} | {kind: kind for kind in kinds}
        present = {kind: name for name, kind in known.items() if name in self.candidates and name != mean}
        if len(present) > 1 and set(present) != {"factor", "var"}:
            raise ColumnError(
                f"the columns {listing(present.values())} all look like error bars; say which one to use, "
                f"such as {next(iter(present))}={next(iter(present.values()))!r}"
            )
        if not present and required:
            raise ColumnError(
                f"there is a column {mean!r} but no error bars ({', '.join(kinds)}) beside it; name them, "
                f"such as cov='my_column', or pass mean={mean!r} alone to call every row an exact point"
            )
        return present


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


def _no_error_bar(feature: str) -> str:
    endings = ", ".join(feature + s for s in SUFFIXES)
    return (
        f"feature {feature!r} has no error column (looked for {endings} and the like); name them with a "
        f'pattern, such as std="{{}}_uncertainty", or a dictionary, such as std={{{feature!r}: '
        f'"my_column"}}; exact=[{feature!r}] takes it as exact values'
    )


def _no_errors(candidates: Sequence[str]) -> str:
    kinds = "/".join(kind for kind in KINDS if kind not in ("bounds",))
    meant = "".join(f"{hint}; " for hint in hints(candidates))
    return (
        f"no error bars found among the columns {listing(candidates)}: {meant}neither columns called mean "
        f"and {kinds}, nor pairs such as x and x{', x'.join(SUFFIXES)}, e_x or xErr; name them, such as "
        'features=["a", "b"], std="{}_uncertainty", or std={"a": "my_error_of_a"}; '
        'exact="all" takes all numbers as exact (scikit-learn\'s own subject)'
    )
