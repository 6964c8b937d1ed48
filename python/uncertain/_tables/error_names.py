"""Names of error columns: one grammar for archives, laboratories and spreadsheets.

A column is the error bar of another if taking one *mark* out of its name leaves the other's name:

    mark                       examples                                          meaning
    error word                 flux_err, x1ERR, e_Vmag, sigma_FeH, psfMagErr_u   one standard deviation
    error word and side        koi_err1/koi_err2, err_x_lo/err_x_hi, E_w/e_w     arms
    side                       x_lower/x_upper, MassUpper/MassLower              arms or limits, level unsaid
    quantile                   x_16/x_84, x_p05/x_p95, x_2.5%/x_97.5%            limits of this level
    coverage                   Age 2SE, Age ± (2σ), U (k=2), d_95CI_low/_high    divided by it
    share of the value         Ca RSD%, flux_err_pct, rel_err_x                  times the value
    letter                     dx, eTeff, s_x, x_e, x_u                          by contents, if nothing else

The rest may also be the name of the value without a word for "value" (``VA.STD.ERR`` of ``VA.EST``). In a
table of numbers it may be an abbreviation of the column on the left (``siglogM`` right of ``logMsun``), or
nothing (``Error`` right of ``Age``). Letters and places count only in columns of numbers, and what such a
column holds confirms or refuses it (`contents`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from statistics import NormalDist
from typing import Literal, NamedTuple

Kind = Literal["std", "var", "arms", "limits"]
"""What an error column holds: one number, or an arm or a limit, which come in pairs."""

VARIANCES = ("variance", "var")
WORDS = (
    *("uncertainty", "uncert", "unc", "errors", "error", "err", "stderr", "stddev", "stdev", "std", "sigma"),
    *("spread", *VARIANCES, "esd", "sem", "se", "sd"),
)
"""Words for an error bar; the last three only between separators, where they are no part of other words."""
UPPER = ("upper", "plus", "pos", "high", "up", "hi", "max", "1", "p", "u")
LOWER = ("lower", "minus", "neg", "low", "down", "lo", "min", "2", "m", "l")
"""Which arm of an asymmetric error bar, place by place the opposite of the list above."""
MEDIANS = ("med", "median", "mean")
VALUE_WORDS = ("mean", "avg", "average", "value", "val", "estimate", "est", "best", "median")
"""Words of a value beside its error bar, where the quantity itself is no column: x_mean and x_se."""
BEST, PARTIAL, OTHERS = (
    ("prop", "propagated", "total", "tot"),
    ("int", "internal"),
    ("diag", "meas", "formal", "expanded", "combined", "standard", "u"),
)
"""Words for the whole of an error bar, for the part of it that repeated readings show, and for neither."""
SPREAD = "_spread"
"""The ending of columns that say by their name that rows are populations, not readings."""
OF_POPULATIONS = ("std", "stdev", "stddev", "sd", "variance", "var")
"""Words that beside a mean are about the population that it is the mean of."""
PAIR_WORDS = {"corr": ("correlation", "corr", "rho"), "cov": ("covariance", "covar", "cov")}
"""Words for what two features have in common."""
SEPARATORS = "_.- "
QUANTILES, APART = -2, -3
"""Places among the pairs of sides: of quantiles, and of sides that stand apart from the error word."""

_WORD = "|".join(sorted(WORDS, key=len, reverse=True))
_SIDES = sorted((*UPPER, *LOWER), key=len, reverse=True)
SIDE, _LONG_SIDE = "|".join(_SIDES), "|".join(side for side in _SIDES if len(side) > 1)
_AS_WORDS = (
    (re.compile(r"(?i:\bst(?:andard|d|\.)?[_. -]*dev(?:iation|\.)?(?![a-z0-9]))"), "std"),
    (re.compile(r"(?i:\bst(?:andard|d|\.)[_. -]*err(?:or|\.)?(?![a-z0-9]))"), "stderr"),
    (re.compile(r"(?i:(?<![a-z])s\. ?(e|d)\.(?![a-z]))"), r"s\1"),
    (re.compile(r"(?i:uncertainties(?![a-z]))"), "uncertainty"),
    (re.compile(r"(?<![0-9.])(?:1[_ -]?(?:σ|(?i:sigma))|σ)"), "std"),
    (re.compile(r"\s*(?:±|\+/-|\+-)\s*"), " err "),
    # u(x) of the Guide to the Expression of Uncertainty in Measurement.
    (re.compile(rf"^(?i:u|{_WORD})\s*[(\[](?P<base>.+)[)\]]$"), r"std \g<base>"),
    (re.compile(rf"[_ ]?[(\[]\s*(?P<word>(?i:{_WORD}))\s*[)\]]"), r" \g<word>"),
    (re.compile(rf"\b(?P<word>(?i:{_WORD}))[_ ](?i:of|in|on)[_ ]"), r"\g<word> "),
)
"""Phrases and symbols as the words of catalogues."""

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
        rf"(?P<word>(?<![a-z])(?:{_WORD}|u))[ _]?{_LEVELS}(?!\d)",
        rf"(?<![\d.]){_LEVELS}\s*%",
        rf"(?P<side>(?<![a-z])(?:{_LONG_SIDE}))[_ ]?{_LEVELS}(?!\d)",
        rf"(?<![\d.]){_LEVELS}[_ ]?(?=(?:{_LONG_SIDE})(?![a-z]))",
        r"(?<![\d.])(?P<tail>97\.5|2\.5) ?%",
        r"\bk ?= ?(?P<k>\d(?:\.\d+)?)",
        rf"(?<![\d.])(?P<k>[1-6](?:\.\d+)?){_SIGMAS}",
        r"(?<![\d.a-z])(?P<k>[1-6]) ?s(?![a-z0-9])",
        rf"(?P<interval>(?<![a-z]){_INTERVAL})",
    )
)
_SHARES = (
    (re.compile(r"(?i)%?\s*(?<![a-z])(?:p?rs[de]|cv)(?![a-z])\s*[(\[]?\s*%?\s*[)\]]?"), " err ", 0.01),
    (re.compile(rf"(?i)({_WORD})[_. -]?[(\[]? ?(?:pct|percent|perc|%) ?[)\]]?(?![a-z])"), r"\1", 0.01),
    (re.compile(rf"(?i)(?:(?<![a-z])(?:pct|percent|perc)|%)[_. -]?({_WORD})(?![a-z])"), r"\1", 0.01),
    (re.compile(rf"(?i)({_WORD})[_. -](?:rel|relative|frac|fractional)(?![a-z])"), r"\1", 1.0),
    (re.compile(rf"(?i)(?<![a-z])(?:rel|relative|frac|fractional)[_. -]?({_WORD})(?![a-z])"), r"\1", 1.0),
)  # fmt: skip
_INTERVALS = re.compile(r"(?i)(?<![a-z])[lu]c[li](?![a-z0-9])|expanded|(?<=_\d\d\dM$)")
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
    text = _phrased(text.strip())
    text = re.sub(r"\berr +(?=err\b)", "", re.sub(r"([_. -])[_ ]+", r"\1", text)).strip("_-,. ")
    return Told(text, sigmas, share, is_interval)


def sigmas_of(level: float) -> float:
    """Return the half width of the interval of this level, in standard deviations."""
    return 1.0 if 0.68 <= level <= 0.684 else NormalDist().inv_cdf((1.0 + level) / 2.0)


def has_word(text: str) -> bool:
    """Is there an error word in it?"""
    text = _phrased(text)
    return any(_stands_out(text, m[1], m.start(1), m.end(1)) for m in _PLAIN.finditer(text))


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
    return _UNIT.sub("", name) if is_value or unit_of(name) is not None else name


def folded(name: str) -> str:
    """Return a name without separators and capitals."""
    return re.sub(r"[_.\- ]", "", name).lower()


def _phrased(name: str) -> str:
    """Return the name with plain words for what it writes as a symbol, a phrase or in brackets."""
    return reduce(lambda text, way: way[0].sub(way[1], text), _AS_WORDS, name).strip()


# -- what a name claims

_PLAIN = re.compile(rf"(?=({_WORD}))", re.IGNORECASE)
_ARMS = (
    re.compile(rf"(?=((?P<word>{_WORD})[_.\- ]?(?P<side>{SIDE})(?![a-z0-9])))", re.IGNORECASE),
    re.compile(rf"(?=((?<![a-z0-9])(?P<side>{SIDE})[_.\- ]?(?P<word>{_WORD})(?![a-z0-9])))", re.IGNORECASE),
)
_AT_END = re.compile(rf"^(?P<base>.+)[_.\- ](?P<side>{_LONG_SIDE})$", re.IGNORECASE)
"""A side at the end of what is left of a name without its error word: err_x_lo, sigma_x_plus."""
_LIMIT = r"(?:[_.\- ]?(?:limits?|lim|bounds?|bnd))?"
_LIMITS = (
    re.compile(rf"(?=((?<![a-z0-9])(?P<side>upper|lower|hi|lo){_LIMIT}(?![a-z0-9])))", re.IGNORECASE),
    re.compile(r"(?=((?<=[a-z0-9])(?P<side>Upper|Lower)(?![a-z0-9])))"),
    re.compile(r"(?=((?<![a-z0-9])(?P<side>l|u)(?:cl|ci|b|lim|bound)(?![a-z0-9])))", re.IGNORECASE),
)
_WIDE_LIMITS = re.compile(
    rf"(?=((?P<side>{_LONG_SIDE}|(?<![a-z0-9])[ul]){_LIMIT}(?![a-z0-9])))", re.IGNORECASE
)
"""Of what is called an interval."""
_QUANTILE = re.compile(
    r"(?<=[_.\- ])(?:(?P<letter>[pq]?)(?P<percent>16|84)|[pq][_ ]?(?P<tail>0?2[._]?5|97[._]?5|0?5|95)"
    r"|(?P<share>2\.5|97\.5|(?:5|95)(?= ?%)) ?%?)$",
    re.IGNORECASE,
)
"""Quantiles of a Gaussian one standard deviation away, or of an interval of 90 or 95 %."""
_LETTER_ARMS = (
    re.compile(rf"^(?P<base>.+)_e_?(?P<side>{SIDE})$", re.IGNORECASE),
    re.compile(rf"^e_?(?P<side>{SIDE})_(?P<base>.+)$", re.IGNORECASE),
    re.compile(rf"^e_(?P<base>.+)_(?P<side>{_LONG_SIDE})$", re.IGNORECASE),
    re.compile(r"^e(?P<side>[ud])(?P<base>.+)$"),
)
"""The letter e and a side: x_ep and x_em, ehi_x and elo_x, e_x_up and e_x_low, eux and edx."""


class Claim(NamedTuple):
    """A column may be the error bar of one of these, by a mark in its name."""

    bases: tuple[str, ...]
    kind: Kind
    place: int | None = None
    """Which pair of words says that it is one of two columns; None for an error bar of one."""
    upper: bool = False
    first: bool = False
    """Does only the first of the bases count that is there?"""


@cache
def claims_of(name: str) -> tuple[tuple[Claim, ...], ...]:
    """Return what a name claims: as it stands, and without words for its coverage."""
    plain, stripped = _phrased(name), told(name)
    groups = [_claims(plain)]
    if stripped.text != plain or stripped.is_interval:
        groups.append(_claims(stripped.text, wide=stripped.is_interval or stripped.sigmas is not None))
    return tuple(tuple(group) for group in groups)


def _claims(column: str, *, wide: bool = False) -> list[Claim]:
    claims = []
    for match in _PLAIN.finditer(column):
        word, start, end = match[1], match.start(1), match.end(1)
        if _stands_out(column, word, start, end):
            kind: Kind = "var" if word.lower() in VARIANCES else "std"
            rests = _without(column, start, end)
            claims.append(Claim(rests, kind))
            claims += [claim for rest in rests if (claim := _apart(rest))]
    for pattern in (*_ARMS, *_LIMITS):
        pair: Kind = "arms" if pattern in _ARMS else "limits"
        claims += [claim for match in pattern.finditer(column) for claim in _sided(column, match, pair)]
    if wide and not any(claim.place is not None for claim in claims):
        claims += [c for match in _WIDE_LIMITS.finditer(column) for c in _sided(column, match, "limits")]
    if (quantile := _QUANTILE.search(column)) is not None:
        claims.append(_of_quantile(column, quantile))
    if column[:2] in ("e_", "E_"):
        claims.append(Claim((column[2:],), "arms", -1, column[0] == "E"))
    return claims


def _sided(column: str, match: re.Match[str], kind: Kind) -> Iterator[Claim]:
    """Yield the claim of a side, which stands beside an error word or alone."""
    side, word = match["side"].lower(), match.groupdict().get("word")
    if word is None or _stands_out(column, word, match.start("word"), match.end("word"), side):
        upper = side in UPPER
        place = (UPPER if upper else LOWER).index(side)
        yield Claim(_without(column, match.start(1), match.end(1)), kind, place, upper)


def _of_quantile(column: str, match: re.Match[str]) -> Claim:
    start, percent = match.start(), match["percent"] or match["tail"] or match["share"]
    upper = percent[0] in "89"
    medians = (column[:start] + (match["letter"] or "") + "50", *(column[:start] + word for word in MEDIANS))
    place = QUANTILES - (0 if match["percent"] else 10 if "2" in percent or "7" in percent else 20)
    return Claim((*medians, column[: start - 1]), "limits", place, upper, first=True)


def _apart(rest: str) -> Claim | None:
    """Return the claim of what is left of a name without its error word, where that ends with a side."""
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
    """Return what is left of a name when a piece and one separator beside it are taken out."""
    left, right = column[:start], column[end:]
    bare_left, bare_right = left.rstrip(SEPARATORS), right.lstrip(SEPARATORS)
    return tuple(filter(None, dict.fromkeys((bare_left + right, left + bare_right, bare_left + bare_right))))


# -- error bars of a table


@dataclass(frozen=True)
class ErrorBar:
    """The error bar of a column."""

    kind: Kind
    columns: tuple[str, ...]
    """One column, or two: the upper arm and the lower one, or the lower limit and the upper one."""
    sure: bool = True
    """False for letters and places, which may also mean something else."""
    sigmas: float = 1.0
    """Standard deviations that it is."""
    share: float = 0.0
    """Of the value that 1 in the column means; 0 for a unit."""
    unit: float = 1.0
    """What leads from its unit to that of the value; of a variance the square root."""

    def __str__(self) -> str:
        return " and ".join(self.columns)

    @property
    def scale(self) -> float:
        """One standard deviation, in units of the column."""
        return self.unit / self.sigmas

    @property
    def is_plain(self) -> bool:
        """Are the numbers in the unit of the value, and one standard deviation?"""
        return self.scale == 1.0 and not self.share

    @property
    def conversion(self) -> str:
        """How the numbers become standard deviations, for people; "" where they are some."""
        level = 2.0 * NormalDist().cdf(self.sigmas) - 1.0
        return (
            ("" if self.unit == 1.0 else f" x {self.unit:.3g} (unit)")
            + ("" if self.sigmas == 1.0 else f" / {self.sigmas:.3g} (level {level:.3g})")
            + (f" {'x' if self.share == 1.0 else '% of'} the value" if self.share else "")
        )


class Doubt(NamedTuple):
    """A column, or a pair, that looks like an error bar and is not read as one."""

    bar: ErrorBar
    of: tuple[str, ...]
    """Columns that it may be the error bar of."""
    why: str
    level: float | None = None
    """A level that such intervals usually have, where none is told."""
    is_likely: bool = False
    """Is it an error bar for all that is known?"""


def read_bar(feature: str, kind: Kind, columns: Sequence[str], level: float | None = None) -> ErrorBar:
    """Return the error bar of a feature in columns of any name, with the coverage and unit that the names
    tell; `level`: the level of the interval, which the caller tells."""
    column = columns[0]
    known = told(column)
    plain = any(feature in claim.bases for claim in claims_of(column)[0] if claim.place is None)
    sigmas = sigmas_of(level) if level is not None else None if plain else known.sigmas
    if sigmas is not None and level is None and len(columns) == 1 and abs(sigmas - 2.0) < 0.05:
        sigmas = 2.0  # what "95 %" means in tables of error bars
    sigmas = _sigmas_of_quantiles(column) if sigmas is None and len(columns) == 2 else sigmas
    unit, of_value = unit_of(column), unit_of(feature)
    share = (
        0.01 if unit in ("%", "percent") and of_value not in ("%", "percent") else known.share * (not plain)
    )
    factor = None if share or kind == "limits" else unit_factor(unit, of_value)
    return ErrorBar(kind, tuple(columns), sigmas=sigmas or 1.0, share=share, unit=factor or 1.0)


def _sigmas_of_quantiles(column: str) -> float | None:
    """Return the standard deviations that quantiles such as x_p05 are away from the middle."""
    match = _QUANTILE.search(column)
    if match is None or match["percent"]:
        return None
    digits = match["tail"] or match["share"]
    return sigmas_of(0.95 if "2" in digits or "7" in digits else 0.9)


def unit_factor(unit: str | None, wanted: str | None) -> float | None:
    """Return what leads from a unit in brackets to another; 1 where one is not told, None where none does."""
    if unit is None or wanted is None or unit.replace(" ", "") == wanted.replace(" ", ""):
        return 1.0
    try:
        from astropy import units

        return float(units.Unit(unit).to(units.Unit(wanted)))
    except (ImportError, ValueError, TypeError):
        return None


_LETTERS = ("d", "δ", "Δ")
"""In front of a name; also D in front of one in capitals."""
_ABBREVIATED = re.compile(
    rf"(?i)^(?:(?P<first>{_WORD}|sig)[_. -]?(?P<rest>.+)|(?P<head>.+?)[_. -](?:{_WORD}|sig))$"
)
_FLAGS = (
    re.compile(r"(?i)^(?P<base>.+?)[_. -]?(?:lim(?:it)?(?:[_. -]?flag)?|l_?flag)$"),
    re.compile(r"(?i)^(?P<base>.+)[_. -](?:ul|ulim|uplim|is_limit|(?:upper|lower)_?lim(?:it)?(?:_flag)?"
               r"|cens(?:ored)?|qual(?:ifier)?|sign|operator|op|symbol)$"),
    re.compile(r"(?i)^(?:l|lim|limit|f_lim|cens(?:ored)?|operator|op)_(?P<base>.+)$"),
)  # fmt: skip
"""Names of columns that may flag limits of another; what they hold decides."""
_ENDS = (
    re.compile(rf"(?i)^(?P<base>.+?)(?:[_. -]?code)?[_. -]?(?P<side>low|high|lo|hi|lower|upper){_LIMIT}$"),
    re.compile(rf"(?i)^(?P<side>low|high|lower|upper){_LIMIT}[_. -](?P<base>.+)$"),
)
_MEMBERS = re.compile(
    r"(?i)^(?:nb|nr|num|number|n)[_. ]?(?:of[_. ])?(?:\d*|star|mem|gal|src|source|obj|spec)s?\w{0,4}$|members"
)
"""Names of counts of members of a group."""
_PARTS = re.compile(r"(?i)^(?:stat|sys|syst|lumi|model|theo|scale|pdf|total|uncorr|corr)\b.*[+-]$")
"""Sources of error and a side, as HEPData writes them beside the one measured column."""


@dataclass
class ErrorNames:
    """The names of a table's columns, each looked through for marks of error bars."""

    names: Sequence[str]
    numeric: Collection[str] | None = None
    """Columns of numbers; None where types are unknown, and letters and places count for nothing."""
    has_level: bool = False
    """Does the caller tell the level of intervals?"""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Columns that by their contents are no error bars, and why."""
    doubts: list[Doubt] = field(default_factory=list)

    def bars(self, among: Sequence[str] | None = None) -> dict[str, list[ErrorBar]]:
        """For every column, the error bars that its name has among these, the best first; only those that
        have some.

        An error bar has none of its own, and one that could belong to two columns belongs to neither.
        """
        names = self.names if among is None else among
        self.doubts = []
        known = _Known(names, self.numeric)
        errors = [name for name in names if name not in self.refused]
        bars: dict[str, list[ErrorBar]] = {}
        pairs: dict[tuple[str, str, int], dict[bool, str]] = {}
        for column in errors:
            _add_claimed(column, known, bars, pairs)
        for (base, kind, _), pair in pairs.items():
            if len(pair) == 2:
                bars.setdefault(base, []).append(_pair(kind, pair))
        bars = {
            value: kept for value, own in _unambiguous(bars).items() if (kept := self._certain(value, own))
        }
        taken = {column for own in bars.values() for bar in own for column in bar.columns}
        taken |= {column for doubt in self.doubts for column in doubt.bar.columns}
        for value, bar in (*_by_letters(errors, known), *self._by_place(names, {*bars, *taken})):
            shared = {*bar.columns} if told(bar.columns[0]).share and not bar.sure else set()
            if not {value, *bar.columns} & (taken | bars.keys()) - shared:
                for own in self._certain(value, [bar]):
                    bars[value] = [own]
                    taken |= {*own.columns}
        self._doubt_ends({*names} - {c for own in bars.values() for bar in own for c in bar.columns})
        return {name: sorted(bars[name], key=_rank) for name in names if name in bars}

    def _doubt_ends(self, free: Collection[str]) -> None:
        """Keep a doubt of what is called the low and the high end of a column, or a part of its errors."""
        for base, pair in self._ends.items():
            if {*pair.values()} <= {*free} and not any(
                {*pair.values()} & {*d.bar.columns} for d in self.doubts
            ):
                self.doubts.append(Doubt(_pair("limits", pair), (base,), "limits, or the ends of a bin"))
        parts: dict[tuple[str, str], dict[bool, str]] = {}
        value = ""
        for column in self.names:
            if _PARTS.match(column) and column in free:
                parts.setdefault((value, column[:-1]), {})[column[-1] == "+"] = column
            elif self.numeric is not None and column in self.numeric and column not in self.suspects:
                value = column
        for (owner, _), pair in parts.items():
            if len(pair) == 2:
                why = "one source of error; all together are their root sum of squares"
                self.doubts.append(Doubt(_pair("arms", pair), (owner,) if owner else (), why))

    def _certain(self, value: str, bars: Sequence[ErrorBar]) -> list[ErrorBar]:
        """Return those of a known level, in the unit of the value; of others keep a doubt."""
        kept = []
        for bar in bars:
            known, column = told(bar.columns[0]), bar.columns[0]
            unit, wanted = unit_of(column), unit_of(value)
            factor = unit_factor(unit, wanted)
            if known.is_interval and known.sigmas is None and not self.has_level:
                self.doubts.append(Doubt(bar, (value,), "the name does not tell the level", 0.95, True))
            elif unit not in ("%", "percent") and (
                factor is None or (factor != 1.0 and bar.kind == "limits")
            ):
                self.doubts.append(
                    Doubt(bar, (value,), f"its unit is {unit}, and that of {value} is {wanted}")
                )
            elif _is_spread_within(value, bar, self.names):
                self.doubts.append(Doubt(bar, (value,), "it stands beside a minimum and a maximum: a spread"))
            elif column.startswith("s_") and any(map(_MEMBERS.search, self.names)):
                self.doubts.append(
                    Doubt(bar, (value,), "members are counted beside it: a dispersion of them")
                )
            else:
                kept.append(bar)
        return kept

    def _by_place(self, names: Sequence[str], barred: Collection[str]) -> list[tuple[str, ErrorBar]]:
        """Return the error bars that stand right of their value, under its abbreviation or no name at all."""
        if self.numeric is None:
            return []
        group: list[str] = []  # columns of numbers without an error bar since the last error column
        sides: dict[tuple[str, int], dict[bool, str]] = {}
        found: list[tuple[str, ErrorBar]] = []
        last = ""
        for column in names:
            lone = _lone_mark(column)
            if column in barred and not lone:
                group = []
            elif column not in self.numeric:
                continue
            elif column in self.refused:
                group.append(column)
            elif lone is not None and (group or last):
                last = group[-1] if group else last
                if isinstance(lone, tuple):
                    sides.setdefault((last, lone[0]), {})[lone[1]] = column
                else:
                    found.append((last, ErrorBar("std", (column,), sure=False)))
                group = []
            elif (rest := _abbreviation(column)) is not None:
                owners = [value for value in group if _abbreviates(rest, value, adjacent=value == group[-1])]
                if len(owners) == 1 or told(column).share:  # a share of the value may be that of several
                    found += [
                        (owner, ErrorBar("std", (column,), sure=False, share=told(column).share))
                        for owner in owners
                    ]
                elif owners:
                    bar = ErrorBar("std", (column,), sure=False)
                    self.doubts.append(
                        Doubt(bar, tuple(owners), f"it may belong to {' or '.join(owners)}", None, True)
                    )
                group = []
            elif column not in self.suspects:
                group.append(column)
        return found + [
            (value, _pair("limits", pair, sure=False)) for (value, _), pair in sides.items() if len(pair) == 2
        ]

    def alike(self, bars: Iterable[tuple[str, Sequence[ErrorBar]]]) -> set[str]:
        """Return columns that end or begin as error bars by letters do, of whatever they are: wse_r_u beside
        width and width_u."""
        pairs = [(value, bar.columns[0]) for value, own in bars for bar in own[:1] if not bar.sure]
        ends = {column[len(value) :] for value, column in pairs if column.startswith(value)}
        ends = {end for end in ends if end[:1] in tuple(SEPARATORS)}
        return {name for name in self.names if name.endswith(tuple(ends))} if ends else set()

    def owned(self, suspects: Collection[str], read: Mapping[str, Sequence[ErrorBar]]) -> Iterator[Doubt]:
        """Yield a doubt for each of these numbers whose name begins or ends with that of a value."""
        values = {
            folded(without_unit(name)): name
            for name in self.names
            if name not in suspects and (self.numeric is None or name in self.numeric)
        }
        for column in self.names:
            if column not in suspects or column in self.flags.values() or column not in (self.numeric or ()):
                continue
            text = folded(without_unit(told(column).text))
            value = max((v for v in values if len(v) > 1 and text.startswith(v)), key=len, default="")
            value = value or max((v for v in values if len(v) > 1 and text.endswith(v)), key=len, default="")
            left = self.names[max(self._places[column] - 1, 0)]
            if value:
                owner, known = values[value], told(column)
                why = f"{read[owner][0]} is read" if owner in read else "no rule tells what it is"
                if known.sigmas and known.is_interval and owner not in read:
                    why = "half of the interval, or all of it"
                yield Doubt(ErrorBar("std", (column,)), (owner,), why, None, is_likely=owner not in read)
            elif left in values.values() and left not in read:
                yield Doubt(ErrorBar("std", (column,)), (left,), f"an error bar? of {left}?")

    @cached_property
    def _known(self) -> _Known:
        return _Known(self.names, self.numeric)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def flags(self) -> dict[str, str]:
        """By column the column that may flag its limits."""
        flags: dict[str, str] = {}
        for column in self.names:
            for match in filter(None, (pattern.match(column) for pattern in _FLAGS)):
                value = self._known.one(match["base"]) or self._abbreviated(match["base"], column)
                if value is not None and value != column:
                    flags.setdefault(value, column)
        return flags

    def _abbreviated(self, rest: str, column: str) -> str | None:
        """Return the column on the right that `rest` abbreviates: operator_hl beside half_life."""
        place = self._places[column] + 1
        right = self.names[place] if place < len(self.names) else ""
        return right if len(rest) > 1 and right and _abbreviates(rest, right, adjacent=False) else None

    @cached_property
    def suspects(self) -> set[str]:
        """Columns that look like an error bar, a limit or a flag of one, whoever's."""
        suspects = {name for name in self.names if looks_like_error(name) or _PARTS.match(name)}
        return suspects.union(self.flags.values(), *(pair.values() for pair in self._ends.values()))

    @cached_property
    def _ends(self) -> dict[str, dict[bool, str]]:
        """By column what are called its low (False) and its high end: bin edges, intervals."""
        ends: dict[str, dict[bool, str]] = {}
        for column in self.names:
            match = next(filter(None, (pattern.match(told(column).text) for pattern in _ENDS)), None)
            base = (
                None if match is None else self._known.one(match["base"]) or self._known.mean(match["base"])
            )
            if match is not None and base is not None and base != column:
                ends.setdefault(base, {})[match["side"].lower() in UPPER] = column
        return {base: pair for base, pair in ends.items() if len(pair) == 2}


