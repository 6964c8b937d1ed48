"""Estimates of a law between true values: intervals, draws and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit
from sklearn.utils.validation import check_is_fitted

from .._base.docs import documented
from .._base.em import Mixture
from .._data.typing import Array, Booleans, Floats, Keywords, RandomState
from .._data.validation import generator_from
from .._uncertain import Fitted
from ..exceptions import ParameterError, UncertainError

Extra = tuple[str, float, float]
"""Name, estimate and standard error of what a law has beside its parameters."""


class Estimates(NamedTuple):
    """Parameters of a fitted law in the order of ``covariance_``, and the others."""

    names: Sequence[str]
    values: Floats
    std: Floats
    covariance: Floats
    coefficients: slice = slice(None)
    """Parameters that `conf_int` gives intervals of."""
    positive: Booleans | None = None
    """Dispersions and scales, which are drawn by their logarithms."""
    degrees: float | None = None
    """Degrees of freedom of Student's distribution in intervals; None for the normal distribution."""
    naive: tuple[Floats, Floats] | None = None
    """Values and standard errors of the fit that takes readings as exact."""
    extras: Sequence[Extra] = ()

    def quantile(self, level: float) -> float:
        """Half the width of an interval, in standard errors."""
        upper = (1 + level) / 2
        return float(ndtri(upper) if self.degrees is None else stdtrit(self.degrees, upper))

    def intervals(self, level: float) -> Floats:
        """Intervals by standard errors, (number of coefficients, 2)."""
        ends: Floats = self.values[:, None] + np.outer(self.std, self.quantile(level) * np.array([-1, 1]))
        return ends[self.coefficients]

    def draws(self, rng: np.random.RandomState, n_samples: int) -> Floats:
        """Normal draws (n_samples, p); estimates without a variance stay as they are."""
        if n_samples < 1:
            raise ParameterError(f"n_samples = {n_samples!r}: must be an integer of at least 1")
        values, variances = self.values, np.diag(self.covariance)
        known = np.isfinite(variances) & (variances > 0.0)
        logs = np.zeros(len(values), dtype=bool) if self.positive is None else self.positive & known
        scale = np.where(logs, np.where(values != 0.0, values, 1.0), 1.0)
        covariance = np.where(np.outer(known, known), self.covariance, 0.0) / np.outer(scale, scale)
        moves = rng.multivariate_normal(np.zeros(len(values)), covariance, size=int(n_samples))
        drawn: Floats = np.where(logs, values * np.exp(np.where(logs, moves, 0.0)), values + moves)
        return drawn

    def table(self, level: float) -> str:
        """One line per estimate: value, standard error, z, interval, naive fit."""
        quantile = self.quantile(level)
        naive = [()] * len(self.values) if self.naive is None else [*zip(*self.naive, strict=True)]
        lines = [["", "estimate", "std", "z", f"{100 * level:g} % from", "to"]]
        lines[0] += [] if self.naive is None else ["without errors", "std"]
        estimates = [*zip(self.names, self.values, self.std, strict=True), *self.extras]
        for k, (name, value, std) in enumerate(estimates):
            ratio = value / std if std > 0 else np.nan
            numbers = [value, std, ratio, value - quantile * std, value + quantile * std]
            numbers += naive[k] if k < len(naive) else ()
            lines.append([name, *(f"{number:.4g}" for number in numbers)])
        widths = [max(len(line[k]) for line in lines if k < len(line)) for k in range(len(lines[0]))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=False))
            ).rstrip()
            for line in lines
        )


AT_ZERO = "0, the bound of its range: error bars explain all of it, so that it has no standard error"
EXTRAS = (
    "outlier_law_",
    "outlier_probability_",
    "error_scale_",
    "error_scale_std_",
    "feature_error_scale_",
    "feature_error_scale_std_",
    "modes_",
    "modes_std_",
)
"""Attributes of fits with ``outliers``, ``error_scale`` or ``modes``."""


