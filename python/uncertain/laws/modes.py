"""Errors that rows share: modes, and `shared_modes` of a dense covariance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._data.numbers import float_array, refuse_where
from .._data.typing import Floats, Keywords
from ..exceptions import ParameterError, UncertainError


class SharedModes(NamedTuple):
    """Approximation of a covariance matrix, ``diag(std**2) + modes @ modes.T``."""

    modes: Floats
    """(n, k): row i has the error ``modes[i] @ a`` with k standard normal numbers a for all rows."""
    std: Floats
    """(n,): standard deviations of the rows' own errors."""
    loss: float
    """Relative error, ``|C - diag(std**2) - modes @ modes.T| / |C|`` in Frobenius norms."""


LOSS_OF_FIT = 1e-6
"""Largest loss of a fit to a dense covariance."""
ROUNDS = 30
"""Most extrapolated alternations between a diagonal and modes."""
TRIES = 3
"""Numbers of modes that are tried from the fewest possible on."""
ROUNDING = 1e-14
"""A loss that is none."""


def shared_modes(
    cov: ArrayLike, std: ArrayLike | None = None, *, loss: float = 1e-3, n_modes: int | None = None
) -> SharedModes:
    """Split a covariance matrix into errors of each row and a few shared ones.

    .. code-block:: text

        C ~ diag(std^2) + M M',    M = U_k L_k^(1/2) of the eigenvectors of C - diag(std^2)

    Fits take `std` and `modes` in place of an n x n matrix. ``std`` is such that no row's variance changes.
    Without `std`, diagonal and modes are estimated in turns (principal factors), which is exact where C is a
    diagonal and a few modes; otherwise std is the root of the smallest eigenvalue of C.

    Parameters
    ----------
    cov : array-like of shape (n, n)
        Symmetric, positive semi-definite.
    std : array-like of shape (n,), default=None
        Standard deviations of the part of each row's error that no other row shares; None: estimated from C.
    loss : float in (0, 1), default=1e-3
        Largest relative loss in Frobenius norms, which sets the number of modes.
    n_modes : int, default=None
        Number of modes, instead of `loss`.

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
    >>> shared = shared_modes(0.2**2 * np.eye(100) + zero_point @ zero_point.T)
    >>> shared.modes.shape, round(shared.std[0], 6), shared.loss < 1e-12
    ((100, 2), np.float64(0.2), True)
    """
    if not 0 < loss < 1:
        raise ParameterError(f"loss = {loss!r}: must be between 0 and 1")
    matrix = _checked(cov, "cov")
    n = len(matrix)
    if n_modes is not None and not 0 <= n_modes <= n:
        raise ParameterError(f"n_modes = {n_modes!r}: must be an integer from 0 to {n}")
    if std is None:
        return _split(matrix, loss, n_modes)
    return _leading_modes(matrix, _row_variances(std, matrix), loss, n_modes, _size(matrix))


def modes_of_fit(y_cov: ArrayLike, y_std: Floats | None, n: int) -> SharedModes:
    """Modes of the argument `y_cov` of a fit to n rows."""
    matrix = _checked(y_cov, "y_cov", n)
    if y_std is None:
        return _split(matrix, LOSS_OF_FIT, None)
    variances = _row_variances(y_std, matrix, "y_std", "y_cov")
    return _leading_modes(matrix, variances, LOSS_OF_FIT, None, _size(matrix))


