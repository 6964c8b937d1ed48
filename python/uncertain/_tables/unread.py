"""Columns that are not read: why, and what takes each of them; and one sentence on those that are.

Warnings, refusals, `Columns.find` and the line "left out" of ``print(model)`` say it in the same words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import rules
from .columns import ROLES, Columns, listing, roles_of_bars
from .error_bar import ONE_SOURCE, Doubt, ErrorBar, is_level_unsaid
from .error_names import looks_like_error
from .rules import derived

if TYPE_CHECKING:
    from .._data.typing import ColumnType, Keywords
    from .contents import Look

LONGEST = 300
"""Letters of arguments that a message shows; longer ones are the code of `Columns.find`."""
NO_ERROR = "no error column"
IN_TEXT = "text; columns of numbers of this name are read as error bars"


def reasons(
    columns: Columns, types: Mapping[str, ColumnType], look: Look | None = None
) -> dict[str, tuple[str, str]]:
    """Return by column without a role why it has none; and what takes it: a role, or arguments of `fit`.

    `look`: what the numbers say.
    """
    found = columns.found
    flags = {flag: value for value, flag in found.flags.items()}
    empty = {column for own in found.empty.values() for column in own}
    of: dict[str, list[Doubt]] = {}
    for doubt in found.doubts:
        of.setdefault(doubt.why, []).append(doubt)
    doubted = {
        column: (why, arguments(columns, doubts))
        for why, doubts in reversed(of.items())
        for doubt in doubts
        for column in doubt.bar.columns
    }
    known: dict[str, tuple[str, str]] = {}
    for name in columns.ignored:
        if name in flags:
            taken = f"limits={ {flags[name]: name}!r}"
            known[name] = (f"flags of limits of {flags[name]}, which are read as values", taken)
        elif name in empty:
            known[name] = ("no number in any row", "")
        elif derived(name) and types[name] in ("number", "list"):
            known[name] = (derived(name), "")
        elif name in doubted:
            known[name] = doubted[name]
        elif name in found.of_target:
            known[name] = (f"error bar of the target {columns.target}", "")
        elif types[name] == "other" and looks_like_error(name) and name not in found.of_target:
            known[name] = (IN_TEXT, "")
        elif name in found.suspects:
            known[name] = ("error bar, limit or flag of no column that is read", "")
        else:
            known[name] = _of_content(name, types[name], look)
    return known


def _of_content(name: str, kind: ColumnType, look: Look | None) -> tuple[str, str]:
    """Return what a column without a role is by its name and numbers."""
    if kind == "number":
        kinds = ((rules.IDENTIFIER, ("identifier", "")), (rules.QUALITY, ("flag", "categorical")))
        found = next((what for form, what in kinds if form.search(name)), None)
        return found if found and (look is None or look.is_whole(name)) else (NO_ERROR, "exact")
    if kind == "other":
        n, n_distinct = (0, 0) if look is None else look.n_distinct(name)
        return "text", "categorical" if n and n_distinct <= max(2, min(n // 5, 20)) else ""
    return {"list": "lists", "distribution": "distributions"}.get(kind, "text"), ""


def reasons_text(columns: Columns, names: Iterable[str], before: str | None = None) -> str:
    """Return why these columns are not read, and what takes them; `before`: in place of their names."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names:
        groups.setdefault(columns.found.reasons.get(name, ("", "")), []).append(name)
    texts = []
    for (why, takes), group in groups.items():
        argument = f"{takes}={group[:8]!r}" if takes in ROLES else takes
        takes_it = f"{argument} takes {'it' if len(group) == 1 else 'them'}" if argument else ""
        reason = "; ".join(filter(None, (why, takes_it)))
        own = f"{listing(group, 20)} ({reason})" if reason else listing(group, 20)
        texts.append(own if before is None else before + reason)
    return ", ".join(texts)


def left_out(columns: Columns, types: Mapping[str, ColumnType]) -> str | None:
    """Return the warning about numeric columns that were not taken; None if none is left."""
    unread = {*columns.found.of_target, *(name for own in columns.found.empty.values() for name in own)}
    usable = {*columns.scalars, columns.target}
    flags = {flag for value, flag in columns.found.flags.items() if value in usable}
    names = [n for n in columns.ignored if (n not in unread and types.get(n) == "number") or n in flags]
    names += [n for n in columns.ignored if columns.found.reasons.get(n, ("",))[0] == IN_TEXT]
    if not names:
        return None
    return f"left out: {reasons_text(columns, names)}. exact=[] leaves them out without this warning."


