"""Kernels between Gaussian rows, as Gram matrices."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from ._data.array import GaussianArray
from ._data.numbers import float_array
from ._data.options import number_or_median, refuse_if
from ._data.typing import Floats, RandomState
from ._data.validation import RowsLike, refuse_nested_tables, seed_from
from ._uncertain import Gaussians, Rows, median_pair_distance
from ._uncertain import probabilistic_rbf as gram
from .exceptions import ShapeError

__all__ = ["median_distance", "probabilistic_rbf"]


def probabilistic_rbf(
    X: RowsLike,
    Z: ArrayLike | GaussianArray | None = None,
    *,
    sigma: float | Literal["median"] = 1.0,
    coupling: Literal["shared", "independent"] = "shared",
    max_bytes: int | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Floats:
    """The Gaussian (RBF) kernel averaged over the noise of both rows.

    .. code-block:: text

        shared:       k_ij = |I + U^2|^(-1/2) exp(-d'(I + U^2)^-1 d / (2 sigma^2)),
                      U = (S_i^(1/2) - S_j^(1/2)) / sigma,    d = x_i - x_j
        independent:  k_ij = |I + V|^(-1/2) exp(-d'(I + V)^-1 d / (2 sigma^2)),
                      V = (S_i + S_j) / sigma^2

    With ``coupling="shared"`` one draw of noise moves all rows, each through the symmetric square root of its
    covariance, and k_ii = 1. With ``"independent"`` every row has a draw (the inner product of mean
    embeddings), and k_ii < 1. Both are positive semi-definite, and both are ``exp(-|d|^2 / (2 sigma^2))`` for
    exact points.

    Parameters
    ----------
    X : GaussianArray or array-like of shape (n, d)
        Rows; a plain array holds exact points.
    Z : GaussianArray or array-like of shape (m, d), optional
        The other rows, with covariances of any kind; without it X itself, and the result is exactly
        symmetric.
    sigma : float or "median"
        Bandwidth, > 0. "median" is `median_distance` of X.
    coupling : {"shared", "independent"}
        Whether the two rows of a pair share one draw of noise or have one each.
    max_bytes : int, optional
        Memory that the result and the work on it may take; by default half of the available memory. A
        matrix that needs more is refused before anything is computed: take slices of X against Z.
    random_state : int, RandomState instance or None
        For ``sigma="median"`` with more than 2000 rows.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n, m)

    Raises
    ------
    UncertainError
        For bad numbers, different numbers of features, a sigma that is not > 0, or a matrix that does not
        fit `max_bytes`.

    References
    ----------
    Y. Chen, T. T. Georgiou, A. R. Tannenbaum, Probabilistic Kernel Support Vector Machines.

    Examples
    --------
    >>> from uncertain import GaussianArray
    >>> from uncertain.kernels import probabilistic_rbf
    >>> X = GaussianArray([[0.0], [1.0]], std=[1.0, 2.0])
    >>> probabilistic_rbf(X).round(4)  # U = -1: 2^(-1/2) exp(-1/4)
    array([[1.    , 0.5507],
           [0.5507, 1.    ]])
    """
    x = _gaussians(X, "X")
    z = None if Z is None else _gaussians(Z, "Z")
    width = number_or_median("sigma", sigma)
    refuse_if(max_bytes is not None and max_bytes < 0, f"max_bytes = {max_bytes}: must be >= 0")
    return gram(
        x,
        z,
        sigma=width,
        coupling=coupling,
        seed=seed_from(random_state) if width is None else 0,
        max_bytes=max_bytes,
        n_jobs=n_jobs,
    )


def median_distance(X: RowsLike, *, random_state: RandomState = 0) -> float:
    """Return the median of ``sqrt(|x_i - x_j|^2 + tr S_i + tr S_j)``.

    That is the root mean square distance between draws of the two rows. Of up to 2000 rows all
    pairs are used, otherwise 4000 pairs drawn at random.

    Parameters
    ----------
    X : GaussianArray or array-like of shape (n, d)
        At least two rows.
    random_state : int, RandomState instance or None
        For the pairs drawn.

    Returns
    -------
    float
        > 0.

    Raises
    ------
    UncertainError
        For less than two rows, or a median of 0.

    Examples
    --------
    >>> from uncertain.kernels import median_distance
    >>> median_distance([[0.0], [1.0], [3.0]])
    2.0
    """
    return median_pair_distance(_gaussians(X, "X"), seed_from(random_state))


def _gaussians(rows: RowsLike, name: str) -> Gaussians:
    """`rows` for the core; errors name the argument of a plain array."""
    if isinstance(rows, GaussianArray):
        return rows._core
    refuse_nested_tables(rows)
    points = float_array(rows, name)
    expected = f"{name}: expected an array of shape (n, d) with d >= 1, got {points.shape}"
    refuse_if(points.ndim != 2 or points.shape[1] == 0, expected, ShapeError)
    return Gaussians(Rows.from_numpy(points, *points.shape), names={"means": [name]})
