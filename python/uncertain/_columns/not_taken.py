"""Numeric columns that a fit leaves out.

A numeric column without an error bar may be an identifier, or an exact value, and only the caller knows: it
is left out, and a warning says so with the argument that would take it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .bars import listing
from .claims import looks_like_error
from .columns import Columns
from .features import Types
from .hints import hints, of_readings
from .names import error_bars


def exact_candidates(columns: Columns, types: Types) -> tuple[list[str], list[str]]:
    """Numeric columns that were not taken: those that may be exact, and those that look like error bars."""
    others = {name for column in (columns.target, columns.groups) for name in _like(column, columns.ignored)}
    free = [n for n in columns.ignored if n not in others | columns.found.empty]
    numeric = [n for n in free if types.get(n) == "number"]
    suspects = [n for n in numeric if looks_like_error(n)]
    return [n for n in numeric if n not in suspects], suspects


def _like(column: object, names: Sequence[str]) -> set[str]:
    """Those of the names that are called like error bars of a column."""
    if not isinstance(column, str) or not names:
        return set()
    bars = error_bars([column, *(name for name in names if name != column)]).get(column, [])
    return {name for bar in bars if bar.sure for name in bar.columns}


def left_out(columns: Columns, types: Types, gain: str = "") -> str | None:
    """The warning about numeric columns that were not taken; None if none is left.

    `gain`: what a choice found that they would be worth.
    """
    plain, suspects = exact_candidates(columns, types)
    parts = []
    if plain:
        parts.append(
            f"left out, because no column is its error bar: {listing(plain, 20)}; "
            f'exact={plain[:3]!r} takes such columns as exact values, exact="all" takes all{gain}'
        )
    if suspects:
        parts.append(
            f"left out, though it looks like an error bar: {listing(suspects, 20)}; "
            f'std={{"feature": {suspects[0]!r}}} says which feature it belongs to'
        )
    parts += hints([*plain, *suspects])
    parts += of_readings({f: b.columns[0] for f, b in columns.bars().items() if b.kind == "std"}, plain)
    if not parts:
        return None
    return "; ".join(parts) + " (exact=[] takes none and says nothing)"
