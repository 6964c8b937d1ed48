"""Names of error columns: the conventions of catalogues and laboratories.

A column is the error bar of another if taking one error word out of its name leaves the other's name. That
covers suffixes (``flux_err``, ``x1ERR``), prefixes (``e_Vmag``, ``sigma_FeH``) and infixes (``psfMagErr_u``
beside ``psfMag_u``, ``MAGERR_AUTO``) by one rule, and needs the other column to be there, so that few words
are mistaken. Two columns that differ by a side (``_err1``/``_err2``, ``_upper``/``_lower``, ``_16``/``_84``)
are the two arms or limits of one error bar, also where word and side stand apart (``err_x_lo``/``err_x_hi``).
Letters that may mean something else (``dx``, ``eTeff``, ``s_x``, ``x_e``, ``euR``/``edR``, ``x_ep``/``x_em``)
count only for what has no other error bar, in columns of numbers; if these are negative somewhere, they are
values. Names of spreadsheets are taken in the spelling of catalogues: ``Mass (SD)``, ``Mass standard
deviation (kg)``, ``Uncertainty of Mass``, ``σ(Mass)`` and ``Mass ±`` as ``Mass SD``, ``Mass std (kg)``,
``Uncertainty Mass``, ``std Mass`` and ``Mass err``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal

Kind = Literal["std", "var", "arms", "limits"]
"""What an error column holds: one number, or an arm or a limit, which come in pairs."""

VARIANCES = ("variance", "var")
WORDS = (
    *("uncertainty", "uncert", "unc", "errors", "error", "err", "stderr", "stddev", "stdev", "std", "sigma"),
    *("spread", *VARIANCES, "sem", "se", "sd"),
)
"""Words for an error bar; the last three only between separators, where they are no part of other words."""

_WORD = "|".join(sorted(WORDS, key=len, reverse=True))
_AS_WORDS = (
    (re.compile(r"(?i:\bst(?:andard|d|\.)?[_. -]*dev(?:iation|\.)?(?![a-z0-9]))"), "std"),
    (re.compile(r"(?i:\bst(?:andard|d|\.)[_. -]*err(?:or|\.)?(?![a-z0-9]))"), "stderr"),
    (re.compile(r"(?i:uncertainties(?![a-z]))"), "uncertainty"),
    # One sigma, and never two or three of them.
    (re.compile(r"(?<![0-9.])(?:1[_ -]?(?:σ|(?i:sigma))|σ)"), "std"),
    (re.compile(r"\s*(?:±|\+/-|\+-)\s*"), " err "),
    # u(x) of the Guide to the Expression of Uncertainty in Measurement.
    (re.compile(rf"^(?i:u|{_WORD})\s*[(\[](?P<base>.+)[)\]]$"), r"std \g<base>"),
    (re.compile(rf"[_ ]?[(\[]\s*(?P<word>(?i:{_WORD}))\s*[)\]]"), r" \g<word>"),
    (re.compile(rf"\b(?P<word>(?i:{_WORD}))[_ ](?i:of|in|on)[_ ]"), r"\g<word> "),
)

UPPER = ("upper", "plus", "pos", "high", "up", "hi", "max", "1", "p", "u")
LOWER = ("lower", "minus", "neg", "low", "down", "lo", "min", "2", "m", "l")
"""Which arm of an asymmetric error bar, place by place the opposite of the list above."""

SEPARATORS = "_.- "
SIDE = "|".join(sorted((*UPPER, *LOWER), key=len, reverse=True))
_PLAIN = re.compile(rf"(?=({_WORD}))", re.IGNORECASE)
_ARMS = (
    re.compile(rf"(?=((?P<word>{_WORD})[_.\- ]?(?P<side>{SIDE})(?![a-z0-9])))", re.IGNORECASE),
    re.compile(rf"(?=((?<![a-z0-9])(?P<side>{SIDE})[_.\- ]?(?P<word>{_WORD})(?![a-z0-9])))", re.IGNORECASE),
)
APART_SIDE = "|".join(side for side in sorted((*UPPER, *LOWER), key=len, reverse=True) if len(side) > 1)
"""Those of more than one letter, which may stand apart from the error word."""
_AT_END = re.compile(rf"^(?P<base>.+)[_.\- ](?P<side>{APART_SIDE})$", re.IGNORECASE)
"""A side at the end of what is left of a name without its error word: err_x_lo, sigma_x_plus."""
_LIMITS = re.compile(r"(?=((?<![a-z0-9])(?P<side>upper|lower|hi|lo)(?![a-z0-9])))", re.IGNORECASE)
_QUANTILE = re.compile(r"(?<=[_.\- ])(?P<letter>[pq]?)(?P<percent>16|84)$", re.IGNORECASE)
"""The quantiles of a Gaussian one standard deviation away, behind a separator."""
_SIDED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("arms", _ARMS[0]),
    ("arms", _ARMS[1]),
    ("limits", _LIMITS),
)


@dataclass(frozen=True)
class Claim:
    """A column may be the error bar of one of these, by a word in its name."""

    bases: tuple[str, ...]
    kind: Kind
    place: int | None = None
    """Which pair of words says that it is one of two columns; None for an error bar of one."""
    upper: bool = False
    first: bool = False
    """Does only the first of the bases count that is there?"""


MEDIANS = ("med", "median", "mean")
QUANTILES = -2
"""The place of quantiles among the pairs."""
APART = -3
"""The place of sides that stand apart from the error word: up has low beside it as well as down."""


def claims_in(names: Sequence[str]) -> dict[str, list[Claim]]:
    """By name what it says."""
    return {name: _claims(words) for name, words in zip(names, spelled(names), strict=True)}


def spelled(names: Sequence[str]) -> list[str]:
    """The names with plain words for what they write as a symbol, a phrase or in brackets."""
    return [reduce(lambda name, way: way[0].sub(way[1], name), _AS_WORDS, name).strip() for name in names]


def looks_like_error(column: str) -> bool:
    """Does the name have an error word between separators, or at an end?"""
    [column] = spelled([column])
    tokens = re.split(r"[_.\- ]", column)
    return any(re.fullmatch(_WORD, token, re.IGNORECASE) for token in tokens) or bool(
        re.search(r"[a-z0-9](?:Err|ERR|Error|Sigma|Std|Unc)(?![a-z])|(?:err|error|sigma)[12pm]?$|^e_", column)
    )


def _claims(column: str) -> list[Claim]:
    claims = []
    for match in _PLAIN.finditer(column):
        word, start, end = match[1], match.start(1), match.end(1)
        if _stands_out(column, word, start, end):
            kind: Kind = "var" if word.lower() in VARIANCES else "std"
            rests = _without(column, start, end)
            claims.append(Claim(rests, kind))
            claims += [claim for rest in rests if (claim := _apart(rest))]
    for pair, pattern in _SIDED:
        for match in pattern.finditer(column):
            side, word = match["side"].lower(), match.groupdict().get("word")
            if word is None or _stands_out(column, word, match.start("word"), match.end("word"), side):
                upper = side in UPPER
                place = (UPPER if upper else LOWER).index(side)
                claims.append(Claim(_without(column, match.start(1), match.end(1)), pair, place, upper))
    if quantile := _QUANTILE.search(column):
        start, upper = quantile.start(), quantile["percent"] == "84"
        medians = (column[: quantile.start("percent")] + "50", *(column[:start] + word for word in MEDIANS))
        claims.append(Claim((*medians, column[: start - 1]), "limits", QUANTILES, upper, first=True))
    if column[:2] in ("e_", "E_"):
        claims.append(Claim((column[2:],), "arms", -1, column[0] == "E"))
    return claims


def _apart(rest: str) -> Claim | None:
    """What is left of a name without its error word may end with a side, and is no column itself."""
    match = _AT_END.match(rest)
    if match is None:
        return None
    return Claim((rest, match["base"]), "arms", APART, match["side"].lower() in UPPER, first=True)


def _stands_out(column: str, word: str, start: int, end: int, side: str = "") -> bool:
    """Is the word a word of its own: between separators, ends and changes of case?"""
    left = start == 0 or column[start - 1] in SEPARATORS
    right = end == len(column) or column[end] in SEPARATORS or bool(side)
    if len(word) < 3:
        return left and right
    camel = start > 0 and column[start].isupper() and not column[start - 1].isupper()
    closed = right or (column[end - 1].islower() and column[end].isupper())
    return (left or camel or closed) and (closed or left or camel)


def _without(column: str, start: int, end: int) -> tuple[str, ...]:
    """What is left of a name when a piece and one separator beside it are taken out."""
    left, right = column[:start], column[end:]
    bare_left, bare_right = left.rstrip(SEPARATORS), right.lstrip(SEPARATORS)
    options = (bare_left + right, left + bare_right, bare_left + bare_right)
    return tuple(filter(None, dict.fromkeys(options)))


SPREAD = "_spread"
"""The ending of columns that say by their name that rows are populations, not readings."""
MEANS = ("mean_{}", "{}_mean", "avg_{}", "{}_avg", "mean {}", "{} mean")
"""Columns of the mean of a quantity, which is no column itself."""
VALUES = ("{}_value", "{}.value", "{} value", "value_{}", "{}_val", "{}.val", "val_{}")
"""Columns of its value, as records are called that were flattened: x_value and x_error."""
OF_POPULATIONS = ("std", "stdev", "stddev", "sd", "variance", "var")
"""Words that beside a mean are about the population that it is the mean of."""
PAIR_WORDS = {"corr": ("correlation", "corr", "rho"), "cov": ("covariance", "covar", "cov")}
"""Words for what two features have in common."""

_LETTERS = (
    re.compile(rf"^(?P<base>.+)_e_?(?P<side>{SIDE})$", re.IGNORECASE),
    re.compile(rf"^e_?(?P<side>{SIDE})_(?P<base>.+)$", re.IGNORECASE),
    re.compile(rf"^e_(?P<base>.+)_(?P<side>{APART_SIDE})$", re.IGNORECASE),
)
"""The letter e and a side: x_ep and x_em, ehi_x and elo_x, e_x_up and e_x_low."""


@dataclass(frozen=True)
class ErrorBar:
    """The error bar of a column."""

    kind: Kind
    columns: tuple[str, ...]
    """One column, or two: the upper arm and the lower one, or the lower limit and the upper one."""
    sure: bool = True
    """False for letters that may also mean something else, such as a difference for d."""

    def __str__(self) -> str:
        return " and ".join(self.columns)


@dataclass
class ErrorNames:
    """The names of a table's columns, each looked through once for words of error bars."""

    names: Sequence[str]

    @cached_property
    def _claims(self) -> dict[str, list[Claim]]:
        return claims_in(self.names)

    def bars(self, among: Sequence[str] | None = None) -> dict[str, list[ErrorBar]]:
        """For every column, the error bars that its name has among these; only those that have some.

        An error bar has none of its own, and one that could belong to two columns belongs to neither.
        """
        names = self.names if among is None else among
        known = _Known(names)
        bars: dict[str, list[ErrorBar]] = {}
        arms: dict[tuple[str, str, int], dict[bool, str]] = {}
        for column in names:
            claims = self._claims[column]
            for owner, kind in _bases(column, claims, known):
                bars.setdefault(owner, []).append(ErrorBar(kind, (column,)))
            for claim in claims:
                if claim.place is not None:
                    for base in _sided(column, claim, known):
                        arms.setdefault((base, claim.kind, claim.place), {})[claim.upper] = column
        for (base, pair_kind, _), pair in arms.items():
            if len(pair) == 2:
                bar = (
                    ErrorBar("limits", (pair[False], pair[True]))
                    if pair_kind == "limits"
                    else ErrorBar("arms", (pair[True], pair[False]))
                )
                bars.setdefault(base, []).append(bar)
        bars = _unambiguous(bars)
        taken = {column for own in bars.values() for bar in own for column in bar.columns}
        for value, bar in _by_letters(names, known):
            if not {value, *bar.columns} & (taken | bars.keys()):
                bars[value] = [bar]
                taken |= {*bar.columns}
        return {name: bars[name] for name in names if name in bars}

    def beside_target(
        self, target: str | None, readable: Sequence[str], taken: Collection[str]
    ) -> tuple[list[ErrorBar], list[str], dict[str, list[ErrorBar]]]:
        """The error bars of the target among the `readable` columns, the columns that are neither these nor
        `taken`, and the error bars of those."""
        of_target = [] if target is None else self.bars(readable).get(target, [])
        own = {column for bar in of_target if bar.sure for column in bar.columns}
        rest = [name for name in self.names if name not in own and name not in taken]
        return of_target, rest, self.bars(rest)


