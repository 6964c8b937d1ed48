"""What the estimators fitted by EM share: options on their way to the core, and what comes back.

`GaussianDenoiser`, `GaussianImputer` and `GaussianDiscriminant` are three uses of one algorithm (extreme
deconvolution); scikit-learn wants every constructor written out, the rest is here.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from .._data.typing import Floats
from .._data.validation import seed_from
from ..exceptions import ConvergenceWarning, ParameterError

if TYPE_CHECKING:
    from .._uncertain import _Em, _EmReport

Mixture = tuple[Floats, Floats, Floats]
"""Shares (K,), means (K, d), covariances (K, d, d)."""


class MixtureAttributes:
    """``weights_``, ``means_`` and ``covariances_`` of a fitted mixture."""

    weights_: Floats
    means_: Floats
    covariances_: Floats

    def _mixture(self) -> Mixture:
        return self.weights_, self.means_, self.covariances_

    def _set(self, mixture: Mixture) -> None:
        self.weights_, self.means_, self.covariances_ = mixture


def component_number(n_components: Any) -> int | None:
    """A number for the core; None for "auto"."""
    if isinstance(n_components, str) and n_components == "auto":
        return None
    whole = isinstance(n_components, (int, np.integer)) and not isinstance(n_components, bool)
    if whole and n_components > 0:
        return int(n_components)
    raise ParameterError(f'n_components = {n_components!r}: must be an integer >= 1 or "auto"')


def em_options(estimator: BaseEstimator, components: int | None, *, seed: int | None = None) -> _Em:
    """The parameters of EM of an estimator; a seed drawn from its `random_state` unless given."""
    return {
        "n_components": components,
        "max_components": getattr(estimator, "max_components", 1),
        "tol": estimator.tol,
        "max_iter": estimator.max_iter,
        "acceleration": estimator.acceleration,
        "reg_covar": estimator.reg_covar,
        "seed": seed_from(estimator.random_state) if seed is None else seed,
        "n_jobs": estimator.n_jobs,
    }


def keep_report(estimator: BaseEstimator, report: _EmReport) -> None:
    """Set the attributes that tell how the fit went, and warn unless it went to its end."""
    history, n_iter, status, held_out = report
    estimator.log_likelihoods_ = history
    estimator.n_iter_ = n_iter
    estimator.status_ = status
    if held_out is not None:
        estimator.held_out_log_likelihoods_ = held_out
    if status != "converged":
        last = f"{history[-1] - history[-2]:.2g}" if len(history) > 1 else "nan"
        warnings.warn(
            f"{type(estimator).__name__} did not converge ({status} after {n_iter} "
            f"iterations): the last one raised the mean log-likelihood by {last}, but tol is "
            f"{estimator.tol:g}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
