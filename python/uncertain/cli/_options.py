"""Options that commands share, and how their texts become values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

import click

METHODS = (
    *("auto", "gsu", "kernel", "huber", "discriminant", "minimax"),
    *("usvc", "tsvc", "ausvc", "mpsvc", "psvm"),
)
"""Those of `uncertain.fit`, which is imported when it is needed: help must not take two seconds."""
MEANINGS = ("auto", "spread", "measurement")
TASKS = ("auto", "classification", "regression")
ON_MISSING = ("error", "point", "impute")
ROLES = {
    "mean": "Column with a list of d numbers per row.",
    "std": "Standard deviations: a column, or a pattern such as {}_err.",
    "var": "Variances: a column, or a pattern such as {}_var.",
    "cov": "Column with d * d numbers per row, a covariance matrix.",
    "precision": "Column with d * d numbers per row, the inverse of it.",
    "factor": "Column with d * r numbers per row, a factor of it.",
    "corr": "Pattern of the correlations of scalar columns, such as {}_{}_corr.",
}
"""The roles of columns, and what they are."""

Command = TypeVar("Command", bound=Callable[..., Any])


def names(text: str) -> list[str]:
    """Names of columns, separated by commas."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise click.BadParameter(f"{text!r} must be names of columns with commas between them, such as u,g,r")
    return found


def column_options(command: Command) -> Command:
    """--features and the roles of columns."""
    for role, text in reversed(ROLES.items()):
        command = click.option(f"--{role}", metavar="NAME", help=text)(command)
    return click.option(
        "--features", type=names, metavar="A,B,...", help="Scalar columns, instead of --mean."
    )(command)


def progress_option(command: Command) -> Command:
    """--progress, by default on a terminal only."""
    return click.option(
        "--progress/--no-progress",
        default=None,
        help="Say on stderr what is being done; by default on a terminal only.",
    )(command)


def parameter(text: str) -> tuple[str, Any]:
    """KEY=VALUE; numbers, booleans and None as in Python, anything else is a string."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE, such as alpha=1e-2", param_hint="--param")
    if key in (*ROLES, "features", "groups", "target", "scale"):
        raise click.BadParameter(f"{key} is an option of its own", param_hint="--param")
    if key in ("callback", "verbose"):
        raise click.BadParameter(f"{key} is for Python; here it is --progress", param_hint="--param")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value
