"""Intervals of a curve's parameters, and draws of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import special
from sklearn.utils.validation import check_is_fitted

from .._base.docs import documented
from .._base.law import draws_of
from .._data.typing import Floats, Keywords, RandomState
from .._data.validation import generator_from
from .._uncertain import Gaussians
from ..exceptions import ParameterError, UncertainError
from ._arguments import Start
from ._curve_fit import CurveFit
from ._profile import ends_of_all


@documented
class CurveIntervals(CurveFit):
    """By standard errors, or by the profile of the likelihood."""

    def conf_int(self, level: float = 0.95, method: Literal["wald", "profile"] = "wald") -> Floats:
        """Confidence intervals of the parameters.

        .. code-block:: text

            "wald":     theta -+ t std
            "profile":  all c with 2 (log L - max log L given theta_j = c) <= t^2

        t is a quantile of the normal distribution, or of Student's with n - p degrees of freedom where the
        errors of y were estimated from the residuals of a functional fit (whose profile is that of the sum of
        squares over ``residual_variance_``).

        Parameters
        ----------
        level : float, default=0.95
            Coverage, between 0 and 1.
        method : {"wald", "profile"}, default="wald"
            "profile" fits again with fixed parameters, some ten times each, and needs the readings of the
            fit: it is not for pickled laws. It does not count the uncertainty of the density of true x.

        Returns
        -------
        ndarray of shape (p, 2)
            Lower and upper ends; infinite where there is none, a bound where it is within, NaN where a
            parameter is fixed or held by a bound.
        """
        check_is_fitted(self, "params_")
        if not 0.0 < level < 1.0:
            raise ParameterError(f"level = {level!r}: must be between 0 and 1")
        if method not in ("wald", "profile"):
            raise ParameterError(f'method = {method!r}: must be "wald" or "profile"')
        upper = 0.5 + level / 2
        t = special.ndtri(upper) if self._degrees is None else special.stdtrit(self._degrees, upper)
        if method == "profile":
            return self._profile(float(t))
        ends: Floats = self.params_[:, None] + t * self.std_[:, None] * np.array([-1.0, 1.0])
        return ends

    def _profile(self, quantile: float) -> Floats:
        start, *_ = self._readings()
        return ends_of_all(self._distance, self.params_, self.std_, quantile, (start.lower, start.upper))

    def _readings(self) -> tuple[Start, Gaussians, Floats, Keywords]:
        if self._problem is None:
            raise UncertainError("a profile needs the readings of the fit, which pickles do not hold")
        return self._problem

    def _distance(self, j: int) -> Callable[[float], float]:
        """The root of the deviance where parameter j is held at a number and the others are fitted again."""
        start, rows, targets, known = self._readings()
        parameters = self._parameters()
        fixed = [held or k == j for k, held in enumerate(start.fixed)]

        def distance(c: float) -> float:
            values = self.params_.tolist()
            values[j] = c
            from_here = start._replace(values=values, fixed=fixed)
            try:
                found = self._found(from_here, parameters, rows, targets, known)
            except UncertainError:
                return np.inf
            if self._degrees is None:
                return float(np.sqrt(max(2 * (self.loglikelihood_ - found["loglikelihood"]), 0.0)))
            free = fixed.count(False)
            squares = found["residual_variance"] * (targets.size - free)
            mine = self.residual_variance_ * self._degrees
            return float(np.sqrt(max(squares - mine, 0.0) / self.residual_variance_))

        return distance

    def sample_posterior(self, n_samples: int = 1, random_state: RandomState = 0) -> Floats:
        """Draws of the parameters from the normal distribution with their covariance (Laplace).

        Those that are fixed or at a bound stay there.

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState or None, default=0
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n_samples, p)
        """
        check_is_fitted(self, "params_")
        none = np.zeros(len(self.params_), dtype=bool)
        return draws_of(self.params_, self.covariance_, none, generator_from(random_state), n_samples)
