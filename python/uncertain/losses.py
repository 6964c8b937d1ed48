"""Losses of a linear score that is itself Gaussian.

The score w'x + b of a Gaussian row N(x_i, S_i) has mean m and variance s^2 = w'S_i w. With the margin deficit
d = 1 - y m, a loss averaged over the row is a function of d and s alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._data.typing import Floats
from ._uncertain import expected_hinge as smoothed_hinge

__all__ = ["expected_hinge"]


def expected_hinge(d: ArrayLike, s: ArrayLike) -> Floats | float:
    """Return the mean hinge loss E max(0, d + s z) with z ~ N(0, 1).

    .. code-block:: text

        L(d, s) = d Phi(d / s) + s phi(d / s),        L(d, 0) = max(0, d)

    The relative error is at most 1e-13 for d / s in [-35, 35], where the two terms cancel to hundreds of
    digits.

    Parameters
    ----------
    d : array-like
        Margin deficit 1 - y m; any shape.
    s : array-like
        Standard deviation of the score, >= 0; a shape that broadcasts with that of `d`.

    Returns
    -------
    ndarray of the broadcast shape, or float for two scalars
        The loss, >= 0.

    Raises
    ------
    UncertainError
        For a NaN, or for s < 0.
    ValueError
        For shapes that do not broadcast.

    References
    ----------
    C. Tzelepis, V. Mezaris, I. Patras, Linear Maximum Margin Classifier for Learning from Uncertain Data,
    IEEE TPAMI 40(12), 2018, doi 10.1109/TPAMI.2017.2772235.

    Examples
    --------
    >>> from uncertain.losses import expected_hinge
    >>> expected_hinge([-1.0, 0.0, 1.0], 0.0)
    array([0., 0., 1.])
    >>> round(float(expected_hinge(0.0, 1.0)), 12)  # 1 / sqrt(2 pi)
    0.398942280401
    """
    deficits, deviations = np.broadcast_arrays(
        np.asarray(d, dtype=np.float64), np.asarray(s, dtype=np.float64)
    )
    return smoothed_hinge(deficits.ravel(), deviations.ravel()).reshape(deficits.shape)[()]
