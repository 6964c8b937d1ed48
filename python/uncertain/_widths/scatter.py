"""The residual scatter of a regression: how far targets are from predictions beyond all known error bars.

Idea. A row's error bars give its prediction a deviation s_i, and a target may have an error bar t_i of its
own. What is left is the scatter of the law itself (and what the model does not know), sigma:

    y_i - prediction_i ~ N(0, sigma^2 + s_i^2 + t_i^2)

Residuals of the rows that a model was fitted to are too small, so sigma^2 >= 0 is the maximum of this
likelihood over rows that were held out. The model itself is fitted to all rows.

Where the error bars alone explain the residuals, the maximum is at sigma = 0. Rows in a finite number cannot
tell zero from a small scatter, and predictions without any width would be wrong with certainty, so sigma is
then where the likelihood has fallen by exp(-1/2): one standard error up.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from .._data.typing import Floats

FOLDS = 5
MANY_ROWS = 20_000
"""Beyond this many rows one split takes the place of the folds: at most this many rows are trained on, and a
quarter of it held out, from which sigma is known to one percent."""


def most_likely_scatter(residuals: Floats, variances: Floats, weights: Floats) -> float:
    """sigma that maximises sum_i c_i log N(r_i; 0, sigma^2 + v_i), or cannot be told from a maximum at 0."""
    squares = residuals**2
    top = float(squares.max())  # beyond it every term falls
    if top == 0.0:
        return 0.0

    def loss(scatter: float) -> float:
        total = scatter + variances
        return float(weights @ (np.log(total) + squares / total))

    # There may be several maxima; sigma = 0 is one only if no row is exact.
    steps = np.geomspace(1e-12 * top, top, 121)
    losses = [loss(v) for v in steps]
    best = int(np.argmin(losses))
    around = (float(np.log(steps[max(best - 1, 0)])), float(np.log(steps[min(best + 1, 120)])))
    found = minimize_scalar(
        lambda t: loss(np.exp(t)), bounds=around, method="bounded", options={"xatol": 1e-8}
    )
    if variances.min() > 0.0 and loss(0.0) <= found.fun:
        rise = weights.mean()  # twice the logarithm of a row's likelihood falls by 1
        over = float(top + variances.max())
        while loss(over) < loss(0.0) + rise:
            over *= 4.0
        return float(np.sqrt(brentq(lambda scatter: loss(scatter) - loss(0.0) - rise, 0.0, over)))
    return float(np.exp(found.x / 2))
