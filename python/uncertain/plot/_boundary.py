"""The decision boundary of a classifier, and how sharp it is for rows with error bars.

Idea: a row with covariance S has a score N(m, s^2), so a boundary has no single place for it. The band
``-n s < m < n s`` is where such a row may lie on either side; it is drawn for one covariance at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.typing import ColumnOrValues, Estimator, Floats, Label, Predictor
from .._data.validation import TableLike
from ..exceptions import ParameterError, ShapeError
from ._gaussians import GaussianDisplay
from ._opened import Opened, last_step
from ._style import COLORS, axes_for, axis_limits, bare, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DecisionBoundaryDisplay:
    """The regions of a classifier on two features, for rows that all have one covariance.

    With two classes the colour is P(score > 0) of a row at that place, the solid line the boundary (score 0)
    and the dashed lines the band within which such a row may lie on either side: a mean score of +-n_std
    standard deviations. With more classes the colour is the predicted class.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (resolution, resolution)
        The grid.
    score, score_std : ndarray of the same shape, or (resolution, resolution, K) for K > 2 classes
        Mean and standard deviation of the score.
    classes : ndarray

    Attributes
    ----------
    ax_, figure_ : matplotlib's Axes and Figure, after `plot`.
    boundary_, band_ : the contour sets (None where there is none)

    Examples
    --------
    >>> from uncertain import GaussianArray, GSUClassifier
    >>> from uncertain.plot import DecisionBoundaryDisplay
    >>> X = GaussianArray([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [1.0, 1.0]], std=0.3)
    >>> model = GSUClassifier(alpha=0.1).fit(X, [0, 0, 1, 1])
    >>> display = DecisionBoundaryDisplay.from_estimator(model, X, [0, 0, 1, 1], cov=0.09)
    >>> display.score_std.min() > 0
    np.True_
    """

    ax_: Axes

    def __init__(
        self, xx0: Floats, xx1: Floats, *, score: Floats, score_std: Floats, classes: ArrayLike
    ) -> None:
        self.xx0, self.xx1 = xx0, xx1
        self.score, self.score_std = score, score_std
        self.classes = np.asarray(classes)

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: TableLike,
        y: ColumnOrValues | None = None,
        *,
        features: tuple[int | str, int | str] | None = None,
        cov: ArrayLike | None = None,
        resolution: int = 161,
        n_std: float = 1.0,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the boundary over the rows `X`.

        Parameters
        ----------
        estimator : fitted classifier with `decision_function`, and `decision_distribution` for the band; or a
            `Model` of classes.
        X : GaussianArray, or array-like of shape (n, d); for a `Model` a table or a path.
        y : labels; without, no rows are drawn, except of a table with the target column.
        features : two features, by name or number; needed if there are more. The picture is then a slice: the
            others are exactly at their means over the rows.
        cov : what a row of the picture has: a variance, or a matrix of shape (2, 2). By default exact points.
        resolution : grid points along each axis.
        n_std : half width of the band in standard deviations of the score.
        ax : matplotlib's Axes; a new figure without.
        **options : of :class:`GaussianDisplay`, for the rows.
        """
        opened = Opened.from_arguments(estimator, X, y)
        pair = opened.pair(features)
        classifier, data = opened.estimator, opened.rows[:, list(pair)]
        if not hasattr(classifier, "decision_function"):
            name = type(last_step(classifier)).__name__
            raise ParameterError(f"{name} has no decision_function: a boundary is between classes")
        low, high = axis_limits(data.means)
        xx0, xx1 = np.meshgrid(*(np.linspace(low[k], high[k], resolution) for k in (0, 1)))
        points = np.stack([xx0.ravel(), xx1.ravel()], axis=1)
        score, std = _scores(classifier, points, cov, pair, opened.rows)
        shape = xx0.shape + score.shape[1:]
        display = cls(
            xx0,
            xx1,
            score=score.reshape(shape),
            score_std=std.reshape(shape),
            classes=getattr(classifier, "classes_", [0, 1]),
        )
        display.plot(axes_for(ax), n_std=n_std)
        if opened.labels is not None:
            names = None if opened.names is None else [opened.label(j) for j in pair]
            GaussianDisplay(data, opened.labels).plot(display.ax_, **{"names": names} | options)
        return display

    def plot(self, ax: Axes | None = None, *, n_std: float = 1.0) -> Self:
        """Draw on `ax`, or on a new figure."""
        if not n_std > 0:
            raise ParameterError(f"n_std = {n_std!r}: must be a number of standard deviations > 0")
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self.boundary_ = self.band_ = None
        from matplotlib.colors import LinearSegmentedColormap, ListedColormap

        grid = (self.xx0, self.xx1)
        if self.score.ndim == 3:
            best = self.score.argmax(axis=2)
            regions = ListedColormap([COLORS[k % len(COLORS)] for k in range(self.score.shape[2])])
            self.ax_.pcolormesh(
                *grid,
                best,
                cmap=regions,
                vmin=-0.5,
                vmax=self.score.shape[2] - 0.5,
                alpha=0.18,
                rasterized=True,
            )
            return self
        # A score without spread is on one side or the other.
        ratio = self.score / np.maximum(self.score_std, 1e-300)
        colors = LinearSegmentedColormap.from_list("sides", [COLORS[0], "white", COLORS[1]])
        self.ax_.pcolormesh(*grid, ndtr(ratio), cmap=colors, vmin=0.0, vmax=1.0, alpha=0.3, rasterized=True)
        self.boundary_ = self.ax_.contour(*grid, self.score, [0.0], colors="black", linewidths=2.0, zorder=4)
        if np.all(self.score_std > 0):
            self.band_ = self.ax_.contour(
                *grid, ratio, [-n_std, n_std], colors="black", linestyles="--", linewidths=1.2, zorder=4
            )
        bare(self.ax_)
        return self


