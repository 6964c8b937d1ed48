"""Sets and intervals that hold the truth as often as they promise, by noise level.

Rows that a model has not seen have scores: how strange their target is to it. With m scores e_(1) <= ...
<= e_(m) a new row's targets up to e_(k), k = ceil((m + 1) coverage), are its set, or interval (split
conformal prediction; Papadopoulos et al. 2002), whatever the model. Scores are kept by noise level (Mondrian
bins; Vovk et al. 2003), and where error bars are measurement errors and rows are not few, every held-out row
is there again, as it would have been read with larger errors.

The score of a number is |z|, z the standard normal quantile of its place in the predicted distribution: of
a normal law the deviation over its standard deviation. The score of a class is

    sum of the probabilities of all more probable classes + u P(class),   0 for the most probable class,

u a uniform number made of the row's values in units of their spread (Y. Romano, M. Sesia, E. Candes,
Classification with Valid and Adaptive Coverage, NeurIPS 2020). A row's set has the most probable classes, so
that sets are nested in coverage and never empty; u spreads the scores where labels are nearly noise and all
probabilities are alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import ndtr, ndtri

from .._base.normal_mixtures import TINY, NormalMixtures
from .._data.array import value_sizes
from .._data.incomplete import GaussianRows, filled_gaussians, missing_mask
from .._data.typing import Booleans, Floats, Ints, Labels

MOST_BINS = 8
PER_BIN, ROWS_PER_BIN, FEW = 150, 60, 240
"""Scores, and rows, that a bin should have at least; fewer rows than the last number have one bin, of
readings as they are: the scores of noisier ones are of another size, and say little that is new."""
KEPT = 1000
"""Numbers that are kept of a bin's scores: its quantiles, if there are more."""
FLOOR = -3.0
NONE: Floats = np.empty(0)
TURNS = 1e4
"""Of a row's uniform number, for one standard deviation of a feature: enough that neighbours differ, and few
enough that rounding, such as of another unit, does not matter."""


@dataclass(frozen=True)
class Conformal:
    """Scores of held-out rows, by noise level."""

    edges: Floats
    """Noise levels between the bins, rising."""
    scores: tuple[Floats, ...]
    """Sorted, for each bin from the lowest noise to the highest. To the last bit: rounded ones would be ties
    where a model's probabilities differ by a millionth."""
    widths: Floats
    """The spread of every feature, in whose units noise levels of classes are; empty for numbers."""
    centres: Floats
    """The mean of every feature, as many."""

    def __post_init__(self) -> None:
        rising = np.isfinite(self.edges).all() and (np.diff(self.edges) > 0.0).all()
        in_order = all((s[:1] >= 0.0).all() and (np.diff(s) >= 0.0).all() for s in self.scores)
        if (
            not rising
            or not in_order
            or len(self.scores) != len(self.edges) + 1
            or not (self.widths > 0.0).all()
            or not np.isfinite(self.centres).all()
        ):
            raise ValueError("scores are not in order, or not as many as bins")

    @classmethod
    def from_scores(
        cls, scores: Sequence[Floats], levels: Sequence[Floats], weights: Floats, widths: Floats = NONE,
        centres: Floats = NONE,
    ) -> Self:  # fmt: skip
        """Of rows with these weights > 0, the scores and noise levels of each of several readings."""
        if len(weights) < FEW:
            scores, levels = scores[:1], levels[:1]
        values, noise, counts = np.concatenate(scores), np.concatenate(levels), np.tile(weights, len(scores))
        edges = _bin_edges(noise, len(weights))
        at = np.searchsorted(edges, noise, side="right")
        kept = tuple(_equal(values[at == k], counts[at == k]) for k in range(len(edges) + 1))
        return cls(edges, kept, widths, centres)

    def limits(self, levels: Floats, coverage: float) -> Floats:
        """The largest score that belongs in each row's set; infinite where there were too few to tell."""
        found = np.array([_quantile(scores, coverage) for scores in self.scores])
        return np.asarray(found[np.searchsorted(self.edges, levels, side="right")])


def score_of_numbers(law: NormalMixtures, y: Floats) -> Floats:
    """|z| of numbers y under the densities of their rows."""
    if law.weights.shape[1] == 1:
        return np.asarray(np.abs(y - law.means[:, 0]) / np.maximum(law.stds[:, 0], TINY))
    z = (y[:, None] - law.means) / np.maximum(law.stds, TINY)
    tail = np.minimum((law.weights * ndtr(z)).sum(axis=1), (law.weights * ndtr(-z)).sum(axis=1))
    return np.asarray(np.maximum(-ndtri(np.maximum(tail, 1e-300)), 0.0))


