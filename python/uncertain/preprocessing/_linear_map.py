"""Linear maps of the features, and covariances with fewer directions or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._base.core import Core, TakesGaps
from .._base.docs import documented
from .._data.features import checked_names
from .._data.numbers import float_array, linear_map
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


@documented
@dataclass(eq=False, repr=False)
class SubspaceProjector(Moves, Core, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Keep the few directions in which a row is most uncertain.

    For every row the eigenpairs with the largest eigenvalues are kept until their share of the trace exceeds
    `variance`. The result has low-rank covariances (rank: the largest of any row), which makes fits faster.

    Parameters
    ----------
    variance : float in (0, 1]
        The share p of each row's trace; 1 keeps everything.
    project : {"covariance", "both"}
        "covariance" keeps the means as they are. "both" also replaces each mean by its projection on the
        row's subspace, as the paper writes it; what lies outside is lost (all of an exact point, which
        has no subspace), so this rarely helps.

    {Attributes: feature_names_in_}

    An array (exact points) gives an array, a GaussianArray gives a GaussianArray.

    References
    ----------
    C. Tzelepis, V. Mezaris, I. Patras, Linear Maximum Margin Classifier for Learning from Uncertain Data,
    IEEE TPAMI 40(12), 2018, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, SubspaceProjector
    >>> rows = GaussianArray(np.zeros((1, 3)), cov=[[[4.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 0.01]]])
    >>> SubspaceProjector(variance=0.6).fit_transform(rows).kind
    'low-rank'
    """

    _kinds = ("subspace",)

    variance: float = 0.99
    _: KW_ONLY
    project: Literal["covariance", "both"] = "covariance"

    def fit(self, X: RowsLike, y: object = None) -> SubspaceProjector:
        """Check the parameters and note the number of features."""
        parameters = self._parameters()
        return self._keep(self._fitted(parameters, check_gaussians(self, X, reset=True)))


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
