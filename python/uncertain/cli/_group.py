"""Errors of commands: one sentence on stderr, and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from typing import Any, NoReturn

import click

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
        """The command that is called; an error names the one that may have been meant."""
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
