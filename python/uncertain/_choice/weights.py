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
from scipy.special import ndtr

from .._base.normal_mixtures import TINY, NormalMixtures
from .._data.array import value_sizes
from .._data.incomplete import GaussianRows
from .._data.typing import Floats, Ints

KNOTS = 4
"""Of the level of noise: errors x 1, 2, 4 and 8."""
OF_BEST, OF_CONSTANT = 1.0, 5.0
"""Rows that the best single candidate is worth for constant weights, and these for those of each knot. With 5
for the first, stacks of few rows collapse to one model (losses 1 % larger at errors x 1 and 2)."""
STEPS = {"em": 300, "gradient": 3_000}
POINTS = 96
"""Of the grid on which distribution functions are compared."""
FEW, SPARSE = 8, np.array([-3.0, -1.2, 0.0, 1.2, 3.0])
DENSE = np.array([-4.0, -3.0, -2.3, -1.7, -1.2, -0.8, -0.4, 0.0, 0.4, 0.8, 1.2, 1.7, 2.3, 3.0, 4.0])
"""Deviations of each component that give points; the sparse ones of more than `FEW` components."""
BLOCK = 2_000_000


def typical_sizes(rows: GaussianRows) -> Floats:
    """The median error of every feature, (d,); 0 for one without error bars."""
    std, known = value_sizes(rows)
    std = np.where(known & (std > 0.0), std, np.nan)
    some = ~np.isnan(std).all(axis=0)
    sizes = np.zeros(std.shape[1])
    sizes[some] = np.nanmedian(std[:, some], axis=0)
    return sizes


def level(rows: GaussianRows, sizes: Floats) -> Floats:
    """r of every row, (n,), clipped to the knots; 0 without error bars."""
    return np.asarray(np.clip(noise(rows, sizes), 0.0, KNOTS - 1.0))


def noise(rows: GaussianRows, sizes: Floats) -> Floats:
    """r of every row, (n,), below 0 for one that is more precise than typical ones."""
    if not sizes.any():
        return np.zeros(len(rows))
    std, known = value_sizes(rows)
    counted = known & (std > 0.0) & (sizes > 0.0)
    logs = np.log2(np.where(counted, std, 1.0) / np.where(counted, sizes, 1.0))
    number = counted.sum(axis=1)
    return np.asarray(np.divide(logs.sum(axis=1), number, out=np.zeros(len(std)), where=number > 0))


def hats(r: Floats, knots: int = KNOTS) -> Floats:
    """h_j(r), (n, knots), of sum 1; a single knot is a constant."""
    if knots == 1:
        return np.ones((len(r), 1))
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(r[:, None] - np.arange(knots))))


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
    """G of every row, (m, K, K), on a grid that follows all densities of the row."""
    found = np.empty((len(y), len(laws), len(laws)))
    width = sum(law.weights.shape[1] for law in laws) * POINTS
    for first in range(0, len(y), max(1, BLOCK // width)):
        part = slice(first, first + max(1, BLOCK // width))
        some = [some_of(law, part) for law in laws]
        grid = np.sort(np.concatenate([_grid(some), y[part, None], y[part, None]], axis=1), axis=1)
        happened = np.arange(grid.shape[1]) > (grid < y[part, None]).sum(axis=1)[:, None]
        off = np.stack([_below(law, grid) for law in some], axis=2) - happened[:, :, None]
        gap = np.diff(grid, axis=1)
        weight = np.zeros_like(grid)
        weight[:, :-1] += gap / 2.0
        weight[:, 1:] += gap / 2.0
        found[part] = np.einsum("ntk,ntl->nkl", off * weight[:, :, None], off, optimize=True)
    return found


def some_of(law: NormalMixtures, rows: Ints | slice) -> NormalMixtures:
    return NormalMixtures(*(values[rows] for values in law))


def _grid(laws: Sequence[NormalMixtures]) -> Floats:
    """Quantiles of the even mixture of points of all densities of a row."""
    points, shares = [], []
    for law in laws:
        z = DENSE if law.weights.shape[1] <= FEW else SPARSE
        points.append((law.means[:, :, None] + law.stds[:, :, None] * z).reshape(len(law.means), -1))
        shares.append(np.repeat(law.weights, len(z), axis=1) / len(z))
    values, weights = np.concatenate(points, axis=1), np.concatenate(shares, axis=1)
    order = np.argsort(values, axis=1)
    values, weights = np.take_along_axis(values, order, 1), np.take_along_axis(weights, order, 1)
    sums = np.cumsum(weights, axis=1)
    sums /= sums[:, -1:]
    n, row = len(values), np.arange(len(values))[:, None]
    levels = np.linspace(1e-6, 1.0 - 1e-6, POINTS)[None, :]
    at = np.searchsorted((sums + row).ravel(), (levels + row).ravel(), side="left").reshape(n, -1)
    inside = np.take_along_axis(values, np.minimum(at - row * values.shape[1], values.shape[1] - 1), 1)
    return inside


def _below(law: NormalMixtures, grid: Floats) -> Floats:
    """The distribution function at points of each row, (m, T)."""
    total = np.zeros(grid.shape)
    for w, m, s in zip(law.weights.T, law.means.T, law.stds.T, strict=True):
        if w.any():
            total += w[:, None] * ndtr((grid - m[:, None]) / np.maximum(s, TINY)[:, None])
    return total