def error_bars(names: Sequence[str]) -> dict[str, list[ErrorBar]]:
    """Return the error bars of all columns by their names, see `ErrorNames`."""
    return ErrorNames(names).bars()


def looks_like_error(column: str) -> bool:
    """Does the name have an error word between separators or at an end, or the level of an interval?"""
    known = told(column)
    tokens = re.split(r"[_.\- ]", known.text)
    return (
        any(re.fullmatch(_WORD, token, re.IGNORECASE) for token in tokens)
        or (known.is_interval and known.sigmas is not None)
        or bool(
            re.search(r"[a-z0-9](?:Err|ERR|Error|Sigma|Std|Unc)(?![a-z])|[A-Z](?:ERR|UNC)$|^e_", column)
            or re.search(r"(?:err|error|sigma)[12pm]?$", column)
            or re.search(r"(?i)(?:^|[_.\- ])ivar(?=$|[_.\- ])", column)
        )
    )


def _rank(bar: ErrorBar) -> float:
    """Return the place of an error bar among several of a value: arms, standard deviations, limits."""
    words = {*re.split(r"[_.\- ]", told(bar.columns[0]).text.lower())}
    part = 0.25 * bool(words & {*PARTIAL}) - 0.25 * bool(words & {*BEST})
    known = told(bar.columns[0])
    part += 0.5 * bool(known.share) + 0.125 * (known.sigmas not in (None, 1.0))
    return {"arms": 0.0, "limits": 2.0}.get(bar.kind, 1.0) + part


