"""Error bars of a table's columns: names propose (`error_names`), places and numbers confirm or refuse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from .error_names import (
    BEST,
    CHAINS,
    COUNT,
    DEVIATION,
    LIMIT,
    LONG_SIDE,
    OF_POPULATIONS,
    PAIR_WORDS,
    PART,
    PARTIAL,
    SEPARATORS,
    SIDE,
    UPPER,
    VALUE_WORDS,
    WORD,
    Kind,
    Reading,
    folded,
    joined,
    looks_like_error,
    phrased,
    quantile_of,
    readings,
    sigmas_of,
    told,
    unit_of,
    without_unit,
)

if TYPE_CHECKING:
    from .contents import Look


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


ONE_SOURCE = "one source of error; a column of the root sum of squares of all is read"
OF_DRAWS = "the error of the mean of draws, not their spread"


def another(bar: ErrorBar, value: str, read: ErrorBar) -> Doubt:
    """Return the doubt of an error bar of a value beside that which is read."""
    return Doubt(bar, (value,), f"{read} {'is' if len(read.columns) == 1 else 'are'} read")


def read_bar(feature: str, kind: Kind, columns: Sequence[str], level: float | None = None) -> ErrorBar:
    """Return the error bar of a feature in columns of any name, with the coverage and unit that the names
    tell; `level`: the level of the interval, which the caller tells."""
    column = columns[0]
    known = told(column)
    plain = any(folded(r.rest) == folded(feature) for r in readings(phrased(column)) if r.place is None)
    sigmas = sigmas_of(level) if level is not None else None if plain else known.sigmas
    if sigmas is not None and level is None and len(columns) == 1 and abs(sigmas - 2.0) < 0.05:
        sigmas = 2.0  # what "95 %" means in tables of error bars
    if level is None and len(columns) == 2 and (ends := _quantiles(*columns)) is not None:
        sigmas = sigmas_of((ends[1] - ends[0]) / 100.0)
    unit, of_value = unit_of(column), unit_of(feature)
    in_percent = unit in ("%", "percent") and of_value not in ("%", "percent")
    share = 0.01 if in_percent else known.share * (not plain)
    factor = None if share or kind == "limits" else unit_factor(unit, of_value)
    return ErrorBar(kind, tuple(columns), sigmas=sigmas or 1.0, share=share, unit=factor or 1.0)


_CELSIUS = re.compile(r"(?i)^(?:°|deg(?:rees?)?[_ ]?)c(?:elsius)?$|^celsius$")


def _quantiles(low: str, high: str) -> tuple[float, float] | None:
    """Return the quantiles that two columns are called after, as far from 0 as from 100 per cent."""
    ends = quantile_of(low), quantile_of(high)
    if ends[0] is None or ends[1] is None or folded(ends[0][0]) != folded(ends[1][0]):
        return None
    a, b = sorted((ends[0][1], ends[1][1]))
    return (a, b) if abs(a + b - 100.0) < 0.01 and a < 50.0 else None


def unit_factor(unit: str | None, wanted: str | None) -> float | None:
    """Return what leads from a unit in brackets to another; 1 where one is not told, None where none does."""
    if unit is None or wanted is None or unit.replace(" ", "") == wanted.replace(" ", ""):
        return 1.0
    unit, wanted = (_CELSIUS.sub("K", text) for text in (unit, wanted))  # a difference has no zero point
    try:
        from astropy import units

        return float(units.Unit(unit).to(units.Unit(wanted)))
    except (ImportError, ValueError, TypeError):
        return None


# -- rules beside the grammar of names

_LETTER_ARMS = (
    re.compile(rf"^(?P<base>.+)_e_?(?P<side>{SIDE})$", re.IGNORECASE),
    re.compile(rf"^e_?(?P<side>{SIDE})_(?P<base>.+)$", re.IGNORECASE),
    re.compile(rf"^e_(?P<base>.+)_(?P<side>{LONG_SIDE})$", re.IGNORECASE),
    re.compile(r"^e(?P<side>[ud])(?P<base>.+)$"),
)
"""The letter e and a side: x_ep and x_em, ehi_x and elo_x, e_x_up and e_x_low, eux and edx."""
_LETTERS = (
    (re.compile(r"^[dδΔ]_?(?=.)"), ""), (re.compile(r"^D_?(?=[^a-z]+$)"), ""),
    (re.compile(r"^e(?=[A-Z])"), ""), (re.compile(r"^s_"), ""), (re.compile(r"^E_"), ""),
    (re.compile(r"^U(?=[A-Z\d]{2,}$)"), ""),
    (re.compile(r"_e$"), ""), (re.compile(r"_[uU]$"), ""), (re.compile(r"_su$"), ""),
    (re.compile(r"^del_?(?=.)"), ""), (re.compile(r"^s[ed](?=[A-Z])|(?<=[a-z])S[ED]$"), ""),
    (re.compile(r"(?<=_\d\d\d)M$"), "E"),  # margins of the American Community Survey
    (re.compile(r"sig"), ""),  # WISE's w1sigmpro of w1mpro
    (re.compile(r"^(?:se|v)(?=i$)"), "y"),  # yi, sei and vi of analyses of several studies
)  # fmt: skip
"""Marks of one to three letters, and what stands in their place in the name of the value."""
_ABBREVIATED = re.compile(
    rf"(?i)^(?:(?P<first>{WORD}|sig)[_. -]?(?P<rest>.+)"
    rf"|(?P<head>.+?)(?:[_. -](?:{WORD}|sig)|(?-i:(?<=[a-z])S[ED])))$"
)
_FLAGS = (
    re.compile(r"(?i)^(?P<base>.+?)[_. -]?(?:lim(?:it)?(?:[_. -]?flag)?|l_?flag)$"),
    re.compile(r"(?i)^(?P<base>.+)[_. -](?:ul|ulim|uplim|is_limit|(?:upper|lower)_?lim(?:it)?(?:_flag)?"
               r"|cens(?:ored)?|qual(?:ifier)?|sign|operator|op|symbol|relation|comparator)$"),
    re.compile(r"(?i)^(?:l|lim|limit|f_lim|cens(?:ored)?|operator|op)_(?P<base>.+)$"),
)  # fmt: skip
"""Names of columns that may flag limits of another; what they hold decides."""
LONE_FLAG = re.compile(
    r"(?i)^(?:is_?)?(?:(?:upper|lower)_?lim(?:it)?|u_?lim|uplim|ul|limit|cens(?:ored)?|non_?detect\w*|qualifier)(?:_?flag)?$"
)
"""Flags of limits without a name of a value: of that on the left."""
_ENDS = (
    re.compile(rf"(?i)^(?P<base>.+?)(?:[_. -]?code)?[_. -]?(?P<side>low|high|lo|hi|lower|upper){LIMIT}$"),
    re.compile(rf"(?i)^(?P<side>low|high|lower|upper){LIMIT}[_. -](?P<base>.+)$"),
)
_MEMBERS = re.compile(
    r"(?i)^(?:nb|nr|num|number|n)[_. ]?(?:of[_. ])?(?:\d*|star|mem|gal|src|source|obj|spec)s?\w{0,4}$|members"
)
"""Names of counts of members of a group."""
_PARTS = re.compile(r"(?i)^(?:stat|sys|syst|lumi|model|theo|scale|pdf|total|uncorr|corr)\b.*[+-]$")
"""Sources of error and a side, as HEPData writes them beside the one measured column."""
_LONE = re.compile(rf"(?i)^(?:u )?(?:{WORD})(?: err)*$")
_LONE_ARM = re.compile(rf"(?i)^(?:{WORD})[_. -]?(?P<side>{SIDE})$|^(?P<side2>plus|minus)$")
_GREEK = re.compile(r"(?i)^(?:alpha|beta|gamma|delta|eps(?:ilon)?|theta|kappa|lambda|nu|rho|tau|phi|omega)$")
_LONE_END = re.compile(rf"(?i)^(?P<side>{LONG_SIDE}|[ulr])(?P<limit>{LIMIT})$")


@dataclass
class ErrorNames:
    """The names of a table's columns, each looked through for marks of error bars."""

    names: Sequence[str]
    numeric: Collection[str] | None = None
    """Columns of numbers; None where types are unknown, and letters and places count for nothing."""
    look: Look | None = None
    """What the numbers of columns say; None for names alone."""
    has_level: bool = False
    """Does the caller tell the level of intervals?"""
    refused: dict[str, str] = field(default_factory=dict)
    """Columns that by their contents are no error bars, and why."""
    empty: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By value the error columns of which one has no number."""
    doubts: list[Doubt] = field(default_factory=list)

    def bars(self, among: Sequence[str] | None = None) -> dict[str, list[ErrorBar]]:
        """For every column, the error bars that its name has among these, the best first; only those that
        have some.

        An error bar has none of its own, and one that could belong to two columns belongs to neither.
        """
        names = [name for name in (self.names if among is None else among) if name not in self._of_draws]
        no_bars = {c: why for c, why in self.refused.items() if c in self.suspects}
        no_bars |= dict.fromkeys(self._of_draws, OF_DRAWS)
        self.doubts = [Doubt(ErrorBar("std", (column,)), (), why) for column, why in no_bars.items()]
        known = _Values(names, self.numeric)
        errors = [name for name in names if name not in self.refused]
        bars: dict[str, list[ErrorBar]] = {}
        pairs: dict[tuple[str, str, object], dict[bool, str]] = {}
        for column in errors:
            for value, reading in known.read(column):
                if reading.place is None:
                    bars.setdefault(value, []).append(ErrorBar(reading.kind, (column,)))
                else:
                    pairs.setdefault((value, reading.kind, reading.place), {})[reading.upper] = column
        for (value, kind, _), pair in pairs.items():
            if len(pair) == 2:
                bars.setdefault(value, []).append(_pair(kind, pair))
        for (a, b), column in self._pairs["cov"].items():
            if a == b and {a, column} <= {*names}:
                bars.setdefault(a, []).append(ErrorBar("var", (column,)))
        bars = {
            value: kept for value, own in _unambiguous(bars).items() if (kept := self._certain(value, own))
        }
        taken = {column for own in bars.values() for bar in own for column in bar.columns}
        taken |= {column for doubt in self.doubts for column in doubt.bar.columns}
        taken |= {column for columns in self.empty.values() for column in columns}
        finders = (partial(_by_letters, errors, known), partial(self._by_place, names), self._by_initials)
        for find in finders:
            for value, bar in find({*bars}, taken):
                shared = {*bar.columns} if told(bar.columns[0]).share and not bar.sure else set()
                if {*bar.columns} & (taken | bars.keys()) - shared or value in taken:
                    continue
                if value in bars:
                    look, column = self.look, bar.columns[0]
                    if look is not None and not look.contradiction(value, column, sure=False):
                        self.doubts.append(another(bar, value, bars[value][0]))
                elif own := self._certain(value, [bar]):
                    bars[value] = own
                    taken |= {*bar.columns}
        self._doubt_ends({*names} - {c for own in bars.values() for bar in own for c in bar.columns})
        return {name: sorted(bars[name], key=_rank) for name in names if name in bars}

    def _certain(self, value: str, bars: Sequence[ErrorBar]) -> list[ErrorBar]:
        """Return those of a known level, in the unit of the value; of others keep a doubt."""
        kept = []
        for bar in bars:
            column = bar.columns[0]
            known, unit, wanted = told(column), unit_of(column), unit_of(value)
            factor = unit_factor(unit, wanted)
            ends = _quantiles(*bar.columns) if len(bar.columns) == 2 else None
            why, level, is_likely = "", None, False
            if self.look is not None:
                if any(map(self.look.is_empty, bar.columns)):
                    self.empty[value] = bar.columns
                    continue
                refused = self.look.contradiction(value, column, sure=bar.sure, factor=factor or 1.0)
                if refused and len(bar.columns) == 1:
                    self.refused[column] = refused
                    if column in self.suspects:
                        self.doubts.append(Doubt(bar, (), refused))
                    continue
            if ends is not None and not known.is_interval and ends[0] not in (2.5, 5.0, 16.0):
                why, level = "quantiles: of an error, or of a population?", (ends[1] - ends[0]) / 100.0
            elif known.is_interval and known.sigmas is None and not self.has_level and ends is None:
                why, level = "the name does not tell the level", 0.95
            elif unit not in ("%", "percent") and (
                factor is None or (factor != 1.0 and bar.kind == "limits")
            ):
                why = f"its unit is {unit}, and that of {value} is {wanted}"
            elif _is_spread_within(value, bar, self.names):
                why = "it stands beside a minimum and a maximum: a spread"
            elif column.startswith("s_") and any(map(_MEMBERS.search, self.names)):
                why = "members are counted beside it: a dispersion of them"
            elif all(DEVIATION.search(bar.columns[0]) for bar in bars) and (count := self._count_of(value)):
                mean_error = f"{column} / sqrt({count}) is the error of their mean"
                why, is_likely = f"the scatter of the {count} readings? {mean_error}", True
            if why:
                self.doubts.append(Doubt(bar, (value,), why, level, is_likely or level is not None))
            else:
                kept.append(bar)
        return kept

    def _count_of(self, value: str) -> str:
        """Return the column of the numbers of readings behind a mean, "" without one."""
        if self.numeric is None or self.look is None or self._of_draws:
            return ""
        counts = [n for n in self.names if n in self.numeric and COUNT.search(without_unit(n))]
        counts = [name for name in counts if self.look.is_whole(name)]
        words = {*re.split(r"[\W_]+", value.lower())} - {*VALUE_WORDS}
        return next((n for n in counts if words & {*re.split(r"[\W_]+", n.lower())}), "".join(counts[:1]))

    def _doubt_ends(self, free: Collection[str]) -> None:
        """Keep a doubt of what is called the low and the high end of a column, or a part of its errors."""
        for base, pair in self._ends.items():
            doubted = {column for doubt in self.doubts for column in doubt.bar.columns}
            if {*pair.values()} <= {*free} - doubted:
                bar, why, level = _pair("limits", pair), "limits, or the ends of a bin", None
                if self.look is not None and not self.look.are_bins(*bar.columns):
                    why, level = "the names do not tell the level", 0.95
                self.doubts.append(Doubt(bar, (base,), why, level, level is not None))
        parts: dict[tuple[str, str], dict[bool, str]] = {}
        value = ""
        for column in self.names:
            if _PARTS.match(column) and column in free:
                parts.setdefault((value, column[:-1]), {})[column[-1] == "+"] = column
            elif self.numeric is not None and column in self.numeric and column not in self.suspects:
                value = column
        for (owner, _), pair in parts.items():
            if len(pair) == 2:
                self.doubts.append(Doubt(_pair("arms", pair), (owner,) if owner else (), ONE_SOURCE))

    def _by_place(
        self, names: Sequence[str], values: Collection[str], errors: Collection[str]
    ) -> list[tuple[str, ErrorBar]]:
        """Return the error bars that stand right of their value, under its abbreviation or no name at all."""
        if self.numeric is None:
            return []
        # Columns of numbers without an error bar since the last error column: its value, or a block of values
        # with a block of their error bars behind it.
        group: list[str] = []
        is_behind = False
        sides: dict[tuple[str, str], dict[bool, str]] = {}
        found: list[tuple[str, ErrorBar]] = []
        last = ""
        for column in names:
            lone = None if column in self._symbols else _lone_mark(column)
            is_error = lone or column in errors or column in self.suspects
            group, is_behind = [] if is_behind and not is_error else group, is_behind and bool(is_error)
            if (column in values or column in errors) and not lone:
                group, last = [], column if column in values else last
            elif column not in self.numeric:
                continue
            elif column in self.refused:
                group.append(column)
            elif lone is not None and (group or last):
                last = group[-1] if group and not is_behind else last
                if isinstance(lone, tuple):
                    sides.setdefault((last, lone[0]), {})[lone[1]] = column
                else:
                    found.append((last, ErrorBar("std", (column,), sure=False)))
                group = []
            elif (rest := _abbreviation(column)) is not None:
                nearest = "" if is_behind or not group else group[-1]
                owners = [value for value in group if _abbreviates(rest, value, adjacent=value == nearest)]
                bar = ErrorBar("std", (column,), sure=False, share=told(column).share)
                if len(owners) == 1 or bar.share:  # a share of the value may be that of several
                    found += [(owner, bar) for owner in owners]
                elif owners:
                    why = f"it may belong to {' or '.join(owners)}"
                    self.doubts.append(Doubt(bar, tuple(owners), why, None, True))
                group, is_behind = [value for value in group if value not in owners], True
            elif column not in self.suspects:
                group.append(column)
        for (value, form), pair in sides.items():
            if len(pair) == 2:
                bar = _pair("arms" if form == "arms" else "limits", pair, sure=False)
                if form == "ends" and not self.has_level:
                    self.doubts.append(Doubt(bar, (value,), "the names do not tell the level", 0.95, True))
                else:
                    found.append((value, bar))
        return found

    def _by_initials(self, *_: Collection[str]) -> Iterator[tuple[str, ErrorBar]]:
        """Yield those of names that differ by a letter (Ve and Vn, Se and Sn), small beside signed values."""
        if (look := self.look) is None:
            return
        families: dict[str, set[str]] = {}
        for name in self.names:
            if name in (self.numeric or ()) and re.fullmatch("[A-Za-z][a-z]{1,2}", name):
                families.setdefault(name[0], set()).add(name[1:])
        for mark in [m for m in families if m in "SsUu"]:
            ends = sorted(families[mark])
            for letter in [m for m in families if m != mark] if len(ends) > 1 else ():
                pairs = [(letter + end, mark + end) for end in ends if end in families[letter]]
                small = all(look.has_signs(value) and look.is_small(column, value) for value, column in pairs)
                if small and len(pairs) == len(ends):
                    yield from ((value, ErrorBar("std", (column,), sure=False)) for value, column in pairs)

    # -- what else looks like one

    def owned(
        self, suspects: Collection[str], read: Mapping[str, Sequence[ErrorBar]], named: Collection[str]
    ) -> Iterator[Doubt]:
        """Yield a doubt for each of these numbers whose name begins or ends with that of a value; and for
        others that are much smaller than a value without error bar whose name they have with a word more."""
        bars = {column for each in read.values() for bar in each for column in bar.columns}
        values = {
            folded(without_unit(name)): name
            for name in self.names
            if name not in suspects and name in (self.numeric or ()) and quantile_of(name) is None
        }
        flags, others = {*self.flags.values()}, dict[str, list[Doubt]]()
        for left, column in zip(("", *self.names), self.names, strict=False):
            if column not in (self.numeric or ()) or column in flags or column in named or column in bars:
                continue
            if is_called_matrix(column):
                continue
            known = told(column)
            text, bar = folded(without_unit(known.text)), ErrorBar("std", (column,))
            parts = [text[:k] for k in range(len(text), 1, -1)] + [text[k:] for k in range(1, len(text) - 1)]
            tokens = re.split(r"[_.\- ]", known.text)
            parts += ["".join((*tokens[:k], *tokens[k + 1 :])).lower() for k in range(1, len(tokens))]
            parts.append(tokens[0].lower())
            part = next((part for part in parts if values.get(part, column) != column), "")
            owner = values.get(part, "")
            if column in suspects and owner:
                is_width = known.sigmas and known.is_interval
                why = "half of the interval, or all of it" if is_width else "no rule tells what it is"
                is_read = owner in read
                yield (
                    another(bar, owner, read[owner][0]) if is_read else Doubt(bar, (owner,), why, None, True)
                )
            elif (
                column in suspects
                and left in values.values()
                and left not in read
                and not quantile_of(column)
            ):
                yield Doubt(bar, (left,), f"an error bar of {left}?")
            elif owner and owner not in read and self.look is not None and self.look.is_small(column, owner):
                why = f"an error bar of {owner}? It is called like it, and smaller"
                why = ONE_SOURCE if {*map(str.lower, tokens)} & {*PARTIAL} else why
                others.setdefault(text.replace(part, ""), []).append(Doubt(bar, (owner,), why))
        for doubts in others.values():
            yield from (doubt._replace(is_likely=len(doubts) > 1) for doubt in doubts)

    def alike(self, bars: Mapping[str, Sequence[ErrorBar]]) -> set[str]:
        """Return columns that end as error bars by letters do, whoever's: wse_r_u beside width_u."""
        pairs = [(value, bar.columns[0]) for value, own in bars.items() for bar in own[:1] if not bar.sure]
        ends = {column[len(value) :] for value, column in pairs if column.startswith(value)}
        ends = {end for end in ends if end[:1] in tuple(SEPARATORS)}
        return {name for name in self.names if name.endswith(tuple(ends))} if ends else set()

    @cached_property
    def _pairs(self) -> dict[str, dict[tuple[str, str], str]]:
        return named_pairs(self.names, self.names)

    @cached_property
    def _known(self) -> _Values:
        return _Values(self.names, self.numeric)

    @cached_property
    def flags(self) -> dict[str, str]:
        """By column the column that may flag its limits."""
        flags: dict[str, str] = {}
        left = ""
        for column, right in zip(self.names, (*self.names[1:], ""), strict=True):
            if LONE_FLAG.match(column) and left:
                flags.setdefault(left, column)
            elif column in (self.numeric or ()) and not looks_like_error(column):
                left = column
            for match in filter(None, (pattern.match(column) for pattern in _FLAGS)):
                base = match["base"]
                value = self._known.one(base) or self._known.mean(base)
                if value is None and len(base) > 1 and _abbreviates(base, right, adjacent=False):
                    value = right  # operator_hl left of half_life
                if value is not None and value != column:
                    flags.setdefault(value, column)
        return flags

    @cached_property
    def suspects(self) -> set[str]:
        """Columns that look like an error bar, a limit or a flag of one, whoever's."""
        suspects = {n for n in self.names if looks_like_error(n) or _PARTS.match(n) or _lone_mark(n)}
        sides: dict[tuple[str, str, object], dict[bool, str]] = {}
        for name in self.names:
            for r in readings(told(name).text, wide=told(name).is_interval):
                if r.place is not None and r.rest:
                    sides.setdefault((folded(r.rest), r.kind, r.place), {})[r.upper] = name
            if (quantile := quantile_of(name)) is not None:
                place = min(quantile[1], 100.0 - quantile[1])
                sides.setdefault((folded(quantile[0]), "limits", place), {})[quantile[1] > 50.0] = name
        ends = [pair for pair in (*self._ends.values(), *sides.values()) if len(pair) == 2]
        pairs = (pair.values() for pair in self._pairs.values())
        return suspects.union(self.flags.values(), *(p.values() for p in ends), *pairs) - self._symbols

    @cached_property
    def _of_draws(self) -> list[str]:
        """The standard errors of means of draws, beside what is told of their chains."""
        words = {name: {*re.split(r"[\W_]+", name.lower())} for name in self.names}
        is_told = any(map(CHAINS.match, self.names))
        return [name for name, own in words.items() if is_told and own & {"mcse", "se"}]

    @cached_property
    def _symbols(self) -> set[str]:
        """Names of two letters among others of this form, which are elements, countries or components (Se,
        SD), and sigma among Greek letters."""
        names = [name for name in self.numeric or () if len(name) == 2 and name.isalpha()]
        forms = Counter((name.isupper(), name.islower()) for name in names)
        is_greek = any(map(_GREEK.match, self.names))
        sigma = [name for name in self.names if is_greek and name.lower() == "sigma"]
        return {*sigma, *(name for name in names if forms[name.isupper(), name.islower()] > 3)}

    @cached_property
    def _ends(self) -> dict[str, dict[bool, str]]:
        """By column what are called its low (False) and its high end: bin edges, intervals."""
        ends: dict[str, dict[bool, str]] = {}
        for column in self.names:
            match = next(filter(None, (pattern.match(told(column).text) for pattern in _ENDS)), None)
            base = match and (self._known.one(match["base"]) or self._known.mean(match["base"]))
            if match is not None and base is not None and base != column:
                ends.setdefault(base, {})[match["side"].lower() in UPPER] = column
        return {base: pair for base, pair in ends.items() if len(pair) == 2}


