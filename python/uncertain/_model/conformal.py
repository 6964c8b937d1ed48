"""How far held-out rows were off, by noise level: what makes sets and intervals hold what they promise.

Idea. Rows that a model has not seen have scores: how strange their own target is to it. A new row's targets
up to the score that a share `coverage` of those rows stays below are its set, or interval. With m scores
e_(1) <= ... <= e_(m) that is e_(k), k = ceil((m + 1) coverage) (split conformal prediction; Papadopoulos et
al. 2002), whatever the model.

Coverage over all rows is not enough where errors differ: precise rows would be covered too often and poor
ones too seldom, and larger errors tomorrow would break it. So the scores are kept by noise level (Mondrian
bins; Vovk et al. 2003), and where error bars are measurement errors every held-out row is there again, as it
would have been read with larger errors (`calibrating._readings`).

Rejected: crepes and MAPIE. Both wrap learners of arrays and have no re-read rows; crepes takes residuals,
deviations and bins from outside, but it needs pandas, knows no weights, and its objects would have to be
saved as code. What is left of them is the quantile above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from .._data.typing import Floats, Ints

MOST_BINS = 8
PER_BIN = 150
"""Scores that a bin should have at least: the level is then known to 2 points or so."""
KEPT = 1000
"""Numbers that are kept of a bin's scores: its quantiles, if there are more."""


ROUNDING = 1e-9
"""1 - P(true class) may be so far below zero."""


@dataclass(frozen=True)
class Conformal:
    """Scores of held-out rows, by noise level."""

    edges: Floats
    """Noise levels between the bins, rising."""
    scores: tuple[Floats, ...]
    """Sorted, for each bin from the lowest noise to the highest. To the last bit: rounded ones would be ties
    where a model's probabilities differ by a millionth."""

    def __post_init__(self) -> None:
        rising = np.isfinite(self.edges).all() and (np.diff(self.edges) > 0.0).all()
        in_order = all((s[:1] >= -ROUNDING).all() and (np.diff(s) >= 0.0).all() for s in self.scores)
        if not rising or not in_order or len(self.scores) != len(self.edges) + 1:
            raise ValueError("scores are not in order, or not as many as bins")

    @classmethod
    def from_scores(
        cls, scores: Floats, levels: Floats, weights: Floats, edges: Floats | None = None, most: int = KEPT
    ) -> Self:
        """Of rows with these scores, noise levels and weights > 0; of a bin at most so many are kept."""
        edges = bin_edges(levels) if edges is None else edges
        at = np.searchsorted(edges, levels, side="right")
        kept = tuple(_equal(scores[at == k], weights[at == k], most) for k in range(len(edges) + 1))
        return cls(edges, kept)

    def limits(self, levels: Floats, coverage: float) -> Floats:
        """The largest score that belongs in each row's set; infinite where there were too few to tell."""
        found = np.array([_quantile(scores, coverage) for scores in self.scores])
        return np.asarray(found[self.bins(levels)])

    def count(self, scores: Floats, bins: Ints, counts: Ints) -> None:
        """Add to `counts`, for each of the `scores` (n, K), how many are as large here, in the row's bin."""
        for k, own in enumerate(self.scores):
            rows = np.flatnonzero(bins == k)
            counts[rows] += len(own) - np.searchsorted(own, scores[rows], side="left")

    @property
    def sizes(self) -> Ints:
        """Scores of each bin."""
        return np.array([len(own) for own in self.scores])

    def bins(self, levels: Floats) -> Ints:
        """The bin of each row."""
        return np.searchsorted(self.edges, levels, side="right")

    @property
    def largest(self) -> float:
        """The largest score of all."""
        return float(max((scores[-1] for scores in self.scores if len(scores)), default=0.0))


def bin_edges(levels: Floats) -> Floats:
    """Noise levels between bins of about equally many of these."""
    bins = int(np.clip(len(levels) // PER_BIN, 1, MOST_BINS))
    edges = np.unique(_rounded(np.quantile(levels, np.arange(1, bins) / bins))) if bins > 1 else np.empty(0)
    return np.asarray(edges[edges > levels.min()])  # equal levels stay together


def _equal(scores: Floats, weights: Floats, most: int) -> Floats:
    """Sorted scores that count alike: as many as the weights c are worth, (sum c)^2 / sum c^2, or `most`."""
    if not len(scores):
        return scores
    order = np.argsort(scores, kind="stable")
    scores, weights = scores[order], weights[order]
    worth = round(float(weights.sum() ** 2 / (weights**2).sum()))
    if worth == len(scores) <= most:
        return scores
    count = min(max(worth, 1), most)
    levels = (np.arange(count) + 0.5) / count * weights.sum()
    at = np.minimum(np.searchsorted(np.cumsum(weights), levels), len(scores) - 1)
    return np.asarray(scores[at])


def _quantile(scores: Floats, coverage: float) -> float:
    place = int(np.ceil((len(scores) + 1) * coverage - 1e-9))
    return float(scores[place - 1]) if place <= len(scores) else float("inf")


def _rounded(values: Floats) -> Floats:
    """To seven digits, which is enough and keeps files small."""
    return np.array([float(f"{value:.7g}") for value in values])