def _checked(cov: ArrayLike, name: str, n: int | None = None) -> Floats:
    """Symmetric, positive semi-definite matrix of all rows."""
    matrix = float_array(cov, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise UncertainError(f"{name}: expected the shape {(n or 'n', n or 'n')}, got {matrix.shape}")
    if n is not None and len(matrix) != n:
        raise UncertainError(f"{name}: expected {(n, n)}, a row and a column per target, got {matrix.shape}")
    refuse_where(~np.isfinite(matrix), matrix, name, "it must be finite", axes=("row", "column"))
    bad = np.abs(matrix - matrix.T) > 1e-9 * _size(matrix)
    refuse_where(bad, matrix, name, "the matrix must be symmetric", axes=("row", "column"))
    matrix = (matrix + matrix.T) / 2
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -1e-9 * _size(matrix):
        raise UncertainError(f"{name}: its smallest eigenvalue is {least:.3g}, and must be >= 0")
    return matrix


def _row_variances(std: ArrayLike, matrix: Floats, name: str = "std", of: str = "cov") -> Floats:
    variances = float_array(std, name) ** 2
    if variances.shape != (len(matrix),):
        raise UncertainError(
            f"{name}: expected {len(matrix)} numbers, one per row, got shape {variances.shape}"
        )
    bad = variances > np.diag(matrix) * (1 + 1e-9)
    refuse_where(bad, np.sqrt(variances), name, f"it is above the root of the diagonal of {of}")
    least = float(np.linalg.eigvalsh(matrix - np.diag(variances))[0])
    if least < -1e-6 * _size(matrix):
        raise UncertainError(
            f"{of}: without the rows' own variances its smallest eigenvalue is {least:.3g}, and must be >= 0"
        )
    return variances


def _size(matrix: Floats) -> float:
    return float(np.linalg.norm(matrix))


def _split(matrix: Floats, loss: float, n_modes: int | None) -> SharedModes:
    """Diagonal and modes by turns, from what a regression on all other rows leaves of each: 1 / (C^-1)_ii.

    That is at least the diagonal d of d + M M', so that C less it has no more positive eigenvalues than M has
    columns: the fewest modes are tried first.
    """
    values, vectors = np.linalg.eigh(matrix)
    inverse = (vectors**2) @ (1 / np.maximum(values, 1e-12 * max(values[-1], np.finfo(float).tiny)))
    alone = np.minimum(1 / inverse, np.diag(matrix))
    size = _size(matrix)
    if n_modes is not None:
        return _settled(matrix, alone, n_modes, size)
    least = len(matrix) * np.finfo(float).eps * max(values[-1], 0.0)
    fewest = int(np.count_nonzero(np.linalg.eigvalsh(matrix - np.diag(alone)) > least))
    for k in range(fewest, min(fewest + TRIES, len(matrix) // 2)):
        best = _settled(matrix, alone, k, size)
        if best.loss <= loss:
            return best
    best = _leading_modes(matrix, alone, loss, None, size)
    if best.loss <= loss:
        return best
    # Not a diagonal and a few modes: eigenvectors beside equal variances reach any loss.
    return _leading_modes(matrix, np.full(len(matrix), max(float(values[0]), 0.0)), loss, None, size)


def _settled(matrix: Floats, variances: Floats, k: int, size: float) -> SharedModes:
    """Principal factors of k modes, their alternations extrapolated (SQUAREM)."""
    best = _leading_modes(matrix, variances, 0.0, k, size)
    for _ in range(ROUNDS):
        if best.loss < ROUNDING or not k:
            break
        first = best.std**2
        second = _leading_modes(matrix, first, 0.0, k, size)
        third = _leading_modes(matrix, second.std**2, 0.0, k, size)
        step = second.std**2 - first
        bend = third.std**2 - second.std**2 - step
        length = np.linalg.norm(step) / max(np.linalg.norm(bend), np.finfo(float).tiny)
        ahead = np.clip(first + 2 * length * step + length**2 * bend, 0.0, np.diag(matrix))
        candidates = third, _leading_modes(matrix, ahead, 0.0, k, size)
        closest = min(candidates, key=lambda candidate: candidate.loss)
        if not closest.loss < best.loss:
            break
        best = closest
    return best


def _leading_modes(
    matrix: Floats, variances: Floats, loss: float, n_modes: int | None, size: float
) -> SharedModes:
    """Leading modes of C - diag(variances), and the diagonal that remains."""
    values, vectors = np.linalg.eigh(matrix - np.diag(variances))
    values, vectors = values[::-1], vectors[:, ::-1]
    modes = vectors * np.sqrt(np.maximum(values, 0.0))
    if n_modes is None:
        # Squared losses by number of modes: remaining eigenvalues, less the diagonal given back.
        rest = np.diag(matrix) - variances - np.cumsum(modes**2, axis=1).T
        left = np.append(np.cumsum(values[::-1] ** 2)[-2::-1], 0.0) - (rest**2).sum(axis=1)
        alone = size**2 - (np.diag(matrix) ** 2).sum()
        enough = np.append(alone, left) <= (loss * size) ** 2
        n_modes = int(np.argmax(enough)) if enough.any() else len(matrix)
    leading = np.ascontiguousarray(modes[:, :n_modes])
    rest = np.maximum(np.diag(matrix) - (leading**2).sum(axis=1), 0.0)
    remaining = np.linalg.norm(matrix - np.diag(rest) - leading @ leading.T) / size if size > 0 else 0.0
    return SharedModes(leading, np.sqrt(rest), float(remaining))


def checked_modes(modes: ArrayLike, n: int) -> Floats:
    """(n, k) finite numbers."""
    numbers = np.asarray(modes, dtype=np.float64)
    if numbers.ndim != 2 or len(numbers) != n or not numbers.shape[1]:
        raise UncertainError(f"modes: expected the shape ({n}, k), got {numbers.shape}")
    refuse_where(~np.isfinite(numbers), numbers, "modes", "it must be finite", axes=("row", "mode"))
    return np.ascontiguousarray(numbers)


def mode_arguments(modes: ArrayLike | None, n: int, d: int) -> Keywords:
    """Modes of targets (n, k), features (n, d, k) or both (n, d + 1, k)."""
    if modes is None:
        return {}
    if np.ndim(modes) != 3:
        return {"modes": checked_modes(modes, n)}
    numbers = np.asarray(modes, dtype=np.float64)
    if len(numbers) != n or numbers.shape[1] not in (d, d + 1) or not numbers.shape[2]:
        raise UncertainError(
            f"modes: expected the shape ({n}, k) for the target, ({n}, {d}, k) for features or "
            f"({n}, {d + 1}, k) for both, the target last; got {numbers.shape}"
        )
    axes = ("row", "feature", "mode")
    refuse_where(~np.isfinite(numbers), numbers, "modes", "it must be finite", axes=axes)
    of_targets = numbers[:, d] if numbers.shape[1] > d else np.zeros((n, numbers.shape[2]))
    return {
        "modes": np.ascontiguousarray(of_targets),
        "modes_of_features": np.ascontiguousarray(numbers[:, :d]),
    }
