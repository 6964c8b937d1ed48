"""Standard errors of means over N observations: the three variances they may stand for."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.numbers import float_array, pair_of_arrays, refuse_where
from .._data.options import check_option, refuse_if
from ..exceptions import NegativeVarianceError, ParameterError, ShapeError


def from_standard_errors(
    means: ArrayLike,
    se: ArrayLike,
    n: ArrayLike | None = None,
    *,
    rule: Literal["mean", "population", "gsu-paper"],
) -> GaussianArray:
    """Rows of means with standard errors ``s = sigma / sqrt(N)``.

    The right variance of a row depends on what the row stands for; there is no default.

    ============== ============ ===================================================================
    rule           variance     the row is
    ============== ============ ===================================================================
    "mean"         s^2          the mean, known up to s: measurement error
    "population"   N s^2        one more observation of the same object: spread
    "gsu-paper"    c_j s        what Tzelepis et al. (2018) used for WDBC, from the slip
                                s = sigma^2 / N; c_j makes the largest variance of feature j 80 %
                                of the range of its means. Not a variance in the units of the
                                data, and another one in other units; kept to repeat their numbers
    ============== ============ ===================================================================

    Parameters
    ----------
    means, se : array-like of shape (n_rows, d)
        se >= 0, in the units of the means.
    n : int, or array-like of shape (n_rows,) or (n_rows, d)
        Observations behind every mean, >= 1; only ``rule="population"`` needs it.
    rule : {"mean", "population", "gsu-paper"}

    Returns
    -------
    GaussianArray
        Diagonal covariances.

    Raises
    ------
    UncertainError
        For shapes that do not fit, a negative standard error, N < 1, or a missing N.

    Examples
    --------
    >>> from uncertain.uncertainty import from_standard_errors
    >>> from_standard_errors([[5.0]], [[0.1]], 25, rule="population").covariances()  # sigma = 0.5
    array([[[0.25]]])
    """
    x, s = pair_of_arrays(means, se, ("means", "se"))
    check_option("rule", rule, ("mean", "population", "gsu-paper"))
    refuse_where(s < 0, s, "se", "a standard error is >= 0", error=NegativeVarianceError)
    if rule == "mean":
        return GaussianArray(x, std=s)
    if rule == "gsu-paper":
        largest = s.max(axis=0, initial=0.0)
        span = np.ptp(x, axis=0) if len(x) else largest
        scale = np.divide(0.8 * span, largest, out=np.zeros_like(span), where=largest > 0)
        return GaussianArray(x, var=s * scale)
    refuse_if(n is None, f"rule = {rule!r} needs n, the number of observations behind every mean")
    count = float_array(n, "n")
    expected = f"n: expected a number, shape ({len(x)},) or {x.shape}, got {count.shape}"
    refuse_if(count.shape not in ((), (len(x),), x.shape), expected, ShapeError)
    count = np.broadcast_to(count[:, None] if count.ndim == 1 else count, x.shape)
    few = ~(np.isfinite(count) & (count >= 1))
    refuse_where(few, count, "n", "expected a count >= 1", error=ParameterError)
    return GaussianArray(x, var=count * s**2)
