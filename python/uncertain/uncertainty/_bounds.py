"""Asymmetric error bars: one Gaussian, with a warning about the lost skewness, or two."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.asymmetric import split_normal, warn_if_skewed
from .._data.numbers import first_place, float_array, pair_of_arrays, refuse_not_finite
from .._data.options import check_option
from ..exceptions import ParameterError, ShapeError, UncertainError
from ._arms import shaped


def from_bounds(
    lower: ArrayLike,
    upper: ArrayLike,
    k: float = 1.0,
    *,
    value: ArrayLike | None = None,
    rule: Literal["moments", "average", "shape"] = "moments",
) -> GaussianArray:
    """Intervals [lower, upper] that reach k standard deviations to either side.

    Without `value` the interval is taken as symmetric: mean (lower + upper) / 2, std (upper - lower) / (2 k).
    With the quoted `value` inside it, a = (value - lower) / k and b = (upper - value) / k are the two arms:

    .. code-block:: text

        rule = "moments":  mean = value + sqrt(2/pi) (b - a),   var = (1 - 2/pi) (b - a)^2 + a b
        rule = "average":  mean = value,                        std = (a + b) / 2
        rule = "shape":    three or two Gaussian components per cell

    "moments" are those of the split normal distribution, whose most probable value is `value` and whose arms
    are a and b; "average" is the usual short cut. Equal arms give the same Gaussian by both. Skewness is lost
    by them: a warning says for how much of the data. "shape" keeps it, in a `MixtureArray`: cells whose arms
    differ by more than 10 % of their sum become three Gaussian components (two beyond three features),
    and then of a row the six most skewed cells at most; the others are moments. The total variation left
    between the split normal distribution and its three (two) components is .004 (.007) for arms 1 : 1.5, .010
    (.041) for 1 : 3, and .084 (.122) where one arm is zero.

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

    Returns
    -------
    GaussianArray
        Diagonal covariances; with ``rule="shape"`` a `MixtureArray`. Bounds of a measurement are measurement
        error.

    Raises
    ------
    UncertainError
        For bounds in the wrong order, a value outside them, NaN or infinity, or k <= 0.

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
    if not (np.isfinite(k) and k > 0):
        raise ParameterError(f"k = {k!r}: must be a number of standard deviations > 0")
    check_option("rule", rule, ("moments", "average", "shape"))
    middle = (low + high) / 2 if value is None else float_array(value, "value")
    if middle.shape != low.shape:
        raise ShapeError(f"value: expected shape {low.shape}, got {middle.shape}")
    for name, numbers in (("lower", low), ("upper", high), ("value", middle)):
        refuse_not_finite(numbers, name, "row", "feature")
    outside = first_place((low > middle) | (middle > high), "row", "feature")
    if outside:
        at, place = outside
        raise UncertainError(
            f"{place}: expected lower <= value <= upper, got {low[at]}, {middle[at]}, {high[at]}; "
            "for signed offsets pass value + offset"
        )
    if value is None:
        return GaussianArray(middle, std=(high - low) / (2 * k))
    below, above = (middle - low) / k, (high - middle) / k
    if rule == "shape":
        return shaped(middle, below, above)
    kept = "mean and variance" if rule == "moments" else "average width"
    warn_if_skewed(below, above, kept)
    if rule == "average":
        return GaussianArray(middle, std=(below + above) / 2)
    mean, var = split_normal(middle, below, above)
    return GaussianArray(mean, var=var)
