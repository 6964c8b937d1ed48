"""Columns that look like error bars, limits or flags, whoever's: no features, and named where not read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from . import rules
from .error_bar import ONE_SOURCE, Doubt, ErrorBar, another
from .error_names import folded, looks_like_error, quantile_of, readings, told, without_unit
from .value_names import ValueNames, abbreviates, is_called_matrix, lone_mark, named_pairs

if TYPE_CHECKING:
    from .contents import Look


@dataclass
class Suspects:
    """The names of a table's columns, and what they look like."""

    names: Sequence[str]
    numeric: Collection[str] | None = None
    """Columns of numbers; None where types are unknown, and letters and places count for nothing."""
    look: Look | None = None
    """What the numbers of columns say; None for names alone."""

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
                why = ONE_SOURCE if rules.PARTS.match(column) else f"an error bar of {left}?"
                yield Doubt(bar, (left,), why)
            elif owner and owner not in read and self.look is not None and self.look.is_small(column, owner):
                why = f"an error bar of {owner}? It is called like it, and smaller"
                why = ONE_SOURCE if {*map(str.lower, tokens)} & {*rules.PARTIAL} else why
                others.setdefault(text.replace(part, ""), []).append(Doubt(bar, (owner,), why))
        for doubts in others.values():
            yield from (doubt._replace(is_likely=len(doubts) > 1) for doubt in doubts)

    def alike(self, bars: Mapping[str, Sequence[ErrorBar]]) -> set[str]:
        """Return columns that end as error bars by letters do, whoever's: wse_r_u beside width_u."""
        pairs = [(value, bar.columns[0]) for value, own in bars.items() for bar in own[:1] if not bar.sure]
        ends = {column[len(value) :] for value, column in pairs if column.startswith(value)}
        ends = {end for end in ends if end[:1] in tuple(rules.SEPARATORS)}
        return {name for name in self.names if name.endswith(tuple(ends))} if ends else set()

    @cached_property
    def pairs(self) -> dict[str, dict[tuple[str, str], str]]:
        return named_pairs(self.names, self.names)

    @cached_property
    def known(self) -> ValueNames:
        return ValueNames(self.names, self.numeric)

    @cached_property
    def flags(self) -> dict[str, str]:
        """By column the column that may flag its limits."""
        flags: dict[str, str] = {}
        left = ""
        for column, right in zip(self.names, (*self.names[1:], ""), strict=True):
            if rules.LONE_FLAG.match(column) and left:
                flags.setdefault(left, column)
            elif column in (self.numeric or ()) and not looks_like_error(column):
                left = column
            for match in filter(None, (pattern.match(column) for pattern in rules.FLAGS)):
                base = match["base"]
                value = self.known.one(base) or self.known.mean(base)
                if value is None and len(base) > 1 and abbreviates(base, right, adjacent=False):
                    value = right  # operator_hl left of half_life
                if value is not None and value != column:
                    flags.setdefault(value, column)
            if self.look is not None and column not in flags.values() and self.look.holds_signs(column):
                words = {*re.split(r"[\W_]+", column.lower())}
                sides = [n for n in (right, left) if n in (self.numeric or ()) and not looks_like_error(n)]
                named = [n for n in sides if words & {*re.split(r"[\W_]+", n.lower())}]
                flags = dict.fromkeys((named or sides)[:1], column) | flags
        return flags

    @cached_property
    def suspects(self) -> set[str]:
        """Columns that look like an error bar, a limit or a flag of one, whoever's."""
        suspects = {
            n
            for n in self.names
            if looks_like_error(n) or rules.PARTS.match(n) or lone_mark(n) or rules.NO_FEATURES.search(n)
        }
        sides: dict[tuple[str, str, object], dict[bool, str]] = {}
        for name in self.names:
            for r in readings(told(name).text, wide=told(name).is_interval):
                if r.place is not None and r.rest:
                    sides.setdefault((folded(r.rest), r.kind, r.place), {})[r.upper] = name
            quantile = quantile_of(name)
            if quantile is not None and f"{folded(quantile[0])}q4" not in map(folded, self.names):
                place = min(quantile[1], 100.0 - quantile[1])
                sides.setdefault((folded(quantile[0]), "limits", place), {})[quantile[1] > 50.0] = name
        ends = [pair for pair in (*self.ends.values(), *sides.values()) if len(pair) == 2]
        pairs = (pair.values() for pair in self.pairs.values())
        return suspects.union(self.flags.values(), *(p.values() for p in ends), *pairs) - self.symbols

    @cached_property
    def of_draws(self) -> list[str]:
        """The standard errors of means of draws, beside what is told of their chains."""
        words = {name: {*re.split(r"[\W_]+", name.lower())} for name in self.names}
        is_told = any(map(rules.CHAINS.match, self.names))
        return [name for name, own in words.items() if is_told and own & {"mcse", "se"}]

    @cached_property
    def symbols(self) -> set[str]:
        """Names of two letters among others of this form, which are elements, countries or components (Se,
        SD), and sigma among Greek letters."""
        names = [name for name in self.numeric or () if len(name) == 2 and name.isalpha()]
        forms = Counter((name.isupper(), name.islower()) for name in names)
        is_greek = any(map(rules.GREEK.match, self.names))
        sigma = [name for name in self.names if is_greek and name.lower() == "sigma"]
        return {*sigma, *(name for name in names if forms[name.isupper(), name.islower()] > 3)}

    @cached_property
    def ends(self) -> dict[str, dict[bool, str]]:
        """By column what are called its low (False) and its high end: bin edges, intervals."""
        ends: dict[str, dict[bool, str]] = {}
        for column in self.names:
            match = next(filter(None, (pattern.match(told(column).text) for pattern in rules.ENDS)), None)
            base = match and (self.known.one(match["base"]) or self.known.mean(match["base"]))
            if match is not None and base is not None and base != column:
                ends.setdefault(base, {})[match["side"].lower() in rules.UPPER] = column
        return {base: pair for base, pair in ends.items() if len(pair) == 2}


def names_flags(column: str) -> bool:
    """Does a name say that the column has flags of limits, and of which column?"""
    return not rules.LONE_FLAG.match(column) and any(pattern.match(column) for pattern in rules.FLAGS)