def error_bars(names: Sequence[str]) -> dict[str, list[ErrorBar]]:
    """Return the error bars of all columns by their names, see `ErrorNames`."""
    return ErrorNames(names).bars()


def best_of(bars: Sequence[ErrorBar]) -> list[ErrorBar]:
    """Return those that come first: one, or several between which only the caller can choose."""
    return [bar for bar in bars if _rank(bar) == _rank(bars[0])]


def _rank(bar: ErrorBar) -> float:
    """Return the place of an error bar among several of a value: arms, standard deviations, limits."""
    known = told(bar.columns[0])
    words = {*re.split(r"[_.\- ]", known.text.lower())}
    part = 0.25 * bool(words & {*PARTIAL}) - 0.25 * bool(words & {*BEST})
    part += 0.5 * bool(known.share) + 0.125 * (known.sigmas not in (None, 1.0))
    part += 0.0625 * bool(re.search(rf"(?i)(?:{'|'.join(OF_POPULATIONS)})$", known.text))
    part += 0.03125 * (bar.kind == "var")
    return {"arms": 0.0, "limits": 2.0}.get(bar.kind, 1.0) + part


def is_level_unsaid(column: str) -> bool:
    """Does the name of a limit or an arm tell nothing of its level, as an error word or a quantile does?"""
    found = [r for text in (phrased(column), told(column).text) for r in readings(text)]
    return (
        told(column).sigmas is None
        and quantile_of(column) is None
        and not any(r.kind == "arms" for r in found)
        and not any(pattern.match(column) for pattern in (*_LETTER_ARMS, _LONE_ARM, re.compile("[eE]_")))
    )


