"""`KernelMap`: kernels for linear models, as a transformer to the feature space."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .._base.core import Core
from .._base.docs import documented
from .._data.options import check_option, number_or_median, refuse_if
from .._data.typing import Floats, Header
from .._data.validation import RowsLike, check_gaussians
from .._uncertain import Gaussians, fit_transform
from ._moves import Moves

KERNELS = ("linear", "quadratic", "polynomial", "rbf")

Kernel = Literal["linear", "quadratic", "polynomial", "rbf"]


@documented
@dataclass(eq=False, repr=False)
class KernelMap(Moves, Core, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map Gaussians to the feature space of a kernel, for linear models.

    A kernel is an inner product K(x, z) = phi(x)'phi(z) in a feature space. To first order the row
    N(x_i, S_i) becomes N(phi(x_i), J S_i J') there, with J the derivative of phi at x_i. Its mean and the
    columns of J S_i^(1/2) have inner products that the kernel and its derivatives give, the extended Gram
    matrix E, and a pivoted Cholesky factorisation of E gives them D = ``rank_`` coordinates. New rows are
    projected on the span of the fitted ones by a triangular solve, exactly.

    Parameters
    ----------
    kernel : {"rbf", "quadratic", "polynomial", "linear"}, default="rbf"
        ``exp(-gamma |x - z|^2), (x'z)^2, (gamma x'z + coef0)^degree, x'z``.
    gamma : float > 0 or "median", default="median"
        Parameter of "rbf" and "polynomial". "median" is 1 / (2 m^2) with the median distance m of two
        different rows, error bars included.
    degree : int >= 1, default=3
        Of "polynomial".
    coef0 : float >= 0, default=1.0
        Of "polynomial".
    tol : float, default=1e-6
        Stop when no element of E is off by more than `tol` times the largest one. Error bars whose effect is
        smaller than that may be lost: for "rbf", standard deviations of sqrt(tol) in units of
        1 / sqrt(2 gamma).
    max_rank : int or None, default=300
        Most dimensions D. Fitting costs O(n r D^2) for error bars in r directions, mapping a row O(r D^2).

    Attributes
    ----------
    rank_ : int
        D, the number of dimensions.
    error_ : float
        The largest error of an element of E, relative to the largest element.
    gamma_ : float or None
        gamma, if the kernel has one.
    points_, directions_ : ndarray of shape (D, d)
        The pivots: phi(z) where the direction is zero, and J(z) a along a direction a elsewhere.
    factor_ : ndarray of shape (D, D)
        Their coordinates, a lower triangle.
    {n_features_in_}

    An array (exact points) gives an array, a GaussianArray a GaussianArray with low-rank covariances (or
    exact points).

    Notes
    -----
    The first-order approximation is good while error bars are small compared with the length scale of the
    kernel, 1 / sqrt(2 gamma). For larger ones see :func:`uncertain.kernels.probabilistic_rbf`, an exact
    expectation.

    References
    ----------
    J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain Information, 2007,
    equations 12-13. S. Fine, K. Scheinberg, Efficient SVM Training Using Low-Rank Kernel Representations,
    JMLR 2, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianArray, KernelMap
    >>> X = GaussianArray(np.random.default_rng(0).normal(size=(50, 2)), std=0.1)
    >>> squares = KernelMap("quadratic").fit(X)
    >>> squares.rank_
    3
    >>> squares.transform(X).kind
    'low-rank'
    """

    _kinds = ("kernel-map",)

    kernel: Kernel = "rbf"
    _: KW_ONLY
    gamma: float | Literal["median"] = "median"
    degree: int = 3
    coef0: float = 1.0
    tol: float = 1e-6
    max_rank: int | None = 300

    def fit(self, X: RowsLike, y: object = None) -> KernelMap:
        """Choose the pivots among these rows, Gaussians or exact points (n, d)."""
        self._check_kernel()
        return self._learned(check_gaussians(self, X, reset=True), None)

    def fit_transform(self, X: RowsLike, y: object = None, **fit_params: Any) -> Any:
        """Fit, then transform the same rows."""
        self._check_kernel()
        return self._answer(self._learned_with_rows(check_gaussians(self, X, reset=True), None), X)

    def _check_kernel(self) -> None:
        check_option("kernel", self.kernel, KERNELS)
        number_or_median("gamma", self.gamma)

    def _learned(self, data: Gaussians, n_jobs: int | None) -> KernelMap:
        self._check_number(data)
        return self._keep(self._fitted(self._parameters(), data, n_jobs=n_jobs))

    def _learned_with_rows(self, data: Gaussians, n_jobs: int | None) -> Gaussians:
        """`_learned`; the mapped rows."""
        self._check_number(data)
        model, mapped = fit_transform(self._kind, self._parameters(), data, n_jobs=n_jobs)
        self._keep(model)
        return mapped

    def _check_number(self, data: Gaussians) -> None:
        few = self.gamma == "median" and self.kernel in ("polynomial", "rbf") and data.n_rows < 2
        rows = f"n_samples = {data.n_rows}"
        refuse_if(few, f"gamma = 'median' needs at least two rows, got {rows}; pass a number")
        self.n_features_in_ = data.n_features

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self.points_, self.directions_ = arrays["points"], arrays["directions"]
        self.factor_: Floats = arrays["factor"]
        self.rank_, self.error_ = len(self.factor_), header["error"]
        kernel = header["kernel"]
        self.gamma_ = next(iter(kernel.values()))["gamma"] if isinstance(kernel, dict) else None

    def _names_out(self) -> None:
        """Coordinates of a feature space have no names of columns."""

    @property
    def _n_features_out(self) -> int:
        return self.rank_
