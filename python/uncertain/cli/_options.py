"""Options that commands share, and how their texts become arguments of Python functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from .._data.choices import ARMS, EFFORTS, HANDLE_UNKNOWN, MEANINGS, METHOD_NAMES, ON_MISSING, TASKS

if TYPE_CHECKING:
    from .._data.typing import Function

ROLES = {
    "features": ("A,B,...", "Scalar columns with error bars."),
    "exact": (
        "A,B,...",
        "Scalar columns without error bars that are features; all: every numeric column that is left; none: "
        "no other column, and no warning about them.",
    ),
    "categorical": ("A,B,...", "Columns of categories."),
    "draws": ("A,B,...", "Columns of lists: draws of each row."),
    "std": (
        "BARS",
        "Standard deviations: a pattern such as {}_unc, FEATURE=COLUMN, or FEATURE=UPPER,LOWER.",
    ),
    "var": ("BARS", "Variances, in the same way."),
    "bounds": ("BARS", "Limits one standard deviation away: {}_lo,{}_hi, or FEATURE=LOWER,UPPER."),
    "cov": ("PAIRS", "Covariances: a column of matrices, a pattern such as cov_{}_{}, or A,B=COLUMN."),
    "corr": ("PAIRS", "Correlations: a pattern such as {}_{}_corr, or A,B=COLUMN."),
    "limits": (
        "FLAGS",
        "Flags of values that are limits (-1 or < upper, 1 or > lower): a pattern such as {}_limit, or "
        "COLUMN=FLAGS.",
    ),
    "mean": ("NAME", "Column with a list of d numbers per row."),
    "precision": ("NAME", "Column with d * d numbers per row, the inverse of a covariance matrix."),
    "factor": ("NAME", "Column with d * r numbers per row, a factor of one."),
}
"""Roles of columns: form of the text, and help."""
CHOICES = {
    "task": (TASKS, "What the target is."),
    "method": (METHOD_NAMES, "Which model to fit."),
    "meaning": (MEANINGS, "What error bars mean."),
    "arms": (ARMS, "What is kept of asymmetric error bars."),
    "effort": (EFFORTS, "How much to compare, with --method auto."),
    "on-missing": (ON_MISSING, "What a missing value or error bar means."),
    "handle-unknown": (
        HANDLE_UNKNOWN,
        "What to do with a category that was not in the fit; ignore: treat it as none of the known ones.",
    ),
}
"""Options with a few words: the words, of which the first is the default, and help."""
DEFAULTS = {"effort": "normal"}

groups_option = click.option(
    "--groups", metavar="NAME", help="Column that rows of one object share; such rows are held out together."
)
weight_option = click.option("--weight", "sample_weight", metavar="NAME", help="Column of weights.")
progress_option = click.option(
    "--progress/--no-progress",
    default=None,
    help="Show progress on stderr; by default on a terminal only.",
)


def role_options(roles: Iterable[str]) -> Callable[[Function], Function]:
    """Options for roles of columns."""
    return _all(
        click.option(
            f"--{role}",
            metavar="NAME" if form.isalpha() else form,
            multiple=form in ("BARS", "PAIRS", "FLAGS"),
            callback=_parsed,
            help=text,
        )
        for role, (form, text) in ROLES.items()
        if role in roles
    )


def choice_options(*names: str) -> Callable[[Function], Function]:
    """Options of `CHOICES`."""
    return _all(
        click.option(
            f"--{name}",
            default=DEFAULTS.get(name, CHOICES[name][0][0]),
            show_default=True,
            type=click.Choice(CHOICES[name][0]),
            help=CHOICES[name][1],
        )
        for name in names
    )


def _all(options: Iterable[Callable[[Function], Function]]) -> Callable[[Function], Function]:
    listed = list(options)

    def decorate(command: Function) -> Function:
        for option in reversed(listed):
            command = option(command)
        return command

    return decorate


def names(text: str) -> list[str]:
    """Names of columns, separated by commas."""
    columns = [name.strip() for name in text.split(",")]
    if not all(columns):
        raise click.BadParameter(f"{text!r} must be names of columns with commas between them, such as u,g,r")
    return columns


def _parsed(_: click.Context, option: click.Parameter, given: str | tuple[str, ...] | None) -> Any:
    """A column, a pattern, a list of columns, or a dictionary by feature or pair of features."""
    role = option.name or ""
    form = ROLES[role][0]
    if not given:
        return None
    if isinstance(given, str):
        if form == "NAME" or (role, given) == ("exact", "all"):
            return given
        return [] if (role, given) == ("exact", "none") else names(given)
    if len(given) == 1 and "=" not in given[0]:
        return names(given[0]) if form == "BARS" and "," in given[0] else given[0]
    if not all("=" in text for text in given):
        raise click.BadParameter("either one name or pattern, or FEATURE=COLUMN every time", param=option)
    pairs = ((key.strip(), column.strip()) for key, _, column in (text.partition("=") for text in given))
    if form == "PAIRS":
        return {tuple(names(key)): column for key, column in pairs}
    return {k: tuple(names(c)) if form == "BARS" and "," in c else c for k, c in pairs}


def parameter(text: str) -> tuple[str, object]:
    """KEY=VALUE; numbers, booleans and None as in Python, anything else is a string."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE, such as alpha=1e-2", param_hint="--param")
    if key in {"scale", "transform", *(option.name for option in click.get_current_context().command.params)}:
        raise click.BadParameter(f"{key} is an option of its own", param_hint="--param")
    if key in ("callback", "verbose"):
        raise click.BadParameter(f"{key} is for Python; here it is --progress", param_hint="--param")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value
