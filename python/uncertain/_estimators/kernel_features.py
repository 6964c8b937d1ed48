"""Features whose inner products are the kernel between Gaussians."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .._base.core import Core
from .._base.docs import documented
from .._data.typing import Floats, Header, RandomState
from .._data.validation import RowsLike, check_gaussians

__all__ = ["ProbabilisticKernelFeatures"]


class FeatureMap:
    """The attributes of a map."""

    frequencies_: Floats
    noise_: Floats | None
    sigma_: float

    def _forget_map(self) -> None:
        for name in ("frequencies_", "noise_"):
            self.__dict__.pop(name, None)

    def _keep_map(self, arrays: dict[str, Floats], sigma: float) -> None:
        """Set frequencies and noise."""
        self.sigma_ = sigma
        self.frequencies_, self.noise_ = arrays["frequencies"], arrays.get("noise")


@documented
@dataclass(eq=False, repr=False)
class ProbabilisticKernelFeatures(
    FeatureMap, Core, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Exact points whose inner products approximate the kernel between Gaussians.

    With z = transform(X), z_i'z_j is about :func:`uncertain.kernels.probabilistic_rbf` of rows i and j, so
    that linear models on z (of scikit-learn, too) are kernel methods on Gaussians, in linear time.

    .. code-block:: text

        random, shared:       sqrt(1/R) [cos, sin](w_r'(x + S^(1/2) e_r))
        random, independent:  sqrt(1/R) [cos, sin](w_r'x) exp(-w_r'S w_r / 2)

    with w_r ~ N(0, I / sigma^2) and e_r ~ N(0, I): unbiased, with an error of order ``R^(-1/2)``.

    Parameters
    ----------
    n_components : int, default=100
        Number R of frequencies, each with a cosine and a sine: 2 R features.
    {sigma, coupling}
    random_state : int, RandomState or None, default=None
        Seed of the frequencies.
    {n_jobs}

    Attributes
    ----------
    frequencies_, noise_ : ndarray of shape (R, d)
        w_r and e_r of random features; `noise_` is None for the independent coupling.
    sigma_ : float
        The bandwidth used.
    {n_features_in_}

    References
    ----------
    A. Rahimi, B. Recht, Random Features for Large-Scale Kernel Machines, NIPS 2007.

    Examples
    --------
    >>> from uncertain import GaussianArray, ProbabilisticKernelFeatures
    >>> X = GaussianArray([[0.0], [1.0]], std=[1.0, 2.0])
    >>> z = ProbabilisticKernelFeatures(20000, random_state=0).fit_transform(X)
    >>> z.shape
    (2, 40000)
    >>> bool(abs(z[0] @ z[1] - 0.5507) < 0.02)  # the kernel value is 0.5507
    True
    """

    _kinds = ("features",)

    n_components: int = 100
    _: KW_ONLY
    sigma: float | Literal["median"] = 1.0
    coupling: Literal["shared", "independent"] = "shared"
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Draw frequencies.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians or exact points.
        y : object
            Ignored.

        {Returns: self}

        Raises
        ------
        UncertainError
            For parameters out of range.
        """
        parameters = self._parameters()
        return self._keep(self._fitted(parameters, check_gaussians(self, X, reset=True)))

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        self._keep_map(arrays, header["sigma"])

    @property
    def _n_features_out(self) -> int:
        return 2 * len(self.frequencies_)

    def transform(self, X: RowsLike) -> Floats:
        """The features of rows.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians of any kind, whatever kind was fitted, or exact points.

        Returns
        -------
        ndarray of shape (n, D)
            D = 2 R: cosines, then sines.

        Raises
        ------
        UncertainError
            For rows so far away, in units of sigma, that their features overflow.
        """
        rows = check_gaussians(self, X, reset=False)
        return self._model.decision(rows, self.n_jobs)
