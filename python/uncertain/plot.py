"""Pictures of Gaussian rows and linear boundaries in two features (needs matplotlib).

matplotlib is imported when a picture is drawn, so that the package works without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .exceptions import ShapeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import EllipseCollection
    from matplotlib.figure import Figure

    from ._array import GaussianArray

__all__ = ["boundaries", "ellipses", "new_figure"]

COLORS = ("#2166ac", "#d6604d", "#4d9221", "#8073ac", "#b8860b", "#5b5b5b")
"""One per class; the first two are told apart by every kind of colour vision."""


def new_figure(width: float = 8.0, height: float = 6.0) -> tuple[Figure, Axes]:
    """A figure that needs no display, and its axes; ``figure.savefig(path)`` writes it."""
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def ellipses(
    data: GaussianArray, *, ax: Axes, n_std: float = 1.0, rows: ArrayLike | None = None, **style: Any
) -> EllipseCollection:
    """Draw every row's covariance as the ellipse (x - x_i)' S_i^-1 (x - x_i) = n_std^2.

    Parameters
    ----------
    data : two-dimensional Gaussians.
    n_std : standard deviations from the centre to the edge; 1 holds 39 % of a row's probability, 2 hold 86 %.
    rows : which rows; all if None.
    **style : for matplotlib's `EllipseCollection`, such as ``facecolors="C0", alpha=0.2``.
    """
    _matplotlib()
    from matplotlib.collections import EllipseCollection

    two_features(data)
    chosen = data if rows is None else data[rows]
    values, vectors = np.linalg.eigh(chosen.covariances())
    lengths = 2.0 * n_std * np.sqrt(np.maximum(values, 0.0))
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    collection = EllipseCollection(
        lengths[:, 1],
        lengths[:, 0],
        angles,
        units="xy",
        offsets=chosen.means,
        offset_transform=ax.transData,
        **style,
    )
    ax.add_collection(collection)
    return collection


def boundaries(
    data: GaussianArray,
    y: ArrayLike,
    models: Mapping[str, Any],
    *,
    names: Sequence[str] = ("feature 0", "feature 1"),
    labels: Mapping[Any, str] | None = None,
    n_std: float = 1.0,
    most: int = 120,
    ax: Axes | None = None,
) -> Axes:
    """Rows as points with error ellipses, and where each model changes its mind.

    Parameters
    ----------
    data : Gaussians with two features.
    y : their labels.
    models : fitted two-class models by the name for the legend; the last one is drawn solid and on top.
    names : axis labels. labels : text for each label in the legend.
    n_std : as for `ellipses`. most : rows that get an ellipse, evenly from all; every row gets a point.
    """
    ax = ax if ax is not None else new_figure()[1]
    two_features(data)
    y = np.asarray(y)
    means = data.means
    for color, label in zip(COLORS, np.unique(y), strict=False):
        rows = np.flatnonzero(y == label)
        some = rows[:: max(1, -(-len(y) // most))]
        colors = {"facecolors": (color, 0.05), "edgecolors": (color, 0.45)}
        ellipses(data, ax=ax, n_std=n_std, rows=some, linewidths=0.7, **colors)
        text = (labels or {}).get(label, str(label))
        ax.scatter(means[rows, 0], means[rows, 1], s=11, color=color, linewidths=0, label=text, zorder=3)
    _limits(ax, means)
    last = len(models) - 1
    for k, (name, model) in enumerate(models.items()):
        style = ("-", 2.2, "#111111") if k == last else (("--", ":", "-.")[k % 3], 1.8, "#666666")
        _boundary(ax, model, *style)
        ax.plot([], [], linestyle=style[0], linewidth=style[1], color=style[2], label=name)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.legend(loc="best", framealpha=0.92)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def two_features(data: GaussianArray) -> None:
    """Refuse anything that is not flat."""
    if data.n_features != 2:
        raise ShapeError(f"data: a picture needs 2 features, got {data.n_features}; pick two columns first")


def _boundary(ax: Axes, model: Any, linestyle: str, linewidth: float, color: str) -> None:
    """The zero line of the decision function over the visible area."""
    grid = [np.linspace(*limits, 201) for limits in (ax.get_xlim(), ax.get_ylim())]
    gx, gy = np.meshgrid(*grid)
    score = model.decision_function(np.stack([gx.ravel(), gy.ravel()], axis=1)).reshape(gx.shape)
    ax.contour(
        gx, gy, score, levels=[0.0], colors=color, linewidths=linewidth, linestyles=linestyle, zorder=4
    )


def _limits(ax: Axes, means: NDArray[np.float64]) -> None:
    """The bulk of the rows: the outermost half percent on each side may lie outside."""
    low, high = np.quantile(means, [0.005, 0.995], axis=0)
    margin = 0.06 * (high - low) + (high == low)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])


def _matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib: pip install matplotlib (or 'uncertain-learn[plot]')", name="matplotlib"
        ) from error
