"""Figures of all displays: matplotlib imported late, colours that follow its style, axes and legends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._data.typing import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#2166ac", "#d6604d", "#4d9221", "#8073ac", "#b8860b", "#5b5b5b")
"""One per class; the first two are distinct for every kind of colour vision."""
MARKERS = "os^Dv*"
"""One per class, so that a picture can be read without colours."""
GREY = "#888888"
"""Of reference lines, on light and dark backgrounds."""


def new_figure(width: float = 8.0, height: float = 6.0) -> tuple[Figure, Axes]:
    """Return a figure that needs no display, and its axes."""
    figure = _blank(width, height)
    return figure, figure.add_subplot()


def new_pair(width: float = 8.0, height: float = 6.5) -> tuple[Axes, Axes]:
    """Two axes of a new figure, a high one above a low one."""
    upper, lower = _blank(width, height).subplots(2, 1, height_ratios=(3, 1), sharex=True)
    return upper, lower


def _blank(width: float, height: float) -> Figure:
    try:
        import matplotlib  # noqa: F401
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib: pip install matplotlib (or 'uncertain-learn[plot]')", name="matplotlib"
        ) from error
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def axes_for(ax: Axes | None, width: float = 8.0, height: float = 6.0) -> Axes:
    """`ax`, or those of a new figure."""
    return new_figure(width, height)[1] if ax is None else ax


def ink() -> str:
    """Colour of text in the current style: black, or white on a dark background."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def bare(ax: Axes) -> None:
    """Remove the upper and the right spine."""
    ax.spines[["top", "right"]].set_visible(False)


def legend(ax: Axes) -> None:
    """Outside the axes if the layout of the figure has room for it, else where it covers least."""
    if getattr(ax.figure, "get_layout_engine", lambda: None)() is None:
        ax.legend(loc="best", framealpha=0.92)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def axis_limits(means: Floats) -> tuple[Floats, Floats]:
    """(lowest, highest) corner of the bulk of the rows: the outermost half percent may lie outside."""
    low, high = np.quantile(means, [0.005, 0.995], axis=0)
    margin = 0.06 * (high - low) + (high == low)
    return low - margin, high + margin
