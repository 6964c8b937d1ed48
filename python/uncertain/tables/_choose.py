"""Filling in the columns that the caller left open, by name and type; a guess that could be wrong is refused.

A numeric column without an error bar may be an identifier, or an exact value, and only the caller knows: it
is left out, and `left_out` says so with the argument that would take it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ..exceptions import ColumnError
from ._columns import Columns
from ._names import ErrorBar, error_bars, looks_like_error, pair_columns
from ._roles import (
    KINDS,
    arguments_of,
    bars_of,
    check_roles,
    fill,
    is_list_column,
    limits_of,
    listing,
    pairs_of,
    require,
)

SUFFIXES = ("_err", "_error", "_std", "_se", "_sigma")
"""What messages give as examples of error columns; `error_bars` knows more."""

TypeOf = Callable[[str], Literal["number", "list", "other"]]


def choose_columns(
    names: Sequence[str],
    target: str | None,
    *,
    mean: str | None = None,
    features: Sequence[str] | None = None,
    corr: Any = None,
    target_std: str | None = None,
    groups: str | None = None,
    sample_weight: str | None = None,
    exact: Sequence[str] | Literal["all"] | None = None,
    categorical: Sequence[str] | None = None,
    limits: Any = None,
    target_limit: str | None = None,
    empty: Collection[str] = (),
    type_of: TypeOf | None = None,
    **errors: Any,
) -> Columns:
    """Fill in the roles that the caller left open.

    Parameters
    ----------
    names : the table's column names, in order.
    target, target_std, groups, sample_weight, target_limit : the target's column, that of its error bars,
        those of the rows' groups and weights, and that of flags of targets that are limits; None for what
        is not a column.
    mean, features, corr, exact, categorical, limits, **errors : what the caller fixed; keys of `errors` are
        `KINDS`.
    empty : error columns without any number, which count as absent.
    type_of : what a column holds; None takes everything for numbers.

    Raises
    ------
    ColumnError : a column is missing, or the choice would be a guess.
    ParameterError : two roles that exclude each other were given.
    """
    names = [n for n in names if isinstance(n, str)]
    given = {kind: column for kind in KINDS if (column := errors.get(kind)) is not None}
    roles = {
        "mean": mean, "features": features, "corr": corr, "exact": exact, "categorical": categorical,
        "limits": limits,
    }  # fmt: skip
    check_roles({name: value for name, value in (roles | given).items() if value is not None})
    beside = (target, target_std, groups, sample_weight)
    listed = [column for kind, column in given.items() if is_list_column(kind, column)]
    named_exact = () if exact is None or exact == "all" else tuple(exact)
    categories = tuple(categorical or ())
    if target == "label":  # the default, of a caller who may not have chosen
        require(target, names, 'target="..." names the column to predict')
    for column in (*beside, mean, *(features or ()), *named_exact, *categories, *listed):
        if column is not None:
            require(column, names)
    _refuse_two_roles(beside, mean, features, listed, named_exact, categories)
    # The target's error bars know the answer as well as anybody: no features.
    flags = {target_limit, *flag_columns(limits, names)}
    own = {*empty, *beside, *(target_columns(names, target)), *named_exact, *categories, *flags}
    chosen = _Choice(names, [n for n in names if n not in own], type_of or (lambda name: "number"))
    automatic = mean is None and features is None and not given
    if features is not None:
        features = [f for f in features if f not in named_exact and f not in categories]
    lone = exact is not None or bool(categories)
    columns = chosen.means_and_errors(mean, features, given, corr, exact_all=exact == "all", lone=lone)
    columns = replace(
        columns, target=target, target_std=target_std, groups=groups, sample_weight=sample_weight,
        automatic=automatic,
        exact=(*columns.exact, *named_exact), categorical=categories,
    )  # fmt: skip
    if exact == "all":
        used = columns.used()
        more = [n for n in chosen.candidates if n not in used and chosen.type_of(n) == "number"]
        columns = replace(columns, exact=(*columns.exact, *more))
    if not (columns.mean or columns.features or columns.exact or columns.categorical):
        raise ColumnError(_no_errors(chosen.candidates))
    own_limits = limits_of(limits, [*columns.features, *columns.exact], names)
    columns = replace(columns, limits=own_limits, target_limit=target_limit)
    used = columns.used() | {name for name in (*beside, target_limit) if name is not None}
    return replace(columns, ignored=tuple(n for n in names if n not in used))


def flag_columns(limits: Any, names: Iterable[str]) -> set[str]:
    """The columns that an argument about limits may name."""
    if isinstance(limits, str):
        return {fill(limits, name) for name in names} & {*names}
    return set(limits.values()) if isinstance(limits, Mapping) else set()


def left_out(columns: Columns, type_of: TypeOf, empty: Collection[str] = ()) -> str | None:
    """The warning about numeric columns that were not taken; None where the caller chose, or none is left.

    `empty` ones have been warned about.
    """
    groups = columns.groups if isinstance(columns.groups, str) else None
    own = target_columns(columns.ignored, columns.target) | target_columns(columns.ignored, groups)
    free = [n for n in columns.ignored if n not in own and n not in empty]
    numeric = [n for n in free if type_of(n) == "number"]
    suspects = [n for n in numeric if looks_like_error(n)]
    plain = [n for n in numeric if n not in suspects]
    parts = []
    if plain:
        parts.append(
            f"left out, because no column is its error bar: {listing(plain, 20)}; "
            f'exact={plain[:3]!r} takes such columns as exact values, exact="all" takes all'
        )
    if suspects:
        parts.append(
            f"left out, though it looks like an error bar: {listing(suspects, 20)}; "
            f'std={{"feature": {suspects[0]!r}}} says which feature it belongs to'
        )
    if not parts:
        return None
    return "; ".join(parts) + " (exact=[] takes none and says nothing)"


def target_columns(names: Iterable[str], target: str | None) -> set[str]:
    """All columns that are called like error bars of the target, also asymmetric ones."""
    if target is None:
        return set()
    bars = error_bars([*names] if target in names else [target, *names]).get(target, [])
    return {column for bar in bars if bar.sure for column in bar.columns}


def target_errors(names: Sequence[str], target: str | None) -> list[str]:
    """The columns that are called like standard deviations of the target."""
    if target is None:
        return []
    bars = error_bars(names).get(target, [])
    return [bar.columns[0] for bar in bars if bar.kind == "std" and bar.sure]


class _Choice:
    """The columns of one table that may become features."""

    def __init__(self, names: Sequence[str], candidates: Sequence[str], type_of: TypeOf) -> None:
        self.names = names
        self.candidates = candidates
        self.type_of = type_of

    def means_and_errors(
        self,
        mean: str | None,
        features: Sequence[str] | None,
        errors: dict[str, Any],
        corr: Any,
        *,
        exact_all: bool,
        lone: bool,
    ) -> Columns:
        """With what the caller left open; `lone`: there are features without error bars as well."""
        scalar = {kind: v for kind, v in errors.items() if not is_list_column(kind, v)}
        if features is not None and errors and not scalar:
            return Columns(features=tuple(features), errors=errors, corr=corr)
        if scalar or features is not None:
            return self._scalars(features, scalar, corr, exact_all=exact_all)
        found = error_bars(self.candidates)
        automatic = mean is None and not errors
        if automatic and "mean" in self.candidates and (not found or set(KINDS) & set(self.candidates)):
            mean = "mean"
        elif errors:
            mean = require(mean or "mean", self.names, "name the means with mean=... or features=...")
        if mean is not None:
            return Columns(
                mean=mean, errors=errors or self._beside_mean(mean, automatic and not lone), corr=corr
            )
        lists = [f for f in found if self.type_of(f) == "list"]
        found = {f: bars for f, bars in found.items() if f not in lists}
        if lists and not found and len(lists) == 1:
            bar = self._one(lists[0], error_bars(self.candidates)[lists[0]])
            return Columns(mean=lists[0], errors={bar.kind: bar.columns[0]})
        if found:
            return self._with_pairs({f: self._one(f, bars) for f, bars in found.items()}, corr, {})
        if lone:
            return Columns()
        raise ColumnError(_no_errors(self.candidates))

    def _scalars(
        self, features: Sequence[str] | None, errors: dict[str, Any], corr: Any, *, exact_all: bool
    ) -> Columns:
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
            known = {require(feature, self.names) for feature in named}
            features = [n for n in self.names if n in known]
        assert features is not None
        bars = {f: bar for f, bar in bars_of(features, errors).items() if not searched or self._has(bar)}
        for feature, bar in bars.items():
            require(feature, self.names)
            for column in bar.columns:
                require(column, self.names)
            if feature not in features:
                raise ColumnError(
                    f"{bar} is given as the error bar of {feature!r}, which is not in features="
                )
        cov = errors.get("cov")
        own = self._variances(cov, features)
        found = error_bars([*self.candidates, *(f for f in features if f not in self.candidates)])
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
        columns = self._with_pairs(bars, corr, {} if cov is None else {"cov": cov})
        return replace(columns, exact=tuple(exact))

    def _of_patterns(self, errors: dict[str, Any]) -> list[str]:
        """The columns for which every pattern names columns that exist."""
        pattern = next(iter(errors.values()))
        if set(errors) == {"cov"} and isinstance(pattern, str):
            features = [n for n in self.candidates if fill(errors["cov"], n, n) in self.candidates]
            features = features or list(error_bars(self.candidates))
        else:
            bars = [(n, bars_of([n], errors)) for n in self.candidates]
            features = [n for n, bar in bars if n in bar and self._has(bar[n])]
        if not features:
            raise ColumnError(
                f"no column has an error column named {pattern!r}; the columns are {listing(self.candidates)}"
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

    def _with_pairs(self, bars: dict[str, ErrorBar], corr: Any, errors: dict[str, Any]) -> Columns:
        """Scalar features with their error bars, and the correlations and covariances of pairs of them."""
        features = list(bars)
        if corr is not None:
            pairs_of(corr, features, self.names)  # must be there
            corr = corr or None  # {} says that there are none
        elif "cov" not in errors:
            found = pair_columns(self.candidates, features, "corr")
            corr = found or None
            covs = {
                pair: c
                for pair, c in pair_columns(self.candidates, features, "cov").items()
                if pair not in found
            }
            covs = {pair: c for pair, c in covs.items() if pair[0] != pair[1]}
            errors = {"cov": covs} if covs else {}
        if isinstance(errors.get("cov"), Mapping):
            errors = {"cov": {pair: c for pair, c in errors["cov"].items() if pair[0] != pair[1]}}
            errors = errors if errors["cov"] else {}
        return Columns(features=tuple(features), errors=arguments_of(bars) | errors, corr=corr)

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
        present = {kind: kind for kind in kinds if kind in self.candidates and kind != mean}
        if len(present) > 1 and set(present) != {"factor", "var"}:
            raise ColumnError(
                f"the columns {listing(list(present))} all look like error bars; say which one to use, "
                f"such as {next(iter(present))}={next(iter(present))!r}"
            )
        if not present and required:
            raise ColumnError(
                f"there is a column {mean!r} but no error bars ({', '.join(kinds)}) beside it; name them, "
                f"such as cov='my_column', or pass mean={mean!r} alone to call every row an exact point"
            )
        return present


def _refuse_two_roles(
    beside: tuple[str | None, str | None, str | None, str | None],
    mean: str | None,
    features: Sequence[str] | None,
    listed: Sequence[str],
    exact: Sequence[str],
    categorical: Sequence[str],
) -> None:
    target, target_std, groups, sample_weight = beside
    read = {
        "target": [target], "target_std": [target_std], "features": features or (), "mean": [mean],
        "error bars": listed, "exact": exact, "categorical": categorical,
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
        "pattern, "
        f'such as std="{{}}_uncertainty", or a dictionary, such as std={{{feature!r}: "my_column"}}; '
        f"exact=[{feature!r}] takes it as exact values"
    )


def _no_errors(candidates: Sequence[str]) -> str:
    kinds = "/".join(kind for kind in KINDS if kind not in ("bounds",))
    return (
        f"no error bars found among the columns {listing(candidates)}: neither columns called mean and "
        f"{kinds}, nor pairs such as x and x{', x'.join(SUFFIXES)}, e_x or xErr; name them, such as "
        'features=["a", "b"], std="{}_uncertainty", or std={"a": "my_error_of_a"}; '
        'exact="all" takes all numbers as exact (scikit-learn\'s own subject)'
    )
