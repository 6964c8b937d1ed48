"""Weights of a stack of distributions, which depend on how noisy a row is.

The level of a row is r = mean_j log2(s_j / median s_j) over its features with error bars; h_j(r) are hat
functions on the knots 0, 1, 2, 3 (errors x 1, 2, 4, 8), r clipped to them, and w_k(r) = sum_j h_j(r) W_jk
with rows of W that are weights. W has the least held-out loss of the stack itself, over readings i with
errors of several sizes (D. H. Wolpert, Stacked Generalization, Neural Networks 5(2), 1992, doi
10.1016/S0893-6080(05)80023-1; Y. Yao, A. Vehtari, D. Simpson, A. Gelman, Using Stacking to Average Bayesian
Predictive Distributions, Bayesian Analysis 13(3), 2018, doi 10.1214/17-BA1091):

    classes    max_W  sum_i c_i log sum_k w_k(r_i) p_ik + B sum_jk W0_k log W_jk                      (EM)
    numbers    min_W  sum_i c_i w(r_i)' G_i w(r_i) + B s |W - W0|^2,   s = mean of diag G

p_ik is the probability that candidate k gives to what happened, G_i,kl = int (F_ik - 1[y_i <= t]) (F_il -
1[y_i <= t]) dt, so that w'G_i w is the CRPS of the stack, and c_i sum to 1 for each row. W0 are constant
weights, which are found in the same way, and drawn towards the best single candidate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.normal_mixtures import NormalMixtures, distance
from .._data.array import value_sizes
from .._data.incomplete import GaussianRows
from .._data.typing import Floats

KNOTS = 4
"""Of the level of noise: errors x 1, 2, 4 and 8."""
OF_BEST, OF_CONSTANT = 1.0, 5.0
"""Rows that the best single candidate is worth for constant weights, and these for those of each knot. With 5
for the first, stacks of few rows collapse to one model (losses 1 % larger at errors x 1 and 2)."""
STEPS = {"em": 300, "gradient": 3_000}


def typical_sizes(rows: GaussianRows) -> Floats:
    """The median error of every feature, (d,); 0 for one without error bars."""
    std, known = value_sizes(rows)
    std = np.where(known & (std > 0.0), std, np.nan)
    some = ~np.isnan(std).all(axis=0)
    sizes = np.zeros(std.shape[1])
    sizes[some] = np.nanmedian(std[:, some], axis=0)
    return sizes


def level(rows: GaussianRows, sizes: Floats) -> Floats:
    """r of every row, (n,), below 0 for one that is more precise than typical ones; 0 without error bars."""
    if not sizes.any():
        return np.zeros(len(rows))
    std, known = value_sizes(rows)
    counted = known & (std > 0.0) & (sizes > 0.0)
    logs = np.log2(np.where(counted, std, 1.0) / np.where(counted, sizes, 1.0))
    number = counted.sum(axis=1)
    return np.asarray(np.divide(logs.sum(axis=1), number, out=np.zeros(len(std)), where=number > 0))


def hats(r: Floats, knots: int = KNOTS) -> Floats:
    """h_j(r), (n, knots), of sum 1; a single knot is a constant."""
    r = np.clip(r, 0.0, knots - 1.0)[:, None]
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(r - np.arange(knots))))


def of_classes(given: Floats, hats: Floats, prior: Floats, c: Floats) -> Floats:
    """W (knots, K) from probabilities of what happened (m, K); prior: rows for each, (knots, K)."""
    W = np.full((hats.shape[1], given.shape[1]), 1.0 / given.shape[1])
    for _ in range(STEPS["em"]):
        mixed = ((hats @ W) * given).sum(axis=1)
        moved = W * ((hats * (c / mixed)[:, None]).T @ given) + prior
        moved /= moved.sum(axis=1, keepdims=True)
        step, W = np.abs(moved - W).max(), moved
        if step < 1e-5:
            break
    return W


def of_numbers(gram: Floats, hats: Floats, prior: Floats, c: Floats) -> Floats:
    """W (knots, K) from G (m, K, K), by accelerated projected gradients; prior: rows for each, (knots, K)."""
    knots, k = prior.shape
    scale = float((c[:, None] * np.diagonal(gram, axis1=1, axis2=2)).sum() / (c.sum() * k)) or 1.0
    Q = np.einsum("ni,nj,n,nkl->ikjl", hats, hats, c, gram / scale, optimize=True).reshape(knots * k, -1)
    rows = prior.sum(axis=1, keepdims=True)
    Q += np.diag(np.broadcast_to(rows, prior.shape).ravel())
    step, target = 1.0 / np.linalg.eigvalsh(Q)[-1], prior.ravel()
    W = ahead = np.full(knots * k, 1.0 / k)
    t = 1.0
    for _ in range(STEPS["gradient"]):
        moved = _on_simplices((ahead - step * (Q @ ahead - target)).reshape(knots, k)).ravel()
        after = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
        change = moved - W
        ahead, W, t = moved + (t - 1.0) / after * change, moved, after
        if np.abs(change).max() < 1e-8:
            break
    return W.reshape(knots, k)


def _on_simplices(V: Floats) -> Floats:
    """Every row to the nearest weights."""
    falling = -np.sort(-V, axis=1)
    over = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, V.shape[1] + 1)
    last = (falling > over).sum(axis=1) - 1
    return np.asarray(np.maximum(V - over[np.arange(len(V)), last][:, None], 0.0))


def gram(laws: Sequence[NormalMixtures], y: Floats) -> Floats:
    """G of every row, (m, K, K): (E |X_k - y| + E |X_l - y| - E |X_k - X_l|) / 2."""
    exact = NormalMixtures.normal(y, np.zeros(len(y)))
    near = np.stack([exact.pairs(distance, law) for law in laws], axis=1)
    found = (near[:, :, None] + near[:, None, :]) / 2.0
    for k, one in enumerate(laws):
        for j, other in enumerate(laws[: k + 1]):
            found[:, k, j] -= one.pairs(distance, other) / 2.0
            found[:, j, k] = found[:, k, j]
    return found
