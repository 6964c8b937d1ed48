"""Covariances of linear maps, correlations and the `uncertainties` package."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.numbers import float_array, pair_of_arrays, refuse_not_finite, refuse_where
from .._data.options import refuse_if
from .._data.typing import Floats
from ..exceptions import ShapeError, UncertainError

ROUNDING = 1e-6
"""By which correlations may be off, as written to a table."""


@overload
def propagate(jacobian: ArrayLike, cov: ArrayLike, *, means: None = None) -> Floats: ...
@overload
def propagate(
    jacobian: ArrayLike, cov: GaussianArray, *, means: ArrayLike | None = None
) -> GaussianArray: ...
@overload
def propagate(jacobian: ArrayLike, cov: ArrayLike | GaussianArray, *, means: ArrayLike) -> GaussianArray: ...
def propagate(
    jacobian: ArrayLike, cov: ArrayLike | GaussianArray, *, means: ArrayLike | None = None
) -> GaussianArray | Floats:
    """Return the covariance of f(x) to first order, ``J S J'`` with J = df/dx.

    Exact for linear f. The covariances keep their meaning: spread stays spread, an error stays an error.

    Parameters
    ----------
    jacobian : array-like of shape (n, m, d), or (m, d) for all rows
    cov : GaussianArray of d features, or array-like of shape (n, d, d) or (d, d)
        Where the rows were. One jacobian and one matrix are a single row.
    means : array-like of shape (n, m), optional
        f at the rows' means. With a GaussianArray it may be left out if f is linear (f(x) = J x); with one J
        for all rows that is ``cov @ J.T``.

    Returns
    -------
    GaussianArray of m features
        Or, for an array `cov` without `means`, the matrices alone, shape (n, m, m).

    Raises
    ------
    UncertainError
        For shapes that do not fit, or matrices that are no covariances.

    Examples
    --------
    Polar to Cartesian: r = 2 +- 0.1, angle = 0 +- 0.05.

    >>> import numpy as np
    >>> from uncertain.uncertainty import propagate
    >>> propagate([[1.0, 0.0], [0.0, 2.0]], np.diag([0.1**2, 0.05**2]), means=[[2.0, 0.0]]).covariances()
    array([[[0.01, 0.  ],
            [0.  , 0.01]]])
    """
    J = float_array(jacobian, "jacobian")
    if isinstance(cov, GaussianArray) and J.ndim == 2 and J.shape[1] == cov.n_features and means is None:
        return cov @ J.T
    S = cov.covariances() if isinstance(cov, GaussianArray) else float_array(cov, "cov")
    square = S.ndim in (2, 3) and S.shape[-1] == S.shape[-2]
    fits = J.ndim in (2, 3) and square and J.shape[-1] == S.shape[-1]
    fits = fits and (J.ndim == 2 or S.ndim == 2 or len(J) == len(S))
    shapes = f"(n, m, d) or (m, d), and (n, d, d) or (d, d), got {J.shape} and {S.shape}"
    refuse_if(not fits, f"jacobian and cov: expected shapes {shapes}", ShapeError)
    moved = J @ S @ np.swapaxes(J, -1, -2)
    moved = moved[None] if moved.ndim == 2 else moved
    moved = (moved + np.swapaxes(moved, -1, -2)) / 2  # rounding must not make it asymmetric
    if means is None:
        if not isinstance(cov, GaussianArray):
            return moved
        means = (J @ cov.means[..., None])[..., 0]
    values = float_array(means, "means")
    shared = values.ndim == 2 and len(moved) == 1 and len(values) != 1
    return GaussianArray(values, cov=moved[0] if shared else moved)


def from_correlations(means: ArrayLike, std: ArrayLike, corr: ArrayLike) -> GaussianArray:
    """Error bars and their correlations: ``S_jk = corr_jk std_j std_k``.

    For tables see `AsGaussians`, ``corr="{}_{}_corr"``.

    Parameters
    ----------
    means, std : array-like of shape (n, d)
    corr : array-like of shape (n, d, d), or (d, d) for all rows
        Symmetric, with ones on the diagonal; of two features also the numbers themselves.

    Returns
    -------
    GaussianArray
        Full covariances.

    Raises
    ------
    UncertainError
        For shapes that do not fit, a diagonal that is not 1, or matrices that are not positive semi-definite.

    Examples
    --------
    >>> from uncertain.uncertainty import from_correlations
    >>> from_correlations([[1.0, 2.0]], [[0.5, 2.0]], [[1.0, 0.4], [0.4, 1.0]]).covariances()
    array([[[0.25, 0.4 ],
            [0.4 , 4.  ]]])
    """
    x, s = pair_of_arrays(means, std, ("means", "std"))
    r = correlation_matrices(corr, *x.shape)
    return GaussianArray(x, cov=s[:, :, None] * r * s[:, None, :])


def correlation_matrices(corr: ArrayLike, n: int, d: int) -> Floats:
    """Return checked correlation matrices; for two features numbers will do."""
    given = float_array(corr, "corr")
    axes = ("row", "feature", "feature")[3 - given.ndim if given.ndim == 2 else 0 :]
    refuse_not_finite(given, "corr", *axes)
    refuse_where(np.abs(given) > 1 + ROUNDING, given, "corr", "correlations lie in [-1, 1]", axes=axes)
    if d == 2 and given.shape in ((), (n,)):
        numbers = np.broadcast_to(given, (n,))
        given = np.where(np.eye(2, dtype=bool), 1.0, numbers[:, None, None])
    elif given.shape not in ((d, d), (n, d, d)):
        pairs = f", or ({n},) for two features" if d == 2 else ""
        raise ShapeError(f"corr: expected shape ({n}, {d}, {d}) or ({d}, {d}){pairs}, got {given.shape}")
    axes = ("row", "feature", "feature")[3 - given.ndim :]
    off = (np.abs(given - 1) > ROUNDING) & np.eye(d, dtype=bool)
    refuse_where(off, given, "corr", "the diagonal is 1", axes=axes)
    off = np.abs(given - np.swapaxes(given, -1, -2)) > ROUNDING
    refuse_where(off, given, "corr", "matrices must be symmetric", axes=axes)
    least = np.linalg.eigvalsh(given)[..., 0]
    rule = "the smallest eigenvalue: no errors have these correlations, it must be >= 0"
    refuse_where(least < -ROUNDING, least, "corr", rule, axes=("row",))
    return np.asarray(np.broadcast_to(given, (n, d, d)))


def from_uncertainties(values: ArrayLike, *, correlated: bool = False) -> GaussianArray:
    """Return Gaussians for an array of numbers of the `uncertainties` package.

    Parameters
    ----------
    values : array-like of shape (n, d)
        ``ufloat`` objects, or anything with ``nominal_value`` and ``std_dev``; plain numbers are exact.
    correlated : bool
        Also read the correlations between the features of a row (shared variables); needs the `uncertainties`
        package. Correlations between rows have no place in a GaussianArray and are dropped in any case.

    Returns
    -------
    GaussianArray
        Diagonal covariances, or full ones if `correlated`.

    Raises
    ------
    UncertainError
        For a shape that is not (n, d), or an element that is no number.

    Examples
    --------
    >>> from uncertainties import ufloat
    >>> from uncertain.uncertainty import from_uncertainties
    >>> length, width = ufloat(2.0, 0.1), ufloat(1.0, 0.1)
    >>> from_uncertainties([[length, 2 * length + 2 * width]], correlated=True).covariances().round(3)
    array([[[0.01, 0.02],
            [0.02, 0.08]]])
    """
    array = np.asarray(values, dtype=object)
    refuse_if(array.ndim != 2, f"values: expected shape (n, d), got {array.shape}", ShapeError)
    means, std = np.empty(array.shape), np.zeros(array.shape)
    for at, value in np.ndenumerate(array):
        try:
            means[at] = getattr(value, "nominal_value", value)
            std[at] = getattr(value, "std_dev", 0.0)
        except (TypeError, ValueError) as error:
            raise UncertainError(f"values: row {at[0]}, feature {at[1]} is no number: {value!r}") from error
    if not correlated:
        return GaussianArray(means, std=std)
    try:
        from uncertainties import covariance_matrix  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "correlated=True needs the package of these values: pip install uncertainties", name=error.name
        ) from error
    return GaussianArray(means, cov=np.array([covariance_matrix(list(row)) for row in array]))