def _pair(kind: str, pair: dict[bool, str], *, sure: bool = True) -> ErrorBar:
    if kind == "limits":
        return ErrorBar("limits", (pair[False], pair[True]), sure)
    return ErrorBar("arms", (pair[True], pair[False]), sure)


class _Values:
    """Column names, found as they are or, where that is unique, without separators and capitals, without
    their unit, or without a word for "value"."""

    def __init__(self, names: Iterable[str], numeric: Collection[str] | None = None) -> None:
        self.names = {*names}
        self.numeric = numeric
        self.alike: dict[str, list[str]] = {}
        self.means: dict[str, list[str]] = {}
        words = "|".join(VALUE_WORDS)
        for name in self.names:
            plain = without_unit(name)
            for key in {form(text) for form in (folded, joined) for text in (name, plain)}:
                self.alike.setdefault(key, []).append(name)
            rest = re.sub(rf"(?i)^(?:{words})[_.\- ]|[_.\- ](?:(?:{words})|[pq]?_?50 ?(?:%|th)?)$", "", plain)
            if rest != plain:
                self.means.setdefault(folded(rest), []).append(name)

    def one(self, name: str) -> str | None:
        """Return the column of this name; where it holds text, the column of its mean."""
        column = next((text for text in (name, name.strip(SEPARATORS)) if text in self.names), None)
        for key in (joined(name), folded(name), folded(without_unit(name))):
            column = column or _only(self.alike, key)
        if column is not None and self.numeric is not None and column not in self.numeric:
            mean = self.mean(column)
            return mean if mean is not None and mean in self.numeric else column
        return column

    def mean(self, name: str) -> str | None:
        """Return the column of the mean of a quantity, which is no column itself."""
        return _only(self.means, folded(name)) or _only(self.means, folded(without_unit(name)))

    def part(self, name: str) -> str | None:
        """Return the column of a name that ends with a word for the whole or a part of its error bar."""
        for form in (rf"(?i)[_. -](?:{PART})[_. -]?$", rf"(?i)^(?:{PART})[_. -]"):
            rest = re.sub(form, "", name)
            if rest != name and (value := self.one(rest) or self.mean(rest)):
                return value
        return None

    def read(self, column: str) -> list[tuple[str, Reading]]:
        """Return the columns that a column may be the error bar of: as it is called, and without words for
        its coverage."""
        found: list[tuple[str, Reading]] = []
        for form, pattern in enumerate(_LETTER_ARMS[:3]):
            match = pattern.match(column)
            if match is not None and match["base"] in self.names:
                upper = match["side"].lower() in UPPER
                found.append((match["base"], Reading("", "arms", -10 - form, upper)))
        if (quantile := quantile_of(column)) is not None and (
            value := self._of_quantile(quantile[0], quantile[2])
        ):
            place = round(-100.0 - min(quantile[1], 100.0 - quantile[1]) * 10.0)
            found.append((value, Reading("", "limits", place, quantile[1] > 50.0)))
        if column[:2] in ("e_", "E_") and (value := self.one(column[2:])):
            found.append((value, Reading("", "arms", -1, column[0] == "E")))
            if column[0] == "e" and "E" + column[1:] not in self.names:
                found.append((value, Reading("", "std")))
        if column[:2] in ("b_", "B_") and (value := self.one(column[2:])):  # of VizieR
            found.append((value, Reading("", "limits", -2, column[0] == "B")))
        known = told(column)
        texts = {phrased(column): False, known.text: known.is_interval or known.sigmas is not None}
        for text, wide in texts.items():
            own = [*readings(text, wide=wide)]
            single = self._matched(column, [r for r in own if r.place is None], coverage=wide)
            sides = [r for r in own if r.place is not None and not (r.apart and single)]
            found += [*single, *self._matched(column, sides, coverage=False)]
            if single:
                break
        return found

    def _matched(self, column: str, own: Sequence[Reading], *, coverage: bool) -> list[tuple[str, Reading]]:
        """Return what is called like a value; else the mean whose quantity is no column, mean_x and x_error,
        or the value of what is called a part of its error bar."""
        exact = [(value, r) for r in own if (value := self.one(r.rest)) is not None and value != column]
        if exact:
            return list(dict.fromkeys(exact))
        for r in own:
            is_band = not coverage and re.search(r"(?i)[_. -]u[_. -]?$", r.rest)
            value = self.mean(r.rest) or (None if is_band else self.part(r.rest))
            is_middle = value is not None and re.search(
                r"(?i)(?:med(?:ian)?|best|est(?:imate)?|val(?:ue)?)$", value
            )
            is_told = is_middle or coverage or r.kind != "limits" or r.place is None
            if value is not None and value != column and is_told:
                return [(value, r)]
        return []

    def _of_quantile(self, rest: str, letter: str) -> str | None:
        """Return the median beside a quantile, or the value."""
        bare = rest.rstrip(SEPARATORS)
        bare = re.sub(r"(?i)[_.\- ](?:hdi|eti|cri?|ci)$", "", bare)
        words = ("50", "50th", "med", "median", "mean")
        options = (f"{rest}{letter}50", *(f"{bare}_{word}" for word in words), bare)
        found = next((value for option in options if bare and (value := self.one(option))), None)
        return found or (self.mean(bare) if bare else None)


