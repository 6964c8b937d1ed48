"""Options that commands share, and how their texts become arguments of Python functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from .._data.choices import OPTIONS
from .._data.options import refuse_if
from .._tables.columns import ROLES

if TYPE_CHECKING:
    from .._data.typing import Function

METAVARS = {
    "level": "LEVEL", "name": "NAME", "names": "A,B,...", "bars": "BARS", "pairs": "PAIRS", "flags": "FLAGS",
}  # fmt: skip
OPTION_OF = {"sample_weight": "--weight"}
"""Names of options that are not those of the roles."""
CHOICES = {
    "task": "Kind of the target.",
    "method": "Model to fit; auto compares models.",
    "meaning": "Meaning of error bars.",
    "arms": "Asymmetric error bars as mean and variance, or with their shape.",
    "effort": "Number of models to compare, with --method auto.",
    "on_missing": "Treatment of missing values and error bars.",
    "handle_unknown": "Categories that were not in the fit: refuse them, or ignore them.",
}
"""Help of options with a few words."""
DEFAULTS = {"effort": "normal"}
"""Where it is not the first word."""

progress_option = click.option(
    "--progress/--no-progress", default=None, help="Show progress on stderr; by default on a terminal only."
)


def role_options(roles: Iterable[str]) -> Callable[[Function], Function]:
    """Options for roles of columns."""
    return _all(
        click.option(
            OPTION_OF.get(role, f"--{role.replace('_', '-')}"),
            role,
            metavar=METAVARS[ROLES[role].form],
            multiple=ROLES[role].form in ("bars", "pairs", "flags"),
            callback=_parsed,
            help=ROLES[role].help,
        )
        for role in roles
    )


def choice_options(*names: str) -> Callable[[Function], Function]:
    """Options of `CHOICES`."""
    return _all(
        click.option(
            f"--{name.replace('_', '-')}",
            default=DEFAULTS.get(name, OPTIONS[name][0]),
            show_default=True,
            type=click.Choice(OPTIONS[name]),
            help=CHOICES[name],
        )
        for name in names
    )


def _all(options: Iterable[Callable[[Function], Function]]) -> Callable[[Function], Function]:
    backwards = [*options][::-1]
    return lambda command: reduce(lambda decorated, option: option(decorated), backwards, command)


def names(text: str) -> list[str]:
    """Names of columns, separated by commas."""
    columns = [name.strip() for name in text.split(",")]
    wanted = "names of columns with commas between them, such as u,g,r"
    refuse_if(not all(columns), f"{text!r} must be {wanted}", click.BadParameter)
    return columns


def _parsed(_: click.Context, option: click.Parameter, given: str | tuple[str, ...] | None) -> Any:
    """A column, a pattern, a list of columns, or a dictionary by feature or pair of features."""
    role = option.name or ""
    form = ROLES[role].form
    if not given:
        return None
    if form == "level":
        return float(str(given))
    if isinstance(given, str):
        if form == "name" or (role, given) == ("exact", "all"):
            return given
        return [] if (role, given) == ("exact", "none") else names(given)
    if len(given) == 1 and "=" not in given[0]:
        return names(given[0]) if form == "bars" and "," in given[0] else given[0]
    if not all("=" in text for text in given):
        raise click.BadParameter("either one name or pattern, or FEATURE=COLUMN every time", param=option)
    pairs = ((key.strip(), column.strip()) for key, _, column in (text.partition("=") for text in given))
    if form == "pairs":
        return {tuple(names(key)): column for key, column in pairs}
    return {k: tuple(names(c)) if form == "bars" and "," in c else c for k, c in pairs}


def parameter(text: str) -> tuple[str, object]:
    """KEY=VALUE; numbers, booleans and None as in Python, anything else is a string."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE, such as alpha=1e-2", param_hint="--param")
    if key in {"scale", "transform", *(option.name for option in click.get_current_context().command.params)}:
        raise click.BadParameter(f"{key} has an option: pass --{key.replace('_', '-')}", param_hint="--param")
    if key in ("callback", "verbose"):
        raise click.BadParameter(f"{key} is for Python; here it is --progress", param_hint="--param")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value
