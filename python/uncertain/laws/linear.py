"""`LinearLaw` (`GaussianMixtureRegressor`): errors in x and y."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._base.classifiers import predicted
from .._base.docs import documented
from .._base.em import FittedMixture, Mixture, packed, warn_unless_ended
from .._base.sums import BeyondSums, Need
from .._data.groups import groups_from
from .._data.numbers import refuse_where
from .._data.typing import Booleans, Floats, Header, Keywords, Limits, RandomState
from .._data.validation import RowsLike, check_numbers, check_readings, check_sample_weight, check_stds
from .._data.warn import warn
from .._uncertain import Fitted, Gaussians
from ..exceptions import ParameterError, UncertainError, UncertainWarning
from .law import CoefficientLaw, Estimates, feature_names, flags_per_row
from .modes import checked_modes, mode_arguments, modes_of_fit

__all__ = ["GaussianMixtureRegressor", "LinearLaw"]

Readings: TypeAlias = tuple[Gaussians, Booleans | None, Limits | None]

OPTIONS = ("outliers", "degrees_of_freedom", "error_scale")
"""Parameters of lines, which one component has."""

OF_ONE_COMPONENT = (
    "covariance_",
    "coef_",
    "intercept_",
    "intrinsic_scatter_",
    "coef_std_",
    "intercept_std_",
    "intrinsic_scatter_std_",
    "std_",
    "scatter_",
)
"""Attributes of a single component."""
OF_SOME_FITS = ("loglikelihood_", "naive_coef_", "naive_std_", "y_modes_", "y_cov_loss_")
"""Attributes of some fits, beside `EXTRAS`."""


@documented
@dataclass(eq=False, repr=False)
class GaussianMixtureRegressor(CoefficientLaw, FittedMixture, RegressorMixin, BaseEstimator):
    """Regression with errors in x and y, by a mixture of Gaussians.

    Row i is a noisy reading (x_i, y_i) of a true pair, with known errors of both, which may be correlated:

    .. code-block:: text

        (x_i, y_i) ~ sum_k pi_k N(mu_k, T_k + C_i),    C_i = [[S_i, c_i], [c_i', t_i^2]]

    One component is a line between true values, y = beta'z + alpha + N(0, s^2), fitted by the likelihood of
    y given x; between exact features it is weighted least squares. Several are fitted by EM. A prediction is
    the density of the true target given the reading, which is shrunk towards the population first. Theory:
    docs/methods/laws.md.

    Parameters
    ----------
    n_components : int or "auto", default=1
        Number of Gaussians K; "auto": that of the largest likelihood of features and target on held-out rows.
    {law_em, law_outliers, law_error_scale}

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (d,), float
        beta and alpha; only with one component, as ``covariance_`` of both (intercept first).
    coef_std_, intercept_std_, covariance_ : ndarray of shape (d,), float, ndarray of shape (1 + d, 1 + d)
        Standard errors (``std_``), the uncertainty of the density of z included; with ``groups``, or
        weights that count no rows, by the sandwich formula.
    intrinsic_scatter_, intrinsic_scatter_std_ : float
        s >= 0 (``scatter_``), the scatter that no error bar explains, which counts d + 1 degrees of freedom,
        and its standard error; 0 and NaN if error bars explain all of it.
    weights_, means_, covariances_ : ndarrays of shape (K,), (K, d + 1), (K, d + 1, d + 1)
        pi_k, mu_k and T_k, the target last.
    {law_extras_, error_scale_, modes_}
    y_modes_, y_cov_loss_ : ndarray of shape (n, k), float
        With ``y_cov``: its modes, and the part of it that these and the diagonal leave out.
    naive_coef_, naive_std_ : ndarrays of shape (d,)
        Least squares of complete readings as if they were exact.
    n_components_, loglikelihood_, log_likelihoods_, held_out_log_likelihoods_ : int, float, ndarrays
        K, the sum of log p(y_i | x_i) of one component, and the mean log-likelihood per row by step of EM
        (with one component of features alone), and per held-out row for K = 1, 2, ... of "auto".
    {em_n_iter_, feature_names_in_}

    {Raises: refused}

    Warns
    -----
    ConvergenceWarning
        If EM ends before `tol` is reached.
    UncertainWarning
        If the rows do not determine the slopes of one component, with the direction.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray
    >>> from uncertain.laws import LinearLaw
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=2000)
    >>> X = GaussianArray(z[:, None] + rng.normal(scale=0.5, size=(2000, 1)), std=0.5)
    >>> LinearLaw().fit(X, 2 * z + 1 + rng.normal(scale=0.3, size=2000), y_std=0.3).coef_.round(1)
    array([2.])
    """

    _kinds = ("mixture-regression",)

    _: KW_ONLY
    outliers: Literal["student", "mixture"] | None = None
    degrees_of_freedom: float | None = None
    error_scale: Literal["fit", "features", "both"] | None = None

    def fit(
        self,
        X: RowsLike,
        y: ArrayLike,
        y_std: ArrayLike | None = None,
        xy_cov: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        y_limit: ArrayLike | None = None,
        y_cov: ArrayLike | None = None,
        modes: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit to readings of features and target with their errors.

        {Parameters: readings, targets}
        y_std : float or array-like of shape (n,), default=None
            Standard deviations of the targets' errors, >= 0; None: the targets are exact, or their noise is
            part of the intrinsic scatter.
        xy_cov : array-like of shape (n, d), or (n,) for one feature, default=None
            Covariances of each feature's error with the target's; ignored where a feature is missing.
        {law_weights}
        y_limit : array-like of shape (n,), default=None
            -1 where the reading of the target is below `y` (an upper limit, such as y < 3.2), +1 where it is
            above, 0 where it is `y`. With ``y_std`` 0 the limit applies to the true target. Such rows
            contribute the probability of their side (truncated moments in EM, as in a tobit model).
        y_cov : array-like of shape (n, n), default=None
            The covariance matrix of all targets' errors, which becomes a diagonal and modes, as by
            `uncertain.laws.shared_modes`, that leave out ``y_cov_loss_`` of it (at most 1e-6). ``y_std`` is
            then the part that no other row shares, if it is known.
        modes : array-like of shape (n, k), default=None
            Errors of the target that rows share, such as calibration: row i has the error ``modes[i] @ a``
            with one draw a of k standard normal numbers for all rows. With the shape (n, d, k) the features
            have the errors ``modes[i] @ a`` instead, with (n, d + 1, k) features and target, the target last;
            rows are then complete, without limits, and their true features of one distribution whatever
            their modes.
        {law_groups}

        {Returns: self}

        Raises
        ------
        UncertainError
            If a feature is missing in every row, if the errors of a row together are no covariance matrix, if
            every target is a limit, if modes are combinations of one another, if ``y_cov`` is no covariance
            matrix, or if the rows do not determine ``error_scale``.
        """
        parameters = self._parameters()
        rows = check_readings(self, X, reset=True)
        data, missing, limits = rows
        targets = check_numbers(y, X, self)
        n = len(targets)
        arguments: Keywords = {"weights": check_sample_weight(sample_weight, n)}
        shared: dict[str, Floats] = {}
        variances = None if y_std is None else check_stds(y_std, "y_std", n) ** 2
        if y_cov is not None:
            modes, variances, shared = _split_covariance(y_cov, variances, modes, n)
        arguments |= {"targets": targets, "variances": variances}
        arguments |= mode_arguments(modes, n, data.n_features)
        if xy_cov is not None:
            if variances is None:
                raise UncertainError("xy_cov= needs the error bars of y, too. Pass y_std=")
            gaps = missing if missing is None or limits is None else missing & (limits == 0)
            arguments["crossed"] = _checked_covariances(xy_cov, gaps, (n, data.n_features))
        if y_limit is not None:
            rule = "-1 (the target is below y), 0 or 1 (above)"
            arguments["limits"] = flags_per_row(y_limit, "y_limit", n, (-1, 0, 1), rule).astype(np.int8)
        if groups is not None:
            arguments["groups"] = groups_from(groups, "groups", n)
        model = self._fitted(parameters, rows, **arguments)
        if shared:
            model = Fitted.from_arrays(self._kind, parameters, model.header, model.arrays() | shared)
        self._keep(model)
        self._problem = None if self._remote is not None else (rows, arguments)
        warn_unless_ended(self)
        if self._undetermined:
            warn(f"{type(self).__name__}: {self._undetermined}", UncertainWarning)
        return self

    def predict(
        self,
        X: RowsLike,
        return_std: bool = False,
        *,
        modes: ArrayLike | None = None,
        return_cov: bool = False,
    ) -> Any:
        """Return the mean of each row's true target given its reading.

        {Parameters: readings}
        return_std : bool, default=False
            Also return the standard deviation of the *true* target, from the intrinsic scatter and the row's
            own errors, with the parameters of the fit taken as known. To compare with a target that was
            measured to +- t, add t in quadrature.
        modes : array-like of shape (n, k), default=None
            Errors that these rows share with those of the fit: the mean of the target *as it is measured*,
            with what the fit has learned about them. Its deviation counts what the fit does not know of these
            errors and of the law, which go together. None: of the true target.
        return_cov : bool, default=False
            In place of the deviations, the covariance matrix (n, n) of the rows' targets, with ``modes``

            .. code-block:: text

                diag(std^2) + J V J',    row i of J = (1, E z_i, modes_i)

            where std is that of a known law, z_i are the true features given the reading, and V is the
            covariance of intercept, coefficients and shared errors; without them the first part of it.

        Returns
        -------
        ndarray of shape (n,), or with `return_std` or `return_cov` (mean, std) or (mean, cov)
        """
        if return_std and return_cov:
            raise ParameterError("return_std and return_cov: pass one of them")
        rows = self._rows(X)
        if modes is not None:
            return self._with_modes(rows, modes, return_std, return_cov)
        answer = predicted(self, rows, return_std or return_cov)
        return (answer[0], np.diag(answer[1] ** 2)) if return_cov else answer

    def predict_mixture(self, X: RowsLike) -> tuple[Floats, Floats, Floats]:
        """The density of each row's true target: a mixture of K normal distributions.

        {Parameters: readings}

        Returns
        -------
        weights, means, stds : ndarrays of shape (n, K)
            Shares (of a row 1), means and standard deviations of the components.
        """
        return self._model.densities(self._rows(X), self.n_jobs)

    def predict_quantiles(self, X: RowsLike, quantiles: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of each row's true target.

        {Parameters: readings}
        quantiles : float or array-like of shape (q,), default=(0.05, 0.5, 0.95)
            Probabilities in [0, 1].

        Returns
        -------
        ndarray of shape (n, q), or (n,) for one number
        """
        levels = np.asarray(quantiles, dtype=np.float64)
        if levels.ndim > 1:
            raise UncertainError(f"quantiles: expected a number or a list of them, got shape {levels.shape}")
        values = self._model.quantiles(self._rows(X), levels.ravel().tolist(), self.n_jobs)
        return values[:, 0] if levels.ndim == 0 else values

    def sample_y(self, X: RowsLike, n_samples: int = 1, random_state: RandomState = 0) -> Floats:
        """Draws of each row's true target.

        {Parameters: readings}
        n_samples : int, default=1
            Draws per row.
        random_state : int, RandomState or None, default=0
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n, n_samples)
        """
        weights, means, stds = self.predict_mixture(X)
        rng = check_random_state(random_state)
        shape = (len(weights), int(n_samples))
        below = rng.uniform(size=shape)[:, :, None] > np.cumsum(weights, axis=1)[:, None, :-1]
        component = below.sum(axis=2)
        values: Floats = np.take_along_axis(means, component, axis=1)
        values += np.take_along_axis(stds, component, axis=1) * rng.normal(size=shape)
        return values

    def predict_distribution(self, X: RowsLike) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each row's true target.

        {Parameters: readings}

        Returns
        -------
        mean, std : ndarrays of shape (n,)
        """
        mean, std = self.predict(X, return_std=True)
        return mean, std

    @property
    def scatter_(self) -> float:
        """Intrinsic scatter, ``intrinsic_scatter_``: the name that all laws have."""
        return self.intrinsic_scatter_

    def _estimates(self) -> Estimates:
        return Estimates(
            ["intercept", *feature_names(self, len(self.coef_))],
            np.append(self.intercept_, self.coef_),
            np.append(self.intercept_std_, self.coef_std_),
            self.covariance_,
            coefficients=slice(1, None),
            extras=[
                ("scatter", self.intrinsic_scatter_, self.intrinsic_scatter_std_),
                *self._extras(),
            ],
        )

    def _headline(self) -> str:
        if not hasattr(self, "loglikelihood_"):
            return ""
        return f"line between true values, log-likelihood {self.loglikelihood_:.6g}, {self.status_}"

    def _notes(self) -> list[str]:
        if not hasattr(self, "y_cov_loss_"):
            return super()._notes()
        k = len(self.__dict__.get("modes_", ()))
        split = f"y_cov is {k} mode{'s' * (k != 1)} and a diagonal, which leave out"
        return [*super()._notes(), f"{split} {self.y_cov_loss_:.1e} of it (Frobenius norms)"]

    def _distribution(self, X: RowsLike) -> tuple[Floats, Floats, Floats]:
        """Mean, standard deviation, and what errors add to the scatter of the components' laws."""
        mean, std = self.predict(X, return_std=True)
        weights, _, stds = self.predict_mixture(X)
        T, crossed = self.covariances_[:, :-1, :-1], self.covariances_[:, :-1, -1:]
        slopes = np.linalg.solve(T, crossed)
        scatter = self.covariances_[:, -1, -1] - (slopes * crossed).sum(axis=(1, 2))
        added = np.maximum((weights * (stds**2 - scatter)).sum(axis=1), 0.0)
        return mean, std, np.sqrt(added)

    def _rows(self, X: RowsLike) -> Readings:
        check_is_fitted(self, "means_")
        return check_readings(self, X, reset=False)

    def _mixture(self) -> Mixture:
        return self.weights_, self.means_[:, :-1], self.covariances_[:, :-1, :-1]

    @property
    def _has_options(self) -> bool:
        """Whether a parameter asks for outliers or factors of error bars."""
        return any(getattr(self, name) is not None for name in OPTIONS)

    def _with_modes(self, rows: Readings, modes: ArrayLike, return_std: bool, return_cov: bool) -> Any:
        """Predict measured targets, with the errors shared with rows of the fit."""
        if not hasattr(self, "modes_"):
            raise UncertainError("modes=: this law was fitted without modes")
        if np.ndim(modes) == 3:
            raise UncertainError(
                "modes= of features is not for predict. Subtract these errors: pass X - modes @ law.modes_"
            )
        mean, std = predicted(self, rows, True)
        shared = checked_modes(modes, len(mean))
        if shared.shape[1] != len(self.modes_):
            k = len(self.modes_)
            raise UncertainError(f"modes: expected {k} columns, as in the fit, got {shared.shape[1]}")
        mean = mean + shared @ self.modes_
        if not (return_std or return_cov):
            return mean
        if self._joint_covariance is None:
            raise UncertainError("modes=: the law was saved without the errors of its modes; fit it again")
        # The law's own part is that of the true features given their readings.
        weights, means, covariances = self._mixture()
        density = {"weights": weights, "means": means, "covariances": packed(covariances)}
        true = Fitted.from_arrays("denoiser", "{}", "null", density).transform(rows).means
        by = np.column_stack([np.ones(len(mean)), true, shared])
        if return_std:
            return mean, np.sqrt(std**2 + ((by @ self._joint_covariance) * by).sum(axis=1))
        cov: Floats = by @ self._joint_covariance @ by.T
        cov[np.diag_indices_from(cov)] += std**2
        return mean, cov

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield from super()._beyond_sums()
        if self._has_options:
            yield BeyondSums(
                Need.MEMORY,
                "outliers and factors of error bars are found row by row",
                "fit a sample of the rows",
            )

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header)
        for name in (*OF_ONE_COMPONENT, *OF_SOME_FITS):
            self.__dict__.pop(name, None)  # of an earlier fit
        self._set_extras(arrays)
        shares, naive = arrays.get("undetermined"), arrays.get("naive")
        self._undetermined = "" if shares is None else _about_direction(shares, self)
        self._naive = None if naive is None else (naive, arrays["naive_std"])
        if self._naive is not None:
            self.naive_coef_, self.naive_std_ = (values[1:] for values in self._naive)
        if "log_likelihood" in arrays:
            self.loglikelihood_ = float(arrays["log_likelihood"][0])
        if "modes_loss" in arrays:
            self.y_cov_loss_ = float(arrays["modes_loss"][0])
            self.y_modes_ = arrays.get("modes_of_rows", np.zeros((0, 0)))
        self._joint_covariance = None
        if {"modes_law_covariance", "modes_covariance", "covariance"} <= arrays.keys():
            crossed = arrays["modes_law_covariance"]
            self._joint_covariance = np.block(
                [[arrays["covariance"], crossed.T], [crossed, arrays["modes_covariance"]]]
            )
        if "coef" in arrays:
            self.coef_ = arrays["coef"]
            self.intercept_ = float(arrays["intercept"][0])
            self.intrinsic_scatter_ = float(arrays["scatter"][0])
        if "coef_std" in arrays:
            self.coef_std_ = arrays["coef_std"]
            if "covariance" in arrays:
                self.covariance_ = arrays["covariance"]
            self.intercept_std_ = float(arrays["intercept_std"][0])
            self.intrinsic_scatter_std_ = float(arrays.get("scatter_std", [np.nan])[0])

    def __getattr__(self, name: str) -> object:
        if name in OF_ONE_COMPONENT and "n_components_" in self.__dict__:
            if self.n_components_ > 1:
                reason = f"a line belongs to one component, but there are {self.n_components_}"
            elif self.__dict__.get("_undetermined"):
                reason = self._undetermined
            else:
                reason = (
                    "the rows do not determine all parameters, or are of fewer than 10 groups (or of groups, "
                    "held by a cluster). Use a bootstrap: refit to resampled rows, or whole groups"
                )
            raise AttributeError(f"{name}: {reason}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


LinearLaw = GaussianMixtureRegressor
"""The regression under its name among the laws."""


def _about_direction(shares: Floats, model: BaseEstimator) -> str:
    """Combination of features that the rows do not determine, in words."""
    names = getattr(model, "feature_names_in_", [f"feature {j}" for j in range(len(shares))])
    order = np.argsort(-np.abs(shares))
    sign, large = np.sign(shares[order[0]]), [j for j in order if abs(shares[j]) > 0.05]
    shown = ", ".join(f"{sign * shares[j]:.2f} of {names[j]}" for j in large[:8])
    shown += " and others" if len(large) > 8 else ""
    return (
        f"the rows do not determine all slopes: true values hardly vary along {shown} (units of their "
        "spread), so coef_ has no standard errors. Leave out one of these features"
    )


def _checked_covariances(xy_cov: ArrayLike, missing: Booleans | None, shape: tuple[int, int]) -> Floats:
    """(n, d) finite numbers, zero where a feature is missing."""
    numbers = np.asarray(xy_cov, dtype=np.float64)
    if numbers.ndim == 1 and shape[1] == 1:
        numbers = numbers[:, None]
    if numbers.shape != shape:
        raise UncertainError(f"xy_cov: expected the shape {shape}, got {np.shape(xy_cov)}")
    cov: Floats = numbers.copy() if missing is None else np.where(missing, 0.0, numbers)
    refuse_where(~np.isfinite(cov), cov, "xy_cov", "it must be finite")
    return np.ascontiguousarray(cov)


def _split_covariance(
    y_cov: ArrayLike, variances: Floats | None, modes: ArrayLike | None, n: int
) -> tuple[Floats | None, Floats, dict[str, Floats]]:
    """Modes and variances of a covariance of all targets' errors, and what a model file knows of them."""
    if modes is not None:
        raise UncertainError(
            "modes= beside y_cov=: errors that rows share are part of y_cov; add modes @ modes.T to "
            "it, or give modes= and y_std= from uncertain.laws.shared_modes"
        )
    split = modes_of_fit(y_cov, None if variances is None else np.sqrt(variances), n)
    shared = {"modes_loss": np.array([split.loss])}
    if not split.modes.size:
        return None, split.std**2, shared
    return split.modes, split.std**2, shared | {"modes_of_rows": split.modes}
