"""Options that commands share, and how their texts become values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

import click

from .._data.choices import ON_MISSING

Command = TypeVar("Command", bound=Callable[..., object])


def progress_option(command: Command) -> Command:
    """--progress, by default on a terminal only."""
    return click.option(
        "--progress/--no-progress",
        default=None,
        help="Show progress on stderr; by default on a terminal only.",
    )(command)


def choice_option(
    name: str, choices: tuple[str, ...], text: str, default: str | None = None
) -> Callable[[Command], Command]:
    """One of a few words, by default the first."""
    return click.option(
        name, default=default or choices[0], show_default=True, type=click.Choice(choices), help=text
    )


on_missing_option = choice_option("--on-missing", ON_MISSING, "What a missing value or error bar means.")


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