def _only(names: Mapping[str, list[str]], key: str) -> str | None:
    alike = names.get(key, []) if key else []
    return alike[0] if len(alike) == 1 else None


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

    def is_error(column: str) -> bool:
        return bool(owners.get(column, set()) - {column})

    kept: dict[str, list[ErrorBar]] = {}
    for base, bars in found.items():
        # x_err of x may have an x_err_std of its own, and is no feature for that. The same columns may be
        # seen as two things (x_err_u: of x_u, or the upper arm of x's).
        own = dict.fromkeys(
            bar
            for bar in bars
            if all({o for o in owners[c] if not is_error(o)} == {base} for c in bar.columns)
        )
        if own and not is_error(base):
            kept[base] = list(own)
    return kept


def _is_spread_within(value: str, bar: ErrorBar, names: Sequence[str]) -> bool:
    """Is it a deviation beside the minimum and maximum of the same quantity, such as those of ten minutes?"""
    if len(bar.columns) == 2 or not re.search(r"(?i)std|sd|dev", told(bar.columns[0]).text):
        return False
    texts = {re.sub(r"[_.\-, ()]", "", name.lower()) for name in (*names, *map(without_unit, names))}
    base = re.sub(r"(?:mean|avg)$|^(?:mean|avg)", "", re.sub(r"[_.\-, ()]", "", without_unit(value).lower()))
    return all(
        not texts.isdisjoint((f"{base}{end}", f"{end}{base}", f"{base}{end}imum")) for end in ("min", "max")
    )


