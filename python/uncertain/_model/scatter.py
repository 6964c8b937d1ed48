"""The residual scatter of a regression: how far targets are from predictions beyond all known error bars.

Idea. A row's error bars give its prediction a deviation s_i, and a target may have an error bar t_i of its
own. What is left is the scatter of the law itself (and what the model does not know), sigma:

    y_i - prediction_i ~ N(0, sigma^2 + s_i^2 + t_i^2)

Residuals of the rows that a model was fitted to are too small, so sigma^2 >= 0 is the maximum of this
likelihood over rows that were held out. The model itself is fitted to all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._data.array import GaussianArray
from .._data.incomplete import Incomplete
from .._data.typing import Booleans, Floats, Ints
from .._report.held_out import quiet
from ..exceptions import ConvergenceWarning, UncertainError
from ..tables._groups import Groups
from .distribution import from_errors

FOLDS = 5
MANY_ROWS = 20_000
"""Beyond this many rows one split takes the place of the folds: at most this many rows are trained on, and a
quarter of it held out, from which sigma is known to one percent."""


def held_out_scatter(
    fitted: Pipeline,
    rows: GaussianArray | Incomplete,
    y: Floats,
    *,
    known: Mapping[str, Any],
    y_std: Floats | None = None,
    weights: Floats | None = None,
    groups: Groups | None = None,
) -> float | None:
    """sigma of a fitted pipeline that takes Gaussians; None where no rows can be held out.

    Up to 20,000 rows it costs 5 fits to four fifths of the rows; beyond, one fit to as many rows. Rows of one
    group are held out together, and rows of weight 0 say nothing of the scatter.

    Parameters
    ----------
    known : arguments of the pipeline's `fit`, one value per row.
    """
    counted = np.ones(len(y), dtype=bool) if weights is None else weights > 0.0
    unfitted = quiet(fitted)
    unfitted[-1].set_params(alpha=fitted[-1].alpha_)  # chosen once
    residuals: list[Floats] = []
    variances: list[Floats] = []
    tested: list[Ints] = []
    for train, test in _splits(counted, groups):
        some = {name: values[train] for name, values in known.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the fit to all rows has said so
            try:
                model = clone(unfitted).fit(rows[train], y[train], **some)
            except UncertainError:
                return None  # such as a feature that no row in training has
            mean, std = from_errors(model, rows[test])
        residuals.append(y[test] - mean)
        variances.append(std**2 if y_std is None else std**2 + y_std[test] ** 2)
        tested.append(test)
    if not tested:
        return None
    held_out = np.concatenate(tested)
    of_rows = counted[held_out].astype(float) if weights is None else weights[held_out]
    return most_likely_scatter(np.concatenate(residuals), np.concatenate(variances), of_rows)


def most_likely_scatter(residuals: Floats, variances: Floats, weights: Floats) -> float:
    """sigma >= 0 that maximises sum_i c_i log N(r_i; 0, sigma^2 + v_i)."""
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
        return 0.0
    return float(np.exp(found.x / 2))


def _splits(counted: Booleans, groups: Groups | None) -> list[tuple[Ints, Ints]]:
    """(train, test) of whole groups: the folds, or one split of many rows; only rows that count."""
    at = np.flatnonzero(counted)
    together = Groups(np.arange(len(counted), dtype=np.uint32)) if groups is None else groups
    together = together.take(at)
    folds = min(FOLDS, together.count)
    if folds < 2:
        return []
    if len(at) <= MANY_ROWS:
        parts = together.splits(folds, 1, 0)
    else:
        rng = np.random.default_rng(0)
        names, codes = np.unique(together.codes, return_inverse=True)
        turn = rng.permutation(len(names))[codes]  # of the row's group
        rows_until = np.cumsum(np.bincount(turn))
        held = min(int(np.searchsorted(rows_until, MANY_ROWS // 4)) + 1, len(names) - 1)
        train, test = np.flatnonzero(turn >= held), np.flatnonzero(turn < held)
        parts = [
            (np.sort(rng.permutation(train)[:MANY_ROWS]), np.sort(rng.permutation(test)[: MANY_ROWS // 4]))
        ]
    return [(at[train], at[test]) for train, test in parts]
