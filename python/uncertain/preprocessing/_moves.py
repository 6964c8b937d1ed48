"""Transformers from Gaussians to Gaussians: their base, and the scalers of means and covariances.

Design: a transformer that only moves Gaussians answers an array with an array (so that it is an ordinary
scikit-learn transformer) and a GaussianArray with a GaussianArray. The latter must escape scikit-learn's
``set_output``, which would turn it into a table without error bars; `Moves` therefore wraps by itself.
One that `_passes_gaps` moves what is there; gaps stay, or go with their features (`_marks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils._set_output import _wrap_data_with_container

from .._base.core import Core, TakesGaps
from .._base.docs import documented
from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete
from .._data.numbers import gaps_as_nan
from .._data.typing import Floats, Header, Keywords, RowValues
from .._data.validation import RowsLike, check_gaussians, check_readings, check_rows, check_sample_weight
from .._uncertain import Fitted, Gaussians, fit


def gaussian_rows(rows: Any) -> GaussianRows:
    """Rows, or arrays of exact points, as Gaussians; with gaps only where there are some."""
    if not isinstance(rows, (GaussianArray, Incomplete)):
        rows = Incomplete.from_arrays(gaps_as_nan(rows, "X"))
    return rows.gaussians if isinstance(rows, Incomplete) and not rows.missing.any() else rows


def moved(pipeline: Pipeline, rows: GaussianRows) -> GaussianRows:
    """The rows as they come to the last step."""
    for _, step in pipeline.steps[:-1]:
        rows = step.transform(rows)
    return rows


class Moves:
    """`transform` in the kind of the input; `set_output` concerns arrays only."""

    _passes_gaps: bool = False
    _keeps_unit: ClassVar[bool] = True
    _model: Fitted

    def transform(self, X: RowsLike) -> Any:
        """The moved rows: an array for an array, a GaussianArray for a GaussianArray."""
        if not self._passes_gaps:
            return self._answer(self._model.transform(check_gaussians(self, X, reset=False)), X)
        data, missing, limits = check_readings(self, X, reset=False)
        gaps = missing if missing is None or limits is None else missing & (limits == 0)  # limits are numbers
        return self._answer(self._model.transform((data, gaps)), X, missing)

    def _answer(self, moved: Gaussians, X: RowsLike, missing: Any = None) -> Any:
        """Moved rows in the kind of the input."""
        if isinstance(X, (GaussianArray, Incomplete)):
            unit = X.unit if self._keeps_unit else None
            moved_rows = GaussianArray._from_core(moved, self._names_out(), unit)
            if not isinstance(X, Incomplete):
                return moved_rows
            return Incomplete(moved_rows, self._marks(X.missing), self._marks(X.limits))
        means = moved.means.copy()
        if missing is not None:
            means[self._marks(missing)] = np.nan
        return _wrap_data_with_container("transform", means, X, self)

    def _marks(self, marks: Any) -> Any:
        """Marks of the features that come of those marked."""
        return marks

    def _moved_back(self, X: RowsLike) -> Any:
        """Results of an `inverse_transform`."""
        rows = check_gaussians(self, X, reset=False)
        moved = self._model.inverse_transform(rows)
        if isinstance(X, GaussianArray):
            return GaussianArray._from_core(moved, self._names_out())
        return moved.means.copy()

    def _names_out(self) -> Iterable[str] | None:
        """Names of the features of Gaussians that were moved: those of the fit."""
        return getattr(self, "feature_names_in_", None)

    def fit_transform(self, X: RowsLike, y: object = None, **fit_params: Any) -> Any:
        """`fit`, then `transform` of the same rows."""
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]


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
