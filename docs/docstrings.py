"""Docstrings for readers of the site: what numpydoc would print as a type, though it is a sentence.

Docstrings say ``name : text that goes on in the next lines``, which reads well in `help()`, and which
numpydoc takes for a type in bold with a broken end. Before numpydoc reads a docstring, such text becomes
the description; lines that begin with a value (``"auto": ...``) become a list; paragraphs behind the last
entry of a section go above the first section. Afterwards the parameters of `uncertain.fit`, of which there
are many, get headings; a parameter without a group comes last.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import Any

SECTIONS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "Other Parameters")
ENTRY = re.compile(r"(?P<names>[*\w][\w*, ]*?) : (?P<text>.+)")
NAME = re.compile(r"[*\w]+(, [*\w]+)*")
"""An entry whose text stands below it."""
TYPE = re.compile(
    r"^[{(]|\bdefault=|\b(float|int|bool|str|dict|list|tuple|array|ndarrays?|array-like|None|callable|ignored|"
    r"Gaussian\w+|DataFrame|Pipeline|Path|Report|Model|figure|Axes|generator)\b"
)
DEFAULT = re.compile(r'.*\bdefault=("[\w-]+"|[\w.+-]+)')
"""What ends with a default is a type, however the text below it begins."""
ARRAY = re.compile(
    r"(float|int)( or None)?|(float, or )?(ndarrays?|array-like)( of shape \(.*\)(, and float)?)?"
)
"""Types, however the text below them begins."""
VALUE = re.compile(r'(?:"[\w-]+"(?:, |(?= \()|(?=:)))+(?: \([^)]*\))?: ')
"""What begins a line that explains a value of an option."""

PARAMETER_GROUPS = {
    "The table": ("table", "target", "target_std", "sample_weight", "groups", "offset", "event"),
    "Which columns hold what; by default they are found by name": (
        "mean",
        "std, var, cov, precision, factor",
        "features",
        "bounds",
        "exact",
        "categorical",
        "corr",
        "limits",
        "draws",
        "modes",
        "columns",
    ),
    "The model": ("task", "method", "meaning", "effort", "noise", "curve", "**params"),
    "Before the model": ("transform", "scale", "on_missing", "handle_unknown"),
    "Resources": ("memory", "random_state", "time_limit"),
}
"""Of `uncertain.fit`; names of entries of its docstring, a name that it does not have is no fault."""


def is_type(text: str, rest: list[str]) -> bool:
    """Is this the type of a parameter, and not the beginning of a sentence about it?"""
    if ARRAY.fullmatch(text) or DEFAULT.fullmatch(text):
        return True
    first = next((line.strip() for line in rest if line.strip()), "")
    goes_on = first[:1].islower() or first.startswith(("``", "(", "`")) or text.endswith((",", ";"))
    return bool(TYPE.search(text)) and not goes_on and not text.endswith(".") and len(text) < 90


def read_entries(lines: list[str]) -> tuple[list[list[str]], list[str]]:
    """The lines of a section by entry, which a line that is not indented begins, and the text behind them."""
    entries: list[list[str]] = []
    for k, line in enumerate(lines):
        if line.strip() and not line.startswith(" "):
            after_blank = k > 0 and not lines[k - 1].strip()
            if after_blank and not ENTRY.fullmatch(line) and not NAME.fullmatch(line):
                return entries, lines[k:]
            entries.append([line])
        elif entries:
            entries[-1].append(line)
        elif line.strip():
            return [], []
    return entries, []


def with_description(entry: list[str]) -> list[str]:
    """An entry whose text stands below its name, unless it is a type."""
    head, *rest = entry
    match = ENTRY.fullmatch(head)
    if match and not is_type(match["text"], rest):
        text = match["text"]
        rest = [f"    {text if text.startswith(('x_', 'ndarray')) else text[0].upper() + text[1:]}", *rest]
        head = match["names"]
    return [head, *as_list(rest)]


def as_list(lines: list[str]) -> list[str]:
    """Lines from one that begins with a value on as items of a list."""
    starts = [bool(VALUE.match(line.strip())) for line in lines]
    if sum(starts) < 2:
        return lines
    found: list[str] = []
    within = False
    for line, starts_item in zip(lines, starts, strict=True):
        if starts_item:
            found += ["", f"    - {line.strip()}"]
            within = True
        else:
            found.append(f"      {line.strip()}" if within and line.strip() else line)
    return found


def describe(_app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the sections of a docstring in place, before numpydoc."""
    underlined = [i for i in range(1, len(lines)) if lines[i] and set(lines[i]) == {"-"}]
    starts = [i - 1 for i in underlined if lines[i - 1].strip()]
    bounds = [*starts, len(lines)]
    blocks = [lines[: bounds[0]]]
    for start, end in pairwise(bounds):
        heading, body = lines[start : start + 2], lines[start + 2 : end]
        if heading[0].strip() in SECTIONS:
            entries, text = read_entries(body)
            body = [*chain.from_iterable(map(with_description, entries)), ""] if entries else body
            blocks[0] += ["", *text, ""] if text else []
        blocks.append(heading + body)
    lines[:] = chain.from_iterable(blocks)


def group(_app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Headings between the parameters of `uncertain.fit`, behind numpydoc."""
    if name != "uncertain.fit":
        return
    start = next(i for i, line in enumerate(lines) if line.startswith(":Parameters:"))
    end = next(i for i in range(start + 1, len(lines)) if re.match(r":\w+:|\.\. ", lines[i]))
    indent = next(len(line) - len(line.lstrip()) for line in lines[start + 1 : end] if line.strip())
    entries: dict[str, list[str]] = {}
    for line in lines[start + 1 : end]:
        if line.strip() and len(line) - len(line.lstrip()) == indent:
            key = re.sub(r"[\\`]|(?<!\*)\*\*(?=\w)|(?<=\w)\*\*", "", line.strip()).partition(" : ")[0]
            entries[key] = []
        if entries:
            entries[next(reversed(entries))].append(line)
    plain = {key.lstrip("*"): key for key in entries}
    found: list[str] = []
    pad = " " * indent
    for heading, names in PARAMETER_GROUPS.items():
        known = [plain.pop(each.lstrip("*")) for each in names if each.lstrip("*") in plain]
        if known:
            found += ["", f"{pad}.. rst-class:: parameter-group", "", f"{pad}{heading}", ""]
            found += chain.from_iterable(entries[key] for key in known)
    if plain:
        found += ["", f"{pad}.. rst-class:: parameter-group", "", f"{pad}More", ""]
        found += chain.from_iterable(entries[key] for key in plain.values())
    lines[start + 1 : end] = [*found, ""]


def hide_signature(_app: Any, what: str, name: str, *_: Any) -> tuple[str, str] | None:
    """Of a class that users get from `uncertain.fit` and never make."""
    return ("", "") if name == "uncertain.Model" else None


def setup(app: Any) -> dict[str, bool]:
    """Around numpydoc, whose own handler has priority 500."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", describe, priority=400)
    app.connect("autodoc-process-docstring", group, priority=600)
    app.connect("autodoc-process-signature", hide_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
