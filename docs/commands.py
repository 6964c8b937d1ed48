"""The directive `command-help`: what `uncertain COMMAND --help` prints, on the page of the command line."""

from __future__ import annotations

from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive

from uncertain.cli import main

WIDTH = 98


class CommandHelp(Directive):
    """The help of the command that is named."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A block of text."""
        name = self.arguments[0]
        above = click.Context(main, info_name="uncertain")
        context = click.Context(main.commands[name], info_name=name, parent=above, max_content_width=WIDTH)
        context.terminal_width = WIDTH
        text = context.get_help()
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Any) -> dict[str, bool]:
    """The directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
