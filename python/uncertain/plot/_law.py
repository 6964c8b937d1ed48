"""A law between true values with its readings: error ellipses, bands, residuals in units of their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._data.array import GaussianArray
from .._data.numbers import check_shape
from .._data.options import refuse_if
from .._data.typing import Booleans, ColumnOrValues, Estimator, Floats, Keywords, RowValues
from .._data.validation import RowsLike, TableLike
from ..exceptions import ShapeError, UncertainError
from ._figure import COLORS, GREY, bare, ink, legend, new_pair
from ._gaussians import ellipses
from ._rows import TableModel, is_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ELLIPSES = 300
"""Of more rows evenly spaced ones are drawn as ellipses, and all as smaller points below the law."""


class LawDisplay:
    """Readings with error ellipses, the law with its bands, and residuals.

    Of several features one is shown, and from every target is taken what the law says of the others' distance
    from their means:

    .. code-block:: text

        shown y_i = y_i - f(x_i) + f(x_i with all features but one at their means)

    A residual is y_i - f(x_i) over the root of s^2 + t_i^2 + f'S_i f' - 2 f'c_i: the scatter, the target's
    error and what errors of the features leave in y. The inner band is the law +- one standard error, the
    outer one the law +- one standard deviation of scatter and law.

    Attributes
    ----------
    x, y : ndarrays of shape (n,)
        What is shown of each row.
    residuals : ndarray of shape (n,)
        In units of their standard deviations.
    outlying : ndarray of bool of shape (n,)
        Rows that the law takes for outliers, with a probability above a half.
    grid, law, law_std : ndarrays of shape (200,)
        The law along the feature, with its standard errors.
    ax_, residual_ax_, figure_ : matplotlib's Axes and Figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray
    >>> from uncertain.laws import LinearLaw
    >>> from uncertain.plot import LawDisplay
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=100)
    >>> X = GaussianArray(z[:, None] + 0.3 * rng.normal(size=(100, 1)), std=0.3)
    >>> y = 2 * z + 0.2 * rng.normal(size=100)
    >>> display = LawDisplay.from_estimator(LinearLaw().fit(X, y), X, y)
    >>> bool(abs(display.residuals.std() - 1) < 0.2)
    True
    """

    ax_: Axes
    residual_ax_: Axes

    def __init__(
        self,
        law: Estimator,
        X: GaussianArray,
        y: Floats,
        y_std: Floats,
        xy_cov: Floats,
        outlying: Booleans,
        feature: int,
    ) -> None:
        self.outlying = outlying
        self.scatter = float(np.ravel(law.scatter_)[0])
        curve = _curve_of(law)

        def f(x: Floats) -> Floats:
            return law.intercept_ + x @ law.coef_ if curve is None else curve(x, law.params_)

        centre = X.means.mean(axis=0)
        beside = np.tile(centre, (len(X), 1))
        beside[:, feature] = X.means[:, feature]
        predicted = f(X.means)
        self.x, self.y = X.means[:, feature], y - predicted + f(beside)
        S, unit = X.covariances(), X.means.std(axis=0)
        slopes = _derivatives(f, X.means, 1e-5 * np.where(unit > 0, unit, 1.0))
        variance = self.scatter**2 + y_std**2 + np.einsum("ni,nij,nj->n", slopes, S, slopes)
        variance -= 2 * (slopes * xy_cov).sum(axis=1)
        exact = not np.all(variance > 0)
        refuse_if(exact, "residuals need a scatter or errors of each row; give y_std=", UncertainError)
        self.residuals = (y - predicted) / np.sqrt(variance)
        joint = np.zeros((len(X), 2, 2))
        joint[:, 0, 0], joint[:, 1, 1] = S[:, feature, feature], y_std**2
        joint[:, 0, 1] = joint[:, 1, 0] = xy_cov[:, feature]
        self.readings = GaussianArray(np.column_stack([self.x, self.y]), cov=joint)
        low, high = self.x.min(), self.x.max()
        margin = 0.04 * (high - low)
        self.grid = np.linspace(low - margin, high + margin, 200)
        points = np.tile(centre, (200, 1))
        points[:, feature] = self.grid
        self.law = f(points)
        self.law_std = _standard_errors(law, points, float(variance.mean()) / len(X))

    @classmethod
    def from_estimator(
        cls,
        law: Estimator | TableModel,
        X: RowsLike | TableLike,
        y: ArrayLike | str | None = None,
        y_std: RowValues = None,
        *,
        xy_cov: RowValues = None,
        outlier_probability: RowValues = None,
        feature: int | str = 0,
        **options: Any,
    ) -> Self:
        """Draw a fitted law with readings.

        Parameters
        ----------
        law : fitted LinearLaw (of one component) or CurveRegressor of one output, or the `Model` of
            ``uncertain.fit(table, method="law")``: targets, their errors and names are then those of the
            table's columns, and errors that rows share (``modes=``) are taken off the targets.
        X : the rows, with their errors; of a `Model` the table.
        y : array-like of shape (n,), the targets; of a `Model` also another column, or None.
        y_std : float or array-like of shape (n,), their errors; None: 0, or those of a `Model`'s table.
        xy_cov : array-like of shape (n, d), covariances of each feature's error with the target's.
        outlier_probability : of each row; None: ``law.outlier_probability_`` where it has as many rows.
        feature : which one to show, by its place, or of a `Model` by its name.
        **options : of `plot`.
        """
        if is_model(law):
            law, X, y, std_of_table, cov_of_table, names = law._law_drawn(X, cast(ColumnOrValues | None, y))
            y_std = std_of_table if y_std is None else y_std
            xy_cov = cov_of_table if xy_cov is None else xy_cov
            if isinstance(feature, str):
                there = f"there are {', '.join(names[:-1])}"
                refuse_if(feature not in names[:-1], f"feature = {feature!r}: {there}")
                feature = int(names.index(feature))
            if 0 <= feature < len(names) - 1:
                options.setdefault("names", (names[feature], names[-1]))
        law = cast(Estimator, law)
        refuse_if(
            not (hasattr(law, "curve") or hasattr(type(law), "predict_mixture")),
            f"law = {type(law).__name__}: a LinearLaw or a CurveRegressor has numbers that scatter about a "
            "law; of others draw predictions",
        )
        check_is_fitted(law)
        refuse_if(np.size(law.scatter_) > 1, "law: a picture needs a curve of one output", ShapeError)
        rows = X if isinstance(X, GaussianArray) else GaussianArray(np.asarray(X, dtype=np.float64), std=0.0)
        n, d = rows.means.shape
        targets = np.asarray(y, dtype=np.float64)
        check_shape(targets, (n,), "y", "one number per row")
        outside = not isinstance(feature, int) or not 0 <= feature < d
        refuse_if(outside, f"feature = {feature!r}: must be the place of one of {d} features")
        std = np.broadcast_to(np.asarray(0.0 if y_std is None else y_std, dtype=np.float64), (n,))
        cov = np.zeros((n, d)) if xy_cov is None else np.asarray(xy_cov, dtype=np.float64).reshape(n, d)
        if outlier_probability is None:
            outlier_probability = getattr(law, "outlier_probability_", None)
        known = outlier_probability is not None and np.shape(outlier_probability) == (n,)
        outlying = np.asarray(outlier_probability) > 0.5 if known else np.zeros(n, dtype=bool)
        return cls(law, rows, targets, std, cov, outlying, int(feature)).plot(**options)

    def plot(
        self,
        axes: tuple[Axes, Axes] | None = None,
        *,
        n_std: float = 1.0,
        names: tuple[str, str] = ("x", "y"),
        color: str = COLORS[0],
    ) -> Self:
        """Draw again.

        Parameters
        ----------
        axes : two of matplotlib's Axes, for law and residuals; None: of a new figure.
        n_std : size of the ellipses in standard deviations.
        names : of feature and target.
        color : of the readings.
        """
        upper, lower = new_pair() if axes is None else axes
        self.ax_, self.residual_ax_, self.figure_ = upper, lower, upper.figure
        size, front = (1.8, 4) if len(self.x) > MOST_ELLIPSES else (3.5, 2)
        wide = np.hypot(self.law_std, self.scatter)
        for half, alpha, label in ((wide, 0.25, "scatter"), (self.law_std, 0.5, "standard error")):
            ends = self.law - half, self.law + half
            upper.fill_between(self.grid, *ends, color=GREY, alpha=alpha, lw=0, label=label, zorder=front)
        upper.plot(self.grid, self.law, color=ink(), lw=1.3, label="law", zorder=front)
        kinds = ((~self.outlying, color, "o", "readings"), (self.outlying, COLORS[1], "x", "outliers"))
        for selected, shade, marker, label in kinds:
            if not selected.any():
                continue
            rows = np.flatnonzero(selected)
            few = rows[:: -(-rows.size // MOST_ELLIPSES)]
            ellipses(self.readings, ax=upper, n_std=n_std, rows=few, facecolors=shade, alpha=0.12)
            style: Keywords = {"color": shade, "ms": size, "alpha": 0.8, "label": label, "zorder": 3}
            upper.plot(self.x[rows], self.y[rows], marker, **style)
            lower.plot(self.x[rows], self.residuals[rows], marker, **style)
        for level in (-2, 0, 2):
            lower.axhline(level, color=ink(), lw=0.5 if level else 0.8, ls=":" if level else "-")
        upper.set_ylabel(names[1])
        lower.set(xlabel=names[0], ylabel="residual / error")
        for ax in (upper, lower):
            bare(ax)
        legend(upper)
        return self


def _curve_of(law: Estimator) -> Callable[[Floats, Floats], Floats] | None:
    """The curve (x, params) -> (m,) of a `CurveRegressor`; None for a line."""
    if not hasattr(law, "curve"):
        return None
    return lambda x, p: np.asarray(law.curve(x.copy(), p.copy()), dtype=np.float64).reshape(len(x))


def _derivatives(f: Callable[[Floats], Floats], point: Floats, steps: Floats) -> Floats:
    """Central differences of f along the last axis of `point`, (m, k); 0 where the step is 0."""
    scales = np.where(steps > 0, 2 * steps, 1.0)
    return np.column_stack(
        [
            (f(point + move) - f(point - move)) / scale
            for move, scale in zip(np.diag(steps), scales, strict=True)
        ]
    )


def _standard_errors(law: Estimator, x: Floats, level: float) -> Floats:
    """Of the law at some points; `level`: the variance of its level, where only slopes have errors."""
    curve = _curve_of(law)
    if curve is not None:
        steps = 1e-3 * np.nan_to_num(np.where(law.std_ > 0, law.std_, 0.0))
        J = _derivatives(lambda p: curve(x, p), law.params_, steps)
        covariance = np.nan_to_num(law.covariance_)
    elif hasattr(law, "covariance_"):
        J, covariance = np.column_stack([np.ones(len(x)), x]), law.covariance_
    else:
        # Level and slopes about the mean of the readings are nearly independent.
        J = np.column_stack([np.ones(len(x)), x - law.means_[0, :-1]])
        covariance = np.diag([level, *law.coef_std_**2])
    std: Floats = np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", J, covariance, J), 0.0))
    return std
