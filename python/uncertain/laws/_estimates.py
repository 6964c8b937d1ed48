"""What is known of a `GeneralizedLinearLaw`: estimates with errors, intervals, and whether they end."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._base.docs import documented
from .._base.em import FittedMixture
from .._base.law import OF_FACTORS, Law, draws_of, law_table, rows_beside
from .._base.penalty import FitRows
from .._data.typing import Floats, Header, Keywords
from .._data.warn import warn
from ..exceptions import ConvergenceWarning
from ._answers import Family

EXTRA = {
    "negative_binomial": "dispersion",
    "gamma": "dispersion",
    "weibull": "scale",
    "lognormal": "scale",
    "ordinal": "thresholds",
}
"""What a family has beside a linear predictor."""


@documented
class Estimates(Law, FittedMixture):
    """The attributes of a fit."""

    family: Family
    _problem: tuple[FitRows, Keywords]

    def _profile(self, level: float) -> Floats:
        rows, arguments = self._problem
        ends: Floats = self._fitted(self._parameters(profile=level), rows, **arguments).arrays()["profile"]
        return ends

    def summary(self, level: float = 0.95) -> str:
        """Estimates with standard errors and intervals, beside the fit to readings as if they were exact.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Of the intervals.

        Returns
        -------
        str
            A table, one line per estimate.
        """
        check_is_fitted(self, "coef_")
        d = self.n_features_in_
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(d)])]
        if self.family != "ordinal":
            names = ["intercept", *names]
        extra = self._law[len(names) :]
        what = EXTRA.get(self.family, "")
        own = [what] if len(extra) == 1 else [f"threshold {k + 1}" for k in range(len(extra))]
        std, naive_std = _deviations(self.covariance_), _deviations(self._naive_covariance)
        rows = list(
            zip([*names, *own], self._law, std, self._naive, naive_std, strict=True)  # one line per estimate
        )
        rows += rows_beside(self)
        head = f"{self.family}, log-likelihood {self.loglikelihood_:.6g}, {self.status_}"
        return f"{head}\n{law_table(rows, level)}"

    def _draw(self, rng: np.random.RandomState, n_samples: int) -> Floats:
        positive = np.zeros(len(self._law), dtype=bool)
        if self.family != "ordinal":
            positive[1 + self.n_features_in_ :] = True
        return draws_of(self._law, self.covariance_, positive, rng, n_samples)

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header["progress"])
        self._density_status = getattr(self, "status_", "converged")
        self.n_iter_, self.status_ = header["n_iter"], header["status"]
        self._law, self._naive = arrays["law"], arrays["naive"]
        self.covariance_, self._naive_covariance = arrays["covariance"], arrays["naive_covariance"]
        first = 0 if self.family == "ordinal" else 1
        own = slice(first, first + arrays["means"].shape[1])
        std = _deviations(self.covariance_)
        self.coef_, self.coef_std_ = self._law[own], std[own]
        self.intercept_ = float(self._law[0]) if first else 0.0
        self.intercept_std_ = float(std[0]) if first else float("nan")
        extra = EXTRA.get(self.family)
        self.extra_: dict[str, Floats] = {extra: self._law[own.stop :]} if extra else {}
        self.extra_std_: dict[str, Floats] = {extra: std[own.stop :]} if extra else {}
        self.naive_coef_, self.naive_std_ = self._naive[own], _deviations(self._naive_covariance)[own]
        self.loglikelihood_ = float(arrays["log_likelihood"][0])
        for name in ("modes_", "modes_std_", *OF_FACTORS):
            self.__dict__.pop(name, None)  # of an earlier fit
        if "feature_error_scale" in arrays:
            self.feature_error_scale_ = arrays["feature_error_scale"]
            self.feature_error_scale_std_ = arrays["feature_error_scale_std"]
        if "modes" in arrays:
            self.modes_, self.modes_std_ = arrays["modes"], _deviations(arrays["modes_covariance"])

    def _warn_unless_ended(self) -> None:
        name = type(self).__name__
        if self._density_status != "converged":
            warn(
                f"{name}: the density of true features did not converge ({self._density_status}); raise "
                "max_iter or tol",
                ConvergenceWarning,
            )
        if self.status_ == "separated":
            warn(
                f"{name}: the likelihood rises for ever along some direction (a plane separates the classes, "
                "or a part of the rows has no events), so that coefficients and standard errors have no end; "
                "alpha > 0 keeps them finite",
                ConvergenceWarning,
            )
        elif self.status_ != "converged":
            warn(
                f"{name} did not converge ({self.status_} after {self.n_iter_} iterations); alpha > 0, or "
                "fewer features, may help",
                ConvergenceWarning,
            )


def _deviations(covariance: Floats) -> Floats:
    """Square roots of variances; NaN where one is 0, for it is not known."""
    variances = np.diag(covariance)
    return np.sqrt(np.where(variances > 0.0, variances, np.nan))