def error_bars(names: Sequence[str]) -> dict[str, list[ErrorBar]]:
    """The error bars of all columns by their names, see `ErrorNames`."""
    return ErrorNames(names).bars()


def named_pairs(names: Sequence[str], features: Iterable[str]) -> dict[str, dict[tuple[str, str], str]]:
    """Columns of correlations ("corr") and of covariances ("cov") of two features: ``a_b_corr``, ``cov_a_b``.

    Covariances may be of one feature twice: its variance.
    """
    known = set(features)
    found: dict[str, dict[tuple[str, str], str]] = {"corr": {}, "cov": {}}
    for kind, words in PAIR_WORDS.items():
        for column in names:
            for pair in _pairs_in(column, words, known):
                if (pair[0] != pair[1] or kind == "cov") and pair[::-1] not in found[kind]:
                    found[kind].setdefault(pair, column)
    return found


def is_called_matrix(column: str) -> bool:
    """Is one of its words that for a covariance?"""
    return any(part in PAIR_WORDS["cov"] for part in re.split(r"[_.\- ]", column.lower()))


def _pairs_in(column: str, words: Sequence[str], known: set[str]) -> Iterator[tuple[str, str]]:
    lower = column.lower()
    for word in words:
        rest = None
        if lower.startswith(word) and lower[len(word) :][:1] in tuple(SEPARATORS):
            rest = column[len(word) + 1 :]
        elif lower.endswith(word) and lower[: -len(word)][-1:] in tuple(SEPARATORS):
            rest = column[: -len(word) - 1]
        if rest is None:
            continue
        for k in range(1, len(rest)):
            if rest[k] in SEPARATORS and rest[:k] in known and rest[k + 1 :] in known:
                yield rest[:k], rest[k + 1 :]
        return


