"""What the name of a column says: which others it may be the error bar of, if they are there (`names`).

Names of spreadsheets and laboratories are taken in the spelling of catalogues: ``Mass (SD)``, ``Mass standard
deviation (kg)``, ``Uncertainty of Mass``, ``σ(Mass)`` and ``Mass ±`` as ``Mass SD``, ``Mass std (kg)``,
``Uncertainty Mass``, ``std Mass`` and ``Mass err``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
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
