"""Arms of different lengths that are correlated: split normal distributions joined by a Gaussian copula.

z ~ N(0, R), and x_j = F_j^-1(Phi(z_j)), where F_j is the mixture of k components that `split_normals` makes
of the arms. Compressed to the k^q components that uncorrelated rows have (q features with skewness):

- inside a component errors have the correlations R, so nothing has to be made positive definite;
- which components go together is a copula of its own: the components of a feature, in the order of their
  means, are the classes of a latent normal variable, cut so that each has its weight. The latent correlation
  of two features is chosen so that the covariance of the rows is that of the copula.

The weights of one feature are kept, and so is its marginal distribution. Covariances of the copula come from
Hermite coefficients, cov = sum_k rho^k h_ik h_jk (Mehler), probabilities of classes from
Phi_2(a, b; rho) = Phi(a) Phi(b) + int_0^rho phi_2(a, b; r) dr. Of more than two features the weights of
all components are fitted to the tables of pairs in turn (iterative proportional fitting).
Rejected: posterior probabilities of components given x_j as classes: from |corr| = .6 on no correlation
inside a component makes up for what they lose.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermevander
from scipy.special import gammaln, ndtr, ndtri

from .array import GaussianArray
from .asymmetric import split_normal
from .mixture_array import MixtureArray
from .split_normals import STEPS, fitted, n_components, split_cells
from .typing import Floats, Ints

TERMS = 24
"""Hermite coefficients of a feature: what is left is below 1e-5 of the variance."""
ANGLES = np.linspace(0.0, np.arcsin(0.9999), 129)
"""Arc sines of the latent correlations that are tried."""
SWEEPS = 60
ROWS = 4096
"""Rows at a time, which bounds the memory of the tables."""


class Shape(NamedTuple):
    """A feature whose arms have the sum 1, and components in the order of their means."""

    shares: Floats
    means: Floats
    stds: Floats
    hermite: Floats
    """E[x He_k(z)] / sqrt(k!) for k = 1, ..."""


@cache
def shape(step: int, k: int) -> Shape:
    """That of arms step / 200 and 1 - step / 200."""
    shares, means, stds, _ = fitted(step, k)
    order = np.argsort(means)
    shares, means, stds = shares[order] / shares.sum(), means[order], stds[order]
    x = np.linspace((means - 9 * stds).min(), (means + 9 * stds).max(), 4_001)
    u = (x[:, None] - means) / stds
    below, above = ndtr(u) @ shares, ndtr(-u) @ shares
    z = np.where(below < 0.5, ndtri(below), -ndtri(above))
    mass = np.gradient(below)
    inside = np.isfinite(z)
    orders = np.arange(1, TERMS + 1)
    polynomials = hermevander(z[inside], TERMS)[:, 1:] / np.exp(gammaln(orders + 1) / 2)
    return Shape(shares, means, stds, (mass * x)[inside] @ polynomials)


def correlated(value: Floats, below: Floats, above: Floats, corr: Floats) -> MixtureArray:
    """Rows with these arms and correlations (n, d, d)."""
    skewed = split_cells(below, above)
    d = value.shape[1]
    k = n_components(d)
    counts = k ** skewed.sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    weights, means = np.empty(offsets[-1]), np.empty((offsets[-1], d))
    cov = np.empty((offsets[-1], d, d))
    patterns, which = np.unique(skewed, axis=0, return_inverse=True)
    for pattern, mask in enumerate(patterns):
        alike = np.flatnonzero(which.ravel() == pattern)
        for rows in np.array_split(alike, -(-len(alike) // ROWS)):
            made = _alike(value[rows], below[rows], above[rows], corr[rows], np.flatnonzero(mask), k)
            at = offsets[rows][:, None] + np.arange(counts[rows[0]])
            weights[at], means[at], cov[at] = made
    return MixtureArray(weights, GaussianArray(means, cov=cov), offsets=offsets)


def _alike(
    value: Floats, below: Floats, above: Floats, corr: Floats, split: Ints, k: int
) -> tuple[Floats, Floats, Floats]:
    """Weights (n, m), means (n, m, d) and covariances (n, m, d, d) of rows split in the same features."""
    n, d = value.shape
    q = len(split)
    total = below + above
    mean, var = split_normal(value, below, above)
    if q == 0:
        stds = np.sqrt(var)
        return np.ones((n, 1)), mean[:, None], (stds[:, :, None] * corr * stds[:, None])[:, None]
    shapes = [[shape(int(s), k) for s in np.rint(STEPS * below[:, j] / total[:, j])] for j in split]
    by_part = ([[own[part] for own in feature] for feature in shapes] for part in range(4))
    shares, units, stds, hermite = (np.asarray(part).reshape(q, n, -1) for part in by_part)
    tables = {
        (i, j): _together(
            (shares[i], units[i], stds[i], hermite[i]),
            (shares[j], units[j], stds[j], hermite[j]),
            corr[:, split[i], split[j]],
        )
        for i, j in combinations(range(q), 2)
    }
    weights = _joint(shares, tables, k).reshape(n, -1)
    members = np.indices((k,) * q).reshape(q, -1)
    points = np.repeat(mean[:, None], weights.shape[1], axis=1)
    widths = np.repeat(np.sqrt(var)[:, None], weights.shape[1], axis=1)
    # E[x_j z_j] over the width that correlates: 1 of a Gaussian
    gain = np.ones((n, d))
    for i, j in enumerate(split):
        points[:, :, j] = value[:, [j]] + total[:, [j]] * units[i][:, members[i]]
        widths[:, :, j] = total[:, [j]] * stds[i][:, members[i]]
        gain[:, j] = hermite[i][:, 0] / (shares[i] * stds[i]).sum(axis=1)
    inside = _possible(corr, gain, split)
    return weights, points, widths[..., :, None] * inside[:, None] * widths[..., None, :]


def _possible(corr: Floats, gain: Floats, split: Ints) -> Floats:
    """The correlations inside components: larger between a feature with components and one without, whose
    covariance they carry alone; all are smaller where no rows have such correlations."""
    whole = np.ones(corr.shape[1], dtype=bool)
    whole[split] = False
    alone = whole[:, None] != whole
    inside = np.where(alone, corr * gain[:, :, None] * gain[:, None, :], corr)
    least = np.minimum(np.linalg.eigvalsh(inside)[:, 0], 0.0)[:, None, None]
    return np.where(np.eye(len(whole), dtype=bool), 1.0, inside / (1 - least))


def _together(a: tuple[Floats, ...], b: tuple[Floats, ...], rho: Floats) -> Floats:
    """The probability (n, k, k) that two features are in these classes."""
    (v, m, s, h), (w, p, t, g) = a, b
    target = (rho[:, None] ** np.arange(1, h.shape[1] + 1) * h * g).sum(axis=1)
    left, right = np.cumsum(v, axis=1)[:, :-1], np.cumsum(w, axis=1)[:, :-1]
    # what the probability of both below their cuts is more than the product, for every latent correlation
    x, y = ndtri(left)[:, :, None, None], ndtri(right)[:, None, :, None]
    sine = np.sin(ANGLES) * np.where(rho < 0, -1.0, 1.0)[:, None, None, None]
    density = np.exp((2 * x * y * sine - x * x - y * y) / (2 * np.cos(ANGLES) ** 2)) / (2 * np.pi)
    step = ANGLES[1] * np.where(rho < 0, -1.0, 1.0)[:, None, None, None] / 2
    excess = np.zeros(density.shape)
    excess[..., 1:] = np.cumsum(step * (density[..., 1:] + density[..., :-1]), axis=-1)
    jumps = np.diff(m)[:, :, None] * np.diff(p)[:, None] + (
        rho[:, None, None] * np.diff(s)[:, :, None] * np.diff(t)[:, None]
    )
    covariance = np.einsum("nab,nabg->ng", jumps, excess)
    covariance += (rho * (v * s).sum(axis=1) * (w * t).sum(axis=1))[:, None]
    reached = np.abs(covariance) >= np.abs(target)[:, None]
    after = np.where(reached.any(axis=1), reached.argmax(axis=1), len(ANGLES) - 1)
    before = np.maximum(after - 1, 0)
    rows = np.arange(len(rho))
    low, high = covariance[rows, before], covariance[rows, after]
    share = np.clip(np.where(high == low, 0.0, (target - low) / np.where(high == low, 1.0, high - low)), 0, 1)
    found = excess[rows, :, :, before] * (1 - share)[:, None, None]
    found += excess[rows, :, :, after] * share[:, None, None]
    k = v.shape[1]
    both = np.zeros((len(rho), k + 1, k + 1))
    both[:, 1:-1, 1:-1] = left[:, :, None] * right[:, None] + found
    both[:, 1:-1, -1], both[:, -1, 1:-1], both[:, -1, -1] = left, right, 1.0
    return np.maximum(np.diff(np.diff(both, axis=1), axis=2), 0.0)


def _joint(shares: Floats, tables: dict[tuple[int, int], Floats], k: int) -> Floats:
    """Weights (n, k, ..., k) with these weights of single features, and these tables of pairs."""
    q, n, _ = shares.shape
    joint = np.ones((n, *[1] * q))
    wanted = {(j,): shares[j] for j in range(q)} | tables
    for features, table in wanted.items():
        if len(features) == 1:
            joint = joint * _along(table, features, q)
    for _ in range(SWEEPS if tables else 0):
        worst = 0.0
        for features, table in reversed(wanted.items()):
            rest = tuple(1 + j for j in range(q) if j not in features)
            have = joint.sum(axis=rest)
            worst = max(worst, float(np.abs(have - table).max()))
            joint = joint * _along(table / np.where(have > 0, have, 1.0), features, q)
        if worst < 1e-12:
            break
    return joint


def _along(table: Floats, features: tuple[int, ...], q: int) -> Floats:
    """A table of some features, to be multiplied with one of all."""
    lengths = [table.shape[1 + features.index(j)] if j in features else 1 for j in range(q)]
    return table.reshape(len(table), *lengths)
