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


ROUNDS = 30
"""Most alternations between a diagonal and modes."""
ROUNDING = 1e-14
"""A loss that is none."""


def shared_modes(
    cov: ArrayLike, std: ArrayLike | None = None, *, loss: float = 1e-3, n_modes: int | None = None
) -> SharedModes:
    """A covariance matrix of the errors of all rows, as errors of each row and a few that rows share.

    .. code-block:: text

        C ~ diag(std^2) + M M',    M = U_k L_k^(1/2) of the eigenvectors of C - diag(std^2)

    Fits take `std` and `modes`, and never see an n x n matrix. What is left out of the diagonal is given
    back to ``std``, so that no row's variance changes. Where `std` is not known, diagonal and modes take
    turns (principal factors), which finds them again where C is a diagonal and a few modes; otherwise std is
    the root of the smallest eigenvalue of C.

    Parameters
    ----------
    cov : array-like of shape (n, n)
        Symmetric, positive semi-definite.
    std : array-like of shape (n,), default=None
        Standard deviations of the part of each row's error that no other row shares, as far as they are
        known; None: found from C.
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

    References
    ----------
    H. H. Harman, Modern Factor Analysis, 3rd ed., 1976, chapter 8 (principal factors).

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain.laws import shared_modes
    >>> zero_point = np.repeat([[1.0, 0.0], [0.0, 1.0]], 50, axis=0) * 0.1
    >>> found = shared_modes(0.2**2 * np.eye(100) + zero_point @ zero_point.T)
    >>> found.modes.shape, round(found.std[0], 6), found.loss < 1e-12
    ((100, 2), np.float64(0.2), True)
    """
    if not 0 < loss < 1:
        raise ParameterError(f"loss = {loss!r}: must be between 0 and 1")
    matrix = _checked(cov, "cov")
    n = len(matrix)
    if n_modes is not None and not 0 <= n_modes <= n:
        raise ParameterError(f"n_modes = {n_modes!r}: must be an integer from 0 to {n}")
    if std is None:
        return _parted(matrix, loss, n_modes)
    return _modes_beside(matrix, _own_variances(std, matrix), loss, n_modes, _size(matrix))


def modes_of_fit(y_cov: ArrayLike, y_std: Floats | None, n: int) -> SharedModes:
    """Those of the argument `y_cov` of a fit to n rows."""
    matrix = _checked(y_cov, "y_cov", n)
    if y_std is None:
        return _parted(matrix, LOSS_OF_FIT, None)
    own = _own_variances(y_std, matrix, "y_std", "y_cov")
    return _modes_beside(matrix, own, LOSS_OF_FIT, None, _size(matrix))


LOSS_OF_FIT = 1e-6
"""Of a fit to a dense covariance."""


def _checked(cov: ArrayLike, what: str, n: int | None = None) -> Floats:
    """A covariance matrix of all rows."""
    matrix = float_array(cov, what)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise UncertainError(f"{what}: expected the shape {(n or 'n', n or 'n')}, got {matrix.shape}")
    if n is not None and len(matrix) != n:
        raise UncertainError(f"{what}: expected {(n, n)}, a row and a column per target, got {matrix.shape}")
    refuse_where(~np.isfinite(matrix), matrix, what, "it must be finite", axes=("row", "column"))
    bad = np.abs(matrix - matrix.T) > 1e-9 * _size(matrix)
    refuse_where(bad, matrix, what, "the matrix must be symmetric", axes=("row", "column"))
    matrix = (matrix + matrix.T) / 2
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -1e-9 * _size(matrix):
        raise UncertainError(f"{what}: its smallest eigenvalue is {least:.3g}, and must be >= 0")
    return matrix


def _own_variances(std: ArrayLike, matrix: Floats, what: str = "std", of: str = "cov") -> Floats:
    own = float_array(std, what) ** 2
    if own.shape != (len(matrix),):
        raise UncertainError(f"{what}: expected {len(matrix)} numbers, one per row, got shape {own.shape}")
    bad = own > np.diag(matrix) * (1 + 1e-9)
    refuse_where(bad, np.sqrt(own), what, f"it is above the root of the diagonal of {of}")
    least = float(np.linalg.eigvalsh(matrix - np.diag(own))[0])
    if least < -1e-6 * _size(matrix):
        raise UncertainError(
            f"{of}: without the rows' own variances its smallest eigenvalue is {least:.3g}, and must be >= 0"
        )
    return own


def _size(matrix: Floats) -> float:
    return float(np.linalg.norm(matrix))


def _parted(matrix: Floats, loss: float, n_modes: int | None) -> SharedModes:
    """Diagonal and modes by turns, from what a regression on all other rows leaves of each: 1 / (C^-1)_ii."""
    values, vectors = np.linalg.eigh(matrix)
    inverse = (vectors**2) @ (1 / np.maximum(values, 1e-12 * max(values[-1], np.finfo(float).tiny)))
    size = _size(matrix)
    best = _modes_beside(matrix, np.minimum(1 / inverse, np.diag(matrix)), loss, n_modes, size)
    for _ in range(ROUNDS):
        if best.loss < ROUNDING:
            break
        found = _modes_beside(matrix, best.std**2, loss, n_modes, size)
        fewer = found.modes.shape[1] < best.modes.shape[1]
        if not fewer and (found.modes.shape[1] > best.modes.shape[1] or found.loss > 0.9 * best.loss):
            break
        best = found
    if best.loss <= loss or n_modes is not None:
        return best
    # No diagonal and a few modes: eigenvectors beside the largest equal variances come as near as is asked.
    return _modes_beside(matrix, np.full(len(matrix), max(float(values[0]), 0.0)), loss, n_modes, size)


def _modes_beside(matrix: Floats, own: Floats, loss: float, n_modes: int | None, size: float) -> SharedModes:
    """The modes of C - diag(own), and what they leave of the diagonal."""
    values, vectors = np.linalg.eigh(matrix - np.diag(own))
    values, vectors = values[::-1], vectors[:, ::-1]
    modes = vectors * np.sqrt(np.maximum(values, 0.0))
    if n_modes is None:
        # Squares of what each number of modes leaves: eigenvalues behind them, less the diagonal given back.
        rest = np.diag(matrix) - own - np.cumsum(modes**2, axis=1).T
        left = np.append(np.cumsum(values[::-1] ** 2)[-2::-1], 0.0) - (rest**2).sum(axis=1)
        alone = size**2 - (np.diag(matrix) ** 2).sum()
        enough = np.append(alone, left) <= (loss * size) ** 2
        n_modes = int(np.argmax(enough)) if enough.any() else len(matrix)
    kept = np.ascontiguousarray(modes[:, :n_modes])
    rest = np.maximum(np.diag(matrix) - (kept**2).sum(axis=1), 0.0)
    lost = np.linalg.norm(matrix - np.diag(rest) - kept @ kept.T) / size if size > 0 else 0.0
    return SharedModes(kept, np.sqrt(rest), float(lost))
