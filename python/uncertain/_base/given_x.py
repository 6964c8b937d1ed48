"""Lines fitted to targets given the readings of features: outliers, errors that rows share, wrong error bars.

The core finds them (``fit_line``); the result becomes the state of a mixture of features and target with one
component, whose predictions and model file are then those of any other line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._data.groups import groups_from
from .._data.incomplete import GaussianRows
from .._data.typing import Booleans, Floats, Keywords, Limits
from .._data.warn import warn
from .._uncertain import Fitted, Gaussians, fit_line
from ..exceptions import ConvergenceWarning, UncertainError
from .classifiers import predicted
from .core import Core, encoded, feature_names
from .em import Mixture, packed, unpacked
from .law import OF_FACTORS
from .mode_arrays import checked_modes, mode_arguments
from .progress import reporter
from .shared_modes import modes_of_fit
from .sums import BeyondSums, Need

Readings: TypeAlias = tuple[Gaussians, Booleans | None, Limits | None]

OPTIONS = ("outliers", "degrees_of_freedom", "error_scale")
"""Parameters that ask for it."""

ATTRIBUTES = (
    "outlier_probability_",
    "outlier_law_",
    *OF_FACTORS,
    "modes_",
    "modes_std_",
    "covariance_",
    "loglikelihood_",
    "naive_coef_",
    "naive_std_",
    "_naive",
    "y_modes_",
    "y_cov_loss_",
    "_joint_covariance",
)
"""What such a fit leaves behind beside a law."""


class GivenX(Core):
    """An estimator of lines that may be fitted to the targets given the readings."""

    _joint: GaussianRows | None = None
    """During a fit to features and target in one file: these rows, the target last."""

    if TYPE_CHECKING:
        outliers: str | None
        error_scale: str | None
        modes_: Floats
        y_cov_loss_: float
        _problem: tuple[Readings, Keywords, bool] | None

        def _mixture(self) -> Mixture: ...

    @property
    def _is_given_x(self) -> bool:
        return any(getattr(self, name) is not None for name in OPTIONS)

    def _forget_given_x(self) -> None:
        for name in ATTRIBUTES:
            self.__dict__.pop(name, None)

    def _fit_given_x(
        self,
        rows: Readings,
        arguments: Keywords,
        modes: ArrayLike | None,
        groups: ArrayLike | None,
        y_cov: ArrayLike | None,
    ) -> Self:
        """The fit; `arguments` are the targets and what is known of each."""
        if self._joint is not None:
            raise UncertainError(
                "outliers=, modes=, y_cov= and error_scale= need features and target as columns"
            )
        n = len(arguments["targets"])
        of_rows: dict[str, Floats] = {}
        if y_cov is not None:
            if modes is not None:
                raise UncertainError(
                    "modes= beside y_cov=: errors that rows share are part of y_cov; add modes @ modes.T to "
                    "it, or give modes= and y_std= from uncertain.laws.shared_modes"
                )
            own = arguments["variances"]
            found_modes = modes_of_fit(y_cov, None if own is None else np.sqrt(own), n)
            arguments["variances"] = found_modes.std**2
            of_rows = {"modes_of_rows": found_modes.modes, "modes_loss": np.array([found_modes.loss])}
            modes = found_modes.modes if found_modes.modes.shape[1] else None
        arguments |= mode_arguments(modes, n, rows[0].n_features)
        arguments["groups"] = None if groups is None else groups_from(groups, "groups", n)
        found = self._line(rows, arguments)
        self._problem = rows, arguments, True
        beside = _beside(found, self.outliers is not None)
        state = _joint_state(found) | beside | {name: x for name, x in of_rows.items() if x.size}
        self._made(state, {"n_iter": found["n_iter"], "status": found["status"]})
        for what, status in (("law", found["status"]), ("true features", found["density_status"])):
            if status != "converged":
                warn(
                    f"{type(self).__name__}: the fit of the {what} did not converge ({status}); raise "
                    "max_iter or tol",
                    ConvergenceWarning,
                )
        return self

    def _line(self, rows: Readings, arguments: Keywords, profile: float | None = None) -> Keywords:
        """What the core finds, with intervals of the probability `profile` where asked for."""
        options = {name: getattr(self, name) for name in OPTIONS} | {"profile": profile}
        n_jobs = getattr(self, "n_jobs", None)
        parameters = encoded(self._core_parameters() | options)
        with feature_names(getattr(self, "feature_names_in_", None)):
            found: Keywords = fit_line(parameters, rows, **arguments, n_jobs=n_jobs, report=reporter(self))
        return found

    def _read_beside(self, arrays: dict[str, Floats]) -> None:
        """The attributes of a fit, also of one from a model file."""
        self._forget_given_x()
        if "log_likelihood" in arrays:
            self.loglikelihood_ = float(arrays["log_likelihood"][0])
        if "naive" in arrays:
            self._naive = arrays["naive"], arrays["naive_std"]
            self.naive_coef_, self.naive_std_ = (values[1:] for values in self._naive)
        if "outlier_law" in arrays:
            values = arrays["outlier_law"]
            stds = arrays.get("outlier_law_std", np.full(len(values), np.nan))
            names = ["share", "width"] if len(values) == 2 else ["degrees_of_freedom"]
            pairs = zip(values.tolist(), stds.tolist(), strict=True)
            self.outlier_law_ = dict(zip(names, pairs, strict=True))
            self.outlier_probability_ = arrays["outlier_probability"]
        if "error_scale" in arrays:
            self.error_scale_, self.error_scale_std_ = [*arrays["error_scale"].tolist(), np.nan][:2]
        if "feature_error_scale" in arrays:
            self.feature_error_scale_ = arrays["feature_error_scale"]
            self.feature_error_scale_std_ = arrays["feature_error_scale_std"]
        if "modes_loss" in arrays:
            self.y_cov_loss_ = float(arrays["modes_loss"][0])
            self.y_modes_ = arrays.get("modes_of_rows", np.zeros((0, 0)))
        if "modes" in arrays:
            own = arrays["modes_covariance"]
            self.modes_, self.modes_std_ = arrays["modes"], np.sqrt(np.diag(own))
            crossed = arrays.get("modes_law_covariance")
            if crossed is not None and "covariance" in arrays:
                self._joint_covariance = np.block([[arrays["covariance"], crossed.T], [crossed, own]])

    def _with_modes(self, rows: Readings, modes: ArrayLike, return_std: bool, return_cov: bool) -> Any:
        """Predictions of targets as they are measured, with what the fit knows of the errors they share."""
        if "modes_" not in self.__dict__:
            raise UncertainError("modes=: this law was fitted without modes")
        if np.ndim(modes) == 3:
            raise UncertainError(
                "modes of features: predict is for their readings without what is known of these errors, "
                "X - modes @ modes_, and without modes="
            )
        mean, std = predicted(self, rows, True)
        shared = checked_modes(modes, len(mean))
        if shared.shape[1] != len(self.modes_):
            k = len(self.modes_)
            raise UncertainError(f"modes: expected {k} columns, as in the fit, got {shared.shape[1]}")
        mean = mean + shared @ self.modes_
        if not (return_std or return_cov):
            return mean
        if "_joint_covariance" not in self.__dict__:
            raise UncertainError("modes=: the law was saved without the errors of its modes; fit it again")
        # The law's own part is that of the true features given their readings.
        true = self._true_features(rows)
        by = np.column_stack([np.ones(len(mean)), true, shared])
        if return_std:
            return mean, np.sqrt(std**2 + ((by @ self._joint_covariance) * by).sum(axis=1))
        cov: Floats = by @ self._joint_covariance @ by.T
        cov[np.diag_indices_from(cov)] += std**2
        return mean, cov

    def _true_features(self, rows: Readings) -> Floats:
        """(n, d): means of the true features given their readings, under the density of the fit."""
        weights, means, covariances = self._mixture()
        arrays = {"weights": weights, "means": means, "covariances": packed(covariances)}
        return Fitted.from_arrays("denoiser", "{}", "null", arrays).transform(rows).means

    def _about_modes(self) -> str:
        """What became of ``y_cov``."""
        if "y_cov_loss_" not in self.__dict__:
            return ""
        k = len(self.__dict__.get("modes_", ()))
        of_rows = f"{k} mode{'s' * (k != 1)} and a diagonal"
        return f"\ny_cov is {of_rows}, which leave out {self.y_cov_loss_:.1e} of it (Frobenius norms)"

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        yield from super()._beyond_sums()
        if self._is_given_x:
            yield BeyondSums(
                Need.MEMORY,
                "outliers and factors of error bars are found row by row",
                "fit a sample of the rows",
            )


def _joint_state(found: Keywords) -> dict[str, Floats]:
    """The arrays of a mixture of features and target, from a law and the density of features."""
    law, mean = found["law"], found["mean"]
    T = unpacked(found["triangle"][None], len(mean))[0]
    scatter, scatter_std = found["scatter"]
    crossed = T @ law[1:]
    explained = crossed @ law[1:]
    # A mixture has no edge: its scatter is at least a trifle.
    variance = explained + max(scatter**2, 1e-10 * explained, np.finfo(float).tiny)
    joint = np.block([[T, crossed[:, None]], [crossed[None], np.array([[variance]])]])
    arrays = {
        "weights": np.ones(1),
        "means": np.append(mean, law[0] + law[1:] @ mean)[None],
        "covariances": packed(joint[None]),
        "coef": law[1:],
        "intercept": law[:1],
        "scatter": np.array([scatter]),
        "history": found["history"],
    }
    std = np.sqrt(np.diag(found["covariance"]))
    if np.all(np.isfinite(std)):
        arrays |= {"coef_std": std[1:], "intercept_std": std[:1]}
        arrays |= {"scatter_std": np.array([scatter_std])} if np.isfinite(scatter_std) else {}
    return arrays


def _beside(found: Keywords, outliers: bool) -> dict[str, Floats]:
    """The arrays of what else was found, as far as it is known."""
    arrays = {"log_likelihood": [found["log_likelihood"]], "covariance": found["covariance"]}
    arrays |= {name: found[name] for name in ("naive", "naive_std") if len(found[name])}
    if outliers:
        values, stds = zip(*found["noise"], strict=True)
        arrays |= {"outlier_law": values, "outlier_law_std": stds}
        arrays["outlier_probability"] = found["outlier_probability"]
    if found["error_scale"] is not None:
        arrays["error_scale"] = [number for number in found["error_scale"] if np.isfinite(number)]
    if found["feature_error_scale"]:
        values, stds = zip(*found["feature_error_scale"], strict=True)
        arrays |= {"feature_error_scale": values, "feature_error_scale_std": stds}
    if len(found["modes"]):
        arrays |= {name: found[name] for name in ("modes", "modes_covariance", "modes_law_covariance")}
    numbers = {name: np.asarray(values, dtype=np.float64) for name, values in arrays.items()}
    return {name: values for name, values in numbers.items() if np.all(np.isfinite(values))}
