"""Options of the command line; errors are one sentence on stderr."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .._data.choices import OPTIONS
from .._data.options import refuse_if
from .._tables.columns import ROLES

if TYPE_CHECKING:
    from .._data.typing import Function

WRONG, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
"""Exit codes; the last two are 128 + SIGINT and 128 + SIGPIPE, as shells report these signals."""


class Commands(click.Group):
    """A group of commands whose errors are sentences."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command and leave with its exit code."""
        extra["standalone_mode"] = False  # or click would end the program differently
        try:
            code: object = super().main(*args, **extra)
        except click.exceptions.NoArgsIsHelpError as error:  # whose message is the whole help
            click.echo(error.ctx.get_help() if error.ctx else str(error), err=True)
            sys.exit(WRONG)
        except click.Abort:
            end("interrupted", INTERRUPTED)
        except click.ClickException as error:
            message, context = error.format_message().strip().removesuffix("."), getattr(error, "ctx", None)
            end(message if context is None else f"{message} (see {context.command_path} --help)", WRONG)
        except Exception as error:
            from ..exceptions import UncertainError

            # About the data, a parameter, a file, or a package that is not installed.
            if isinstance(error, OSError) and error.filename is not None and error.strerror:
                end(f"{error.filename}: {error.strerror}", WRONG)
            if isinstance(error, (OSError, ModuleNotFoundError, MemoryError, UncertainError)):
                end(str(error) or "not enough memory", WRONG)
            error.add_note("This is an error of `uncertain`: please report it with the lines above.")
            raise
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command called; an error suggests a similar one."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            from .._data.options import did_you_mean

            ctx.fail(f"no such command {name!r}{did_you_mean(name, self.commands)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; its warnings are lines on stderr."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_, **__: click.echo(
                    f"uncertain: warning: {message}", err=True
                )
                answer = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            with suppress(OSError, ValueError):  # the rest of the buffer; Python complains of it at exit
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(PIPE_CLOSED)
        return answer


def end(message: str, code: int) -> NoReturn:
    """Write one sentence to stderr and leave."""
    with suppress(BrokenPipeError):
        click.echo(f"uncertain: {' '.join(message.split())}", err=True)
    sys.exit(code)


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

progress_option = click.option(
    "--progress/--no-progress", default=None, help="Show progress on stderr; by default on a terminal only."
)


def role_options(roles: Iterable[str]) -> Callable[[Function], Function]:
    def option(role: str) -> Callable[[Function], Function]:
        form, name = ROLES[role].form, "weight" if role == "sample_weight" else role.replace("_", "-")
        metavar, several = "A,B,..." if form == "names" else form.upper(), form in ("bars", "pairs", "flags")
        settings: Any = {"metavar": metavar, "multiple": several, "callback": _parsed}
        return click.option(f"--{name}", role, help=ROLES[role].help, **settings)

    return _all(map(option, roles))


def choice_options(*names: str) -> Callable[[Function], Function]:
    return _all(
        click.option(
            f"--{name.replace('_', '-')}",
            default="normal" if name == "effort" else OPTIONS[name][0],
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
    """Column, pattern, list of columns, or dictionary by feature or pair."""
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
    """KEY=VALUE: numbers, booleans and None as in Python, else strings."""
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