def doubt_text(doubt: Doubt) -> str:
    """Return a doubt for a message."""
    return f"{doubt.bar}{' of ' + ' or '.join(doubt.of) if doubt.of else ''} ({doubt.why})"


def roles_with(columns: Columns, doubts: Iterable[Doubt]) -> Keywords:
    """Return the roles that take these error bars beside those that are read; none where there is no column
    that they are of, or it has one."""
    target, found = columns.target, columns.found
    has_std = columns.target_std or found.target_stds or found.target_pairs_of_arms
    bars, levels, roles = dict(columns.error_bars), dict[str, float](), dict[str, Any]()
    known = {*bars, target} if has_std else {*bars}
    for doubt in doubts:
        if not doubt.of or doubt.of[0] in known or doubt.why == ONE_SOURCE:
            continue
        value, names = doubt.of[0], doubt.bar.columns
        known.add(value)
        if value == target:
            roles["target_std"] = names[0] if len(names) == 1 else names
        else:
            bars[value] = doubt.bar
        if doubt.level is not None:
            levels[value] = doubt.level
    if len(bars) > len(columns.error_bars):
        roles |= roles_of_bars(bars)
    if levels:
        every = {*levels} == {*bars, *({target} & known)} and len({*levels.values()}) == 1
        roles["level"] = next(iter(levels.values())) if every else levels
    return roles


def arguments(columns: Columns, doubts: Iterable[Doubt]) -> str:
    """Return the arguments of `fit` that take these error bars beside those that are read."""
    roles = roles_with(columns, doubts)
    if roles.keys() == {"std"}:
        roles = {"columns": roles["std"]}
    text = ", ".join(f"{role}={value!r}" for role, value in roles.items())
    return text if len(text) <= LONGEST else "columns=Columns.find(...), corrected,"


def refusal(columns: Columns, candidates: Sequence[str], numbers: Collection[str], lists: list[str]) -> str:
    """Return why a table without error bars is refused, and what takes it."""
    doubts = [doubt for doubt in columns.found.doubts if not derived(doubt.bar.columns[0])]
    likely = [doubt for doubt in doubts if doubt.is_likely]
    named = {c for doubt in doubts for c in (*doubt.bar.columns, *doubt.of[: doubt.is_likely])}
    plain = [n for n in candidates if n in numbers and n not in named | columns.found.suspects]
    plain = [name for name in plain if not rules.IDENTIFIER.search(name)]
    texts = [doubt_text(doubt) for doubt in doubts[:5]]
    texts += [f"{', '.join(n)} of {v} (no number in any row)" for v, n in columns.found.empty.items()]
    texts += [f"{name} ({derived(name)})" for name in candidates if derived(name)]
    advice = [f"{typed} takes them"] if (typed := arguments(columns, likely)) else []
    if lists:
        advice.append(f"mean={lists[0]!r} takes rows as exact points")
    if plain:
        advice.append(f"exact={plain[:8]!r} takes numbers as exact")
        if not typed:
            advice.append("columns={feature: error column} names error columns")
    why = f"{'; '.join(texts)}. " if texts else ""
    return f"no error bars found among the columns {listing(candidates)}: {why}{'; '.join(advice)}".rstrip(
        " :"
    )


def unsaid_level(columns: Columns, value: str, bar: ErrorBar) -> bool:
    """Are these limits, or arms, of a level that neither a name nor the caller tells?"""
    return columns.level_of(value) is None and len(bar.columns) == 2 and is_level_unsaid(bar.columns[0])


def unsaid_levels(columns: Columns, *, of_target: bool = False) -> str | None:
    """Return the warning about limits whose level no name tells; None if there are none."""
    target, bar_of_target = columns.target or "", columns.bar_of_target()
    bars = columns.error_bars if not of_target else {target: bar_of_target} if bar_of_target else {}
    unsaid = [f"{v} ({', '.join(b.columns)})" for v, b in bars.items() if unsaid_level(columns, v, b)]
    if not unsaid:
        return None
    return (
        f"no name tells the level of the limits of {listing(unsaid, 12)}: they are taken as one standard "
        "deviation. For 90 % limits pass level=0.9."
    )