def _by_letters(names: Sequence[str], known: _Values, *_: Collection[str]) -> Iterator[tuple[str, ErrorBar]]:
    """Yield (column, the error bar it may have) by marks of one to three letters."""
    pairs: dict[str, dict[bool, str]] = {}
    families: dict[str, set[str]] = {}
    for column in names:
        families.setdefault(column[:-1], set()).add(column[-1:].lower())
    for column in names:
        arm = _LETTER_ARMS[3].match(column)
        if arm is not None and arm["base"] in known.names:
            pairs.setdefault(arm["base"], {})[arm["side"] == "u"] = column
            continue
        for pattern, instead in _LETTERS:
            value = known.one(pattern.sub(instead, column, count=1)) if pattern.search(column) else None
            is_component = column[-2:] in ("_u", "_U") and not families[column[:-1]] <= {*"efqnu"}
            if value is not None and value != column and not is_component:
                yield value, ErrorBar("var" if column == "vi" else "std", (column,), sure=False)
                break
    yield from ((base, _pair("arms", pair, sure=False)) for base, pair in pairs.items() if len(pair) == 2)


def _lone_mark(column: str) -> tuple[str, bool] | str | None:
    """Return the mark of a name that is nothing else: an error word, or a form and a side of two columns."""
    known = told(re.sub(r"\.\d+$|_duplicated_\d+$", "", column))
    text = without_unit(known.text)
    quantile = quantile_of(without_unit(column))
    if quantile and re.fullmatch(r"(?i)(?:hdi|eti|ci|cri)?", quantile[0].strip(SEPARATORS)):
        return f"{min(quantile[1], 100.0 - quantile[1]):g} %", quantile[1] > 50.0
    bare = re.sub(rf"(?i)[()\[\]]|(?<![a-z])(?:{PART}|abs)(?![a-z])", "", text).strip(" _.-")
    if _LONE.match(bare):
        return bare
    if match := _LONE_ARM.match(bare):
        return "arms", (match["side"] or match["side2"]).lower() in UPPER
    match = _LONE_END.match(text) or _LONE_END.match(bare)
    if match is not None and (len(match["side"]) > 1 or known.is_interval or known.sigmas is not None):
        is_told = known.is_interval or known.sigmas is not None or match["limit"]
        return (f"limits {known.sigmas}" if is_told else "ends"), match["side"].lower() in (*UPPER, "r")
    return None


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
    rest = re.sub(rf"(?i)[_. -](?:{PART})$", "", rest)
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


