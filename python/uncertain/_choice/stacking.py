"""Weights of an average, from what its members said of rows that they had not seen.

The weights w >= 0, sum w = 1, of the least loss of the average itself (D. H. Wolpert, Stacked Generalization,
Neural Networks 5(2), 1992, doi 10.1016/S0893-6080(05)80023-1; L. Breiman, Stacked Regressions, Machine
Learning 24, 1996, doi 10.1007/BF00117832):

    classes    -sum_i c_i log sum_m w_m p_mi        by EM: w_m <- sum_i c_i w_m p_mi / sum_k w_k p_ki
    numbers    sum_i c_i (y_i - sum_m w_m f_mi)^2   by non-negative least squares

Few rows cannot tell good members apart, so equal weights count as much as `PRIOR` rows.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from .._data.typing import Floats

PRIOR = 20.0
"""Rows that equal weights are worth."""
STEPS = 500
"""Steps of the EM at most."""


def stacked(answers: Floats, counts: Floats, y: Floats | None) -> Floats:
    """Weights of M members that answered (M, n): probabilities of what happened, or numbers for `y`."""
    best = _of_probabilities(answers, counts) if y is None else _of_numbers(answers, counts, y)
    rows, m = counts.sum() / counts.max(), len(answers)
    weights: Floats = (rows * best + PRIOR / m) / (rows + PRIOR)
    return weights


def _of_probabilities(answers: Floats, counts: Floats) -> Floats:
    weights = np.full(len(answers), 1.0 / len(answers))
    given = np.maximum(answers, np.finfo(np.float64).eps)
    for _ in range(STEPS):
        parts = weights[:, None] * given
        moved = (parts / parts.sum(axis=0)) @ counts / counts.sum()
        if np.abs(moved - weights).max() < 1e-6:
            break
        weights = moved
    return weights


def _of_numbers(answers: Floats, counts: Floats, y: Floats) -> Floats:
    # sum w = 1 turns the residual into sum_m w_m (f_mi - y_i), and enters as a row that outweighs all others.
    roots = np.sqrt(counts)
    off = (answers - y).T * roots[:, None]
    heavy = 1e3 * max(float(np.abs(off).max()), 1e-300) * np.sqrt(len(y))
    weights, _ = nnls(np.vstack([off, np.full(len(answers), heavy)]), np.append(np.zeros(len(y)), heavy))
    found: Floats = weights / weights.sum()
    return found
