"""The pictures of a report: scores and paired differences, reliability, calibration of distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._data.typing import Booleans, Floats
from ..plot import COLORS, ReliabilityDisplay, new_figure
from ..plot._display import bare
from .board import MEANS_ONLY, Board

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = 10
"""Of the distributions, in the picture of their calibration."""


def scores_picture(board: Board, own: str) -> Figure:
    """Every candidate with its standard error, and its paired difference to the means alone with two of them.

    The left half is how well each does, the right one whether that differs: paired differences are far better
    known than scores.
    """
    scale = 100.0 if board.scoring.percent else 1.0
    names = list(reversed(board.names))
    base = MEANS_ONLY if MEANS_ONLY in names else own
    figure, left = _figure(9.0, 1.2 + 0.42 * len(names))
    left.remove()
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(names))
    unit = " (%)" if board.scoring.percent else ""
    for place, name in zip(places, names, strict=True):
        color = COLORS[0] if name == own else COLORS[5]
        score, change = board.score(name), board.difference(name, base)
        style: dict[str, object] = {"fmt": "o", "color": color, "capsize": 3.0, "markersize": 5.0}
        left.errorbar(scale * score.mean, place, xerr=scale * score.se, **style)
        if name != base:
            right.errorbar(scale * change.mean, place, xerr=2 * scale * change.se, **style)
    right.axvline(0.0, color="#666666", linestyle=":", zorder=1)
    left.set_yticks(places, [f"{n} (the model)" if n == own else n for n in names])
    left.set(xlabel=f"{board.scoring.label}{unit}", ylim=(-0.6, len(names) - 0.4))
    left.set_title("mean +- standard error", fontsize="medium")
    points = " (points)" if board.scoring.percent else ""
    right.set(xlabel=f"difference to {base}{points}")
    right.set_title("paired, +- two standard errors", fontsize="medium")
    for each in (left, right):
        bare(each)
    return figure


def reliability_picture(
    probabilities: Mapping[str, tuple[Booleans, Floats]], own: str, positive: object
) -> Figure:
    """Held-out probabilities of the model and of the means alone against what happened."""
    figure, ax = _figure(5.0, 5.0)
    for name in (own, MEANS_ONLY):
        if name in probabilities:
            happened, prob = probabilities[name]
            ReliabilityDisplay.from_predictions(happened, prob, pos_label=True, name=name, ax=ax)
    ax.set(xlabel=f"predicted probability of {positive}")
    return figure


def pit_picture(pit: Mapping[str, Floats]) -> Figure:
    """How often held-out targets lie in each tenth of their distribution: 10 % each if these are right.

    A valley is a law that is too narrow, a hill one that is too wide, a slope one that is off to a side. The
    band is that of two standard errors of a uniform law.
    """
    figure, ax = _figure(6.0, 4.0)
    edges = np.linspace(0.0, 1.0, PARTS + 1)
    for k, (name, values) in enumerate(pit.items()):
        shares = 100.0 * np.histogram(values, edges)[0] / len(values)
        ax.stairs(shares, edges, color=COLORS[0] if k == 0 else COLORS[5], label=name, linewidth=1.8)
    level, n = 1.0 / PARTS, min(map(len, pit.values()))
    band = 2.0 * np.sqrt(level * (1.0 - level) / n)
    ax.axhspan(100.0 * (level - band), 100.0 * (level + band), color="#666666", alpha=0.15, zorder=0)
    ax.axhline(100.0 * level, color="#666666", linestyle=":", zorder=1)
    ax.set(xlabel="distribution function at the target (PIT)", ylabel="held-out rows (%)", xlim=(0.0, 1.0))
    ax.set_ylim(bottom=0.0)
    ax.legend(loc="best", framealpha=0.92)
    bare(ax)
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure, ax = new_figure(width, height)
    figure.set_dpi(100)
    return figure, ax