_UNIT = re.compile(
    rf"[_ ]?[(\[](?!\s*(?:(?:{'|'.join(WORDS)})\s*[)\]]|st(?:andar)?d|1?[ _]?[±σ]))[^()\[\]]*[)\]]$",
    re.IGNORECASE,
)
"""A unit in brackets at the end of a name, and no error word: Na (mmol/l)."""


class _Known:
    """Column names, found as they are or, where that is unique, in another case, or without their unit."""

    def __init__(self, names: Iterable[str]) -> None:
        self.exact = set(names)
        self.alike: dict[str, list[str]] = {}
        for name in self.exact:
            for key in {name.lower(), _UNIT.sub("", name).lower()}:
                self.alike.setdefault(key, []).append(name)

    def one(self, name: str) -> str | None:
        if name in self.exact:
            return name
        alike = self.alike.get(name.lower()) or self.alike.get(_UNIT.sub("", name).lower(), [])
        return alike[0] if len(alike) == 1 else None


def _by_letters(names: Sequence[str], known: _Known) -> Iterator[tuple[str, ErrorBar]]:
    """(column, the error bar it may have) by prefixes and suffixes of one or two letters."""
    for column in names:
        value = known.one(column[1:].lstrip("_")) if column[:1] in tuple("dδΔ") else None
        if column[:2] == "eu" and "ed" + column[2:] in known.exact and column[2:] in known.exact:
            yield column[2:], ErrorBar("arms", (column, "ed" + column[2:]), sure=False)
        elif column[:1] == "e" and column[1:2].isupper():
            value = column[1:]
        elif column[:2] == "s_":
            value = column[2:]
        elif column[-2:] == "_e":
            value = column[:-2]
        elif "sig" in column:  # WISE's w1sigmpro of w1mpro
            value = column.replace("sig", "", 1)
        if value in known.exact:
            yield value, ErrorBar("std", (column,), sure=False)
    yield from _arms_by_letters(names, known)


