"""`shared_modes`: a dense covariance matrix of all rows' errors as a few errors that rows share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._data.numbers import float_array, refuse_where
from .._data.typing import Floats
from ..exceptions import ParameterError, UncertainError


class SharedModes(NamedTuple):
    """What `shared_modes` makes of a covariance matrix: C is nearly ``diag(std**2) + modes @ modes.T``."""

    modes: Floats
    """(n, k): row i has the error ``modes[i] @ a`` with k standard normal numbers a for all rows."""
    std: Floats
    """(n,): standard deviations of the rows' own errors."""
    loss: float
    """What is left out, ``|C - diag(std**2) - modes @ modes.T| / |C|`` in Frobenius norms."""


def shared_modes(
    cov: ArrayLike, std: ArrayLike | None = None, *, loss: float = 1e-3, n_modes: int | None = None
) -> SharedModes:
    """A covariance matrix of the errors of all rows, as errors of each row and a few that rows share.

    .. code-block:: text

        C ~ diag(std^2) + M M',    M = U_k L_k^(1/2) of the eigenvectors of C - diag(std^2)

    Fits take `std` and `modes`, and never see an n x n matrix. What is left out of the diagonal is given
    back to ``std``, so that no row's variance changes.

    Parameters
    ----------
    cov : array-like of shape (n, n)
        Symmetric, positive semi-definite.
    std : array-like of shape (n,), default=None
        Standard deviations of the part of each row's error that no other row shares, as far as they are
        known; None: the largest equal ones, the square root of the smallest eigenvalue.
    loss : float in (0, 1), default=1e-3
        As many modes as it takes for this relative loss, in Frobenius norms.
    n_modes : int, default=None
        That many modes instead, whatever the loss.

    Returns
    -------
    SharedModes
        With ``modes``, ``std`` and ``loss``.

    Raises
    ------
    UncertainError
        For a matrix that is not square, symmetric or positive semi-definite, and for `std` with variances
        above its diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.laws import shared_modes
    >>> zero_point = np.repeat([[1.0, 0.0], [0.0, 1.0]], 50, axis=0) * 0.1
    >>> found = shared_modes(0.2**2 * np.eye(100) + zero_point @ zero_point.T)
    >>> found.modes.shape, round(found.std[0], 6), found.loss < 1e-12
    ((100, 2), np.float64(0.2), True)
    """
    matrix = float_array(cov, "cov")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise UncertainError(f"cov: expected the shape (n, n), got {matrix.shape}")
    if not 0 < loss < 1:
        raise ParameterError(f"loss = {loss!r}: must be between 0 and 1")
    n = len(matrix)
    if n_modes is not None and not 0 <= n_modes <= n:
        raise ParameterError(f"n_modes = {n_modes!r}: must be an integer from 0 to {n}")
    refuse_where(~np.isfinite(matrix), matrix, "cov", "it must be finite", axes=("row", "column"))
    size = float(np.linalg.norm(matrix))
    away = np.abs(matrix - matrix.T)
    refuse_where(away > 1e-9 * size, matrix, "cov", "the matrix must be symmetric", axes=("row", "column"))
    matrix = (matrix + matrix.T) / 2
    if std is None:
        least = float(np.linalg.eigvalsh(matrix)[0])
        if least < -1e-9 * size:
            raise UncertainError(f"cov: its smallest eigenvalue is {least:.3g}, and must be >= 0")
        own = np.full(n, max(least, 0.0))
    else:
        own = float_array(std, "std") ** 2
        if own.shape != (n,):
            raise UncertainError(f"std: expected {n} numbers, one per row, got shape {own.shape}")
        bad = own > np.diag(matrix) * (1 + 1e-9)
        refuse_where(bad, np.sqrt(own), "std", "it is above the root of the diagonal of cov")
    values, vectors = np.linalg.eigh(matrix - np.diag(own))
    values, vectors = values[::-1], vectors[:, ::-1]
    if values[-1] < -1e-6 * size:
        raise UncertainError(
            f"cov: without the rows' own variances its smallest eigenvalue is {values[-1]:.3g}, and must be "
            ">= 0"
        )
    modes = vectors * np.sqrt(np.maximum(values, 0.0))
    if n_modes is None:
        # Frobenius norms of what is left behind each number of modes.
        left = np.sqrt(np.append(np.cumsum(values[::-1] ** 2)[::-1], 0.0))
        n_modes = int(np.argmax(left <= loss * size))
    kept = np.ascontiguousarray(modes[:, :n_modes])
    rest = np.maximum(np.diag(matrix) - (kept**2).sum(axis=1), 0.0)
    lost = np.linalg.norm(matrix - np.diag(rest) - kept @ kept.T) / size if size > 0 else 0.0
    return SharedModes(kept, np.sqrt(rest), float(lost))
