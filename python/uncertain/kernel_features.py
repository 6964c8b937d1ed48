"""Features whose inner products are the kernel between Gaussians: kernel methods with linear models."""

from __future__ import annotations

from typing import Any, Literal, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._base.docs import documented
from ._data.array import GaussianArray
from ._data.options import number_or_median
from ._data.typing import Floats, RandomState
from ._data.validation import RowsLike, check_gaussians, seed_from
from ._uncertain import Gaussians, apply_features, draw_features
from .kernels import median_distance

__all__ = ["ProbabilisticKernelFeatures"]


def bandwidth(sigma: float | Literal["median"], rows: Gaussians) -> float:
    """`sigma` as a number for these rows."""
    width = number_or_median("sigma", sigma)
    if width is not None:
        return width
    return median_distance(GaussianArray._from_core(rows)) if rows.n_rows > 1 else 1.0


class FeatureMap:
    """The fitted attributes of a map, as the core takes and gives them."""

    frequencies_: Floats
    noise_: Floats | None
    landmarks_: GaussianArray
    basis_: Floats

    def _forget_map(self) -> None:
        for name in ("frequencies_", "noise_", "landmarks_", "basis_", "_coupling"):
            self.__dict__.pop(name, None)

    def _keep_map(self, parts: tuple[Any, ...], sigma: float) -> None:
        """Arrays of a map: (frequencies, noise), or (landmarks, sigma, coupling, basis)."""
        self._forget_map()
        self.sigma_ = sigma
        if len(parts) == 2:
            self.frequencies_, self.noise_ = parts
        else:
            self.landmarks_, self.basis_ = GaussianArray._from_core(parts[0]), parts[3]
            self._coupling = parts[2]

    def _map(self) -> tuple[Any, ...]:
        if hasattr(self, "frequencies_"):
            return self.frequencies_, self.noise_
        return self.landmarks_._core, self.sigma_, self._coupling, self.basis_


@documented
class ProbabilisticKernelFeatures(
    FeatureMap, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Exact points whose inner products approximate the kernel between Gaussians.

    With z = transform(X), z_i'z_j is about :func:`uncertain.kernels.probabilistic_rbf` of rows i and j, so
    that linear models on z (of scikit-learn, too) are kernel methods on Gaussians, in linear time.

    .. code-block:: text

        random, shared:       sqrt(1/R) [cos, sin](w_r'(x + S^(1/2) e_r))
        random, independent:  sqrt(1/R) [cos, sin](w_r'x) exp(-w_r'S w_r / 2)
        nystroem:             kappa(x, landmarks) V L^(-1/2)

    with w_r ~ N(0, I / sigma^2), e_r ~ N(0, I) and kappa(landmarks, landmarks) = V L V'. Random features are
    unbiased, with an error of order ``R^(-1/2)``; Nystroem's are exact on the span of the landmarks.

    Parameters
    ----------
    n_components : int, default=100
        Frequencies R, each a cosine and a sine: 2 R features. Or landmark rows at most: as many features,
        fewer where landmarks nearly repeat each other.
    approximation : {"random", "nystroem"}, default="random"
        Random waves, or the exact kernel with rows drawn from the data.
    {sigma, coupling}
    random_state : int, RandomState or None, default=None
        Seed of frequencies or landmarks.
    {n_jobs}

    Attributes
    ----------
    frequencies_, noise_ : ndarray of shape (R, d)
        w_r and e_r of random features; `noise_` is None for the independent coupling.
    landmarks_ : GaussianArray of m rows
        The landmarks of Nystroem features.
    basis_ : ndarray of shape (m, rank)
        V L^(-1/2).
    sigma_ : float
        The bandwidth used.
    {n_features_in_}

    References
    ----------
    A. Rahimi, B. Recht, Random Features for Large-Scale Kernel Machines, NIPS 2007.
    C. Williams, M. Seeger, Using the Nystroem Method to Speed Up Kernel Machines, NIPS 2001.

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

    def __init__(
        self,
        n_components: int = 100,
        *,
        approximation: Literal["random", "nystroem"] = "random",
        sigma: float | Literal["median"] = 1.0,
        coupling: Literal["shared", "independent"] = "shared",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.approximation = approximation
        self.sigma = sigma
        self.coupling = coupling
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: RowsLike, y: object = None) -> Self:
        """Draw frequencies, or landmarks from these rows.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians or exact points.
        y : object
            Not looked at.

        Returns
        -------
        self

        Raises
        ------
        UncertainError
            For parameters out of range.
        """
        rows = check_gaussians(self, X, reset=True)
        sigma = bandwidth(self.sigma, rows)
        parts = draw_features(
            rows,
            approximation=self.approximation,
            n_components=self.n_components,
            sigma=sigma,
            coupling=self.coupling,
            seed=seed_from(self.random_state),
            n_jobs=self.n_jobs,
        )
        self._keep_map(parts, sigma)
        return self

    @property
    def _n_features_out(self) -> int:
        if hasattr(self, "frequencies_"):
            return 2 * len(self.frequencies_)
        return int(self.basis_.shape[1])

    def transform(self, X: RowsLike) -> Floats:
        """The features of rows.

        Parameters
        ----------
        X : GaussianArray of n rows, or array-like of shape (n, d)
            Gaussians of any kind, whatever kind was fitted, or exact points.

        Returns
        -------
        ndarray of shape (n, D)
            D = 2 R (cosines, then sines), or the rank of the landmarks' kernel matrix.

        Raises
        ------
        UncertainError
            For rows so far away, in units of sigma, that their features overflow.
        """
        check_is_fitted(self)
        return apply_features(self._map(), check_gaussians(self, X, reset=False), self.n_jobs)