def interval(law: NormalMixtures, scores: Floats) -> tuple[Floats, Floats]:
    """The ends of the numbers with at most these scores, of each row."""
    ends = []
    for sign in (1.0, -1.0):
        mirrored = law._replace(means=sign * law.means)
        if law.weights.shape[1] == 1:
            ends.append(sign * (mirrored.means[:, 0] - scores * law.stds[:, 0]))
            continue
        levels, which = np.unique(ndtr(-scores), return_inverse=True)
        ends.append(sign * mirrored.quantiles(levels)[np.arange(len(which)), which])
    return ends[0], ends[1]


def score_of_classes(shares: Floats, rows: GaussianRows | Any, centres: Floats, widths: Floats) -> Floats:
    """Scores of all classes, (n, K), of rows whose features have these means and spreads."""
    order = np.argsort(-shares, axis=1, kind="stable")
    falling = np.take_along_axis(shares, order, axis=1)
    above = np.cumsum(falling, axis=1) - falling
    scores = np.empty_like(shares)
    values = np.maximum(above + _uniform(rows, centres, widths)[:, None] * falling, 0.0)
    values[:, 0] = 0.0  # a set is never empty
    np.put_along_axis(scores, order, values, axis=1)
    return scores


def _uniform(rows: GaussianRows | Any, centres: Floats, widths: Floats) -> Floats:
    """A number between 0 and 1 for each row, made of its values and errors, not of units or order."""
    if isinstance(rows, np.ndarray):
        places = (rows - centres) / widths
    else:
        gaussians, missing = filled_gaussians(rows).collapse("gaussian"), missing_mask(rows)
        places = (gaussians.means - centres + np.sqrt(2.0) * gaussians._deviations()) / widths
        places = np.where(missing, np.sqrt(3.0), places)
    return np.asarray(np.mod(TURNS * places.sum(axis=1), 1.0))


def noise_levels(rows: Any, widths: Floats) -> Floats:
    """log10 of the root mean square of errors in units of the features' spread; a missing value counts 2."""
    std, known = value_sizes(rows)
    size = np.sqrt((np.where(known, np.minimum(std / widths, 2.0), 2.0) ** 2).mean(axis=1))
    return np.asarray(np.log10(np.maximum(size, 10.0**FLOOR)))


def noise_of_numbers(law: NormalMixtures) -> Floats:
    """log10 of the standard deviation of each row's density."""
    std = law.stds[:, 0] if law.stds.shape[1] == 1 else np.sqrt(law.mean_square(law.mean))
    return np.asarray(np.log10(np.maximum(std, 1e-300)))


def set_lists(shares: Floats, inside: Booleans, classes: Labels) -> Labels:
    """Lists of labels, the largest share first, which is there if no other is."""
    order = np.argsort(-shares, axis=1, kind="stable")
    kept = np.take_along_axis(inside, order, axis=1)
    kept[:, 0] |= ~kept.any(axis=1)
    unlike, which = np.unique(np.where(kept, order, -1), axis=0, return_inverse=True)
    labels = np.asarray(classes, dtype=object)
    made = [labels[row[row >= 0]].tolist() for row in unlike]
    lists = np.empty(len(shares), dtype=object)
    lists[:] = [made[place] for place in which.ravel().tolist()]
    return lists


def _bin_edges(levels: Floats, rows: int) -> Floats:
    """Noise levels between bins of about equally many of these, which readings of so many rows have."""
    bins = int(np.clip(min(len(levels) // PER_BIN, rows // ROWS_PER_BIN), 1, MOST_BINS))
    edges = np.unique(_rounded(np.quantile(levels, np.arange(1, bins) / bins))) if bins > 1 else np.empty(0)
    return np.asarray(edges[edges > levels.min()])  # equal levels stay together


def _equal(scores: Floats, weights: Floats) -> Floats:
    """Sorted scores that count alike: as many as the weights c are worth, (sum c)^2 / sum c^2, or `KEPT`."""
    if not len(scores):
        return scores
    order: Ints = np.argsort(scores, kind="stable")
    scores, weights = scores[order], weights[order]
    worth = round(float(weights.sum() ** 2 / (weights**2).sum()))
    if worth == len(scores) <= KEPT:
        return scores
    count = min(max(worth, 1), KEPT)
    levels = (np.arange(count) + 0.5) / count * weights.sum()
    at = np.minimum(np.searchsorted(np.cumsum(weights), levels), len(scores) - 1)
    return np.asarray(scores[at])


def _quantile(scores: Floats, coverage: float) -> float:
    place = int(np.ceil((len(scores) + 1) * coverage - 1e-9))
    return float(scores[place - 1]) if place <= len(scores) else float("inf")


def _rounded(values: Floats) -> Floats:
    """To seven digits, which is enough and keeps files small."""
    return np.array([float(f"{value:.7g}") for value in values])
