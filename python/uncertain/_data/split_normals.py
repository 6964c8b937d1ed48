"""Arms of different lengths, -a and +b, as two or three Gaussian components that keep their skewness.

The split normal distribution of arms a and b depends on their ratio alone, up to shift and scale. So a
mixture is fitted once per ratio (share a / (a + b), in steps of 1/200) by the core's fit to a density on a
grid, and every cell is a shifted and scaled copy. The remaining error is a total variation of at most a few
percent. And the one Gaussian of the same moments, which loses the skewness.
"""

from functools import cache

import numpy as np

from .array import GaussianArray
from .draws import Lists, fitted_mixtures
from .mixture_array import MixtureArray
from .typing import Booleans, Floats

STEPS = 200
POINTS = 1_001
"""Of the density that is fitted; with four times as many, moments differ by 1e-5 of the sum of the arms."""
ASYMMETRIC = 0.1
"""Cells whose arms differ by more than this part of their sum count as asymmetric."""
MOST_SPLIT = 6
"""Features of a row that may have two components each, which makes 2^6 of the row."""
FEW = 3
"""Up to so many features have three components each, which makes 27 of the row."""


def split_normal(value: Floats, below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """(mean, variance) of the split normal distribution with its peak at `value` and arms a and b.

    a is `below`, b is `above`:

    mean = value + sqrt(2/pi) (b - a), var = (1 - 2/pi) (b - a)^2 + a b.
    """
    shift = above - below
    return value + np.sqrt(2 / np.pi) * shift, (1 - 2 / np.pi) * shift**2 + below * above


def what_is_lost(
    below: Floats,
    above: Floats,
    kept: str = "mean and variance",
    *,
    instead: str,
    what: str = "the error bars",
) -> str | None:
    """A sentence that says for how much of the data a Gaussian loses skewness, and which option keeps it; NaN
    does not count."""
    skewed = np.abs(above - below) > ASYMMETRIC * (above + below)
    if not skewed.any():
        return None
    return (
        f"{100 * skewed.mean():.0f} % of {what} are asymmetric by more than {100 * ASYMMETRIC:.0f} %, and "
        f"only their {kept} is kept. Take a logarithm, or keep the skewness by {instead}"
    )


@cache  # tables have arms of every ratio
def fitted(step: int, n_components: int) -> tuple[Floats, Floats, Floats]:
    """Shares, means and standard deviations for arms step / 200 and 1 - step / 200."""
    if step > STEPS // 2:
        shares, means, std = fitted(STEPS - step, n_components)
        return shares, -means, std
    a, b = step / STEPS, 1 - step / STEPS
    x = np.linspace(-6 * a - 0.02, 6 * b + 0.02, POINTS)
    density = split_density(x, a, b)
    grid = Lists(x[:, None], np.array([0, len(x)]))
    mixture = fitted_mixtures(grid, density * np.gradient(x), n_components, "shape", None, None)
    std = np.sqrt(mixture.components.covariances().ravel())
    return mixture.weights, mixture.components.means.ravel(), std


def split_density(x: Floats, a: float, b: float) -> Floats:
    """The split normal density with mode 0 and arms a below and b above it."""
    arm = np.where(x < 0, max(a, 1e-9), max(b, 1e-9))
    return np.asarray(np.exp(-((x / arm) ** 2) / 2) * np.sqrt(2 / np.pi) / (a + b))


def shaped(value: Floats, below: Floats, above: Floats) -> MixtureArray:
    """Rows of independent features with these arms; the six most skewed features of a row have two
    components."""
    skewed = split_cells(below, above)
    columns = range(value.shape[1])
    k = n_components(len(columns))
    features = [_feature(value[:, j], below[:, j], above[:, j], skewed[:, j], k) for j in columns]
    made = GaussianArray.hstack(features)
    assert isinstance(made, MixtureArray)
    return made


def n_components(n_features: int) -> int:
    """Components of a cell with arms of different lengths."""
    return 3 if n_features <= FEW else 2


def split_cells(below: Floats, above: Floats) -> Booleans:
    """The cells that become several components: of a row at most six, the most skewed ones."""
    total = below + above
    skewed = np.asarray(np.abs(above - below) > ASYMMETRIC * total)
    if below.shape[1] > MOST_SPLIT:
        skew = np.where(skewed, np.abs(above - below) / np.where(total > 0, total, 1), 0.0)
        least = -np.partition(-skew, MOST_SPLIT - 1, axis=1)[:, MOST_SPLIT - 1 : MOST_SPLIT]
        skewed &= skew >= least
        skewed &= np.cumsum(skewed, axis=1) <= MOST_SPLIT
    return skewed


def _feature(value: Floats, below: Floats, above: Floats, skewed: Booleans, k: int) -> MixtureArray:
    n = len(value)
    counts = np.where(skewed, k, 1)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    mean, var = split_normal(value, below, above)
    first = offsets[:-1]
    shares, means, stds = np.ones(offsets[-1]), np.empty(offsets[-1]), np.empty(offsets[-1])
    means[first], stds[first] = mean, np.sqrt(var)
    total = below + above
    steps = np.rint(STEPS * below / np.where(total > 0, total, 1)).astype(int)
    for step in np.unique(steps[skewed]):
        rows = np.flatnonzero(skewed & (steps == step))
        own_shares, own_means, own_stds = fitted(int(step), k)
        for c in range(k):
            at = first[rows] + c
            shares[at] = own_shares[c]
            means[at] = value[rows] + total[rows] * own_means[c]
            stds[at] = total[rows] * own_stds[c]
    assert len(offsets) == n + 1
    return MixtureArray(shares, means[:, None], std=stds[:, None], offsets=offsets)