def _scores(
    estimator: Estimator, points: Floats, cov: ArrayLike | None, pair: tuple[int, int], rows: GaussianArray
) -> tuple[Floats, Floats]:
    """Score, and its standard deviation, at points that all have the covariance `cov`.

    They are points of the features `pair`; the others are exactly at the means of `rows`.
    """
    names = getattr(estimator, "feature_names_in_", None)
    places = np.tile(rows.means.mean(axis=0), (len(points), 1))
    places[:, pair] = points
    if cov is None:
        exact = places if names is None else GaussianArray(places, feature_names=names)
        score = np.asarray(estimator.decision_function(exact))
        return score, np.zeros_like(score)
    matrix = np.asarray(cov, dtype=np.float64)
    if matrix.shape not in ((), (2, 2)):
        raise ShapeError(f"cov: expected a variance or a matrix of shape (2, 2), got shape {matrix.shape}")
    whole = np.zeros((rows.n_features, rows.n_features))
    whole[np.ix_(pair, pair)] = matrix if matrix.ndim else matrix * np.eye(2)
    drawn = GaussianArray(places, cov=whole, feature_names=names)
    if not hasattr(last_step(estimator), "decision_distribution"):
        score = np.asarray(estimator.decision_function(drawn))
        return score, np.zeros_like(score)
    # The boundary is where such rows change sides: of a discriminant, which integrates, not quite the mean.
    score, (_, std) = estimator.decision_function(drawn), _distribution(estimator, drawn)
    return np.asarray(score), np.asarray(std)


def _distribution(estimator: Estimator, rows: GaussianArray) -> tuple[Floats, Floats]:
    """`decision_distribution`, which scikit-learn's pipelines do not pass on."""
    moved = rows
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        moved = estimator[:-1].transform(rows)
    mean, std = last_step(estimator).decision_distribution(moved)
    return mean, std


def boundaries(
    data: GaussianArray,
    y: ArrayLike,
    models: Mapping[str, Estimator],
    *,
    names: Sequence[str] = ("feature 0", "feature 1"),
    labels: Mapping[Label, str] | None = None,
    n_std: float = 1.0,
    most: int = 120,
    ax: Axes | None = None,
) -> Axes:
    """Rows as points with error ellipses, and the decision boundaries of several models.

    Parameters
    ----------
    data : Gaussians with two features.
    y : their labels.
    models : fitted two-class models by the name for the legend; the last one is drawn solid and on top.
    names, labels, n_std, most : as for :class:`GaussianDisplay`.
    """
    ax = GaussianDisplay(data, y).plot(ax, n_std=n_std, most=most, names=names, labels=labels).ax_
    axes = [np.linspace(*limits, 201) for limits in (ax.get_xlim(), ax.get_ylim())]
    gx, gy = np.meshgrid(*axes)
    points = np.stack([gx.ravel(), gy.ravel()], axis=1)
    last = len(models) - 1
    for k, (name, model) in enumerate(models.items()):
        line, width, color = (
            ("-", 2.2, "#111111") if k == last else (("--", ":", "-.")[k % 3], 1.8, "#666666")
        )
        score = model.decision_function(points).reshape(gx.shape)
        ax.contour(gx, gy, score, levels=[0.0], colors=color, linewidths=width, linestyles=line, zorder=4)
        ax.plot([], [], linestyle=line, linewidth=width, color=color, label=name)
    legend(ax)
    return ax
