"""Transformers in front of an estimator: those that make Gaussians, and those that move them.

A transformer that only moves Gaussians answers an array with an array, and a GaussianArray with a
GaussianArray (see ``_moves.py``).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from uncertain import _uncertain
from uncertain._array import GaussianArray
from uncertain._as_gaussians import AsGaussians
from uncertain._denoiser import GaussianDenoiser
from uncertain._imputer import GaussianImputer
from uncertain._kernel_map import KernelMap
from uncertain._moves import Moves
from uncertain._validation import check_gaussians, check_rows
from uncertain.exceptions import ParameterError

__all__ = [
    "AsGaussians",
    "GaussianDenoiser",
    "GaussianImputer",
    "GaussianScaler",
    "KernelMap",
    "SubspaceProjector",
]

Floats = NDArray[np.float64]


class GaussianScaler(Moves, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Shift and scale every feature; covariances move along: x -> D (x - m), S -> D S D, D = diag(1 / s).

    Parameters
    ----------
    spread : {"means", "total"}
        What is scaled to one: the variance of the means, or that plus the mean variance of the rows (the
        variance of a draw from the data).

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (d,)
        m and s; the scale of a feature that does not vary is 1.
    n_features_in_ : int
        Dimension d.

    An array gives an array, a GaussianArray gives a GaussianArray. Kinds are kept, except that isotropic
    covariances become diagonal where scales differ. Missing features (NaN in an array, or what
    ``AsGaussians(on_missing="impute")`` gives) do not count and stay missing.
    """

    _passes_gaps = True

    def __init__(self, *, spread: Literal["means", "total"] = "means") -> None:
        self.spread = spread

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> GaussianScaler:
        """Learn mean and scale; `sample_weight` (n,) counts rows, >= 0 and not all zero."""
        if self.spread not in ("means", "total"):
            raise ParameterError(f'spread={self.spread!r}: must be "means" or "total"')
        data, missing = check_rows(self, X, reset=True)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, np.empty((data.n_rows, 0)), dtype=np.float64, ensure_non_negative=True
            )
        self.mean_: Floats
        self.scale_: Floats
        self.mean_, self.scale_ = _uncertain.fit_scaler(data, missing, weights, self.spread)
        return self

    def inverse_transform(self, X: Any) -> Any:
        """Undo `transform`: x -> s x + m, S -> s S s'."""
        check_is_fitted(self)
        moved = _uncertain.scale(check_gaussians(self, X, reset=False), self.mean_, self.scale_, True)
        return GaussianArray._from_core(moved) if isinstance(X, GaussianArray) else moved.means.copy()

    def _moved(self, data: _uncertain.Gaussians) -> _uncertain.Gaussians:
        return _uncertain.scale(data, self.mean_, self.scale_, False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class SubspaceProjector(Moves, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Keep the few directions in which a row is most uncertain: S = U L U' -> its leading eigenpairs.

    For every row the eigenpairs with the largest eigenvalues are kept until their share of the trace exceeds
    `variance`. The result has low-rank covariances (rank: the largest of any row), which makes fits faster.

    Parameters
    ----------
    variance : float in (0, 1]
        The share p of each row's trace; 1 keeps everything.
    project : {"covariance", "both"}
        "covariance" keeps the means as they are. "both" also replaces each mean by its projection on the
        row's own subspace, as the paper writes it; what lies outside is lost (all of an exact point, which
        has no subspace), so this rarely helps.

    Attributes
    ----------
    n_features_in_ : int
        Dimension d.

    An array (exact points) gives an array, a GaussianArray gives a GaussianArray.

    References
    ----------
    C. Tzelepis, V. Mezaris, I. Patras, Linear Maximum Margin Classifier for Learning from Uncertain Data,
    IEEE TPAMI 40(12), 2018, section 3.2.
    """

    def __init__(
        self, variance: float = 0.99, *, project: Literal["covariance", "both"] = "covariance"
    ) -> None:
        self.variance = variance
        self.project = project

    def fit(self, X: Any, y: object = None) -> SubspaceProjector:
        """Check the parameters and note the number of features; rows are projected one by one."""
        self._check_parameters()
        check_gaussians(self, X, reset=True)
        return self

    def _moved(self, data: _uncertain.Gaussians) -> _uncertain.Gaussians:
        self._check_parameters()
        return _uncertain.project_subspace(data, float(self.variance), self.project)

    def _check_parameters(self) -> None:
        if self.project not in ("covariance", "both"):
            raise ParameterError(f'project={self.project!r}: must be "covariance" or "both"')
        if not isinstance(self.variance, (int, float, np.number)) or not 0 < self.variance <= 1:
            raise ParameterError(f"variance={self.variance!r}: must be above 0 and at most 1")
