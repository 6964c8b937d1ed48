"""Names of error columns: one grammar for archives, laboratories and spreadsheets.

A column is the error bar of another if taking one *mark* out of its name (`rules`) leaves the other's name,
whatever its separators and capitals. The rest may also be the name of the value without a word for "value"
(``VA.STD.ERR`` of ``VA.EST``). In a table of numbers it may be an abbreviation of a column on the left
(``siglogM`` right of ``logMsun``), or nothing (``Error`` right of ``Age``): `error_columns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, reduce
from statistics import NormalDist
from typing import Literal, NamedTuple

from .rules import LIMIT, LONG_SIDE, PLACES, SEPARATORS, SIDE, UPPER, VALUE_WORDS, VARIANCES, WORD, derived

Kind = Literal["std", "var", "arms", "limits"]
"""What an error column holds: one number, or an arm or a limit, which come in pairs."""

_AS_WORDS = (
    (re.compile(r"(?i:\bst(?:andard|d|\.)?[_. -]*dev(?:iation|\.)?(?![a-z0-9]))"), "std"),
    (re.compile(r"(?i:\bst(?:andard|d|\.)[_. -]*err(?:or|\.)?(?![a-z0-9]))"), "stderr"),
    (re.compile(r"(?i:(?<![a-z])s\. ?(e|d)\.(?![a-z]))"), r"s\1"),
    (
        re.compile(
            r"(?i:[ée]cart[_ -]?type|standardabweichung|desviaci[oó]n[_ ](?:est[aá]ndar|t[ií]pica)"
            r"|deviazione[_ ]standard)"
        ),
        "std",
    ),
    (re.compile(r"(?i:mess(?:unsicherheit|fehler))"), "err"),
    (re.compile(rf"(?i:(?<![a-z])(rand|joint|tot)(?=(?:{WORD})(?![a-z])))"), r"\1_"),
    (re.compile(r"(?<![0-9.])(?:1[_ -]?(?:σ|(?i:sigma))|σ)"), "std"),
    (re.compile(r"\s*(?:±|\+/-|\+-)\s*"), " err "),
    (re.compile(r"(?<=[\w)\]]) ?\+$"), " plus"),
    (re.compile(r"(?<=[\w)\]]) ?[-−]$"), " minus"),
    # u(x) of the Guide to the Expression of Uncertainty in Measurement.
    (
        re.compile(rf"^(?i:u|{WORD})\s*[(\[](?P<base>.+?)[)\]](?P<unit>\s+[(\[].+[)\]])?$"),
        r"std \g<base>\g<unit>",
    ),
    (re.compile(rf"[_ ]?[(\[]\s*(?P<word>(?i:{WORD}))\s*[)\]]"), r" \g<word>"),
    (re.compile(rf"\b(?P<word>(?i:{WORD}))[_ ](?i:of|in|on)[_ ]"), r"\g<word> "),
)
"""Phrases and symbols as the words of catalogues."""


def joined(name: str) -> str:
    """Return a name without separators."""
    return re.sub(r"[_.\- ]", "", name)


def folded(name: str) -> str:
    """Return a name without separators and capitals."""
    return joined(name).lower()


def phrased(name: str) -> str:
    """Return the name with plain words for what it writes as a symbol, a phrase or in brackets."""
    return reduce(lambda text, way: way[0].sub(way[1], text), _AS_WORDS, name.strip()).strip()


# -- coverage, and shares of the value

_LEVELS = r"(?P<p>50|68(?:[.,]\d+)?|75|80|90|95(?:[.,]\d+)?|98|99(?:[.,]\d+)?)"
_INTERVAL = (
    r"(?:(?:c|cr)\.?i\.?|hdi|hpd|conf(?:idence)?(?:[ _-]*(?:intervals?|limits?|level))?"
    r"|credible(?:[ _-]*interval)?)(?![a-z])"
)
_SIGMAS = r"(?:[ -]?(?:stderr|s\.? ?e\.?m?\.?|s\.? ?d\.?|std)|[ _-]?(?:σ|sigmas?))(?![a-z0-9])"
_COVERAGE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\d.]){_LEVELS}\s*(?:%|pct|percent)?[ _-]*(?:(?P<interval>{_INTERVAL})|c\.?l\.?(?![a-z]))",
        rf"(?<![a-z])(?:(?P<interval>{_INTERVAL})|cl)[ _-]?{_LEVELS}(?!\d)\s*%?",
        r"(?P<side>(?<![a-z])(?-i:[lu]))_?(?P<p>68|90|95|99)(?!\d)",
        rf"(?P<word>(?<![a-z])(?:{WORD}|u))[_ ]?{_LEVELS}(?!\d)",
        rf"(?P<word>(?<![a-z])(?:{WORD}|u))[_ ]?k(?P<k>[23])(?![a-z0-9])",
        rf"(?<![\d.]){_LEVELS}\s*%",
        rf"(?P<side>(?<![a-z])(?:{LONG_SIDE}))[_ ]?{_LEVELS}(?!\d)",
        rf"(?<![\d.]){_LEVELS}[_ ]?(?=(?:{LONG_SIDE}|[lu])(?![a-z]))",
        r"(?<![\d.])(?P<tail>97\.5|2\.5) ?%",
        r"\bk ?= ?(?P<k>\d(?:\.\d+)?)",
        rf"(?<![\d.])(?P<k>[1-6](?:\.\d+)?){_SIGMAS}",
        r"(?<![\d.a-z])(?P<k>[1-6]) ?s(?![a-z0-9])",
        rf"(?P<interval>(?<![a-z]){_INTERVAL})",
        r"(?P<interval>(?<=[a-z])(?-i:CI)(?![a-z0-9]))",
    )
)
_SHARES = (
    (re.compile(r"(?i)%?\s*(?<![a-z])(?:p?rs[de]|cv)(?![a-z])[_.\s]*[(\[]?\s*(?:%|pct|perc(?:ent)?)?\s*[)\]]?"),
     " err ", 0.01),
    (re.compile(rf"(?i)({WORD}|±)[_. -]?[(\[]? ?(?:pct|percent|perc|%) ?[)\]]?(?![a-z])"), r"\1", 0.01),
    (re.compile(rf"(?i)(?:(?<![a-z])(?:pct|percent|perc)|%)[_. -]?({WORD})(?![a-z])"), r"\1", 0.01),
    (re.compile(rf"(?i)({WORD})[_. -](?:rel|relative|frac|fractional)(?![a-z])"), r"\1", 1.0),
    (re.compile(rf"(?i)(?<![a-z])(?:rel|relative|frac|fractional)[_. -]?({WORD})(?![a-z])"), r"\1", 1.0),
)  # fmt: skip
_INTERVALS = re.compile(r"(?i)(?<![a-z])[lu]c[li](?![a-z0-9])|expanded|whisker|(?<=_\d\d\dM$)")
"""Marks of an interval that stay in a name."""
_MARGIN = re.compile(r"(?i)(?<![a-z])(?:margins?[ _.]of[ _.]error|moe)(?![a-z])")
_UNIT = re.compile(r"[_ ]?[(\[](?P<unit>[^()\[\]]*(?:\([^()\[\]]*\)[^()\[\]]*)*)[)\]]$")


class Told(NamedTuple):
    """What the name of an error column tells of its numbers."""

    text: str
    """The name with one word for its mark."""
    sigmas: float | None = None
    """Standard deviations that it is; None where the name does not tell."""
    share: float = 0.0
    """Of the value that 1 means: .01 for per cent; 0 for the unit of the value."""
    is_interval: bool = False
    """Is it called a confidence interval, or a margin of error?"""


@cache
def told(name: str) -> Told:
    """Return what a name tells of coverage and of shares of the value."""
    text, sigmas, share, is_interval = name, None, 0.0, bool(_INTERVALS.search(name))
    if _MARGIN.search(text):
        text, is_interval = _MARGIN.sub(" err ", text), True
    for pattern in _COVERAGE:
        match = pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        number, word, side = groups.get("k"), groups.get("word"), groups.get("side")
        level = "95" if groups.get("tail") else groups.get("p")
        is_interval |= bool(groups.get("interval"))
        if sigmas is None and (number or level):
            sigmas = float(number) if number else sigmas_of(float(str(level).replace(",", ".")) / 100)
        before, after = text[: match.start()] + (word or side or ""), text[match.end() :]
        mark = " err " if (number or word) and not has_word(f"{before} {after}") else " "
        text = re.sub(r"[(\[]\s*[)\]]", " ", f"{before}{mark}{after}")
    for pattern, plain, one in _SHARES:
        if pattern.search(text):
            text, share = pattern.sub(plain, text), one
            break
    text = phrased(text.strip())
    text = re.sub(r"\berr +(?=err\b)", "", re.sub(r"([_. -])[_ ]+", r"\1", text)).strip("_-,. ")
    return Told(text, sigmas, share, is_interval)


def sigmas_of(level: float) -> float:
    """Return the half width of the interval of this level, in standard deviations."""
    return 1.0 if 0.68 <= level <= 0.684 else NormalDist().inv_cdf((1.0 + level) / 2.0)


@cache
def unit_of(name: str) -> str | None:
    """Return the unit in brackets at the end of a name; None without, and for coverage or an error word."""
    match = _UNIT.search(name)
    if match is None or match["unit"].lower() in VALUE_WORDS:
        return None
    text, sigmas, share, is_interval = told(match["unit"])
    return None if sigmas or share or is_interval or has_word(text) else match["unit"].strip()


def without_unit(name: str) -> str:
    """Return the name without the unit, or the word for a value, in brackets at its end."""
    match = _UNIT.search(name)
    is_value = match is not None and match["unit"].lower() in VALUE_WORDS
    return (_UNIT.sub("", name) if is_value or unit_of(name) is not None else "") or name


_QUANTILE = re.compile(
    r"^(?P<rest>(?:.*?[_. -])??)(?P<letter>(?:[pq]|pct|perc|quantile)[_ ]?)?"
    r"(?P<number>0?[._]?\d{1,2}(?:[._]\d)?|0\.\d+|025|975) ?"
    r"(?P<sign>%|(?:st|nd|rd|th)(?:[_ ]?p(?:c|erc)\w*)?|)$",
    re.IGNORECASE,
)


@cache
def quantile_of(name: str) -> tuple[str, float, str] | None:
    """Return the rest of a name that ends with a quantile, the quantile in per cent, and the letter in front
    of it; None for others, and for the median."""
    match = _QUANTILE.match(name)
    if match is None:
        return None
    number, letter = match["number"].replace("_", "."), match["letter"] or ""
    percent = float(number) * (100.0 if number.startswith("0.") and letter else 1.0)
    number = letter.lower() * (letter in ("q", "Q")) + match["number"]
    percent = {"025": 2.5, "975": 97.5, "q1": 25.0, "q3": 75.0}.get(number, percent)
    is_one = letter or match["sign"] or (percent in (16.0, 84.0) and match["rest"])
    is_one = is_one and 0.0 < percent < 100.0 and percent != 50.0
    return (match["rest"], percent, letter) if is_one else None


# -- what a name may be the error bar of


class Reading(NamedTuple):
    """One way to read a name: what is left of it without its mark, and what the mark says."""

    rest: str
    kind: Kind
    place: int | None = None
    """Which pair of sides; None for an error bar of one column."""
    upper: bool = False
    apart: bool = False
    """Does the side stand apart from the error word, so that it may belong to the rest?"""


_PLAIN = re.compile(rf"(?=({WORD}))", re.IGNORECASE)
_SIDE_BEHIND = re.compile(rf"^[_.\- ]?(?P<side>{SIDE})(?![a-z0-9])", re.IGNORECASE)
_SIDE_BEFORE = re.compile(rf"(?:^|(?<=[_.\- ]))(?P<side>{SIDE})[_.\- ]?$", re.IGNORECASE)
_SIDE_APART = re.compile(rf"(?<=[a-z0-9])[_.\- ](?P<side>{LONG_SIDE})$", re.IGNORECASE)
_LIMITS = (
    re.compile(rf"(?<![a-z0-9])(?P<side>upper|lower|hi|lo|plus|minus){LIMIT}(?![a-z0-9])", re.IGNORECASE),
    re.compile(r"(?<=[a-zA-Z0-9])(?P<side>Upper|Lower|UPPER|LOWER)(?![a-z0-9])"),
    re.compile(r"(?<![a-z0-9])(?P<side>l|u)(?:cl|ci|b|lim|bound)(?![a-z0-9])", re.IGNORECASE),
)
_WIDE_LIMITS = re.compile(rf"(?P<side>{LONG_SIDE}|(?<![a-z0-9])[ulr]){LIMIT}(?![a-z0-9])", re.IGNORECASE)
"""Of what is called an interval."""


def readings(text: str, *, wide: bool = False) -> Iterator[Reading]:
    """Yield what a name may be; `wide`: it is called an interval."""
    is_sided = False
    for match in _PLAIN.finditer(text):
        start, end = match.span(1)
        left, right = text[:start], text[end:]
        behind, before = _SIDE_BEHIND.match(right), _SIDE_BEFORE.search(left)
        if behind and stands_out(text, start, end, closed=True):
            is_sided = True
            yield _sided(left + right[behind.end() :], "arms", behind["side"])
        if not stands_out(text, start, end):
            continue
        yield Reading(left + right, "var" if match[1].lower() in VARIANCES else "std")
        if before and (not right or right[0] in SEPARATORS):
            is_sided = True
            yield _sided(left[: before.start()] + right, "arms", before["side"])
        for rest in (left + right.lstrip(SEPARATORS), left.rstrip(SEPARATORS) + right):
            if apart := _SIDE_APART.search(rest):
                yield _sided(rest[: apart.start()], "arms", apart["side"])._replace(apart=True)
                break
    for pattern in (*_LIMITS, *((_WIDE_LIMITS,) if wide else ())):
        if pattern is _WIDE_LIMITS and is_sided:
            return
        for match in pattern.finditer(text):
            is_sided = True
            yield _sided(text[: match.start()] + text[match.end() :], "limits", match["side"])


def _sided(rest: str, kind: Kind, side: str) -> Reading:
    side = {"r": "u"}.get(side.lower(), side.lower())  # the left and the right end of an interval
    return Reading(rest, kind, PLACES[side], side in UPPER)


def has_word(text: str) -> bool:
    """Is there an error word in it?"""
    text = phrased(text)
    return any(stands_out(text, *m.span(1)) for m in _PLAIN.finditer(text))


def stands_out(text: str, start: int, end: int, *, closed: bool = False) -> bool:
    """Is a piece a word of its own: between separators, ends and changes of case?"""
    left = start == 0 or text[start - 1] in SEPARATORS
    right = end == len(text) or text[end] in SEPARATORS or closed
    if end - start < 3:
        return left and right
    camel = start > 0 and text[start].isupper() and not text[start - 1].isupper()
    return left or camel or right or (text[end - 1].islower() and text[end].isupper())


def looks_like_error(name: str) -> bool:
    """Does the name have an error word between separators or at an end, or the level of an interval?"""
    known = told(name)
    return (
        any(re.fullmatch(WORD, token, re.IGNORECASE) for token in re.split(r"[_.\- ]", known.text))
        or (known.is_interval and known.sigmas is not None)
        or bool(
            re.search(
                r"[a-z0-9](?:Err|ERR|Error|Sigma|Std|Unc|Uncertainty)(?![a-z])|[A-Z](?:ERR|UNC)$|^e_", name
            )
            or re.search(r"[a-z]S[ED]$|^s[ed](?=[A-Z]|\d+i?$)", name)
            or re.search(r"(?:err|error|sigma)[12pm]?$", name)
            or re.search(r"(?:^|[_.\- ])(?i:sig)$|^sig[_.\- ](?=\w)", name)
            or derived(name)
        )
    )
