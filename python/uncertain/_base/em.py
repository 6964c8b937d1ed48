"""The attributes that estimators fitted by EM share.

`GaussianDenoiser`, `GaussianImputer` and `GaussianDiscriminant` are three uses of one algorithm (extreme
deconvolution).
"""

from __future__ import annotations

from typing import Literal, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Floats, Header, Keywords, RandomState
from .._data.validation import RowsLike
from .._data.warn import warn
from ..exceptions import ConvergenceWarning
from .core import Core
from .gaps import TakesGaps
from .penalty import FitRows
from .progress import Callback

Mixture: TypeAlias = tuple[Floats, Floats, Floats]
"""Shares (K,), means (K, d), covariances (K, d, d)."""


def unpacked(triangles: Floats, d: int) -> Floats:
    """Symmetric matrices (K, d, d) from packed lower triangles (K, d (d + 1) / 2)."""
    i, j = np.tril_indices(d)
    matrices = np.empty((len(triangles), d, d))
    matrices[:, i, j] = matrices[:, j, i] = triangles
    return matrices


def packed(matrices: Floats) -> Floats:
    """Inverse of `unpacked`."""
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
        f"iterations): the last one {last_rise(estimator)}{known}; raise max_iter or tol",
        ConvergenceWarning,
    )


def last_rise(estimator: BaseEstimator) -> str:
    """What the last iteration of EM has done."""
    history = estimator.log_likelihoods_
    raised = f"by {history[-1] - history[-2]:.2g}" if len(history) > 1 else "by nothing"
    return f"raised the mean log-likelihood {raised}"


class MixtureAttributes(TakesGaps, Core):
    """``weights_``, ``means_`` and ``covariances_`` of a fitted mixture, and how the fit went."""

    weights_: Floats
    means_: Floats
    covariances_: Floats

    def _mixture(self) -> Mixture:
        return self.weights_, self.means_, self.covariances_

    def _moved(self, rows: FitRows, X: RowsLike) -> GaussianArray:
        """The transformed rows, with the names of the fit and the unit of X."""
        moved = self._model.transform(rows, getattr(self, "n_jobs", None))
        gaussians = X.gaussians if isinstance(X, Incomplete) else X
        unit = gaussians._unit if isinstance(gaussians, GaussianArray) else None
        return GaussianArray._from_core(moved, getattr(self, "feature_names_in_", None), unit)

    def _set(self, mixture: Mixture) -> Self:
        """Set a known distribution, without a fit."""
        weights, means, covariances = mixture
        self.n_features_in_ = means.shape[1]
        arrays = {"weights": weights, "means": means, "covariances": packed(covariances)}
        return self._made(arrays, None)

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.weights_, self.means_ = arrays["weights"], arrays["means"]
        self.covariances_ = unpacked(arrays["covariances"], self.means_.shape[1])
        keep_progress(self, arrays, header)


class FittedMixture(MixtureAttributes):
    """A mixture of true values with the parameters of EM alone, whose number of components may be "auto"."""

    def __init__(
        self,
        n_components: int | Literal["auto"] = 1,
        *,
        max_components: int = 10,
        tol: float | None = None,
        max_iter: int = 1000,
        acceleration: Literal["squarem"] | None = "squarem",
        reg_covar: float = 1e-6,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback = None,
    ) -> None:
        self.n_components = n_components
        self.max_components = max_components
        self.tol = tol
        self.max_iter = max_iter
        self.acceleration = acceleration
        self.reg_covar = reg_covar
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        super()._attributes(arrays, header)
        self.n_components_ = len(self.weights_)
