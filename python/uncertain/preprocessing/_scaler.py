"""`GaussianScaler`: means and covariances in units of the features' spread."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from .._base.core import Core, TakesGaps
from .._base.docs import documented
from .._data.typing import Floats, Header, RowValues
from .._data.validation import RowsLike, check_rows, check_sample_weight
from ._moves import Moves


@documented
@dataclass(eq=False, repr=False)
class GaussianScaler(TakesGaps, Moves, Core, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Shift and scale every feature, means and covariances together.

    Parameters
    ----------
    spread : {"means", "total"}
        The quantity scaled to one: the variance of the means, or that plus the mean variance of the rows (the
        variance of a draw from the data).

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (d,)
        m and s; the scale of a feature that does not vary is 1.
    {feature_names_in_}

    An array gives an array, a GaussianArray gives a GaussianArray. Kinds are kept, except that isotropic
    covariances become diagonal where scales differ. Missing features (NaN in an array, or what
    ``AsGaussians(on_missing="impute")`` gives) do not count and stay missing.

    Examples
    --------
    >>> from uncertain import GaussianArray, GaussianScaler
    >>> rows = GaussianArray([[100.0], [300.0]], std=[[10.0], [20.0]])
    >>> GaussianScaler().fit_transform(rows).covariances().ravel()  # the means' is 100
    array([0.01, 0.04])
    """

    _passes_gaps = True
    _keeps_unit = False

    _kinds = ("scaler",)

    _: KW_ONLY
    spread: Literal["means", "total"] = "means"

    def fit(self, X: RowsLike, y: object = None, sample_weight: RowValues = None) -> GaussianScaler:
        """Learn mean and scale; `sample_weight` (n,) is >= 0 and not all zero."""
        parameters = self._parameters()
        data, missing = check_rows(self, X, reset=True, limits=True)
        weights = check_sample_weight(sample_weight, data.n_rows)
        return self._keep(self._fitted(parameters, (data, missing), weights=weights))

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.mean_, self.scale_ = arrays["mean"], arrays["scale"]

    def inverse_transform(self, X: RowsLike) -> Any:
        """Undo `transform`: x -> s x + m, S -> s S s'."""
        return self._moved_back(X)
