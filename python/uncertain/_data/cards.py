"""Cards for notebooks: a sentence, small pictures, what to do next. HTML and inline SVG, nothing else.

Lines and texts have the colour of the page's text, and nothing has a background: so cards are right on light
and on dark pages. There is no script, no font and no address of another file in them, and matplotlib is not
needed.
"""

from __future__ import annotations

import html
from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np

from .typing import Floats

BLUE, ORANGE = "#4393c3", "#d6604d"
"""Two colours that differ for all eyes, on white and on black."""
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 230, 140, 42, 8, 30
FRAME = (
    "max-width:60em;border:1px solid #8888;border-radius:6px;padding:.8em 1em;margin:.5em 0;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45"
)


CELL = "padding:.1em .8em .1em 0;white-space:nowrap"


class Points(NamedTuple):
    """Points with their standard errors, joined by a line or not, in the units of the axes."""

    x: Floats
    y: Floats
    se: Floats | None = None
    color: str = BLUE
    joined: bool = True


class Axes(NamedTuple):
    """What a small picture shows."""

    x_label: str
    y_label: str
    x: tuple[float, float]
    y: tuple[float, float]
    diagonal: bool = False
    level: float | None = None
    """A dotted horizontal line."""


def card(verdict: str, pictures: Sequence[tuple[str, str]], following: str, details: str = "") -> str:
    """The whole card: `pictures` are captions and SVG, `following` and `details` are HTML."""
    shown = "".join(
        f'<figure style="margin:0">{svg}<figcaption style="max-width:{WIDTH}px">{html.escape(caption)}'
        "</figcaption></figure>"
        for caption, svg in pictures
    )
    parts = [f'<p style="font-weight:600;margin:0 0 .6em">{html.escape(verdict)}</p>']
    if shown:
        parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:1em">{shown}</div>')
    if following:
        parts.append(f'<div style="margin-top:.6em">{following}</div>')
    if details:
        parts.append(f'<details style="margin-top:.6em"><summary>All numbers</summary>{details}</details>')
    return f'<div class="uncertain-card" style="{FRAME}">{"".join(parts)}</div>'


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], strong: Container[int] = (), texts: int = 1
) -> str:
    """Texts under titles; the first `texts` columns to the left, `strong` rows in bold."""

    sides = ["left" if k < texts else "right" for k in range(len(head))]

    def line(cells: Sequence[str], tag: str, style: str) -> str:
        inner = "".join(
            f'<{tag} style="text-align:{side};{CELL};{style}">{html.escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{inner}</tr>"

    body = "".join(line(r, "td", "font-weight:600" if k in strong else "") for k, r in enumerate(rows))
    return (
        '<div style="overflow-x:auto">'
        '<table style="border-collapse:collapse;background:none;font-size:inherit"><thead>'
        f"{line(head, 'th', 'border-bottom:1px solid #8888')}</thead><tbody>{body}</tbody></table></div>"
    )


def picture(title: str, axes: Axes, *series: Points, bars: Floats | None = None) -> str:
    """Inline SVG; `bars` are heights of equal steps from left to right."""
    x0, x1, y0, y1 = LEFT, WIDTH - 8, HEIGHT - BOTTOM, TOP

    def px(x: float) -> float:
        return round(float(x0 + (x1 - x0) * (x - axes.x[0]) / (axes.x[1] - axes.x[0])), 1)

    def py(y: float) -> float:
        return round(float(y0 + (y1 - y0) * (y - axes.y[0]) / (axes.y[1] - axes.y[0])), 1)

    parts = [
        f'<path d="M{x0} {y1}V{y0}H{x1}" fill="none" stroke="currentColor" stroke-opacity=".5"/>',
        _text((x0 + x1) / 2, HEIGHT - 4, axes.x_label),
        f'<g transform="rotate(-90 9 {(y0 + y1) / 2})">{_text(9, (y0 + y1) / 2, axes.y_label)}</g>',
    ]
    for value in axes.x:
        parts.append(_text(px(value), y0 + 13, _number(value), "start" if value == axes.x[0] else "end"))
    for value in axes.y:
        parts.append(_text(x0 - 4, py(value) + (0 if value == axes.y[0] else 7), _number(value), "end"))
    if axes.diagonal:
        ends = px(axes.x[0]), py(axes.y[0]), px(axes.x[1]), py(axes.y[1])
        parts.append(_line(*ends, 'stroke="currentColor" stroke-opacity=".5" stroke-dasharray="3 3"'))
    if axes.level is not None:
        y = py(axes.level)
        parts.append(_line(x0, y, x1, y, 'stroke="currentColor" stroke-opacity=".5" stroke-dasharray="3 3"'))
    if bars is not None:
        edges = np.linspace(axes.x[0], axes.x[1], len(bars) + 1)
        for left, right, height in zip(edges, edges[1:], bars, strict=False):
            box = f'x="{px(left)}" y="{py(height)}" width="{px(right) - px(left) - 1:.1f}"'
            parts.append(f'<rect {box} height="{max(y0 - py(height), 0):.1f}" fill="{BLUE}"/>')
    for points in series:
        pairs = [(px(x), py(y)) for x, y in zip(points.x, points.y, strict=True)]
        if points.joined and len(pairs) > 1:
            way = " ".join(f"{x},{y}" for x, y in pairs)
            parts.append(f'<polyline points="{way}" fill="none" stroke="{points.color}" stroke-width="1.5"/>')
        if points.se is not None:
            for x, y, se in zip(points.x, points.y, points.se, strict=True):
                low, high = (min(max(y + k * se, axes.y[0]), axes.y[1]) for k in (-2, 2))
                parts.append(_line(px(x), py(low), px(x), py(high), f'stroke="{points.color}"'))
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{points.color}"/>' for x, y in pairs]
    return (
        f'<svg role="img" aria-label="{html.escape(title)}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2g}"


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="10" fill="currentColor">'
        f"{html.escape(text)}</text>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {style}/>'
