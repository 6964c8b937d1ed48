"""Formulas as MathML: browsers draw them by themselves, without a script from another site.

MathJax, which Sphinx would use, is fetched from a network whenever a page is read.
"""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def in_text(self: Any, node: Any) -> None:
    """$...$"""
    self.body.append(convert(node.astext()))
    raise SkipNode


def on_its_own(self: Any, node: Any) -> None:
    """$$...$$"""
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """The renderer "mathml"."""
    app.add_html_math_renderer("mathml", (in_text, None), (on_its_own, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
