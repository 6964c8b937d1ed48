"""A law between true values with its readings: error ellipses, bands, residuals in units of their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._data.array import GaussianArray
from .._data.typing import Booleans, ColumnOrValues, Estimator, Floats
from .._data.validation import RowsLike, TableLike
from ..exceptions import ParameterError, ShapeError, UncertainError
from ._gaussians import ellipses
from ._opened import TableModel, is_model
from ._style import COLORS, bare, legend, new_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ELLIPSES = 300
"""Of more rows evenly spaced ones are drawn as ellipses, and all as smaller points below the law."""


class LawDisplay:
    """Readings with error ellipses, the law and its bands above; residuals in units of their errors below.

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
        f = _function(law)
        centre = X.means.mean(axis=0)
        beside = np.tile(centre, (len(X), 1))
        beside[:, feature] = X.means[:, feature]
        own = f(X.means)
        self.x, self.y = X.means[:, feature], y - own + f(beside)
        S = X.covariances()
        slopes = _slopes(f, X.means)
        variance = self.scatter**2 + y_std**2 + np.einsum("ni,nij,nj->n", slopes, S, slopes)
        variance -= 2 * (slopes * xy_cov).sum(axis=1)
        if not np.all(variance > 0):
            raise UncertainError("residuals need a scatter or errors of each row; give y_std=")
        self.residuals = (y - own) / np.sqrt(variance)
        joint = np.zeros((len(X), 2, 2))
        joint[:, 0, 0], joint[:, 1, 1] = S[:, feature, feature], y_std**2
        joint[:, 0, 1] = joint[:, 1, 0] = xy_cov[:, feature]
        self.readings = GaussianArray(np.column_stack([self.x, self.y]), cov=joint)
        low, high = self.x.min(), self.x.max()
        margin = 0.04 * (high - low)
        self.grid = np.linspace(low - margin, high + margin, 200)
        at = np.tile(centre, (200, 1))
        at[:, feature] = self.grid
        self.law = f(at)
        self.law_std = _standard_errors(law, at, float(variance.mean()) / len(X))

    @classmethod
    def from_estimator(
        cls,
        law: Estimator | TableModel,
        X: RowsLike | TableLike,
        y: ArrayLike | str | None = None,
        y_std: ArrayLike | None = None,
        *,
        xy_cov: ArrayLike | None = None,
        outlier_probability: ArrayLike | None = None,
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
            law, X, y, *own, names = law._law_drawn(X, cast(ColumnOrValues | None, y))
            y_std, xy_cov = (
                mine if mine is not None else his for mine, his in zip((y_std, xy_cov), own, strict=True)
            )
            if isinstance(feature, str):
                if feature not in names[:-1]:
                    raise ParameterError(f"feature = {feature!r}: there are {', '.join(names[:-1])}")
                feature = names.index(feature)
            if 0 <= feature < len(names) - 1:
                options.setdefault("names", (names[feature], names[-1]))
        law = cast(Estimator, law)
        if not (_is_curve(law) or hasattr(type(law), "predict_mixture")):
            raise ParameterError(
                f"law = {type(law).__name__}: a LinearLaw or a CurveRegressor has numbers that scatter about "
                "a law; of others draw predictions"
            )
        check_is_fitted(law)
        if np.size(law.scatter_) > 1:
            raise ShapeError("law: a picture needs a curve of one output")
        rows = X if isinstance(X, GaussianArray) else GaussianArray(np.asarray(X, dtype=np.float64), std=0.0)
        n, d = rows.means.shape
        targets = np.asarray(y, dtype=np.float64)
        if targets.shape != (n,):
            raise ShapeError(f"y: expected one number per row, shape ({n},), got {targets.shape}")
        if not isinstance(feature, int) or not 0 <= feature < d:
            raise ParameterError(f"feature = {feature!r}: must be the place of one of {d} features")
        std = np.broadcast_to(np.asarray(0.0 if y_std is None else y_std, dtype=np.float64), (n,))
        cov = np.zeros((n, d)) if xy_cov is None else np.asarray(xy_cov, dtype=np.float64).reshape(n, d)
        known = (
            getattr(law, "outlier_probability_", None) if outlier_probability is None else outlier_probability
        )
        probability = np.zeros(n) if known is None or np.shape(known) != (n,) else np.asarray(known)
        return cls(law, rows, targets, std, cov, probability > 0.5, feature).plot(**options)

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
        wide = np.hypot(self.law_std, self.scatter)
        crowded = len(self.x) > MOST_ELLIPSES
        size, front = (1.8, 4) if crowded else (3.5, 2)
        upper.fill_between(
            self.grid,
            self.law - wide,
            self.law + wide,
            color="0.5",
            alpha=0.15,
            lw=0,
            label="scatter",
            zorder=front,
        )
        upper.fill_between(
            self.grid, self.law - self.law_std, self.law + self.law_std, color="k", alpha=0.3, lw=0,
            label="standard error", zorder=front,
        )  # fmt: skip
        upper.plot(self.grid, self.law, color="k", lw=1.3, label="law", zorder=front)
        for rows, shade, marker, label in (
            (~self.outlying, color, "o", "readings"),
            (self.outlying, COLORS[1], "x", "outliers"),
        ):
            at = np.flatnonzero(rows)
            if not at.size:
                continue
            some = at[:: -(-at.size // MOST_ELLIPSES)]
            ellipses(self.readings, ax=upper, n_std=n_std, rows=some, facecolors=shade, alpha=0.12)
            upper.plot(self.x[at], self.y[at], marker, color=shade, ms=size, alpha=0.8, label=label, zorder=3)
            lower.plot(self.x[at], self.residuals[at], marker, color=shade, ms=size, alpha=0.8)
        for level in (-2, 0, 2):
            lower.axhline(level, color="k", lw=0.8 if level == 0 else 0.5, ls="-" if level == 0 else ":")
        upper.set_ylabel(names[1])
        lower.set(xlabel=names[0], ylabel="residual / error")
        for ax in (upper, lower):
            bare(ax)
        legend(upper)
        return self


def _is_curve(law: object) -> bool:
    return hasattr(law, "curve")


def _function(law: Estimator) -> Any:
    """f of points (m, d)."""
    if _is_curve(law):
        return lambda x: np.asarray(law.curve(x.copy(), law.params_.copy()), dtype=np.float64).reshape(len(x))
    return lambda x: law.intercept_ + x @ law.coef_


def _slopes(f: Any, x: Floats) -> Floats:
    """df/dx (m, d) by central differences."""
    unit = x.std(axis=0)
    steps = 1e-5 * np.where(unit > 0, unit, 1.0)
    columns = [
        (f(x + move) - f(x - move)) / (2 * step) for step, move in zip(steps, np.diag(steps), strict=True)
    ]
    return np.column_stack(columns)


def _standard_errors(law: Estimator, at: Floats, level: float) -> Floats:
    """Of the law at some points; `level`: the variance of its level, where only slopes have errors."""
    if _is_curve(law):
        p = law.params_
        size = np.where(law.std_ > 0, law.std_, 0.0)
        steps = 1e-3 * np.nan_to_num(size)

        def moved(j: int, sign: float) -> Floats:
            params = p.copy()
            params[j] += sign * steps[j]
            return np.asarray(law.curve(at.copy(), params), dtype=np.float64).reshape(len(at))

        columns = [
            (moved(j, 1) - moved(j, -1)) / (2 * steps[j]) if steps[j] > 0 else np.zeros(len(at))
            for j in range(len(p))
        ]
        J, covariance = np.column_stack(columns), np.nan_to_num(law.covariance_)
    elif hasattr(law, "covariance_"):
        J, covariance = np.column_stack([np.ones(len(at)), at]), law.covariance_
    else:
        # Level and slopes about the mean of the readings are nearly independent.
        J = np.column_stack([np.ones(len(at)), at - law.means_[0, :-1]])
        covariance = np.diag([level, *law.coef_std_**2])
    std: Floats = np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", J, covariance, J), 0.0))
    return std
