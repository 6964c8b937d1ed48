"""Error columns of a table: names propose (`error_names`), places and numbers confirm or refuse."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from . import error_bar, rules
from .error_bar import OF_DRAWS, ONE_SOURCE, Doubt, ErrorBar, another, pair_of
from .error_names import told, unit_of, without_unit
from .suspects import Suspects
from .value_names import ValueNames, abbreviates, abbreviation, lone_mark

if TYPE_CHECKING:
    from .contents import Look


@dataclass
class ErrorNames(Suspects):
    """The names of a table's columns, each looked through for marks of error bars."""

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
        names = [name for name in (self.names if among is None else among) if name not in self.of_draws]
        no_bars = {c: why for c, why in self.refused.items() if c in self.suspects}
        no_bars |= dict.fromkeys(self.of_draws, OF_DRAWS)
        self.doubts = [Doubt(ErrorBar("std", (column,)), (), why) for column, why in no_bars.items()]
        known = ValueNames(names, self.numeric)
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
                bars.setdefault(value, []).append(pair_of(kind, pair))
        for (a, b), column in self.pairs["cov"].items():
            if a == b and {a, column} <= {*names}:
                bars.setdefault(a, []).append(ErrorBar("var", (column,)))
        bars = {
            value: kept for value, own in _unambiguous(bars).items() if (kept := self._certain(value, own))
        }
        taken = {column for own in bars.values() for bar in own for column in bar.columns}
        taken |= {column for doubt in self.doubts for column in doubt.bar.columns}
        taken |= {column for columns in self.empty.values() for column in columns}
        finders = (
            partial(_by_letters, errors, known, self.look),
            partial(self._by_place, names),
            self._by_initials,
        )
        for find in finders:
            for value, bar in find({*bars}, taken):
                shared = {*bar.columns} if told(bar.columns[0]).share and not bar.sure else set()
                if {*bar.columns} & (taken | bars.keys()) - shared or value in taken:
                    continue
                if value in bars:
                    look, column = self.look, bar.columns[0]
                    is_end = bar.kind == "limits"
                    if look is not None and (is_end or not look.contradiction(value, column, sure=False)):
                        self.doubts.append(another(bar, value, bars[value][0]))
                elif own := self._certain(value, [bar]):
                    bars[value] = own
                    taken |= {*bar.columns}
        self._doubt_ends({*names} - {c for own in bars.values() for bar in own for c in bar.columns})
        return {name: sorted(bars[name], key=error_bar.rank) for name in names if name in bars}

    def _certain(self, value: str, bars: Sequence[ErrorBar]) -> list[ErrorBar]:
        """Return those of a known level, in the unit of the value; of others keep a doubt."""
        kept = []
        for bar in bars:
            column = bar.columns[0]
            known, unit, wanted = told(column), unit_of(column), unit_of(value)
            factor = error_bar.unit_factor(unit, wanted)
            ends = error_bar.quantiles_of(*bar.columns) if len(bar.columns) == 2 else None
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
            if (
                bar.kind == "limits"
                and self.look is not None
                and self.look.lies_between(value, *bar.columns[::-1])
            ):
                why, is_likely, bar = (
                    "the lower one lies above",
                    True,
                    replace(bar, columns=bar.columns[::-1]),
                )
            elif ends is not None and not known.is_interval and ends[0] not in (2.5, 5.0, 16.0):
                why, level = "quantiles: of an error, or of a population?", (ends[1] - ends[0]) / 100.0
            elif known.is_interval and known.sigmas is None and not self.has_level and ends is None:
                why, level = "the name does not tell the level", 0.95
            elif unit not in ("%", "percent") and (
                factor is None or (factor != 1.0 and bar.kind == "limits")
            ):
                why = f"its unit is {unit}, and that of {value} is {wanted}"
            elif _is_spread_within(value, bar, self.names):
                why = "it stands beside a minimum and a maximum: a spread"
            elif column.startswith("s_") and any(map(rules.MEMBERS.search, self.names)):
                why = "members are counted beside it: a dispersion of them"
            elif all(rules.DEVIATION.search(b.columns[0]) for b in bars) and (count := self._count_of(value)):
                mean_error = f"{column} / sqrt({count}) is the error of their mean"
                why, is_likely = f"the scatter of the {count} readings? {mean_error}", True
            if why:
                self.doubts.append(Doubt(bar, (value,), why, level, is_likely or level is not None))
            else:
                kept.append(bar)
        return kept

    def _count_of(self, value: str) -> str:
        """Return the column of the numbers of readings behind a mean, "" without one."""
        if self.numeric is None or self.look is None or self.of_draws:
            return ""
        counts = [n for n in self.names if n in self.numeric and rules.COUNT.search(without_unit(n))]
        counts = [name for name in counts if self.look.is_whole(name)]
        parts = {n: re.split(r"[\W_]+", n.lower()) + re.findall(r"\d+", n) for n in self.names}
        words = {n: {*own} - {*rules.VALUE_WORDS, ""} for n, own in parts.items()}
        others = {w for n in self.numeric if n not in counts and n not in self.suspects for w in words[n]}
        foreign = others - words[value]
        counts.sort(key=lambda count: not words[value] & words[count])
        return next((n for n in counts if words[value] & words[n] or not foreign & words[n]), "")

    def _doubt_ends(self, free: Collection[str]) -> None:
        """Keep a doubt of what is called the low and the high end of a column, or a part of its errors."""
        for base, pair in self.ends.items():
            doubted = {column for doubt in self.doubts for column in doubt.bar.columns}
            if {*pair.values()} <= {*free} - doubted:
                bar, why, level = pair_of("limits", pair), "limits, or the ends of a bin", None
                if self.look is not None and not self.look.are_bins(*bar.columns):
                    why, level = "the names do not tell the level", 0.95
                self.doubts.append(Doubt(bar, (base,), why, level, level is not None))
        parts: dict[tuple[str, str], dict[bool, str]] = {}
        value = ""
        for column in self.names:
            if rules.PARTS.match(column) and column in free:
                parts.setdefault((value, column[:-1]), {})[column[-1] == "+"] = column
            elif self.numeric is not None and column in self.numeric and column not in self.suspects:
                value = column
        for (owner, _), pair in parts.items():
            if len(pair) == 2:
                self.doubts.append(Doubt(pair_of("arms", pair), (owner,) if owner else (), ONE_SOURCE))

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
        left_of: dict[str, list[str]] = {}
        found: list[tuple[str, ErrorBar]] = []
        last = ""
        for column in names:
            lone = None if column in self.symbols else lone_mark(column)
            is_error = lone or column in errors or column in self.suspects
            group, is_behind = [] if is_behind and not is_error else group, is_behind and bool(is_error)
            if (column in values or column in errors) and not lone:
                group, last = [], column if column in values else last
            elif column not in self.numeric:
                continue
            elif column in self.refused:
                group.append(column)
            elif lone is not None and (group or last):
                left_of[column] = [last, *group] if last else group
                last = group[-1] if group and not is_behind else last
                if isinstance(lone, tuple):
                    sides.setdefault((last, lone[0]), {})[lone[1]] = column
                else:
                    found.append((last, ErrorBar("std", (column,), sure=False)))
                group = []
            elif (rest := abbreviation(column)) is not None:
                nearest = "" if is_behind or not group else group[-1]
                owners = [value for value in group if abbreviates(rest, value, adjacent=value == nearest)]
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
                bar = pair_of("arms" if form == "arms" else "limits", pair, sure=False)
                if self.look is not None and bar.kind == "limits":
                    around = partial(self.look.lies_between, low=bar.columns[0], high=bar.columns[1])
                    value = next(filter(around, left_of[min(pair.values(), key=names.index)][::-1]), value)
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