# -- columns of pairs of features


def named_pairs(names: Sequence[str], features: Iterable[str]) -> dict[str, dict[tuple[str, str], str]]:
    """Columns of correlations ("corr") and of covariances ("cov") of two features: ``a_b_corr``, ``cov_a_b``.

    Covariances may be of one feature twice: its variance.
    """
    known = set(features)
    found: dict[str, dict[tuple[str, str], str]] = {"corr": {}, "cov": {}}
    for kind, words in PAIR_WORDS.items():
        forms = [re.compile(rf"(?i)^(?:{word}[_.\- ](?P<a>.+)|(?P<b>.+)[_.\- ]{word})$") for word in words]
        for column in names:
            match = next(filter(None, (form.match(column) for form in forms)), None)
            rest = "" if match is None else match["a"] or match["b"]
            for k in range(1, len(rest)):
                pair = rest[:k], rest[k + (rest[k] in SEPARATORS) :]
                is_pair = {*pair} <= known and (pair[0] != pair[1] or kind == "cov")
                if is_pair and pair[::-1] not in found[kind]:
                    found[kind].setdefault(pair, column)
    return found


def is_called_matrix(column: str) -> bool:
    """Is one of its words that for a covariance?"""
    return any(part in PAIR_WORDS["cov"] for part in re.split(r"[_.\- ]", column.lower()))
