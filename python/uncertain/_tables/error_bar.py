"""The error bar of a column: which columns it is, and how their numbers become standard deviations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from . import rules
from .error_names import Kind, folded, phrased, quantile_of, readings, sigmas_of, told, unit_of


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
    if level is None and len(columns) == 2 and (ends := quantiles_of(*columns)) is not None:
        sigmas = sigmas_of((ends[1] - ends[0]) / 100.0)
    unit, of_value = unit_of(column), unit_of(feature)
    in_percent = unit in ("%", "percent") and of_value not in ("%", "percent")
    share = 0.01 if in_percent else known.share * (not plain)
    factor = None if share or kind == "limits" else unit_factor(unit, of_value)
    return ErrorBar(kind, tuple(columns), sigmas=sigmas or 1.0, share=share, unit=factor or 1.0)


_CELSIUS = re.compile(r"(?i)^(?:°|deg(?:rees?)?[_ ]?)c(?:elsius)?$|^celsius$")


def quantiles_of(low: str, high: str) -> tuple[float, float] | None:
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


def best_of(bars: Sequence[ErrorBar]) -> list[ErrorBar]:
    """Return those that come first: one, or several between which only the caller can choose."""
    return [bar for bar in bars if rank(bar) == rank(bars[0])]


def rank(bar: ErrorBar) -> float:
    """Return the place of an error bar among several of a value: arms, standard deviations, limits."""
    known = told(bar.columns[0])
    words = {*re.split(r"[_.\- ]", known.text.lower())}
    part = 0.25 * bool(words & {*rules.PARTIAL}) - 0.25 * bool(words & {*rules.BEST})
    part += 0.5 * bool(known.share) + 0.125 * (known.sigmas not in (None, 1.0))
    part += 0.0625 * bool(re.search(rf"(?i)(?:{'|'.join(rules.OF_POPULATIONS)})$", known.text))
    part += 0.03125 * (bar.kind == "var")
    return {"arms": 0.0, "limits": 2.0}.get(bar.kind, 1.0) + part


def is_level_unsaid(column: str) -> bool:
    """Does the name of a limit or an arm tell nothing of its level, as an error word or a quantile does?"""
    found = [r for text in (phrased(column), told(column).text) for r in readings(text)]
    arms = (*rules.LETTER_ARMS, rules.LONE_ARM, re.compile("[eE]_"))
    is_told = told(column).sigmas is not None or quantile_of(column) is not None
    return not (is_told or any(r.kind == "arms" for r in found) or any(arm.match(column) for arm in arms))


def pair_of(kind: str, pair: dict[bool, str], *, sure: bool = True) -> ErrorBar:
    """Return the error bar of two columns, by whether they are the upper one."""
    if kind == "limits":
        return ErrorBar("limits", (pair[False], pair[True]), sure)
    return ErrorBar("arms", (pair[True], pair[False]), sure)
