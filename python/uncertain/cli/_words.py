"""Messages of the library, which name Python arguments, with the names of options instead."""

from __future__ import annotations

import ast
import re
import shlex

from ._columns import BARS, LISTS, PAIRS

OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *(
            "target",
            "target_std",
            "groups",
            "features",
            "exact",
            "categorical",
            "draws",
            "task",
            "method",
            "meaning",
        ),
        *(
            "on_missing",
            "handle_unknown",
            "scoring",
            "max_seconds",
            "folds",
            "repeats",
            *BARS,
            *PAIRS,
            *LISTS,
        ),
    )
} | {"sample_weight": "--weight", "probability": "-p probability"}
"""The options of arguments."""

_NAMES = "|".join(sorted(OPTIONS, key=len, reverse=True))
_VALUE = r""""[^"]*"|'[^']*'|\[[^\]]*\]|\{(?:[^{}]|\{\})*\}|True|False|None|-?\d[\w.+-]*"""
_ARGUMENT = re.compile(rf"(?<![\w.])({_NAMES})=({_VALUE})")


def in_options(message: str) -> str:
    """``exact=["airmass"]`` as ``--exact airmass``, ``on_missing="impute"`` as ``--on-missing impute``."""
    return _ARGUMENT.sub(lambda match: _option(match[1], match[2]) or match[0], message)


def _option(name: str, text: str) -> str | None:
    option = OPTIONS[name]
    if "..." in text:  # not to be repeated as it stands
        return None
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    if name == "probability":
        return f"{option}={value}"
    if name == "groups" and value is False:
        return "--rows"
    if isinstance(value, dict):
        return " ".join(f"{option} {_word(f'{_listed(key)}={_listed(to)}')}" for key, to in value.items())
    return f"{option} {_word(_listed(value) or 'none')}"


def _listed(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _word(text: str) -> str:
    """As a shell reads it; braces of patterns are quoted for readability, though few shells need it."""
    return f'"{text}"' if "{" in text and '"' not in text else shlex.quote(text)
