"""A law with bands and residuals, and profiles of its likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from .._data.array import GaussianArray
from .._data.numbers import check_shape
from .._data.options import refuse_if
from .._data.typing import Booleans, ColumnOrValues, Estimator, Floats, Keywords, RowValues
from .._data.validation import RowsLike, TableLike
from ..exceptions import ShapeError, UncertainError
from ._display import COLORS, GREY, Display, TableModel, bare, ink, is_model, legend, new_pair
from ._gaussians import ellipses

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ELLIPSES = 300
"""Of more rows evenly spaced ones are drawn as ellipses, and all as smaller points below the law."""


class LawDisplay(Display):
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
        Parts of each row that are drawn.
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
        self.outlying, self.scatter = outlying, float(np.ravel(law.scatter_)[0])
        curve = _curve_of(law)

        def f(x: Floats) -> Floats:
            return law.intercept_ + x @ law.coef_ if curve is None else curve(x, law.params_)

        def along(values: Floats) -> Floats:
            """Rows with this feature, and the means of the others."""
            points = np.tile(X.means.mean(axis=0), (len(values), 1))
            points[:, feature] = values
            return points

        predicted = f(X.means)
        self.x = X.means[:, feature]
        self.y = y - predicted + f(along(self.x))
        S, unit = X.covariances(), X.means.std(axis=0)
        slopes = _derivatives(f, X.means, 1e-5 * np.where(unit > 0, unit, 1.0))
        variance = self.scatter**2 + y_std**2 + np.einsum("ni,nij,nj->n", slopes, S, slopes)
        variance -= 2 * (slopes * xy_cov).sum(axis=1)
        exact = not np.all(variance > 0)
        refuse_if(exact, "residuals need a scatter or errors of each row; give y_std=", UncertainError)
        self.residuals = (y - predicted) / np.sqrt(variance)
        shared = xy_cov[:, feature]
        joint = np.stack([S[:, feature, feature], shared, shared, y_std**2], axis=1).reshape(-1, 2, 2)
        self.readings = GaussianArray(np.column_stack([self.x, self.y]), cov=joint)
        low, high = self.x.min(), self.x.max()
        margin = 0.04 * (high - low)
        self.grid = np.linspace(low - margin, high + margin, 200)
        points = along(self.grid)
        self.law, self.law_std = f(points), _standard_errors(law, points, float(variance.mean()) / len(X))

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
        place: Any = feature
        if is_model(law):
            law, X, y, std_of_table, cov_of_table, names = law._law_drawn(X, cast(ColumnOrValues | None, y))
            y_std = std_of_table if y_std is None else y_std
            xy_cov = cov_of_table if xy_cov is None else xy_cov
            *features, target = names
            place = features.index(feature) if feature in features else feature
            refuse_if(isinstance(place, str), f"feature = {feature!r}: there are {', '.join(features)}")
            if 0 <= place < len(features):
                options.setdefault("names", (features[place], target))
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
        refuse_if(place not in range(d), f"feature = {feature!r}: must be the place of one of {d} features")
        std = np.broadcast_to(np.asarray(0.0 if y_std is None else y_std, dtype=np.float64), (n,))
        cov = np.zeros((n, d)) if xy_cov is None else np.asarray(xy_cov, dtype=np.float64).reshape(n, d)
        if outlier_probability is None:
            outlier_probability = getattr(law, "outlier_probability_", None)
        fits = outlier_probability is not None and np.shape(outlier_probability) == (n,)
        outlying = np.asarray(outlier_probability) > 0.5 if fits else np.zeros(n, dtype=bool)
        return cls(law, rows, targets, std, cov, outlying, int(place)).plot(**options)

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
        upper, self.residual_ax_ = new_pair() if axes is None else axes
        lower = self.residual_ax_
        self._start(upper)
        bare(lower)
        size, front = (1.8, 4) if len(self.x) > MOST_ELLIPSES else (3.5, 2)
        wide = np.hypot(self.law_std, self.scatter)
        for half, alpha, label in ((wide, 0.25, "scatter"), (self.law_std, 0.5, "standard error")):
            ends = self.law - half, self.law + half
            upper.fill_between(self.grid, *ends, color=GREY, alpha=alpha, lw=0, label=label, zorder=front)
        upper.plot(self.grid, self.law, color=ink(), lw=1.3, label="law", zorder=front)
        kinds = ((~self.outlying, color, "o", "readings"), (self.outlying, COLORS[1], "x", "outliers"))
        for selected, shade, marker, label in kinds:
            rows = np.flatnonzero(selected)
            if rows.size == 0:
                continue
            few = rows[:: -(-rows.size // MOST_ELLIPSES)]
            ellipses(self.readings, ax=upper, n_std=n_std, rows=few, facecolors=shade, alpha=0.12)
            style: Keywords = {"color": shade, "ms": size, "alpha": 0.8, "label": label, "zorder": 3}
            upper.plot(self.x[rows], self.y[rows], marker, **style)
            lower.plot(self.x[rows], self.residuals[rows], marker, **style)
        for level in (-2, 0, 2):
            lower.axhline(level, color=ink(), lw=0.5 if level else 0.8, ls=":" if level else "-")
        upper.set_ylabel(names[1])
        lower.set(xlabel=names[0], ylabel="residual / error")
        legend(upper)
        return self


@dataclass(eq=False, repr=False)
class ProfileDisplay(Display):
    """Profile of the likelihood along a parameter of a `CurveRegressor`.

    .. code-block:: text

        D(c) = 2 (max log L - max log L given theta_j = c),    parabola (c - theta_j)^2 / std_j^2

    Where both agree, ``conf_int(method="wald")`` is as good as ``method="profile"``, whose ends are where D
    crosses the dotted line. Without errors of y D is that of the sum of squares over ``residual_variance_``.

    Attributes
    ----------
    values, deviance, parabola : ndarrays of shape (n_points,): c, and D (infinite where no curve fits).
    name, level : of the parameter, and of the dotted line.
    ax_, figure_ : matplotlib's Axes and Figure, after `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.laws import CurveRegressor
    >>> from uncertain.plot import ProfileDisplay
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> y = 2 * x[:, 0] + np.random.default_rng(0).normal(scale=0.1, size=20)
    >>> law = CurveRegressor(lambda x, p: p[0] * x[:, 0], {"slope": 1.0}, truth="functional").fit(x, y, 0.1)
    >>> display = ProfileDisplay.from_estimator(law, "slope")
    >>> bool(np.allclose(display.deviance, display.parabola))
    True
    """

    values: Floats
    deviance: Floats
    parabola: Floats
    name: str
    level: float

    @classmethod
    def from_estimator(
        cls,
        law: Estimator,
        parameter: int | str = 0,
        *,
        level: float = 0.95,
        n_points: int = 21,
        **options: Any,
    ) -> Self:
        """Fit again at each point, and draw.

        Parameters
        ----------
        law : CurveRegressor, fitted in this process: pickled ones have no readings to fit again.
        parameter : its name or place.
        level : float in (0, 1), of the dotted line; the profile goes to 1.5 times the errors of that level.
        n_points : so many fits, >= 3.
        **options : of `plot`.
        """
        other = not hasattr(law, "_deviance")
        refuse_if(other, f"law = {type(law).__name__}: profiles are drawn of a CurveRegressor")
        check_is_fitted(law)
        names = list(law.param_names_)
        j: Any = names.index(parameter) if parameter in names else parameter
        refuse_if(j not in range(len(names)), f"parameter = {parameter!r}: there are {', '.join(names)}")
        outside = not 0 < level < 1 or n_points < 3
        refuse_if(outside, f"level = {level!r}, n_points = {n_points!r}: must be in (0, 1), and >= 3")
        std = float(law.std_[j])
        refuse_if(not std > 0, f"parameter = {names[j]!r}: a fixed or bounded one has no profile")
        reach = 1.5 * float(ndtri((1 + level) / 2))
        steps = np.linspace(-reach, reach, n_points)
        values = law.params_[j] + std * steps
        deviance = np.array([law._deviance(j, float(c)) for c in values])
        return cls(values, deviance, steps**2, names[j], level).plot(**options)

    def plot(self, ax: Axes | None = None, *, color: str = COLORS[0]) -> Self:
        """Draw the profile in a colour on `ax`, or on a new figure."""
        ax = self._start(ax)
        end = float(ndtri((1 + self.level) / 2)) ** 2
        ax.plot(self.values, self.deviance, color=color, label="profile")
        ax.plot(self.values, self.parabola, color=ink(), lw=0.8, ls="--", label="standard error")
        ax.axhline(end, color=ink(), lw=0.8, ls=":", label=f"{self.level:.0%}")
        ax.set(xlabel=self.name, ylabel="2 (max log L - log L)", ylim=(0, None))
        legend(ax)
        return self


def _curve_of(law: Estimator) -> Callable[[Floats, Floats], Floats] | None:
    """The curve (x, params) -> (m,) of a `CurveRegressor`; None for a line."""
    if not hasattr(law, "curve"):
        return None
    return lambda x, p: np.asarray(law.curve(x.copy(), p.copy()), dtype=np.float64).reshape(len(x))


def _derivatives(f: Callable[[Floats], Floats], point: Floats, steps: Floats) -> Floats:
    """Central differences of f along the last axis; 0 where the step is 0."""
    moves = zip(np.diag(steps), np.where(steps > 0, 2 * steps, 1.0), strict=True)
    return np.column_stack([(f(point + move) - f(point - move)) / scale for move, scale in moves])


def _standard_errors(law: Estimator, x: Floats, level: float) -> Floats:
    """Variance of the law at points; `level`: if slopes alone have errors."""
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
