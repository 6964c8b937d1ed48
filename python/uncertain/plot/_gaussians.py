"""Gaussian rows as points with error ellipses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.numbers import check_shape
from .._data.options import refuse_if
from .._data.typing import Keywords, Label, Predictor, RowValues
from .._data.validation import RowsLike, TableLike
from ..exceptions import ShapeError
from ._display import COLORS, MARKERS, Display, Pair, PlotRows, Target, axis_limits, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import EllipseCollection


def ellipses(
    data: GaussianArray, *, ax: Axes, n_std: float = 1.0, rows: ArrayLike | None = None, **style: Any
) -> EllipseCollection:
    """Draw covariances as ellipses (x - x_i)' S_i^-1 (x - x_i) = n_std^2.

    Parameters
    ----------
    data : two-dimensional Gaussians.
    n_std : standard deviations from the centre to the edge; 1 holds 39 % of a row's probability, 2 hold 86 %.
    rows : numbers of the rows to draw; all if None.
    **style : for matplotlib's `EllipseCollection`, such as ``facecolors="C0", alpha=0.2``.
    """
    from matplotlib.collections import EllipseCollection

    _check_two_features(data)
    chosen = data if rows is None else data[rows]
    values, vectors = np.linalg.eigh(chosen.covariances())
    lengths = 2.0 * n_std * np.sqrt(np.maximum(values, 0.0))
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    style |= {"units": "xy", "offsets": chosen.means, "offset_transform": ax.transData}
    collection = EllipseCollection(lengths[:, 1], lengths[:, 0], angles, **style)
    ax.add_collection(collection)
    return collection


class GaussianDisplay(Display):
    """Rows with two features: points for means, ellipses for covariances.

    Parameters
    ----------
    data : GaussianArray with two features
    y : array-like of shape (n,), optional
        Labels, for the colours.

    Attributes
    ----------
    ax_, figure_ : matplotlib's Axes and Figure, after `plot`.
    ellipses_ : list of EllipseCollection, one per class

    Examples
    --------
    >>> from uncertain import GaussianArray
    >>> from uncertain.plot import GaussianDisplay
    >>> X = GaussianArray([[0.0, 0.0], [2.0, 1.0]], std=[[0.5, 0.1], [0.2, 0.6]])
    >>> display = GaussianDisplay.from_data(X, ["a", "b"], n_std=2.0)
    >>> len(display.ellipses_)
    2
    """

    def __init__(self, data: GaussianArray, y: ArrayLike | None = None) -> None:
        _check_two_features(data)
        self.data = data
        self.y = np.zeros(len(data), dtype=int) if y is None else np.asarray(y)
        check_shape(self.y, (len(data),), "y", "one label per row")
        self.labelled = y is not None

    @classmethod
    def from_data(
        cls, X: RowsLike, y: RowValues = None, *, features: Pair = (0, 1), **options: object
    ) -> Self:
        """Draw two features of `X` with their marginal covariances."""
        return cls._draw(PlotRows.from_arguments(None, X, y), features, options)

    @classmethod
    def from_estimator(
        cls,
        model: Predictor,
        table: TableLike,
        y: Target = None,
        *,
        features: Pair = (0, 1),
        **options: object,
    ) -> Self:
        """Draw two features of a table as a `Model` reads it, classes in colours.

        Parameters
        ----------
        model : a `Model`
        table : rows for the model; with the target column, or `y`, the classes are coloured.
        features : two features, by name or number.
        **options : of `plot`; the axes are named after the features.
        """
        data = PlotRows.from_arguments(model, table, y)
        if getattr(model, "is_regression_", False):
            data = data._replace(labels=None)
        return cls._draw(data, features, options)

    @classmethod
    def _draw(cls, data: PlotRows, features: Pair, options: Keywords) -> Self:
        pair = data.pair(features)
        options.setdefault("names", data.axis_names(pair))
        return cls(data.rows[:, pair], data.labels).plot(**options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        n_std: float = 1.0,
        most: int = 120,
        names: Sequence[str] | None = None,
        labels: Mapping[Label, str] | None = None,
    ) -> Self:
        """Draw on `ax`, or on a new figure.

        Parameters
        ----------
        n_std : as for :func:`ellipses`.
        most : rows of all that get an ellipse, evenly; every row gets a point.
        names : axis labels. labels : text for each label in the legend.
        """
        ax = self._start(ax)
        self.ellipses_ = []
        step = max(1, -(-len(self.data) // most))
        for k, label in enumerate(np.unique(self.y)):
            color, marker = COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]
            rows = np.flatnonzero(self.y == label)
            style: Keywords = {"facecolors": (color, 0.05), "edgecolors": (color, 0.45), "linewidths": 0.7}
            self.ellipses_.append(ellipses(self.data, ax=ax, n_std=n_std, rows=rows[::step], **style))
            text = (labels or {}).get(label, str(label)) if self.labelled else None
            x, y = self.data.means[rows].T
            ax.scatter(x, y, 13, label=text, marker=marker, color=color, linewidths=0, zorder=3)
        low, high = axis_limits(self.data.means)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        if names is not None:
            ax.set(xlabel=names[0], ylabel=names[1])
        if self.labelled:
            legend(ax)
        return self


def _check_two_features(data: GaussianArray) -> None:
    wrong = f"data: a picture needs 2 features, got {data.n_features}; pick two columns first"
    refuse_if(data.n_features != 2, wrong, ShapeError)
