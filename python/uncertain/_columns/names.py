"""Whose error bar a column is, by its name: the conventions of catalogues and laboratories.

Idea: a column is the error bar of another if taking one error word out of its name leaves the other's name.
That covers suffixes (``flux_err``, ``x1ERR``), prefixes (``e_Vmag``, ``sigma_FeH``) and infixes
(``psfMagErr_u`` beside ``psfMag_u``, ``MAGERR_AUTO``) by one rule, and needs the other column to be there,
so that few words are mistaken. Two columns that differ by a side (``_err1``/``_err2``, ``_upper``/
``_lower``, ``_16``/``_84``) are the two arms or limits of one error bar, also where word and side stand apart
(``err_x_lo``/``err_x_hi``). Letters that may mean something else (``dx``, ``eTeff``, ``s_x``, ``x_e``,
``euR``/``edR``, ``x_ep``/``x_em``) count only for what has no other error bar, in columns of numbers; if
these are negative somewhere, they are values (``preprocessing/_empty.py``). Rejected: a list of suffixes
(finds one catalogue in three), and looking at the numbers of all columns (a choice must not change with the
rows).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .claims import APART_SIDE, SEPARATORS, SIDE, UPPER, WORDS, Claim, Kind, claims_in

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