def is_level_unsaid(column: str) -> bool:
    """Does the name of a limit or an arm tell nothing of its level, as an error word or a quantile does?"""
    claims = [claim for group in claims_of(column) for claim in group]
    return (
        told(column).sigmas is None
        and not any(c.kind == "arms" or c.first for c in claims)
        and not any(pattern.match(column) for pattern in _LETTER_ARMS)
    )


def best_of(bars: Sequence[ErrorBar]) -> list[ErrorBar]:
    """Return those that come first: one, or several between which only the caller can choose."""
    return [bar for bar in bars if _rank(bar) == _rank(bars[0])]


def _pair(kind: str, pair: dict[bool, str], *, sure: bool = True) -> ErrorBar:
    if kind == "limits":
        return ErrorBar("limits", (pair[False], pair[True]), sure)
    return ErrorBar("arms", (pair[True], pair[False]), sure)


class _Known:
    """Column names, found as they are or, where that is unique, in another case, without their unit, or
    without a word for "value"."""

    def __init__(self, names: Iterable[str], numeric: Collection[str] | None = None) -> None:
        self.exact = set(names)
        self.numeric = numeric
        self.alike: dict[str, list[str]] = {}
        self.means: dict[str, list[str]] = {}
        for name in self.exact:
            plain = without_unit(name).lower()
            for key in {name.lower(), plain}:
                self.alike.setdefault(key, []).append(name)
            for word in VALUE_WORDS:
                for separator in SEPARATORS:
                    if plain.startswith(word + separator) or plain.endswith(separator + word):
                        rest = plain.removeprefix(word + separator).removesuffix(separator + word)
                        self.means.setdefault(rest.strip(SEPARATORS), []).append(name)

    def one(self, name: str) -> str | None:
        """Return the column of this name; where it holds text, the column of its mean."""
        column = name if name in self.exact else _only(self.alike, name)
        if column is not None and self.numeric is not None and column not in self.numeric:
            mean = self.mean(column)
            return mean if mean is not None and mean in self.numeric else column
        return column

    def mean(self, name: str) -> str | None:
        """Return the column of the mean of a quantity, which is no column itself."""
        return _only(self.means, name)

    def part(self, name: str) -> str | None:
        """Return the column of a name that ends with a word for the whole or a part of its error bar."""
        words = "|".join((*BEST, *PARTIAL, *OTHERS))
        rest = re.sub(rf"(?i)(?:[_. -](?:{words})$|^(?:{words})[_. -])", "", name)
        return None if rest == name else self.one(rest)


