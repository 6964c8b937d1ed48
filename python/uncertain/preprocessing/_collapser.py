"""`GaussianCollapser`: means with simpler covariances, or with none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from .._base.core import Core, TakesGaps
from .._base.docs import documented
from .._data.validation import RowsLike, check_rows
from ._moves import Moves


@documented
@dataclass(eq=False, repr=False)
class GaussianCollapser(TakesGaps, Moves, Core, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Drop part of every covariance: S -> 0, (tr S / d) I, or diag S; means stay.

    Between a `GaussianDenoiser` and a regression it gives regression calibration: the denoiser replaces a
    reading by the posterior N(m, C) of its true value z, and

    .. code-block:: text

        y = w'z + b + noise    gives    E[y | reading] = w'm + b

    so y is regressed on m. A loss averaged over N(m, C) would treat y as the target of every point of the
    posterior, and shrink w once more. ``uncertain.fit(..., meaning="measurement")`` puts it in front of every
    regression, and `Model.predict_distribution` takes C from before this step.

    Parameters
    ----------
    to : {"zero", "isotropic", "diagonal"}, default="zero"
        Form of the result, as in `GaussianArray.collapse`.

    {Attributes: feature_names_in_}

    An array gives an array, a GaussianArray gives a GaussianArray. Missing features (NaN in an array, or what
    ``AsGaussians(on_missing="impute")`` gives) stay missing.

    References
    ----------
    R. J. Carroll, D. Ruppert, L. A. Stefanski, C. M. Crainiceanu, Measurement Error in Nonlinear Models, 2nd
    edition, Chapman and Hall 2006, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from uncertain import GaussianArray, GaussianCollapser, GaussianDenoiser, GSURegressor
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(5000, 1))
    >>> X = GaussianArray(z + 0.5 * rng.normal(size=z.shape), std=0.5)
    >>> model = make_pipeline(GaussianDenoiser(), GaussianCollapser(), GSURegressor()).fit(X, 2 * z[:, 0])
    >>> round(float(model[-1].coef_[0]), 1)  # 1.6 from the readings alone, 1.3 without the collapser
    2.0
    """

    _passes_gaps = True

    _kinds = ("collapser",)

    to: Literal["zero", "isotropic", "diagonal"] = "zero"

    def fit(self, X: RowsLike, y: object = None) -> GaussianCollapser:
        """Check the parameter and note the number of features."""
        parameters = self._parameters()
        return self._keep(self._fitted(parameters, check_rows(self, X, reset=True, limits=True)))
