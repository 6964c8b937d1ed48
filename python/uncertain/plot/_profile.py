"""How fast the likelihood of a curve falls beside the estimate of a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from .._data.options import refuse_if
from .._data.typing import Estimator, Floats
from ..exceptions import ParameterError
from ._figure import COLORS, axes_for, bare, ink, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class ProfileDisplay:
    """Profile of the likelihood along a parameter of a `CurveRegressor`.

    .. code-block:: text

        D(c) = 2 (max log L - max log L given theta_j = c),    parabola (c - theta_j)^2 / std_j^2

    Where both agree, ``conf_int(method="wald")`` is as good as ``method="profile"``, whose ends are where D
    crosses the dotted line. Without errors of y D is that of the sum of squares over ``residual_variance_``.
    After `plot` there are `ax_` and `figure_`.

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
    """c, evenly spaced, shape (n_points,)."""
    deviance: Floats
    """D, infinite where the curve cannot be fitted."""
    parabola: Floats
    name: str
    """Name of the parameter."""
    level: float
    """Level of the dotted line."""

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
        other = not hasattr(law, "_distance")
        refuse_if(other, f"law = {type(law).__name__}: profiles are drawn of a CurveRegressor")
        check_is_fitted(law)
        names = list(law.param_names_)
        j = names.index(parameter) if parameter in names else parameter
        if not isinstance(j, int) or not 0 <= j < len(names):
            raise ParameterError(f"parameter = {parameter!r}: there are {', '.join(names)}")
        outside = not 0 < level < 1 or n_points < 3
        refuse_if(outside, f"level = {level!r}, n_points = {n_points!r}: must be in (0, 1), and >= 3")
        std = float(law.std_[j])
        refuse_if(not std > 0, f"parameter = {names[j]!r}: a fixed or bounded one has no profile")
        reach = 1.5 * float(ndtri((1 + level) / 2))
        steps = np.linspace(-reach, reach, n_points)
        values, distance = law.params_[j] + std * steps, law._distance(j)
        deviance = np.array([distance(float(c)) ** 2 for c in values])
        return cls(values, deviance, steps**2, names[j], level).plot(**options)

    def plot(self, ax: Axes | None = None, *, color: str = COLORS[0]) -> Self:
        """Draw again.

        Parameters
        ----------
        ax : matplotlib's Axes; None: of a new figure. color : of the profile.
        """
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        end = float(ndtri((1 + self.level) / 2)) ** 2
        ax.plot(self.values, self.deviance, color=color, label="profile")
        ax.plot(self.values, self.parabola, color=ink(), lw=0.8, ls="--", label="standard error")
        ax.axhline(end, color=ink(), lw=0.8, ls=":", label=f"{self.level:.0%}")
        ax.set(xlabel=self.name, ylabel="2 (max log L - log L)", ylim=(0, None))
        bare(ax)
        legend(ax)
        return self
