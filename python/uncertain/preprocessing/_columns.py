"""Columns out of Gaussians, for any learner, and Gaussians out of the columns of several transformers.

`GaussianColumnTransformer` is scikit-learn's ColumnTransformer, which leaves stacking to its subclasses, and
that is all that is different: blocks are put beside each other as Gaussians, and what has no error bars
becomes exact features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._base.core import TakesGaps
from .._base.docs import documented
from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, feature_spread, hstack
from .._data.numbers import float_array
from .._data.options import check_option, refuse_if
from .._data.typing import Array, Booleans, Floats, NativeColumn
from .._data.validation import RowsLike, check_rows
from ..exceptions import ShapeError

FLOOR = 1e-3
"""Errors below this, in units of the feature's spread, count as this: exact values have it."""
TREES = 1e-9
"""Smallest error for boosted trees, which no far value leads astray. With 1e-3 all errors of periods over
decades were equal (log loss on planets of TESS 0.356, with 1e-9 0.328)."""

COLUMNS = ("errors", "correlations", "skewness", "means")
BLOCK = 4096
"""Rows whose covariance matrices are written out at a time."""


@documented
@dataclass(eq=False, repr=False)
class ErrorColumns(TakesGaps, TransformerMixin, BaseEstimator):
    """Turn rows into plain columns: means, error sizes, correlations, skewness.

    .. code-block:: text

        x_1 ... x_d,  log10 max(s_1 / t_1, floor) ... log10 max(s_d / t_d, floor),  c_12 c_13 c_23 ...

    with s_j the standard deviation of feature j in the row, t_j the standard deviation of the feature over
    the fitted rows, and c_jk the correlations; of mixtures, mean and covariance are meant. A learner that
    gets these columns may use the sizes. It treats them as properties of the row, and fails where errors have
    other sizes than in training; :class:`~uncertain.RemeasuredClassifier` solves this.

    Parameters
    ----------
    columns : {"errors", "correlations", "skewness", "means"}, default="errors"
        "errors": means and sizes; "correlations": these and d (d - 1) / 2 correlations, 0 for exact values;
        "skewness": means, sizes and the skewness E[(x_j - m_j)^3] / s_j^3 of every feature, which rows of
        several components may have; "means": the means alone.
    floor : float > 0, default=1e-3
        Smaller errors count as this, in units of the feature's spread. Less tells small errors apart, which
        trees can use; for linear learners it makes exact values outliers.

    Attributes
    ----------
    scale_ : ndarray of shape (d,)
        t_j; 1 for a feature that does not vary.
    {feature_names_in_}

    A missing value is NaN, and so is the size of its error.

    Examples
    --------
    >>> from uncertain import ErrorColumns, GaussianArray
    >>> X = GaussianArray([[0.0], [2.0]], std=[[0.1], [1.0]])
    >>> ErrorColumns().fit_transform(X)
    array([[ 0., -1.],
           [ 2.,  0.]])
    """

    columns: Literal["errors", "correlations", "skewness", "means"] = "errors"
    _: KW_ONLY
    floor: float = FLOOR

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Learn the spread of every feature.

        {Parameters: readings, no_y}

        {Returns: self}
        """
        check_option("columns", self.columns, COLUMNS)
        wrong = not isinstance(self.floor, (int, float, np.number)) or not 0.0 < self.floor < np.inf
        refuse_if(wrong, f"floor = {self.floor!r}: must be a number > 0")
        data, missing = check_rows(self, X, reset=True)
        means = _with_gaps(np.asarray(data.means), missing)
        self.scale_: Floats = feature_spread(means, ~np.isnan(means))
        return self

    def transform(self, X: RowsLike) -> Floats:
        """The columns of every row, shape (n, 2 d) for "errors".

        {Parameters: readings}
        """
        core, missing = check_rows(self, X, reset=False)
        whole = GaussianArray._from_core(core)
        rows = whole.collapse("gaussian")
        means = _with_gaps(np.asarray(rows.means), missing)
        if self.columns == "means":
            return means.copy()
        std, correlations = _deviations(rows, correlations=self.columns == "correlations")
        sizes = _with_gaps(np.log10(np.maximum(std / self.scale_, self.floor)), missing)
        skewness = [_with_gaps(whole._skewness(), missing)] if self.columns == "skewness" else []
        return np.hstack([means, sizes, *correlations, *skewness])

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Names of the columns: x, log_error_x, correlation_x_y, skewness_x."""
        check_is_fitted(self)
        names = [str(name) for name in _check_feature_names_in(self, input_features)]
        out = list(names)
        if self.columns != "means":
            out += [f"log_error_{name}" for name in names]
        if self.columns == "correlations":
            out += [f"correlation_{a}_{b}" for k, a in enumerate(names) for b in names[k + 1 :]]
        if self.columns == "skewness":
            out += [f"skewness_{name}" for name in names]
        return np.asarray(out, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = True
        return tags


def _with_gaps(values: Floats, missing: Booleans | None) -> Floats:
    return values if missing is None else np.where(missing, np.nan, values)


def _deviations(rows: GaussianArray, *, correlations: bool) -> tuple[Floats, list[Floats]]:
    """Standard deviations (n, d), and the correlations as a list of one array (n, d (d - 1) / 2), if any."""
    n, d = rows.shape
    std = np.zeros((n, d))
    above = np.triu_indices(d, 1)
    corr = [np.zeros((n, len(above[0])))] if correlations else []
    if rows.kind == "zero":
        return std, corr
    for start in range(0, n, BLOCK):
        part = slice(start, start + BLOCK)
        block = rows[part] if correlations else rows[part].collapse("diagonal")
        cov = block.covariances()
        std[part] = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
        if correlations:
            product = std[part, above[0]] * std[part, above[1]]
            np.divide(cov[:, above[0], above[1]], product, out=corr[0][part], where=product > 0.0)
    return std, corr


class GaussianColumnTransformer(ColumnTransformer, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Apply transformers to columns, and concatenate their Gaussians.

    As :class:`sklearn.compose.ColumnTransformer`, with the same parameters, except that a transformer may
    give a GaussianArray (`AsGaussians`, `LinearMap`, ...). Arrays and frames, such as those of
    ``OneHotEncoder`` and ``StandardScaler``, become exact features: their covariances are zero. Blocks are
    independent of each other. There is no ``set_output``: no frame holds covariances.

    Parameters
    ----------
    transformers : list of (name, transformer, columns)
        Columns of a table by name, or of an array or GaussianArray by number. For `AsGaussians` they are
        those of values and of error bars.
    remainder : {"drop", "passthrough"} or transformer, default="drop"
        Treatment of columns that no transformer takes.
    sparse_threshold : float, default=0.3
        Of the base class; results are dense here.
    n_jobs : int or None, default=None
        Number of transformers that are fitted side by side.
    transformer_weights : dict or None, default=None
        Not for blocks of Gaussians: a factor for each transformer's results, which scales numbers alone.
    verbose : bool, default=False
        Print the time that each transformer takes.
    verbose_feature_names_out : bool, str or callable, default=True
        Whether names of features begin with their transformer's.

    Examples
    --------
    >>> import polars
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from uncertain import AsGaussians, GaussianColumnTransformer
    >>> table = polars.DataFrame(
    ...     {"flux": [1.0, 2.0], "flux_err": [0.1, 0.2], "airmass": [1.1, 1.5], "survey": ["A", "B"]}
    ... )
    >>> columns = GaussianColumnTransformer([
    ...     ("noisy", AsGaussians(), ["flux", "flux_err"]),
    ...     ("exact", "passthrough", ["airmass"]),
    ...     ("survey", OneHotEncoder(), ["survey"]),
    ... ])
    >>> columns.fit_transform(table)
    GaussianArray(2 rows x 4 features (noisy__flux, ..., survey__survey_B), diagonal covariances)
    """

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> GaussianArray | Incomplete:
        """Fit each transformer to its columns, and concatenate their results."""
        # The base class asks frames only for names, and forgets those of a fit before.
        self._names: Any = X.feature_names if isinstance(X, (GaussianArray, Incomplete)) else None
        made: GaussianRows = super().fit_transform(X, y, **params)
        return made

    def _hstack(self, Xs: Sequence[object], **_: object) -> GaussianRows:
        """The blocks beside each other; called by the base class with what the transformers gave."""
        blocks = [_gaussians(X, name) for X, name in zip(Xs, self._block_names(Xs), strict=True)]
        if self._names is not None:
            self.feature_names_in_ = np.asarray(self._names, dtype=object)
        try:
            names = tuple(map(str, self.get_feature_names_out()))
        except AttributeError:  # a transformer that names no features
            names = None
        return hstack(blocks)._named(names)

    def _block_names(self, Xs: Sequence[object]) -> list[str]:
        """Names of the transformers that gave something, for messages."""
        names = [name for name, transformer, _ in self.transformers_ if transformer != "drop"]
        return names if len(names) == len(Xs) else [f"block {k}" for k in range(len(Xs))]


def _gaussians(X: NativeColumn, name: str) -> GaussianRows:
    """A block as Gaussians; plain numbers are exact."""
    if isinstance(X, Incomplete):
        return Incomplete(_unnamed(X.gaussians), X.missing)
    if isinstance(X, GaussianArray):
        return _unnamed(X)
    numbers = float_array(X.toarray() if sparse.issparse(X) else X, name)
    expected = f"{name}: expected an array of shape (n, d), got {numbers.shape}"
    refuse_if(numbers.ndim != 2, expected, ShapeError)
    return Incomplete.from_arrays(numbers) if np.isnan(numbers).any() else GaussianArray(numbers)


def _unnamed(X: GaussianArray) -> GaussianArray:
    """Rows without names, which the transformer gives anew."""
    return GaussianArray._from_core(X._core, None, X._unit)
