"""Decision boundary of a classifier, and its width for error bars.

Idea: a row with covariance S has a score N(m, s^2), so a boundary has no single place for it. The band
``-n s < m < n s`` is where such a row may lie on either side; it is drawn for one covariance at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.options import refuse_if
from .._data.typing import Estimator, Floats, Keywords, Labels, Predictor
from .._data.validation import TableLike
from ..exceptions import ShapeError
from ._display import COLORS, Display, Pair, PlotRows, Target, axis_limits, ink, last_step
from ._gaussians import GaussianDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class DecisionBoundaryDisplay(Display):
    """Regions of a classifier on two features, for rows of one covariance.

    With two classes the colour is P(score > 0) of a row at that place, the solid line the boundary (score 0)
    and the dashed lines the band within which such a row may lie on either side: a mean score of +-n_std
    standard deviations. With more classes the colour is the predicted class.

    Attributes
    ----------
    xx0, xx1 : ndarrays of shape (resolution, resolution), a grid of both features.
    score : mean of the score on the grid; with a last axis of K for K > 2 classes.
    score_std : standard deviation of the score.
    classes : ndarray of shape (K,)
    ax_, figure_, boundary_, band_ : Axes, Figure and contour sets (or None), after `plot`.

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

    xx0: Floats
    xx1: Floats
    score: Floats
    score_std: Floats
    classes: Labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Predictor,
        X: TableLike,
        y: Target = None,
        *,
        features: Pair | None = None,
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
        cov : of a row of the picture: a variance, or a matrix of shape (2, 2). By default exact points.
        resolution : grid points along each axis.
        n_std : half width of the band in standard deviations of the score.
        ax : matplotlib's Axes; a new figure without.
        **options : of :class:`GaussianDisplay`, for the rows.
        """
        rows = PlotRows.from_arguments(estimator, X, y)
        pair = rows.pair(features)
        classifier, data = rows.estimator, rows.rows[:, pair]
        name = type(last_step(classifier)).__name__
        no_score = not hasattr(classifier, "decision_function")
        refuse_if(no_score, f"{name} has no decision_function: a boundary is between classes")
        xx0, xx1, points = _grid(np.stack(axis_limits(data.means)).T, resolution)
        answers = _scores(classifier, points, cov, pair, rows.rows)
        score, std = (values.reshape(xx0.shape + values.shape[1:]) for values in answers)
        classes = np.asarray(getattr(classifier, "classes_", [0, 1]))
        display = cls(xx0, xx1, score, std, classes).plot(ax, n_std=n_std)
        if rows.labels is not None:
            GaussianDisplay(data, rows.labels).plot(display.ax_, **{"names": rows.axis_names(pair)} | options)
        return display

    def plot(self, ax: Axes | None = None, *, n_std: float = 1.0) -> Self:
        """Draw on `ax`, or on a new figure."""
        refuse_if(not n_std > 0, f"n_std = {n_std!r}: must be a number of standard deviations > 0")
        from matplotlib.colors import LinearSegmentedColormap, ListedColormap

        ax, grid = self._start(ax), (self.xx0, self.xx1)
        self.boundary_ = self.band_ = None
        style: Keywords = {"rasterized": True}
        if self.score.ndim == 3:
            k = self.score.shape[2]
            regions = ListedColormap([COLORS[j % len(COLORS)] for j in range(k)])
            style |= {"cmap": regions, "vmin": -0.5, "vmax": k - 0.5, "alpha": 0.18}
            ax.pcolormesh(*grid, self.score.argmax(axis=2), **style)
            return self
        # A score without spread is on one side or the other.
        ratio = self.score / np.maximum(self.score_std, 1e-300)
        colors = [COLORS[0], ax.get_facecolor(), COLORS[1]]
        style |= {"cmap": LinearSegmentedColormap.from_list("sides", colors), "vmin": 0.0, "vmax": 1.0}
        ax.pcolormesh(*grid, ndtr(ratio), alpha=0.3, **style)
        line: Keywords = {"colors": ink(), "zorder": 4}
        self.boundary_ = ax.contour(*grid, self.score, [0.0], linewidths=2.0, **line)
        if np.all(self.score_std > 0):
            line |= {"linestyles": "--", "linewidths": 1.2}
            self.band_ = ax.contour(*grid, ratio, [-n_std, n_std], **line)
        return self


def _grid(limits: ArrayLike, resolution: int) -> tuple[Floats, Floats, Floats]:
    """Both coordinates of a grid between pairs of limits, and its points."""
    xx0, xx1 = np.meshgrid(*(np.linspace(low, high, resolution) for low, high in np.asarray(limits)))
    return xx0, xx1, np.stack([xx0.ravel(), xx1.ravel()], axis=1)


def _scores(
    estimator: Estimator, points: Floats, cov: ArrayLike | None, pair: list[int], rows: GaussianArray
) -> tuple[Floats, Floats]:
    """Score and its deviation at points of `pair` with covariance `cov`.

    The other features are exactly at the means of `rows`.
    """
    names = getattr(estimator, "feature_names_in_", None)
    places = np.tile(rows.means.mean(axis=0), (len(points), 1))
    places[:, pair] = points
    if cov is None:
        drawn: Any = places if names is None else GaussianArray(places, feature_names=names)
    else:
        matrix = np.asarray(cov, dtype=np.float64)
        wrong = f"cov: expected a variance or a matrix of shape (2, 2), got shape {matrix.shape}"
        refuse_if(matrix.shape not in ((), (2, 2)), wrong, ShapeError)
        whole = np.zeros((rows.n_features, rows.n_features))
        whole[np.ix_(pair, pair)] = matrix if matrix.ndim else matrix * np.eye(2)
        drawn = GaussianArray(places, cov=whole, feature_names=names)
    score, last = np.asarray(estimator.decision_function(drawn)), last_step(estimator)
    if cov is None or not hasattr(last, "decision_distribution"):
        return score, np.zeros_like(score)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:  # which do not pass decision_distribution on
        drawn = estimator[:-1].transform(drawn)
    # The mean of the distribution is not quite the score of a discriminant, which integrates.
    return score, np.asarray(last.decision_distribution(drawn)[1])