def _arms_by_letters(names: Sequence[str], known: _Known) -> Iterator[tuple[str, ErrorBar]]:
    """Pairs of columns by the letter e and a side."""
    pairs: dict[tuple[str, int], dict[bool, str]] = {}
    for column in names:
        for form, pattern in enumerate(_LETTERS):
            match = pattern.match(column)
            if match is not None and match["base"] in known.exact:
                pairs.setdefault((match["base"], form), {})[match["side"].lower() in UPPER] = column
    for (base, _), pair in pairs.items():
        if len(pair) == 2:
            yield base, ErrorBar("arms", (pair[True], pair[False]), sure=False)


def _bases(column: str, claims: Iterable[Claim], known: _Known) -> Iterator[tuple[str, Kind]]:
    """(the column it may be the error bar of, kind), once each."""
    seen: set[str] = set()
    for claim in claims:
        for base in _present(column, claim, known) if claim.place is None else ():
            if base not in seen:
                seen.add(base)
                yield base, claim.kind
    # VizieR's e_Vmag; with E_Vmag beside it, which is the upper arm, the lower one.
    value = known.one(column[2:]) if column.startswith("e_") and "E" + column[1:] not in known.exact else None
    if value and value not in seen:
        seen.add(value)
        yield value, "std"
    if not seen:
        yield from _of_mean(column, [claim for claim in claims if claim.place is None], known)


