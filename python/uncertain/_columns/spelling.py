"""The words for error bars, and names of spreadsheets and laboratories in the spelling of catalogues.

``Mass (SD)``, ``Mass standard deviation (kg)``, ``Uncertainty of Mass``, ``σ(Mass)`` and ``Mass ±`` are read
as ``Mass SD``, ``Mass std (kg)``, ``Uncertainty Mass``, ``std Mass`` and ``Mass err``. That such a column is
an error bar takes more: a column with the rest of its name (`names`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

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


def spelled(names: Sequence[str]) -> list[str]:
    """The names with plain words for what they write as a symbol, a phrase or in brackets."""
    return [reduce(lambda name, way: way[0].sub(way[1], name), _AS_WORDS, name).strip() for name in names]
