"""From held-out losses to one model: the simplest good member, or an average; and the leaderboard of it.

The rule is in `choose`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .._data.typing import Floats
from .._held_out.means import Mean, mean_known
from .as_answered import crps_of_rows
from .comparison import Comparison
from .leaderboard import Entry
from .portfolio import Member
from .stacking import stacked
from .trial import Trial, as_scored, average

TOLERANCE = 1.0
"""Standard errors within which a simpler member is taken."""
CLEARLY = 2.0
"""Standard errors by which an average of many rows must be better than one member: it costs seconds, and an
average of numbers has no density of its own."""
GOOD = 2.0
"""Standard errors within which a member may enter an average of few rows."""
MOST_MEMBERS = 5
"""Members of an average, and `PER_METHOD` of each method."""
PER_METHOD = 2
LEAST_WEIGHT = 0.05
"""Members of an average that would count less are left out of it."""


class Ranking:
    """Tried members, the simplest first, by mean loss."""

    def __init__(self, trials: Sequence[Trial], comparison: Comparison) -> None:
        self.trials, self.comparison = list(trials), comparison
        self.scores = [comparison.mean(trial.losses).value for trial in trials]
        self.order = sorted(range(len(trials)), key=lambda k: self.scores[k])
        self.best = self.order[0]

    def behind(self, k: int) -> Mean:
        """By how much member k is worse than the best."""
        return self.comparison.mean(self.trials[k].losses - self.trials[self.best].losses)

    def is_within(self, k: int, tolerance: float) -> bool:
        """Is it within so many standard errors of the best?"""
        mean, se = self.behind(k)
        return k == self.best or mean <= tolerance * se

    @property
    def simplest(self) -> int:
        """The first member that is as good as the best."""
        return next(k for k in range(len(self.trials)) if self.is_within(k, TOLERANCE))

    def average(self, *, few: bool = True) -> dict[int, float]:
        """Weights of the best members, by their numbers; one alone has the weight 1.

        `few` rows cannot tell who helps, so that members must be near the best.
        """
        good: list[int] = []
        for k in self.order:
            alike = sum(self.trials[g].member.method == self.trials[k].member.method for g in good)
            if alike < PER_METHOD and (not few or self.is_within(k, GOOD)):
                good.append(k)
        good = good[:MOST_MEMBERS]
        while True:
            weights = self._weights(good)
            kept = [k for k, weight in zip(good, weights, strict=True) if weight >= LEAST_WEIGHT]
            if len(kept) == len(good):
                return dict(zip(good, weights.tolist(), strict=True))
            good = kept

    def combined(self, weights: Mapping[int, float]) -> Trial:
        """What the average of these members says of the rows held out, or one alone."""
        if len(weights) == 1:
            return self.trials[next(iter(weights))]
        return average([self.trials[k] for k in weights], np.array([*weights.values()]), self.comparison)

    def is_ahead(self, one: Trial, k: int) -> bool:
        """Is it clearly better than member k, of numbers also as both will answer?"""
        other = self.trials[k]
        if not self._is_positive(other.losses - one.losses):
            return False
        return self.comparison.classes is not None or self._is_positive(
            crps_of_rows(other, self.comparison) - crps_of_rows(one, self.comparison)
        )

    def _is_positive(self, gains: Floats) -> bool:
        mean, se = self.comparison.mean(gains)
        return mean > CLEARLY * se

    def _weights(self, good: Sequence[int]) -> Floats:
        answers = np.stack([self.trials[k].answers for k in good])
        lines = answers.shape[1]
        known = ~np.isnan(answers).any(axis=0).ravel()
        training = self.comparison.training
        counts = np.tile(training.counts / lines, lines)[known]
        truth = np.tile(training.y, lines)[known] if self.comparison.classes is None else None
        return stacked(answers.reshape(len(good), -1)[:, known], counts, truth)


def entry(trial: Trial, best: Trial, comparison: Comparison) -> Entry:
    """Its line: scores of errors as they are, and by how much it is behind in what candidates are judged by.

    Losses of numbers are root mean squares, with standard errors by the delta method.
    """
    scored = as_scored(trial, comparison)
    score, score_se = comparison.mean(scored.losses)
    if comparison.classes is None:
        score, score_se = _root(score, score_se)
    behind, behind_se = _difference(trial.losses, best.losses, comparison)
    right = scored.right
    return Entry(
        trial.member.method,
        trial.member.meaning,
        trial.member.given,
        score,
        score_se,
        behind,
        behind_se,
        accuracy=float("nan") if right is None else comparison.mean(mean_known(right, 0)).value,
        seconds=trial.seconds,
        gap=trial.gap,
        status=trial.status,
    )


def gain(chosen: Trial, without: Trial, comparison: Comparison) -> Mean:
    """By how much one score is less than another, paired."""
    own, other = (as_scored(one, comparison).losses for one in (chosen, without))
    return _difference(other, own, comparison)


def _difference(one: Floats, other: Floats, comparison: Comparison) -> Mean:
    """Of mean losses, or of root mean squares."""
    if comparison.classes is not None:
        return comparison.mean(one - other)
    roots = [float(np.sqrt(comparison.mean(each).value)) for each in (one, other)]
    if min(roots) <= 0.0:
        return Mean(roots[0] - roots[1], comparison.mean(one - other).se)
    paired = one / (2 * roots[0]) - other / (2 * roots[1])
    return Mean(roots[0] - roots[1], comparison.mean(paired).se)


def _root(square: float, se: float) -> Mean:
    root = float(np.sqrt(square))
    return Mean(root, se / (2 * root) if root > 0 else 0.0)


def skipped_entry(member: Member) -> Entry:
    """The line of a member that was not tried."""
    return Entry(member.method, member.meaning, member.given, note=f"left out: {member.reason}")
