"""Standard errors and asymmetric error bars as one or several Gaussians."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.numbers import first_place, float_array, pair_of_arrays, refuse_not_finite, refuse_where
from .._data.options import check_option, refuse_if
from .._data.split_normals import shaped, split_normal, what_is_lost
from .._data.typing import Floats
from .._data.warn import warn
from ..exceptions import NegativeVarianceError, ParameterError, ShapeError, UncertainError, UncertainWarning
from ._linear import correlation_matrices


def from_bounds(
    lower: ArrayLike,
    upper: ArrayLike,
    k: float = 1.0,
    *,
    value: ArrayLike | None = None,
    rule: Literal["moments", "average", "shape"] = "moments",
    corr: ArrayLike | None = None,
) -> GaussianArray:
    """Intervals [lower, upper] that reach k standard deviations to either side.

    Without `value` the interval is taken as symmetric: mean (lower + upper) / 2, std (upper - lower) / (2 k).
    With the quoted `value` inside it, a = (value - lower) / k and b = (upper - value) / k are the two arms:

    .. code-block:: text

        rule = "moments":  mean = value + sqrt(2/pi) (b - a),   var = (1 - 2/pi) (b - a)^2 + a b
        rule = "average":  mean = value,                        std = (a + b) / 2
        rule = "shape":    three or two Gaussian components per cell

    "moments" are those of the split normal distribution with the most probable value `value` and the arms a
    and b. Equal arms give the same Gaussian by all rules. The first two rules lose skewness, and a warning
    says for how much of the data. "shape" keeps it in a `MixtureArray`: cells whose arms differ by more than
    10 % of their sum (the six most skewed of a row) become three Gaussian components, or two beyond three
    features. The components are within a total variation of 0.01 (0.041) of the split normal distribution
    for arms 1 : 3.

    With `corr`, "moments" and "average" give Gaussians with these correlations; "shape" refuses it.

    Parameters
    ----------
    lower, upper : array-like of shape (n, d)
        lower <= upper. Catalogues often give signed offsets instead: pass ``value + err_minus`` (err_minus <=
        0) and ``value + err_plus``.
    k : float
        Standard deviations from the centre to a bound: 1 for 68 % intervals, 1.645 for 90 %, 1.96 for 95 %.
    value : array-like of shape (n, d), optional
        The quoted values, lower <= value <= upper.
    rule : {"moments", "average", "shape"}
    corr : array-like of shape (n, d, d) or (d, d), optional
        Correlation matrices of the errors; of two features also the numbers themselves, (n,) or one for all.

    Returns
    -------
    GaussianArray
        Diagonal covariances (full ones with `corr`); with ``rule="shape"`` a `MixtureArray`. Bounds of a
        measurement are measurement error.

    Raises
    ------
    UncertainError
        For bounds in the wrong order, a value outside them, NaN or infinity, or k <= 0; for correlations
        outside [-1, 1], not symmetric, or that no errors have (a negative eigenvalue), and with "shape".

    Warns
    -----
    UncertainWarning
        If the arms of some cells differ by more than 10 % of their sum.

    Examples
    --------
    >>> from uncertain.uncertainty import from_bounds
    >>> from_bounds([[1.0]], [[3.0]]).covariances()
    array([[[1.]]])
    """
    low, high = pair_of_arrays(lower, upper, ("lower", "upper"))
    positive = np.isfinite(k) and k > 0
    refuse_if(not positive, f"k = {k!r}: must be a number of standard deviations > 0")
    check_option("rule", rule, ("moments", "average", "shape"))
    middle = (low + high) / 2 if value is None else float_array(value, "value")
    refuse_if(middle.shape != low.shape, f"value: expected shape {low.shape}, got {middle.shape}", ShapeError)
    for name, numbers in (("lower", low), ("upper", high), ("value", middle)):
        refuse_not_finite(numbers, name, "row", "feature")
    outside = first_place((low > middle) | (middle > high), "row", "feature")
    if outside:
        at, place = outside
        raise UncertainError(
            f"{place}: expected lower <= value <= upper, got {low[at]}, {middle[at]}, {high[at]}; "
            "for signed offsets pass value + offset"
        )
    related = None if corr is None else correlation_matrices(corr, *middle.shape)
    if value is None:
        return _gaussians(middle, (high - low) / (2 * k), related)
    below, above = (middle - low) / k, (high - middle) / k
    if rule == "shape":
        dependent = related is not None and (related != np.eye(middle.shape[1])).any()
        refuse_if(dependent, 'corr: rule="shape" is for independent errors. Use rule="moments".')
        return shaped(middle, below, above)
    kept = "mean and variance" if rule == "moments" else "average width"
    if lost := what_is_lost(below, above, kept, instead='rule="shape"'):
        warn(lost, UncertainWarning)
    if rule == "average":
        return _gaussians(middle, (below + above) / 2, related)
    mean, var = split_normal(middle, below, above)
    return GaussianArray(mean, var=var) if related is None else _gaussians(mean, np.sqrt(var), related)


def _gaussians(mean: Floats, std: Floats, corr: Floats | None) -> GaussianArray:
    if corr is None:
        return GaussianArray(mean, std=std)
    return GaussianArray(mean, cov=std[:, :, None] * corr * std[:, None])


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