def _only(names: dict[str, list[str]], name: str) -> str | None:
    alike = names.get(name.lower()) or names.get(without_unit(name).lower(), [])
    return alike[0] if len(alike) == 1 else None


def _add_claimed(
    column: str,
    known: _Known,
    bars: dict[str, list[ErrorBar]],
    pairs: dict[tuple[str, str, int], dict[bool, str]],
) -> None:
    """Add what a column claims to be: an error bar, or one side of a pair."""
    for form, pattern in enumerate(_LETTER_ARMS[:3]):
        match = pattern.match(column)
        if match is not None and match["base"] in known.exact:
            pairs.setdefault((match["base"], "arms", -10 - form), {})[match["side"].lower() in UPPER] = column
    for number, claims in enumerate(claims_of(column)):
        singles = {
            base: claim.kind
            for claim in reversed(claims)
            if claim.place is None
            for base in _present(column, claim, known)
        }
        # VizieR's e_Vmag; with E_Vmag beside it, which is the upper arm, the lower one.
        value = (
            known.one(column[2:]) if column.startswith("e_") and "E" + column[1:] not in known.exact else None
        )
        singles |= {value: "std"} if value and value not in singles else {}
        sides = [
            (base, claim)
            for claim in claims
            if claim.place is not None
            for base in _present(column, claim, known)
        ]
        if not singles:
            singles = dict(
                _rest_of(column, [c for c in claims if c.place is None], known, coverage=number > 0)
            )
        if not sides:
            arms = [c for c in claims if c.place is not None and (c.kind == "arms" or number)]
            sides = [
                (base, claim)
                for claim in arms
                for base, _ in _rest_of(column, [claim], known, coverage=False)
            ]
        for base, kind in singles.items():
            bars.setdefault(base, []).append(ErrorBar(kind, (column,)))
        for base, claim in sides:
            assert claim.place is not None
            pairs.setdefault((base, claim.kind, claim.place), {})[claim.upper] = column
        if singles:
            return


