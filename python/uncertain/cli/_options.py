"""Options that commands share, and how their texts become values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ._columns import BARS, LISTS, PAIRS

METHODS = (
    *("auto", "gsu", "kernel", "huber", "discriminant", "minimax", "mixture"),
    *("usvc", "tsvc", "ausvc", "mpsvc", "psvm", "remeasured"),
)
"""Those of `uncertain.fit`, which is imported when it is needed: help must not take two seconds."""
EFFORTS = ("fast", "normal", "high")
MEANINGS = ("auto", "spread", "measurement")
TASKS = ("auto", "classification", "regression")
ON_MISSING = ("error", "point", "impute")
HANDLE_UNKNOWN = ("error", "ignore")
OPTIONS = (
    "features",
    "exact",
    "categorical",
    "groups",
    "target",
    "target_std",
    "task",
    "method",
    "meaning",
    "effort",
    "noise",
    "sample_weight",
    "memory",
    "spill",
)
"""Arguments of `uncertain.fit` that have an option of their own, beside those of columns."""

Command = TypeVar("Command", bound=Callable[..., Any])


def progress_option(command: Command) -> Command:
    """--progress, by default on a terminal only."""
    return click.option(
        "--progress/--no-progress",
        default=None,
        help="Say on stderr what is being done; by default on a terminal only.",
    )(command)


def on_missing_option(command: Command) -> Command:
    """--on-missing, as of `uncertain.fit`."""
    return click.option(
        "--on-missing",
        default="error",
        show_default=True,
        type=click.Choice(ON_MISSING),
        help="What a missing value or error bar means.",
    )(command)


def parameter(text: str) -> tuple[str, Any]:
    """KEY=VALUE; numbers, booleans and None as in Python, anything else is a string."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE, such as alpha=1e-2", param_hint="--param")
    if key in (*OPTIONS, *LISTS, *BARS, *PAIRS, "scale", "on_missing", "handle_unknown"):
        raise click.BadParameter(f"{key} is an option of its own", param_hint="--param")
    if key in ("callback", "verbose"):
        raise click.BadParameter(f"{key} is for Python; here it is --progress", param_hint="--param")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value
