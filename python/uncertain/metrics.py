"""Error rates of classifiers: of means, nearest edges, and expected.

All take a fitted classifier of two classes with ``decision_distribution``, and count rows: lower is better.
With m = y f(x_i) the signed score of a row's mean and s its standard deviation:

.. code-block:: text

    nmc = #{m <= 0}         means on the wrong side
    nme = #{m - s <= 0}     rows whose nearest edge, one sigma away, is on the wrong side
    mpe = sum p             largest probabilities of error, p = 1 / (1 + (m / s)^2) where m > 0, else 1

Source: J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain Information,
2007.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._base.docs import documented
from ._data.column import read_column
from ._data.options import refuse_if
from ._data.targets import places
from ._data.typing import Estimator, Floats
from ._data.validation import RowsLike
from .exceptions import ShapeError, UncertainError

__all__ = ["mpe", "nmc", "nme"]


def _margins(model: Estimator, X: RowsLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Signed means and standard deviations of the scores."""
    several = f"the measures are for two classes, but the model has {len(model.classes_)}"
    refuse_if(len(model.classes_) != 2, f"{several}: evaluate one class against the rest", UncertainError)
    mean, std = model.decision_distribution(X)
    labels = np.asarray(y)
    expected = f"y: expected {len(mean)} labels, one per row of X, got shape {labels.shape}"
    refuse_if(labels.shape != mean.shape, expected, ShapeError)
    codes = places(read_column(labels, "y", len(labels), "labels"), model.classes_, "y")
    return np.where(codes == 1, mean, -mean), std


@documented
def nmc(model: Estimator, X: RowsLike, y: ArrayLike) -> int:
    """Number of rows whose mean is misclassified.

    {Parameters: of_two_classes, X, true_labels}

    Returns
    -------
    int
        Rows with y f(x) <= 0.

    {Raises: refused_classes}
    """
    m, _ = _margins(model, X, y)
    return int(np.sum(m <= 0.0))


@documented
def nme(model: Estimator, X: RowsLike, y: ArrayLike) -> int:
    """Return the number of rows whose nearest edge is misclassified.

    {Parameters: of_two_classes, X, true_labels}

    Returns
    -------
    int
        Rows with y f(x) - s <= 0, s the standard deviation of the score.

    {Raises: refused_classes}
    """
    m, s = _margins(model, X, y)
    return int(np.sum(m - s <= 0.0))


@documented
def mpe(model: Estimator, X: RowsLike, y: ArrayLike) -> float:
    """Return the sum of the largest error probabilities that the rows allow.

    {Parameters: of_two_classes, X, true_labels}

    Returns
    -------
    float
        Sum of 1 / (1 + (m / s)^2) over the rows with m = y f(x) > 0, plus the number of the others.

    {Raises: refused_classes}
    """
    m, s = _margins(model, X, y)
    square, variance = np.maximum(m, 0.0) ** 2, s**2
    return float(np.sum(np.divide(variance, variance + square, out=np.ones_like(m), where=m > 0.0)))