def _rest_of(
    column: str, claims: Iterable[Claim], known: _Known, *, coverage: bool
) -> Iterator[tuple[str, Kind]]:
    """Yield the mean that a column is the error of, where the quantity itself is no column: mean_x and
    x_error; or the value of an error bar that is called a part or the whole of one."""
    for claim in claims:
        for base in claim.bases:
            parted = known.part(base) if coverage or not re.search(r"(?i)[_. -]u$", base) else None
            value = known.mean(base) or parted
            if value is not None and value != column:
                yield value, claim.kind
                return


def _present(column: str, claim: Claim, known: _Known) -> Iterator[str]:
    """Yield the bases that are columns."""
    for option in claim.bases:
        base = known.one(option)
        if base is not None and base != column:
            yield base
            if claim.first:
                return


def _unambiguous(found: dict[str, list[ErrorBar]]) -> dict[str, list[ErrorBar]]:
    """Return the error bars without those of error bars, and without those that could be of two columns."""
    arms = {base for base, bars in found.items() if any(bar.kind == "arms" for bar in bars)}
    # A column with arms of its own is a value: arms beat x_sigma, which is a dispersion then.
    found = {
        base: [bar for bar in bars if base not in arms or bar.kind == "arms" or bar.columns[0] not in arms]
        for base, bars in found.items()
    }
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


