"""A report as one card for notebooks: verdict, small pictures, what to do next; tables and figures below.

Pictures are SVG inside the page, so that a saved notebook needs no other file.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

from .._data.cards import card

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table: TypeAlias = list[tuple[str, ...]]
"""Texts; the first row are titles."""


def page(
    verdict: str,
    small: Sequence[tuple[str, str]],
    sections: Sequence[tuple[str, Table]],
    pictures: Callable[[], Mapping[str, Figure]],
    reason: str,
) -> str:
    """The whole report; `small` are captions and SVG, `pictures` is asked if matplotlib is there."""
    parts = []
    for title, rows in sections:
        parts += [f"<p>{html.escape(title)}</p>", table(rows)]
    if find_spec("matplotlib") is not None:
        style = "max-width:100%;background:white"
        parts += [
            f'<img style="{style}" alt="{html.escape(t)}" src="{_source(f)}">' for t, f in pictures().items()
        ]
    return card(verdict, small, f"<b>Next.</b> {html.escape(reason)}", "".join(parts))


def table(rows: Table) -> str:
    """A row of titles and rows of texts; the first column to the left, numbers to the right."""
    head, *body = rows

    def line(cells: tuple[str, ...], tag: str) -> str:
        sides = ("left", *["right"] * (len(cells) - 1))
        inner = (
            f'<{tag} style="text-align:{side}">{html.escape(c)}</{tag}>'
            for c, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>"

    lines = "".join(line(row, "td") for row in body)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{lines}</tbody></table>"


def _source(figure: Figure) -> str:
    """SVG whose texts stay texts, so that it is small and can be searched."""
    import matplotlib

    buffer = BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "uncertain"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
