"""From held-out losses to one model: the simplest good member, or an average; and the leaderboard of it.

The rule is in `choosing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._data.typing import Floats, Labels
from .._report.board import mean_known
from .leaderboard import AVERAGE, Entry
from .portfolio import Member
from .stacking import stacked
from .trial import Means, Trial

TOLERANCE = 1.0
"""Standard errors within which a simpler member is taken."""
GOOD = 2.0
"""Standard errors within which a member may enter an average."""
CLEARLY = 3.0
"""Standard errors by which a member of `UNSTEADY` must be better than all others to be chosen."""
UNSTEADY = ("kernel",)
"""Methods that compare the sizes of rows' errors: the kernel between Gaussians fell from 93.8 to 68.1 % on
Kepler's catalogue when errors were three times as large, re-measured trees from 93.7 to 91.5 %."""
MOST_MEMBERS = 5
"""Members of an average, and `PER_METHOD` of each method."""
PER_METHOD = 2
LEAST_WEIGHT = 0.05
"""Members of an average that would count less are left out of it."""


@dataclass(frozen=True)
class Tried:
    """A member, and what came of it."""

    member: Member
    trial: Trial
    losses: Floats


class Ranking:
    """Tried members, the simplest first, by mean loss; `y` is the truth of numbers, None of classes."""

    def __init__(self, found: Sequence[Tried], means: Means, y: Labels | None) -> None:
        self.found, self.means, self.y = list(found), means, y
        self.scores = [means.of(tried.losses)[0] for tried in found]
        self.order = sorted(range(len(found)), key=lambda k: self.scores[k])
        self.best = self.order[0]

    def behind(self, k: int) -> tuple[float, float]:
        """By how much member k is worse than the best, and the standard error of that."""
        return self.means.of(self.found[k].losses - self.found[self.best].losses)

    def is_within(self, k: int, tolerance: float) -> bool:
        """Is it within so many standard errors of the best?"""
        mean, se = self.behind(k)
        return k == self.best or mean <= tolerance * se

    @property
    def simplest(self) -> int:
        """The first member that is as good as the best.

        Members that lose most where errors are larger count only if they are clearly better than all others.
        """
        steady = [k for k in self.order if self.found[k].member.method not in UNSTEADY]
        if len(steady) < len(self.order) and steady and self.is_within(steady[0], CLEARLY):
            others = Ranking([self.found[k] for k in sorted(steady)], self.means, self.y)
            return sorted(steady)[others._first]
        return self._first

    @property
    def _first(self) -> int:
        return next(k for k in range(len(self.found)) if self.is_within(k, TOLERANCE))

    def average(self) -> dict[int, float]:
        """Weights of the good members, by their numbers; one alone has the weight 1."""
        good: list[int] = []
        for k in self.order:
            alike = sum(self.found[g].member.method == self.found[k].member.method for g in good)
            if alike < PER_METHOD and self.is_within(k, GOOD):
                good.append(k)
        good = good[:MOST_MEMBERS]
        while True:
            weights = self._weights(good)
            kept = [k for k, weight in zip(good, weights, strict=True) if weight >= LEAST_WEIGHT]
            if len(kept) == len(good):
                return dict(zip(good, weights.tolist(), strict=True))
            good = kept

    def _weights(self, good: Sequence[int]) -> Floats:
        answers = np.stack([self.found[k].trial.answers for k in good])
        lines = answers.shape[1]
        known = ~np.isnan(answers).any(axis=0).ravel()
        counts = np.tile(self.means.counts / lines, lines)[known]
        truth = None if self.y is None else np.tile(self.y, lines)[known]
        return stacked(answers.reshape(len(good), -1)[:, known], counts, truth)

    def of_average(self, weights: dict[int, float]) -> Tried:
        """What the average says of the rows held out."""
        members = [self.found[k] for k in weights]
        share = np.array(list(weights.values()))
        answers = np.tensordot(share, np.stack([t.trial.answers for t in members]), 1)
        trial = Trial(answers, seconds=0.0)
        y = np.empty(0) if self.y is None else self.y
        losses = trial.losses(y, regression=self.y is not None)
        return Tried(Member(AVERAGE, ""), trial, losses)


def entry_of(tried: Tried, means: Means, best: Tried, *, regression: bool) -> Entry:
    """Its line: losses of numbers as root mean squares, with standard errors by the delta method."""
    mean, se = means.of(tried.losses)
    mean_best = means.of(best.losses)[0]
    if regression:
        root, root_best = np.sqrt(mean), np.sqrt(mean_best)
        score, score_se = float(root), float(se / (2 * root)) if root > 0 else 0.0
        if root > 0 and root_best > 0:
            paired = tried.losses / (2 * root) - best.losses / (2 * root_best)
        else:
            paired = tried.losses - best.losses
        behind, behind_se = score - float(root_best), means.of(paired)[1]
    else:
        score, score_se = mean, se
        behind, behind_se = means.of(tried.losses - best.losses)
    right = tried.trial.right
    member = tried.member
    return Entry(
        member.method,
        member.meaning,
        member.given,
        score,
        score_se,
        behind,
        behind_se,
        accuracy=float("nan") if right is None else means.of(mean_known(right, 0))[0],
        seconds=tried.trial.seconds,
        gap=tried.trial.gap,
    )


def gain_of(own: Tried, without: Tried, means: Means, *, regression: bool) -> tuple[float, float]:
    """By how much one loss is less than another, paired; root mean squares of numbers."""
    entry = entry_of(without, means, own, regression=regression)
    return entry.behind, entry.behind_se


def skipped_entry(member: Member) -> Entry:
    """The line of a member that was not tried."""
    return Entry(member.method, member.meaning, member.given, note=f"left out: {member.reason}")