def _is_spread_within(value: str, bar: ErrorBar, names: Sequence[str]) -> bool:
    """Is it a deviation beside the minimum and maximum of the same quantity, such as those of ten minutes?"""
    if len(bar.columns) == 2 or not re.search(r"(?i)std|sd|dev", told(bar.columns[0]).text):
        return False
    texts = [re.sub(r"[_.\-, ()]", "", name.lower()) for name in names]
    base = re.sub(r"(?:mean|avg)$|^(?:mean|avg)", "", re.sub(r"[_.\-, ()]", "", without_unit(value).lower()))
    return all(
        any(text in (f"{base}{end}", f"{end}{base}", f"{base}{end}imum") for text in texts)
        for end in ("min", "max")
    )


# -- letters and places


def _by_letters(names: Sequence[str], known: _Known) -> Iterator[tuple[str, ErrorBar]]:
    """Yield (column, the error bar it may have) by prefixes and suffixes of one or two letters."""
    pairs: dict[str, dict[bool, str]] = {}
    families: dict[str, set[str]] = {}
    for column in names:
        families.setdefault(column[:-1], set()).add(column[-1:].lower())
    for column in names:
        is_difference = column[:1] in _LETTERS or (column[:1] == "D" and column.isupper())
        value = known.one(column[1:].lstrip("_")) if is_difference else None
        arm = _LETTER_ARMS[3].match(column)
        if arm is not None and arm["base"] in known.exact:
            pairs.setdefault(arm["base"], {})[arm["side"] == "u"] = column
        elif column[:1] == "e" and column[1:2].isupper():
            value = column[1:]
        elif column[:2] == "s_":
            value = column[2:]
        elif column[-2:] == "_e" or (column[-2:] in ("_u", "_U") and families[column[:-1]] <= {*"efqnu"}):
            value = column[:-2]
        elif re.search(r"_\d\d\dM$", column):  # margins of the American Community Survey
            value = column[:-1] + "E"
        elif "sig" in column:  # WISE's w1sigmpro of w1mpro
            value = column.replace("sig", "", 1)
        if value in known.exact:
            yield value, ErrorBar("std", (column,), sure=False)
    yield from ((base, _pair("arms", pair, sure=False)) for base, pair in pairs.items() if len(pair) == 2)


