"""The attributes that estimators fitted by EM share.

`GaussianDenoiser`, `GaussianImputer` and `GaussianDiscriminant` are three uses of one algorithm (extreme
deconvolution).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from .._data.typing import Floats, Header, Keywords, RandomState
from .._data.warn import warn
from ..exceptions import ConvergenceWarning
from .core import Core, RunParameters, TakesGaps

Mixture: TypeAlias = tuple[Floats, Floats, Floats]
"""Shares (K,), means (K, d), covariances (K, d, d)."""


def unpacked(triangles: Floats, d: int) -> Floats:
    """Symmetric matrices (K, d, d) from packed lower triangles."""
    i, j = np.tril_indices(d)
    matrices = np.empty((len(triangles), d, d))
    matrices[:, i, j] = matrices[:, j, i] = triangles
    return matrices


def packed(matrices: Floats) -> Floats:
    i, j = np.tril_indices(matrices.shape[1])
    triangles: Floats = np.ascontiguousarray(matrices[:, i, j])
    return triangles


def keep_progress(estimator: BaseEstimator, arrays: dict[str, Floats], progress: Keywords | None) -> None:
    """Set the attributes that tell how the fit went, if there was one."""
    if progress is None:
        return
    estimator.log_likelihoods_ = arrays["history"]
    estimator.n_iter_, estimator.status_ = progress["n_iter"], progress["status"]
    if "held_out" in arrays:
        estimator.held_out_log_likelihoods_ = arrays["held_out"]


def warn_unless_ended(estimator: BaseEstimator) -> None:
    """Say that EM did not converge, how far it was, and what to do."""
    if estimator.status_ == "converged":
        return
    known = "" if estimator.tol is None else f", but tol is {estimator.tol:g}"
    warn(
        f"{type(estimator).__name__} did not converge ({estimator.status_} after {estimator.n_iter_} "
        f"iterations): the last one {last_rise(estimator)}{known}. Raise max_iter or tol",
        ConvergenceWarning,
    )


def last_rise(estimator: BaseEstimator) -> str:
    """Numbers of the last iteration of EM."""
    history = estimator.log_likelihoods_
    raised = f"by {history[-1] - history[-2]:.2g}" if len(history) > 1 else "by nothing"
    return f"raised the mean log-likelihood {raised}"


@dataclass(eq=False, repr=False, kw_only=True)
class EMParameters(RunParameters):
    tol: float | None = None
    max_iter: int = 1000
    acceleration: Literal["squarem"] | None = "squarem"
    random_state: RandomState = None


@dataclass(eq=False, repr=False)
class FittedMixture(EMParameters, TakesGaps, Core):
    """Mixture of Gaussians of true values; `n_components` may be "auto"."""

    n_components: int | Literal["auto"] = 1
    _: KW_ONLY
    max_components: int = 10
    reg_covar: float = 1e-6

    def _mixture(self) -> Mixture:
        return self.weights_, self.means_, self.covariances_

    def _set(self, mixture: Mixture) -> Self:
        """Set a known distribution, without a fit."""
        weights, means, covariances = mixture
        self.n_features_in_ = means.shape[1]
        arrays = {"weights": weights, "means": means, "covariances": packed(covariances)}
        return self._made(arrays, None)

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.weights_, self.means_ = arrays["weights"], arrays["means"]
        self.n_components_ = len(self.weights_)
        self.covariances_ = unpacked(arrays["covariances"], self.means_.shape[1])
        keep_progress(self, arrays, header)