@documented
class Law:
    """Fitted law: `_estimates` of its parameters, and attributes of the others."""

    _naive: tuple[Floats, Floats] | None = None
    _problem: Any = None
    """Readings of the fit, for profiles; not in files or pickles."""

    def _estimates(self) -> Estimates:
        """The fitted parameters."""
        raise NotImplementedError

    def _profile(self, level: float) -> Floats:
        """Both ends of each coefficient's interval, by further fits to `_problem`."""
        raise NotImplementedError

    def _headline(self) -> str:
        """First line of `summary`."""
        raise NotImplementedError

    def conf_int(self, level: float = 0.95, method: Literal["wald", "profile"] = "wald") -> Floats:
        """Return confidence intervals of the coefficients, or the curve's parameters.

        .. code-block:: text

            "wald":     estimate -+ q std
            "profile":  all c with 2 (log L - max log L given estimate_j = c) V2 / V <= q^2

        q is the normal quantile of (1 + level) / 2, or Student's where a functional curve estimates the
        errors of y from n - p residuals. V is the squared standard error, V2 the part of it that L
        determines: all but the uncertainty of the true features' density, weights and groups; V2 = V for
        curves.
        Profiles need not be symmetric about the estimate.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Probability that an interval covers the true value.
        method : {"wald", "profile"}, default="wald"
            "profile" fits again with fixed coefficients, some ten times each, and needs the readings of the
            fit: it is not for laws from files or pickles.

        Returns
        -------
        ndarray of shape (d, 2), or (p, 2) for a curve
            Lower and upper ends. Infinite where there is none, a bound where it is within, NaN where the
            standard error is not known (fixed, or held by a bound) or a fit on the way did not converge.

        Raises
        ------
        ParameterError
            For a level outside (0, 1), or another method.
        UncertainError
            For the profile of a law from a file.

        References
        ----------
        D. J. Venzon, S. H. Moolgavkar, A method for computing profile-likelihood-based confidence intervals,
        Applied Statistics 37, 1988, doi 10.2307/2347496.
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ParameterError(f"level = {level!r}: must be between 0 and 1")
        if method not in ("wald", "profile"):
            raise ParameterError(f'method = {method!r}: must be "wald" or "profile"')
        estimates = self._estimates()
        if method == "wald":
            return estimates.intervals(level)
        if self._problem is None:
            raise UncertainError(
                'method="profile" needs the readings of the fit, which files and pickles do not hold'
            )
        return self._profile(level).reshape(-1, 2)

    def sample_posterior(self, n_samples: int = 1, random_state: RandomState = 0) -> Floats:
        """Draw the estimates from the normal distribution of their covariance.

        .. code-block:: text

            theta ~ N(estimates, covariance_)

        Dispersions and scales, which are positive, are drawn by their logarithms. An estimate without a
        standard error (fixed, at a bound, not known) stays as it is.

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState or None, default=0
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n_samples, p)
            In the order of ``covariance_``.
        """
        check_is_fitted(self)
        return self._estimates().draws(generator_from(random_state), n_samples)

    def summary(self, level: float = 0.95) -> str:
        """Return the estimates, beside the fit that takes readings as exact.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Of the intervals.

        Returns
        -------
        str
            One line per estimate: value, standard error, z, interval; the fit without errors.
        """
        check_is_fitted(self)
        estimates = self._estimates()._replace(naive=self._fit_naively())
        return "\n".join(filter(None, [self._headline(), estimates.table(level), *self._notes()]))

    def _fit_naively(self) -> tuple[Floats, Floats] | None:
        """Estimates and standard errors of the fit that takes readings as exact."""
        return self._naive

    def _notes(self) -> list[str]:
        """Last lines of `summary`."""
        at_zero = any(name == "scatter" and value == 0.0 for name, value, _ in self._estimates().extras)
        return [f"scatter: {AT_ZERO}"] if at_zero else []

    def _extras(self) -> list[Extra]:
        """Outliers, factors of error bars and modes, as far as they were estimated."""
        state = self.__dict__
        extras: list[Extra] = [
            (f"outliers: {name.replace('_', ' ')}", value, std)
            for name, (value, std) in state.get("outlier_law_", {}).items()
        ]
        if "error_scale_" in state:
            extras.append(("factor of y's errors", state["error_scale_"], state["error_scale_std_"]))
        if "feature_error_scale_" in state:
            factors, stds = state["feature_error_scale_"], state["feature_error_scale_std_"]
            names = [f"factor of {name}'s errors" for name in feature_names(self, len(factors))]
            extras += zip(names, factors.tolist(), stds.tolist(), strict=True)
        modes = zip(state.get("modes_", ()), state.get("modes_std_", ()), strict=True)
        return extras + [(f"mode {k}", float(value), float(std)) for k, (value, std) in enumerate(modes)]

    def _set_extras(self, arrays: dict[str, Floats]) -> None:
        """Set the attributes of `EXTRAS` from arrays as of `extra_arrays`."""
        for name in EXTRAS:
            self.__dict__.pop(name, None)  # of an earlier fit
        if "outlier_law" in arrays:
            values = arrays["outlier_law"]
            names = ["share", "width"] if len(values) == 2 else ["degrees_of_freedom"]
            stds = arrays.get("outlier_law_std", np.full(len(values), np.nan))
            pairs = zip(values.tolist(), stds.tolist(), strict=True)
            self.outlier_law_ = dict(zip(names, pairs, strict=True))
            self.outlier_probability_ = arrays["outlier_probability"]
        if "error_scale" in arrays:
            self.error_scale_, self.error_scale_std_ = [*arrays["error_scale"].tolist(), np.nan][:2]
        if "feature_error_scale" in arrays:
            self.feature_error_scale_ = arrays["feature_error_scale"]
            self.feature_error_scale_std_ = arrays["feature_error_scale_std"]
        if "modes" in arrays:
            self.modes_, self.modes_std_ = arrays["modes"], standard_errors(arrays["modes_covariance"])

    def __getstate__(self) -> Keywords:
        state: Keywords = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_problem", None)
        return state


class CoefficientLaw(Law):
    """Law with a linear predictor: ``coef_``, ``intercept_``, standard errors."""

    coef_: Floats
    coef_std_: Floats
    intercept_: float
    intercept_std_: float
    intrinsic_scatter_: float
    intrinsic_scatter_std_: float
    covariance_: Floats

    if TYPE_CHECKING:

        def _mixture(self) -> Mixture:
            """Distribution of the true features."""

        def _parameters(self, **changed: object) -> str:
            """Parameters of the core."""

        def _fitted(self, parameters: str, rows: Any, **arguments: Any) -> Fitted:
            """One fit by the core."""

    @property
    def std_(self) -> Floats:
        """Standard errors of the coefficients: another name of ``coef_std_``."""
        return self.coef_std_

    def _profile(self, level: float) -> Floats:
        rows, arguments = self._problem
        return self._fitted(self._parameters(profile=level), rows, **arguments).arrays()["profile"]

    def _facts(self) -> list[tuple[str, str]]:
        """Return scatter, dispersion or shape, thresholds and other parameters."""
        values: dict[str, Sequence[float]] = dict(getattr(self, "extra_", {}))
        stds: dict[str, Sequence[float]] = dict(getattr(self, "extra_std_", {}))
        if hasattr(self, "intrinsic_scatter_"):
            values["scatter"], stds["scatter"] = [self.intrinsic_scatter_], [self.intrinsic_scatter_std_]
        pairs = [(name, *pair) for name in values for pair in zip(values[name], stds[name], strict=True)]
        return [
            (name, AT_ZERO)
            if name == "scatter" and value == 0.0
            else (name, f"{value:.4g}" + ("" if np.isnan(std) else f" ± {std:.2g}"))
            for name, value, std in [*pairs, *self._extras()]
        ]


def extra_arrays(fit: Keywords, outliers: str | None) -> dict[str, Floats]:
    """Arrays of what the core estimates beside a curve."""
    arrays: Keywords = {}
    if outliers is not None:
        arrays["outlier_law"], arrays["outlier_law_std"] = zip(*fit["noise"], strict=True)
        arrays["outlier_probability"] = fit["outlier_probability"]
    if fit["error_scale"] is not None:
        arrays["error_scale"] = fit["error_scale"]
    if fit["feature_error_scale"]:
        pairs = zip(*fit["feature_error_scale"], strict=True)
        arrays["feature_error_scale"], arrays["feature_error_scale_std"] = pairs
    if len(fit["modes"]):
        arrays |= {name: fit[name] for name in ("modes", "modes_covariance")}
    return {name: np.asarray(values, dtype=np.float64) for name, values in arrays.items()}


def standard_errors(covariance: Floats) -> Floats:
    """Square roots of variances; NaN for a variance of 0 (unknown)."""
    variances = np.diag(covariance)
    return np.sqrt(np.where(variances > 0.0, variances, np.nan))


def feature_names(law: object, d: int) -> list[str]:
    """Names of the features of the fit, x0 ... without names."""
    return [str(name) for name in getattr(law, "feature_names_in_", [f"x{j}" for j in range(d)])]


def flags_per_row(values: ArrayLike | None, name: str, n: int, allowed: Sequence[int], rule: str) -> Array:
    """(n,) flags of allowed values."""
    flags: Array = np.asarray(values)
    if flags.shape != (n,):
        raise UncertainError(f"{name}: expected {n} numbers, one per row, got shape {flags.shape}")
    bad = np.flatnonzero(~np.isin(flags, allowed))
    if bad.size:
        row = int(bad[0])
        raise UncertainError(f"{name}: row {row} is {flags[row : row + 1].tolist()[0]!r}; it must be {rule}")
    return flags
