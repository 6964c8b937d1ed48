"""What laws between true values have in common: intervals of their coefficients, and a table of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from .._data.typing import Booleans, Floats, Keywords, RandomState
from .._data.validation import generator_from
from ..exceptions import ParameterError, UncertainError
from .docs import documented
from .em import Mixture


@documented
class Law:
    """``coef_`` with standard errors ``coef_std_``."""

    coef_: Floats
    coef_std_: Floats
    intercept_std_: float
    intercept_: float
    covariance_: Floats
    _problem: Any = None
    """What it was fitted to; files and pickles are without it."""

    if TYPE_CHECKING:

        def _mixture(self) -> Mixture:
            """The distribution of the true features."""

    @property
    def std_(self) -> Floats:
        """The same as ``coef_std_``: the name that all laws have."""
        return self.coef_std_

    def conf_int(self, level: float = 0.95, method: Literal["wald", "profile"] = "wald") -> Floats:
        """Confidence intervals of the coefficients.

        .. code-block:: text

            "wald":     coef -+ z std,    z the normal quantile of (1 + level) / 2
            "profile":  all c with 2 (log L - max log L given coef_j = c) V2 / V <= z^2

        V is the square of ``coef_std_``, and V2 the part of it that L tells of. Where targets are fitted
        given the readings, that is all but the uncertainty of the true features' density. Where a line is
        fitted to features and target together it is all of it (V2 = V), and L counts the degrees of freedom
        of the scatter s with the factor (sum w_i)^(-(d + 1) / 2), 1 / w_i the variance of the reading of y
        given x: between exact features these are almost the intervals of Student's distribution. Profiles
        need not be symmetric about the coefficient, as its distribution is not where readings are few or
        vague.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Probability that an interval covers the true coefficient.
        method : {"wald", "profile"}, default="wald"
            "profile" fits again with fixed coefficients, some ten times each, and needs the readings of the
            fit: it is not for laws from files or pickles.

        Returns
        -------
        ndarray of shape (d, 2)
            Lower and upper ends; infinite where there is none, NaN where the standard error is not known or
            a fit on the way to the end did not converge.

        Raises
        ------
        ParameterError
            For a level outside (0, 1), or another method.
        UncertainError
            For the profile of a law from a file, and of a line with limits or fitted to rows that are
            mixtures (without ``outliers``, ``error_scale`` and ``modes``).

        References
        ----------
        D. J. Venzon, S. H. Moolgavkar, A method for computing profile-likelihood-based confidence intervals,
        Applied Statistics 37, 1988, doi 10.2307/2347496.
        """
        check_is_fitted(self, "means_")
        if not 0 < level < 1:
            raise ParameterError(f"level = {level!r}: must be between 0 and 1")
        if method not in ("wald", "profile"):
            raise ParameterError(f'method = {method!r}: must be "wald" or "profile"')
        if method == "profile":
            std = self.std_
            if self._problem is None:
                raise UncertainError(
                    'method="profile" needs the readings of the fit, which files do not hold'
                )
            found = self._profile(level).reshape(len(std), 2)
            return found
        ends: Floats = self.coef_[:, None] + np.outer(self.std_, ndtri((1 + level) / 2) * np.array([-1, 1]))
        return ends

    def _profile(self, level: float) -> Floats:
        """Both ends of each coefficient's interval, by further fits to `_problem`."""
        raise NotImplementedError

    def __getstate__(self) -> Keywords:
        state: Keywords = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_problem", None)
        return state

    def sample_posterior(self, n_samples: int = 1, random_state: RandomState = 0) -> Floats:
        """Draws of the estimates (Laplace's approximation of their posterior under a flat prior).

        .. code-block:: text

            theta ~ N(estimates, covariance_)

        Dispersions and scales, which are positive, are drawn likewise by their logarithms. An estimate
        whose standard error is not known stays as it is.

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState or None, default=0
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n_samples, p)
            In the order of ``covariance_``: intercept (not of the family "ordinal"), coefficients, and what
            a family has beside.
        """
        check_is_fitted(self, "means_")
        return self._draw(generator_from(random_state), n_samples)

    def _draw(self, rng: np.random.RandomState, n_samples: int) -> Floats:
        values = np.append(self.intercept_, self.coef_)
        return draws_of(values, self.covariance_, np.zeros(len(values), dtype=bool), rng, n_samples)


def draws_of(
    values: Floats, covariance: Floats, positive: Booleans, rng: np.random.RandomState, n_samples: int
) -> Floats:
    """Normal draws of estimates, of the positive ones by their logarithms; without a variance they stay."""
    if n_samples < 1:
        raise ParameterError(f"n_samples = {n_samples!r}: must be an integer of at least 1")
    known = np.isfinite(np.diag(covariance)) & (np.diag(covariance) > 0.0)
    logs = positive & known
    scale = np.where(logs, np.where(values != 0.0, values, 1.0), 1.0)
    of_known = np.where(np.outer(known, known), covariance, 0.0) / np.outer(scale, scale)
    moved = rng.multivariate_normal(np.zeros(len(values)), of_known, size=int(n_samples))
    drawn: Floats = np.where(logs, values * np.exp(np.where(logs, moved, 0.0)), values + moved)
    return drawn


OF_FACTORS = ("error_scale_", "error_scale_std_", "feature_error_scale_", "feature_error_scale_std_")
"""The attributes of a fit with ``error_scale``."""


def factors_of_errors(law: object) -> list[tuple[str, float, float]]:
    """What ``error_scale`` has found, as far as it was asked for: name, factor and its standard error."""
    state, rows = law.__dict__, []
    if "error_scale_" in state:
        rows.append(("factor of y's errors", state["error_scale_"], state["error_scale_std_"]))
    if "feature_error_scale_" in state:
        factors, stds = state["feature_error_scale_"], state["feature_error_scale_std_"]
        names = getattr(law, "feature_names_in_", [f"x{j}" for j in range(len(factors))])
        for name, factor, std in zip(names, factors.tolist(), stds.tolist(), strict=True):
            rows.append((f"factor of {name}'s errors", factor, std))
    return rows


def rows_beside(law: object) -> list[tuple[str, float, float, None, None]]:
    """What a law knows beside its coefficients, as lines of `law_table`: outliers, factors, modes."""
    state = law.__dict__
    rows = [
        (f"outliers: {name.replace('_', ' ')}", value, std)
        for name, (value, std) in state.get("outlier_law_", {}).items()
    ]
    rows += factors_of_errors(law)
    modes = zip(state.get("modes_", ()), state.get("modes_std_", ()), strict=True)
    rows += [(f"mode {k}", float(value), float(std)) for k, (value, std) in enumerate(modes)]
    return [(*row, None, None) for row in rows]


def law_table(rows: Sequence[tuple[str, float, float, float | None, float | None]], level: float) -> str:
    """Name, estimate and standard error, and those of the naive fit, as a table with intervals and z."""
    z = float(ndtri((1 + level) / 2))
    naive = any(row[3] is not None for row in rows)
    percent = f"{100 * level:g} %"
    head = ["", "estimate", "std", "z", f"{percent} from", "to"] + ["naive", "std"] * naive
    lines = [head]
    for name, value, std, naive_value, naive_std in rows:
        ratio = value / std if std > 0 else np.nan
        numbers = [value, std, ratio, value - z * std, value + z * std]
        numbers += [naive_value, naive_std] if naive else []  # type: ignore[list-item]
        lines.append([name, *("" if number is None else f"{number:.4g}" for number in numbers)])
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
