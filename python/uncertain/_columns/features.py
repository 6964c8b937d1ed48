"""Which columns become features, and by which of them as error bars, of those that have no other role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .._data.options import did_you_mean
from .._data.typing import ColumnType, Keywords
from ..exceptions import ColumnError
from .bars import (
    KINDS,
    arguments_from,
    error_bars_from,
    fill,
    is_list_column,
    listing,
    pair_columns_from,
    require,
    require_all,
)
from .columns import Columns
from .found import PairsOfTarget
from .hints import no_error_bar, no_errors
from .names import PAIR_WORDS, ErrorBar, ErrorNames, is_called_matrix, named_pairs

Types = Mapping[str, ColumnType]
"""What columns hold in each row, by name."""


class Chosen(NamedTuple):
    """What was chosen."""

    roles: Keywords
    """Roles of features, with what the caller left open."""
    bars: dict[str, ErrorBar]
    """The error bars of scalar features."""
    unsure: frozenset[str]
    """Columns that letters alone call standard deviations; lower arms may have signs."""
    target_pairs: PairsOfTarget
    """Columns that are called like covariances of the target and a feature."""


def choose_features(
    asked: Columns,
    parsed: ErrorNames,
    of_target: Sequence[ErrorBar],
    candidates: Sequence[str],
    bars: Mapping[str, list[ErrorBar]],
    types: Types,
) -> Chosen:
    """The features among the candidates, which have these error bars by their names, beside the target's."""
    choice = _Choice(parsed, candidates, bars, types)
    own = {*(asked.categorical or ()), *(() if asked.exact == "all" else asked.exact or ())}
    features = None if asked.features is None else [f for f in asked.features if f not in own]
    roles = choice.means_and_errors(asked, features)
    by_name = [*of_target, *(bar for found in choice.known.values() for bar in found)]
    unsure = frozenset(bar.columns[0] for bar in by_name if not bar.sure and bar.kind == "std")
    pairs = _pairs_by_name(asked, roles.get("features") or (), parsed.names)
    return Chosen(roles, choice.bars, unsure, pairs)


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
        self.known = {
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
        found = self.known
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
        if lists:
            listed = listing([f"{f} ({', '.join(map(str, self.known[f]))})" for f in lists])
            raise ColumnError(
                f"several columns are lists with error bars: {listed}; say which are meant, such as "
                f"mean={lists[0]!r}, std={self.known[lists[0]][0].columns[0]!r}"
            )
        if every_list:  # without error bars: draws of each row's distribution
            return {"draws": every_list}
        raise ColumnError(no_errors(self.candidates))

    def _with_matrix(self, matrices: Sequence[str], others: Sequence[str]) -> Keywords:
        """The one column of covariance matrices, and the one of lists that they belong to."""
        if len(matrices) == 1 and len(others) == 1:
            return {"mean": others[0], "cov": matrices[0]}
        raise ColumnError(
            f"of the lists {listing([*others, *matrices])} some look like covariance matrices; say which "
            f"belong together, such as mean={others[0] if others else 'my_means'!r}, cov={matrices[0]!r}"
        )

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
                raise ColumnError(no_error_bar(feature))
        bars = {f: bars[f] for f in features if f in bars}
        return self._with_pairs(bars, corr, {} if cov is None else {"cov": cov}) | {"exact": exact}

    def _of_patterns(self, errors: Keywords) -> list[str]:
        """The columns for which every pattern names columns that exist."""
        pattern = next(iter(errors.values()))
        if set(errors) == {"cov"} and isinstance(pattern, str):
            features = [n for n in self.candidates if fill(errors["cov"], n, n) in self.candidates]
            features = features or list(self.known)
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


def _pairs_by_name(asked: Columns, features: Sequence[str], names: Sequence[str]) -> PairsOfTarget:
    """The columns that are called like covariances of the target and a feature.

    A pattern that the caller gave for pairs of features is looked for first.
    """
    target = asked.target
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