def _lone_mark(column: str) -> tuple[int, bool] | str | None:
    """Return the mark, or the place and side of an interval's end, of a name that is nothing else."""
    known = told(re.sub(r"\.\d+$|_duplicated_\d+$", "", column))
    parts = "|".join((*BEST, *PARTIAL, *OTHERS[:-1], "abs"))
    text = re.sub(
        rf"(?i)[()\[\]]|(?:{parts})(?![a-z])|(?:expanded|combined)", "", without_unit(known.text)
    ).strip(" _.-")
    if re.fullmatch(rf"(?i)(?:u )?(?:{_WORD}|err)(?: err)*", text):
        return text
    match = re.fullmatch(rf"(?i)(?P<side>{_LONG_SIDE}|[ul]){_LIMIT}", text)
    if (
        match is not None
        and not known.is_interval
        and known.sigmas is None
        and not re.search("(?i)lim|bou?nd", text)
    ):
        return None
    return None if match is None else (0, match["side"].lower() in UPPER)


def _abbreviation(column: str) -> str | None:
    """Return what is left of a name that has an error word at an end: W for sigW, hls for unc_hls."""
    text = told(column).text
    match = _ABBREVIATED.match(without_unit(text))
    if match is None or any(word in text.lower() for words in PAIR_WORDS.values() for word in words):
        return None
    rest = match["rest"] or match["head"]
    glued = match["first"] and text[len(match["first"])] not in SEPARATORS
    if glued and (match["first"].lower() not in ("sig", "err", "unc") or text.lower().startswith("signif")):
        return None
    return str(rest) if rest.strip(SEPARATORS) else None


def _abbreviates(rest: str, value: str, *, adjacent: bool) -> bool:
    """May `rest` stand for the name: one of its words, its beginning or end, or letters of it in order?"""
    short = re.sub(r"[^a-z0-9]", "", rest.lower())
    words = [word for word in re.split(r"[^a-z0-9]+", without_unit(value).lower()) if word]
    whole = "".join(words)
    if not short or not whole or (short == whole and "," in rest):
        return False
    if short in words or (len(short) > 2 and whole.endswith(short)) or whole.startswith(short):
        return True
    letters = iter(whole)
    in_order = whole[0] == short[0] and all(letter in letters for letter in short)
    return in_order or (adjacent and len(short) < 4 and short[0] == whole[0])


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
