"""`GaussianLogScaler`: positive, skewed quantities as logarithms that are linear around zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from .._base.core import Core, TakesGaps
from .._base.docs import documented
from .._data.typing import Floats, Header, Keywords
from .._data.validation import RowsLike, check_rows
from .._uncertain import fit
from ._moves import Moves


@documented
@dataclass(eq=False, repr=False)
class GaussianLogScaler(TakesGaps, Moves, Core, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Take skewed positive features as logarithms, error bars included:

    .. code-block:: text

        x -> g(x) = asinh(x / 2b),    s -> (g(x + s) - g(x - s)) / 2,    S -> D S D,  D = diag(s' / s)

    Far above the softening b this is ln(x / b), and s' = s / x, the relative error. Readings of zero and
    below stay finite. Fluxes, periods and depths, which span decades, become nearly Gaussian.

    Parameters
    ----------
    softening : "auto" or array-like of shape (d,), default="auto"
        b of each feature, in its units, 0 for features that stay as they are. "auto": a feature is taken as a
        logarithm if its quantile at 1 % is positive, those at 5 and 95 % are a factor of ten apart, and
        logarithms of the quantiles at 5, 50 and 95 % are less skewed; b is the quantile at 1 %. With fewer
        than 20 values it stays as it is.

    Attributes
    ----------
    softening_ : ndarray of shape (d,)
        b; 0 for features that stay as they are.
    {feature_names_in_}

    An array gives an array, a GaussianArray a GaussianArray. Kinds are kept, except that isotropic ones
    become diagonal and shared ones full. Missing features do not count and stay missing.

    References
    ----------
    R. H. Lupton, J. E. Gunn, A. S. Szalay, AJ 118 (1999) 1406 (asinh magnitudes).

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, GaussianLogScaler
    >>> rng = np.random.default_rng(0)
    >>> flux = 10.0 ** rng.uniform(0.0, 4.0, size=(500, 1))
    >>> rows = GaussianArray(flux, std=0.1 * flux)
    >>> scaled = GaussianLogScaler().fit_transform(rows)
    >>> np.round(np.sqrt(scaled.trace()[flux[:, 0] > 100.0]).mean(), 3)
    np.float64(0.1)
    """

    _passes_gaps = True
    _keeps_unit = False
    _kinds = ("log-scaler",)

    _: KW_ONLY
    softening: Literal["auto"] | Sequence[float] = "auto"

    def fit(self, X: RowsLike, y: object = None) -> GaussianLogScaler:
        """Choose the features to transform, and their softening.

        Of rows in other processes the sample that is here decides: a quantile is no sum over rows.
        """
        data, missing = check_rows(self, X, reset=True, limits=True)
        return self._keep(fit(self._kind, self._parameters(), (data, missing)))

    def _core_parameters(self) -> Keywords:
        automatic = isinstance(self.softening, str) and self.softening == "auto"
        return {"softening": None if automatic else self.softening}

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.softening_ = arrays["softening"]

    def _saved_params(self) -> Keywords:
        softening = self.softening
        return {"softening": softening if isinstance(softening, str) else np.ravel(softening).tolist()}

    def inverse_transform(self, X: RowsLike) -> Any:
        """Undo `transform`: x -> 2b sinh(x), with error bars from their two ends."""
        return self._moved_back(X)
