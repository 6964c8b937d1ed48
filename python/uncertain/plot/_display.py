"""Base of the displays: late matplotlib, axes, legends, rows to draw."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.options import refuse_if
from .._data.typing import ColumnOrValues, Estimator, Floats, Predictor
from .._data.validation import TableLike
from ..exceptions import ShapeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#2166ac", "#d6604d", "#4d9221", "#8073ac", "#b8860b", "#5b5b5b")
"""One per class; the first two are distinct for every kind of colour vision."""
MARKERS = "os^Dv*"
"""One per class, so that a picture can be read without colours."""
GREY = "#888888"
"""Colour of reference lines, on light and dark backgrounds."""

Pair: TypeAlias = tuple[int | str, int | str]
"""Two features, by name or number."""
Target: TypeAlias = ColumnOrValues | None


def new_figure(width: float = 8.0, height: float = 6.0) -> tuple[Figure, Axes]:
    """Return a figure, of `matplotlib.pyplot` if that is imported, and its axes."""
    try:
        import matplotlib  # noqa: F401
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib: pip install matplotlib (or 'uncertain-learn[plot]')", name="matplotlib"
        ) from error
    size: Any = {"figsize": (width, height), "dpi": 150, "layout": "constrained"}
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        return pyplot.subplots(**size)  # type: ignore[no-any-return]
    figure = Figure(**size)
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def new_pair() -> tuple[Axes, Axes]:
    """A high and a low one of two axes of a new figure."""
    figure, ax = new_figure(8.0, 6.5)
    ax.remove()
    upper, lower = figure.subplots(2, 1, height_ratios=(3, 1), sharex=True)
    return upper, lower


def ink() -> str:
    """Colour of text in the current style: black, or white on a dark background."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def bare(*axes: Axes) -> None:
    """Remove the upper and the right spine."""
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)


def legend(ax: Axes) -> None:
    """Legend outside the axes if there is room, else where it covers least."""
    if getattr(ax.figure, "get_layout_engine", lambda: None)() is None:
        ax.legend(loc="best", framealpha=0.92)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def axis_limits(means: Floats) -> tuple[Floats, Floats]:
    """(lowest, highest) corner of all but the outermost half per cent."""
    low, high = np.quantile(means, [0.005, 0.995], axis=0)
    margin = 0.06 * (high - low) + (high == low)
    return low - margin, high + margin


class Display:
    """A picture with `ax_` and `figure_` after `plot`."""

    ax_: Axes
    figure_: Any

    def _start(self, ax: Axes | None, width: float = 8.0, height: float = 6.0) -> Axes:
        """`ax`, or the axes of a new figure."""
        self.ax_ = new_figure(width, height)[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        bare(self.ax_)
        return self.ax_


class TableModel(Protocol):
    """A `Model`, whose module is in a higher layer."""

    pipeline_: Estimator
    _drawn: Callable[..., Any]
    """Return the steps behind the columns, rows, labels, and names of features."""
    _law_drawn: Callable[..., Any]
    """Return law, rows, targets without shared errors, their errors and covariances, and names."""


class PlotRows(NamedTuple):
    """Estimator, its rows, their labels and the names of features."""

    estimator: Estimator
    rows: GaussianArray
    labels: ArrayLike | None
    names: tuple[str, ...] | None

    @classmethod
    def from_arguments(cls, estimator: Predictor | TableModel | None, X: TableLike, y: Target) -> PlotRows:
        """Parts of a `Model`, with labels and names of the table, gaps filled."""
        if is_model(estimator):
            steps, rows, labels, names = estimator._drawn(X, y)
            return cls(steps, rows, labels, tuple(names) or rows.feature_names)
        rows = X if isinstance(X, GaussianArray) else GaussianArray(cast(ArrayLike, X))
        return cls(cast(Estimator, estimator), rows, cast(ArrayLike | None, y), rows.feature_names)

    def pair(self, features: Pair | None) -> list[int]:
        """Numbers of two features; by default of the only two."""
        d, names = self.rows.n_features, list(self.names or ())
        such = f", such as {', '.join(names[:4])}" if names else ""
        needed = f"data: a picture needs 2 features, got {d}; say which with features=(a, b){such}"
        refuse_if(features is None and d != 2, needed, ShapeError)
        chosen = (0, 1) if features is None else features
        numbers: list[Any] = [names.index(name) if name in names else name for name in chosen]
        wrong = len(set(numbers)) != 2 or len(numbers) != 2 or not {*numbers} <= {*range(d)}
        choices = ", ".join(names[:8]) or f"0..{d - 1}"
        refuse_if(wrong, f"features = {features}: must be two different ones of {choices}")
        return [int(number) for number in numbers]

    def axis_names(self, pair: list[int]) -> list[str] | None:
        """Names of two features, for the axes."""
        return None if self.names is None else [self.names[j] for j in pair]


def is_model(estimator: object) -> TypeGuard[TableModel]:
    return hasattr(estimator, "pipeline_") and hasattr(estimator, "columns_")


def last_step(estimator: object) -> Estimator:
    pipeline = estimator.pipeline_ if is_model(estimator) else cast(Estimator, estimator)
    last: Estimator = pipeline.steps[-1][1] if hasattr(pipeline, "steps") else pipeline
    return last