def error_bars(names: Sequence[str]) -> dict[str, list[ErrorBar]]:
    """Return the error bars of all columns by their names, see `ErrorNames`."""
    return ErrorNames(names).bars()


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


def _by_letters(
    names: Sequence[str], known: ValueNames, look: Look | None, *_: Collection[str]
) -> Iterator[tuple[str, ErrorBar]]:
    """Yield (column, the error bar it may have) by marks of one to three letters; none by a mark that is
    one of differences in another column."""
    pairs: dict[str, dict[bool, str]] = {}
    families: dict[str, set[str]] = {}
    signed: set[re.Pattern[str]] = set()
    found: list[tuple[re.Pattern[str], str, ErrorBar]] = []
    for column in names:
        families.setdefault(column[:-1], set()).add(column[-1:].lower())
    for column in names:
        arm = rules.LETTER_ARMS[3].match(column)
        if arm is not None and arm["base"] in known.names:
            pairs.setdefault(arm["base"], {})[arm["side"] == "u"] = column
            continue
        for pattern, instead in rules.LETTERS:
            value = known.one(pattern.sub(instead, column, count=1)) if pattern.search(column) else None
            is_component = column[-2:] in ("_u", "_U") and not families[column[:-1]] <= {*"efqnu"}
            if value is not None and value != column and not is_component:
                found.append(
                    (pattern, value, ErrorBar("var" if column == "vi" else "std", (column,), sure=False))
                )
                signed |= {pattern} if look is not None and look.has_both_signs(column) else set()
                break
    yield from ((value, bar) for pattern, value, bar in found if pattern not in signed)
    yield from ((base, pair_of("arms", pair, sure=False)) for base, pair in pairs.items() if len(pair) == 2)
