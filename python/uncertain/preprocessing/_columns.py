"""``GaussianColumnTransformer``: scikit-learn's ColumnTransformer, whose result keeps its error bars.

The base class leaves stacking to its subclasses, which is all that is different: blocks are put beside each
other as Gaussians, and what has no error bars becomes exact features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer

from .._data.array import GaussianArray
from .._data.incomplete import GaussianRows, Incomplete, hstack
from .._data.numbers import float_array
from .._data.options import refuse_if
from .._data.typing import NativeColumn
from ..exceptions import ShapeError


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
