"""`LinearMap`: linear combinations of the features, with their covariances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._base.core import Core
from .._base.docs import documented
from .._data.features import checked_names
from .._data.numbers import float_array
from .._data.shapes import linear_map
from .._data.typing import Array, Floats, Header, Keywords
from .._data.validation import RowsLike, check_gaussians, check_rows
from .._uncertain import Fitted
from ._moves import Moves


@documented
@dataclass(eq=False, repr=False)
class LinearMap(Moves, Core, TransformerMixin, BaseEstimator):
    """Linear combinations of the features: x -> x A, S -> A'S A.

    Colours from magnitudes, differences from a reference, sums of channels, coordinates in another basis (a
    principal component analysis fitted elsewhere): features computed from the same measured number share its
    error, and A'S A is exact. Nothing is learned from rows.

    Parameters
    ----------
    matrix : array-like of shape (d, k), default=None
        A: a row per feature, a column per new feature. None is the identity.
    names : list of k str, default=None
        Names of the new features.

    Attributes
    ----------
    matrix_ : ndarray of shape (d, k)
        A.
    {feature_names_in_}

    An array gives an array, a GaussianArray a GaussianArray, whose kind of covariances is that of ``X @ A``:
    zero, shared and low-rank ones stay what they are, a diagonal if no feature goes to two columns; others
    become full. Where every column is one feature times a positive number (some of the features,
    say, or another order), gaps and limits go with the features; other matrices refuse them.

    Examples
    --------
    >>> from uncertain import GaussianArray, LinearMap
    >>> X = GaussianArray([[20.0, 19.5, 19.2]], std=[[0.3, 0.1, 0.1]])
    >>> colours = LinearMap([[1, 0], [-1, 1], [0, -1]], names=["u - g", "g - r"]).fit_transform(X)
    >>> colours
    GaussianArray(1 rows x 2 features (u - g, g - r), full covariances)
    >>> colours.covariances().round(4)
    array([[[ 0.1 , -0.01],
            [-0.01,  0.02]]])
    """

    _kinds = ("linear-map",)

    matrix: ArrayLike | None = None
    names: Sequence[str] | None = None

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Check that the matrix has a row for every feature; nothing is learned.

        {Parameters: X, no_y}

        {Returns: self}

        {Raises: refused}
        """
        data, _ = check_rows(self, X, reset=True, limits=True)
        if self.matrix is None:
            model = self._fitted(self._parameters(), data)
        else:
            model = linear_map(float_array(self.matrix, "matrix"), data.n_features, "LinearMap", "matrix")
        checked_names(self.names, model.arrays()["matrix"].shape[1], "names")
        self._keep(model)
        if not self._passes_gaps:
            check_gaussians(self, X, reset=False)
        return self

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return `names`; without them those of the identity, or linearmap0, ...

        Parameters
        ----------
        input_features : array-like of d str, optional
            Compared with ``feature_names_in_``, as in scikit-learn.

        Returns
        -------
        ndarray of k str
        """
        check_is_fitted(self, "matrix_")
        features = _check_feature_names_in(self, input_features)
        if self.names is None and self.matrix is None:
            return np.asarray(features, dtype=object)
        k = self.matrix_.shape[1]
        return np.asarray(self.names or [f"linearmap{j}" for j in range(k)], dtype=object)

    def _names_out(self) -> Iterable[str] | None:
        return super()._names_out() if self.names is None and self.matrix is None else self.names

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.matrix_ = arrays["matrix"]
        is_used = self.matrix_ > 0.0
        own = (is_used.sum(axis=0) == 1).all() and (is_used.sum(axis=1) <= 1).all()
        self._passes_gaps = bool(own and (self.matrix_ >= 0.0).all())

    def _marks(self, marks: Any) -> Any:
        return None if marks is None else marks[:, self.matrix_.argmax(axis=0)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # by selections, such as the identity
        return tags

    def _saved_params(self) -> Keywords:
        # The matrix is an array of the file.
        return {"names": None if self.names is None else list(self.names)}

    def _loaded(self, model: Fitted) -> Self:
        self._keep(model)
        self.matrix = self.matrix_
        return self
