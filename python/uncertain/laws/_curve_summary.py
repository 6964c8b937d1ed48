"""A table of a curve's parameters, beside the fit that takes x as exact."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._base.law import factors_of_errors
from .._data.typing import Floats
from ._curve_intervals import CurveIntervals

_NONE = {"outliers": None, "degrees_of_freedom": None, "error_scale": None}
"""What least squares does not take."""


class CurveSummary(CurveIntervals):
    """``summary()``, and the naive fit."""

    _naive: tuple[Floats, Floats] | None = None
    """Parameters and standard errors of least squares that takes x as exact, once somebody has asked."""

    def summary(self) -> str:
        """Parameters with standard errors and 95 % intervals, beside least squares that takes x as exact."""
        ends = self.conf_int()
        factors = factors_of_errors(self)
        width = max(len(name) for name in [*self.param_names_, "scatter", *(name for name, *_ in factors)])
        lines = [
            f"{'':{width}}  {'estimate':>12} {'std':>10} {'95 % interval':>25}   {'naive':>12} {'std':>10}"
        ]
        for j, name in enumerate(self.param_names_):
            interval = f"{ends[j, 0]:12.5g} {ends[j, 1]:12.5g}"
            naive = f"{self.naive_params_[j]:12.5g} {self.naive_std_[j]:10.3g}"
            lines.append(f"{name:{width}}  {self.params_[j]:12.5g} {self.std_[j]:10.3g} {interval}   {naive}")
        for scatter, std in zip(np.ravel(self.scatter_), np.ravel(self.scatter_std_), strict=True):
            if self.truth == "structural":
                lines.append(f"{'scatter':{width}}  {scatter:12.5g} {std:10.3g}")
        for name, factor, std in factors:
            lines.append(f"{name:{width}}  {factor:12.5g} {std:10.3g}")
        for k, value in enumerate(self.__dict__.get("modes_", ())):
            lines.append(f"{f'mode {k}':{width}}  {value:12.5g} {self.modes_std_[k]:10.3g}")
        for name, (value, std) in self.__dict__.get("outlier_law_", {}).items():
            lines.append(f"outliers: {name.replace('_', ' ')} {value:.4g} +- {std:.2g}")
        about = f"{self.truth}, log-likelihood {self.loglikelihood_:.6g}, {self.status_}"
        return "\n".join([*lines, f"{about}; naive: least squares, x as exact"])

    @property
    def naive_params_(self) -> Floats:
        """Parameters by least squares that takes x as exact, fitted when asked for; NaN if that fails."""
        return self._fit_naively()[0]

    @property
    def naive_std_(self) -> Floats:
        """Their standard errors."""
        return self._fit_naively()[1]

    def _fit_naively(self) -> tuple[Floats, Floats]:
        """Least squares that takes x as exact, weighted by the errors of y where all have some."""
        check_is_fitted(self, "params_")
        if self._naive is not None:
            return self._naive
        assert self._problem is not None  # pickles hold the answer
        start, rows, targets, known = self._problem
        covariances = known["covariances"]
        if covariances is not None and not np.all(np.linalg.eigvalsh(covariances)[:, 0] > 0.0):
            covariances = None
        try:
            parameters = self._parameters(truth="functional", **_NONE)
            only_y = known | {"covariances": covariances, "crossed": None, "modes": None}
            found = self._found(start, parameters, rows.collapse("zero"), targets, only_y)
        except ValueError:
            # The fit itself went well; this one is for comparison.
            self._naive = np.full(len(start.values), np.nan), np.full(len(start.values), np.nan)
        else:
            self._naive = found["params"], np.sqrt(np.diag(found["covariance"]))
        return self._naive