def _sided(column: str, claim: Claim, known: _Known) -> list[str]:
    """The columns that it may be an arm or a limit of; an arm of a mean, too."""
    found = [*_present(column, claim, known)]
    return found if found or claim.kind != "arms" else [mean for mean, _ in _of_mean(column, [claim], known)]


def _of_mean(column: str, claims: Iterable[Claim], known: _Known) -> Iterator[tuple[str, Kind]]:
    """The mean that a column is the error of, where the quantity itself is no column: mean_x and x_error."""
    for claim in claims:
        for base in claim.bases:
            for form in (*MEANS, *VALUES):
                mean = known.one(form.format(base))
                if mean is not None and mean != column:
                    yield mean, claim.kind
                    return


def _present(column: str, claim: Claim, known: _Known) -> Iterator[str]:
    """The bases that are columns."""
    for option in claim.bases:
        base = known.one(option)
        if base is not None and base != column:
            yield base
            if claim.first:
                return


def _unambiguous(found: dict[str, list[ErrorBar]]) -> dict[str, list[ErrorBar]]:
    """Without error bars of error bars, and without those that could be of two columns."""
    owners: dict[str, set[str]] = {}
    for base, bars in found.items():
        for bar in bars:
            for column in bar.columns:
                owners.setdefault(column, set()).add(base)
    kept: dict[str, list[ErrorBar]] = {}
    for base, bars in found.items():
        # x_err of x may have an x_err_std of its own, and is no feature for that.
        if base in owners and not owners[base] <= {base}:
            continue
        own = [
            bar
            for bar in bars
            if all(
                {o for o in owners[c] if not (o in owners and owners[o] - {o})} == {base} for c in bar.columns
            )
        ]
        # The same columns may be seen as two things (x_err_u: of x_u, or the upper arm of x's).
        unique = list(dict.fromkeys(own))
        if unique:
            kept[base] = unique
    return kept
